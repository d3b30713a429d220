/* Findings that `watch` prints. */
#include "daemon/commands/watch_instance.h"
#include "tests/check.h"

#include <math.h>

static struct ek_event_finding finding(enum ek_finding_state state, double factor, double fraction)
{
    return (struct ek_event_finding){
        .state = state, .class = EK_SCALE, .factor = factor, .fraction = fraction};
}

START_TEST(an_open_finding_is_printed_again_when_it_has_become_another)
{
    struct ek_watch_shown shown = {0};
    struct ek_event_finding f = finding(EK_CONFIRMED, 3.1, .2);
    ck_assert(ek_watch_is_news(&shown, &f));
    f = finding(EK_UPDATED, 3.0, .21);
    ck_assert(!ek_watch_is_news(&shown, &f));
    f = finding(EK_UPDATED, 110, 1);
    ck_assert(ek_watch_is_news(&shown, &f));
    ck_assert(!ek_watch_is_news(&shown, &f));
    f = finding(EK_UPDATED, 110, .5);
    ck_assert(ek_watch_is_news(&shown, &f));
    f.class = EK_ITEMS;
    ck_assert(ek_watch_is_news(&shown, &f));
    f.state = EK_RECOVERED;
    ck_assert(ek_watch_is_news(&shown, &f));
}
END_TEST

START_TEST(a_finding_that_is_suspected_or_has_no_factor_is_printed_once)
{
    struct ek_watch_shown shown = {0};
    struct ek_event_finding f = finding(EK_SUSPECTED, NAN, NAN);
    ck_assert(!ek_watch_is_news(&shown, &f));
    f = finding(EK_CONFIRMED, NAN, .3);
    ck_assert(ek_watch_is_news(&shown, &f));
    f = finding(EK_UPDATED, NAN, .3);
    ck_assert(!ek_watch_is_news(&shown, &f));
}
END_TEST

Suite *suite_watch_instance(void)
{
    return ek_suite("watch_instance", an_open_finding_is_printed_again_when_it_has_become_another,
                    a_finding_that_is_suspected_or_has_no_factor_is_printed_once);
}
