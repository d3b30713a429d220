/* A fleet rolls out a route step by step under one plan: the same queries everywhere, by the
 * comparisons of all instances, and continued by the next leader. */
#include "base/buf.h"
#include "lists/codec.h"
#include "detect/dedup.h"
#include "serve/assets.h"
#include "fleet/leader.h"
#include "guard/guard_fleet.h"
#include "guard/guard_internal.h"
#include "guard/guard_trials.h"
#include "tests/check.h"
#include "tests/guard_model.h"
#include "tests/stream.h"

enum { TRAINING = 4000, GUARDS = 2, DECIDERS = 2, ROUND_LISTS = 10, ROUND_MS = 10000, PRICE = 0 };

static const char CANARY[] = "version: 1\nsegments: [arm]\n"
                             "defaults: {mode: canary, confirmation_lists: 64, min_duration: 30s,\n"
                             "           canary: {initial_percent: 20, step_percent: 40, "
                             "step_interval: 20s, max_percent: 100, min_lists: 8}}\n";
static const char WITHDRAWN[] =
    "version: 1\nsegments: [arm]\n"
    "defaults: {mode: canary, confirmation_lists: 64, min_duration: 30s,\n"
    "           canary: {initial_percent: 50, step_percent: 50, step_interval: 1h, max_percent: "
    "100, min_lists: 8,\n"
    "                    abort_if: {rank_change_p95: 0.001}}}\n";
static const char SHADOW[] =
    "version: 1\nsegments: [arm]\n"
    "defaults: {mode: shadow, confirmation_lists: 64, min_duration: 30s}\n";
static const char MODE_IN[] =
    "version: 1\nsegments: [arm]\n"
    "defaults: {mode: enforce, confirmation_lists: 64, min_duration: 30s,\n"
    "           mode_in: {arm: {B: observe}}}\n";
static const char PINS[] =
    "version: 1\nsegments: [arm]\n"
    "defaults: {mode: observe}\n"
    "pins: [{feature: size, segment: {arm: B}, action: route, reason: known}]\n";

static const char ENFORCED_IN_B[] = "version: 1\nsegments: [arm]\n"
                                    "defaults: {mode: canary, confirmation_lists: 64, "
                                    "min_duration: 30s, mode_in: {arm: {B: enforce}},\n"
                                    "           canary: {initial_percent: 20, step_percent: 40, "
                                    "step_interval: 20s, max_percent: 100, min_lists: 8}}\n";

struct bench {
    struct ek_assets assets;
    struct ek_guard *guard[GUARDS];
    struct stream stream[GUARDS];
    struct ek_leader *decider[DECIDERS];
    bool dead[DECIDERS];
    struct ek_buf message, record;
    int64_t clock_ms;
    char outcome[GUARDS][16]; /* of the last list */
    int words[GUARDS];        /* lists with other scores, or in shadow */
    int told[GUARDS][EK_DECISION_KINDS];
};

static void setup(struct bench *b, const char *rules)
{
    static const char *const name[] = {"a", "b"};
    struct ek_error e = {0};
    memset(b, 0, sizeof *b);
    struct ek_assets *a = &b->assets;
    a->manifest = stream_manifest();
    a->profile = stream_profile(a->manifest, TRAINING);
    a->model = guard_model(a->manifest);
    ck_assert_msg(!ek_rules_parse(&a->rules, a->manifest, "rules", rules, strlen(rules), &e), "%s",
                  e.message);
    ck_assert_int_eq(ek_codec_new(&a->codec, a->manifest, NULL, NULL, NULL), EK_OK);
    for (int i = 0; i < GUARDS; i++) {
        ck_assert_int_eq(ek_guard_new(&b->guard[i], a, NULL), EK_OK);
        ck_assert_msg(!ek_guard_join(b->guard[i], name[i], 1, 0, &e), "%s", e.message);
        stream_start(&b->stream[i], 50 + (uint64_t)i);
    }
    for (int i = 0; i < DECIDERS; i++) {
        const struct ek_leader_setup s = {.manifest = a->manifest,
                                          .profile = a->profile,
                                          .rules = a->rules,
                                          .means = {.model = true},
                                          .name = name[i]};
        ck_assert_int_eq(ek_leader_new(&b->decider[i], &s, NULL), EK_OK);
    }
    ek_leader_start(b->decider[0], 0);
    ek_buf_init(&b->message, 0);
    ek_buf_init(&b->record, 0);
}

