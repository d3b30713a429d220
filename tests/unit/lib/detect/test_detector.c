/* Detector: findings with class and segment, and healthy changes. */
#include "detect/merge.h"
#include "tests/detector.h"

START_TEST(calm_traffic_raises_nothing)
{
    struct bench b;
    setup(&b, 1);
    run(&b, 20000, NULL);
    ck_assert_int_eq(b.count[EK_SUSPECTED], 0);
    teardown(&b);
}
END_TEST

/* A holiday: too small to report, too large for the dead-band. Later shifts are measured against
 * it. */
START_TEST(a_small_shift_of_all_traffic_is_followed_in_silence)
{
    struct bench b;
    setup(&b, 31);
    run(&b, BEFORE, NULL);
    run(&b, 8000, eight_percent);
    for (int state = 0; state < 5; state++)
        ck_assert_int_eq(b.count[state], 0);
    run(&b, 600, a_third_more);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    ck_assert_double_eq_tol(b.last[EK_CONFIRMED].factor, 1.3, .06);
    teardown(&b);
}
END_TEST

START_TEST(cents_are_found_within_ten_lists_and_named)
{
    struct bench b;
    setup(&b, 2);
    run(&b, BEFORE, NULL);
    run(&b, 400, cents);
    const struct ek_finding *f = &b.last[EK_CONFIRMED];
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    ck_assert(b.last[EK_SUSPECTED].query < BEFORE + 30);
    ck_assert_int_eq(f->class, EK_SCALE);
    ck_assert_int_eq(f->feature, 0);
    ck_assert_int_eq(f->cell, 0);
    ck_assert(f->factor > 85 && f->factor < 117);
    ck_assert(f->factor_low < f->factor && f->factor < f->factor_high);
    ck_assert_str_eq(f->unit[0].unit->id, "cents");
    ck_assert(f->since_query >= BEFORE - 2 && f->since_query <= BEFORE + 5);
    ck_assert(f->share > .95);
    teardown(&b);
}
END_TEST

static void cents_of_cheap_nights(struct bench *b, struct ek_list *q)
{
    (void)b;
    stream_scale(q, 0, 70);
}

/* The newest lists alone would exclude cents for hours. */
START_TEST(cents_stay_in_the_interval_while_the_traffic_is_cheaper)
{
    struct bench b;
    setup(&b, 2);
    run(&b, BEFORE, NULL);
    run(&b, 3500, cents);
    run(&b, 600, cents_of_cheap_nights);
    const struct ek_finding *f = &b.last[EK_UPDATED];
    ck_assert_double_eq_tol(f->factor, 70, 10);
    ck_assert_msg(f->factor_low < 70 && f->factor_high > 100, "%g: %g to %g", f->factor,
                  f->factor_low, f->factor_high);
    teardown(&b);
}
END_TEST

START_TEST(a_large_fault_is_confirmed_within_fifty_lists)
{
    for (uint64_t seed = 61; seed < 66; seed++) {
        struct bench b;
        setup(&b, seed);
        run(&b, BEFORE, NULL);
        run(&b, 50, cents);
        ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
        ck_assert_int_eq(b.last[EK_CONFIRMED].class, EK_SCALE);
        ck_assert_int_eq(b.last[EK_CONFIRMED].cell, 0);
        teardown(&b);
    }
}
END_TEST

/* One list in a hundred: an upstream canary. */
static void cents_in_a_rare_arm(struct bench *b, struct ek_list *q)
{
    if (b->world.stream.number % 100)
        return;
    q->segments[0].value = stream_text("canary");
    stream_scale(q, 0, 100);
}

START_TEST(a_large_fault_of_a_rare_arm_is_confirmed_by_a_dozen_lists)
{
    for (uint64_t seed = 71; seed < 75; seed++) {
        struct bench b;
        setup(&b, seed);
        run(&b, BEFORE, NULL);
        run(&b, 1300, cents_in_a_rare_arm);
        ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
        ck_assert_str_eq(b.last[EK_CONFIRMED].value, "canary");
        ck_assert_double_eq_tol(log(b.last[EK_CONFIRMED].factor), log(100), .5);
        teardown(&b);
    }
}
END_TEST

/* The first lists may all be of the arm with the fault. */
START_TEST(a_fault_of_one_arm_is_never_put_on_all_traffic)
{
    for (uint64_t seed = 81; seed < 101; seed++) {
        struct bench b;
        setup(&b, seed);
        run(&b, BEFORE, NULL);
        run(&b, 200, cents_in_arm_b);
        ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
        ck_assert_str_eq(b.last[EK_CONFIRMED].value, "B");
        teardown(&b);
    }
}
END_TEST

