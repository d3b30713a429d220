/* Log: source positions, and suppression of repeated lines. */
#include "daemon/base/log.h"

#include "daemon/base/clock.h"
#include "daemon/kafka/partition_offsets.h"
#include "tests/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lines {
    FILE *to;
    char *text;
    size_t length;
    struct ek_log *log;
};

static void begin(struct lines *s)
{
    *s = (struct lines){.to = NULL};
    s->to = open_memstream(&s->text, &s->length);
    s->log = ek_log_new(s->to, EK_LOG_INFO);
    ck_assert_ptr_nonnull(s->log);
}

/* Return the output after closing the log. */
static const char *end(struct lines *s)
{
    ek_log_free(s->log);
    fclose(s->to);
    return s->text;
}

START_TEST(what_was_left_out_of_a_burst_is_told_though_nothing_follows)
{
    struct lines s;
    begin(&s);
    for (int i = 0; i < 25; i++)
        ek_log_write(s.log, EK_LOG_WARN, "dead_letter_sent", "offset=%d", i);
    ek_log_write(s.log, EK_LOG_INFO, "service_started", "a=%d", 1);
    ek_log_flush_suppressed(s.log, 0); /* less than a second has passed */
    ck_assert_msg(strstr(s.text, " level=warn event=dead_letter_sent offset=9\n") != NULL, "%s",
                  s.text);
    ck_assert_ptr_null(strstr(s.text, "offset=10\n"));
    ck_assert_ptr_null(strstr(s.text, "suppressed"));
    ek_log_flush_suppressed(s.log, INT64_MAX);
    ck_assert_msg(strstr(s.text, " level=warn event=dead_letter_sent suppressed=15\n") != NULL,
                  "%s", s.text);
    ck_assert_ptr_null(strstr(s.text, "event=service_started suppressed"));
    end(&s);
    free(s.text);
}
END_TEST

static void burst(struct lines *s, int first)
{
    for (int i = first; i < first + 25; i++)
        ek_log_write(s->log, EK_LOG_WARN, "dead_letter_sent", "offset=%d", i);
}

START_TEST(an_event_that_goes_on_is_folded_into_one_line_with_a_count)
{
    struct lines s;
    int64_t now = ek_now_ms();
    begin(&s);
    burst(&s, 0);
    ek_log_flush_suppressed(s.log, now += 5000); /* ten lines and the others' number */
    burst(&s, 100);
    ek_log_flush_suppressed(s.log, now + 2000); /* too early */
    ck_assert_ptr_nonnull(strstr(s.text, "dead_letter_sent offset=100\n"));
    ck_assert_ptr_null(strstr(s.text, "dead_letter_sent offset=101\n"));
    ck_assert_ptr_null(strstr(s.text, "suppressed=24"));
    ek_log_flush_suppressed(s.log, now += 10000);
    ck_assert_ptr_nonnull(strstr(s.text, "dead_letter_sent suppressed=24\n"));
    ek_log_write(s.log, EK_LOG_WARN, "dead_letter_sent", "offset=%d", 200);
    end(&s);
    ck_assert_ptr_nonnull(strstr(s.text, "dead_letter_sent offset=200\n"));
    free(s.text);
}
END_TEST

START_TEST(a_line_about_a_message_says_of_which_topic_it_is)
{
    struct lines s;
    struct ek_partition_offsets *partitions = ek_partition_offsets_new();
    struct ek_partition *assignment = ek_partition_offsets_open(partitions, "scored", 3, 17);
    struct ek_inflight *t = ek_partition_offsets_start(partitions, assignment, 17);
    begin(&s);
    ek_inflight_log(s.log, EK_LOG_WARN, "dead_letter_sent", t, "format", "key \"x\" is no number");
    ek_inflight_log(s.log, EK_LOG_ERROR, "score_failed", t, NULL, "no score");
    const char *text = end(&s);
    ck_assert_msg(strstr(text,
                         " level=warn event=dead_letter_sent topic=scored partition=3 offset=17 "
                         "class=format message=\"key \\\"x\\\" is no number\"\n") != NULL,
                  "%s", text);
    ck_assert_msg(strstr(text, " level=error event=score_failed topic=scored partition=3 offset=17 "
                               "message=\"no score\"\n") != NULL,
                  "%s", text);
    ek_partition_offsets_free(partitions);
    free(s.text);
}
END_TEST

