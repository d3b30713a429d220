/* Accepted shifts in a guard: its plan, its model inputs, and its events. */
#include "evenkeel.h"

#include "base/buf.h"
#include "lists/codec.h"
#include "guard/guard_fleet.h"
#include "guard/guard_internal.h"
#include "score/scorer.h"
#include "tests/fleet_plan.h"
#include "tests/check.h"
#include "tests/stream_assets.h"

#include <jansson.h>

enum { BEFORE = 300, FAULTY = 300, PRICE = 0, SIZE = 1, ITEMS_MAX = 64 };

static const char RULES[] = "version: 1\n"
                            "defaults: {mode: enforce, confirmation_lists: 64, min_duration: 30s}\n"
                            "segments: [arm]\n";

struct bench {
    struct ek_assets assets;
    struct ek_guard *guard;
    struct stream stream;
    struct ek_buf message;
    const void *out;
    size_t length;
    struct ek_scorer *upstream; /* orders lists before the change; NULL: random */
    int routed, suspected, confirmed, drifted;
    json_t *plan, *decision, *finding; /* the last of each; confirmed */
};

/* has_agreement: the model has its agreement with upstream. */
static void setup_with(struct bench *b, const char *rules, bool has_agreement)
{
    struct ek_assets *a = &b->assets;
    memset(b, 0, sizeof *b);
    stream_assets_open(a, rules, NULL);
    a->model->agreement.lists = has_agreement ? 100 : 0;
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++) {
        a->model->agreement.mean[i] = .99;
        a->model->agreement.sd[i] = .02;
    }
    must(ek_guard_new(&b->guard, a, NULL));
    stream_start(&b->stream, 21);
    ek_buf_init(&b->message, 0);
}

static void setup(struct bench *b)
{
    setup_with(b, RULES, false);
}

static void teardown(struct bench *b)
{
    json_decref(b->plan);
    json_decref(b->decision);
    json_decref(b->finding);
    ek_buf_release(&b->message);
    stream_end(&b->stream);
    ek_scorer_free(b->upstream);
    ek_guard_free(b->guard);
    ek_assets_release(&b->assets);
}

static const char *text_of(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

static void keep(json_t **held, json_t *event)
{
    json_decref(*held);
    *held = json_incref(event);
}

static void read_events(struct bench *b)
{
    const char *text;
    while (ek_guard_next_event(b->guard, &text)) {
        json_t *event = json_loads(text, 0, NULL);
        ck_assert_ptr_nonnull(event);
        if (!strcmp(text_of(event, "event"), "plan"))
            keep(&b->plan, event);
        if (!strcmp(text_of(event, "event"), "decision"))
            keep(&b->decision, event);
        if (!strcmp(text_of(event, "state"), "confirmed"))
            keep(&b->finding, event);
        b->drifted += !strcmp(text_of(event, "event"), "model_drift");
        b->suspected += !strcmp(text_of(event, "state"), "suspected");
        b->confirmed += !strcmp(text_of(event, "state"), "confirmed");
        json_decref(event);
    }
}

/* Run lists with other prices and sizes in arm B. */
static void run(struct bench *b, int lists, double price, double size)
{
    for (int i = 0; i < lists; i++) {
        struct ek_list *q = stream_next(&b->stream);
        if (b->upstream)
            must(ek_scorer_score(b->upstream, q, NULL, q->score, NULL));
        if (b->stream.arm_b) {
            stream_scale(q, PRICE, price);
            stream_scale(q, SIZE, size);
        }
        ek_buf_clear(&b->message);
        must(ek_codec_encode(b->assets.manifest, q, EK_FEATURES_ARRAY, &b->message, NULL));
        must(ek_guard_observe(b->guard, b->message.data, b->message.length, q->time_ms, NULL));
        b->out = ek_guard_score(b->guard, &b->length, NULL);
        ck_assert_ptr_nonnull(b->out);
        b->routed += !strcmp(ek_guard_action(b->guard), "routed");
        read_events(b);
    }
}

static uint64_t accept_arm_b(struct bench *b)
{
    uint64_t version = 0;
    struct ek_error e = {0};
    int rc =
        ek_guard_accept(b->guard, "price", "arm", "B", "ana", "the new \"tariff\"", &version, &e);
    ck_assert_msg(!rc, "%s", e.message);
    read_events(b);
    return version;
}

static void find_cents(struct bench *b)
{
    run(b, BEFORE, 1, 1);
    run(b, FAULTY, 100, 1);
    ck_assert_int_eq(b->confirmed, 1);
    ck_assert_int_gt(b->routed, 50);
}

START_TEST(an_accept_ends_the_route_and_says_who_and_why)
{
    struct bench b;
    setup(&b);
    find_cents(&b);
    uint64_t plan = ek_guard_plan_version(b.guard);
    ck_assert_uint_eq(accept_arm_b(&b), 1);
    ck_assert_uint_eq(ek_guard_plan_version(b.guard), plan + 1);
    ck_assert_uint_eq(json_array_size(json_object_get(b.plan, "entries")), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(b.plan, "list")), BEFORE + FAULTY);
    ck_assert_str_eq(text_of(b.decision, "type"), "accept");
    ck_assert_str_eq(text_of(b.decision, "actor"), "ana");
    ck_assert_str_eq(text_of(b.decision, "reason"), "the new \"tariff\"");
    ck_assert_str_eq(text_of(b.decision, "feature"), "price");
    ck_assert_str_eq(text_of(json_object_get(b.decision, "segment"), "arm"), "B");
    ck_assert_double_eq_tol(json_real_value(json_object_get(b.decision, "factor")), 100, 8);
    ck_assert_int_eq(json_integer_value(json_object_get(b.decision, "accept")), 1);
    const json_t *versions = json_object_get(b.decision, "plan");
    ck_assert_int_eq(json_integer_value(json_object_get(versions, "before")), (int)plan);
    ck_assert_int_eq(json_integer_value(json_object_get(versions, "after")), (int)plan + 1);
    b.routed = b.suspected = 0;
    run(&b, 5000, 100, 1);
    ck_assert_int_eq(b.routed + b.suspected, 0);
    ck_assert(b.length == b.message.length && !memcmp(b.out, b.message.data, b.length));
    teardown(&b);
}
END_TEST

