/* Log lines of guard events. */
#include "daemon/guard/event_line.h"
#include "tests/check.h"
#include "tests/event_from.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Assert the end of the log line of an event from " level=" on. */
static void assert_line(const char *json, const char *line)
{
    char *text;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    struct ek_log *log = ek_log_new(to, EK_LOG_DEBUG);
    ek_event_line_write(log, event_from(json));
    ek_log_free(log);
    fclose(to);
    const char *from = strstr(text, " level=");
    ck_assert_str_eq(from ? from : text, line);
    free(text);
}

START_TEST(a_finding_is_one_line_of_pairs)
{
    assert_line(
        "{\"event\":\"finding\",\"finding_id\":\"price-17\",\"state\":\"confirmed\",\"list\":1298,"
        "\"time_ms\":1,\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"class\":\"scale\","
        "\"factor\":100.3,\"factor_low\":98.9,\"factor_high\":101.8,\"fraction\":1,"
        "\"units\":[\"cents\"],\"since_list\":1225,\"mitigation\":\"route\","
        "\"mode\":\"enforce\",\"incident_id\":\"c-9\",\"features\":[\"price\"],"
        "\"text\":\"price, arm=B: values\"}",
        " level=info event=finding state=confirmed feature=price segment=arm=B class=scale "
        "factor=100.3 factor_low=98.9 factor_high=101.8 unit=cents fraction=1 "
        "mitigation=route mode=enforce incident_id=c-9 finding_id=price-17 list=1298 "
        "since_list=1225 message=\"price, arm=B: values\"\n");
}
END_TEST

START_TEST(values_with_other_characters_are_quoted)
{
    assert_line(
        "{\"event\":\"finding\",\"finding_id\":\"price-1\",\"state\":\"suspected\",\"list\":5,"
        "\"feature\":\"price\",\"segment\":{\"app\":\"7 \\\"x\\\"\"},\"factor\":null,"
        "\"factor_low\":null,\"factor_high\":null,\"fraction\":null,\"since_list\":4,"
        "\"mitigation\":\"alert\",\"mode\":\"observe\",\"text\":\"t\"}",
        " level=info event=finding state=suspected feature=price "
        "segment=\"app=7 \\\"x\\\"\" mitigation=alert mode=observe finding_id=price-1 list=5 "
        "since_list=4 message=t\n");
}
END_TEST

START_TEST(new_figures_of_a_finding_are_for_debugging)
{
    assert_line(
        "{\"event\":\"finding\",\"finding_id\":\"price-1\",\"state\":\"updated\",\"list\":5,"
        "\"feature\":\"price\",\"segment\":null,\"factor\":null,\"factor_low\":null,"
        "\"factor_high\":null,\"fraction\":null,\"since_list\":4,"
        "\"mitigation\":\"alert\",\"mode\":\"observe\",\"text\":\"t\"}",
        " level=debug event=finding state=updated feature=price mitigation=alert "
        "mode=observe finding_id=price-1 list=5 since_list=4 message=t\n");
}
END_TEST

START_TEST(a_plan_and_a_decision_are_lines_too)
{
    assert_line("{\"event\":\"plan\",\"version\":7,\"list\":1298,\"entries\":[]}",
                " level=info event=plan_changed version=7 entries=0 list=1298\n");
    assert_line(
        "{\"event\":\"decision\",\"sequence\":12,\"list\":5120,\"type\":\"pin\",\"actor\":\"ana\","
        "\"plan\":{\"before\":7,\"after\":8},\"feature\":\"price\",\"segment\":null,"
        "\"mitigation\":\"route\",\"reason\":\"the new tariff\"}",
        " level=info event=decision_recorded type=pin actor=ana feature=price "
        "mitigation=route sequence=12 list=5120 plan_version=8 reason=\"the new tariff\"\n");
}
END_TEST

START_TEST(a_rollback_is_a_warning_with_its_guardrail)
{
    assert_line(
        "{\"event\":\"decision\",\"sequence\":3,\"list\":9,\"type\":\"rollback\","
        "\"actor\":\"system\",\"plan\":{\"before\":1,\"after\":2},\"feature\":\"price\","
        "\"segment\":null,\"mitigation\":\"route\",\"guardrail\":\"rank_change_p95\","
        "\"observed\":0.6,\"limit\":0.5}",
        " level=warn event=route_rolled_back type=rollback actor=system feature=price "
        "mitigation=route guardrail=rank_change_p95 observed=0.6 limit=0.5 sequence=3 list=9 "
        "plan_version=2\n");
}
END_TEST

Suite *suite_event_line(void)
{
    return ek_suite("event line", a_finding_is_one_line_of_pairs,
                    values_with_other_characters_are_quoted,
                    new_figures_of_a_finding_are_for_debugging, a_plan_and_a_decision_are_lines_too,
                    a_rollback_is_a_warning_with_its_guardrail);
}
