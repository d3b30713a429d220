/* Guard: output bytes equal the input without a plan, scores are routed under one, and every change
 * has an event. */
#include "evenkeel.h"

#include "base/buf.h"
#include "guard/guard_control.h"
#include "guard/guard_trials.h"
#include "lists/codec.h"
#include "serve/agreement_watch.h"
#include "serve/assets.h"
#include "serve/context.h"
#include "guard/limit_counters.h"
#include "score/scorer.h"
#include "tests/check.h"
#include "tests/stream_assets.h"

#include <jansson.h>
#include <stdlib.h>

enum { BEFORE = 200, MINUTE = 60000 };

static const char ENFORCE[] =
    "version: 1\n"
    "defaults: {mode: enforce, confirmation_lists: 64, min_duration: 30s}\n"
    "segments: [arm]\n";
static const char BY_SOURCE[] = "version: 1\n"
                                "defaults: {mode: enforce, confirmation_lists: 64}\n"
                                "features: {price: {actions: {items: route_per_source}}}\n";
static const char OBSERVE[] = "version: 1\nsegments: [arm]\n";

struct bench {
    struct ek_assets assets;
    struct ek_guard *guard;
    struct stream stream;
    struct ek_buf message;
    const void *out;
    size_t length;
    int routed, plans, confirmed, limits;
    char *plan;    /* text of the last plan event */
    char *finding; /* of the last confirmed finding */
    char *limit;   /* of the last limit event */
};

static void setup(struct bench *b, const char *rules, int with_model)
{
    memset(b, 0, sizeof *b);
    stream_assets_open(&b->assets, rules, NULL);
    if (!with_model) {
        ek_model_free(b->assets.model);
        b->assets.model = NULL;
    }
    ck_assert_int_eq(ek_guard_new(&b->guard, &b->assets, NULL), EK_OK);
    stream_start(&b->stream, 21);
    ek_buf_init(&b->message, 0);
}

static void teardown(struct bench *b)
{
    free(b->plan);
    free(b->finding);
    free(b->limit);
    ek_buf_release(&b->message);
    stream_end(&b->stream);
    ek_guard_free(b->guard);
    ek_assets_release(&b->assets);
}

static void keep(char **held, const char *text)
{
    free(*held);
    *held = strdup(text);
}

static void read_events(struct bench *b)
{
    const char *text;
    while (ek_guard_next_event(b->guard, &text)) {
        json_t *event = json_loads(text, 0, NULL);
        ck_assert_ptr_nonnull(event);
        const char *kind = json_string_value(json_object_get(event, "event"));
        const char *state = json_string_value(json_object_get(event, "state"));
        if (!strcmp(kind, "plan")) {
            b->plans++;
            keep(&b->plan, text);
        } else if (!strcmp(kind, "limit")) {
            b->limits++;
            keep(&b->limit, text);
        } else if (state && !strcmp(state, "confirmed")) {
            b->confirmed++;
            keep(&b->finding, text);
        }
        json_decref(event);
    }
}

/* Send one message through the guard. */
static void pass(struct bench *b, struct ek_list *q)
{
    ek_buf_clear(&b->message);
    ck_assert_int_eq(ek_codec_encode(b->assets.manifest, q, EK_FEATURES_ARRAY, &b->message, NULL),
                     EK_OK);
    ck_assert_int_eq(
        ek_guard_observe(b->guard, b->message.data, b->message.length, q->time_ms, NULL), EK_OK);
    b->out = ek_guard_score(b->guard, &b->length, NULL);
    ck_assert_ptr_nonnull(b->out);
    b->routed += !strcmp(ek_guard_action(b->guard), "routed");
    read_events(b);
}

/* Run lists with prices in cents in arm B. */
static void run(struct bench *b, int lists, int faulty)
{
    for (int i = 0; i < lists; i++) {
        struct ek_list *q = stream_next(&b->stream);
        if (faulty && b->stream.arm_b)
            stream_scale(q, 0, 100);
        pass(b, q);
    }
}