START_TEST(a_fault_of_one_arm_is_put_on_the_arm)
{
    struct bench b;
    setup(&b, 3);
    run(&b, BEFORE, NULL);
    run(&b, 400, cents_in_arm_b);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    ck_assert_str_eq(b.last[EK_CONFIRMED].dimension, "arm");
    ck_assert_str_eq(b.last[EK_CONFIRMED].value, "B");
    ck_assert(b.count[EK_DISMISSED] >= 1);
    ck_assert_ptr_null(b.last[EK_DISMISSED].dimension);
    teardown(&b);
}
END_TEST

START_TEST(a_factor_that_follows_the_nights_is_named_so)
{
    struct bench b;
    setup(&b, 4);
    run(&b, BEFORE, NULL);
    run(&b, 400, full_stay);
    ck_assert_int_eq(b.last[EK_CONFIRMED].class, EK_SCALE);
    ck_assert_int_eq(b.last[EK_CONFIRMED].query_feature, 0);
    teardown(&b);
}
END_TEST

static void per_night(struct bench *b, struct ek_list *q)
{
    (void)b;
    stream_scale(q, 0, 1 / (double)q->query[0]);
}

START_TEST(a_factor_of_one_over_the_nights_is_named_so)
{
    struct bench b;
    setup(&b, 104);
    run(&b, BEFORE, NULL);
    run(&b, 400, per_night);
    ck_assert_int_eq(b.last[EK_CONFIRMED].class, EK_SCALE);
    ck_assert_int_eq(b.last[EK_CONFIRMED].query_feature, 0);
    ck_assert_double_eq(b.last[EK_CONFIRMED].exponent, -1);
    run(&b, 400, NULL);
    ck_assert_int_eq(b.count[EK_RECOVERED], 1);
    teardown(&b);
}
END_TEST

START_TEST(a_factor_that_follows_the_nights_is_named_so_for_good)
{
    struct bench b;
    setup(&b, 105);
    run(&b, BEFORE, NULL);
    run(&b, 9000, full_stay);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    ck_assert_int_eq(b.last[EK_UPDATED].query_feature, 0);
    teardown(&b);
}
END_TEST

START_TEST(the_factor_settles_and_stays)
{
    struct bench b;
    setup(&b, 108);
    run(&b, 4000, NULL);
    run(&b, 340, cents);
    double early = log(newest(&b)->factor_high / newest(&b)->factor_low);
    run(&b, 6000, cents);
    double late = log(newest(&b)->factor_high / newest(&b)->factor_low);
    double factor = newest(&b)->factor;
    ck_assert(late < .75 * early);
    ck_assert_double_eq_tol(factor, 100, 6);
    run(&b, 8000, cents);
    ck_assert_double_eq(newest(&b)->factor, factor);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    teardown(&b);
}
END_TEST

/* Ten minutes on, ten minutes off. */
START_TEST(a_change_that_returns_reopens_its_incident)
{
    struct bench b;
    setup(&b, 106);
    run(&b, BEFORE, NULL);
    for (int again = 0; again < 4; again++) {
        run(&b, 600, cents);
        run(&b, 600, NULL);
        ck_assert_int_eq(b.count[EK_RECOVERED], again + 1);
        ck_assert_uint_eq(b.last[EK_CONFIRMED].cause, 1);
    }
    run(&b, 600, turned); /* another change */
    ck_assert_uint_eq(b.last[EK_CONFIRMED].cause, 2);
    teardown(&b);
}
END_TEST

/* A list every two minutes. */
static void rarely(struct bench *b, struct ek_list *q)
{
    (void)b;
    q->time_ms *= 120;
}

static void cents_rarely(struct bench *b, struct ek_list *q)
{
    rarely(b, q);
    cents(b, q);
}

START_TEST(a_change_that_returns_within_the_history_reopens_its_incident)
{
    struct bench b;
    setup(&b, 106);
    run(&b, BEFORE, rarely);
    run(&b, 600, cents_rarely);
    run(&b, 1000, rarely); /* a day */
    run(&b, 600, cents_rarely);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 2);
    ck_assert_uint_eq(b.last[EK_CONFIRMED].cause, 1);
    run(&b, 6000, rarely);
    run(&b, 600, cents_rarely);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 3);
    ck_assert_uint_eq(b.last[EK_CONFIRMED].cause, 2);
    teardown(&b);
}
END_TEST

