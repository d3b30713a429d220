/* The demo reports the actual events, and succeeds only if each chapter did. */
#include "base/file.h"
#include "daemon/demo/demo_report.h"
#include "tests/check.h"
#include "tests/event_from.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char ON_ALL[] = "{\"event\":\"finding\",\"finding_id\":\"price-2\",\"state\":\"%s\","
                             "\"list\":1794,\"feature\":\"price\",\"segment\":null,"
                             "\"class\":null,\"factor\":null,\"units\":[],"
                             "\"reason\":\"explained by a segment\"}";
static const char ON_ARM[] =
    "{\"event\":\"finding\",\"finding_id\":\"price-1\",\"state\":\"%s\",\"list\":%d,\"time_ms\":17,"
    "\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"class\":\"scale\",\"factor\":4.13,"
    "\"factor_low\":3.59,\"factor_high\":4.75,\"fraction\":0.52,"
    "\"units\":[\"query_feature:stay_nights\"],\"mitigation\":\"route\"}";
static const char ROUTE[] =
    "{\"event\":\"plan\",\"version\":1,\"list\":1901,\"entries\":[{\"feature\":\"price\","
    "\"segment\":{\"arm\":\"B\"},\"mitigation\":\"route\"}]}";
static const char DECISION[] =
    "{\"event\":\"decision\",\"sequence\":1,\"list\":1901,\"type\":\"route\","
    "\"feature\":\"price\",\"segment\":{\"arm\":\"B\"}}";
static const char NO_ROUTE[] = "{\"event\":\"plan\",\"version\":2,\"list\":5030,\"entries\":[]}";

static void event(struct ek_demo_report *s, const char *json)
{
    ck_assert_int_eq(ek_demo_report_event(s, event_from(json)), EK_OK);
}

static void arm_event(struct ek_demo_report *s, const char *state, int query)
{
    char json[600];
    snprintf(json, sizeof json, ON_ARM, state, query);
    event(s, json);
}

static void all_event(struct ek_demo_report *s, const char *state)
{
    char json[600];
    snprintf(json, sizeof json, ON_ALL, state);
    event(s, json);
}

static void results(struct ek_demo_report *s, uint64_t from, uint64_t to, bool broken, bool routed,
                    double guarded)
{
    for (uint64_t i = from; i < to; i++) {
        struct ek_demo_result r = {.number = i,
                                   .concerned = true,
                                   .broken = broken,
                                   .routed = routed,
                                   .untouched = !routed,
                                   .upstream = 0.60,
                                   .unrouted = 0.607,
                                   .guarded = guarded,
                                   .clean = 0.62};
        s->sent++;
        ek_demo_report_result(s, &r);
    }
}

/* Report the chapters of a successful run up to `chapters`. */
static void tell(struct ek_demo_report *s, int chapters, double guarded)
{
    ek_demo_report_release(s);
    ek_demo_report_init(s);
    results(s, 0, 1750, false, false, 0.62);
    s->phase = EK_DEMO_FAULTY;
    s->fault_from = 1750;
    results(s, 1750, 1900, true, false, 0.60);
    if (chapters > 0) {
        arm_event(s, "suspected", 1762);
        all_event(s, "suspected");
        all_event(s, "dismissed");
        arm_event(s, "confirmed", 1901);
        event(s, DECISION);
    }
    if (chapters > 1)
        event(s, ROUTE);
    results(s, 1900, 5000, true, chapters > 1, chapters > 1 ? guarded : 0.60);
    s->phase = EK_DEMO_OVER;
    s->fault_to = 5000;
    results(s, 5000, 5010, false, chapters > 1, 0.62);
    if (chapters > 2) {
        arm_event(s, "recovered", 5012);
        event(s, NO_ROUTE);
    }
    results(s, 5010, 5100, false, false, 0.62);
}