START_TEST(a_unit_of_the_rules_is_accepted_and_not_the_estimate)
{
    struct bench b;
    char rules[400];
    snprintf(rules, sizeof rules, "%sfeatures: {price: {units: [cents]}}\n", RULES);
    setup_with(&b, rules, false);
    find_cents(&b);
    accept_arm_b(&b);
    ck_assert_double_eq_tol(json_number_value(json_object_get(b.decision, "factor")), 100, 1e-9);
    b.suspected = 0;
    run(&b, 5000, 100, 1);
    ck_assert_int_eq(b.suspected, 0);
    teardown(&b);
}
END_TEST

START_TEST(a_reverted_accept_is_found_and_routed_again)
{
    struct bench b;
    setup(&b);
    find_cents(&b);
    uint64_t version = accept_arm_b(&b);
    run(&b, 500, 100, 1);
    b.routed = 0;
    must(ek_guard_revert(b.guard, version, NULL, NULL, NULL));
    read_events(&b);
    ck_assert_str_eq(text_of(b.decision, "type"), "revert");
    ck_assert(json_is_null(json_object_get(b.decision, "actor")));
    ck_assert_int_eq(json_integer_value(json_object_get(b.decision, "accept")), (int)version);
    ck_assert_int_eq(json_integer_value(json_object_get(b.decision, "version")), 2);
    run(&b, FAULTY, 100, 1);
    ck_assert_int_eq(b.confirmed, 2);
    ck_assert_int_gt(b.routed, 50);
    teardown(&b);
}
END_TEST

/* Read the scores [items] of a message. */
static int scores_in(const struct bench *b, const void *message, size_t length, double *scores)
{
    struct ek_list q;
    ek_list_init(&q);
    must(ek_codec_decode(b->assets.codec, message, length, &q, NULL));
    memcpy(scores, q.score, (size_t)q.items * sizeof *scores);
    int items = q.items;
    ek_list_release(&q);
    return items;
}

/* The model was trained on the old scale and receives it in every score: here under a route of
 * another feature. */