/* A slow confirmation must not turn the return into another incident. */
START_TEST(a_return_counts_from_its_first_list)
{
    struct bench b;
    setup(&b, 106);
    run(&b, BEFORE, rarely);
    run(&b, 600, cents_rarely);
    while (!b.count[EK_RECOVERED])
        run(&b, 1, rarely);
    run(&b, 4096 - 3, rarely); /* the return begins within the history, its confirmation after it */
    run(&b, 600, cents_rarely);
    ck_assert_uint_gt(b.last[EK_CONFIRMED].query, b.last[EK_RECOVERED].query + 4096);
    ck_assert_uint_eq(b.last[EK_CONFIRMED].cause, 1);
    teardown(&b);
}
END_TEST

static void size_in_cents_rarely(struct bench *b, struct ek_list *q)
{
    rarely(b, q);
    stream_scale(q, 1, 100);
}

static void both_in_cents_rarely(struct bench *b, struct ek_list *q)
{
    cents_rarely(b, q);
    stream_scale(q, 1, 100);
}

START_TEST(a_change_that_returns_joins_its_incident_while_that_is_open)
{
    struct bench b;
    setup(&b, 107);
    run(&b, BEFORE, rarely);
    run(&b, 600, both_in_cents_rarely);
    run(&b, 6000, size_in_cents_rarely);
    ck_assert_int_eq(b.count[EK_RECOVERED], 1);
    run(&b, 600, both_in_cents_rarely);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 3);
    ck_assert_uint_eq(b.last[EK_CONFIRMED].cause, 1);
    teardown(&b);
}
END_TEST

static void in_cents_in_another_order(struct bench *b, struct ek_list *q)
{
    cents(b, q);
    for (int f = 0; f < 3; f++)
        for (int i = 1; i < q->items; i++) /* sorted by each feature: equal values are adjacent */
            for (int k = i; k > 0 && q->x[3 * k + f] < q->x[3 * k - 3 + f]; k--) {
                float x = q->x[3 * k + f];
                q->x[3 * k + f] = q->x[3 * k - 3 + f];
                q->x[3 * k - 3 + f] = x;
            }
}

static void in_another_order(struct bench *b, struct ek_list *q)
{
    in_cents_in_another_order(b, q);
    stream_scale(q, 0, .01);
}

START_TEST(the_order_of_the_items_is_no_fault)
{
    struct bench b;
    setup(&b, 107);
    run(&b, BEFORE, NULL);
    run(&b, 4000, in_another_order);
    ck_assert_int_eq(b.count[EK_SUSPECTED], 0);
    run(&b, 400, in_cents_in_another_order);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    ck_assert_int_eq(b.last[EK_CONFIRMED].class, EK_SCALE);
    teardown(&b);
}
END_TEST

START_TEST(a_code_of_the_query_is_no_factor)
{
    struct bench b;
    setup(&b, 4);
    b.world.manifest->features[ek_manifest_feature(b.world.manifest, "nights")].type =
        EK_TYPE_CATEGORY;
    run(&b, BEFORE, NULL);
    run(&b, 400, full_stay);
    ck_assert_int_ge(b.count[EK_CONFIRMED], 1);
    ck_assert_int_eq(b.last[EK_CONFIRMED].query_feature, -1);
    teardown(&b);
}
END_TEST

/* Prices correlated with nights as in training: the price of the stay. */
static void of_the_stay(struct ek_list *q)
{
    stream_scale(q, 0, q->query[0]);
}

static void of_the_stay_as_ever(struct bench *b, struct ek_list *q)
{
    (void)b;
    of_the_stay(q);
}

static void of_the_stay_in_cents(struct bench *b, struct ek_list *q)
{
    (void)b;
    of_the_stay(q);
    stream_scale(q, 0, 100);
}

START_TEST(a_query_feature_that_always_went_with_the_value_is_no_factor)
{
    struct bench b;
    setup(&b, 12);
    ek_detector_free(b.detector);
    ek_profile_free(b.world.profile);
    b.world.profile = stream_profile_of(b.world.manifest, TRAINING, of_the_stay);
    ck_assert_int_eq(
        ek_detector_new(&b.detector, b.world.manifest, b.world.profile, b.world.rules, NULL),
        EK_OK);
    run(&b, BEFORE, of_the_stay_as_ever);
    ck_assert_int_eq(b.count[EK_SUSPECTED], 0);
    run(&b, 400, of_the_stay_in_cents);
    ck_assert_int_eq(b.last[EK_CONFIRMED].class, EK_SCALE);
    ck_assert_int_eq(b.last[EK_CONFIRMED].query_feature, -1);
    ck_assert_str_eq(b.last[EK_CONFIRMED].unit[0].unit->id, "cents");
    teardown(&b);
}
END_TEST