START_TEST(a_reader_that_hangs_holds_up_nobody_and_dropped_lines_are_counted)
{
    enum { LINES = 3000 };
    char line[900], got[65536];
    int ends[2];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = 0;
    ck_assert_int_eq(pipe(ends), 0);
    FILE *to = fdopen(ends[1], "w");
    struct ek_log *log = ek_log_new(to, EK_LOG_INFO);
    ck_assert_int_eq(ek_log_start(log, NULL), 0);
    for (int i = 0; i < LINES; i++) /* 2.7 MB, of which pipe and ring hold less than half */
        ek_log_pairs(log, EK_LOG_INFO, "finding", line);
    ck_assert_uint_gt(ek_log_dropped(log), LINES / 3);
    ck_assert_uint_lt(ek_log_dropped(log), LINES);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    bool reported = false;
    for (int i = 0; !reported && i < 3000; i++) {
        ssize_t n = read(ends[0], got, sizeof got - 1);
        if (n <= 0)
            usleep(2000);
        got[n > 0 ? n : 0] = 0;
        reported = strstr(got, "event=log_lines_dropped") != NULL;
    }
    ck_assert(reported);
    ek_log_free(log); /* within its time, although it is not read to the end */
    fclose(to);
    close(ends[0]);
}
END_TEST

START_TEST(a_line_in_json_has_the_same_pairs)
{
    struct lines s;
    begin(&s);
    ek_log_set_format(s.log, EK_LOG_JSON);
    ek_log_text(s.log, EK_LOG_WARN, "kafka_error", "broker \"one\" says\nno = never");
    ek_log_write(s.log, EK_LOG_INFO, "service_started", "partitions=%d topic=%s", 3, "a");
    const char *text = end(&s);
    ck_assert_msg(!strncmp(text, "{\"time\":\"20", 11), "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "\"level\":\"warn\",\"event\":\"kafka_error\",\"message\":"
                                       "\"broker \\\"one\\\" says\\u000ano = never\"}\n{\"time\""));
    ck_assert_ptr_nonnull(strstr(text, "\"event\":\"service_started\",\"partitions\":3,"
                                       "\"topic\":\"a\"}\n"));
    free(s.text);
}
END_TEST

static const char *json_of(const char *line)
{
    static struct ek_buf out;
    ek_buf_release(&out);
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_log_json(line, strlen(line), &out), 0);
    return ek_buf_string(&out);
}

START_TEST(values_in_json_keep_their_type)
{
    ck_assert_str_eq(json_of("a=1 b=-2.5e3 c=true d=false e=x\n"),
                     "{\"a\":1,\"b\":-2.5e3,\"c\":true,\"d\":false,\"e\":\"x\"}\n");
    ck_assert_str_eq(json_of("a=007 b=1. c=nan d=+1 e=- f=1.2.3 g=0 h=1e"),
                     "{\"a\":\"007\",\"b\":\"1.\",\"c\":\"nan\",\"d\":\"+1\",\"e\":\"-\","
                     "\"f\":\"1.2.3\",\"g\":0,\"h\":\"1e\"}\n");
    ck_assert_str_eq(json_of("a=\"x=1 \\\" y\" b= c word"),
                     "{\"a\":\"x=1 \\\" y\",\"b\":\"\",\"c\":true,\"word\":true}\n");
    ck_assert_str_eq(json_of("a=\"cut"), "{\"a\":\"\\\"cut\"}\n");
    ck_assert_str_eq(json_of(""), "{}\n");
}
END_TEST

Suite *suite_log(void)
{
    return ek_suite("log", what_was_left_out_of_a_burst_is_told_though_nothing_follows,
                    an_event_that_goes_on_is_folded_into_one_line_with_a_count,
                    a_line_about_a_message_says_of_which_topic_it_is,
                    a_reader_that_hangs_holds_up_nobody_and_dropped_lines_are_counted,
                    a_line_in_json_has_the_same_pairs, values_in_json_keep_their_type);
}
