/* Conditions of the message flow: what is undecodable, silent, stalled, lost or unmapped. */
#include "daemon/stage/flow_monitor.h"

#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { SECOND = 1000 };

struct scene {
    struct ek_flow_monitor *flow;
    struct ek_flow_progress progress;
    int64_t now;
};

static void begin(struct scene *s, int64_t silence_ms)
{
    *s = (struct scene){.now = SECOND, .progress = {.partitions = 1}};
    s->flow = ek_flow_monitor_new(silence_ms, true, "dead", s->now);
    ck_assert_ptr_nonnull(s->flow);
}

/* Let a second pass in which lists and undecodable messages come, and all are handled. */
static void pass(struct scene *s, int lists, int undecodable)
{
    struct ek_list q = {.time_ms = -1};
    for (int i = 0; i < lists; i++)
        ek_flow_monitor_add_list(s->flow, &q, false);
    for (int i = 0; i < undecodable; i++)
        ek_flow_monitor_add_undecodable(s->flow, "scored", 3, 17 + i, "items: missing");
    s->progress.consumed += (uint64_t)(lists + undecodable);
    s->progress.handled = s->progress.consumed;
    s->now += SECOND;
    ek_flow_monitor_add_progress(s->flow, &s->progress, s->now);
    ek_flow_monitor_evaluate(s->flow, s->now);
}

static struct ek_flow_view view(const struct scene *s)
{
    struct ek_flow_view v;
    ek_flow_monitor_get(s->flow, s->now, &v);
    return v;
}

static bool is(const struct scene *s, enum ek_flow_condition which)
{
    return view(s).condition[which].active;
}

static const char *text_of(const struct scene *s, enum ek_flow_condition which)
{
    static struct ek_flow_view v;
    v = view(s);
    return v.condition[which].text;
}

static void assert_json(const struct scene *s, const char *part)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_flow_monitor_json(s->flow, s->now, &out), 0);
    ck_assert_msg(strstr(ek_buf_string(&out), part) != NULL, "%s", ek_buf_string(&out));
    ek_buf_release(&out);
}

START_TEST(no_data_is_a_state_of_its_own)
{
    struct scene s;
    begin(&s, 0);
    pass(&s, 0, 0);
    assert_json(&s, "\"state\":\"no_data\"");
    pass(&s, 1, 0);
    assert_json(&s, "\"state\":\"ok\"");
    ek_flow_monitor_free(s.flow);
}
END_TEST

START_TEST(messages_that_cannot_be_read_are_reported_with_the_first_reason_and_their_place)
{
    struct scene s;
    begin(&s, 0);
    pass(&s, 0, 2);
    ck_assert(view(&s).never_decoded);
    ck_assert(is(&s, EK_FLOW_UNDECODABLE));
    ck_assert_str_eq(text_of(&s, EK_FLOW_UNDECODABLE),
                     "2 of 2 messages cannot be read; they are in dead: items: missing (topic "
                     "'scored' partition 3 offset 17)");
    assert_json(&s, "\"state\":\"undecodable\"");
    for (int i = 0; i < 3; i++)
        pass(&s, 100, 0);
    ck_assert(!is(&s, EK_FLOW_UNDECODABLE) && !view(&s).never_decoded);
    pass(&s, 100, 1); /* few */
    ck_assert(!is(&s, EK_FLOW_UNDECODABLE));
    for (int i = 0; i < 10; i++)
        pass(&s, 0, 100);
    ck_assert(is(&s, EK_FLOW_UNDECODABLE));
    ek_flow_monitor_free(s.flow);
}
END_TEST

START_TEST(one_percent_of_messages_that_cannot_be_read_is_a_condition)
{
    struct scene s;
    begin(&s, 0);
    pass(&s, 1000, 0);
    pass(&s, 500, 9); /* fewer than ten */
    ck_assert(!is(&s, EK_FLOW_PARTLY_UNDECODABLE));
    for (int i = 0; i < 60; i++)
        pass(&s, 80, 1);
    ck_assert(is(&s, EK_FLOW_PARTLY_UNDECODABLE) && !is(&s, EK_FLOW_UNDECODABLE));
    ck_assert_str_eq(text_of(&s, EK_FLOW_PARTLY_UNDECODABLE),
                     "69 of 6369 messages cannot be read, 1.2% of the newest; they are in dead: "
                     "items: missing (topic 'scored' partition 3 offset 17)");
    assert_json(&s, "\"state\":\"partly_undecodable\"");
    for (int i = 0; i < 60; i++)
        pass(&s, 80, 0);
    ck_assert(!is(&s, EK_FLOW_PARTLY_UNDECODABLE));
    ek_flow_monitor_free(s.flow);
}
END_TEST