START_TEST(what_is_below_min_effect_is_not_told)
{
    struct bench b;
    setup(&b, 5);
    run(&b, BEFORE, NULL);
    run(&b, 8000, three_percent);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 0);
    teardown(&b);
}
END_TEST

static void is_called(fault *harm, enum ek_class class)
{
    struct bench b;
    setup(&b, 6);
    run(&b, BEFORE, NULL);
    run(&b, 200, harm);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    ck_assert_int_eq(b.last[EK_CONFIRMED].class, class);
    bool counts = ek_class_counts_values(class);
    ck_assert(b.last[EK_CONFIRMED].value_share == (counts ? 1 : 0));
    ck_assert(b.last[EK_CONFIRMED].trained_share < .01);
    teardown(&b);
}

START_TEST(other_faults_have_their_own_names)
{
    is_called(turned, EK_SIGN);
    is_called(zeroed, EK_ZERO);
    is_called(absent, EK_MISSING);
    is_called(stuck, EK_STUCK);
    is_called(squared, EK_POWER);
}
END_TEST

static void recovers(fault *harm, int within)
{
    struct bench b;
    setup(&b, 7);
    run(&b, BEFORE, NULL);
    run(&b, 400, harm);
    ck_assert_int_eq(b.count[EK_RECOVERED], 0);
    run(&b, within, NULL);
    ck_assert_int_eq(b.count[EK_RECOVERED], 1);
    run(&b, 4000, NULL);
    ck_assert_int_eq(b.count[EK_SUSPECTED] - b.count[EK_DISMISSED] - b.count[EK_RECOVERED], 0);
    teardown(&b);
}

START_TEST(a_fault_that_ends_recovers)
{
    recovers(cents, 20);
    recovers(cents_in_arm_b, 40);
    recovers(full_stay, 60);
    recovers(absent, 200);
}
END_TEST

START_TEST(a_list_repeated_is_no_new_evidence)
{
    struct bench b;
    setup(&b, 8);
    run(&b, BEFORE, NULL);
    struct ek_list *q = stream_next(&b.world.stream);
    stream_scale(q, 0, 100);
    for (int i = 0; i < 300; i++)
        observe(&b, q);
    ck_assert_int_eq(b.count[EK_SUSPECTED], 0);
    ck_assert_uint_eq(ek_detector_list_count(b.detector), BEFORE + 300);
    teardown(&b);
}
END_TEST

/* Run lists that share their query feature, and lists that share their item ids. */
static void run_same(struct bench *b, int same_ids)
{
    for (int i = 0; i < 500; i++) {
        struct ek_list *q = stream_next(&b->world.stream);
        stream_scale(q, 0, 100);
        q->query[0] = same_ids ? (float)(1 + i) : 3;
        for (int k = 0; same_ids && k < q->items; k++)
            q->item_id[k] = stream_text("h");
        q->items = same_ids ? 5 : q->items;
        observe(b, q);
    }
}

START_TEST(what_counts_as_the_same_list_is_what_the_rules_say)
{
    static const char *const same[] = {"[query_features]", "[items.id]",
                                       "[query_features, items.id]", "[]"};
    for (int by = 0; by < 4; by++)
        for (int ids = 0; ids < 2; ids++) {
            char rules[100];
            struct bench b;
            snprintf(rules, sizeof rules, "version: 1\ndefaults: {dedup_key: %s}\n", same[by]);
            setup_with(&b, 16, rules);
            run_same(&b, ids);
            ck_assert_int_eq(b.count[EK_CONFIRMED], by != ids);
            uint64_t repeats = ek_detector_limit_counters(b.detector).count[EK_BOUND_REPEATS];
            ck_assert_int_eq(repeats > 0, by == ids);
            teardown(&b);
        }
}
END_TEST

START_TEST(empty_lists_and_strange_values_are_no_evidence_and_no_harm)
{
    struct bench b;
    setup(&b, 9);
    for (int i = 0; i < 500; i++) {
        struct ek_list *q = stream_next(&b.world.stream);
        if (i % 5 == 0)
            q->items = 0;
        else if (i % 50 == 1)
            q->x[0] = INFINITY;
        else if (i % 50 == 2)
            q->x[0] = 1e-42f;
        observe(&b, q);
    }
    ck_assert_int_eq(b.count[EK_CONFIRMED], 0);
    teardown(&b);
}
END_TEST

START_TEST(a_list_of_another_shape_is_refused_and_not_counted)
{
    struct bench b;
    struct ek_error e;
    setup(&b, 10);
    struct ek_list *q = stream_next(&b.world.stream);
    q->item_features = 2;
    ck_assert_int_eq(ek_detector_observe(b.detector, q, 0, &e), EK_ESTATE);
    ck_assert_uint_eq(ek_detector_list_count(b.detector), 0);
    q->item_features = 3;
    teardown(&b);
}
END_TEST