START_TEST(the_model_sees_accepted_values_at_the_scale_it_was_trained_on)
{
    struct bench b;
    struct ek_scorer *scorer = NULL;
    struct ek_list q;
    double got[ITEMS_MAX], want[ITEMS_MAX], raw[ITEMS_MAX];
    setup(&b);
    find_cents(&b);
    accept_arm_b(&b);
    run(&b, 100, 100, 1);
    run(&b, FAULTY, 100, 7);
    ck_assert_str_eq(text_of(b.finding, "feature"), "size");
    while (!b.stream.arm_b)
        run(&b, 1, 100, 7);
    ck_assert_str_eq(ek_guard_action(b.guard), "routed");
    double shift_ln = ek_detector_offsets(b.guard->detector)->one[0].shift_ln;
    struct ek_treatment normal[] = {{EK_ACT_REPAIR, exp(shift_ln)}, {EK_ACT_ROUTE, 0}};
    const struct ek_treatment as_it_comes[] = {{EK_ACT_NONE, 0}, {EK_ACT_ROUTE, 0}};
    ek_list_init(&q);
    must(ek_codec_decode(b.assets.codec, b.message.data, b.message.length, &q, NULL));
    must(ek_scorer_new(&scorer, b.assets.model, NULL));
    must(ek_scorer_score(scorer, &q, normal, want, NULL));
    must(ek_scorer_score(scorer, &q, as_it_comes, raw, NULL));
    ck_assert_int_eq(scores_in(&b, b.out, b.length, got), q.items);
    int differs = 0;
    for (int i = 0; i < q.items; i++) {
        ck_assert_double_eq_tol(got[i], want[i], 1e-6 * (1 + fabs(want[i])));
        differs |= fabs(want[i] - raw[i]) > 1e-3;
    }
    ck_assert(differs);
    ck_assert_double_eq_tol(b.guard->own->repair[0].factor, exp(shift_ln), 1e-9);
    ek_scorer_free(scorer);
    ek_list_release(&q);
    teardown(&b);
}
END_TEST

/* Upstream interprets these values as cents. */
START_TEST(model_and_upstream_agree_on_what_was_accepted)
{
    struct bench b;
    struct ek_agreement_view v;
    setup_with(&b, RULES, true);
    must(ek_scorer_new(&b.upstream, b.assets.model, NULL));
    find_cents(&b);
    accept_arm_b(&b);
    run(&b, 12000, 100, 1);
    ek_agreement_watch_view(ek_guard_agreement(b.guard), &v);
    ck_assert_int_gt(v.recent, 20);
    ck_assert_double_eq_tol(v.now[EK_AGREEMENT_TAU], 1, .01);
    ck_assert_int_eq(b.drifted, 0);
    teardown(&b);
}
END_TEST

START_TEST(treatments_are_brought_to_what_is_normal)
{
    struct ek_level_offsets r = {0};
    const int16_t cells[] = {0, 3, -1};
    static const int routable_of_item[] = {0, 1, 2, -1};
    struct ek_treatment t[3] = {
        {EK_ACT_NONE, 0}, {EK_ACT_REPAIR, 2}, {EK_ACT_ROUTE_NORMALIZED, 1.5}};
    for (int f = 0; f < 4; f++)
        must(ek_level_offsets_add(&r, f, 3, log(100), 0));
    must(ek_level_offsets_add(&r, 0, 0, log(3), 0));
    must(ek_level_offsets_add(&r, 0, 2, log(7), 0));
    ek_level_offset_apply(&r, cells, 3, routable_of_item, t);
    ck_assert_int_eq(t[0].action, EK_ACT_REPAIR);
    ck_assert_double_eq_tol(t[0].value, 300, 1e-9);
    ck_assert_int_eq(t[1].action, EK_ACT_REPAIR);
    ck_assert_double_eq_tol(t[1].value, 200, 1e-9);
    ck_assert(t[2].action == EK_ACT_ROUTE_NORMALIZED && t[2].value == 1.5);
}
END_TEST

/* Check that nothing changes and no event is sent. */
static void ck_refused(struct bench *b, const char *feature, const char *segment, const char *value,
                       const char *author, int code, const char *hint)
{
    struct ek_error e = {0};
    uint64_t version = 99;
    const char *event;
    ck_assert_int_eq(ek_guard_accept(b->guard, feature, segment, value, author, NULL, &version, &e),
                     code);
    ck_assert_msg(strstr(e.message, hint) != NULL, "%s", e.message);
    ck_assert_uint_eq(version, 99);
    ck_assert_int_eq(ek_guard_next_event(b->guard, &event), 0);
}

