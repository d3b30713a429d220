/* The decision table of repairs: which mitigation for which finding. */
#include "plan/policy.h"
#include "tests/check.h"

#include <math.h>

static const struct ek_unit CENTS = {.id = "cents", .factor = 100},
                            MILES = {.id = "mi_to_km", .factor = 1.609344},
                            NEAR = {.id = "near", .factor = 1.6};

struct table {
    struct ek_baseline baseline;
    struct ek_profile profile;
    struct ek_finding f;
};

static struct table *start(struct table *t, enum ek_class class, double factor, double error)
{
    *t = (struct table){.baseline = {.sd = 1, .log_sd = 1.2f}};
    t->profile.baseline = &t->baseline;
    t->f = (struct ek_finding){.class = class,
                               .factor = factor,
                               .factor_low = factor / (1 + error),
                               .factor_high = factor * (1 + error),
                               .share = 1,
                               .query_feature = -1};
    return t;
}

static void add_unit(struct table *t, const struct ek_unit *unit, int listed, enum ek_unit_fit fit)
{
    t->f.unit[t->f.unit_count++] = (struct ek_unit_match){unit, listed, fit};
}

static void check(const struct table *t, enum ek_repair_by by, double number, bool exact)
{
    struct ek_plan_repair r = ek_repair_decide(EK_ACT_AUTO, &t->f, &t->profile, false);
    ck_assert_int_eq(r.by, by);
    if (by == EK_REPAIR_UNKNOWN)
        return;
    ck_assert_double_eq(r.number, number);
    ck_assert_int_eq(r.exact, exact);
}

START_TEST(a_unit_of_the_feature_is_divided_out_exactly)
{
    struct table t;
    add_unit(start(&t, EK_SCALE, 100.3, .015), &CENTS, 1, EK_UNIT_OTHER);
    check(&t, EK_REPAIR_NUMBER, 100, true);
    t.f.unit[0] = (struct ek_unit_match){&CENTS, 0, EK_UNIT_QUANTITY};
    check(&t, EK_REPAIR_NUMBER, 100, true);
    t.baseline.sd = .2f; /* lists differ less than the fault */
    check(&t, EK_REPAIR_LIST, 100, true);
}
END_TEST

/* Users choose the values of a query feature. */
START_TEST(of_a_query_feature_only_a_unit_is_undone)
{
    static const struct ek_unit hours = {.id = "days_to_hours", .factor = 24};
    uint8_t known = 14;
    struct table t;
    struct ek_plan_repair r;
    start(&t, EK_SCALE, 24.1, .05);
    t.profile.known_count = &known;
    r = ek_repair_decide(EK_ACT_AUTO, &t.f, &t.profile, true);
    ck_assert_int_eq(r.by, EK_REPAIR_UNKNOWN);
    add_unit(&t, &hours, 0, EK_UNIT_QUANTITY);
    r = ek_repair_decide(EK_ACT_AUTO, &t.f, &t.profile, true);
    ck_assert_int_eq(r.by, EK_REPAIR_LIST);
    ck_assert_double_eq(r.number, 24);
    ck_assert(r.exact);
    t.f.unit[0].unit = &MILES; /* users may search farther */
    r = ek_repair_decide(EK_ACT_AUTO, &t.f, &t.profile, true);
    ck_assert_int_eq(r.by, EK_REPAIR_UNKNOWN);
    t.f.unit[0].listed = 1;
    r = ek_repair_decide(EK_ACT_AUTO, &t.f, &t.profile, true);
    ck_assert_double_eq(r.number, 1.609344);
    t.f.unit[0] = (struct ek_unit_match){&hours, 0, EK_UNIT_QUANTITY};
    known = 0; /* lists do not show it by their values */
    t.baseline.sd = .65f;
    ck_assert_int_eq(ek_repair_decide(EK_ACT_AUTO, &t.f, &t.profile, true).by, EK_REPAIR_NUMBER);
    t.f.share = .5;
    ck_assert_int_eq(ek_repair_decide(EK_ACT_AUTO, &t.f, &t.profile, true).by, EK_REPAIR_LIST);
    t.baseline.sd = 4;
    ck_assert_int_eq(ek_repair_decide(EK_ACT_AUTO, &t.f, &t.profile, true).by, EK_REPAIR_UNKNOWN);
    t.f.varies = 1;
    known = 14;
    ck_assert_int_eq(ek_repair_decide(EK_ACT_AUTO, &t.f, &t.profile, true).by, EK_REPAIR_UNKNOWN);
}
END_TEST

