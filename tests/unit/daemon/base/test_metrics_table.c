/* Metrics table, the reference page generated from it, and metric writers without a test elsewhere.
 */
#include "base/file.h"
#include "base/error.h"
#include "daemon/views/event_log.h"
#include "daemon/base/metrics.h"
#include "daemon/base/process.h"
#include "tests/event_from.h"
#include "tests/check.h"
#include "tests/unit/key_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

START_TEST(names_follow_the_customs_and_stand_once)
{
    const struct ek_family *f;
    for (size_t i = 0; (f = ek_family_at(i)); i++) {
        ck_assert_msg(!strncmp(f->name, "evenkeel_", 9) || !strncmp(f->name, "process_", 8), "%s",
                      f->name);
        ck_assert_msg(ends_in(f->name, "_total") == (f->type == EK_FAMILY_COUNTER), "%s", f->name);
        ck_assert_msg(ends_in(f->help, "."), "%s: %s", f->name, f->help);
        ck_assert_msg(!strpbrk(f->help, "\\\n") && !strpbrk(f->note, "|\n"), "%s", f->name);
        ck_assert_ptr_eq(ek_family_find(f->name), f);
    }
    ck_assert_ptr_nonnull(ek_family_at(0)->group);
}
END_TEST

START_TEST(a_family_that_is_not_in_the_table_is_refused)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_metrics_head("evenkeel_nothing_total", &out), EK_EUSAGE);
    ck_assert_uint_eq(out.length, 0);
    ck_assert_int_eq(out.rc, EK_EUSAGE);
    ek_buf_clear(&out);
    ck_assert_int_eq(ek_metrics_head("evenkeel_paused", &out), 0);
    ck_assert_str_eq(ek_buf_string(&out),
                     "# HELP evenkeel_paused 1 while every message is forwarded unchanged.\n"
                     "# TYPE evenkeel_paused gauge\n");
    ek_buf_release(&out);
}
END_TEST

START_TEST(the_limits_that_were_reached_have_their_text)
{
    struct ek_metrics *m = ek_metrics_new();
    struct ek_buf out;
    ck_assert_ptr_nonnull(m);
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_metrics_limits_json(m, &out), 0);
    ck_assert_str_eq(ek_buf_string(&out), "[]");
    ek_buf_clear(&out);
    ek_metrics_gauge(m, EK_GAUGE_LIMIT_EXCEEDED + EK_BOUND_SHARE, 1);
    ek_metrics_gauge(m, EK_GAUGE_LIMIT_EXCEEDED_LAST, 7);
    ck_assert_int_eq(ek_metrics_limits_json(m, &out), 0);
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&out),
                                 "[{\"limit\":\"max_routed_share\",\"text\":\"more of the traffic "
                                 "would be routed than the rules allow\"},{\"limit\":"
                                 "\"query_features\",\"text\":\"most lists"));
    ek_buf_release(&out);
    ek_metrics_free(m);
}
END_TEST

START_TEST(the_page_of_the_metrics_is_up_to_date)
{
    check_page("docs/metrics.md", ek_page_metrics);
}
END_TEST

/* Return the value of the sample line that starts with `series`. */
static double sample(const struct ek_buf *page, const char *series)
{
    char line[200];
    struct ek_buf copy = *page;
    snprintf(line, sizeof line, "\n%s", series);
    const char *at = strstr(ek_buf_string(&copy), line);
    ck_assert_msg(at != NULL, "no %s", series);
    return strtod(at + strlen(line), NULL);
}

START_TEST(the_process_is_told_of_under_the_usual_names)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_process_metrics(&out), 0);
    double resident = sample(&out, "process_resident_memory_bytes ");
    ck_assert_double_gt(resident, 1 << 20);
    ck_assert_double_gt(sample(&out, "process_virtual_memory_bytes "), resident);
    ck_assert_double_ge(sample(&out, "process_cpu_seconds_total "), 0);
    ck_assert_double_ge(sample(&out, "process_open_fds "), 3);
    ck_assert_double_gt(sample(&out, "process_max_fds "), 3);
    ck_assert_double_gt(sample(&out, "process_start_time_seconds "), 1.5e9);
    ek_buf_release(&out);
}
END_TEST