START_TEST(without_a_plan_the_very_same_bytes_come_out)
{
    struct bench b;
    setup(&b, ENFORCE, 1);
    for (int i = 0; i < 100; i++) {
        pass(&b, stream_next(&b.stream));
        ck_assert_ptr_eq(b.out, b.message.data);
        ck_assert_uint_eq(b.length, b.message.length);
        ck_assert_str_eq(ek_guard_action(b.guard), "pass");
    }
    ck_assert_uint_eq(ek_guard_plan_version(b.guard), 0);
    ck_assert_uint_eq(ek_guard_list_count(b.guard), 100);
    teardown(&b);
}
END_TEST

/* Arm B with one price in cents. */
static struct ek_array_list one_price(float *x, const float *nights)
{
    static const struct ek_segment_value arm = {"arm", "B"};
    return (struct ek_array_list){.segment = &arm,
                                  .segments = 1,
                                  .query_features = nights,
                                  .query_count = 1,
                                  .features = x,
                                  .items = 1,
                                  .feature_count = 3,
                                  .item_stride = 3,
                                  .feature_stride = 1};
}

START_TEST(a_guard_that_writes_features_has_a_plan_that_repairs_arrays)
{
    struct bench b;
    struct ek_applier *applier;
    float x[] = {12999, 20, 0}, nights = 1;
    const struct ek_array_list list = one_price(x, &nights);
    size_t length = 0, changed;
    setup(&b, ENFORCE, 0);
    ek_guard_free(b.guard);
    ek_assets_write_features(&b.assets);
    ck_assert_int_eq(ek_guard_new(&b.guard, &b.assets, NULL), EK_OK);
    for (int version = 0; version < 2; version++) {
        const char *plan = ek_guard_plan(b.guard, &length, NULL);
        ck_assert_ptr_nonnull(plan);
        ck_assert_uint_eq(strlen(plan), length);
        ck_assert_int_eq(ek_applier_new(&applier, plan, length, NULL), EK_OK);
        ck_assert_int_eq(ek_plan_apply(applier, &list, &changed, NULL), EK_OK);
        ck_assert_uint_eq(changed, (size_t)version);
        ek_applier_free(applier);
        for (int i = 0; i < 400; i++) {
            struct ek_list *q = stream_next(&b.stream);
            if (b.stream.arm_b)
                stream_scale(q, 0, 100);
            pass(&b, q);
        }
    }
    ck_assert_float_eq_tol(x[0], 130, 10);
    teardown(&b);
}
END_TEST

START_TEST(a_fault_of_arm_b_routes_arm_b_and_nobody_else)
{
    struct bench b;
    setup(&b, ENFORCE, 1);
    run(&b, BEFORE, 0);
    ck_assert_int_eq(b.routed, 0);
    run(&b, 400, 1);
    ck_assert_int_eq(b.confirmed, 1);
    ck_assert_int_eq(b.plans, 1);
    ck_assert_ptr_nonnull(strstr(b.plan,
                                 "{\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},"
                                 "\"mitigation\":\"route\",\"mode\":\"enforce\",\"percent\":100,"
                                 "\"source\":\"finding\"}"));
    ck_assert_ptr_nonnull(strstr(b.finding, "\"units\":[\"cents\""));
    for (int i = 0; i < 100; i++) {
        struct ek_list *q = stream_next(&b.stream);
        if (b.stream.arm_b)
            stream_scale(q, 0, 100);
        pass(&b, q);
        ck_assert_str_eq(ek_guard_action(b.guard), b.stream.arm_b ? "routed" : "pass");
        ck_assert_int_eq(b.out != b.message.data, b.stream.arm_b);
    }
    teardown(&b);
}
END_TEST

START_TEST(routed_scores_are_those_of_the_scorer_and_nothing_else_changes)
{
    struct bench b;
    struct ek_list out;
    struct ek_scorer *scorer;
    double expected[64];
    struct ek_treatment route[2] = {{EK_ACT_ROUTE, 0}, {EK_ACT_NONE, 0}};
    setup(&b, ENFORCE, 1);
    run(&b, BEFORE, 0);
    run(&b, 400, 1);
    ck_assert_int_eq(ek_scorer_new(&scorer, b.assets.model, NULL), EK_OK);
    ek_list_init(&out);
    do
        run(&b, 1, 1);
    while (!b.stream.arm_b);
    ck_assert_int_eq(ek_scorer_score(scorer, &b.stream.query, route, expected, NULL), EK_OK);
    ck_assert_int_eq(ek_codec_decode(b.assets.codec, b.out, b.length, &out, NULL), EK_OK);
    ck_assert_int_eq(out.items, b.stream.query.items);
    for (int i = 0; i < out.items; i++) {
        ck_assert_double_eq_tol(out.score[i], expected[i], 1e-5 * (1 + fabs(expected[i])));
        for (int f = 0; f < 3; f++)
            ck_assert(out.x[3 * i + f] == b.stream.query.x[3 * i + f]);
    }
    ck_assert_uint_eq(b.length, b.message.length);
    ek_list_release(&out);
    ek_scorer_free(scorer);
    teardown(&b);
}
END_TEST