/* Estimates are a bin of .02 (ln) apart; 101.2 (100.25 to 102.7) is x100 of a steady feature. */
START_TEST(a_unit_within_the_bin_of_the_estimate_is_the_fault)
{
    static const struct ek_unit percent = {.id = "percent", .factor = 100};
    struct table t;
    add_unit(start(&t, EK_SCALE, 101.2, .01), &percent, 0, EK_UNIT_QUANTITY);
    t.f.factor_low = 100.25;
    check(&t, EK_REPAIR_NUMBER, 100, true);
    t.f.factor = 103;
    check(&t, EK_REPAIR_NUMBER, 103, false);
}
END_TEST

START_TEST(a_unit_by_chance_is_the_fault_only_alone_in_a_narrow_interval)
{
    struct table t;
    add_unit(start(&t, EK_SCALE, 1.62, .05), &MILES, 0, EK_UNIT_ANY);
    check(&t, EK_REPAIR_NUMBER, 1.62, false);
    t.f.factor = 1.620049; /* of another measurement */
    check(&t, EK_REPAIR_NUMBER, 1.62, false);
    t.f.factor = 13703.9;
    check(&t, EK_REPAIR_LIST, 13700, false);
    t.f.factor = .0820317;
    check(&t, EK_REPAIR_NUMBER, .08203, false);
    add_unit(start(&t, EK_SCALE, 1.61, .009), &MILES, 0, EK_UNIT_ANY);
    check(&t, EK_REPAIR_NUMBER, 1.609344, true);
    add_unit(&t, &NEAR, 0, EK_UNIT_ANY);
    check(&t, EK_REPAIR_NUMBER, 1.61, false);
    add_unit(start(&t, EK_SCALE, 94, .05), &CENTS, 1, EK_UNIT_SAME); /* a little outside */
    check(&t, EK_REPAIR_NUMBER, 100, true);
    add_unit(start(&t, EK_SCALE, 94, .05), &CENTS, 0, EK_UNIT_ANY);
    check(&t, EK_REPAIR_NUMBER, 94, false);
}
END_TEST

/* x10 is no year instead of a month. */
START_TEST(a_unit_of_the_quantity_is_the_fault_only_in_the_interval)
{
    static const struct ek_unit year = {.id = "month_to_year", .factor = 12};
    struct table t;
    add_unit(start(&t, EK_SCALE, 9.8, .19), &year, 0, EK_UNIT_QUANTITY);
    check(&t, EK_REPAIR_NUMBER, 9.8, false);
    add_unit(start(&t, EK_SCALE, 11.2, .19), &year, 0, EK_UNIT_QUANTITY);
    check(&t, EK_REPAIR_NUMBER, 12, true);
}
END_TEST

START_TEST(a_wide_interval_puts_lists_on_the_usual_level)
{
    struct table t;
    check(start(&t, EK_SCALE, 3, .5), EK_REPAIR_LEVEL, 1, false);
    t.f.factor_low = t.f.factor_high = NAN;
    check(&t, EK_REPAIR_LEVEL, 1, false);
    start(&t, EK_SCALE, 100, .3)->f.share = .3; /* only lists that show it */
    check(&t, EK_REPAIR_LEVEL, 100, false);
    start(&t, EK_SCALE, 1.5, .3)->f.share = .3;
    check(&t, EK_REPAIR_UNKNOWN, 0, false);
}
END_TEST

