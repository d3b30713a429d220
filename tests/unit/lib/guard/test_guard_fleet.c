/* Guards of a fleet score their lists under one plan, made by the leader. */
#include "guard/guard_fleet.h"

#include "base/buf.h"
#include "lists/codec.h"
#include "serve/assets.h"
#include "guard/limit_counters.h"
#include "fleet/leader.h"
#include "guard/guard_assets.h"
#include "guard/live_sketches.h"
#include "tests/check.h"
#include "tests/fleet_plan.h"
#include "tests/guard_model.h"
#include "tests/stream.h"

enum { TRAINING = 4000, GUARDS = 3, ROUND_LISTS = 10, ROUND_MS = 10000 };

static const char ENFORCE[] =
    "version: 1\n"
    "defaults: {mode: enforce, confirmation_lists: 64, min_duration: 30s}\n"
    "segments: [arm]\n";

struct bench {
    struct ek_assets assets;
    struct ek_guard *guard[GUARDS];
    struct stream stream[GUARDS];
    struct ek_leader *decider;
    struct ek_buf message, record;
    int64_t clock_ms;
    int routed[GUARDS], plans[GUARDS], confirmed[GUARDS], recovered[GUARDS], limits[GUARDS];
    bool cut[GUARDS];
};

static void setup_with(struct bench *b, const char *rules)
{
    static const char *const name[GUARDS] = {"a", "b", "c"};
    memset(b, 0, sizeof *b);
    struct ek_assets *a = &b->assets;
    a->manifest = stream_manifest();
    a->profile = stream_profile(a->manifest, TRAINING);
    a->model = guard_model(a->manifest);
    ck_assert_int_eq(ek_rules_parse(&a->rules, a->manifest, "rules", rules, strlen(rules), NULL),
                     EK_OK);
    ck_assert_int_eq(ek_codec_new(&a->codec, a->manifest, NULL, NULL, NULL), EK_OK);
    for (int i = 0; i < GUARDS; i++) {
        ck_assert_int_eq(ek_guard_new(&b->guard[i], a, NULL), EK_OK);
        ck_assert_int_eq(ek_guard_join(b->guard[i], name[i], 1, 0, NULL), EK_OK);
        stream_start(&b->stream[i], 50 + (uint64_t)i);
    }
    const struct ek_leader_setup setup = {.manifest = a->manifest,
                                          .profile = a->profile,
                                          .rules = a->rules,
                                          .means = {.model = true},
                                          .name = "a"};
    ck_assert_int_eq(ek_leader_new(&b->decider, &setup, NULL), EK_OK);
    ek_leader_start(b->decider, 0);
    ek_buf_init(&b->message, 0);
    ek_buf_init(&b->record, 0);
}

static void setup(struct bench *b)
{
    setup_with(b, ENFORCE);
}

static void teardown(struct bench *b)
{
    for (int i = 0; i < GUARDS; i++) {
        stream_end(&b->stream[i]);
        ek_guard_free(b->guard[i]);
    }
    ek_leader_free(b->decider);
    ek_buf_release(&b->message);
    ek_buf_release(&b->record);
    ek_assets_release(&b->assets);
}

static void pass(struct bench *b, int i, int cents)
{
    struct ek_list *q = stream_next(&b->stream[i]);
    const char *text;
    size_t length;
    if (cents)
        stream_scale(q, 0, 100);
    ek_buf_clear(&b->message);
    ck_assert_int_eq(ek_codec_encode(b->assets.manifest, q, EK_FEATURES_ARRAY, &b->message, NULL),
                     EK_OK);
    ck_assert_int_eq(
        ek_guard_observe(b->guard[i], b->message.data, b->message.length, q->time_ms, NULL), EK_OK);
    ck_assert_ptr_nonnull(ek_guard_score(b->guard[i], &length, NULL));
    b->routed[i] += !strcmp(ek_guard_action(b->guard[i]), "routed");
    while (ek_guard_next_event(b->guard[i], &text)) {
        b->plans[i] += strstr(text, "\"event\":\"plan\"") != NULL;
        b->limits[i] += strstr(text, "\"limit\":\"max_routed_features\"") != NULL;
        b->confirmed[i] += strstr(text, "\"state\":\"confirmed\"") != NULL &&
                           strstr(text, "\"mitigation\":\"route\"") != NULL;
        b->recovered[i] += strstr(text, "\"state\":\"recovered\"") != NULL;
    }
}

static int to_decider(void *context, const void *bytes, size_t length)
{
    struct bench *b = context;
    return ek_leader_receive(b->decider, bytes, length, b->clock_ms, NULL);
}

