/* Alerts: from events to delivery times and texts. */
#include "daemon/alerts/http_delivery.h"
#include "tests/alert_scene.h"

START_TEST(a_cause_of_many_features_is_one_alert_from_first_to_last)
{
    struct scene s;
    struct ek_alert a = {.firing = true};
    char sentence[EK_ALERT_SENTENCE_BYTES];
    begin(&s, 10);
    hear(&s, json_of(&(struct finding){.feature = "price", .state = "suspected"}));
    ck_assert_uint_eq(ek_alert_registry_count(s.book), 0);
    price(&s, "confirmed");
    hear(&s, json_of(&(struct finding){
                 .feature = "taxes", .state = "confirmed", .members = "\"price\",\"taxes\""}));
    ck_assert_uint_eq(ek_alert_registry_count(s.book), 1);
    ck_assert_int_eq(told(&s, SLACK, NULL), 0);
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, &a), 1);
    ek_alert_sentence(&a, sentence);
    ck_assert_str_eq(sentence, "price x100 (cents) on arm=B since 21 Sep 14:30 UTC, looks like "
                               "amounts in cents; routed to the wide path; with it: taxes");
    price(&s, "recovered");
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL), 0);
    hear(&s, json_of(&(struct finding){.feature = "taxes", .state = "recovered"}));
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, &a), 1);
    ck_assert(!a.firing);
    ck_assert_str_eq(a.feature, "price");
    ek_alert_sentence(&a, sentence);
    ck_assert_str_eq(sentence, "price x100 (cents) on arm=B since 21 Sep 14:30 UTC, looks like "
                               "amounts in cents; it is over; with it: taxes");
    ck_assert_int_eq(told(&s, MANAGER, NULL), 1);
    ek_alert_queue_remove_ended(s.queue, s.now_ms);
    ck_assert_uint_eq(ek_alert_registry_count(s.book), 0);
    end(&s);
}
END_TEST

/* JSON of price's finding that ends for a reason. */
static const char *ended_for(const char *reason)
{
    static char json[400];
    snprintf(json, sizeof json,
             "{\"event\":\"finding\",\"finding_id\":\"price-1\",\"state\":\"dismissed\","
             "\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"reason\":\"%s\"}",
             reason);
    return json;
}

START_TEST(an_alert_of_missing_values_has_their_fraction_in_training)
{
    struct scene s;
    struct ek_alert a = {.firing = true};
    char sentence[EK_ALERT_SENTENCE_BYTES];
    begin(&s, 10);
    hear(&s, "{\"event\":\"finding\",\"finding_id\":\"price-1\",\"state\":\"confirmed\","
             "\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"class\":\"missing\","
             "\"value_fraction\":1,\"trained_fraction\":0.02,\"fraction\":1,\"units\":[],"
             "\"since_ms\":1790001058400,\"mitigation\":\"alert\",\"incident_id\":\"c-9\","
             "\"features\":[\"price\"],\"text\":\"\"}");
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, &a), 1);
    ek_alert_sentence(&a, sentence);
    ck_assert_str_eq(sentence,
                     "price: missing in 100% of the values, 2% in training, on arm=B since 21 Sep "
                     "14:30 UTC; no action; it is only reported");
    end(&s);
}
END_TEST

START_TEST(an_alert_whose_level_is_accepted_is_not_told_as_resolved)
{
    static const struct ek_alert_context about = {"hotels", NULL, "r.md"};
    struct scene s;
    struct ek_alert a = {.firing = true};
    struct ek_buf out;
    begin(&s, 10);
    for (int accepted = 0; accepted < 2; accepted++) {
        ek_buf_init(&out, 0);
        price(&s, "confirmed");
        s.now_ms += WAIT_MS;
        ck_assert_int_eq(told(&s, SLACK, NULL), 1);
        hear(&s, ended_for(accepted ? "accepted as normal" : "smaller than report_threshold"));
        s.now_ms += WAIT_MS;
        ck_assert_int_eq(told(&s, SLACK, &a), 1);
        ck_assert_int_eq(a.accepted, accepted);
        ck_assert_int_eq(ek_alert_slack(&out, &about, &a), 0);
        ck_assert_ptr_nonnull(strstr(ek_buf_string(&out), accepted
                                                              ? "\"text\":\"accepted as normal, "
                                                              : "\"text\":\"resolved, "));
        ek_buf_release(&out);
        ck_assert_int_eq(ek_alert_generic(&out, &about, &a), 0);
        ck_assert_ptr_nonnull(
            strstr(ek_buf_string(&out), accepted ? "\"resolution\":\"accepted as normal\""
                                                 : "\"resolution\":\"resolved\""));
        ek_buf_release(&out);
    }
    end(&s);
}
END_TEST