START_TEST(lists_with_factors_of_their_own_get_the_usual_level)
{
    struct table t;
    add_unit(start(&t, EK_SCALE, 100, .01), &CENTS, 1, EK_UNIT_SAME);
    t.f.varies = 1;
    check(&t, EK_REPAIR_LEVEL, 1, false);
    t.f.share = .4; /* lists need not show the fault */
    check(&t, EK_REPAIR_LEVEL, 1, false);
}
END_TEST

START_TEST(a_query_feature_is_the_divisor)
{
    struct table t;
    start(&t, EK_SCALE, 3, .5)->f.query_feature = 2;
    struct ek_plan_repair r = ek_repair_decide(EK_ACT_AUTO, &t.f, &t.profile, false);
    ck_assert_int_eq(r.by, EK_REPAIR_QUERY_FEATURE);
    ck_assert_int_eq(r.query_feature, 2);
}
END_TEST

START_TEST(some_lists_are_repaired_only_if_lists_show_the_fault)
{
    struct table t;
    start(&t, EK_SCALE, 1e4, .1)->f.share = .4;
    check(&t, EK_REPAIR_LIST, 1e4, false);
    start(&t, EK_SCALE, 1.5, .03)->f.share = .4;
    check(&t, EK_REPAIR_UNKNOWN, 0, false);
}
END_TEST

START_TEST(items_are_repaired_only_if_items_show_the_fault)
{
    struct table t;
    add_unit(start(&t, EK_ITEMS, 100.3, .015), &CENTS, 1, EK_UNIT_SAME);
    check(&t, EK_REPAIR_ITEM, 100, true);
    check(start(&t, EK_ITEMS, 2, .05), EK_REPAIR_UNKNOWN, 0, false);
    check(start(&t, EK_ITEMS, NAN, .05), EK_REPAIR_UNKNOWN, 0, false);
}
END_TEST

START_TEST(only_powers_near_a_simple_one_are_inverted)
{
    struct table t;
    start(&t, EK_POWER, NAN, 0)->f.exponent = 1.98;
    check(&t, EK_REPAIR_POWER, 2, true);
    t.f.exponent = .34;
    check(&t, EK_REPAIR_POWER, 1. / 3, true);
    t.f.exponent = 1.7;
    check(&t, EK_REPAIR_UNKNOWN, 0, false);
    t.f.exponent = 0;
    check(&t, EK_REPAIR_UNKNOWN, 0, false);
}
END_TEST

START_TEST(an_offset_needs_an_amount)
{
    struct table t;
    check(start(&t, EK_OFFSET, NAN, 0), EK_REPAIR_UNKNOWN, 0, false);
    t.f.offset = 273.15;
    t.f.offset_error = .1;
    check(&t, EK_REPAIR_OFFSET, 273.15, false);
    ck_assert_double_eq(ek_repair_decide(EK_ACT_AUTO, &t.f, &t.profile, false).scale, .1);
}
END_TEST

START_TEST(a_sign_is_turned_if_training_leaves_no_doubt)
{
    struct table t;
    check(start(&t, EK_SIGN, NAN, 0), EK_REPAIR_SIGN, 1, true);
    t.f.fewer = 1; /* -1 for a missing value is no 1 */
    check(&t, EK_REPAIR_UNKNOWN, 0, false);
    t.f.fewer = 0;
    t.baseline.share[2] = .005f;
    t.f.value_share = .995;
    check(&t, EK_REPAIR_SIGN, 1, true);
    t.f.value_share = .5; /* the other values have kept their signs */
    check(&t, EK_REPAIR_UNKNOWN, 0, false);
    t.f.value_share = .7;
    t.baseline.share[2] = .3f;
    check(&t, EK_REPAIR_UNKNOWN, 0, false);
}
END_TEST