/* Run lists of each guard, then a report. faulty: number of guards with prices in cents. */
static void run(struct bench *b, int rounds, int faulty)
{
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < GUARDS; i++)
            for (int n = 0; n < ROUND_LISTS; n++)
                pass(b, i, i < faulty);
        b->clock_ms += ROUND_MS;
        for (int i = 0; i < GUARDS; i++)
            ck_assert_int_eq(ek_guard_write_report(b->guard[i], false, to_decider, b, NULL), EK_OK);
        ek_buf_clear(&b->record);
        ck_assert_int_eq(ek_leader_advance(b->decider, b->clock_ms, &b->record, NULL), EK_OK);
        ck_assert_int_eq(ek_leader_apply_record(b->decider, b->record.data, b->record.length, NULL),
                         EK_OK);
        for (int i = 0; i < GUARDS; i++)
            if (!b->cut[i])
                ck_assert_int_eq(ek_guard_receive_plan(b->guard[i], b->record.data,
                                                       b->record.length, b->clock_ms, NULL),
                                 EK_OK);
    }
}

START_TEST(what_one_guard_confirms_routes_the_lists_of_all)
{
    static struct bench b;
    setup(&b);
    run(&b, 20, 0);
    run(&b, 12, 1);
    for (int i = 0; i < GUARDS; i++) {
        ck_assert_int_gt(b.routed[i], 0);
        ck_assert_int_ge(b.plans[i], 1);
        ck_assert_uint_eq(ek_guard_plan_version(b.guard[i]), ek_guard_plan_version(b.guard[0]));
    }
    teardown(&b);
}
END_TEST

START_TEST(when_it_is_over_all_lists_pass_again)
{
    static struct bench b;
    setup(&b);
    run(&b, 20, 0);
    run(&b, 12, GUARDS);
    ck_assert_int_gt(b.routed[1], 0);
    run(&b, 30, 0);
    memset(b.routed, 0, sizeof b.routed);
    run(&b, 2, 0);
    for (int i = 0; i < GUARDS; i++)
        ck_assert_int_eq(b.routed[i], 0);
    teardown(&b);
}
END_TEST

START_TEST(each_guard_tells_the_findings_of_the_fleet_and_none_of_its_own)
{
    static struct bench b;
    setup(&b);
    run(&b, 20, 0);
    run(&b, 12, 1);
    for (int i = 0; i < GUARDS; i++) {
        ck_assert_int_eq(b.confirmed[i], 1);
        ck_assert_int_eq(b.recovered[i], 0);
    }
    run(&b, 40, 0);
    for (int i = 0; i < GUARDS; i++) {
        ck_assert_int_eq(b.confirmed[i], 1);
        ck_assert_int_eq(b.recovered[i], 1);
    }
    teardown(&b);
}
END_TEST

/* Write a plan that routes prices of an arm without lists here. */
static void write_plan(struct bench *b, const char *arm)
{
    struct ek_fleet_plan_head head = {.decider = {"z", 1}, .term = 1, .version = 1};
    head.dimensions.count = 1;
    head.dimensions.name[0] = stream_text("arm");
    const struct ek_fleet_entry entry = {
        .place = {{stream_text("arm"), stream_text(arm)}, stream_text("price")},
        .is = ek_plan_entry_init(0, 0, (struct ek_treatment){EK_ACT_ROUTE, 0})};
    ek_buf_clear(&b->record);
    fleet_plan_write(&b->record, &head, &entry, 1);
}

static uint64_t lists_of(struct ek_guard *g, int cell)
{
    struct ek_feature_view v[EK_SPANS];
    return ek_live_sketches_view(ek_guard_traffic(g), cell, 0, v) ? v[EK_SPAN_LIFE].lists : 0;
}