START_TEST(the_story_as_it_should_go_is_accepted)
{
    struct ek_demo_report s = {0};
    tell(&s, 3, 0.61);
    ck_assert_ptr_null(ek_demo_report_fault(&s));
    const struct ek_reported_finding *reported = ek_demo_report_finding(&s);
    ck_assert_ptr_nonnull(reported);
    const struct ek_event_finding *f = ek_demo_finding(reported);
    ck_assert_int_eq(f->state, EK_RECOVERED);
    ck_assert_str_eq(f->unit[0], "query_feature:stay_nights");
    ck_assert_double_eq_tol(f->factor, 4.13, 1e-9);
    ck_assert_uint_eq(reported->first, 1762);
    ck_assert_uint_eq(reported->confirmed, 1901);
    ck_assert_uint_eq(s.route_from, 1901);
    ck_assert_uint_eq(s.route_to, 5030);
    ck_assert_uint_eq(s.upstream.count, 3100);
    ck_assert_double_eq_tol(ek_metric_result(&s.guarded), 0.61, 1e-9);
    ek_demo_report_release(&s);
}
END_TEST

START_TEST(each_missing_part_is_named)
{
    struct ek_demo_report s = {0};
    tell(&s, 0, 0.61);
    ck_assert_str_eq(ek_demo_report_fault(&s), "the fault was not found");
    tell(&s, 1, 0.61);
    ck_assert_str_eq(ek_demo_report_fault(&s), "the fault was not routed");
    tell(&s, 2, 0.61);
    ck_assert_str_eq(ek_demo_report_fault(&s), "the route did not end after the fault");
    tell(&s, 3, 0.60);
    ck_assert_str_eq(ek_demo_report_fault(&s), "the rankings are not better than without evenkeel");
    tell(&s, 3, 0.61);
    s.sent++;
    ck_assert_str_eq(ek_demo_report_fault(&s), "not all searches were returned");
    tell(&s, 3, 0.61);
    s.dead = 1;
    ck_assert_str_eq(ek_demo_report_fault(&s), "not all searches were returned");
    ek_demo_report_release(&s);
}
END_TEST

START_TEST(a_change_before_the_fault_spoils_the_story)
{
    struct ek_demo_report s = {0};
    struct ek_demo_result r = {.number = 10, .routed = true};
    tell(&s, 3, 0.61);
    ek_demo_report_result(&s, &r);
    s.sent++;
    ck_assert_str_eq(ek_demo_report_fault(&s), "searches were changed before the fault");
    ek_demo_report_release(&s);
}
END_TEST

START_TEST(a_route_that_ends_too_early_does_not_count)
{
    struct ek_demo_report s = {0};
    tell(&s, 2, 0.61);
    s.fault_to = 6000;
    event(&s, NO_ROUTE);
    ck_assert_str_eq(ek_demo_report_fault(&s), "the route did not end after the fault");
    ek_demo_report_release(&s);
}
END_TEST

START_TEST(a_finding_on_all_traffic_alone_is_not_the_one)
{
    struct ek_demo_report s = {0};
    ek_demo_report_init(&s);
    all_event(&s, "confirmed");
    ck_assert_ptr_null(ek_demo_report_finding(&s));
    ek_demo_report_release(&s);
}
END_TEST

START_TEST(many_episodes_push_out_the_oldest)
{
    struct ek_demo_report s = {0};
    ek_demo_report_init(&s);
    for (int i = 0; i < 3 * EK_DEMO_FINDINGS_MAX; i++) {
        char json[200];
        snprintf(json, sizeof json,
                 "{\"event\":\"finding\",\"finding_id\":\"e-%d\",\"state\":\"suspected\","
                 "\"feature\":\"stars\",\"segment\":null}",
                 i);
        event(&s, json);
    }
    arm_event(&s, "confirmed", 7);
    ck_assert_uint_eq(s.findings.count, EK_DEMO_FINDINGS_MAX);
    ck_assert_ptr_nonnull(ek_demo_report_finding(&s));
    ek_demo_report_release(&s);
}
END_TEST

/* Return the log output of the report. */
static char *drawn(const struct ek_demo_report *s)
{
    struct ek_demo_view d;
    char *text;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    ek_demo_view_init(&d, to);
    ek_demo_view_draw(&d, s, 0, true);
    ek_demo_view_end(&d, s);
    fclose(to);
    return text;
}

