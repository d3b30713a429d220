/* Hostile producer: a guard receives its messages with genuine lists between them. An accepted
 * message changes only in its scores, and not at all without an active route. A genuine list gets
 * other scores only after an active plan was reported. A rejected message has an error message and
 * no effect: a guard that never received it has the same events and state. Afterwards the guard
 * still accepts commands and can be saved.
 *
 * The input is a sequence of messages; a JSON message ends at its line. One-byte values are
 * operations instead:
 *   nil                   pins prices to be routed; false removes the pin
 *   0 to 15               other operator commands
 *   true, first byte      rules with growing routes, in which the first ones take precedence
 *   true, first two bytes rules in which no action is active above a limit on desired ones
 *   -32 .. -17            four to 64 healthy lists
 *   all above             the same number of lists with a fault
 */
#include "base/hash.h"
#include "lists/codec.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"
#include "tests/state_world.h"

enum { TRAINING = 400, BEFORE = 10, MESSAGES_MAX = 200, GENUINE = 400, LISTS_OF_ORDER = 4 };
enum { PIN = 0xc0, UNPIN = 0xc2, CAREFUL = 0xc3, GENUINE_LISTS = 0xe0, FAULTY_LISTS = 0xf0 };

/* Fault of the genuine lists, selected by the upper half of the byte. */
enum fault {
    PEOPLE,
    CENTS,
    NEW_KINDS,
    DEARER,
    HALF_CENTS,
    BY_NIGHT,
    CENTS_IN_B,
    ALL_ALIKE,
    FAULTS
};

static const char RULES[] = "version: 1\n"
                            "defaults: {mode: enforce, confirmation_lists: 8, min_duration: 10s}\n"
                            "segments: [arm, market]\n"
                            "windows: {length: 60s, retention: 1, max_segments: 1}\n";
static const char CAREFUL_RULES[] =
    "version: 1\n"
    "defaults:\n"
    "  mode: canary\n"
    "  confirmation_lists: 8\n"
    "  min_duration: 10s\n"
    "  canary: {initial_percent: 40, step_percent: 30, step_interval: 4s, min_lists: 2, abort_if: "
    "{rank_change_p95: 0.9}}\n"
    "segments: [arm, market]\n"
    "windows: {length: 60s, retention: 1, max_segments: 1}\n"
    "limits: {max_routed_features: 1, max_routed_share: 0.3, on_limit: keep}\n";

static const char STRICT_RULES[] =
    "version: 1\n"
    "defaults: {mode: enforce, confirmation_lists: 8, min_duration: 10s}\n"
    "segments: [arm, market]\n"
    "windows: {length: 60s, retention: 1, max_segments: 1}\n"
    "limits: {max_routed_share: 0.6, on_limit: observe}\n";

/* One set of rules, with the state of a guard that observed. */
struct world {
    struct ek_assets assets;
    struct state_store own;
};

static struct world worlds[3], *world;
static struct state_store after, twins;        /* stores of one input */
static struct ek_buf genuine[FAULTS][GENUINE]; /* those of PEOPLE: unchanged */

/* One pass over an input. */
struct play {
    struct ek_guard *g;
    int next;                   /* next genuine list */
    bool refused[MESSAGES_MAX]; /* rejected by the first pass, omitted from the second */
    bool leave_out, acts;       /* acts: a non-empty plan was reported */
    uint64_t events;            /* a hash */
};

/* Return the size of the next message or operation; 0 at the end. */
static size_t extent_of(const uint8_t *data, size_t size)
{
    size_t extent;
    if (size && data[0] == '{') {
        const uint8_t *end = memchr(data, '\n', size);
        return end ? (size_t)(end - data) + 1 : size;
    }
    return ek_codec_extent(data, size, &extent, NULL) || !extent ? size : extent;
}

/* Mutates one message by its values. */
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