START_TEST(another_cause_is_another_alert)
{
    struct scene s;
    begin(&s, 10);
    price(&s, "confirmed");
    hear(&s,
         json_of(&(struct finding){.feature = "rating", .state = "confirmed", .cause = "c-10"}));
    ck_assert_uint_eq(ek_alert_registry_count(s.book), 2);
    end(&s);
}
END_TEST

START_TEST(what_ends_at_once_or_comes_back_at_once_is_not_told)
{
    struct scene s;
    begin(&s, 10);
    price(&s, "confirmed");
    price(&s, "dismissed");
    s.now_ms += 2 * WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL) + told(&s, MANAGER, NULL), 0);
    price(&s, "confirmed");
    s.now_ms += WAIT_MS - 1;
    ck_assert_int_eq(told(&s, SLACK, NULL), 0);
    s.now_ms++;
    ck_assert_int_eq(told(&s, SLACK, NULL), 1);
    price(&s, "recovered");
    price(&s, "confirmed");
    s.now_ms += 2 * WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL), 0);
    end(&s);
}
END_TEST

START_TEST(at_the_end_nothing_waits_for_others_of_its_cause)
{
    struct scene s;
    struct ek_alert a = {.firing = true};
    begin(&s, 10);
    price(&s, "confirmed");
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL), 1);
    hear(&s,
         json_of(&(struct finding){.feature = "rating", .state = "confirmed", .cause = "c-10"}));
    s.now_ms += 10;
    ck_assert_int_eq(told(&s, SLACK, NULL), 0);
    ek_alert_queue_skip_waits(s.queue);
    ck_assert_uint_eq(ek_alert_queue_backlog(s.queue, s.now_ms).waiting, 3);
    ck_assert_int_eq(told(&s, SLACK, &a), 1); /* the next process considers it sent */
    ck_assert_str_eq(a.feature, "rating");
    price(&s, "recovered");
    ck_assert_int_eq(told(&s, SLACK, &a), 1);
    ck_assert(!a.firing);
    price(&s, "confirmed");
    price(&s, "dismissed");
    ck_assert_int_eq(told(&s, SLACK, NULL), 0); /* it was empty */
    end(&s);
}
END_TEST

START_TEST(while_it_fires_only_who_asks_for_it_is_told_again)
{
    struct scene s;
    begin(&s, 10);
    price(&s, "confirmed");
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL) + told(&s, MANAGER, NULL), 2);
    price(&s, "updated");
    s.now_ms += REPEAT_MS - 1;
    ck_assert_int_eq(told(&s, SLACK, NULL) + told(&s, MANAGER, NULL), 0);
    ck_assert_int_eq((int)ek_alert_queue_wait_ms(s.queue, s.now_ms), 1);
    s.now_ms++;
    ck_assert_int_eq(told(&s, SLACK, NULL), 0);
    ck_assert_int_eq(told(&s, MANAGER, NULL), 1);
    end(&s);
}
END_TEST

START_TEST(another_action_or_feature_is_news_at_a_pace)
{
    struct scene s;
    struct ek_alert a = {.firing = true};
    begin(&s, 10);
    hear(&s,
         json_of(&(struct finding){.feature = "price", .state = "confirmed", .mode = "observe"}));
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, &a), 1);
    ck_assert_str_eq(a.action, "not routed to the wide path: the mode is observe");
    price(&s, "updated");
    s.now_ms += EK_ALERT_PACE_MS - 1;
    ck_assert_int_eq(told(&s, SLACK, NULL), 0);
    s.now_ms++;
    ck_assert_int_eq(told(&s, SLACK, &a), 1);
    ck_assert_str_eq(a.action, "routed to the wide path");
    ck_assert_int_eq(told(&s, SLACK, NULL), 0);
    end(&s);
}
END_TEST

START_TEST(what_a_state_had_goes_on_under_its_name_and_is_not_told_as_new)
{
    struct scene s;
    struct ek_alert a = {.firing = true};
    begin(&s, 10);
    ek_alert_registry_start_replay(s.book);
    hear_as(&s, json_of(&(struct finding){.feature = "price", .state = "updated"}), true, true);
    ek_alert_registry_stop_replay(s.book, when(&s));
    s.now_ms += 3 * WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL), 0);
    ck_assert_int_eq(told(&s, MANAGER, &a), 1);
    ck_assert_str_eq(a.feature, "price");
    price(&s, "recovered");
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, &a), 1);
    ck_assert(!a.firing);
    end(&s);
}
END_TEST

/* The earlier process has opened it there. */
START_TEST(an_alert_of_a_state_that_ends_at_once_is_resolved_at_a_sink_that_deduplicates)
{
    struct scene s;
    struct ek_alert a = {.firing = true};
    begin(&s, 10);
    ek_alert_registry_start_replay(s.book);
    hear_as(&s, json_of(&(struct finding){.feature = "price", .state = "updated"}), true, true);
    ek_alert_registry_stop_replay(s.book, when(&s));
    s.now_ms += WAIT_MS / 2;
    price(&s, "recovered");
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, MANAGER, &a), 1);
    ck_assert(!a.firing);
    end(&s);
}
END_TEST

