/* The variants of process functions for other systems than Linux. */
#define EK_PORTABLE 1
#include "daemon/base/process.h"
#include "tests/check.h"

#define ek_process_resident_bytes ek_other_process_resident_bytes
#define ek_process_metrics        ek_other_process_metrics
#define ek_lower_priority         ek_other_lower_priority
#define ek_raise_fd_limit         ek_other_raise_fd_limit
#define ek_sd_notify              ek_other_sd_notify
#define ek_secret_name            ek_other_secret_name
#define ek_secret_protect         ek_other_secret_protect
#include "daemon/base/process.c"

START_TEST(metrics_lack_what_is_unavailable)
{
    struct ek_buf out;
    ek_buf_init(&out, SIZE_MAX);
    ck_assert_int_eq(ek_other_process_metrics(&out), EK_OK);
    ck_assert_int_eq(ek_buf_add(&out, "", 1), EK_OK);
    const char *text = (const char *)out.data;
    ck_assert_ptr_nonnull(strstr(text, "process_cpu_seconds_total"));
    ck_assert_ptr_null(strstr(text, "process_start_time_seconds"));
    ek_buf_release(&out);
}
END_TEST

START_TEST(the_priority_stays)
{
    int before = getpriority(PRIO_PROCESS, 0);
    ek_other_lower_priority();
    ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), before);
}
END_TEST

START_TEST(no_core_dumps)
{
    struct rlimit limit;
    ek_other_secret_protect();
    ck_assert_int_eq(getrlimit(RLIMIT_CORE, &limit), 0);
    ck_assert_uint_eq(limit.rlim_cur, 0);
    ck_assert(!ek_other_sd_notify("/tmp/notify", "READY=1"));
}
END_TEST

Suite *suite_process(void)
{
    return ek_suite("process", metrics_lack_what_is_unavailable, the_priority_stays, no_core_dumps);
}