START_TEST(lost_values_are_filled)
{
    struct table t;
    check(start(&t, EK_MISSING, NAN, 0), EK_REPAIR_MISSING, 1, false);
    t.f.fewer = 1;
    check(&t, EK_REPAIR_UNKNOWN, 0, false);
    check(start(&t, EK_ZERO, NAN, 0), EK_REPAIR_ZERO, 1, false);
    t.baseline.share[1] = .3f;
    check(&t, EK_REPAIR_UNKNOWN, 0, false);
    check(start(&t, EK_STUCK, NAN, 0), EK_REPAIR_ALL, 1, false);
}
END_TEST

START_TEST(faults_without_an_inverse_are_left)
{
    struct table t;
    check(start(&t, EK_CLIP, NAN, 0), EK_REPAIR_UNKNOWN, 0, false);
    check(start(&t, EK_SHAPE, NAN, 0), EK_REPAIR_UNKNOWN, 0, false);
    check(start(&t, EK_NEW_CATEGORY, NAN, 0), EK_REPAIR_UNKNOWN, 0, false);
}
END_TEST

START_TEST(an_action_of_the_rules_limits_the_choice)
{
    struct table t;
    start(&t, EK_SCALE, 100, .01);
    ck_assert_int_eq(ek_repair_decide(EK_ACT_FILL, &t.f, &t.profile, false).by, EK_REPAIR_UNKNOWN);
    ck_assert_int_eq(ek_repair_decide(EK_ACT_REPAIR, &t.f, &t.profile, false).by, EK_REPAIR_NUMBER);
    ck_assert_int_eq(ek_repair_decide(EK_ACT_ROUTE, &t.f, &t.profile, false).by, EK_REPAIR_UNKNOWN);
    struct ek_plan_repair blank = ek_repair_decide(EK_ACT_BLANK, &t.f, &t.profile, false);
    ck_assert_int_eq(ek_repair_action(&blank), EK_ACT_BLANK);
    start(&t, EK_MISSING, NAN, 0);
    ck_assert_int_eq(ek_repair_decide(EK_ACT_REPAIR, &t.f, &t.profile, false).by,
                     EK_REPAIR_UNKNOWN);
    struct ek_plan_repair fill = ek_repair_decide(EK_ACT_FILL, &t.f, &t.profile, false);
    ck_assert_int_eq(ek_repair_action(&fill), EK_ACT_FILL);
    start(&t, EK_ZERO, NAN, 0);
    t.baseline.share[1] = .95f;
    ck_assert_int_eq(ek_repair_decide(EK_ACT_FILL, &t.f, &t.profile, false).by, EK_REPAIR_ZERO);
    t.f.fewer = 1; /* the zeros that are left are genuine */
    ck_assert_int_eq(ek_repair_decide(EK_ACT_FILL, &t.f, &t.profile, false).by, EK_REPAIR_UNKNOWN);
}
END_TEST

Suite *suite_repair_policy(void)
{
    return ek_suite("repair_policy", a_unit_of_the_feature_is_divided_out_exactly,
                    of_a_query_feature_only_a_unit_is_undone,
                    a_unit_by_chance_is_the_fault_only_alone_in_a_narrow_interval,
                    a_unit_within_the_bin_of_the_estimate_is_the_fault,
                    a_unit_of_the_quantity_is_the_fault_only_in_the_interval,
                    a_wide_interval_puts_lists_on_the_usual_level,
                    lists_with_factors_of_their_own_get_the_usual_level,
                    a_query_feature_is_the_divisor,
                    some_lists_are_repaired_only_if_lists_show_the_fault,
                    items_are_repaired_only_if_items_show_the_fault,
                    only_powers_near_a_simple_one_are_inverted, an_offset_needs_an_amount,
                    a_sign_is_turned_if_training_leaves_no_doubt, lost_values_are_filled,
                    faults_without_an_inverse_are_left, an_action_of_the_rules_limits_the_choice);
}