START_TEST(an_alert_that_relapses_with_another_action_is_sent)
{
    struct scene s;
    struct ek_alert a = {.firing = false};
    begin(&s, 10);
    price(&s, "confirmed");
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL), 1);
    price(&s, "recovered");
    s.now_ms += WAIT_MS / 2;
    hear(&s, json_of(&(struct finding){
                 .feature = "price", .state = "confirmed", .action = "alert", .cause = "c-9"}));
    s.now_ms += 60000;
    ck_assert_int_eq(told(&s, SLACK, &a), 1);
    ck_assert(a.firing);
    ck_assert_str_eq(a.action, "no action; it is only reported");
    end(&s);
}
END_TEST

START_TEST(a_stop_sends_an_update_before_its_minute_is_over)
{
    struct scene s;
    begin(&s, 10);
    price(&s, "confirmed");
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL), 1);
    s.now_ms += 1000;
    hear(&s, json_of(&(struct finding){
                 .feature = "price", .state = "updated", .action = "alert", .cause = "c-9"}));
    ck_assert_int_eq(told(&s, SLACK, NULL), 0);
    ek_alert_queue_skip_waits(s.queue);
    ck_assert_int_eq(told(&s, SLACK, NULL), 1);
    end(&s);
}
END_TEST

START_TEST(an_alert_that_a_sink_rejects_holds_no_other_back)
{
    struct scene s;
    const struct ek_alert_entry *e;
    begin(&s, 10);
    price(&s, "confirmed");
    s.now_ms += 10;
    hear(&s,
         json_of(&(struct finding){.feature = "rating", .state = "confirmed", .cause = "c-10"}));
    s.now_ms += WAIT_MS + 1;
    e = ek_alert_queue_next(s.queue, SLACK, s.now_ms);
    ck_assert_str_eq(e->alert.feature, "price");
    ek_alert_queue_finish(s.queue, SLACK, EK_ALERT_FAILED, 0, s.now_ms);
    s.now_ms += 60000;
    e = ek_alert_queue_next(s.queue, SLACK, s.now_ms);
    ck_assert_str_eq(e->alert.feature, "rating");
    ek_alert_queue_finish(s.queue, SLACK, EK_ALERT_SENT, 0, s.now_ms);
    e = ek_alert_queue_next(s.queue, SLACK, s.now_ms);
    ck_assert_str_eq(e->alert.feature, "price");
    ek_alert_queue_finish(s.queue, SLACK, EK_ALERT_SENT, 0, s.now_ms);
    end(&s);
}
END_TEST

START_TEST(what_a_recall_leaves_out_has_ended)
{
    struct scene s;
    begin(&s, 10);
    price(&s, "confirmed");
    hear(&s,
         json_of(&(struct finding){.feature = "rating", .state = "confirmed", .cause = "c-10"}));
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL), 2);
    ek_alert_registry_start_replay(s.book);
    hear_as(&s, json_of(&(struct finding){.feature = "price", .state = "updated", .cause = "c-77"}),
            true, true);
    ek_alert_registry_stop_replay(s.book, when(&s));
    s.now_ms += WAIT_MS;
    struct ek_alert a = {.firing = true};
    ck_assert_int_eq(told(&s, SLACK, &a), 1);
    ck_assert(!a.firing);
    ck_assert_str_eq(a.feature, "rating");
    end(&s);
}
END_TEST

START_TEST(in_a_fleet_one_tells_and_another_goes_on_with_it)
{
    struct scene s;
    begin(&s, 10);
    hear_as(&s, json_of(&(struct finding){.feature = "price", .state = "confirmed"}), false, false);
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL) + told(&s, MANAGER, NULL), 0);
    price(&s, "updated");
    ck_assert_int_eq(told(&s, SLACK, NULL), 0);
    ck_assert_int_eq(told(&s, MANAGER, NULL), 1);
    price(&s, "recovered");
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL) + told(&s, MANAGER, NULL), 2);
    end(&s);
}
END_TEST

START_TEST(a_sink_that_fails_is_tried_later_and_later_with_the_newest_state)
{
    struct scene s;
    begin(&s, 10);
    price(&s, "confirmed");
    s.now_ms += WAIT_MS;
    int64_t wait = 1000;
    for (int i = 0; i < 8; i++) {
        ck_assert_ptr_nonnull(ek_alert_queue_next(s.queue, SLACK, s.now_ms));
        ck_assert_ptr_null(ek_alert_queue_next(s.queue, SLACK, s.now_ms)); /* it is busy */
        ek_alert_queue_finish(s.queue, SLACK, EK_ALERT_FAILED, 0, s.now_ms);
        s.now_ms += wait - 1;
        ck_assert_ptr_null(ek_alert_queue_next(s.queue, SLACK, s.now_ms));
        s.now_ms++;
        wait = 2 * wait < EK_ALERT_BACK_OFF_MAX_MS ? 2 * wait : EK_ALERT_BACK_OFF_MAX_MS;
    }
    struct ek_alert_backlog b = ek_alert_queue_backlog(s.queue, s.now_ms);
    ck_assert_uint_eq(b.waiting, 2);
    ck_assert_int_ge(b.oldest_ms, 60000);
    price(&s, "recovered");
    s.now_ms += WAIT_MS;
    struct ek_alert a = {.firing = true};
    ck_assert_int_eq(told(&s, SLACK, &a), 1); /* fired and resolved */
    ck_assert(!a.firing);
    end(&s);
}
END_TEST