START_TEST(scores_that_are_no_numbers_are_not_given_out)
{
    struct bench b;
    struct ek_error e;
    int failed = 0;
    setup(&b, ENFORCE, 1);
    for (int i = 0; i < 8; i++)
        b.assets.model->weight[1][i] = i % 2 ? 3e38f : -3e38f;
    ek_guard_free(b.guard);
    ck_assert_int_eq(ek_guard_new(&b.guard, &b.assets, NULL), EK_OK);
    run(&b, BEFORE, 0);
    for (int i = 0; !failed && i < 400; i++) {
        struct ek_list *q = stream_next(&b.stream);
        stream_scale(q, 0, 100);
        ek_buf_clear(&b.message);
        ek_codec_encode(b.assets.manifest, q, EK_FEATURES_ARRAY, &b.message, NULL);
        ck_assert_int_eq(ek_guard_observe(b.guard, b.message.data, b.message.length, 0, &e), EK_OK);
        failed = !ek_guard_score(b.guard, &b.length, &e);
    }
    ck_assert(failed);
    ck_assert_ptr_nonnull(strstr(e.message, "is not a finite number"));
    teardown(&b);
}
END_TEST

START_TEST(the_route_ends_after_recovery_and_hold)
{
    struct bench b;
    setup(&b, ENFORCE, 1);
    run(&b, BEFORE, 0);
    run(&b, 400, 1);
    ck_assert_uint_eq(ek_guard_plan_version(b.guard), 1);
    run(&b, 200, 0); /* a second per list: the minimum duration of 30 s has passed as well */
    ck_assert_uint_eq(ek_guard_plan_version(b.guard), 2);
    ck_assert_ptr_nonnull(strstr(b.plan, "\"entries\":[]"));
    int before = b.routed;
    run(&b, 100, 0);
    ck_assert_int_eq(b.routed, before);
    teardown(&b);
}
END_TEST

/* Return the number after "query": in an event. */
static long query_of(const char *event)
{
    json_t *root = json_loads(event, 0, NULL);
    long query = (long)json_integer_value(json_object_get(root, "list"));
    json_decref(root);
    return query;
}

START_TEST(a_plan_names_the_first_query_that_is_scored_under_it)
{
    struct bench b;
    long first = -1;
    setup(&b, ENFORCE, 1);
    run(&b, BEFORE, 0);
    for (long i = BEFORE; first < 0 && i < BEFORE + 400; i++) {
        run(&b, 1, 1);
        first = b.routed ? i : -1;
    }
    ck_assert_ptr_nonnull(b.plan);
    ck_assert_int_eq(query_of(b.plan), first);
    ck_assert_int_eq(query_of(b.finding), first);
    teardown(&b);
}
END_TEST

START_TEST(in_observe_mode_findings_are_told_and_bytes_stay)
{
    struct bench b;
    setup(&b, OBSERVE, 1);
    run(&b, BEFORE, 0);
    run(&b, 400, 1);
    ck_assert_int_eq(b.confirmed, 1);
    ck_assert_ptr_nonnull(strstr(b.finding, "\"mitigation\":\"route\",\"mode\":\"observe\""));
    ck_assert_int_eq(b.plans, 0);
    ck_assert_int_eq(b.routed, 0);
    teardown(&b);
}
END_TEST

/* Return the next list; every other item is of source 1, with prices in cents if `faulty`. */
static struct ek_list *mixed_list(struct bench *b, int faulty)
{
    struct ek_list *q = stream_next(&b->stream);
    q->sources = 2;
    for (int i = 0; i < q->items; i++) {
        q->source[i] = i % 2;
        if (faulty && q->source[i])
            q->x[3 * i] *= 100;
    }
    return q;
}

