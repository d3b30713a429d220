/* Lasting changes: updates while they grow, merge with others, or lose lists. */
#include "detect/detector_internal.h"
#include "tests/detector.h"

/* Grows to twice the value over 6,000 lists. */
static void growing(struct bench *b, struct ek_list *q)
{
    double done = ((double)b->world.stream.number - BEFORE) / 6000;
    stream_scale(q, 0, exp2(done < 1 ? done : 1));
}

START_TEST(a_slow_change_of_all_traffic_is_told_of_all_whichever_arm_is_seen_first)
{
    for (uint64_t seed = 40; seed < 52; seed++) {
        struct bench b;
        setup(&b, seed);
        run(&b, BEFORE, NULL);
        run(&b, 6500, growing);
        ck_assert_msg(b.told[0] && !b.told[1] && !b.told[2], "seed %d: all %d, A %d, B %d",
                      (int)seed, b.told[0], b.told[1], b.told[2]);
        teardown(&b);
    }
}
END_TEST

START_TEST(another_class_is_told_when_two_diagnoses_in_a_row_say_so)
{
    struct bench b;
    setup(&b, 53);
    run(&b, BEFORE, NULL);
    run(&b, 600, turned);
    ck_assert_int_eq(b.last[EK_CONFIRMED].class, EK_SIGN);
    int updates = b.count[EK_UPDATED];
    while (b.count[EK_UPDATED] == updates)
        run(&b, 1, absent);
    ck_assert_int_eq(b.last[EK_UPDATED].class, EK_SIGN);
    run(&b, 1200, absent);
    ck_assert_int_eq(b.last[EK_UPDATED].class, EK_MISSING);
    teardown(&b);
}
END_TEST

static void cents_and_some_zeros(struct bench *b, struct ek_list *q)
{
    stream_scale(q, 0, b->world.stream.arm_b ? 0 : 100);
}

START_TEST(a_second_fault_of_one_arm_does_not_take_the_scale_of_the_others_away)
{
    struct bench b;
    setup(&b, 61);
    run(&b, BEFORE, NULL);
    run(&b, 1000, cents);
    ck_assert(b.told[0] && b.last[EK_CONFIRMED].class == EK_SCALE);
    for (int i = 0; i < 1500; i++) {
        run(&b, 1, cents_and_some_zeros);
        ck_assert_msg(b.told[0] || b.told[1], "arm A is without a finding, list %d", i);
    }
    ck_assert_int_eq(b.last[EK_UPDATED].class, EK_SCALE);
    teardown(&b);
}
END_TEST

/* Run lists of arm A only. */
static void run_arm_a(struct bench *b, int lists)
{
    while (lists) {
        struct ek_list *q = stream_next(&b->world.stream);
        if (b->world.stream.arm_b)
            continue;
        observe(b, q);
        lists--;
    }
}

START_TEST(a_change_whose_lists_stop_recovers_and_returns_in_its_incident)
{
    struct bench b;
    setup(&b, 62);
    run(&b, BEFORE, NULL);
    run(&b, 1000, cents_in_arm_b);
    ck_assert(b.told[2]);
    uint32_t incident = b.last[EK_CONFIRMED].cause;
    run_arm_a(&b, 100);
    ck_assert(b.told[2]);
    run_arm_a(&b, 1500);
    ck_assert(!b.told[2]);
    ck_assert_str_eq(b.last[EK_RECOVERED].reason, "no such lists any more");
    run(&b, 1000, cents_in_arm_b);
    ck_assert(b.told[2]);
    ck_assert_uint_eq(b.last[EK_CONFIRMED].cause, incident);
    teardown(&b);
}
END_TEST

enum {
    LONG = 9000, /* lists after which few updates need a new diagnosis */
    UPDATE_LISTS = 256,
    MEASURED_LISTS = 320
};

static void thousandfold(struct bench *b, struct ek_list *q)
{
    (void)b;
    stream_scale(q, 0, 1000);
}

START_TEST(a_factor_that_changes_after_long_is_told_as_soon_as_ever)
{
    for (uint64_t seed = 63; seed < 66; seed++) {
        struct bench b;
        setup(&b, seed);
        run(&b, BEFORE, NULL);
        run(&b, LONG, cents);
        ck_assert_double_eq_tol(b.last[EK_UPDATED].factor, 100, 10);
        run(&b, UPDATE_LISTS + MEASURED_LISTS, thousandfold);
        ck_assert_double_eq_tol(b.last[EK_UPDATED].factor, 1000, 100);
        teardown(&b);
    }
}
END_TEST

START_TEST(another_class_after_long_is_told_with_the_second_update)
{
    for (uint64_t seed = 66; seed < 69; seed++) {
        struct bench b;
        setup(&b, seed);
        run(&b, BEFORE, NULL);
        run(&b, LONG, turned);
        ck_assert_int_eq(b.last[EK_UPDATED].class, EK_SIGN);
        run(&b, 3 * UPDATE_LISTS, absent);
        ck_assert_int_eq(b.last[EK_UPDATED].class, EK_MISSING);
        teardown(&b);
    }
}
END_TEST

START_TEST(a_steady_change_is_updated_ever_less_often)
{
    struct bench b;
    setup(&b, 69);
    run(&b, BEFORE, NULL);
    run(&b, LONG, cents);
    int until_then = b.count[EK_UPDATED];
    run(&b, LONG, cents);
    ck_assert_int_ge(until_then, 2);
    ck_assert_int_le(b.count[EK_UPDATED] - until_then, 8);
    teardown(&b);
}
END_TEST

/* One list in fifty is of arm C. */
static void a_rare_arm(struct bench *b, struct ek_list *q)
{
    if (b->world.stream.number % 50 == 0)
        q->segments[0].value = stream_text("C");
}

static void cents_with_a_rare_arm(struct bench *b, struct ek_list *q)
{
    a_rare_arm(b, q);
    cents(b, q);
}

/* The first lists of a fault are evidence in their segments too, before its finding claims them. */
START_TEST(evidence_of_a_fault_that_has_ended_is_dropped_in_its_segments)
{
    struct bench b;
    setup(&b, 62);
    run(&b, BEFORE, a_rare_arm);
    b.world.stream.number = 999; /* the next list is of arm C */
    run(&b, 400, cents_with_a_rare_arm);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    while (!b.count[EK_RECOVERED])
        run(&b, 1, a_rare_arm);
    for (int cell = 1; cell < ek_cells_count(b.detector->cells); cell++)
        for (int bet = 0; bet < EK_BETS; bet++)
            ck_assert_float_lt(ek_evidence_r(b.detector->evidence, cell, 0)[bet], 2);
    teardown(&b);
}
END_TEST

Suite *suite_lasting(void)
{
    return ek_suite("lasting",
                    a_slow_change_of_all_traffic_is_told_of_all_whichever_arm_is_seen_first,
                    another_class_is_told_when_two_diagnoses_in_a_row_say_so,
                    a_second_fault_of_one_arm_does_not_take_the_scale_of_the_others_away,
                    evidence_of_a_fault_that_has_ended_is_dropped_in_its_segments,
                    a_steady_change_is_updated_ever_less_often,
                    a_change_whose_lists_stop_recovers_and_returns_in_its_incident,
                    a_factor_that_changes_after_long_is_told_as_soon_as_ever,
                    another_class_after_long_is_told_with_the_second_update);
}