START_TEST(the_same_stream_gives_the_same_findings)
{
    struct bench a, b;
    setup(&a, 11);
    setup(&b, 11);
    run(&a, BEFORE, NULL);
    run(&b, BEFORE, NULL);
    run(&a, 700, cents_in_arm_b);
    run(&b, 700, cents_in_arm_b);
    ck_assert_int_eq(a.count[EK_UPDATED], b.count[EK_UPDATED]);
    ck_assert(a.last[EK_UPDATED].factor == b.last[EK_UPDATED].factor);
    ck_assert_uint_eq(a.last[EK_CONFIRMED].query, b.last[EK_CONFIRMED].query);
    teardown(&a);
    teardown(&b);
}
END_TEST

/* A second dimension, drawn from the stream: app 7.1 or 7.2. */
static int app_71(struct ek_list *q)
{
    int new = q->x[0] * 1000 - floorf(q->x[0] * 1000) < .5f;
    q->segments[1] = (struct ek_segment){stream_text("app"), stream_text(new ? "7.1" : "7.2")};
    q->segment_count = 2;
    return new;
}

static void two_dimensions(struct bench *b, struct ek_list *q)
{
    (void)b;
    app_71(q);
}

static void cents_in_arm_b_of_app_71(struct bench *b, struct ek_list *q)
{
    if (app_71(q) && b->world.stream.arm_b)
        stream_scale(q, 0, 100);
}

START_TEST(a_fault_where_two_dimensions_meet_is_confirmed_once_and_not_passed_round)
{
    struct bench b;
    setup_with(&b, 12, "version: 1\nsegments: [arm, app]\n");
    run(&b, BEFORE, two_dimensions);
    run(&b, 1500, cents_in_arm_b_of_app_71);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    ck_assert_int_eq(b.last[EK_CONFIRMED].class, EK_SCALE);
    ck_assert_ptr_nonnull(b.last[EK_CONFIRMED].dimension);
    ck_assert_int_lt((int)b.last[EK_CONFIRMED].query, BEFORE + 400);
    ck_assert_int_le(b.count[EK_SUSPECTED], 5);
    ck_assert_int_ge(b.count[EK_UPDATED], 1);
    teardown(&b);
}
END_TEST

/* Run faulty lists. After a confirmation, arm `arm` (0: both) always has a finding of its own or of
 * all traffic. */
static void stays_in_force(struct bench *b, int lists, fault *harm, char arm)
{
    for (int i = 0; i < lists; i++) {
        run(b, 1, harm);
        int a_has = b->told[0] || b->told[1], b_has = b->told[0] || b->told[2];
        if (b->count[EK_CONFIRMED])
            ck_assert_msg((arm == 'B' || a_has) && b_has, "list %d: an arm lost its finding", i);
    }
}

START_TEST(a_fault_that_ends_for_one_arm_only_goes_on_in_the_other)
{
    struct bench b;
    setup(&b, 13);
    run(&b, BEFORE, NULL);
    stays_in_force(&b, 2000, cents, 0);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    uint32_t cause = b.last[EK_CONFIRMED].cause;
    stays_in_force(&b, 60, cents_in_arm_b, 'B');
    ck_assert_int_eq(b.count[EK_CONFIRMED], 2);
    ck_assert_str_eq(b.last[EK_CONFIRMED].value, "B");
    ck_assert_str_eq(b.last[EK_DISMISSED].reason, "goes on in a segment");
    ck_assert_ptr_null(b.last[EK_DISMISSED].value);
    ck_assert(b.last[EK_CONFIRMED].since_query < BEFORE + 10);
    ck_assert_uint_eq(b.last[EK_CONFIRMED].cause, cause);
    stays_in_force(&b, 3000, cents_in_arm_b, 'B');
    ck_assert_int_eq(b.count[EK_CONFIRMED], 2);
    ck_assert_int_eq(b.count[EK_RECOVERED], 0);
    run(&b, 60, NULL);
    ck_assert_int_eq(b.count[EK_RECOVERED], 1);
    teardown(&b);
}
END_TEST

START_TEST(a_fault_of_one_arm_that_spreads_to_all_is_told_of_all_without_a_gap)
{
    struct bench b;
    setup(&b, 17);
    run(&b, BEFORE, NULL);
    stays_in_force(&b, 1000, cents_in_arm_b, 'B');
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    stays_in_force(&b, 1000, cents, 'B');
    ck_assert_int_eq(b.count[EK_CONFIRMED], 2);
    ck_assert_ptr_null(b.last[EK_CONFIRMED].value);
    ck_assert(b.told[0] && !b.told[2]);
    ck_assert_int_eq(b.count[EK_RECOVERED], 0);
    run(&b, 60, NULL);
    ck_assert_int_eq(b.count[EK_RECOVERED], 1);
    run(&b, 4000, NULL);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 2);
    teardown(&b);
}
END_TEST