START_TEST(a_fault_of_one_source_is_routed_where_items_say_theirs_and_nowhere_else)
{
    struct bench b;
    struct ek_scorer *scorer;
    struct ek_list out;
    double expected[64];
    const struct ek_treatment by_source[2] = {{EK_ACT_ROUTE_PER_SOURCE, 0}, {EK_ACT_NONE, 0}};
    setup(&b, BY_SOURCE, 1);
    ck_assert_int_eq(ek_scorer_new(&scorer, b.assets.model, NULL), EK_OK);
    ek_list_init(&out);
    for (int i = 0; i < BEFORE; i++)
        pass(&b, mixed_list(&b, 0));
    ck_assert_int_eq(b.confirmed, 0);
    for (int i = 0; i < 400; i++)
        pass(&b, mixed_list(&b, 1));
    ck_assert_ptr_nonnull(b.finding);
    ck_assert_ptr_nonnull(strstr(b.finding, "\"class\":\"items\""));
    ck_assert_ptr_nonnull(strstr(b.plan, "\"mitigation\":\"route_per_source\""));
    for (int i = 0; i < 20; i++) {
        pass(&b, mixed_list(&b, 1));
        ck_assert_str_eq(ek_guard_action(b.guard), "routed");
        ck_assert_int_eq(ek_scorer_score(scorer, &b.stream.query, by_source, expected, NULL),
                         EK_OK);
        ck_assert_int_eq(ek_codec_decode(b.assets.codec, b.out, b.length, &out, NULL), EK_OK);
        for (int k = 0; k < out.items; k++)
            ck_assert_double_eq_tol(out.score[k], expected[k], 1e-5 * (1 + fabs(expected[k])));

        struct ek_list *silent = mixed_list(&b, 1);
        silent->sources = 0;
        pass(&b, silent);
        ck_assert_str_eq(ek_guard_action(b.guard), "pass");
        ck_assert_ptr_eq(b.out, b.message.data);
    }
    ek_list_release(&out);
    ek_scorer_free(scorer);
    teardown(&b);
}
END_TEST

/* Send the items [first, first + count) of a list as a part. Return the lists that the agreement
 * watch has compared so far. */
static uint64_t pass_part(struct bench *b, const struct ek_list *whole, int first, int count)
{
    struct ek_list part = *whole;
    struct ek_agreement_view v;
    double log_mean[2];
    for (int k = 0; k < 2; k++) {
        double sum = 0;
        for (int i = 0; i < whole->items; i++)
            sum += log(fabs((double)whole->x[3 * i + k]));
        log_mean[k] = sum / whole->items;
    }
    part.items = count;
    part.x += 3 * first;
    part.score += first;
    part.item_id += first;
    part.list_items = whole->items;
    part.log_mean = log_mean;
    part.has_log_means = true;
    pass(b, &part);
    ek_agreement_watch_view(ek_guard_agreement(b->guard), &v);
    return v.lists;
}

START_TEST(parts_of_lists_are_watched_each_as_a_list_and_routed_as_the_whole)
{
    struct bench b;
    struct ek_scorer *scorer;
    struct ek_list out;
    double expected[64];
    const struct ek_treatment route[2] = {{EK_ACT_ROUTE, 0}, {EK_ACT_NONE, 0}};
    setup(&b, ENFORCE, 1);
    ck_assert_int_eq(ek_scorer_new(&scorer, b.assets.model, NULL), EK_OK);
    ek_list_init(&out);
    for (int i = 0; i < 600; i++) {
        struct ek_list *q = stream_next(&b.stream);
        int half = q->items / 2;
        pass_part(&b, q, 0, half);
        ck_assert_msg(!pass_part(&b, q, half, q->items - half), "an order of parts was compared");
    }
    ck_assert_uint_eq(ek_guard_list_count(b.guard), 1200);
    ck_assert_int_eq(b.confirmed, 0);
    for (int i = 0; i < 400; i++) {
        struct ek_list *q = stream_next(&b.stream);
        stream_scale(q, 0, 100);
        pass_part(&b, q, 0, q->items / 2);
    }
    ck_assert_int_eq(b.confirmed, 1);
    ck_assert_ptr_nonnull(strstr(b.finding, "\"units\":[\"cents\""));
    for (int i = 0; i < 20; i++) {
        struct ek_list *q = stream_next(&b.stream);
        stream_scale(q, 0, 100);
        int half = q->items / 2;
        pass_part(&b, q, half, q->items - half);
        ck_assert_str_eq(ek_guard_action(b.guard), "routed");
        ck_assert_int_eq(ek_scorer_score(scorer, q, route, expected, NULL), EK_OK);
        ck_assert_int_eq(ek_codec_decode(b.assets.codec, b.out, b.length, &out, NULL), EK_OK);
        for (int k = 0; k < out.items; k++)
            ck_assert_double_eq_tol(out.score[k], expected[half + k],
                                    1e-5 * (1 + fabs(expected[half + k])));
    }
    ek_list_release(&out);
    ek_scorer_free(scorer);
    teardown(&b);
}
END_TEST