static void fail_once(struct scene *s)
{
    ck_assert_ptr_nonnull(ek_alert_queue_next(s->queue, SLACK, s->now_ms));
    ek_alert_queue_finish(s->queue, SLACK, EK_ALERT_FAILED, 0, s->now_ms);
}

START_TEST(a_sink_that_took_one_is_tried_soon_after_it_fails_again)
{
    struct scene s;
    begin(&s, 10);
    price(&s, "confirmed");
    s.now_ms += WAIT_MS;
    for (int i = 0; i < 5; i++) {
        fail_once(&s);
        s.now_ms += EK_ALERT_BACK_OFF_MAX_MS;
    }
    ck_assert_int_eq(told(&s, SLACK, NULL), 1);
    price(&s, "recovered");
    s.now_ms += WAIT_MS;
    fail_once(&s);
    s.now_ms += 1000;
    ck_assert_int_eq(told(&s, SLACK, NULL), 1);
    end(&s);
}
END_TEST

START_TEST(a_sink_hears_of_nothing_less_serious_than_it_asks_for)
{
    static const struct ek_alert_rule serious = {.min_severity = EK_ALERT_CRITICAL};
    struct scene s;
    struct ek_alert a = {.firing = true};
    begin(&s, 10);
    ek_alert_queue_free(s.queue);
    s.queue = ek_alert_queue_new(s.book, &serious, 1, WAIT_MS);
    price(&s, "confirmed");
    hear(&s, WITHDRAWN);
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, 0, &a), 1);
    ck_assert_int_eq((int)a.kind, EK_ALERT_ROUTE_ROLLED_BACK);
    price(&s, "recovered");
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, 0, &a), 1);
    ck_assert_int_eq((int)a.kind, EK_ALERT_ROUTE_ROLLED_BACK);
    ek_alert_queue_remove_ended(s.queue, s.now_ms);
    ck_assert_uint_eq(ek_alert_registry_count(s.book), 0);
    end(&s);
}
END_TEST

START_TEST(a_sink_that_asks_to_wait_is_waited_for_within_a_limit)
{
    struct scene s;
    begin(&s, 10);
    price(&s, "confirmed");
    s.now_ms += WAIT_MS;
    ek_alert_queue_next(s.queue, SLACK, s.now_ms);
    ek_alert_queue_finish(s.queue, SLACK, EK_ALERT_FAILED, 30000, s.now_ms);
    ck_assert_int_eq(told(&s, MANAGER, NULL), 1); /* independent of the other sink */
    ck_assert_int_eq((int)ek_alert_queue_wait_ms(s.queue, s.now_ms), 30000);
    s.now_ms += 30000;
    ek_alert_queue_next(s.queue, SLACK, s.now_ms);
    ek_alert_queue_finish(s.queue, SLACK, EK_ALERT_FAILED, INT64_MAX / 2, s.now_ms);
    s.now_ms += EK_ALERT_RETRY_AFTER_MAX_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL), 1);
    end(&s);
}
END_TEST

START_TEST(what_a_sink_refuses_is_not_sent_again)
{
    struct scene s;
    begin(&s, 10);
    price(&s, "confirmed");
    s.now_ms += WAIT_MS;
    ck_assert_ptr_nonnull(ek_alert_queue_next(s.queue, SLACK, s.now_ms));
    ek_alert_queue_finish(s.queue, SLACK, EK_ALERT_REFUSED, 0, s.now_ms);
    ck_assert_int_eq(told(&s, SLACK, NULL), 0);
    end(&s);
}
END_TEST

static int reach(struct scene *s, const char *limit)
{
    struct ek_alert_update news;
    char json[200];
    snprintf(json, sizeof json, "{\"event\":\"limit\",\"limit\":\"%s\",\"time_ms\":1}", limit);
    ek_alert_update_read(&news, event_from(json));
    return ek_alert_registry_add(s->book, &news, true, false, when(s));
}