START_TEST(half_of_the_messages_that_cannot_be_read_are_not_most)
{
    struct scene s;
    begin(&s, 0);
    for (int i = 0; i < 30; i++)
        pass(&s, 40, 40);
    ck_assert(is(&s, EK_FLOW_PARTLY_UNDECODABLE) && !is(&s, EK_FLOW_UNDECODABLE));
    for (int i = 0; i < 30; i++)
        pass(&s, 0, 40);
    ck_assert(!is(&s, EK_FLOW_PARTLY_UNDECODABLE) && is(&s, EK_FLOW_UNDECODABLE));
    for (int i = 0; i < 30; i++) {
        pass(&s, 80, 0);
        ck_assert(!is(&s, EK_FLOW_PARTLY_UNDECODABLE)); /* of the time before */
    }
    ck_assert(!is(&s, EK_FLOW_UNDECODABLE));
    ek_flow_monitor_free(s.flow);
}
END_TEST

START_TEST(a_reason_is_replaced_when_it_is_not_of_the_newest_messages)
{
    struct scene s;
    begin(&s, 0);
    pass(&s, 100, 1);
    ek_flow_monitor_add_undecodable(s.flow, "scored", 1, 5, "score: not a number");
    ck_assert_ptr_nonnull(strstr(view(&s).first_reason, "items: missing"));
    for (int i = 0; i < 60; i++)
        pass(&s, 100, 0);
    ck_assert_ptr_nonnull(strstr(view(&s).first_reason, "items: missing"));
    ek_flow_monitor_add_undecodable(s.flow, "scored", 1, 5, "score: not a number");
    ck_assert_ptr_nonnull(strstr(view(&s).first_reason, "score: not a number"));
    ek_flow_monitor_free(s.flow);
}
END_TEST

START_TEST(an_input_is_silent_after_many_times_the_usual_gap)
{
    struct scene s;
    begin(&s, 0);
    for (int i = 0; i < 20; i++)
        pass(&s, 10, 0);
    for (int i = 0; i < 60; i++)
        pass(&s, 0, 0);
    ck_assert(!is(&s, EK_FLOW_SILENT)); /* at least a minute */
    pass(&s, 0, 0);
    ck_assert(is(&s, EK_FLOW_SILENT));
    ck_assert_int_eq(view(&s).condition[EK_FLOW_SILENT].since_ms, s.now - 61 * SECOND);
    assert_json(&s, "\"state\":\"silent\"");
    assert_json(&s, "usually 10 per second");
    pass(&s, 1, 0);
    ck_assert(!is(&s, EK_FLOW_SILENT));
    ek_flow_monitor_free(s.flow);
    begin(&s, 5 * SECOND);
    pass(&s, 1, 0);
    for (int i = 0; i < 6; i++)
        pass(&s, 0, 0);
    ck_assert(is(&s, EK_FLOW_SILENT));
    ek_flow_monitor_free(s.flow);
}
END_TEST

/* A wrong topic, or a producer that was down before the start. */
START_TEST(an_input_without_a_message_since_the_start_is_silent)
{
    struct scene s;
    begin(&s, 5 * SECOND);
    s.progress.partitions = 0;
    for (int i = 0; i < 10; i++)
        pass(&s, 0, 0); /* others of the group have the partitions */
    ck_assert(!is(&s, EK_FLOW_SILENT));
    s.progress.partitions = 1;
    for (int i = 0; i < 6; i++)
        pass(&s, 0, 0);
    ck_assert(!is(&s, EK_FLOW_SILENT));
    pass(&s, 0, 0);
    ck_assert(is(&s, EK_FLOW_SILENT));
    ck_assert_str_eq(text_of(&s, EK_FLOW_SILENT), "no message since the start, 6 s ago");
    ck_assert_int_eq(view(&s).condition[EK_FLOW_SILENT].since_ms, s.now - 6 * SECOND);
    ek_flow_monitor_free(s.flow);
    /* Without a known gap it takes an hour. */
    for (int messages = 0; messages < EK_FLOW_USUAL_MESSAGES; messages += 50) {
        begin(&s, 0);
        pass(&s, messages, 0);
        for (int i = 0; i < 3600; i++)
            pass(&s, 0, 0);
        ck_assert(!is(&s, EK_FLOW_SILENT));
        pass(&s, 0, 0);
        ck_assert(is(&s, EK_FLOW_SILENT));
        ek_flow_monitor_free(s.flow);
    }
}
END_TEST

