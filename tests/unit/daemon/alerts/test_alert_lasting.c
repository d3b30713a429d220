/* Alerts survive a failed delivery, a restart, and the loss of their reporter. */
#include "tests/alert_scene.h"

static void fail_once(struct scene *s, size_t sink)
{
    ck_assert_ptr_nonnull(ek_alert_queue_next(s->queue, sink, s->now_ms));
    ek_alert_queue_finish(s->queue, sink, EK_ALERT_FAILED, 0, s->now_ms);
}

START_TEST(what_failed_may_have_arrived_so_how_it_stands_is_told)
{
    struct scene s;
    struct ek_alert a = {.firing = false};
    begin(&s, 10);
    for (int round = 0; round < 2; round++) {
        price(&s, "confirmed");
        s.now_ms += WAIT_MS;
        fail_once(&s, SLACK); /* firing, and possibly delivered */
        price(&s, "recovered");
        s.now_ms += WAIT_MS;
        ck_assert_int_eq(told(&s, SLACK, &a), 1);
        ck_assert(!a.firing);
    }
    price(&s, "confirmed");
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL), 1);
    price(&s, "recovered");
    s.now_ms += WAIT_MS;
    fail_once(&s, SLACK); /* resolved, and possibly delivered */
    price(&s, "confirmed");
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, &a), 1);
    ck_assert(a.firing);
    ck_assert_int_eq(told(&s, SLACK, NULL), 0);
    end(&s);
}
END_TEST

START_TEST(who_takes_over_goes_on_with_all_that_another_told)
{
    struct scene s;
    begin(&s, 10);
    hear_as(&s, json_of(&(struct finding){.feature = "price", .state = "confirmed"}), false, false);
    hear_as(&s, WITHDRAWN, false, false);
    s.now_ms += 4 * REPEAT_MS;
    ck_assert_int_eq(told(&s, MANAGER, NULL), 0);
    ek_alert_registry_become_leader(s.book);
    ck_assert_int_eq(told(&s, MANAGER, NULL), 2); /* otherwise Alertmanager resolves them */
    ck_assert_int_eq(told(&s, SLACK, NULL), 0);
    s.now_ms += REPEAT_MS;
    ck_assert_int_eq(told(&s, MANAGER, NULL), 2);
    price(&s, "recovered");
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL), 2);
    end(&s);
}
END_TEST

START_TEST(an_alert_whose_findings_a_recall_gives_to_another_is_over)
{
    struct scene s;
    struct finding taxes = {
        .feature = "taxes", .state = "confirmed", .members = "\"price\",\"taxes\""};
    begin(&s, 10);
    price(&s, "confirmed");
    hear(&s, json_of(&taxes));
    ck_assert_int_eq(firing(&s), 1);
    ek_alert_registry_start_replay(s.book); /* in another order than originally found */
    hear_as(&s, json_of(&taxes), true, true);
    hear_as(&s, json_of(&(struct finding){.feature = "price", .state = "updated"}), true, true);
    ek_alert_registry_stop_replay(s.book, when(&s));
    ck_assert_int_eq(firing(&s), 1);
    end(&s);
}
END_TEST

START_TEST(a_limit_that_holds_a_finding_back_goes_on_over_a_restart)
{
    struct scene s;
    struct ek_alert_update news;
    struct ek_alert a = {.firing = false};
    begin(&s, 10);
    ek_alert_update_read(
        &news, event_from(json_of(&(struct finding){.feature = "price", .state = "updated"})));
    ek_alert_copy(news.limit, sizeof news.limit, "plan");
    ek_alert_registry_start_replay(s.book);
    ck_assert_int_eq(ek_alert_registry_add(s.book, &news, true, true, when(&s)), 0);
    ek_alert_registry_stop_replay(s.book, when(&s));
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL), 0);
    ck_assert_int_eq(told(&s, MANAGER, NULL), 2);
    price(&s, "recovered");
    s.now_ms += EK_ALERT_BRIEF_MS;
    ek_alert_registry_age(s.book, when(&s));
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, &a), 2);
    ck_assert(!a.firing);
    end(&s);
}
END_TEST

Suite *suite_alert_lasting(void)
{
    return ek_suite("alert_lasting", what_failed_may_have_arrived_so_how_it_stands_is_told,
                    who_takes_over_goes_on_with_all_that_another_told,
                    an_alert_whose_findings_a_recall_gives_to_another_is_over,
                    a_limit_that_holds_a_finding_back_goes_on_over_a_restart);
}