/* The output must equal the message except for the scores. */
static void same_but_scores(const uint8_t *in, size_t length, const uint8_t *out, size_t written)
{
    static struct ek_list q, again;
    struct ek_error e = {0};
    ek_fuzz_require(!ek_codec_decode(world->assets.codec, in, length, &q, &e), e.message);
    ek_fuzz_require(!ek_codec_decode(world->assets.codec, out, written, &again, &e), e.message);
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
    if (!out) /* a routed message without a score is dead-lettered */
        ek_fuzz_require(e.code == EK_EFORMAT || e.code == EK_ESTATE, e.message);
    else if (!strcmp(ek_guard_action(p->g), "pass"))
        ek_fuzz_require(written == length && !memcmp(out, message, length), "not untouched");
    else
        same_but_scores(message, length, out, written);
    ek_fuzz_require(p->acts || !strcmp(ek_guard_action(p->g), "pass"), "acted on without a word");
}

/* Return whether the message was accepted. */
static bool pass(struct play *p, const uint8_t *message, size_t length)
{
    struct ek_error e = {0};
    uint64_t before = ek_guard_list_count(p->g);
    uint8_t *copy = ek_fuzz_exact(message, length);
    bool taken = !ek_guard_observe(p->g, copy, length, 0, &e);
    ek_fuzz_require(taken || e.message[0], "refused without a word");
    ek_fuzz_require(taken || ek_guard_list_count(p->g) == before, "refused, and counted");
    take_events(p);
    if (taken)
        check_output(p, copy, length);
    free(copy);
    return taken;
}

static void pass_genuine(struct play *p, int lists, enum fault fault)
{
    for (; lists && p->next < GENUINE; lists--, p->next++) {
        const struct ek_buf *message = &genuine[fault][p->next];
        ek_fuzz_require(pass(p, message->data, message->length), "a genuine list is refused");
    }
}

static int say(struct ek_guard *g, uint8_t byte, struct ek_error *e)
{
    const char *segment = byte & 8 ? "arm" : NULL, *value = segment ? "B" : NULL;
    uint64_t version;
    switch (byte) {
    case PIN:
        return ek_guard_pin(g, "price", NULL, NULL, "route", 0, NULL, NULL, e);
    case UNPIN:
        return ek_guard_unpin(g, "price", NULL, NULL, NULL, NULL, e);
    case 0:
        return ek_guard_pause(g, "ana", NULL, e);
    case 8:
        return ek_guard_resume(g, NULL, "done", e);
    case 7:
        return ek_guard_accept(g, "kind", NULL, NULL, NULL, NULL, &version, e);
    default:
        break;
    }
    switch (byte & 7) {
    case 1:
        return ek_guard_accept(g, "price", segment, value, "ana", "by night", &version, e);
    case 2:
        return ek_guard_revert(g, 1 + (byte >> 3), NULL, NULL, e);
    case 3:
        return ek_guard_resume_route(g, "price", segment, value, NULL, NULL, e);
    case 4:
        return ek_guard_pin(g, "price", segment, value, "none", 100000, NULL, NULL, e);
    case 5:
        return ek_guard_unpin(g, "price", segment, value, NULL, NULL, e);
    default:
        return ek_guard_pin(g, "kind", segment, value, "blank", 0, "ana", "odd", e);
    }
}

/* A rejected command has no effect. */
static void order(struct play *p, uint8_t byte)
{
    struct ek_error e = {0};
    ek_fuzz_require(!say(p->g, byte, &e) || e.message[0], "refused without a word");
    take_events(p);
}

/* Return false if it is a message. */
static bool is_order(struct play *p, const uint8_t *data, size_t extent)
{
    enum { ONE_BYTE = 0x80 };
    int lists = LISTS_OF_ORDER * (1 + (data[0] & 0xf));
    if (extent != 1)
        return false;
    if (data[0] >= GENUINE_LISTS)
        pass_genuine(p, lists, data[0] >= FAULTY_LISTS ? CENTS : PEOPLE);
    else if (data[0] < ONE_BYTE && data[0] >> 4 != PEOPLE)
        pass_genuine(p, lists, (enum fault)(data[0] >> 4));
    else if (data[0] < ONE_BYTE || data[0] == PIN || data[0] == UNPIN)
        order(p, data[0]);
    else
        return data[0] == CAREFUL;
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
            pass_genuine(p, 1, PEOPLE);
        }
        data += extent;
        size -= extent;
    }
    ek_fuzz_require(!ek_guard_advance(p->g, 1000 * GENUINE, &e), e.message);
    take_events(p);
}