START_TEST(ten_seconds_without_output_are_a_stall_while_the_input_has_more)
{
    struct scene s;
    begin(&s, 0);
    s.progress.lag = -1; /* unknown */
    pass(&s, 10, 0);
    s.progress.lag = 0;
    for (int i = 0; i < 20; i++)
        pass(&s, 0, 0); /* nothing to do */
    ck_assert(!is(&s, EK_FLOW_STALLED));
    s.progress.in_flight = 3;
    for (int i = 0; i < 10; i++)
        pass(&s, 0, 0);
    ck_assert(is(&s, EK_FLOW_STALLED));
    ck_assert_ptr_nonnull(strstr(text_of(&s, EK_FLOW_STALLED), "3 messages in flight"));
    pass(&s, 1, 0);
    ck_assert(!is(&s, EK_FLOW_STALLED));
    s.progress.in_flight = 0;
    pass(&s, 0, 0);
    s.progress.lag = 5; /* the log grows, and nothing is read */
    for (int i = 0; i < 10; i++)
        pass(&s, 0, 0);
    ck_assert(is(&s, EK_FLOW_STALLED));
    s.progress.partitions = 0;
    pass(&s, 0, 0);
    ck_assert(!is(&s, EK_FLOW_STALLED));
    ek_flow_monitor_free(s.flow);
}
END_TEST

START_TEST(without_an_output_nothing_is_forwarded)
{
    struct scene s = {.now = SECOND, .progress = {.partitions = 1}};
    s.flow = ek_flow_monitor_new(0, false, NULL, s.now);
    pass(&s, 0, 8);
    ck_assert_ptr_nonnull(strstr(text_of(&s, EK_FLOW_UNDECODABLE),
                                 "8 of 8 messages cannot be read; they are skipped"));
    s.progress.in_flight = 3;
    for (int i = 0; i < 10; i++)
        pass(&s, 0, 0);
    ck_assert_ptr_nonnull(strstr(text_of(&s, EK_FLOW_STALLED), "no list observed for 10 s"));
    ek_flow_monitor_free(s.flow);
}
END_TEST

START_TEST(a_reading_thread_that_stands_still_is_a_stall)
{
    struct scene s;
    begin(&s, 0);
    pass(&s, 1, 0);
    s.now += 11 * SECOND;
    ek_flow_monitor_evaluate(s.flow, s.now);
    ck_assert_ptr_nonnull(strstr(text_of(&s, EK_FLOW_STALLED), "has not run for 11 s"));
    ek_flow_monitor_free(s.flow);
}
END_TEST

START_TEST(losses_add_up_and_stay_for_an_hour)
{
    struct scene s;
    begin(&s, 0);
    ek_flow_monitor_add_loss(s.flow, "scored", 1, 50, 90, s.now);
    ek_flow_monitor_add_loss(s.flow, "scored", 0, 0, 2, s.now);
    pass(&s, 1, 0);
    ck_assert_uint_eq(view(&s).lost, 42);
    ck_assert_str_eq(text_of(&s, EK_FLOW_MESSAGES_LOST),
                     "topic 'scored' partition 0: offsets 0 to 1 (2 messages) were gone before "
                     "they were read");
    s.now += 3600 * SECOND;
    pass(&s, 1, 0);
    ck_assert(!is(&s, EK_FLOW_MESSAGES_LOST));
    ck_assert_uint_eq(view(&s).lost, 42);
    ek_flow_monitor_free(s.flow);
}
END_TEST