START_TEST(names_that_are_none_are_refused_with_the_nearest)
{
    char author[80];
    struct bench b;
    setup(&b);
    find_cents(&b);
    memset(author, 'a', 65);
    author[65] = 0;
    ck_refused(&b, "prize", "arm", "B", "ana", EK_EUSAGE, "did you mean 'price'?");
    ck_refused(&b, "nights", "arm", "B", "ana", EK_EUSAGE, "query feature 'nights' is not watched");
    ck_refused(&b, "price", "arms", "B", "ana", EK_EUSAGE, "did you mean 'arm'?");
    ck_refused(&b, "price", "country", "B", "ana", EK_EUSAGE, "'segments' of the rules");
    ck_refused(&b, "price", "arm", NULL, "ana", EK_EUSAGE, "needs a value");
    ck_refused(&b, "price", "arm", "C", "ana", EK_ESTATE, "no lists of arm=C");
    ck_refused(&b, "price", "arm", "B", author, EK_EUSAGE, "the author has 65 bytes, at most 64");
    ck_refused(&b, "price", NULL, NULL, NULL, EK_ESTATE, "accept it in arm=B");
    ck_refused(&b, "price", "arm", "A", NULL, EK_ESTATE, "accept it in arm=B");
    ck_assert_int_eq(ek_guard_revert(b.guard, 1, NULL, NULL, NULL), EK_ESTATE);
    teardown(&b);
}
END_TEST

START_TEST(an_instance_of_a_fleet_cannot_be_told_alone)
{
    struct bench b;
    setup(&b);
    find_cents(&b);
    must(ek_guard_join(b.guard, "a", 1, 16, NULL));
    ck_refused(&b, "price", "arm", "B", "ana", EK_ESTATE, "submit the command to the fleet");
    ck_assert_int_eq(ek_guard_revert(b.guard, 1, NULL, NULL, NULL), EK_ESTATE);
    teardown(&b);
}
END_TEST

/* The fleet's plan replaces local accepted shifts: the change is found again, for the fleet to
 * accept. */
START_TEST(what_one_had_accepted_alone_ends_with_the_plan_of_its_fleet)
{
    static const struct ek_fleet_plan_head head = {
        .decider = {"b", 1}, .term = 1, .version = 1, .dimensions = {1, {{"arm", 3}}}};
    struct ek_buf record;
    struct bench b;
    setup(&b);
    find_cents(&b);
    accept_arm_b(&b);
    must(ek_guard_join(b.guard, "a", 1, 16, NULL));
    ck_assert_int_eq(ek_detector_offsets(b.guard->detector)->count,
                     1); /* no other accepted shift */
    ek_buf_init(&record, 0);
    fleet_plan_write(&record, &head, NULL, 0);
    must(ek_guard_receive_plan(b.guard, record.data, record.length, 0, NULL));
    ck_assert_int_eq(ek_detector_offsets(b.guard->detector)->count, 0);
    ek_buf_release(&record);
    teardown(&b);
}
END_TEST

/* As with the state of assigned partitions that has other accepted shifts. */
START_TEST(a_state_that_is_joined_brings_no_levels_into_a_fleet)
{
    static const struct ek_fleet_plan_head head = {
        .decider = {"b", 1}, .term = 1, .version = 1, .dimensions = {1, {{"arm", 3}}}};
    struct ek_guard *into;
    struct ek_buf record;
    struct bench b;
    setup(&b);
    find_cents(&b);
    accept_arm_b(&b);
    must(ek_guard_new(&into, &b.assets, NULL));
    must(ek_guard_join(into, "a", 1, 16, NULL));
    ek_buf_init(&record, 0);
    fleet_plan_write(&record, &head, NULL, 0);
    must(ek_guard_receive_plan(into, record.data, record.length, 0, NULL));
    must(ek_guard_merge(into, b.guard, NULL));
    ck_assert_int_eq(ek_detector_offsets(into->detector)->count, 0);
    ck_assert_uint_eq(ek_detector_offsets(into->detector)->version, 0);
    ek_guard_free(into);
    ek_buf_release(&record);
    teardown(&b);
}
END_TEST

Suite *suite_guard_accept(void)
{
    return ek_suite("guard_accept", an_accept_ends_the_route_and_says_who_and_why,
                    a_unit_of_the_rules_is_accepted_and_not_the_estimate,
                    a_reverted_accept_is_found_and_routed_again,
                    the_model_sees_accepted_values_at_the_scale_it_was_trained_on,
                    model_and_upstream_agree_on_what_was_accepted,
                    treatments_are_brought_to_what_is_normal,
                    names_that_are_none_are_refused_with_the_nearest,
                    an_instance_of_a_fleet_cannot_be_told_alone,
                    what_one_had_accepted_alone_ends_with_the_plan_of_its_fleet,
                    a_state_that_is_joined_brings_no_levels_into_a_fleet);
}