START_TEST(without_a_model_an_enforced_route_is_an_alert)
{
    struct bench b;
    setup(&b, ENFORCE, 0);
    run(&b, BEFORE, 0);
    run(&b, 400, 1);
    ck_assert_int_eq(b.confirmed, 1);
    ck_assert_ptr_nonnull(strstr(b.finding, "\"mitigation\":\"alert\",\"mode\":\"enforce\""));
    ck_assert_ptr_nonnull(strstr(b.finding, "\"no_model\":true"));
    ck_assert_int_eq(b.routed, 0);
    teardown(&b);
}
END_TEST

START_TEST(a_limit_of_routed_features_observes_and_says_so)
{
    struct bench b;
    setup(&b,
          "version: 1\ndefaults: {mode: enforce}\nlimits: {max_routed_features: 0}\n"
          "segments: [arm]\n",
          1);
    run(&b, BEFORE, 0);
    run(&b, 400, 1);
    ck_assert_int_eq(b.routed, 0);
    ck_assert_ptr_nonnull(
        strstr(b.finding, "\"mode\":\"observe\",\"blocked_by\":\"max_routed_features\""));
    ck_assert_int_eq(b.limits, 1);
    ck_assert_ptr_nonnull(strstr(b.limit, "\"limit\":\"max_routed_features\",\"max\":0,"));
    ck_assert_uint_eq(ek_guard_limit_counters(b.guard).count[EK_BOUND_ROUTED], 1);
    teardown(&b);
}
END_TEST

/* A reload may replace a profile with levels by item by one without; the count stays. */
START_TEST(unknown_items_are_reported_without_levels_by_item)
{
    struct bench b;
    setup(&b, OBSERVE, 0);
    ck_assert_ptr_null(b.assets.profile->item_levels);
    ck_assert_int_eq(ek_guard_report_reached(b.guard, EK_BOUND_ITEMS, 0), EK_OK);
    run(&b, 1, 0);
    ck_assert_ptr_nonnull(strstr(b.limit, "\"limit\":\"items\",\"max\":0,"));
    teardown(&b);
}
END_TEST

/* Values v0, v1, ... without repetition: the first `own` get segments. */
static void passing_values(struct bench *b, int cells, int own)
{
    char value[16];
    ek_guard_free(b->guard);
    b->assets.cells = cells;
    ck_assert_int_eq(ek_guard_new(&b->guard, &b->assets, NULL), EK_OK);
    for (int i = 0; i < 400; i++) {
        struct ek_list *q = stream_next(&b->stream);
        snprintf(value, sizeof value, "v%d", i);
        q->segments[0].value = stream_text(value);
        pass(b, q);
        ck_assert_int_eq(b->limits, i >= own);
    }
    ck_assert_uint_eq(ek_guard_limit_counters(b->guard).count[EK_BOUND_CELLS],
                      (uint64_t)(400 - own));
}

START_TEST(more_segment_values_than_cells_are_pooled_and_it_is_said_once)
{
    struct bench b;
    setup(&b, OBSERVE, 0);
    passing_values(&b, 0, 255);
    ck_assert_ptr_nonnull(strstr(b.limit, "\"limit\":\"segments\",\"max\":256,\"list\":255,"));
    ck_assert_ptr_nonnull(strstr(b.limit,
                                 "\"segments\":[{\"dimension\":\"arm\",\"own\":255,"
                                 "\"pooled_values\":1,\"lists\":256,\"pooled_lists\":1}]"));
    teardown(&b);
    setup(&b, OBSERVE, 0);
    passing_values(&b, 5, 4);
    ck_assert_ptr_nonnull(strstr(b.limit, "\"limit\":\"segments\",\"max\":5,\"list\":4,"));
    teardown(&b);
}
END_TEST

