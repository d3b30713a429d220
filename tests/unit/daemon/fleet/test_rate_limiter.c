/* The rate limiter runs periodic work once per interval, and early on request. */
#include "daemon/fleet/fleet.h"

#include "tests/check.h"

enum { EVERY_MS = 1000, GAP_MS = 250 };

/* Return a limiter with its first interval from 5000. */
static struct ek_rate_limiter begun(void)
{
    struct ek_rate_limiter p = {.every_ms = EVERY_MS, .gap_ms = GAP_MS};
    ck_assert_int_eq(ek_rate_limiter_wait_ms(&p, 5000), 0);
    ck_assert_int_eq(ek_rate_limiter_next(&p, 5000), EK_RATE_REPORT);
    return p;
}

START_TEST(a_tick_comes_when_it_is_due_and_those_that_were_missed_do_not_come_at_all)
{
    struct ek_rate_limiter p = begun();
    ck_assert_int_eq(ek_rate_limiter_next(&p, 5999), EK_RATE_WAIT);
    ck_assert_int_eq(ek_rate_limiter_wait_ms(&p, 5999), 1);
    ck_assert_int_eq(ek_rate_limiter_next(&p, 6010), EK_RATE_REPORT);
    ck_assert_int_eq(ek_rate_limiter_wait_ms(&p, 6010),
                     990); /* one delay does not shift later intervals */
    ck_assert_int_eq(ek_rate_limiter_next(&p, 9500), EK_RATE_REPORT);
    ck_assert_int_eq(ek_rate_limiter_next(&p, 9500), EK_RATE_WAIT);
    ck_assert_int_eq(ek_rate_limiter_wait_ms(&p, 9500), 1000);
}
END_TEST

START_TEST(what_is_asked_for_comes_early_once_but_not_too_soon_after_the_last)
{
    struct ek_rate_limiter p = begun();
    ek_rate_limiter_request(&p);
    ck_assert_int_eq(ek_rate_limiter_next(&p, 5100), EK_RATE_WAIT);
    ck_assert_int_eq(ek_rate_limiter_wait_ms(&p, 5100), 150);
    ck_assert_int_eq(ek_rate_limiter_next(&p, 5260), EK_RATE_EARLY);
    ck_assert_int_eq(ek_rate_limiter_next(&p, 5800), EK_RATE_WAIT);
    ek_rate_limiter_request(&p);
    ck_assert_int_eq(ek_rate_limiter_next(&p, 5800), EK_RATE_EARLY);
}
END_TEST

START_TEST(a_tick_is_not_put_off_by_what_came_early_and_answers_what_was_asked)
{
    struct ek_rate_limiter p = begun();
    ek_rate_limiter_request(&p);
    ck_assert_int_eq(ek_rate_limiter_next(&p, 5900), EK_RATE_EARLY);
    ek_rate_limiter_request(&p);
    ck_assert_int_eq(ek_rate_limiter_wait_ms(&p, 5900), 100);
    ck_assert_int_eq(ek_rate_limiter_next(&p, 6000), EK_RATE_REPORT);
    ck_assert_int_eq(ek_rate_limiter_next(&p, 6500), EK_RATE_WAIT);
}
END_TEST

Suite *suite_rate_limiter(void)
{
    return ek_suite("pace",
                    a_tick_comes_when_it_is_due_and_those_that_were_missed_do_not_come_at_all,
                    what_is_asked_for_comes_early_once_but_not_too_soon_after_the_last,
                    a_tick_is_not_put_off_by_what_came_early_and_answers_what_was_asked);
}
