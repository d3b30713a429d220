/* Guard with messages of one item: bytes, plans and sketches per item, findings per list, and a
 * state without double counts. */
#include "guard/guard_items.h"

#include "lists/codec.h"
#include "evenkeel.h"
#include "serve/assets.h"
#include "serve/context.h"
#include "guard/live_sketches.h"
#include "guard/guard_trials.h"
#include "score/scorer.h"
#include "tests/items.h"
#include "tests/state_capture.h"
#include "tests/state_world.h"
#include "tests/stream_assets.h"

enum { BEFORE = 200, FAULTY = 400 };

static const char RULES[] = "version: 1\n"
                            "defaults: {mode: enforce, confirmation_lists: 64, min_duration: 30s}\n"
                            "segments: [arm]\n";
static const struct ek_mapping ITEMS = {.layout = EK_LAYOUT_ITEM};

struct bench {
    struct ek_assets assets;
    struct ek_guard *guard;
    struct stream stream;
    struct ek_buf message;
    const void *out;
    size_t length;
    int routed, confirmed, plans;
    struct ek_error e;
};

static void open_guard(struct bench *b)
{
    ck_assert_int_eq(ek_guard_new(&b->guard, &b->assets, NULL), EK_OK);
}

static void set_layout(struct bench *b, const struct ek_mapping *mapping)
{
    ek_codec_free(b->assets.codec);
    ck_assert_int_eq(ek_codec_new(&b->assets.codec, b->assets.manifest, mapping, NULL, NULL),
                     EK_OK);
}

static void setup_with(struct bench *b, const char *rules)
{
    memset(b, 0, sizeof *b);
    stream_assets_open(&b->assets, rules, &ITEMS);
    open_guard(b);
    stream_start(&b->stream, 21);
    ek_buf_init(&b->message, 0);
}

static void setup(struct bench *b)
{
    setup_with(b, RULES);
}

static void teardown(struct bench *b)
{
    ek_buf_release(&b->message);
    stream_end(&b->stream);
    ek_guard_free(b->guard);
    ek_assets_release(&b->assets);
}

static void read_events(struct bench *b)
{
    const char *text;
    while (ek_guard_next_event(b->guard, &text)) {
        b->plans += strstr(text, "\"event\":\"plan\"") != NULL;
        b->confirmed += strstr(text, "\"state\":\"confirmed\"") != NULL;
    }
}

/* Send item i of a list through the guard. The clock is fixed while messages are queued. */
static void pass(struct bench *b, const struct ek_list *q, int i)
{
    ek_buf_clear(&b->message);
    ck_assert_int_eq(
        ek_codec_encode_item(b->assets.manifest, q, i, EK_FEATURES_ARRAY, &b->message, NULL),
        EK_OK);
    int rc = ek_guard_observe(b->guard, b->message.data, b->message.length, 0, &b->e);
    ck_assert_msg(!rc, "%s", b->e.message);
    b->out = ek_guard_score(b->guard, &b->length, &b->e);
    ck_assert_msg(b->out != NULL, "%s", b->e.message);
    b->routed += !strcmp(ek_guard_action(b->guard), "routed");
    read_events(b);
}

static struct ek_list *next_list(struct bench *b, int faulty)
{
    struct ek_list *q = stream_next(&b->stream);
    if (faulty && b->stream.arm_b)
        stream_scale(q, 0, 100);
    item_means(q, b->assets.manifest);
    return q;
}

static struct ek_list *next_faulty(struct bench *b)
{
    struct ek_list *q;
    do
        q = next_list(b, 1);
    while (!b->stream.arm_b);
    return q;
}

/* Start another stream, and return a list of its arm B. */
static struct ek_list *start_beside(const struct bench *b, struct stream *mine)
{
    struct ek_list *q;
    stream_start(mine, 99);
    do
        q = stream_next(mine);
    while (!mine->arm_b);
    item_means(q, b->assets.manifest);
    return q;
}

static void run(struct bench *b, int lists, int faulty)
{
    for (int n = 0; n < lists; n++) {
        struct ek_list *q = next_list(b, faulty);
        for (int i = 0; i < q->items; i++)
            pass(b, q, i);
    }
}