START_TEST(the_sketches_of_a_cell_that_a_plan_takes_begin_anew)
{
    static struct bench b;
    const char *dimension, *value;
    setup(&b);
    ek_guard_free(b.guard[0]);
    b.assets.cells = 2; /* all traffic, and one arm */
    ck_assert_int_eq(ek_guard_new(&b.guard[0], &b.assets, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_join(b.guard[0], "a", 1, 0, NULL), EK_OK);
    for (int i = 0; i < 40; i++)
        pass(&b, 0, 0);
    ck_assert_uint_gt(lists_of(b.guard[0], 1), 0);
    write_plan(&b, "Z");
    ck_assert_int_eq(ek_guard_receive_plan(b.guard[0], b.record.data, b.record.length, 0, NULL),
                     EK_OK);
    ek_live_sketches_cell(ek_guard_traffic(b.guard[0]), 1, &dimension, &value);
    ck_assert_str_eq(value, "Z");
    ck_assert_uint_eq(lists_of(b.guard[0], 1), 0);
    for (int i = 0; i < 40; i++)
        pass(&b, 0, 0);
    ck_assert_uint_eq(lists_of(b.guard[0], 1), 0);
    ck_assert_uint_eq(lists_of(b.guard[0], 0), 80);
    teardown(&b);
}
END_TEST

/* Run lists of the first guard with prices in cents until its finding. */
static void until_found(struct bench *b)
{
    for (int n = 0; n < 400 && !ek_guard_has_found(b->guard[0]); n++)
        pass(b, 0, 1);
    ck_assert(ek_guard_has_found(b->guard[0]));
}

START_TEST(what_a_guard_finds_reaches_all_between_two_ticks)
{
    static struct bench b;
    setup(&b);
    run(&b, 20, 0);
    ck_assert(!ek_guard_has_found(b.guard[0]) && !ek_guard_is_sampled(b.guard[1]));
    for (int found = 0; found < 8 && !b.confirmed[1]; found++) {
        until_found(&b);
        ck_assert_int_eq(ek_guard_write_report(b.guard[0], true, to_decider, &b, NULL), EK_OK);
        ck_assert(!ek_guard_has_found(b.guard[0]));
        ek_buf_clear(&b.record);
        ck_assert_int_eq(ek_leader_check(b.decider, b.clock_ms, &b.record, NULL), EK_OK);
        for (int i = 0; i < GUARDS && b.record.length; i++)
            ck_assert_int_eq(
                ek_guard_receive_plan(b.guard[i], b.record.data, b.record.length, b.clock_ms, NULL),
                EK_OK);
        pass(&b, 1, 0); /* returns its events */
    }
    ck_assert_int_eq(b.confirmed[1], 1);
    teardown(&b);
}
END_TEST

START_TEST(a_guard_that_hears_nothing_keeps_its_plan)
{
    static struct bench b;
    setup(&b);
    run(&b, 20, 0);
    run(&b, 12, GUARDS);
    uint64_t version = ek_guard_plan_version(b.guard[2]);
    b.cut[2] = true;
    run(&b, 30, 0);
    ck_assert_uint_eq(ek_guard_plan_version(b.guard[2]), version);
    ck_assert_uint_gt(ek_guard_plan_version(b.guard[0]), version);
    ck_assert_int_eq(ek_instance_plans_age_ms(ek_guard_plans(b.guard[2]), b.clock_ms),
                     30 * ROUND_MS);
    teardown(&b);
}
END_TEST

START_TEST(a_guard_alone_in_its_fleet_routes_nothing_of_its_own)
{
    static struct bench b;
    setup(&b);
    for (int i = 0; i < GUARDS; i++)
        b.cut[i] = true;
    run(&b, 20, 0);
    run(&b, 20, GUARDS);
    for (int i = 0; i < GUARDS; i++) {
        ck_assert_int_eq(b.routed[i], 0);
        ck_assert_int_eq(b.plans[i], 0);
        ck_assert_int_eq(b.confirmed[i], 0);
        ck_assert_int_eq(ek_instance_plans_age_ms(ek_guard_plans(b.guard[i]), b.clock_ms), -1);
    }
    teardown(&b);
}
END_TEST

START_TEST(each_guard_tells_a_limit_of_the_plan_once)
{
    static struct bench b;
    setup_with(&b, "version: 1\n"
                   "defaults: {mode: enforce, confirmation_lists: 64, min_duration: 30s}\n"
                   "limits: {max_routed_features: 0}\n");
    run(&b, 20, 0);
    run(&b, 12, 1);
    for (int i = 0; i < GUARDS; i++) {
        ck_assert_int_eq(b.routed[i], 0);
        ck_assert_int_eq(b.limits[i], 1);
        ck_assert_uint_eq(ek_guard_limit_counters(b.guard[i]).count[EK_BOUND_ROUTED], 1);
    }
    teardown(&b);
}
END_TEST

Suite *suite_guard_fleet(void)
{
    return ek_suite("guard fleet", what_one_guard_confirms_routes_the_lists_of_all,
                    when_it_is_over_all_lists_pass_again,
                    each_guard_tells_the_findings_of_the_fleet_and_none_of_its_own,
                    the_sketches_of_a_cell_that_a_plan_takes_begin_anew,
                    what_a_guard_finds_reaches_all_between_two_ticks,
                    a_guard_that_hears_nothing_keeps_its_plan,
                    a_guard_alone_in_its_fleet_routes_nothing_of_its_own,
                    each_guard_tells_a_limit_of_the_plan_once);
}