static void tell(struct ek_event_log *j, int episode, const char *state, const char *class,
                 int64_t now_ms)
{
    struct ek_event_log_change change;
    char json[300];
    snprintf(json, sizeof json,
             "{\"event\":\"finding\",\"finding_id\":\"price-%d\",\"feature\":\"price\",\"segment\":"
             "null,\"state\":\"%s\",\"class\":%s}",
             episode, state, class);
    ck_assert_int_eq(ek_event_log_add(j, event_from(json), json, now_ms, &change), 0);
}

static const char PLAN[] = "{\"event\":\"plan\",\"version\":2,\"entries\":["
                           "{\"feature\":\"a\",\"mitigation\":\"route\",\"mode\":\"canary\"},"
                           "{\"feature\":\"b\",\"mitigation\":\"repair\",\"mode\":\"canary\"},"
                           "{\"feature\":\"c\",\"mitigation\":\"alert\",\"mode\":\"enforce\"},"
                           "{\"feature\":\"d\",\"mitigation\":\"none\",\"mode\":\"enforce\"},"
                           "{\"feature\":\"f\",\"mitigation\":\"blank\",\"mode\":\"shadow\"}]}";

START_TEST(entries_of_the_plan_count_by_mode)
{
    struct ek_event_log *j = ek_event_log_new(100);
    struct ek_event_log_change change;
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_event_log_add(j, event_from(PLAN), PLAN, 0, &change), 0);
    ck_assert_int_eq(ek_finding_metrics(j, 0, &out), 0);
    ck_assert(sample(&out, "evenkeel_plan_entries{mode=\"canary\"} ") == 2);
    ck_assert(sample(&out, "evenkeel_plan_entries{mode=\"shadow\"} ") == 1);
    ck_assert(sample(&out, "evenkeel_plan_entries{mode=\"enforce\"} ") == 0);
    ek_buf_release(&out);
    ek_event_log_free(j);
}
END_TEST

static void assert_findings(struct ek_event_log *j, int suspected, int scales, double oldest)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_finding_metrics(j, 100000, &out), 0);
    ck_assert(sample(&out, "evenkeel_open_findings{class=\"none\",state=\"suspected\"} ") ==
              suspected);
    ck_assert(sample(&out, "evenkeel_open_findings{class=\"scale\",state=\"confirmed\"} ") ==
              scales);
    ck_assert(sample(&out, "evenkeel_open_findings{class=\"zero\",state=\"confirmed\"} ") == 0);
    ck_assert_double_eq_tol(sample(&out, "evenkeel_oldest_confirmed_finding_age_seconds "), oldest,
                            1e-9);
    ek_buf_release(&out);
}

START_TEST(open_findings_are_counted_and_the_oldest_has_an_age)
{
    struct ek_event_log *j = ek_event_log_new(100);
    assert_findings(j, 0, 0, 0);
    tell(j, 1, "suspected", "null", 1000);
    assert_findings(j, 1, 0, 0);
    tell(j, 1, "confirmed", "\"scale\"", 10000);
    tell(j, 2, "suspected", "null", 20000);
    tell(j, 2, "confirmed", "\"scale\"", 30000);
    tell(j, 1, "updated", "\"scale\"", 40000); /* does not restart */
    assert_findings(j, 0, 2, 90);
    tell(j, 1, "recovered", "\"scale\"", 50000);
    assert_findings(j, 0, 1, 70);
    tell(j, 1, "confirmed", "\"scale\"", 60000);
    tell(j, 2, "dismissed", "null", 60000);
    assert_findings(j, 0, 1, 40);
    ek_event_log_reset(j);
    assert_findings(j, 0, 0, 0);
    ek_event_log_free(j);
}
END_TEST

Suite *suite_metrics_table(void)
{
    return ek_suite(
        "metrics_table", names_follow_the_customs_and_stand_once,
        a_family_that_is_not_in_the_table_is_refused, the_limits_that_were_reached_have_their_text,
        the_page_of_the_metrics_is_up_to_date, the_process_is_told_of_under_the_usual_names,
        open_findings_are_counted_and_the_oldest_has_an_age, entries_of_the_plan_count_by_mode);
}