/* Arms A and B, then C and D, four lists each. The lists of D have no arm in `nameless` traffic. */
static int of_four_arms(struct bench *b, struct ek_list *q, bool nameless)
{
    static const char *const names[] = {"A", "B", "C", "D"};
    uint64_t n = b->world.stream.number;
    int arm = (int)(n / 4 % 2 * 2 + n % 2);
    q->segments[0].value = stream_text(names[arm]);
    q->segment_count = nameless && arm == 3 ? 0 : 1;
    return arm;
}

static void four_arms(struct bench *b, struct ek_list *q)
{
    of_four_arms(b, q, false);
}

static void cents_in_four_arms(struct bench *b, struct ek_list *q)
{
    of_four_arms(b, q, false);
    cents(b, q);
}

static void cents_in_c_and_d(struct bench *b, struct ek_list *q)
{
    if (of_four_arms(b, q, false) >= 2)
        cents(b, q);
}

static void three_arms(struct bench *b, struct ek_list *q)
{
    of_four_arms(b, q, true);
}

static void cents_in_three_arms(struct bench *b, struct ek_list *q)
{
    of_four_arms(b, q, true);
    cents(b, q);
}

static void cents_without_a_and_b(struct bench *b, struct ek_list *q)
{
    if (of_four_arms(b, q, true) >= 2)
        cents(b, q);
}

/* Run lists, of which those of C and D are faulty. Each must have a finding. */
static void c_and_d_stay_in_force(struct bench *b, int lists, fault *harm)
{
    for (int i = 0; i < lists; i++) {
        int count;
        run(b, 1, harm);
        const int16_t *cells = ek_detector_cells(b->detector, &count);
        if (b->world.stream.number / 4 % 2 == 0)
            continue;
        ck_assert_msg(ek_detector_has_open(b->detector, 0, 0) ||
                          (cells[1] >= 0 && ek_detector_has_open(b->detector, 0, cells[1])),
                      "list %d has no finding", i);
    }
}

START_TEST(a_fault_that_ends_in_two_of_four_arms_goes_on_in_both_others)
{
    struct bench b;
    setup(&b, 13);
    run(&b, BEFORE, four_arms);
    run(&b, 400, cents_in_four_arms);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    ck_assert_ptr_null(b.last[EK_CONFIRMED].value);
    c_and_d_stay_in_force(&b, 400, cents_in_c_and_d);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 3);
    ck_assert(!ek_detector_has_open(b.detector, 0, 0));
    run(&b, 200, four_arms);
    ck_assert_int_eq(b.count[EK_RECOVERED], 2);
    teardown(&b);
}
END_TEST

START_TEST(a_fault_that_goes_on_in_lists_without_an_arm_stays_one_of_all_traffic)
{
    struct bench b;
    setup(&b, 13);
    run(&b, BEFORE, three_arms);
    run(&b, 400, cents_in_three_arms);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    c_and_d_stay_in_force(&b, 400, cents_without_a_and_b);
    run(&b, 200, three_arms);
    ck_assert_int_eq(b.count[EK_RECOVERED], 1);
    teardown(&b);
}
END_TEST

static void absent_in_arm_b(struct bench *b, struct ek_list *q)
{
    if (b->world.stream.arm_b)
        absent(b, q);
}

START_TEST(a_fault_without_a_level_that_ends_for_one_arm_goes_on_in_the_other)
{
    struct bench b;
    setup(&b, 18);
    run(&b, BEFORE, NULL);
    stays_in_force(&b, 1000, absent, 0);
    stays_in_force(&b, 1000, absent_in_arm_b, 'B');
    ck_assert_int_eq(b.count[EK_CONFIRMED], 2);
    ck_assert_str_eq(b.last[EK_CONFIRMED].value, "B");
    ck_assert_int_eq(b.last[EK_CONFIRMED].class, EK_MISSING);
    ck_assert_int_eq(b.count[EK_RECOVERED], 0);
    teardown(&b);
}
END_TEST