static void teardown(struct bench *b)
{
    for (int i = 0; i < GUARDS; i++) {
        stream_end(&b->stream[i]);
        ek_guard_free(b->guard[i]);
    }
    for (int i = 0; i < DECIDERS; i++)
        ek_leader_free(b->decider[i]);
    ek_buf_release(&b->message);
    ek_buf_release(&b->record);
    ek_assets_release(&b->assets);
}

static void hear_events(struct bench *b, int i)
{
    const char *text;
    char word[40];
    while (ek_guard_next_event(b->guard[i], &text))
        for (int did = 0; did < EK_DECISION_KINDS; did++) {
            snprintf(word, sizeof word, "\"type\":\"%s\"",
                     ek_decision_kind_name((enum ek_decision_kind)did));
            b->told[i][did] += strstr(text, "\"event\":\"decision\"") && strstr(text, word);
        }
}

/* Send a list. Return whether its query is in a canary of that many hundredths of a percent. */
static int pass(struct bench *b, int i, bool cents)
{
    struct ek_list *q = stream_next(&b->stream[i]);
    struct ek_comparison trial;
    size_t length;
    bool valid;
    if (cents)
        stream_scale(q, PRICE, 100);
    ek_buf_clear(&b->message);
    ck_assert_int_eq(ek_codec_encode(b->assets.manifest, q, EK_FEATURES_ARRAY, &b->message, NULL),
                     EK_OK);
    ck_assert_int_eq(
        ek_guard_observe(b->guard[i], b->message.data, b->message.length, q->time_ms, NULL), EK_OK);
    ck_assert_ptr_nonnull(ek_guard_score(b->guard[i], &length, NULL));
    ck_assert_int_eq(ek_guard_compare(b->guard[i], &trial, &valid, NULL), EK_OK);
    snprintf(b->outcome[i], sizeof b->outcome[i], "%s", ek_guard_action(b->guard[i]));
    b->words[i] += strcmp(b->outcome[i], "pass") != 0;
    hear_events(b, i);
    return ek_canary_bucket(q);
}

static int to_deciders(void *context, const void *bytes, size_t length)
{
    struct bench *b = context;
    for (int i = 0; i < DECIDERS; i++)
        if (!b->dead[i])
            ck_assert_int_eq(ek_leader_receive(b->decider[i], bytes, length, b->clock_ms, NULL),
                             EK_OK);
    return EK_OK;
}

static void publish(struct bench *b)
{
    for (int i = 0; i < DECIDERS; i++)
        if (!b->dead[i])
            ck_assert_int_eq(
                ek_leader_apply_record(b->decider[i], b->record.data, b->record.length, NULL),
                EK_OK);
    for (int i = 0; i < GUARDS; i++) {
        ck_assert_int_eq(
            ek_guard_receive_plan(b->guard[i], b->record.data, b->record.length, b->clock_ms, NULL),
            EK_OK);
        hear_events(b, i);
    }
}

static void tell(struct bench *b)
{
    b->clock_ms += ROUND_MS;
    for (int i = 0; i < GUARDS; i++)
        ck_assert_int_eq(ek_guard_write_report(b->guard[i], false, to_deciders, b, NULL), EK_OK);
    for (int i = 0; i < DECIDERS; i++) {
        ek_buf_clear(&b->record);
        if (!b->dead[i])
            ck_assert_int_eq(ek_leader_advance(b->decider[i], b->clock_ms, &b->record, NULL),
                             EK_OK);
        if (b->record.length)
            publish(b);
    }
}

static void run(struct bench *b, int rounds, bool cents)
{
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < GUARDS; i++)
            for (int n = 0; n < ROUND_LISTS; n++)
                pass(b, i, cents);
        tell(b);
    }
}