START_TEST(a_finding_names_the_features_that_share_its_cause)
{
    struct bench b;
    setup(&b, ENFORCE, 1);
    run(&b, BEFORE, 0);
    for (int i = 0; i < 400; i++) {
        struct ek_list *q = stream_next(&b.stream);
        for (int k = 0; b.stream.arm_b && k < 2; k++)
            stream_scale(q, k, k ? 7 : 100);
        pass(&b, q);
    }
    ck_assert_int_eq(b.confirmed, 2);
    ck_assert_ptr_nonnull(
        strstr(b.finding, "\"incident_id\":\"c-1\",\"features\":[\"price\",\"size\"]"));
    teardown(&b);
}
END_TEST

START_TEST(a_message_that_cannot_be_read_counts_for_nothing)
{
    struct bench b;
    struct ek_error *e = ek_error_new();
    size_t length = 77;
    setup(&b, ENFORCE, 1);
    ck_assert_int_ne(ek_guard_observe(b.guard, "\xc1garbage", 8, 0, e), 0);
    ck_assert_int_gt((int)strlen(ek_error_message(e)), 0);
    ck_assert_uint_eq(ek_guard_list_count(b.guard), 0);
    ck_assert_ptr_null(ek_guard_score(b.guard, &length, e));
    ck_assert_uint_eq(length, 77);
    ek_error_free(e);
    teardown(&b);
}
END_TEST

START_TEST(an_empty_list_passes)
{
    struct bench b;
    setup(&b, ENFORCE, 1);
    struct ek_list *q = stream_next(&b.stream);
    q->items = 0;
    pass(&b, q);
    ck_assert_ptr_eq(b.out, b.message.data);
    teardown(&b);
}
END_TEST

/* The price of arm B is correct again; its route is held for another hour. */
static int64_t begin_hold(struct bench *b)
{
    setup(b, "version: 1\ndefaults: {mode: enforce, min_duration: 1h}\nsegments: [arm]\n", 1);
    run(b, BEFORE, 0);
    run(b, 400, 1);
    run(b, 50, 0);
    ck_assert_uint_eq(ek_guard_plan_version(b->guard), 1);
    return b->stream.query.time_ms;
}

static uint64_t plan_at(struct bench *b, int64_t clock_ms)
{
    ck_assert_int_eq(ek_guard_advance(b->guard, clock_ms, NULL), EK_OK);
    return ek_guard_plan_version(b->guard);
}

START_TEST(holds_run_out_without_messages)
{
    struct bench b;
    int64_t now_ms = begin_hold(&b);
    ck_assert_uint_eq(plan_at(&b, now_ms + MINUTE), 1);
    ck_assert_uint_eq(plan_at(&b, now_ms + 60 * MINUTE), 2);
    ck_assert_uint_eq(plan_at(&b, now_ms), 2);
    teardown(&b);
}
END_TEST

START_TEST(a_clock_that_is_set_neither_ends_a_hold_nor_keeps_it)
{
    struct bench b;
    int64_t now_ms = begin_hold(&b), year = (int64_t)365 * 24 * 60 * MINUTE;
    ck_assert_uint_eq(plan_at(&b, now_ms + year), 1);
    ck_assert_uint_eq(plan_at(&b, now_ms + year + 40 * MINUTE), 1);
    ck_assert_uint_eq(plan_at(&b, now_ms - year), 1);
    ck_assert_uint_eq(plan_at(&b, now_ms - year + 40 * MINUTE), 2);
    teardown(&b);
}
END_TEST

/* As in a worker with batches and a second per list. */
START_TEST(lists_that_waited_for_their_turn_make_no_time_pass_twice)
{
    struct bench b;
    int64_t now_ms = begin_hold(&b);
    for (int i = 1; i < 50; i++) {
        ck_assert_uint_eq(plan_at(&b, now_ms + i * MINUTE), 1);
        struct ek_list *q = stream_next(&b.stream);
        ek_buf_clear(&b.message);
        ek_codec_encode(b.assets.manifest, q, EK_FEATURES_BIN, &b.message, NULL);
        ck_assert_int_eq(ek_guard_observe(b.guard, b.message.data, b.message.length, now_ms, NULL),
                         EK_OK);
    }
    ck_assert_uint_eq(plan_at(&b, now_ms + 61 * MINUTE), 2);
    teardown(&b);
}
END_TEST