/* Apply the fault to item i of a list. */
static void harm(struct ek_list *q, int i, enum fault fault)
{
    float *price = &q->x[2 * i], *kind = price + 1;
    if (fault == CENTS || (fault == HALF_CENTS && i % 2) ||
        (fault == CENTS_IN_B && ek_text_same(q->segments[0].value, ek_text_from("B"))))
        *price *= 100;
    else if (fault == NEW_KINDS)
        *kind = i % 2 ? 20 : 1;
    else if (fault == DEARER)
        *price *= 1.12f;
    else if (fault == BY_NIGHT)
        *price *= q->query[0];
    else if (fault == ALL_ALIKE)
        *price = 55;
}

static void write_lists(const struct ek_manifest *m)
{
    struct shop s;
    shop_open(&s, 5, 4);
    for (int n = 0; n < GENUINE; n++) {
        struct ek_list *q = shop_next(&s);
        float as_it_was[2 * 32];
        memcpy(as_it_was, q->x, sizeof *q->x * 2 * (size_t)q->items);
        for (int fault = PEOPLE; fault < FAULTS; fault++) {
            ek_buf_init(&genuine[fault][n], 0);
            for (int i = 0; i < q->items; i++)
                harm(q, i, (enum fault)fault);
            must(ek_codec_encode(m, q, EK_FEATURES_ARRAY, &genuine[fault][n], NULL));
            memcpy(q->x, as_it_was, sizeof *q->x * 2 * (size_t)q->items);
        }
    }
    shop_close(&s);
}

static void open_world(struct world *w, const char *rules)
{
    struct ek_guard *g;
    struct ek_error e = {0};
    size_t length;
    state_assets_open(&w->assets, rules, TRAINING);
    w->assets.cells = 2;
    ek_fuzz_require(!ek_guard_new(&g, &w->assets, &e), e.message);
    for (int n = 0; n < BEFORE; n++) {
        const struct ek_buf *message = &genuine[PEOPLE][n];
        ek_fuzz_require(!ek_guard_observe(g, message->data, message->length, 0, &e), e.message);
        ek_fuzz_require(ek_guard_score(g, &length, &e) != NULL, e.message);
    }
    ek_fuzz_require(!ek_guard_save(g, 0, NULL, 0, state_put, &w->own, &e), e.message);
    ek_guard_free(g);
}

static void set_up(void)
{
    struct ek_manifest *m = shop_manifest();
    write_lists(m);
    ek_manifest_free(m);
    open_world(&worlds[0], RULES);
    open_world(&worlds[1], CAREFUL_RULES);
    open_world(&worlds[2], STRICT_RULES);
}

static struct ek_guard *as_it_was(void)
{
    enum ek_restore_result fit;
    struct ek_guard *g;
    struct ek_error e = {0};
    struct ek_state *state = state_of(&world->own, 0);
    ek_fuzz_require(!ek_guard_load(&g, &world->assets, state, &fit, &e), e.message);
    ek_state_free(state);
    return g;
}

static void finish(struct play *p, struct state_store *s)
{
    struct ek_error e = {0};
    ek_fuzz_require(!ek_guard_save(p->g, 1, NULL, 0, state_put, s, &e), e.message);
    ek_guard_free(p->g);
}

/* Omitting the rejected messages must give the same result. */
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

/* Return the index of the rules: 0, or the number of leading CAREFUL bytes, at most two. */
static int careful_by(const uint8_t *data, size_t size)
{
    bool once = size && data[0] == CAREFUL;
    return once ? 1 + (size > 1 && data[1] == CAREFUL) : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!world)
        set_up();
    world = &worlds[careful_by(data, size)];
    struct play p = {.g = as_it_was(), .next = BEFORE};
    play(&p, data, size);
    finish(&p, &after);
    if (memchr(p.refused, true, sizeof p.refused))
        play_again(&p, data, size);
    state_clear(&after);
    return 0;
}