START_TEST(too_many_alerts_lose_one_that_ended_and_else_the_newcomer)
{
    struct scene s;
    begin(&s, 2);
    price(&s, "confirmed");
    ck_assert_int_eq(reach(&s, "cells"), 0);
    ck_assert_int_eq(reach(&s, "plan"), EK_ENOMEM); /* both fire */
    ck_assert_uint_eq(ek_alert_registry_dropped_count(s.book), 0);
    price(&s, "recovered");
    ck_assert_int_eq(reach(&s, "plan"), 0);
    ck_assert_uint_eq(ek_alert_registry_count(s.book), 2);
    ck_assert_uint_eq(ek_alert_registry_dropped_count(s.book), 1);
    for (size_t i = 0; i < 2; i++)
        ck_assert(ek_alert_registry_get(s.book, i)->alert.firing);
    end(&s);
}
END_TEST

START_TEST(an_alert_that_somebody_is_being_told_of_stays)
{
    struct scene s;
    begin(&s, 1);
    price(&s, "confirmed");
    s.now_ms += WAIT_MS;
    ck_assert_ptr_nonnull(ek_alert_queue_next(s.queue, SLACK, s.now_ms));
    price(&s, "recovered");
    ck_assert_int_eq(reach(&s, "plan"), EK_ENOMEM); /* a delivery is in progress */
    s.now_ms += 2 * WAIT_MS;
    ek_alert_queue_remove_ended(s.queue, s.now_ms);
    ck_assert_uint_eq(ek_alert_registry_count(s.book), 1);
    ek_alert_queue_finish(s.queue, SLACK, EK_ALERT_SENT, 0, s.now_ms);
    ck_assert_int_eq(reach(&s, "plan"), 0);
    end(&s);
}
END_TEST

START_TEST(so_does_one_that_another_instance_ends_meanwhile)
{
    struct scene s;
    begin(&s, 10);
    price(&s, "confirmed");
    s.now_ms += WAIT_MS;
    ck_assert_ptr_nonnull(ek_alert_queue_next(s.queue, SLACK, s.now_ms));
    hear_as(&s, json_of(&(struct finding){.feature = "price", .state = "recovered"}), false, false);
    s.now_ms += 2 * WAIT_MS;
    ek_alert_queue_remove_ended(s.queue, s.now_ms);
    ck_assert_uint_eq(ek_alert_registry_count(s.book), 1);
    ek_alert_queue_finish(s.queue, SLACK, EK_ALERT_SENT, 0, s.now_ms);
    ek_alert_queue_remove_ended(s.queue, s.now_ms);
    ck_assert_uint_eq(ek_alert_registry_count(s.book), 0);
    end(&s);
}
END_TEST

START_TEST(what_nobody_heard_of_goes_before_what_somebody_holds_for_firing)
{
    struct scene s;
    begin(&s, 2);
    price(&s, "confirmed");
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL), 1);
    price(&s, "recovered");
    s.now_ms++;
    hear(&s,
         json_of(&(struct finding){.feature = "rating", .state = "confirmed", .cause = "c-10"}));
    hear(&s,
         json_of(&(struct finding){.feature = "rating", .state = "dismissed", .cause = "c-10"}));
    ck_assert_int_eq(reach(&s, "plan"), 0);
    s.now_ms += WAIT_MS;
    struct ek_alert a = {.firing = true};
    ck_assert_int_eq(told(&s, SLACK, &a), 2);
    ck_assert_uint_eq(ek_alert_registry_dropped_count(s.book), 1);
    for (size_t i = 0; i < 2; i++)
        ck_assert_str_ne(ek_alert_registry_get(s.book, i)->alert.feature, "rating");
    end(&s);
}
END_TEST

/* Check the alert update of an event: "kind feature segment limit instance, firing". */
static void says(const char *json, enum ek_alert_update_kind what, enum ek_alert_kind kind,
                 const char *sentence)
{
    struct ek_alert_update n;
    char text[EK_ALERT_SENTENCE_BYTES];
    ek_alert_update_read(&n, event_from(json));
    ck_assert_int_eq((int)n.what, (int)what);
    ck_assert_int_eq((int)n.alert.kind, (int)kind);
    ek_alert_sentence(&n.alert, text);
    ck_assert_str_eq(text, sentence);
}

#define TIME "\"time_ms\":1790001121472"