START_TEST(without_a_plan_the_very_same_bytes_come_out)
{
    struct bench b;
    setup(&b);
    for (int n = 0; n < 50; n++) {
        struct ek_list *q = next_list(&b, 0);
        for (int i = 0; i < q->items; i++) {
            pass(&b, q, i);
            ck_assert_ptr_eq(b.out, b.message.data);
            ck_assert_uint_eq(b.length, b.message.length);
        }
        ck_assert_uint_eq(ek_guard_list_count(b.guard), (uint64_t)n + 1);
    }
    ck_assert_uint_eq(ek_guard_item_counts(b.guard).complete, 50);
    teardown(&b);
}
END_TEST

START_TEST(a_fault_is_found_list_by_list_and_routed_item_by_item)
{
    struct bench b;
    setup(&b);
    run(&b, BEFORE, 0);
    ck_assert_int_eq(b.routed, 0);
    run(&b, FAULTY, 1);
    ck_assert_int_eq(b.confirmed, 1);
    ck_assert_int_eq(b.plans, 1);
    for (int n = 0; n < 20; n++) {
        struct ek_list *q = next_list(&b, 1);
        for (int i = 0; i < q->items; i++) {
            pass(&b, q, i);
            ck_assert_str_eq(ek_guard_action(b.guard), b.stream.arm_b ? "routed" : "pass");
        }
    }
    teardown(&b);
}
END_TEST

START_TEST(of_the_lists_that_are_whole_some_are_ranked_both_ways)
{
    struct bench b;
    struct ek_impact_view v;
    int at = 0;
    setup(&b);
    run(&b, 300, 0);
    ck_assert(!ek_guard_impact(b.guard, &at, &v));
    run(&b, 900, 1);
    ck_assert(ek_guard_impact(b.guard, &at, &v));
    ck_assert_str_eq(v.feature, "price");
    ck_assert_uint_ge(v.sums->compared, 300 / EK_WHOLES_APART);
    ck_assert_uint_le(v.sums->compared, 600 / EK_WHOLES_APART + 1);
    ck_assert(v.sums->acted.lists == v.sums->compared && v.sums->plain.lists == v.sums->compared);
    teardown(&b);
}
END_TEST

START_TEST(an_item_scores_as_within_its_list_and_nothing_else_of_it_changes)
{
    struct bench b;
    struct ek_list out;
    struct ek_scorer *scorer;
    double expected[64];
    const struct ek_treatment route[2] = {{EK_ACT_ROUTE, 0}, {EK_ACT_NONE, 0}};
    setup(&b);
    run(&b, BEFORE, 0);
    run(&b, FAULTY, 1);
    ck_assert_int_eq(ek_scorer_new(&scorer, b.assets.model, NULL), EK_OK);
    ek_list_init(&out);
    struct ek_list *q = next_faulty(&b);
    q->has_log_means = false;
    ck_assert_int_eq(ek_scorer_score(scorer, q, route, expected, NULL), EK_OK);
    item_means(q, b.assets.manifest);
    for (int i = 0; i < q->items; i++) {
        pass(&b, q, i);
        ck_assert_int_eq(ek_codec_decode(b.assets.codec, b.out, b.length, &out, NULL), EK_OK);
        ck_assert_double_eq_tol(out.score[0], expected[i], 1e-6 * (1 + fabs(expected[i])));
        ck_assert_uint_eq(b.length, b.message.length);
        const uint8_t *was = b.message.data, *is = b.out;
        for (size_t k = 0; k < b.length; k++)
            ck_assert(is[k] == was[k] ||
                      (k >= out.place[0].offset && k < out.place[0].offset + out.place[0].length));
    }
    ek_list_release(&out);
    ek_scorer_free(scorer);
    teardown(&b);
}
END_TEST

START_TEST(what_the_rules_pin_holds_from_the_first_item_on)
{
    struct bench b;
    setup_with(&b, "version: 1\npins: [{feature: price, action: route}]\n");
    struct ek_list *q = next_list(&b, 0);
    for (int i = 0; i < q->items; i++) {
        pass(&b, q, i);
        ck_assert_int_eq(b.routed, i + 1);
        ck_assert_int_eq(b.plans, 1);
    }
    teardown(&b);
}
END_TEST

