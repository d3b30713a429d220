/* Guard state: written records, rejected records, and merged guards. */
#include "guard/event_json.h"
#include "tests/check.h"
#include "tests/state_bench.h"
#include "tests/state_capture.h"

#include "detect/detector_internal.h"
#include "guard/guard_internal.h"
#include "guard/replay_open.h"
#include "guard/state.h"
#include "guard/live_sketches.h"
#include "num/windows.h"

enum { CELLS_OF_A_LIST = 3 };

/* Observe the current message. */
static void observe(const struct bench *b, struct ek_guard *g)
{
    ck_assert_int_eq(ek_guard_observe(g, b->message.data, b->message.length, 0, NULL), EK_OK);
}

/* Run lists of which arm B has prices in cents from FAULT_FROM on. */
static void run_guard(struct bench *b, struct ek_guard *g, int lists)
{
    for (int i = 0; i < lists; i++) {
        bench_next(b);
        observe(b, g);
    }
}

static void run(struct bench *b, int lists)
{
    run_guard(b, b->guard, lists);
}

static struct bench *bench_of(int lists)
{
    struct bench *b = bench_new();
    run(b, lists);
    return b;
}

/* Puts and deletes of the store count from this checkpoint. */
static void save(struct bench *b, int whole)
{
    b->store.puts = b->store.deletes = 0;
    b->store.bytes = 0;
    ck_assert_int_eq(ek_guard_save(b->guard, whole, "here", 4, state_put, &b->store, NULL), EK_OK);
}

/* Return NULL on rejection. */
static struct ek_guard *load(struct ek_state *state, const struct ek_assets *assets,
                             enum ek_restore_result *fit)
{
    struct ek_guard *g = NULL;
    struct ek_error e = {0};
    int rc = ek_guard_load(&g, assets, state, fit, &e);
    ck_assert_int_eq(rc != EK_OK, g == NULL);
    ck_assert(!rc || e.message[0]);
    return g;
}

static enum ek_restore_result fit_of(const struct state_store *store,
                                     const struct ek_assets *assets)
{
    enum ek_restore_result fit;
    struct ek_state *state = state_of(store, 1);
    ek_guard_free(load(state, assets, &fit));
    ek_state_free(state);
    return fit;
}

START_TEST(a_guard_without_traffic_writes_its_head_alone)
{
    struct bench *b = bench_of(700);
    save(b, 0);
    ck_assert_int_gt(b->store.puts, 20);
    ck_assert_int_eq(ek_guard_advance(b->guard, 5000, NULL), EK_OK);
    save(b, 0);
    ck_assert_int_eq(b->store.puts, 1);
    ck_assert_int_eq(b->store.deletes, 0);
    ck_assert_int_eq(fit_of(&b->store, &b->assets), EK_RESTORE_FULL);
    bench_free(b);
}
END_TEST

static int puts_of(const struct bench *b, const char *part, uint64_t base)
{
    int puts = 0;
    for (int i = 0; i < b->store.count; i++) {
        struct ek_record_frame frame;
        struct ek_serialize s;
        ck_assert_int_eq(
            ek_record_open(b->store.record[i].bytes, b->store.record[i].length, &frame, &s, NULL),
            EK_OK);
        puts += frame.base == base && !strncmp(b->store.record[i].key, part, strlen(part));
    }
    return puts;
}

START_TEST(after_one_list_what_that_has_touched_is_written)
{
    struct bench *b = bench_of(700);
    save(b, 0);
    run(b, 1);
    save(b, 0);
    ck_assert_int_eq(puts_of(b, "rows/", 2), 1);
    ck_assert_int_eq(puts_of(b, "window/", 2), 0);
    ck_assert_int_eq(puts_of(b, "life/", 2), 0);
    ck_assert_int_le(puts_of(b, "now/", 2), CELLS_OF_A_LIST);
    ck_assert_int_le(puts_of(b, "evidence/", 2), CELLS_OF_A_LIST);
    ck_assert_int_gt(puts_of(b, "evidence/", 1), CELLS_OF_A_LIST);
    save(b, 1);
    ck_assert_int_eq(b->store.puts, b->store.count);
    bench_free(b);
}
END_TEST