START_TEST(events_nobody_fetches_do_not_pile_up)
{
    struct bench b;
    const char *text;
    int kept = 0;
    setup(&b, OBSERVE, 0);
    for (int i = 0; i < 3000; i++) {
        struct ek_list *q = stream_next(&b.stream);
        stream_scale(q, 0, i / 400 % 2 ? 100 : 1);
        ek_buf_clear(&b.message);
        ek_codec_encode(b.assets.manifest, q, EK_FEATURES_BIN, &b.message, NULL);
        ck_assert_int_eq(
            ek_guard_observe(b.guard, b.message.data, b.message.length, q->time_ms, NULL), EK_OK);
    }
    while (ek_guard_next_event(b.guard, &text))
        kept++;
    ck_assert_int_gt(kept, 3);
    ck_assert_int_le(kept, 4096);
    teardown(&b);
}
END_TEST

enum { AHEAD = 4 };

/* Decode lists before the first update and score them after the last, in reverse order; compare
 * each with the result of `alone`. */
static void pass_together(struct bench *b, struct ek_guard *alone, struct ek_context **context,
                          struct ek_buf *message)
{
    const void *out[AHEAD];
    size_t length[AHEAD], expected;
    for (int i = 0; i < AHEAD; i++) {
        struct ek_list *q = stream_next(&b->stream);
        if (b->stream.arm_b)
            stream_scale(q, 0, 100);
        ek_buf_clear(&message[i]);
        ck_assert_int_eq(
            ek_codec_encode(b->assets.manifest, q, EK_FEATURES_ARRAY, &message[i], NULL), EK_OK);
        ck_assert_int_eq(ek_context_decode(context[i], message[i].data, message[i].length, NULL),
                         EK_OK);
    }
    for (int i = 0; i < AHEAD; i++)
        ck_assert_int_eq(ek_guard_update(b->guard, context[i], 1, NULL), EK_OK);
    for (int i = AHEAD; i-- > 0;)
        ck_assert_ptr_nonnull(out[i] = ek_context_score(context[i], &length[i], NULL));
    for (int i = 0; i < AHEAD; i++) {
        ck_assert_int_eq(ek_guard_observe(alone, message[i].data, message[i].length, 1, NULL), 0);
        const void *one = ek_guard_score(alone, &expected, NULL);
        ck_assert_uint_eq(length[i], expected);
        ck_assert_mem_eq(out[i], one, expected);
        ck_assert_str_eq(ek_context_action(context[i]), ek_guard_action(alone));
        ck_assert_uint_eq(ek_context_plan_version(context[i]), ek_guard_plan_version(alone));
        b->routed += !strcmp(ek_context_action(context[i]), "routed");
    }
}

/* Two contexts of each of two threads. */
START_TEST(several_contexts_score_each_list_under_the_plan_it_was_taken_under)
{
    struct bench b;
    struct ek_guard *alone;
    struct ek_context *context[AHEAD];
    struct ek_buf message[AHEAD];
    setup(&b, ENFORCE, 1);
    ck_assert_int_eq(ek_guard_new(&alone, &b.assets, NULL), EK_OK);
    for (int i = 0; i < AHEAD; i++) {
        ek_buf_init(&message[i], 0);
        ck_assert_int_eq(i % 2 ? ek_context_new_paired(&context[i], context[i - 1], NULL)
                               : ek_context_new(&context[i], &b.assets, NULL),
                         EK_OK);
    }
    for (int i = 0; i < 150; i++)
        pass_together(&b, alone, context, message);
    read_events(&b);
    ck_assert_int_gt(b.routed, 50);
    ck_assert_int_gt(b.plans, 0);
    for (int i = AHEAD; i-- > 0;) {
        ek_context_free(context[i]);
        ek_buf_release(&message[i]);
    }
    ek_guard_free(alone);
    teardown(&b);
}
END_TEST

