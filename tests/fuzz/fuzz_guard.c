/* A hostile producer: its messages go through a guard one behind the other, with genuine lists
 * between them. What is taken leaves with other scores at most, and as it came while nothing is
 * routed; a genuine list has other scores only after a plan that acts was told. What is refused is
 * told why and counts for nothing: a guard that never saw it has the same events and the same
 * state. Afterwards the guard can be told, saved and asked as before.
 *
 * The input is messages one behind the other, those of JSON up to the end of the line. Some values
 * of one byte are orders instead: nil pins prices to be routed, false takes that back; the negative
 * ones have genuine lists pass: -32 .. -17 four to 64, the others as many with prices in cents.
 */
#include "base/hash.h"
#include "data/codec.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"
#include "tests/state_world.h"

enum { TRAINING = 400, BEFORE = 10, MESSAGES_MAX = 200, GENUINE = 160, LISTS_OF_ORDER = 4 };
enum { PIN = 0xc0, UNPIN = 0xc2, GENUINE_LISTS = 0xe0, FAULTY_LISTS = 0xf0 };

static struct ek_assets assets;
static struct state_store own, after, twins; /* of a guard that watches; of those of an input */
static struct ek_buf genuine[2][GENUINE];    /* as they are, and with prices in cents */

/* One pass of an input. */
struct play {
    struct ek_guard *g;
    int next;                   /* genuine list */
    bool refused[MESSAGES_MAX]; /* by the first pass, left out by the second */
    bool leave_out, acts;       /* acts: a plan was told that has something in it */
    uint64_t events;            /* a hash */
};

/* The next message, or order; 0 at the end. */
static size_t extent_of(const uint8_t *data, size_t size)
{
    size_t extent;
    if (size && data[0] == '{') {
        const uint8_t *end = memchr(data, '\n', size);
        return end ? (size_t)(end - data) + 1 : size;
    }
    return ek_codec_extent(data, size, &extent, NULL) || !extent ? size : extent;
}

/* One of the messages by its values. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static const char words[] = "query time_ms segments manifest query_features items list_items "
                                "log_means id score features label source arm market price kind";
    static struct ek_fuzz_words w;
    static uint8_t one[1 << 16];
    size_t at[MESSAGES_MAX + 1] = {0}, count = 0;
    if (!w.keys)
        ek_fuzz_keys(&w, words);
    for (; count < MESSAGES_MAX && at[count] < size; count++)
        at[count + 1] = at[count] + extent_of(data + at[count], size - at[count]);
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

static void take_events(struct play *p)
{
    const char *event;
    while (ek_guard_next_event(p->g, &event) > 0) {
        ek_fuzz_require(event && event[0] == '{', "an event that is none");
        p->events = ek_hash(event, strlen(event), p->events);
        p->acts = p->acts || strstr(event, "\"event\":\"plan\"");
    }
}

static void check_output(const struct play *p, const uint8_t *message, size_t length)
{
    struct ek_error e = {0};
    size_t written;
    const void *out = ek_guard_score(p->g, &written, &e);
    if (!out) /* it is routed, and has no score to replace: for the dead letters */
        ek_fuzz_require(e.code == EK_EFORMAT || e.code == EK_ESTATE, e.message);
    else if (!strcmp(ek_guard_action(p->g), "pass"))
        ek_fuzz_require(written == length && !memcmp(out, message, length), "not untouched");
    else
        same_but_scores(message, length, out, written);
    ek_fuzz_require(p->acts || !strcmp(ek_guard_action(p->g), "pass"), "acted on without a word");
}

/* True when it was taken. */
static bool pass(struct play *p, const uint8_t *message, size_t length)
{
    struct ek_error e = {0};
    uint64_t before = ek_guard_queries(p->g);
    uint8_t *copy = malloc(length + 1); /* of just its size, so that a sanitizer sees the end */
    ek_fuzz_require(copy != NULL, "no memory");
    memcpy(copy, message, length);
    bool taken = !ek_guard_observe(p->g, copy, length, 0, &e);
    ek_fuzz_require(taken || e.message[0], "refused without a word");
    ek_fuzz_require(taken || ek_guard_queries(p->g) == before, "refused, and counted");
    take_events(p);
    if (taken)
        check_output(p, copy, length);
    free(copy);
    return taken;
}

static void pass_genuine(struct play *p, int lists, bool faulty)
{
    for (; lists && p->next < GENUINE; lists--, p->next++) {
        const struct ek_buf *message = &genuine[faulty][p->next];
        ek_fuzz_require(pass(p, message->data, message->length), "a genuine list is refused");
    }
}