static const struct ek_plan *plan_of(struct bench *b, int i)
{
    return ek_controller_plan(b->guard[i]->control);
}

/* In hundredths of a percent; 0: no route. */
static int percent_of(struct bench *b, int i)
{
    const struct ek_plan *p = plan_of(b, i);
    return p->count ? p->entry[0].percent : 0;
}

static void until_percent(struct bench *b, int percent)
{
    for (int round = 0; round < 100 && (percent_of(b, 0) < percent || percent_of(b, 1) < percent);
         round++)
        run(b, 1, true);
    for (int i = 0; i < GUARDS; i++)
        ck_assert_int_eq(percent_of(b, i), percent);
}

/* Check that all instances agree on a query's canary membership, list by list. */
static void hold_canary(struct bench *b, int percent)
{
    for (int n = 0; n < 40; n++)
        for (int i = 0; i < GUARDS; i++) {
            int bucket = pass(b, i, true);
            ck_assert_str_eq(b->outcome[i], bucket < percent ? "canary" : "pass");
        }
}

START_TEST(a_canary_grows_on_all_alike_and_by_what_all_have_tried)
{
    static struct bench b;
    setup(&b, CANARY);
    run(&b, 20, false);
    static const int percent[] = {2000, 6000, 10000};
    for (int step = 0; step < 3; step++) {
        until_percent(&b, percent[step]);
        hold_canary(&b, percent[step]);
    }
    for (int i = 0; i < GUARDS; i++) {
        ck_assert_int_eq(b.told[i][EK_DECIDED_ROUTE], 1);
        ck_assert_int_eq(b.told[i][EK_DECIDED_STEP], 2);
    }
    teardown(&b);
}
END_TEST

START_TEST(a_canary_grows_on_all_though_some_values_do_not_wait_for_it)
{
    static struct bench b;
    setup(&b, ENFORCED_IN_B);
    run(&b, 20, false);
    until_percent(&b, 2000);
    until_percent(&b, 10000);
    teardown(&b);
}
END_TEST

/* One instance has too few lists: 10 a round, of which a fifth is compared. */
START_TEST(lists_that_others_have_tried_count_for_a_step)
{
    static struct bench b;
    setup(&b, CANARY);
    run(&b, 20, false);
    until_percent(&b, 2000);
    struct ek_rollout_stats f[GUARDS];
    while (percent_of(&b, 0) == 2000) {
        for (int i = 0; i < GUARDS; i++)
            ck_assert(ek_guard_stats_get(b.guard[i], PRICE, plan_of(&b, i)->entry[0].cell, &f[i]));
        run(&b, 1, true);
    }
    ck_assert_uint_gt(f[0].compared, 0);
    ck_assert_uint_gt(f[1].compared, 0);
    const struct ek_rollout *r =
        ek_controller_rollout(b.guard[0]->control, PRICE, plan_of(&b, 0)->entry[0].cell);
    ck_assert_uint_gt(r->compared, f[0].compared);
    ck_assert_uint_gt(r->compared, f[1].compared);
    teardown(&b);
}
END_TEST

static void take_over(struct bench *b)
{
    b->dead[0] = true;
    b->clock_ms += ROUND_MS;
    ek_leader_start(b->decider[1], b->clock_ms);
}

START_TEST(who_takes_over_goes_on_with_the_canary_where_it_stood)
{
    static struct bench b;
    setup(&b, CANARY);
    run(&b, 20, false);
    until_percent(&b, 6000);
    uint64_t version = plan_of(&b, 0)->version;
    take_over(&b);
    tell(&b);
    hold_canary(&b, 6000);
    ck_assert_uint_gt(plan_of(&b, 0)->version, version);
    until_percent(&b, 10000);
    for (int i = 0; i < GUARDS; i++) {
        ck_assert_int_eq(b.told[i][EK_DECIDED_ROUTE], 1);
        ck_assert_int_eq(b.told[i][EK_DECIDED_STEP], 2);
        ck_assert_int_eq(b.told[i][EK_DECIDED_END], 0);
    }
    teardown(&b);
}
END_TEST