/* In random lists, so that some dozens in a row can have all values. */
static void absent_in_an_eighth(struct bench *b, struct ek_list *q)
{
    uint64_t mixed = b->world.stream.number * 0x9e3779b97f4a7c15U;
    if ((mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9U >> 61 == 0)
        absent(b, q);
}

static void third_more(struct bench *b, struct ek_list *q)
{
    (void)b;
    stream_scale(q, 1, 1.3);
}

static void third_more_in_arm_b(struct bench *b, struct ek_list *q)
{
    if (b->world.stream.arm_b)
        third_more(b, q);
}

/* A fault that spreads from arm B to all traffic and then ends in arm A. */
static void spreads_and_returns(struct bench *b, uint64_t seed, fault *all, fault *arm_b)
{
    setup(b, seed);
    run(b, BEFORE, NULL);
    stays_in_force(b, 1000, arm_b, 'B');
    ck_assert_int_eq(b->count[EK_CONFIRMED], 1);
    stays_in_force(b, 2000, all, 'B');
    ck_assert_int_eq(b->count[EK_CONFIRMED], 2);
    ck_assert_ptr_null(b->last[EK_CONFIRMED].value);
    stays_in_force(b, 1000, arm_b, 'B');
    ck_assert_int_eq(b->count[EK_CONFIRMED], 3);
    ck_assert_str_eq(b->last[EK_CONFIRMED].value, "B");
    ck_assert_int_eq(b->count[EK_RECOVERED], 0);
    ck_assert(!b->told[0] && !b->told[1] && b->told[2]);
}

START_TEST(a_fault_that_spread_from_an_arm_returns_to_it_without_a_level)
{
    struct bench b;
    spreads_and_returns(&b, 20, absent, absent_in_arm_b);
    ck_assert_int_eq(b.last[EK_CONFIRMED].class, EK_MISSING);
    teardown(&b);
}
END_TEST

/* The lists of arm B before the change of all traffic are no healthy ones. */
START_TEST(a_fault_that_returns_to_its_arm_keeps_its_factor)
{
    struct bench b;
    spreads_and_returns(&b, 21, third_more, third_more_in_arm_b);
    ck_assert_double_eq_tol(b.last[EK_CONFIRMED].factor, 1.3, .05);
    teardown(&b);
}
END_TEST

START_TEST(a_loss_in_a_part_of_the_lists_is_one_finding_until_it_ends)
{
    struct bench b;
    setup(&b, 22);
    run(&b, BEFORE, NULL);
    run(&b, 20000, absent_in_an_eighth);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    ck_assert_uint_lt(b.last[EK_CONFIRMED].query, BEFORE + 600);
    ck_assert_int_eq(b.count[EK_RECOVERED], 0);
    run(&b, 400, NULL);
    ck_assert_int_eq(b.count[EK_RECOVERED], 1);
    teardown(&b);
}
END_TEST

/* Some of the items are cheaper, as in a sale. */
static void a_sale(struct bench *b, struct ek_list *q)
{
    for (int i = 0; i < q->items; i++)
        if ((b->world.stream.number * 7 + (uint64_t)i * 13) % 10 < 3)
            q->x[i * q->item_features] *= .72F;
}

START_TEST(a_sale_does_not_pass_from_one_segment_to_another)
{
    struct bench b;
    setup(&b, 18);
    run(&b, BEFORE, NULL);
    run(&b, 12000, a_sale);
    ck_assert_int_le(b.count[EK_CONFIRMED], 3);
    teardown(&b);
}
END_TEST

/* One list in a hundred is of arm C. */
static int of_arm_c(struct bench *b, struct ek_list *q)
{
    int rare = b->world.stream.number % 100 == 0;
    if (rare)
        q->segments[0].value = stream_text("C");
    return rare;
}

static void a_rare_arm(struct bench *b, struct ek_list *q)
{
    of_arm_c(b, q);
}

static void turned_in_a_rare_arm(struct bench *b, struct ek_list *q)
{
    if (of_arm_c(b, q))
        turned(b, q);
}

START_TEST(a_change_of_one_arm_that_returns_in_all_traffic_reopens_its_incident)
{
    struct bench b;
    setup(&b, 19);
    run(&b, BEFORE, NULL);
    run(&b, 600, absent_in_arm_b);
    run(&b, 600, NULL);
    ck_assert_int_eq(b.count[EK_RECOVERED], 1);
    ck_assert_str_eq(b.last[EK_RECOVERED].value, "B");
    run(&b, 600, absent);
    ck_assert_ptr_null(b.last[EK_CONFIRMED].value);
    ck_assert_uint_eq(b.last[EK_CONFIRMED].cause, 1);
    teardown(&b);
}
END_TEST

START_TEST(a_fault_of_a_rare_segment_value_recovers_as_well)
{
    struct bench b;
    setup(&b, 14);
    run(&b, BEFORE, a_rare_arm);
    run(&b, 9000, turned_in_a_rare_arm);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    ck_assert_str_eq(b.last[EK_CONFIRMED].value, "C");
    ck_assert_int_eq(b.count[EK_RECOVERED], 0);
    run(&b, 20000, a_rare_arm);
    ck_assert_int_eq(b.count[EK_RECOVERED], 1);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    teardown(&b);
}
END_TEST

/* Sizes have a steady level, so that 64 lists distinguish 8% from no change. */
static void eight_percent_of_size(struct bench *b, struct ek_list *q)
{
    (void)b;
    stream_scale(q, 1, 1.08);
}

static void half_absent(struct bench *b, struct ek_list *q)
{
    (void)b;
    for (int i = 0; i < q->items; i += 2)
        q->x[3 * i + 1] = NAN;
}

START_TEST(a_drift_below_min_effect_does_not_keep_another_fault_open)
{
    struct bench b;
    setup(&b, 15);
    run(&b, BEFORE, NULL);
    run(&b, 400, half_absent);
    ck_assert_int_eq(b.last[EK_CONFIRMED].class, EK_MISSING);
    run(&b, 400, eight_percent_of_size);
    ck_assert_int_eq(b.count[EK_RECOVERED], 1);
    teardown(&b);
}
END_TEST

START_TEST(a_list_without_nights_does_not_hide_that_the_factor_is_the_nights)
{
    struct bench b;
    setup(&b, 4);
    run(&b, BEFORE, NULL);
    for (int i = 0; i < 400; i++) {
        struct ek_list *q = stream_next(&b.world.stream);
        full_stay(&b, q);
        if (i % 50 == 7)
            q->query[0] = i % 100 == 7 ? NAN : INFINITY;
        observe(&b, q);
    }
    ck_assert_int_eq(b.last[EK_CONFIRMED].query_feature, 0);
    teardown(&b);
}
END_TEST

Suite *suite_detector(void)
{
    return ek_suite(
        "detector", calm_traffic_raises_nothing,
        a_small_shift_of_all_traffic_is_followed_in_silence,
        cents_are_found_within_ten_lists_and_named,
        cents_stay_in_the_interval_while_the_traffic_is_cheaper,
        a_large_fault_is_confirmed_within_fifty_lists, a_factor_of_one_over_the_nights_is_named_so,
        a_factor_that_follows_the_nights_is_named_so_for_good, the_factor_settles_and_stays,
        a_change_that_returns_reopens_its_incident,
        a_change_that_returns_within_the_history_reopens_its_incident,
        a_return_counts_from_its_first_list,
        a_change_that_returns_joins_its_incident_while_that_is_open,
        a_change_of_one_arm_that_returns_in_all_traffic_reopens_its_incident,
        the_order_of_the_items_is_no_fault,
        a_large_fault_of_a_rare_arm_is_confirmed_by_a_dozen_lists,
        a_fault_of_one_arm_is_never_put_on_all_traffic, a_fault_of_one_arm_is_put_on_the_arm,
        a_factor_that_follows_the_nights_is_named_so, a_code_of_the_query_is_no_factor,
        a_query_feature_that_always_went_with_the_value_is_no_factor,
        what_is_below_min_effect_is_not_told, other_faults_have_their_own_names,
        a_fault_that_ends_recovers, a_list_repeated_is_no_new_evidence,
        what_counts_as_the_same_list_is_what_the_rules_say,
        empty_lists_and_strange_values_are_no_evidence_and_no_harm,
        a_list_of_another_shape_is_refused_and_not_counted, the_same_stream_gives_the_same_findings,
        a_fault_where_two_dimensions_meet_is_confirmed_once_and_not_passed_round,
        a_fault_that_ends_for_one_arm_only_goes_on_in_the_other,
        a_fault_that_ends_in_two_of_four_arms_goes_on_in_both_others,
        a_fault_that_goes_on_in_lists_without_an_arm_stays_one_of_all_traffic,
        a_fault_of_one_arm_that_spreads_to_all_is_told_of_all_without_a_gap,
        a_fault_without_a_level_that_ends_for_one_arm_goes_on_in_the_other,
        a_fault_that_spread_from_an_arm_returns_to_it_without_a_level,
        a_fault_that_returns_to_its_arm_keeps_its_factor,
        a_loss_in_a_part_of_the_lists_is_one_finding_until_it_ends,
        a_sale_does_not_pass_from_one_segment_to_another,
        a_fault_of_a_rare_segment_value_recovers_as_well,
        a_drift_below_min_effect_does_not_keep_another_fault_open,
        a_list_without_nights_does_not_hide_that_the_factor_is_the_nights);
}