START_TEST(what_else_goes_wrong_is_an_alert_until_it_is_over)
{
    says("{\"event\":\"decision\",\"type\":\"rollback\"," TIME ",\"feature\":\"price\","
         "\"segment\":null,\"guardrail\":\"rank_change_p95\",\"observed\":0.62,\"limit\":0.5}",
         EK_ALERT_FIRES, EK_ALERT_ROUTE_ROLLED_BACK,
         "a guardrail rolled back the route of price since 21 Sep 14:32 UTC: rank_change_p95 "
         "is 0.62, the rules allow 0.5; lists are ranked with the faulty feature until an operator "
         "resumes the route (evenkeel resume)");
    says("{\"event\":\"decision\",\"type\":\"resume\"," TIME ",\"feature\":\"price\"}",
         EK_ALERT_ENDS, EK_ALERT_ROUTE_ROLLED_BACK, "");
    says("{\"event\":\"decision\",\"type\":\"pause\"," TIME
         ",\"actor\":\"ana\",\"reason\":\"odd\"}",
         EK_ALERT_FIRES, EK_ALERT_PAUSED,
         "evenkeel is paused since 21 Sep 14:32 UTC: by ana, odd; all messages are forwarded "
         "unchanged until an operator resumes (evenkeel resume)");
    says("{\"event\":\"decision\",\"type\":\"resume\"," TIME ",\"actor\":null,\"reason\":null}",
         EK_ALERT_ENDS, EK_ALERT_PAUSED, "");
    says("{\"event\":\"reload\",\"result\":\"refused\"," TIME ",\"errors\":[{\"file\":\"run.yaml\","
         "\"line\":3,\"column\":59,\"message\":\"no\"}]}",
         EK_ALERT_FIRES, EK_ALERT_RELOAD_REFUSED,
         "a reload was refused since 21 Sep 14:32 UTC: run.yaml:3:59: no; the previous version "
         "stays in force");
    says("{\"event\":\"reload\",\"result\":\"done\"," TIME ",\"errors\":[]}", EK_ALERT_ENDS,
         EK_ALERT_RELOAD_REFUSED, "");
    says("{\"event\":\"model_drift\",\"state\":\"recovered\"," TIME "}", EK_ALERT_ENDS,
         EK_ALERT_MODEL_DRIFT, "");
    says("{\"event\":\"fleet\",\"state\":\"plan_stale\"," TIME
         ",\"instance\":\"a\",\"text\":\"no plan\"}",
         EK_ALERT_FIRES, EK_ALERT_FLEET_PLAN_STALE,
         "instance a receives no plan of its fleet since 21 Sep 14:32 UTC: no plan; the last plan "
         "stays in force; this instance receives no newer plan");
    says("{\"event\":\"fleet\",\"state\":\"plan_recovered\"," TIME "}", EK_ALERT_ENDS,
         EK_ALERT_FLEET_PLAN_STALE, "");
    says("{\"event\":\"fleet\",\"state\":\"duplicate_instance\"," TIME
         ",\"instance\":\"a\",\"text\":\"both tell\"}",
         EK_ALERT_FIRES, EK_ALERT_FLEET_DUPLICATE_INSTANCE,
         "two processes of the fleet have the name a since 21 Sep 14:32 UTC: both tell; reports of "
         "the process that started first are dropped; give each process its own service.instance");
    says("{\"event\":\"fleet\",\"state\":\"instance_unique\"," TIME ",\"instance\":\"a\"}",
         EK_ALERT_ENDS, EK_ALERT_FLEET_DUPLICATE_INSTANCE, "");
    says("{\"event\":\"decision\",\"type\":\"step\",\"feature\":\"price\"}", EK_ALERT_NO_UPDATE,
         EK_ALERT_DRIFT, "");
}
END_TEST

START_TEST(an_alert_without_a_model_has_this_reason)
{
    static const char *const modes[] = {"enforce", "observe"}, *const actions[] = {"alert",
                                                                                   "route"};
    char json[400];
    for (int i = 0; i < 2; i++) {
        snprintf(json, sizeof json,
                 "{\"event\":\"finding\",\"state\":\"confirmed\",\"feature\":\"price\",\"segment\":"
                 "null,\"class\":\"scale\",\"factor\":100,\"fraction\":1,\"units\":[],\"since_ms\":"
                 "1790001058400,\"mitigation\":\"%s\",\"mode\":\"%s\",\"no_model\":true,"
                 "\"incident_id\":\"c-1\",\"features\":[\"price\"],\"text\":\"\"}",
                 actions[i], modes[i]);
        says(json, EK_ALERT_FINDING_OPEN, EK_ALERT_DRIFT,
             "price x100 since 21 Sep 14:30 UTC; no action; there is no model");
    }
}
END_TEST

START_TEST(a_condition_of_the_input_is_an_alert_until_it_is_over)
{
    says("{\"event\":\"input\",\"state\":\"begun\",\"condition\":\"partly_undecodable\"," TIME
         ",\"text\":\"11 of 101 messages cannot be read, 11% of the newest; they are in dead: "
         "items: "
         "missing\"}",
         EK_ALERT_FIRES, EK_ALERT_PARTLY_UNDECODABLE,
         "some input messages cannot be read since 21 Sep 14:32 UTC: 11 of 101 messages cannot be "
         "read, 11% of the newest; they are in dead: items: missing; these messages are not "
         "guarded; correct their producer or the paths under 'message'");
    says("{\"event\":\"input\",\"state\":\"ended\",\"condition\":\"partly_undecodable\"," TIME
         ",\"text\":\"it is over\"}",
         EK_ALERT_ENDS, EK_ALERT_PARTLY_UNDECODABLE, "");
    says("{\"event\":\"input\",\"state\":\"begun\",\"condition\":\"topic_missing\"," TIME
         ",\"text\":\"topic 'scored' of 'input.topics' does not exist\"}",
         EK_ALERT_FIRES, EK_ALERT_TOPIC_MISSING,
         "an input topic is missing since 21 Sep 14:32 UTC: topic 'scored' of 'input.topics' does "
         "not exist; the instance is not ready; create the topic or correct its name");
    says("{\"event\":\"input\",\"state\":\"begun\",\"condition\":\"unmapped\"," TIME
         ",\"text\":\"no list has it: time\"}",
         EK_ALERT_FIRES, EK_ALERT_UNMAPPED,
         "an expected field is in no message since 21 Sep 14:32 UTC: no list has it: time; no list "
         "is changed while a segment is missing");
}
END_TEST