START_TEST(a_message_is_taken_once_and_scored_only_when_it_was)
{
    struct bench b;
    struct ek_context *c;
    struct ek_error e;
    size_t length = 77;
    setup(&b, ENFORCE, 1);
    run(&b, 1, 0);
    ck_assert_int_eq(ek_context_new(&c, &b.assets, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_update(b.guard, c, 0, &e), EK_ESTATE);
    ck_assert_int_eq(ek_context_decode(c, b.message.data, b.message.length, NULL), EK_OK);
    ck_assert_ptr_null(ek_context_score(c, &length, &e));
    ck_assert_int_eq(ek_guard_update(b.guard, c, 0, &e), EK_OK);
    ck_assert_int_eq(ek_guard_update(b.guard, c, 0, &e), EK_ESTATE);
    ck_assert_uint_eq(ek_guard_list_count(b.guard), 2);
    ck_assert_int_eq(ek_context_decode(c, "\xc1", 1, &e), EK_EFORMAT);
    ck_assert_int_eq(ek_guard_update(b.guard, c, 0, &e), EK_ESTATE);
    ck_assert_ptr_null(ek_context_score(c, &length, &e));
    ck_assert_uint_eq(length, 77);
    ek_context_free(c);
    teardown(&b);
}
END_TEST

static double price_of(struct bench *b)
{
    return (double)ek_guard_context(b->guard)->reader->record[0].r;
}

/* Return the deviation of the price in a list without a time, with a record of this hour. */
static double price_at(struct bench *b, int hour)
{
    int64_t record_ms = INT64_C(1789948800000) + hour * 60 * MINUTE;
    ck_assert_int_eq(
        ek_guard_observe_record(b->guard, b->message.data, b->message.length, record_ms, 0, NULL),
        EK_OK);
    return price_of(b);
}

START_TEST(a_list_without_a_time_has_the_season_of_its_record)
{
    struct bench b = {0};
    stream_assets_open(&b.assets, OBSERVE, NULL);
    b.assets.profile->baseline[0].season[0] = .25f; /* highest at midnight */
    ck_assert_int_eq(ek_guard_new(&b.guard, &b.assets, NULL), EK_OK);
    stream_start(&b.stream, 21);
    ek_buf_init(&b.message, 0);
    struct ek_list *q = stream_next(&b.stream);
    q->time_ms = -1;
    ck_assert_int_eq(ek_codec_encode(b.assets.manifest, q, EK_FEATURES_ARRAY, &b.message, NULL),
                     EK_OK);
    double noon = price_at(&b, 12), midnight = price_at(&b, 0);
    ck_assert_double_eq_tol(noon - midnight, .5, .01);
    pass(&b, q); /* a clock of its own is not the time of day */
    ck_assert_double_eq_tol(price_of(&b), (noon + midnight) / 2, .01);
    teardown(&b);
}
END_TEST

Suite *suite_guard(void)
{
    return ek_suite(
        "guard", a_guard_that_writes_features_has_a_plan_that_repairs_arrays,
        without_a_plan_the_very_same_bytes_come_out, a_fault_of_arm_b_routes_arm_b_and_nobody_else,
        routed_scores_are_those_of_the_scorer_and_nothing_else_changes,
        scores_that_are_no_numbers_are_not_given_out,
        a_plan_names_the_first_query_that_is_scored_under_it,
        the_route_ends_after_recovery_and_hold, in_observe_mode_findings_are_told_and_bytes_stay,
        a_fault_of_one_source_is_routed_where_items_say_theirs_and_nowhere_else,
        parts_of_lists_are_watched_each_as_a_list_and_routed_as_the_whole,
        without_a_model_an_enforced_route_is_an_alert,
        unknown_items_are_reported_without_levels_by_item,
        a_limit_of_routed_features_observes_and_says_so,
        more_segment_values_than_cells_are_pooled_and_it_is_said_once,
        a_finding_names_the_features_that_share_its_cause,
        a_message_that_cannot_be_read_counts_for_nothing, an_empty_list_passes,
        holds_run_out_without_messages, a_clock_that_is_set_neither_ends_a_hold_nor_keeps_it,
        lists_that_waited_for_their_turn_make_no_time_pass_twice,
        events_nobody_fetches_do_not_pile_up,
        several_contexts_score_each_list_under_the_plan_it_was_taken_under,
        a_message_is_taken_once_and_scored_only_when_it_was,
        a_list_without_a_time_has_the_season_of_its_record);
}
