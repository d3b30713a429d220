/* Faults of one arm besides those of another. */
#include "detect/merge.h"
#include "tests/detector.h"

/* Each list has a currency. */
static void currencies(struct bench *b, struct ek_list *q)
{
    static const double rates[] = {1.3, .7, 1.5, 2, 1.2, .8, 1.8, .6};
    uint64_t mixed = b->world.stream.number * 0x9e3779b97f4a7c15U;
    stream_scale(q, 0, rates[(mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9U >> 61]);
}

static void currencies_in_arm_b(struct bench *b, struct ek_list *q)
{
    if (b->world.stream.arm_b)
        currencies(b, q);
}

/* The old lists of arm A are of the fault, and evidence of no other. */
START_TEST(a_fault_that_ended_in_an_arm_is_found_there_no_second_time)
{
    struct bench b;
    setup(&b, 21);
    run(&b, BEFORE, NULL);
    run(&b, 2000, currencies);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    ck_assert_ptr_null(b.last[EK_CONFIRMED].value);
    run(&b, 3000, currencies_in_arm_b);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 2);
    ck_assert_str_eq(b.last[EK_CONFIRMED].value, "B");
    ck_assert_uint_eq(b.last[EK_CONFIRMED].cause, 1);
    teardown(&b);
}
END_TEST

static bool has_arm(struct bench *b, const char *arm, int feature)
{
    const struct ek_cells *cells = ek_detector_registry(b->detector);
    for (int cell = 1; cell < ek_cells_count(cells); cell++) {
        const char *value = ek_cells_value(cells, cell);
        if (value && !strcmp(value, arm) && ek_detector_has_open(b->detector, feature, cell))
            return true;
    }
    return false;
}

/* Sizes of arm B are in cents in a fifth of the time, and those of a small arm always rise by a
 * little. */
static void sizes_come_and_go(struct bench *b, struct ek_list *q)
{
    uint64_t n = b->world.stream.number;
    if (n % 25 == 3) {
        q->segments[0].value = stream_text("D");
        stream_scale(q, 1, n > BEFORE ? 1.12 : 1);
    } else if (b->world.stream.arm_b && n % 200 < 40)
        stream_scale(q, 1, 100);
}

START_TEST(a_small_fault_of_an_arm_is_found_while_that_of_another_comes_and_goes)
{
    struct bench b;
    setup(&b, 20);
    run(&b, BEFORE, sizes_come_and_go);
    for (int i = 0; i < 4000 && !has_arm(&b, "D", 1); i++)
        run(&b, 1, sizes_come_and_go);
    ck_assert_int_ge(b.count[EK_RECOVERED], 5);
    ck_assert(has_arm(&b, "D", 1));
    teardown(&b);
}
END_TEST

/* Most currencies look normal next to the factor of the diagnosis. */
START_TEST(a_currency_per_list_lasts_until_it_ends)
{
    for (unsigned seed = 3; seed < 8; seed += 2) {
        struct bench b;
        setup(&b, seed);
        run(&b, BEFORE, NULL);
        run(&b, 5000, currencies);
        ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
        ck_assert_int_eq(b.count[EK_RECOVERED], 0);
        run(&b, 200, NULL);
        ck_assert_int_eq(b.count[EK_RECOVERED], 1);
        teardown(&b);
    }
}
END_TEST

Suite *suite_arms(void)
{
    return ek_suite("arms", a_currency_per_list_lasts_until_it_ends,
                    a_fault_that_ended_in_an_arm_is_found_there_no_second_time,
                    a_small_fault_of_an_arm_is_found_while_that_of_another_comes_and_goes);
}
