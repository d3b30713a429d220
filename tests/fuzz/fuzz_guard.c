/* A hostile producer: messages one behind the other go through a guard that routes. What is taken
 * leaves with other scores at most, what is not is told why and counts for nothing, and afterwards
 * the guard can be told, saved and asked as before.
 */
#include "data/codec.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"
#include "tests/state_world.h"

enum { TRAINING = 200, BEFORE = 10, MESSAGES_MAX = 200 };

static struct ek_assets assets;
static struct state_store own; /* of a guard that routes */

/* One of the messages by its values. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static const char words[] = "query time_ms segments manifest query_features items list_items "
                                "log_means id score features label source arm market price kind";
    static struct ek_fuzz_words w;
    static uint8_t one[1 << 16];
    size_t at[MESSAGES_MAX + 1] = {0}, count = 0, extent;
    if (!w.keys)
        ek_fuzz_keys(&w, words);
    while (count < MESSAGES_MAX && at[count] < size &&
           !ek_codec_extent(data + at[count], size - at[count], &extent, NULL) && extent) {
        at[count + 1] = at[count] + extent;
        count++;
    }
    size_t i = count ? seed % count : 0, length = count ? at[i + 1] - at[i] : 0;
    size_t room = sizeof one < most - (size - length) ? sizeof one : most - (size - length);
    if (!count || length > sizeof one || seed % 16 == 0)
        return LLVMFuzzerMutate(data, size, most);
    memcpy(one, data + at[i], length);
    size_t changed = ek_fuzz_mutate_msgpack(one, length, room, seed / 16, &w);
    memmove(data + at[i] + changed, data + at[i + 1], size - at[i + 1]);
    memcpy(data + at[i], one, changed);
    return size - length + changed;
}

static int drop(void *to, const char *key, const void *bytes, size_t length)
{
    (void)to;
    (void)bytes;
    (void)length;
    return key[0] == 0;
}

/* But for the scores the output is the message. */
static void same_but_scores(const uint8_t *in, size_t length, const uint8_t *out, size_t written)
{
    static struct ek_query q, again;
    struct ek_error e = {0};
    ek_fuzz_require(!ek_codec_decode(assets.codec, in, length, &q, &e), e.message);
    ek_fuzz_require(!ek_codec_decode(assets.codec, out, written, &again, &e), e.message);
    ek_fuzz_require(
        q.items == again.items &&
            !memcmp(q.x, again.x, sizeof *q.x * (size_t)q.items * (size_t)q.item_features),
        "more than the scores has changed");
}

static void pass(struct ek_guard *g, const uint8_t *message, size_t length)
{
    struct ek_error e = {0};
    const char *event;
    size_t written;
    uint64_t before = ek_guard_queries(g);
    uint8_t *copy = malloc(length + 1); /* of just its size, so that a sanitizer sees the end */
    ek_fuzz_require(copy != NULL, "no memory");
    memcpy(copy, message, length);
    if (ek_guard_observe(g, copy, length, 0, &e)) {
        ek_fuzz_require(e.message[0], "refused without a word");
        ek_fuzz_require(ek_guard_queries(g) == before, "refused, and counted");
    } else {
        const void *out = ek_guard_score(g, &written, &e);
        if (!out) /* it is routed, and has no score to replace: for the dead letters */
            ek_fuzz_require(e.code == EK_EFORMAT || e.code == EK_ESTATE, e.message);
        else if (!strcmp(ek_guard_action(g), "pass"))
            ek_fuzz_require(written == length && !memcmp(out, copy, length), "not untouched");
        else
            same_but_scores(copy, length, out, written);
    }
    while (ek_guard_next_event(g, &event) > 0)
        ek_fuzz_require(event && event[0] == '{', "an event that is none");
    free(copy);
}

/* A person has said that prices are routed, so every list is. */
static void set_up(void)
{
    struct shop s;
    struct ek_guard *g;
    struct ek_buf message;
    struct ek_error e = {0};
    size_t length;
    state_assets_open(&assets, STATE_RULES, TRAINING);
    assets.cells = 2;
    ek_fuzz_require(!ek_guard_new(&g, &assets, &e), e.message);
    shop_open(&s, 5, 4);
    ek_buf_init(&message, 0);
    for (int n = 0; n < BEFORE; n++) {
        state_message(&s, &assets, &message, NULL);
        ek_fuzz_require(!ek_guard_observe(g, message.data, message.length, 0, &e), e.message);
        ek_fuzz_require(ek_guard_score(g, &length, &e) != NULL, e.message);
        if (!n)
            ek_fuzz_require(!ek_guard_pin(g, "price", NULL, NULL, "route", 0, NULL, NULL, &e),
                            e.message);
    }
    ek_fuzz_require(!strcmp(ek_guard_action(g), "routed"), "nothing is routed");
    ek_fuzz_require(!ek_guard_save(g, 0, NULL, 0, state_put, &own, &e), e.message);
    ek_guard_free(g);
    ek_buf_release(&message);
    shop_close(&s);
}

static struct ek_guard *as_it_was(void)
{
    enum ek_state_fit fit;
    struct ek_guard *g;
    struct ek_state *state;
    struct ek_error e = {0};
    ek_fuzz_require(!ek_state_new(&state, NULL), "no memory");
    for (int i = 0; i < own.count; i++)
        ek_fuzz_require(
            !ek_state_add(state, own.record[i].key, own.record[i].bytes, own.record[i].length, &e),
            e.message);
    ek_fuzz_require(!ek_guard_load(&g, &assets, state, &fit, &e), e.message);
    ek_state_free(state);
    return g;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ek_error e = {0};
    size_t extent;
    int messages = 0;
    if (!assets.manifest)
        set_up();
    struct ek_guard *g = as_it_was();
    while (size && messages++ < MESSAGES_MAX) {
        if (ek_codec_extent(data, size, &extent, NULL) || !extent)
            extent = size;
        pass(g, data, extent);
        data += extent;
        size -= extent;
    }
    ek_fuzz_require(!ek_guard_tick(g, 1, &e), e.message);
    ek_fuzz_require(!ek_guard_save(g, 0, NULL, 0, drop, NULL, &e), e.message);
    ek_guard_free(g);
    return 0;
}