START_TEST(a_field_that_no_list_has_is_reported_after_100_lists)
{
    struct scene s;
    char arm[] = "arm", market[] = "market";
    struct ek_rules rules = {.segment_count = 2, .segment = {arm, market}};
    struct ek_list q = {.time_ms = 5, .segment_count = 1, .segments = {{{"arm", 3}, {"B", 1}}}};
    begin(&s, 0);
    ek_flow_monitor_expect(s.flow, &(struct ek_flow_fields){&rules, true, false, 0});
    ck_assert(ek_flow_monitor_lacks_segment(s.flow));
    pass(&s, 99, 0);
    ck_assert(!is(&s, EK_FLOW_UNMAPPED));
    pass(&s, 1, 0);
    ck_assert_str_eq(view(&s).unmapped, "segment arm, segment market, time");
    assert_json(&s, "\"state\":\"unmapped\"");
    ck_assert_str_eq(
        text_of(&s, EK_FLOW_UNMAPPED),
        "no list has it: segment arm, segment market, time; no list is changed without "
        "the segments; correct the paths under 'message'");
    ek_flow_monitor_add_list(s.flow, &q, true);
    pass(&s, 0, 0);
    ck_assert_str_eq(view(&s).unmapped, "segment market");
    rules.segment_count = 1; /* a reload */
    ek_flow_monitor_expect(s.flow, &(struct ek_flow_fields){&rules, true, false, 0});
    pass(&s, 0, 0);
    ck_assert(!is(&s, EK_FLOW_UNMAPPED) && !ek_flow_monitor_lacks_segment(s.flow));
    ek_flow_monitor_expect(s.flow, &(struct ek_flow_fields){&rules, true, true, 2});
    q.items = 1;
    q.score = (double[]){NAN};
    q.query_features = 3;
    q.query = (float[]){NAN, NAN, 2}; /* the last one is derived */
    for (int i = 0; i < 99; i++)
        ek_flow_monitor_add_list(s.flow, &q, true);
    pass(&s, 0, 0);
    ck_assert(!is(&s, EK_FLOW_UNMAPPED)); /* 100 lists since the reload */
    ek_flow_monitor_add_list(s.flow, &q, true);
    pass(&s, 0, 0);
    ck_assert_str_eq(text_of(&s, EK_FLOW_UNMAPPED),
                     "no list has it: score, query features; correct the paths under 'message'");
    q.query[1] = 7;
    ek_flow_monitor_add_list(s.flow, &q, true);
    pass(&s, 0, 0);
    ck_assert_str_eq(view(&s).unmapped, "score");
    ek_flow_monitor_free(s.flow);
}
END_TEST

START_TEST(a_segment_of_the_longest_name_is_found)
{
    struct scene s;
    char name[EK_NAME_BYTES_MAX + 1], *segment = name;
    begin(&s, 0);
    memset(name, 'n', EK_NAME_BYTES_MAX);
    name[EK_NAME_BYTES_MAX] = '\0';
    struct ek_rules rules = {.segment_count = 1, .segment = {segment}};
    struct ek_list q = {.segment_count = 1, .segments = {{{name, EK_NAME_BYTES_MAX}, {"B", 1}}}};
    ek_flow_monitor_expect(s.flow, &(struct ek_flow_fields){.rules = &rules});
    ck_assert(ek_flow_monitor_lacks_segment(s.flow));
    ek_flow_monitor_add_list(s.flow, &q, true);
    ck_assert(!ek_flow_monitor_lacks_segment(s.flow));
    ek_flow_monitor_free(s.flow);
}
END_TEST

START_TEST(what_others_observe_is_set_and_cleared)
{
    struct scene s;
    begin(&s, 0);
    ek_flow_monitor_set(s.flow, EK_FLOW_DEGRADED, "the state topic is away", s.now);
    pass(&s, 1, 0);
    ck_assert(is(&s, EK_FLOW_DEGRADED));
    ek_flow_monitor_set(s.flow, EK_FLOW_DEGRADED, NULL, s.now);
    ck_assert(!is(&s, EK_FLOW_DEGRADED));
    ek_flow_monitor_set(s.flow, EK_FLOW_TOPIC_MISSING, "topic 'scored' does not exist", s.now);
    pass(&s, 1, 0);
    assert_json(&s, "\"state\":\"topic_missing\"");
    ek_flow_monitor_free(s.flow);
}
END_TEST

Suite *suite_flow_monitor(void)
{
    return ek_suite(
        "flow_monitor", no_data_is_a_state_of_its_own,
        messages_that_cannot_be_read_are_reported_with_the_first_reason_and_their_place,
        one_percent_of_messages_that_cannot_be_read_is_a_condition,
        half_of_the_messages_that_cannot_be_read_are_not_most,
        a_reason_is_replaced_when_it_is_not_of_the_newest_messages,
        an_input_is_silent_after_many_times_the_usual_gap,
        an_input_without_a_message_since_the_start_is_silent,
        ten_seconds_without_output_are_a_stall_while_the_input_has_more,
        without_an_output_nothing_is_forwarded, a_reading_thread_that_stands_still_is_a_stall,
        losses_add_up_and_stay_for_an_hour, a_field_that_no_list_has_is_reported_after_100_lists,
        a_segment_of_the_longest_name_is_found, what_others_observe_is_set_and_cleared);
}
