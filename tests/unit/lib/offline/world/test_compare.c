/* Recorded trace of one guard's events; tests/cli/compare.sh compares two. */
#include "offline/world/compare.h"
#include "tests/event_from.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>

static void hear(struct ek_compare_trace *s, const char *json)
{
    struct ek_error e;
    ck_assert_int_eq(ek_compare_trace_event(s, event_from(json), &e), EK_OK);
}

static void finding(struct ek_compare_trace *s, const char *episode, const char *state, int query,
                    const char *factor)
{
    char json[600];
    snprintf(
        json, sizeof json,
        "{\"event\":\"finding\",\"finding_id\":\"%s\",\"state\":\"%s\",\"list\":%d,\"feature\":"
        "\"price\",\"segment\":{\"arm\":\"B\"},\"class\":\"scale\",\"factor\":%s,\"units\":["
        "\"cents\"],"
        "\"since_list\":7,\"mitigation\":\"route\",\"mode\":\"observe\",\"text\":\"price: %s\"}",
        episode, state, query, factor, factor);
    hear(s, json);
}

START_TEST(a_finding_is_kept_as_it_was_told_last_and_when_it_was_confirmed)
{
    struct ek_compare_trace s = {0};
    finding(&s, "price-1", "suspected", 10, "null");
    ck_assert_uint_eq(s.reported.count, 0);
    finding(&s, "price-1", "confirmed", 20, "90");
    finding(&s, "price-1", "updated", 30, "100.5");
    finding(&s, "price-1", "recovered", 40, "1");
    finding(&s, "price-2", "confirmed", 50, "null");
    ck_assert_int_eq(ek_compare_trace_end(&s), EK_OK);
    ck_assert_uint_eq(s.findings, 2);
    const struct ek_compared_finding *f = s.finding;
    ck_assert_str_eq(f->at.feature, "price");
    ck_assert_str_eq(f->at.dimension, "arm");
    ck_assert_str_eq(f->at.value, "B");
    ck_assert_str_eq(f->class, "scale");
    ck_assert_str_eq(f->unit, "cents");
    ck_assert_str_eq(f->text, "price: 100.5");
    ck_assert_double_eq(f->factor, 100.5);
    ck_assert_uint_eq(f->since, 7);
    ck_assert_uint_eq(f->confirmed, 20);
    ck_assert_uint_eq(f->ended, 40);
    ck_assert_str_eq(f->end, "recovered");
    ck_assert(isnan(s.finding[1].factor));
    ck_assert_uint_eq(s.finding[1].ended, UINT64_MAX);
    ek_compare_trace_release(&s);
}
END_TEST

START_TEST(plans_are_the_same_in_any_order_of_their_entries)
{
    struct ek_compare_trace s = {0};
    hear(&s, "{\"event\":\"plan\",\"version\":1,\"list\":20,\"entries\":["
             "{\"feature\":\"price\",\"segment\":null,\"mitigation\":\"route\"},"
             "{\"feature\":\"taxes\",\"segment\":{\"arm\":\"B\"},\"mitigation\":\"blank\"}]}");
    hear(&s, "{\"event\":\"plan\",\"version\":9,\"list\":21,\"entries\":["
             "{\"feature\":\"taxes\",\"segment\":{\"arm\":\"B\"},\"mitigation\":\"blank\"},"
             "{\"feature\":\"price\",\"segment\":null,\"mitigation\":\"route\"}]}");
    hear(&s, "{\"event\":\"plan\",\"version\":3,\"list\":22,\"entries\":["
             "{\"feature\":\"price\",\"segment\":null,\"mitigation\":\"route\"},"
             "{\"feature\":\"taxes\",\"segment\":{\"arm\":\"A\"},\"mitigation\":\"blank\"}]}");
    hear(&s, "{\"event\":\"plan\",\"version\":4,\"list\":23,\"entries\":[]}");
    ck_assert_uint_eq(s.plans, 4);
    ck_assert(ek_compared_same_plan(&s.plan[0], &s.plan[1]));
    ck_assert(!ek_compared_same_plan(&s.plan[0], &s.plan[2]));
    ck_assert(!ek_compared_same_plan(&s.plan[0], &s.plan[3]));
    ck_assert_uint_eq(s.plan[3].query, 23);
    ek_compare_trace_release(&s);
}
END_TEST

START_TEST(plans_differ_by_mode_and_by_how_far_a_canary_has_come)
{
    static const char *const said[] = {"\"enforce\",\"percent\":100", "\"canary\",\"percent\":10",
                                       "\"canary\",\"percent\":10.01", "\"canary\",\"percent\":10"};
    struct ek_compare_trace s = {0};
    for (int i = 0; i < 4; i++) {
        char json[200];
        snprintf(json, sizeof json,
                 "{\"event\":\"plan\",\"list\":%d,\"entries\":[{\"feature\":\"price\","
                 "\"segment\":null,\"mitigation\":\"route\",\"mode\":%s}]}",
                 i, said[i]);
        hear(&s, json);
    }
    ck_assert_int_eq(s.plan[0].entry[0].mode, EK_MODE_ENFORCE);
    ck_assert_double_eq(s.plan[2].entry[0].percent, 10.01);
    ck_assert(!ek_compared_same_plan(&s.plan[0], &s.plan[1]));
    ck_assert(!ek_compared_same_plan(&s.plan[1], &s.plan[2]));
    ck_assert(ek_compared_same_plan(&s.plan[1], &s.plan[3]));
    ek_compare_trace_release(&s);
}
END_TEST

START_TEST(model_and_limits_are_kept_like_findings)
{
    struct ek_compare_trace s = {0};
    hear(&s, "{\"event\":\"model_drift\",\"state\":\"drifted\",\"list\":90,\"since_list\":50,"
             "\"text\":\"apart\"}");
    hear(&s,
         "{\"event\":\"limit\",\"limit\":\"segments\",\"max\":256,\"list\":60,\"text\":\"more\"}");
    hear(&s, "{\"event\":\"model_drift\",\"state\":\"recovered\",\"list\":95,\"since_list\":50,"
             "\"text\":\"alike\"}");
    ck_assert_int_eq(ek_compare_trace_end(&s), EK_OK);
    ck_assert_uint_eq(s.findings, 2);
    ck_assert_str_eq(s.finding[0].class, "model_drift");
    ck_assert_str_eq(s.finding[0].end, "recovered");
    ck_assert_uint_eq(s.finding[0].since, 50);
    ck_assert_str_eq(s.finding[1].at.feature, "segments");
    ck_assert_ptr_null(s.finding[1].at.dimension);
    ek_compare_trace_release(&s);
}
END_TEST

START_TEST(what_cannot_be_kept_is_counted)
{
    struct ek_compare_trace s = {0};
    for (int i = 0; i <= EK_COMPARED_MAX; i++) {
        char id[20];
        snprintf(id, sizeof id, "price-%d", i);
        finding(&s, id, "confirmed", i, "2");
        finding(&s, id, "recovered", i, "1");
    }
    ck_assert_uint_eq(s.reported.count, EK_COMPARED_MAX);
    ck_assert_uint_eq(s.left, 1);
    ek_compare_trace_release(&s);
}
END_TEST

Suite *suite_compare(void)
{
    return ek_suite("compare", a_finding_is_kept_as_it_was_told_last_and_when_it_was_confirmed,
                    plans_are_the_same_in_any_order_of_their_entries,
                    plans_differ_by_mode_and_by_how_far_a_canary_has_come,
                    model_and_limits_are_kept_like_findings, what_cannot_be_kept_is_counted);
}
