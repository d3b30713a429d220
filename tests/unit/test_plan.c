/* The plan: what is in force, since which version, and for which lists. */
#include "decide/plan.h"
#include "tests/check.h"

#include <string.h>

static const struct ek_treatment ROUTE = {EK_ACT_ROUTE, 0};
static const int ROUTABLE_OF_ITEM[] = {0, -1, 1};

START_TEST(a_plan_is_empty_and_of_version_0_at_first)
{
    struct ek_plan p = {0};
    struct ek_treatment t[2];
    int16_t cells[] = {0};
    ck_assert_int_eq(ek_plan_apply(&p, cells, 1, true, ROUTABLE_OF_ITEM, t, 2), 0);
    ck_assert_uint_eq(p.version, 0);
}
END_TEST

START_TEST(an_entry_counts_for_its_cell_only)
{
    struct ek_plan p = {0};
    struct ek_treatment t[2];
    int16_t in_arm_b[] = {0, 2}, in_arm_a[] = {0, 1}, without_arm[] = {0, -1};
    ek_plan_set(&p, 2, 2, ROUTE, 10);
    ck_assert_int_eq(ek_plan_apply(&p, in_arm_b, 2, true, ROUTABLE_OF_ITEM, t, 2), 1);
    ck_assert_int_eq(t[0].action, EK_ACT_NONE);
    ck_assert_int_eq(t[1].action, EK_ACT_ROUTE);
    ck_assert_int_eq(ek_plan_apply(&p, in_arm_a, 2, true, ROUTABLE_OF_ITEM, t, 2), 0);
    ck_assert_int_eq(ek_plan_apply(&p, without_arm, 2, true, ROUTABLE_OF_ITEM, t, 2), 0);
}
END_TEST

START_TEST(a_segment_wins_over_all_traffic)
{
    struct ek_plan p = {0};
    struct ek_treatment t[2];
    int16_t cells[] = {0, 3};
    ek_plan_set(&p, 0, 3, (struct ek_treatment){EK_ACT_SILENCE, 0}, 0);
    ek_plan_set(&p, 0, 0, ROUTE, 0);
    ck_assert_int_eq(ek_plan_apply(&p, cells, 2, true, ROUTABLE_OF_ITEM, t, 2), 1);
    ck_assert_int_eq(t[0].action, EK_ACT_SILENCE);
}
END_TEST

START_TEST(the_version_rises_with_every_change_of_action_only)
{
    struct ek_plan p = {0};
    ck_assert_int_eq(ek_plan_set(&p, 0, 0, ROUTE, 0), 1);
    ck_assert_int_eq(ek_plan_set(&p, 0, 0, ROUTE, 5), 0);
    ck_assert_uint_eq(p.version, 1);
    ck_assert_int_eq(ek_plan_set(&p, 0, 0, (struct ek_treatment){EK_ACT_ROUTE_SPREAD, 2}, 6), 1);
    ck_assert_int_eq(ek_plan_set(&p, 0, 0, (struct ek_treatment){EK_ACT_ROUTE_SPREAD, 3}, 7), 0);
    ck_assert(p.entry[0].treatment.value == 3);
    ck_assert_int_eq(ek_plan_remove(&p, 0, 0), 1);
    ck_assert_int_eq(ek_plan_remove(&p, 0, 0), 0);
    ck_assert_uint_eq(p.version, 3);
}
END_TEST

START_TEST(a_recovered_entry_is_held_for_its_time)
{
    struct ek_plan p = {0};
    ek_plan_set(&p, 0, 0, ROUTE, 1000);
    ek_plan_end(&p, 0, 0, 1500, 600);
    ck_assert_int_eq(ek_plan_expire(&p, 1599), 0);
    ck_assert_int_eq(ek_plan_expire(&p, 1600), 1);
    ck_assert_int_eq(p.count, 0);
}
END_TEST

START_TEST(a_relapse_during_the_hold_keeps_the_entry)
{
    struct ek_plan p = {0};
    ek_plan_set(&p, 0, 0, ROUTE, 1000);
    ek_plan_end(&p, 0, 0, 1500, 600);
    ek_plan_set(&p, 0, 0, ROUTE, 1550);
    ck_assert_int_eq(ek_plan_expire(&p, 99999), 0);
    ck_assert_int_eq(p.count, 1);
}
END_TEST

START_TEST(a_wrong_clock_does_not_hold_an_entry_for_ever)
{
    enum { NOW = 100000, HOLD = 600 };
    static const int64_t far = 9000000000000000;
    struct ek_plan p = {0};
    ek_plan_set(&p, 0, 0, ROUTE, far); /* one list with a time far ahead */
    ek_plan_end(&p, 0, 0, NOW, HOLD);
    ek_plan_set(&p, 2, 0, ROUTE, NOW);
    ek_plan_end(&p, 2, 0, far, HOLD);
    ck_assert_int_eq(ek_plan_expire(&p, NOW), 0);
    ck_assert_int_eq(ek_plan_expire(&p, NOW + HOLD - 1), 0);
    ck_assert_int_eq(ek_plan_expire(&p, NOW + HOLD), 1);
    ck_assert_int_eq(p.count, 0);
}
END_TEST

START_TEST(a_full_plan_takes_no_more)
{
    struct ek_plan p = {0};
    for (int i = 0; i < EK_PLAN_MAX; i++)
        ek_plan_set(&p, 0, i, ROUTE, 0);
    ck_assert_int_eq(ek_plan_set(&p, 0, EK_PLAN_MAX, ROUTE, 0), 0);
    ck_assert_int_eq(p.count, EK_PLAN_MAX);
    ck_assert(ek_plan_has_room(&p, 0, 0) && !ek_plan_has_room(&p, 0, EK_PLAN_MAX));
    ck_assert_int_eq(ek_plan_features(&p), 1);
}
END_TEST

START_TEST(a_list_without_sources_keeps_the_less_specific_route)
{
    struct ek_plan p = {0};
    struct ek_treatment t[2];
    const int16_t in_arm_b[] = {0, 4};
    ek_plan_set(&p, 2, 0, ROUTE, 0);
    ek_plan_set(&p, 2, 4, (struct ek_treatment){EK_ACT_ROUTE_SOURCE, 0}, 0);
    ck_assert_int_eq(ek_plan_apply(&p, in_arm_b, 2, true, ROUTABLE_OF_ITEM, t, 2), 1);
    ck_assert_int_eq(t[1].action, EK_ACT_ROUTE_SOURCE);
    ck_assert_int_eq(ek_plan_apply(&p, in_arm_b, 2, false, ROUTABLE_OF_ITEM, t, 2), 1);
    ck_assert_int_eq(t[1].action, EK_ACT_ROUTE);
}
END_TEST

Suite *suite_plan(void)
{
    return ek_suite(
        "plan", a_plan_is_empty_and_of_version_0_at_first, an_entry_counts_for_its_cell_only,
        a_segment_wins_over_all_traffic, a_list_without_sources_keeps_the_less_specific_route,
        the_version_rises_with_every_change_of_action_only, a_recovered_entry_is_held_for_its_time,
        a_relapse_during_the_hold_keeps_the_entry, a_wrong_clock_does_not_hold_an_entry_for_ever,
        a_full_plan_takes_no_more);
}