/* What people say may be refused; then nothing is done. */
static void order(struct play *p, uint8_t byte)
{
    struct ek_error e = {0};
    int rc = byte == PIN ? ek_guard_pin(p->g, "price", NULL, NULL, "route", 0, NULL, NULL, &e)
                         : ek_guard_unpin(p->g, "price", NULL, NULL, NULL, NULL, &e);
    ek_fuzz_require(!rc || e.message[0], "refused without a word");
    take_events(p);
}

/* False: it is a message. */
static bool is_order(struct play *p, const uint8_t *data, size_t extent)
{
    if (extent != 1 || (data[0] < GENUINE_LISTS && data[0] != PIN && data[0] != UNPIN))
        return false;
    if (data[0] < GENUINE_LISTS)
        order(p, data[0]);
    else
        pass_genuine(p, LISTS_OF_ORDER * (1 + (data[0] & 0xf)), data[0] >= FAULTY_LISTS);
    return true;
}

static void play(struct play *p, const uint8_t *data, size_t size)
{
    struct ek_error e = {0};
    for (int n = 0; size && n < MESSAGES_MAX; n++) {
        size_t extent = extent_of(data, size);
        if (!is_order(p, data, extent)) {
            if (!p->leave_out || !p->refused[n])
                p->refused[n] = !pass(p, data, extent);
            pass_genuine(p, 1, false);
        }
        data += extent;
        size -= extent;
    }
    ek_fuzz_require(!ek_guard_tick(p->g, 1000 * GENUINE, &e), e.message);
    take_events(p);
}

static void set_up(void)
{
    struct shop s;
    struct ek_guard *g;
    struct ek_error e = {0};
    size_t length;
    state_assets_open(&assets,
                      "version: 1\n"
                      "defaults: {mode: enforce, confirm_queries: 8, hold: 10s}\n"
                      "segments: [arm, market]\n"
                      "windows: {length: 60s, kept: 1, cells: 1}\n",
                      TRAINING);
    assets.cells = 2;
    ek_fuzz_require(!ek_guard_new(&g, &assets, &e), e.message);
    shop_open(&s, 5, 4);
    for (int n = 0; n < GENUINE; n++) {
        struct ek_query *q = shop_next(&s);
        for (int faulty = 0; faulty <= 1; faulty++) {
            struct ek_buf *message = &genuine[faulty][n];
            ek_buf_init(message, 0);
            for (int i = 0; faulty && i < q->items; i++)
                q->x[2 * i] *= 100;
            must(ek_codec_encode(assets.manifest, q, EK_FEATURES_ARRAY, message, NULL));
        }
        if (n >= BEFORE)
            continue;
        ek_fuzz_require(!ek_guard_observe(g, genuine[0][n].data, genuine[0][n].length, 0, &e),
                        e.message);
        ek_fuzz_require(ek_guard_score(g, &length, &e) != NULL, e.message);
    }
    ek_fuzz_require(!ek_guard_save(g, 0, NULL, 0, state_put, &own, &e), e.message);
    ek_guard_free(g);
    shop_close(&s);
}

static struct ek_guard *as_it_was(void)
{
    enum ek_state_fit fit;
    struct ek_guard *g;
    struct ek_error e = {0};
    struct ek_state *state = state_of(&own, 0);
    ek_fuzz_require(!ek_guard_load(&g, &assets, state, &fit, &e), e.message);
    ek_state_free(state);
    return g;
}

static void finish(struct play *p, struct state_store *s)
{
    struct ek_error e = {0};
    ek_fuzz_require(!ek_guard_save(p->g, 1, NULL, 0, state_put, s, &e), e.message);
    ek_guard_free(p->g);
}

/* Without what was refused it comes out the same. */
static void play_again(struct play *p, const uint8_t *data, size_t size)
{
    struct play twin = {.g = as_it_was(), .next = BEFORE, .leave_out = true};
    memcpy(twin.refused, p->refused, sizeof twin.refused);
    play(&twin, data, size);
    ek_fuzz_require(twin.events == p->events, "what was refused brought an event");
    finish(&twin, &twins);
    ek_fuzz_require(twins.count == after.count, "what was refused is in the state");
    for (int i = 0; i < after.count; i++) {
        const struct state_record *a = &after.record[i],
                                  *b = &twins.record[state_find(&twins, a->key)];
        ek_fuzz_require(a->length == b->length && !memcmp(a->bytes, b->bytes, a->length),
                        "what was refused is in the state");
    }
    state_clear(&twins);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!assets.manifest)
        set_up();
    struct play p = {.g = as_it_was(), .next = BEFORE};
    play(&p, data, size);
    finish(&p, &after);
    if (memchr(p.refused, true, sizeof p.refused))
        play_again(&p, data, size);
    state_clear(&after);
    return 0;
}