/* 64 rows of 500 features exceed the size of a record. */
START_TEST(a_large_part_is_cut_into_records)
{
    enum { FEATURES = 500, LISTS = 70, ITEMS = 4, OWN_BYTES = 256 };
    struct ek_buf text;
    struct ek_assets a = {.cells = 4};
    struct ek_profile_fit *fit = NULL;
    struct ek_list q;
    struct ek_guard *g = NULL;
    struct ek_rng r;
    struct state_store *store = calloc(1, sizeof *store);
    ek_buf_init(&text, 0);
    ek_list_init(&q);
    ek_rng_seed(&r, 3);
    ek_buf_text(&text, "features:\n");
    for (int i = 0; i < FEATURES; i++)
        ek_buf_printf(&text, "  - {name: x%d, index: %d, role: item}\n", i, i + 1);
    ck_assert_int_eq(ek_manifest_parse(&a.manifest, "wide", (char *)text.data, text.length, NULL),
                     EK_OK);
    ck_assert_int_eq(ek_profile_fit_new(&fit, a.manifest, NULL, NULL), EK_OK);
    ck_assert_int_eq(ek_rules_parse(&a.rules, a.manifest, "rules", "version: 1\n", 11, NULL),
                     EK_OK);
    ck_assert_int_eq(ek_codec_new(&a.codec, a.manifest, NULL, NULL, NULL), EK_OK);
    for (int n = 0; n < 3 * LISTS; n++) {
        ek_list_resize(&q, ITEMS, FEATURES, 0);
        for (int i = 0; i < ITEMS; i++) {
            q.item_id[i] = (struct ek_text){NULL, 0};
            q.score[i] = -i;
        }
        for (int i = 0; i < ITEMS * FEATURES; i++)
            q.x[i] = (float)exp(ek_rng_normal(&r));
        if (n < 2 * LISTS)
            ek_profile_fit_add(fit, &q, NULL);
        if (n == 2 * LISTS) {
            ck_assert_int_eq(ek_profile_fit_finish(fit, &a.profile, NULL), EK_OK);
            ck_assert_int_eq(ek_guard_new(&g, &a, NULL), EK_OK);
        }
        if (n < 2 * LISTS)
            continue;
        ek_buf_clear(&text);
        ck_assert_int_eq(ek_codec_encode(a.manifest, &q, EK_FEATURES_BIN, &text, NULL), EK_OK);
        ck_assert_int_eq(ek_guard_observe(g, text.data, text.length, n, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_guard_save(g, 0, NULL, 0, state_put, store, NULL), EK_OK);
    ck_assert_int_lt(state_find(store, "rows/00000.001"), store->count);
    ck_assert_int_eq(state_find(store, "rows/00001.001"), store->count);
    for (int i = 0; i < store->count; i++)
        ck_assert_uint_le(store->record[i].length, EK_RECORD_BYTES_MAX + OWN_BYTES);
    ck_assert_int_eq(fit_of(store, &a), EK_RESTORE_FULL);
    state_clear(store);
    free(store);
    ek_guard_free(g);
    ek_profile_fit_free(fit);
    ek_assets_release(&a);
    ek_list_release(&q);
    ek_buf_release(&text);
}
END_TEST

START_TEST(a_record_that_is_missing_or_another_one_is_noticed)
{
    struct bench *b = bench_of(300);
    save(b, 0);
    for (int i = 0; i < b->store.count; i++) {
        struct state_record *r = &b->store.record[i];
        int head = !strcmp(r->key, "head");
        size_t at = STATE_FRAME + (r->length - STATE_FRAME) / 2;
        r->bytes[at] ^= 4;
        ck_assert_int_eq(fit_of(&b->store, &b->assets),
                         head ? EK_RESTORE_DAMAGED : EK_RESTORE_INCOMPLETE);
        r->bytes[at] ^= 4;
        struct state_record last = b->store.record[b->store.count - 1], taken = *r;
        *r = last;
        b->store.count--;
        ck_assert_int_eq(fit_of(&b->store, &b->assets),
                         head ? EK_RESTORE_NONE : EK_RESTORE_INCOMPLETE);
        b->store.record[b->store.count++] = last;
        b->store.record[i] = taken;
    }
    ck_assert_int_eq(fit_of(&b->store, &b->assets), EK_RESTORE_FULL);
    bench_free(b);
}
END_TEST

static void add(struct ek_state *state, const struct state_store *s, const char *key)
{
    const struct state_record *r = &s->record[state_find(s, key)];
    ck_assert_int_eq(ek_state_add(state, key, r->bytes, r->length, NULL), EK_OK);
}

START_TEST(a_base_that_was_not_finished_leaves_the_one_before)
{
    struct bench *b = bench_of(300);
    enum ek_restore_result fit;
    save(b, 0);
    struct ek_state *state = state_of(&b->store, 5);
    uint64_t queries = ek_guard_list_count(b->guard);
    run(b, 50);
    save(b, 0);
    for (int i = 0; i < b->store.count; i++)
        if (strcmp(b->store.record[i].key, "head") != 0 &&
            strcmp(b->store.record[i].key, "lists.000") != 0)
            add(state, &b->store, b->store.record[i].key);
    struct ek_guard *g = load(state, &b->assets, &fit);
    ck_assert_int_eq(fit, EK_RESTORE_FULL);
    ck_assert_uint_eq(ek_guard_list_count(g), queries);
    ek_guard_free(g);
    add(state, &b->store, "head");
    g = load(state, &b->assets, &fit);
    ck_assert_int_eq(fit, EK_RESTORE_PREVIOUS);
    ck_assert_uint_eq(ek_checkpoint_number(state), 1);
    ck_assert_uint_eq(ek_guard_list_count(g), queries);
    ek_guard_free(g);
    add(state, &b->store, "lists.000");
    add(state, &b->store, "head");
    g = load(state, &b->assets, &fit);
    ck_assert_int_eq(fit, EK_RESTORE_FULL);
    ck_assert_uint_eq(ek_checkpoint_number(state), 2);
    ck_assert_uint_eq(ek_guard_list_count(g), queries + 50);
    ek_guard_free(g);
    ck_assert_int_eq(ek_state_add(state, "head", NULL, 0, NULL), EK_OK);
    ck_assert_ptr_null(load(state, &b->assets, &fit));
    ck_assert_int_eq(fit, EK_RESTORE_NONE);
    ek_state_free(state);
    bench_free(b);
}
END_TEST

START_TEST(another_manifest_and_another_version_are_refused_each_by_its_word)
{
    struct bench *b = bench_of(100);
    struct ek_manifest *own = b->assets.manifest, *other;
    static const char text[] = "features:\n"
                               "  - {name: cost, index: 1, role: item, routable: true}\n"
                               "  - {name: kind, index: 2, role: item, type: category}\n"
                               "  - {name: nights, index: 3, role: query}\n";
    save(b, 0);
    ck_assert_int_eq(ek_manifest_parse(&other, "other", text, sizeof text - 1, NULL), EK_OK);
    b->assets.manifest = other;
    ck_assert_int_eq(fit_of(&b->store, &b->assets), EK_RESTORE_OTHER_MANIFEST);
    b->assets.manifest = own;
    ek_manifest_free(other);
    b->store.record[state_find(&b->store, "head")].bytes[8]++;
    ck_assert_int_eq(fit_of(&b->store, &b->assets), EK_RESTORE_OTHER_VERSION);
    ck_assert_str_eq(ek_restore_result_name(EK_RESTORE_OTHER_MANIFEST), "other_manifest");
    ck_assert_str_eq(ek_restore_result_name(EK_RESTORE_OTHER_VERSION), "other_version");
    bench_free(b);
}
END_TEST

/* Return the cell of a value, -1: none. */
static int cell_of(const struct ek_guard *g, const char *dimension, const char *value)
{
    const struct ek_cells *c = ek_detector_registry(g->detector);
    for (int i = 1; i < ek_cells_count(c); i++) {
        const char *own = ek_cells_value(c, i);
        if (!strcmp(ek_cells_dimension_name(c, i), dimension) && !own == !value &&
            (!own || !strcmp(own, value)))
            return i;
    }
    return -1;
}

/* Check the live sketches of a feature since the start. Return its lists. */
static uint64_t ck_counts(const struct ek_guard *g, int cell, int feature, struct ek_buf *out)
{
    struct ek_sketch *s;
    ck_assert_int_eq(ek_sketch_new(&s), EK_OK);
    uint64_t lists = ek_windows_life(ek_live_sketches_windows(g->sketches, cell), feature, s);
    ck_assert_int_eq(ek_sketch_write(s, out), EK_OK);
    ek_sketch_free(s);
    return lists;
}

static void ck_same_sketches(const struct ek_guard *a, int cell, const struct ek_guard *b, int at)
{
    for (int f = 0; f < 2; f++) {
        struct ek_buf x, y;
        ek_buf_init(&x, 0);
        ek_buf_init(&y, 0);
        ck_assert_uint_eq(ck_counts(a, cell, f, &x), ck_counts(b, at, f, &y));
        ck_assert(x.length == y.length && !memcmp(x.data, y.data, x.length));
        ek_buf_release(&x);
        ek_buf_release(&y);
    }
}

/* Check that the accounted size of sketches equals their size. Return it. */
static size_t ck_weighed(const struct ek_guard *g)
{
    size_t sum = 0;
    for (int cell = 0; cell < ek_live_sketches_cells(g->sketches); cell++)
        if (ek_live_sketches_windows(g->sketches, cell))
            sum += ek_windows_bytes(ek_live_sketches_windows(g->sketches, cell));
    ck_assert_uint_eq(ek_live_sketches_bytes(g->sketches), sum);
    return sum;
}

START_TEST(sketches_that_come_back_or_are_joined_count_what_they_take_at_once)
{
    struct bench *b = bench_of(300);
    enum ek_restore_result fit;
    save(b, 0);
    struct ek_state *state = state_of(&b->store, 1);
    struct ek_guard *g = load(state, &b->assets, &fit), *other;
    size_t read = ck_weighed(g);
    ck_assert_uint_gt(read, 0);
    ck_assert_int_eq(ek_guard_new(&other, &b->assets, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_merge(other, g, NULL), EK_OK);
    ck_assert_uint_gt(ck_weighed(other), 0);
    ek_guard_free(other);
    ek_guard_free(g);
    ek_state_free(state);
    bench_free(b);
}
END_TEST

START_TEST(with_another_profile_sketches_and_queries_are_kept)
{
    struct bench *b = bench_of(500);
    enum ek_restore_result fit;
    struct ek_profile *own = b->assets.profile;
    save(b, 0);
    struct ek_state *state = state_of(&b->store, 2);
    b->assets.profile = shop_profile(b->assets.manifest, TRAINING / 2, STATE_MARKETS, NULL);
    struct ek_guard *g = load(state, &b->assets, &fit);
    ck_assert_int_eq(fit, EK_RESTORE_COUNTERS_ONLY);
    ck_assert_uint_eq(ek_guard_list_count(g), 500);
    ck_assert_int_eq(ek_controller_plan(g->control)->count, 0);
    ck_assert_uint_eq(ek_guard_plan_version(g), ek_guard_plan_version(b->guard) + 1);
    ck_same_sketches(b->guard, 0, g, 0);
    ck_same_sketches(b->guard, cell_of(b->guard, "arm", "B"), g, cell_of(g, "arm", "B"));
    ek_guard_free(g);
    ek_profile_free(b->assets.profile);
    b->assets.profile = own;
    ek_state_free(state);
    bench_free(b);
}
END_TEST

START_TEST(with_other_segments_and_windows_what_still_has_a_name_is_kept)
{
    static const char text[] = "version: 1\nsegments: [shop, market]\n"
                               "windows: {length: 30s, retention: 2, max_segments: 4}\n";
    struct bench *b = bench_of(500);
    enum ek_restore_result fit;
    struct ek_rules *own = b->assets.rules;
    save(b, 0);
    struct ek_state *state = state_of(&b->store, 2);
    ck_assert_int_eq(
        ek_rules_parse(&b->assets.rules, b->assets.manifest, "rules", text, strlen(text), NULL),
        EK_OK);
    struct ek_guard *g = load(state, &b->assets, &fit);
    ck_assert_int_eq(fit, EK_RESTORE_COUNTERS_ONLY);
    ck_same_sketches(b->guard, 0, g, 0);
    ck_assert_int_eq(cell_of(g, "arm", "B"), -1);
    ck_assert_str_eq(ek_cells_dimension_name(ek_detector_registry(g->detector), 1), "market");
    ek_guard_free(g);
    ek_rules_free(b->assets.rules);
    b->assets.rules = own;
    ek_state_free(state);
    bench_free(b);
}
END_TEST

/* A peeked list is treated normally and leaves no state. */
START_TEST(a_list_that_is_looked_at_is_treated_and_not_counted)
{
    struct bench *b = bench_of(600);
    struct ek_context *c;
    size_t length, looked;
    int routed = 0;
    ck_assert_int_eq(ek_context_new(&c, &b->assets, NULL), EK_OK);
    for (int i = 0; i < 40; i++) {
        state_message(&b->shop, &b->assets, &b->message, cents);
        save(b, 0);
        ck_assert_int_eq(ek_context_decode(c, b->message.data, b->message.length, NULL), EK_OK);
        ck_assert_int_eq(ek_guard_peek(b->guard, c, NULL), EK_OK);
        ck_assert_int_eq(ek_guard_peek(b->guard, c, NULL), EK_ESTATE);
        const void *a = ek_context_score(c, &looked, NULL);
        save(b, 0);
        ck_assert_int_eq(b->store.puts, 1);
        observe(b, b->guard);
        const void *o = ek_guard_score(b->guard, &length, NULL);
        ck_assert(a && o && looked == length && !memcmp(a, o, length));
        ck_assert_str_eq(ek_context_action(c), ek_guard_action(b->guard));
        ck_assert_uint_eq(ek_context_plan_version(c), ek_guard_plan_version(b->guard));
        routed += !strcmp(ek_context_action(c), "routed");
    }
    ck_assert_int_gt(routed, 5);
    ck_assert_int_lt(routed, 35);
    ek_context_free(c);
    bench_free(b);
}
END_TEST

/* Run one stream through the guard and distributed over two: the second gets one list in `one_in`.
 */
static void share_out(struct bench *b, struct ek_guard *part[2], int lists, uint64_t one_in)
{
    struct ek_rng r;
    ek_rng_seed(&r, 6);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(ek_guard_new(&part[i], &b->assets, NULL), EK_OK);
    for (int i = 0; i < lists; i++) {
        state_message(&b->shop, &b->assets, &b->message, NULL);
        observe(b, b->guard);
        observe(b, part[ek_rng_uniform_int(&r, one_in) == one_in - 1]);
    }
}

START_TEST(two_guards_together_have_counted_what_one_would)
{
    enum { LISTS = 600 };
    struct bench *b = bench_of(0);
    struct ek_guard *part[2];
    share_out(b, part, LISTS, 2);
    float before[2];
    for (int i = 0; i < 2; i++)
        before[i] = ek_evidence_r(part[i]->detector->evidence, 0, 0)[0];
    ck_assert_int_eq(ek_guard_merge(part[0], part[1], NULL), EK_OK);
    ck_assert_uint_eq(ek_guard_list_count(part[0]), LISTS);
    ck_assert_float_eq(ek_evidence_r(part[0]->detector->evidence, 0, 0)[0], before[0] + before[1]);
    ck_assert_uint_eq(*ek_evidence_list_count(part[0]->detector->evidence, 0, 0),
                      *ek_evidence_list_count(b->guard->detector->evidence, 0, 0));
    ck_same_sketches(b->guard, 0, part[0], 0);
    ck_same_sketches(b->guard, cell_of(b->guard, "arm", "A"), part[0],
                     cell_of(part[0], "arm", "A"));
    ck_same_sketches(b->guard, cell_of(b->guard, "arm", "B"), part[0],
                     cell_of(part[0], "arm", "B"));
    for (int i = 0; i < 2; i++)
        ek_guard_free(part[i]);
    bench_free(b);
}
END_TEST

static int count_events(struct ek_guard *g, const char *text)
{
    int found = 0;
    const char *event;
    while (ek_guard_next_event(g, &event))
        found += strstr(event, text) != NULL;
    return found;
}

/* Run lists through a guard. Return the number of events with this text. */
static int run_on(struct bench *b, struct ek_guard *g, int lists, shop_change *change,
                  const char *text)
{
    int found = 0;
    for (int i = 0; i < lists; i++) {
        state_message(&b->shop, &b->assets, &b->message, change);
        observe(b, g);
        size_t length;
        ck_assert_ptr_nonnull(ek_guard_score(g, &length, NULL));
        if (change && b->shop.arm_b)
            ck_assert_str_eq(ek_guard_action(g), "routed");
        found += count_events(g, text);
    }
    return found;
}

struct recalled {
    int findings, plans;
    char last[2000];
};

static int recall(void *context, const struct ek_event *v)
{
    struct recalled *r = context;
    bool finding = v->kind == EK_EVENT_FINDING && v->finding.state == EK_UPDATED;
    struct ek_buf json;
    ek_buf_init(&json, 0);
    r->findings += finding;
    r->plans += v->kind == EK_EVENT_PLAN;
    ck_assert_int_eq(ek_event_json(v, &json), EK_OK);
    if (finding)
        snprintf(r->last, sizeof r->last, "%s", ek_buf_string(&json));
    ek_buf_release(&json);
    return EK_OK;
}

START_TEST(a_loaded_guard_can_say_what_is_open_without_telling_it_again)
{
    struct bench *b = bench_of(700);
    struct recalled before = {0}, after = {0};
    enum ek_restore_result fit;
    const char *json;
    count_events(b->guard, "");
    save(b, 0);
    ck_assert_int_eq(ek_guard_replay_open(b->guard, recall, &before), EK_OK);
    ck_assert_int_eq(before.findings, 1);
    struct ek_state *state = state_of(&b->store, 1);
    struct ek_guard *g = load(state, &b->assets, &fit);
    ck_assert_int_eq(ek_guard_replay_open(g, recall, &after), EK_OK);
    ck_assert_mem_eq(&after, &before, sizeof after);
    ck_assert_int_eq(ek_guard_next_event(g, &json), 0);
    ek_guard_free(g);
    ek_state_free(state);
    bench_free(b);
}
END_TEST

START_TEST(a_change_that_another_guard_has_open_goes_on_here)
{
    struct bench *b = bench_of(400);
    struct ek_guard *other;
    ck_assert_int_eq(ek_controller_plan(b->guard->control)->count, 1);
    ck_assert_int_eq(ek_guard_new(&other, &b->assets, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_merge(other, b->guard, NULL), EK_OK);
    ck_assert_int_eq(ek_controller_plan(other->control)->count, 1);
    ck_assert_int_eq(other->open.count, b->guard->open.count);
    ck_assert_int_eq(count_events(other, "\"state\":\"confirmed\""), 1);
    ck_assert_int_eq(run_on(b, other, 200, cents, "\"state\":\"suspected\""), 0);
    ck_assert_int_eq(run_on(b, other, 400, NULL, "\"state\":\"recovered\""), 1);
    ck_assert_int_eq(other->open.count, 0);
    ek_guard_free(other);
    bench_free(b);
}
END_TEST

/* Both have found it: the merge has it once. */
START_TEST(a_change_that_both_have_found_is_one)
{
    struct bench *b = bench_of(400);
    struct ek_guard *other;
    shop_close(&b->shop);
    shop_open(&b->shop, SEED + 1, STATE_MARKETS);
    ck_assert_int_eq(ek_guard_new(&other, &b->assets, NULL), EK_OK);
    run_guard(b, other, 400);
    ck_assert_int_eq(ek_controller_plan(other->control)->count, 1);
    ck_assert_int_eq(ek_guard_merge(other, b->guard, NULL), EK_OK);
    ck_assert_int_eq(ek_controller_plan(other->control)->count, 1);
    ck_assert_int_eq(other->open.count, 1);
    count_events(other, "");
    ck_assert_int_eq(run_on(b, other, 200, cents, "\"state\":\"suspected\""), 0);
    ck_assert_int_eq(run_on(b, other, 600, NULL, "\"state\":\"recovered\""), 1);
    ek_guard_free(other);
    bench_free(b);
}
END_TEST

/* Check a list in both: fractions, times and levels. */
static void ck_same_row(const struct ek_detector *a, const struct ek_detector *b, uint64_t row)
{
    ck_assert_int_eq(ek_history_row(a->history, row)->time_ms,
                     ek_history_row(b->history, row)->time_ms);
    for (int f = 0; f < a->features; f++) {
        const struct ek_list_stats *x = &ek_history_records(a->history, row)[f];
        const struct ek_list_stats *y = &ek_history_records(b->history, row)[f];
        ck_assert(x->usable == y->usable && !memcmp(&x->r, &y->r, sizeof x->r));
    }
}

/* More lists than the history keeps. */
START_TEST(two_guards_together_remember_the_lists_that_one_would)
{
    enum { LISTS = EK_HISTORY + 900 };
    struct bench *b = bench_of(0);
    struct ek_guard *part[2];
    share_out(b, part, LISTS, 3);
    ck_assert_int_eq(ek_guard_merge(part[0], part[1], NULL), EK_OK);
    const struct ek_detector *whole = b->guard->detector, *joined = part[0]->detector;
    ck_assert_uint_eq(ek_history_count(whole->history), LISTS);
    ck_assert_uint_eq(ek_history_count(joined->history), LISTS);
    for (uint64_t row = ek_history_first(whole->history); row < LISTS; row++)
        ck_same_row(whole, joined, row);
    for (int i = 0; i < 2; i++)
        ek_guard_free(part[i]);
    bench_free(b);
}
END_TEST

/* 150 lists, a routed price in cents in arm B. */
START_TEST(the_golden_file_is_what_this_version_writes)
{
    struct bench *b = bench_of(150);
    enum ek_restore_result fit;
    struct ek_state *state = state_capture_golden(b->guard, "offset 150", "state-1.ekc");
    struct ek_guard *read = load(state, &b->assets, &fit);
    ck_assert_int_eq(fit, EK_RESTORE_FULL);
    ck_assert_uint_eq(ek_guard_list_count(read), 150);
    ck_assert_int_eq(ek_controller_plan(read->control)->count,
                     ek_controller_plan(b->guard->control)->count);
    ek_guard_free(read);
    ek_state_free(state);
    bench_free(b);
}
END_TEST

Suite *suite_state(void)
{
    return ek_suite(
        "state", a_guard_without_traffic_writes_its_head_alone,
        after_one_list_what_that_has_touched_is_written, a_large_part_is_cut_into_records,
        a_record_that_is_missing_or_another_one_is_noticed,
        a_base_that_was_not_finished_leaves_the_one_before,
        another_manifest_and_another_version_are_refused_each_by_its_word,
        sketches_that_come_back_or_are_joined_count_what_they_take_at_once,
        with_another_profile_sketches_and_queries_are_kept,
        with_other_segments_and_windows_what_still_has_a_name_is_kept,
        a_list_that_is_looked_at_is_treated_and_not_counted,
        two_guards_together_have_counted_what_one_would,
        a_loaded_guard_can_say_what_is_open_without_telling_it_again,
        a_change_that_another_guard_has_open_goes_on_here, a_change_that_both_have_found_is_one,
        two_guards_together_remember_the_lists_that_one_would,
        the_golden_file_is_what_this_version_writes);
}
