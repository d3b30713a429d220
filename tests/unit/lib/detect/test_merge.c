/* Merge of two detectors: segments and incidents of their findings. */
#include "detect/merge.h"
#include "detect/evidence_export.h"
#include "tests/detector.h"

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

/* Set up two detectors with two cells for arms each. */
static void setup_parts(struct bench *b, struct bench *other)
{
    struct bench *parts[] = {b, other};
    for (int i = 0; i < 2; i++) {
        setup(parts[i], 23 + (uint64_t)i);
        ek_detector_free(parts[i]->detector);
        ck_assert_int_eq(ek_detector_new_with(&parts[i]->detector, parts[i]->world.manifest,
                                              parts[i]->world.profile, parts[i]->world.rules, 3,
                                              NULL),
                         EK_OK);
    }
}

static void merge(struct bench *b, struct bench *other)
{
    int16_t to[8];
    ck_assert_int_eq(ek_detector_merge(b->detector, other->detector, to), EK_OK);
    teardown(other);
}

static void a_and_d(struct bench *b, struct ek_list *q)
{
    q->segments[0].value = stream_text(b->world.stream.arm_b ? "D" : "A");
}

static void cents_in_d(struct bench *b, struct ek_list *q)
{
    a_and_d(b, q);
    cents_in_arm_b(b, q);
}

START_TEST(a_merged_finding_keeps_its_arm_while_all_cells_are_in_use)
{
    struct bench b, other;
    struct ek_finding f;
    setup_parts(&b, &other);
    run(&b, BEFORE, NULL);
    run(&other, BEFORE, a_and_d);
    run(&other, 400, cents_in_d);
    ck_assert_int_eq(other.count[EK_CONFIRMED], 1);
    merge(&b, &other);
    ck_assert_int_gt(ek_detector_confirmed(b.detector, 0, &f), 0);
    ck_assert_pstr_eq(f.value, "D");
    teardown(&b);
}
END_TEST

START_TEST(a_merged_finding_without_a_cell_is_not_put_on_other_arms)
{
    struct bench b, other;
    struct ek_finding f;
    static const uint8_t held[] = {1, 1, 1};
    setup_parts(&b, &other);
    run(&b, BEFORE, NULL);
    ek_detector_retain_cells(b.detector, held, 3);
    run(&other, BEFORE, a_and_d);
    run(&other, 400, cents_in_d);
    merge(&b, &other);
    ck_assert_int_eq(ek_detector_confirmed(b.detector, 0, &f), 0);
    ck_assert_int_eq(ek_detector_next(b.detector, &f), 1);
    ck_assert_int_eq(f.state, EK_DISMISSED);
    teardown(&b);
}
END_TEST

/* The other part has the first incident of its own. */
START_TEST(an_incident_of_another_part_is_not_one_that_has_ended_here)
{
    struct bench b, other;
    struct ek_finding f;
    setup_parts(&b, &other);
    run(&b, BEFORE, NULL);
    run(&b, 400, cents);
    run(&b, 100, NULL);
    ck_assert_int_eq(b.count[EK_RECOVERED], 1);
    run(&other, BEFORE, NULL);
    run(&other, 400, absent);
    merge(&b, &other);
    ck_assert_int_gt(ek_detector_confirmed(b.detector, 0, &f), 0);
    ck_assert_uint_ne(f.cause, b.last[EK_RECOVERED].cause);
    teardown(&b);
}
END_TEST

START_TEST(a_change_that_returns_after_a_merge_reopens_its_incident)
{
    struct bench b, other;
    setup_parts(&b, &other);
    run(&b, BEFORE, rarely);
    run(&b, 600, cents_rarely);
    run(&b, 1000, rarely);
    ck_assert_int_eq(b.count[EK_RECOVERED], 1);
    run(&other, 5000, NULL); /* earlier, so that all rows here are renumbered */
    merge(&b, &other);
    run(&b, 600, cents_rarely);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 2);
    ck_assert_uint_eq(b.last[EK_CONFIRMED].cause, 1);
    teardown(&b);
}
END_TEST

Suite *suite_merge(void)
{
    return ek_suite("merge", a_merged_finding_keeps_its_arm_while_all_cells_are_in_use,
                    a_merged_finding_without_a_cell_is_not_put_on_other_arms,
                    an_incident_of_another_part_is_not_one_that_has_ended_here,
                    a_change_that_returns_after_a_merge_reopens_its_incident);
}