START_TEST(a_log_has_the_finding_the_route_and_both_rankings_without_colour)
{
    static const char *const desired[] = {
        "price, arm=B: scale x stay_nights, recovered",
        "4.13 (3.59 to 4.75)",
        "scale, query_feature:stay_nights",
        "52%",
        "5100 / 5100 / 0",
        "search 1762, 12 after the fault began",
        "search 1901, 151 after the fault began",
        "search 5030, 30 after the fault ended",
        "over the 3100 searches of arm B",
        "plain model, without evenkeel        0.6000",
        "routable model, not routed           0.6070  +0.0070",
        "routable model, routed by evenkeel   0.6100  +0.0100",
        "plain model, without the fault       0.6200  +0.0200",
        "gain by the model / by its route     +0.0070 / +0.0030",
        "The fault was found, routed with better rankings, and the route ended.",
        "also reported: price, all traffic: dismissed, explained by a segment",
    };
    struct ek_demo_report s = {0};
    tell(&s, 3, 0.61);
    char *text = drawn(&s);
    for (size_t i = 0; i < sizeof desired / sizeof *desired; i++)
        ck_assert_msg(strstr(text, desired[i]) != NULL, "'%s' is not in:\n%s", desired[i], text);
    ck_assert_ptr_null(strchr(text, '\033'));
    free(text);
    ek_demo_report_release(&s);
}
END_TEST

START_TEST(introduction_and_summary_fit_a_terminal_of_80_columns)
{
    struct ek_demo_report s = {0};
    struct ek_demo_view d;
    char *text, *rest, *line;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    tell(&s, 3, 0.61);
    s.sent = s.back = 11250;
    for (size_t i = 0; i < s.findings.count; i++)
        s.findings.item[i].confirmed = 11249;
    ek_demo_view_init(&d, to);
    ek_demo_view_start(&d);
    ek_demo_view_end(&d, &s);
    fclose(to);
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        ck_assert_msg(strlen(line) < 80, "%zu columns: %s", strlen(line), line);
    free(text);
    ek_demo_report_release(&s);
}
END_TEST

START_TEST(the_summary_leads_to_a_heading_of_the_readme)
{
    static const char heading[] = "Watch your own topic";
    struct ek_demo_report s = {0};
    struct ek_buf readme;
    char line[100];
    tell(&s, 3, 0.61);
    char *text = drawn(&s);
    snprintf(line, sizeof line, "Next: README, '%s'.", heading);
    ck_assert_ptr_nonnull(strstr(text, line));
    free(text);
    snprintf(line, sizeof line, "\n## %s\n", heading);
    ek_buf_init(&readme, 0);
    ck_assert_int_eq(ek_file_read("README.md", &readme, NULL), EK_OK);
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&readme), line));
    ek_buf_release(&readme);
    ek_demo_report_release(&s);
}
END_TEST

START_TEST(a_story_that_failed_says_so)
{
    struct ek_demo_report s = {0};
    tell(&s, 0, 0.61);
    char *text = drawn(&s);
    ck_assert_ptr_nonnull(strstr(text, "Unexpected result: the fault was not found"));
    ck_assert_ptr_nonnull(strstr(text, "never"));
    free(text);
    ek_demo_report_release(&s);
}
END_TEST

Suite *suite_demo_report(void)
{
    return ek_suite(
        "demo_story", the_story_as_it_should_go_is_accepted, each_missing_part_is_named,
        a_change_before_the_fault_spoils_the_story, a_route_that_ends_too_early_does_not_count,
        a_finding_on_all_traffic_alone_is_not_the_one, many_episodes_push_out_the_oldest,
        a_log_has_the_finding_the_route_and_both_rankings_without_colour,
        introduction_and_summary_fit_a_terminal_of_80_columns,
        the_summary_leads_to_a_heading_of_the_readme, a_story_that_failed_says_so);
}