START_TEST(all_items_of_a_query_get_the_plan_that_its_first_met)
{
    struct bench b;
    struct stream mine;
    setup(&b);
    run(&b, BEFORE, 0);
    struct ek_list *q = start_beside(&b, &mine);
    q->id = stream_text("mine");
    for (int lists = 0; !b.plans && lists < FAULTY; lists++) {
        q->time_ms = 1000 * (int64_t)(b.stream.number - 1);
        if (lists % 8 == 0) { /* a retry before its timeout, with as many items as needed */
            snprintf(mine.id, sizeof mine.id, "mine-%d", lists);
            q->id = stream_text(mine.id);
            pass(&b, q, 0);
            ck_assert_uint_eq(ek_guard_plan_version(b.guard), 0);
        }
        run(&b, 1, 1);
    }
    ck_assert_int_eq(b.plans, 1);
    pass(&b, q, 1);
    ck_assert_str_eq(ek_guard_action(b.guard), "pass");
    pass(&b, q, 2);
    ck_assert_str_eq(ek_guard_action(b.guard), "pass");
    q->id = stream_text("next");
    pass(&b, q, 0);
    ck_assert_str_eq(ek_guard_action(b.guard), "routed");
    stream_end(&mine);
    teardown(&b);
}
END_TEST

START_TEST(an_item_that_comes_again_is_scored_as_before_and_counts_once)
{
    struct bench b;
    struct ek_context *c;
    setup(&b);
    ck_assert_int_eq(ek_context_new(&c, &b.assets, NULL), EK_OK);
    run(&b, BEFORE, 0);
    struct ek_list *q = next_list(&b, 0);
    pass(&b, q, 0);
    struct ek_buf first = b.message;
    ek_buf_init(&b.message, 0);
    run(&b, 5, 0);
    uint64_t queries = ek_guard_list_count(b.guard);
    ck_assert_int_eq(ek_context_decode(c, first.data, first.length, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_peek(b.guard, c, NULL), EK_OK);
    ck_assert_ptr_eq(ek_context_score(c, &b.length, NULL), first.data);
    ck_assert_uint_eq(ek_guard_list_count(b.guard), queries);
    ck_assert_int_eq(ek_guard_observe(b.guard, first.data, first.length, 0, NULL), EK_OK);
    ck_assert_uint_eq(ek_guard_item_counts(b.guard).repeated, 1);
    ek_buf_release(&first);
    ek_context_free(c);
    teardown(&b);
}
END_TEST

static uint64_t items_seen(struct bench *b)
{
    struct ek_feature_view v[EK_SPANS];
    return ek_live_sketches_view(ek_guard_traffic(b->guard), 0, 0, v) ? v[EK_SPAN_LIFE].values.items
                                                                      : 0;
}

START_TEST(sketches_count_an_item_when_it_comes)
{
    struct bench b;
    setup(&b);
    struct ek_list *q = next_list(&b, 0);
    for (int i = 0; i < 4; i++) {
        pass(&b, q, i);
        ck_assert_uint_eq(items_seen(&b), (uint64_t)i + 1);
    }
    ck_assert_uint_eq(ek_guard_item_counts(b.guard).complete, 0);
    teardown(&b);
}
END_TEST

START_TEST(time_that_passes_without_a_message_ends_lists)
{
    struct bench b;
    setup(&b);
    ck_assert_int_eq(ek_guard_advance(b.guard, 1000, NULL), EK_OK);
    pass(&b, next_list(&b, 0), 0);
    ck_assert_int_eq(ek_guard_advance(b.guard, 1000 + EK_ASSEMBLY_TIMEOUT_MS - 1, NULL), EK_OK);
    ck_assert_uint_eq(ek_guard_item_counts(b.guard).incomplete, 0);
    ck_assert_int_eq(ek_guard_advance(b.guard, 1000 + EK_ASSEMBLY_TIMEOUT_MS, NULL), EK_OK);
    ck_assert_uint_eq(ek_guard_item_counts(b.guard).incomplete, 1);
    ck_assert_uint_eq(ek_guard_list_count(b.guard), 1);
    pass(&b, next_list(&b, 0), 0);
    ck_assert_int_eq(ek_guard_end_items(b.guard, NULL), EK_OK);
    ck_assert_uint_eq(ek_guard_item_counts(b.guard).incomplete, 2);
    teardown(&b);
}
END_TEST

/* As in a worker with batches and a second per message. */
START_TEST(items_that_waited_for_their_turn_make_no_time_pass_twice)
{
    struct bench b;
    setup(&b);
    struct ek_list *q = next_list(&b, 0);
    for (int i = 0; i < 4; i++) {
        pass(&b, q, i);
        ck_assert_int_eq(ek_guard_advance(b.guard, 1000 * (i + 1), NULL), EK_OK);
        ck_assert_uint_eq(ek_guard_item_counts(b.guard).incomplete, 0);
    }
    ck_assert_int_eq(ek_guard_advance(b.guard, EK_ASSEMBLY_TIMEOUT_MS - 1, NULL), EK_OK);
    ck_assert_uint_eq(ek_guard_item_counts(b.guard).incomplete, 0);
    ck_assert_int_eq(ek_guard_advance(b.guard, EK_ASSEMBLY_TIMEOUT_MS, NULL), EK_OK);
    ck_assert_uint_eq(ek_guard_item_counts(b.guard).incomplete, 1);
    teardown(&b);
}
END_TEST

START_TEST(a_model_of_lists_wants_the_means_of_the_list)
{
    struct bench b;
    setup(&b);
    run(&b, BEFORE, 0);
    run(&b, FAULTY, 1);
    struct ek_list *q = next_faulty(&b);
    q->has_log_means = false;
    ek_buf_clear(&b.message);
    ek_codec_encode_item(b.assets.manifest, q, 0, EK_FEATURES_BIN, &b.message, NULL);
    ck_assert_int_eq(ek_guard_observe(b.guard, b.message.data, b.message.length, 0, NULL), EK_OK);
    ck_assert_ptr_null(ek_guard_score(b.guard, &b.length, &b.e));
    ck_assert_ptr_nonnull(strstr(b.e.message, "and no 'log_means': this model needs"));
    teardown(&b);
}
END_TEST

/* Replace the guard by one restored from its state. */
static void restart(struct bench *b)
{
    static struct state_store store;
    struct ek_guard *then;
    enum ek_restore_result fit;
    state_clear(&store);
    ck_assert_int_eq(ek_guard_save(b->guard, 0, NULL, 0, state_put, &store, NULL), EK_OK);
    struct ek_state *state = state_of(&store, 1);
    int rc = ek_guard_load(&then, &b->assets, state, &fit, &b->e);
    ck_assert_msg(!rc, "%s", b->e.message);
    ck_assert_uint_eq(ek_guard_list_count(then), ek_guard_list_count(b->guard));
    ek_state_free(state);
    state_clear(&store);
    ek_guard_free(b->guard);
    b->guard = then;
}

START_TEST(a_restart_counts_every_query_and_every_item_once)
{
    struct bench b;
    setup(&b);
    run(&b, 30, 0);
    uint64_t items = items_seen(&b);
    struct ek_list *q = next_list(&b, 0);
    for (int i = 0; i < 3; i++)
        pass(&b, q, i);
    ck_assert_uint_eq(ek_guard_list_count(b.guard), 31);
    restart(&b);
    ck_assert_uint_eq(ek_guard_list_count(b.guard), 31);
    for (int i = 3; i < q->items; i++)
        pass(&b, q, i);
    ck_assert_uint_eq(ek_guard_item_counts(b.guard).complete, 1);
    ck_assert_uint_eq(ek_guard_list_count(b.guard), 31);
    ck_assert_uint_eq(items_seen(&b), items + (uint64_t)q->items);
    restart(&b);
    pass(&b, q, 0); /* of a list observed before */
    ck_assert_uint_eq(ek_guard_item_counts(b.guard).late, 1);
    ck_assert_uint_eq(ek_guard_list_count(b.guard), 31);
    teardown(&b);
}
END_TEST

START_TEST(a_restart_keeps_the_plan_of_a_query)
{
    struct bench b;
    struct stream mine;
    setup(&b);
    run(&b, BEFORE, 0);
    struct ek_list *q = start_beside(&b, &mine);
    for (int lists = 0; !b.plans && lists < FAULTY; lists++) {
        q->time_ms = 1000 * (int64_t)(b.stream.number - 1);
        snprintf(mine.id, sizeof mine.id, "mine-%d", lists);
        q->id = stream_text(mine.id);
        pass(&b, q, 0);
        run(&b, 1, 1);
    }
    ck_assert_int_eq(b.plans, 1);
    restart(&b);
    pass(&b, q, 1);
    ck_assert_str_eq(ek_guard_action(b.guard), "pass");
    q->id = stream_text("next");
    pass(&b, q, 0);
    ck_assert_str_eq(ek_guard_action(b.guard), "routed");
    stream_end(&mine);
    teardown(&b);
}
END_TEST

START_TEST(a_state_of_items_is_one_of_lists_too_and_the_other_way_round)
{
    struct bench b;
    setup(&b);
    run(&b, 30, 0);
    pass(&b, next_list(&b, 0), 0);
    set_layout(&b, NULL);
    restart(&b);
    ck_assert_uint_eq(ek_guard_list_count(b.guard), 31);
    set_layout(&b, &ITEMS);
    restart(&b);
    run(&b, 1, 0);
    ck_assert_uint_eq(ek_guard_list_count(b.guard), 32);
    teardown(&b);
}
END_TEST

START_TEST(guards_that_are_joined_know_each_others_queries)
{
    struct bench a, b;
    setup(&a);
    setup(&b);
    run(&a, 10, 0);
    b.stream.number = 1000;
    run(&b, 10, 0);
    struct ek_list *q = next_list(&b, 0);
    pass(&b, q, 0);
    ck_assert_int_eq(ek_guard_merge(a.guard, b.guard, NULL), EK_OK);
    ck_assert_uint_eq(ek_guard_list_count(a.guard), 21);
    for (int i = 1; i < q->items; i++)
        pass(&a, q, i);
    ck_assert_uint_eq(ek_guard_list_count(a.guard), 21);
    ck_assert_uint_eq(ek_guard_item_counts(a.guard).complete, 11);
    teardown(&a);
    teardown(&b);
}
END_TEST

/* Twelve lists and three items of another. */
START_TEST(the_golden_file_is_what_this_version_writes)
{
    struct ek_guard *read;
    enum ek_restore_result fit;
    struct bench b;
    setup(&b);
    run(&b, 12, 0);
    struct ek_list *q = next_list(&b, 0);
    for (int i = 0; i < 3; i++)
        pass(&b, q, i);
    struct ek_state *state = state_capture_golden(b.guard, "items", "state-items-1.ekc");
    ck_assert_int_eq(ek_guard_load(&read, &b.assets, state, &fit, NULL), EK_OK);
    ck_assert_int_eq(fit, EK_RESTORE_FULL);
    ck_assert_uint_eq(ek_guard_list_count(read), 13);
    ek_guard_free(read);
    ek_state_free(state);
    teardown(&b);
}
END_TEST

Suite *suite_guard_items(void)
{
    return ek_suite(
        "guard, item by item", without_a_plan_the_very_same_bytes_come_out,
        a_fault_is_found_list_by_list_and_routed_item_by_item,
        an_item_scores_as_within_its_list_and_nothing_else_of_it_changes,
        what_the_rules_pin_holds_from_the_first_item_on,
        all_items_of_a_query_get_the_plan_that_its_first_met,
        an_item_that_comes_again_is_scored_as_before_and_counts_once,
        sketches_count_an_item_when_it_comes, time_that_passes_without_a_message_ends_lists,
        items_that_waited_for_their_turn_make_no_time_pass_twice,
        a_model_of_lists_wants_the_means_of_the_list,
        of_the_lists_that_are_whole_some_are_ranked_both_ways,
        a_restart_counts_every_query_and_every_item_once, a_restart_keeps_the_plan_of_a_query,
        a_state_of_items_is_one_of_lists_too_and_the_other_way_round,
        guards_that_are_joined_know_each_others_queries,
        the_golden_file_is_what_this_version_writes);
}