START_TEST(a_rolled_back_route_is_over_with_its_finding)
{
    struct scene s;
    begin(&s, 10);
    price(&s, "confirmed");
    hear(&s, "{\"event\":\"decision\",\"type\":\"rollback\",\"time_ms\":1,\"feature\":\"price\","
             "\"segment\":{\"arm\":\"B\"},\"guardrail\":\"rank_change_p95\"}");
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL), 2);
    price(&s, "recovered");
    s.now_ms += WAIT_MS;
    ck_assert_int_eq(told(&s, SLACK, NULL), 2);
    ek_alert_queue_remove_ended(s.queue, s.now_ms);
    end(&s);
}
END_TEST

START_TEST(a_rolled_back_route_is_over_when_a_recall_leaves_out_its_finding)
{
    struct scene s;
    begin(&s, 10);
    price(&s, "confirmed");
    hear(&s, WITHDRAWN);
    ck_assert_int_eq(firing(&s), 2);
    ek_alert_registry_start_replay(s.book);
    ek_alert_registry_stop_replay(s.book, when(&s));
    ck_assert_int_eq(firing(&s), 0);
    end(&s);
}
END_TEST

START_TEST(a_guard_that_begins_anew_ends_what_it_had_found_and_nothing_else)
{
    struct scene s;
    begin(&s, 10);
    price(&s, "confirmed");
    hear(&s, WITHDRAWN);
    hear(&s, "{\"event\":\"model_drift\",\"state\":\"drifted\",\"time_ms\":1}");
    hear(&s, "{\"event\":\"decision\",\"type\":\"pause\",\"time_ms\":1}");
    ck_assert_int_eq(reach(&s, "plan"), 0);
    ck_assert_int_eq(firing(&s), 5);
    ek_alert_registry_reset(s.book, when(&s));
    ck_assert_int_eq(firing(&s), 1);
    end(&s);
}
END_TEST

START_TEST(a_limit_is_not_over_while_it_holds_a_finding_back)
{
    struct scene s;
    struct ek_alert_update news;
    begin(&s, 10);
    ck_assert_int_eq(reach(&s, "plan"), 0);
    ek_alert_update_read(
        &news, event_from(json_of(&(struct finding){.feature = "price", .state = "confirmed"})));
    ek_alert_copy(news.limit, sizeof news.limit, "plan");
    ck_assert_int_eq(ek_alert_registry_add(s.book, &news, true, false, when(&s)), 0);
    s.now_ms += 2 * EK_ALERT_BRIEF_MS;
    ek_alert_registry_age(s.book, when(&s));
    ck_assert_int_eq(firing(&s), 2);
    price(&s, "updated"); /* no longer delayed */
    s.now_ms += EK_ALERT_BRIEF_MS;
    ek_alert_registry_age(s.book, when(&s));
    ck_assert_int_eq(firing(&s), 1);
    end(&s);
}
END_TEST

START_TEST(only_a_limit_of_the_plan_holds_actions_back)
{
    static const char *const limits[] = {"plan", "items"};
    struct scene s;
    begin(&s, 10);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(reach(&s, limits[i]), 0);
        const struct ek_alert *a = &ek_alert_registry_get(s.book, i)->alert;
        char sentence[EK_ALERT_SENTENCE_BYTES];
        ek_alert_sentence(a, sentence);
        ck_assert_int_eq(!!strstr(sentence, "without action"), i == 0);
        ck_assert_int_eq(!!*a->action, i == 0);
    }
    end(&s);
}
END_TEST

START_TEST(severity_is_part_of_what_it_is)
{
    struct ek_alert a = {.kind = EK_ALERT_LIMIT_REACHED, .limit = "cells"};
    ck_assert_int_eq((int)ek_alert_get_severity(&a), EK_ALERT_WARNING);
    struct ek_alert b = {.kind = EK_ALERT_LIMIT_REACHED, .limit = "max_routed_features"};
    ck_assert_int_eq((int)ek_alert_get_severity(&b), EK_ALERT_CRITICAL);
}
END_TEST