static bool is_rolled_back(struct bench *b, int i)
{
    struct ek_impact_view v;
    for (int at = 0; ek_guard_impact(b->guard[i], &at, &v);)
        if (v.rolled_back)
            return v.guardrail == EK_GUARDRAIL_RANKS && v.observed > v.limit;
    return false;
}

START_TEST(what_was_rolled_back_stays_so_on_all_and_when_another_decides)
{
    static struct bench b;
    setup(&b, WITHDRAWN);
    run(&b, 20, false);
    for (int round = 0; round < 100 && !b.told[1][EK_DECIDED_ROLLBACK]; round++)
        run(&b, 1, true);
    run(&b, 1, true);
    take_over(&b);
    run(&b, 5, true);
    memset(b.words, 0, sizeof b.words);
    run(&b, 5, true);
    for (int i = 0; i < GUARDS; i++) {
        ck_assert_int_eq(b.words[i], 0);
        ck_assert_int_eq(plan_of(&b, i)->count, 0);
        ck_assert(is_rolled_back(&b, i));
        ck_assert_int_eq(b.told[i][EK_DECIDED_ROUTE], 1);
        ck_assert_int_eq(b.told[i][EK_DECIDED_ROLLBACK], 1);
    }
    teardown(&b);
}
END_TEST

START_TEST(in_shadow_no_list_has_other_scores_and_all_know_what_they_would_be)
{
    static struct bench b;
    struct ek_rollout_stats f;
    setup(&b, SHADOW);
    run(&b, 20, false);
    for (int round = 0; round < 100 && !plan_of(&b, 1)->count; round++)
        run(&b, 1, true);
    run(&b, 2, true);
    for (int i = 0; i < GUARDS; i++) {
        pass(&b, i, true);
        ck_assert_str_eq(b.outcome[i], "shadow");
        ck_assert_int_eq(plan_of(&b, i)->entry[0].mode, EK_MODE_SHADOW);
        ck_assert(ek_guard_stats_get(b.guard[i], PRICE, plan_of(&b, i)->entry[0].cell, &f));
    }
    teardown(&b);
}
END_TEST

START_TEST(lists_of_a_value_have_its_mode_on_all)
{
    static struct bench b;
    setup(&b, MODE_IN);
    run(&b, 20, false);
    for (int round = 0; round < 100 && !plan_of(&b, 1)->count; round++)
        run(&b, 1, true);
    run(&b, 2, true);
    for (int n = 0; n < 40; n++)
        for (int i = 0; i < GUARDS; i++) {
            pass(&b, i, true);
            ck_assert_str_eq(b.outcome[i], b.stream[i].arm_b ? "pass" : "routed");
        }
    teardown(&b);
}
END_TEST

/* Without any finding. */
START_TEST(a_pin_of_the_rules_holds_on_all)
{
    static struct bench b;
    setup(&b, PINS);
    run(&b, 4, false);
    for (int n = 0; n < 40; n++)
        for (int i = 0; i < GUARDS; i++) {
            pass(&b, i, false);
            ck_assert_str_eq(b.outcome[i], b.stream[i].arm_b ? "routed" : "pass");
            ck_assert_int_eq(plan_of(&b, i)->entry[0].by, EK_BY_RULES);
        }
    teardown(&b);
}
END_TEST

Suite *suite_fleet_rollout(void)
{
    return ek_suite("fleet rollout", a_canary_grows_on_all_alike_and_by_what_all_have_tried,
                    a_canary_grows_on_all_though_some_values_do_not_wait_for_it,
                    lists_that_others_have_tried_count_for_a_step,
                    who_takes_over_goes_on_with_the_canary_where_it_stood,
                    what_was_rolled_back_stays_so_on_all_and_when_another_decides,
                    in_shadow_no_list_has_other_scores_and_all_know_what_they_would_be,
                    lists_of_a_value_have_its_mode_on_all, a_pin_of_the_rules_holds_on_all);
}