START_TEST(a_key_that_is_too_long_keeps_being_one)
{
    struct ek_alert a = {.kind = EK_ALERT_DRIFT, .segment = "arm=B", .class = "scale"}, b;
    char one[EK_ALERT_KEY_BYTES], two[EK_ALERT_KEY_BYTES];
    snprintf(a.feature, sizeof a.feature, "price");
    ek_alert_key(&a, "hotels", one);
    ck_assert_str_eq(one, "evenkeel/hotels/drift/price/arm=B/scale");
    memset(a.feature, 'x', sizeof a.feature - 1);
    b = a;
    snprintf(b.class, sizeof b.class, "power");
    ek_alert_key(&a, "hotels", one);
    ek_alert_key(&b, "hotels", two);
    ck_assert_str_ne(one, two);
    ck_assert_uint_lt(strlen(one), EK_ALERT_KEY_BYTES);
}
END_TEST

START_TEST(answers_are_judged_by_whether_trying_again_may_help)
{
    static const int failed[] = {0, 100, 408, 429, 500, 503, 599}, refused[] = {301, 400, 403, 404};
    ck_assert_int_eq(ek_alert_check_response(&(struct ek_http_response){.status = 202}),
                     EK_ALERT_SENT);
    for (size_t i = 0; i < sizeof failed / sizeof *failed; i++)
        ck_assert_int_eq(ek_alert_check_response(&(struct ek_http_response){.status = failed[i]}),
                         EK_ALERT_FAILED);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        ck_assert_int_eq(ek_alert_check_response(&(struct ek_http_response){.status = refused[i]}),
                         EK_ALERT_REFUSED);
}
END_TEST

START_TEST(an_answer_with_a_secret_is_not_shown)
{
    char url[] = "https://a.example/services/T0/secret", token[] = "tokentoken";
    struct ek_alert_sink s = {.url = url, .token = token};
    struct ek_http_response answer = {.text = "no such hook /services/T0/secret"};
    char out[EK_HTTP_START_BYTES];
    ek_alert_format_response(&s, &answer, out);

    ck_assert_ptr_null(strstr(out, "T0"));
    snprintf(answer.text, sizeof answer.text, "bad\ntokentoken");
    ek_alert_format_response(&s, &answer, out);
    ck_assert_ptr_null(strstr(out, "token"));
    snprintf(answer.text, sizeof answer.text, "two\nlines");
    ek_alert_format_response(&s, &answer, out);
    ck_assert_str_eq(out, "two lines");
}
END_TEST

Suite *suite_alert(void)
{
    return ek_suite(
        "alert", a_cause_of_many_features_is_one_alert_from_first_to_last,
        an_alert_of_missing_values_has_their_fraction_in_training,
        an_alert_whose_level_is_accepted_is_not_told_as_resolved, another_cause_is_another_alert,
        what_ends_at_once_or_comes_back_at_once_is_not_told,
        at_the_end_nothing_waits_for_others_of_its_cause,
        while_it_fires_only_who_asks_for_it_is_told_again,
        another_action_or_feature_is_news_at_a_pace,
        what_a_state_had_goes_on_under_its_name_and_is_not_told_as_new,
        an_alert_of_a_state_that_ends_at_once_is_resolved_at_a_sink_that_deduplicates,
        an_alert_that_relapses_with_another_action_is_sent,
        a_stop_sends_an_update_before_its_minute_is_over,
        an_alert_that_a_sink_rejects_holds_no_other_back, what_a_recall_leaves_out_has_ended,
        in_a_fleet_one_tells_and_another_goes_on_with_it,
        a_sink_that_fails_is_tried_later_and_later_with_the_newest_state,
        a_sink_that_took_one_is_tried_soon_after_it_fails_again,
        a_sink_hears_of_nothing_less_serious_than_it_asks_for,
        a_sink_that_asks_to_wait_is_waited_for_within_a_limit,
        what_a_sink_refuses_is_not_sent_again,
        too_many_alerts_lose_one_that_ended_and_else_the_newcomer,
        an_alert_that_somebody_is_being_told_of_stays,
        so_does_one_that_another_instance_ends_meanwhile,
        what_nobody_heard_of_goes_before_what_somebody_holds_for_firing,
        what_else_goes_wrong_is_an_alert_until_it_is_over,
        a_condition_of_the_input_is_an_alert_until_it_is_over,
        an_alert_without_a_model_has_this_reason, a_rolled_back_route_is_over_with_its_finding,
        a_rolled_back_route_is_over_when_a_recall_leaves_out_its_finding,
        a_guard_that_begins_anew_ends_what_it_had_found_and_nothing_else,
        a_limit_is_not_over_while_it_holds_a_finding_back,
        only_a_limit_of_the_plan_holds_actions_back, severity_is_part_of_what_it_is,
        a_key_that_is_too_long_keeps_being_one, answers_are_judged_by_whether_trying_again_may_help,
        an_answer_with_a_secret_is_not_shown);
}
