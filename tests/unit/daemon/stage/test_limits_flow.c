/* Limits of a running stage: one below, at and one above each, against librdkafka's mock cluster.
 * Messages stay in flight while their output partition has no leader. */
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "tests/must.h"
#include "tests/stage_scene.h"
#include "tests/temporary.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    MESSAGE_MOST = 4096,
    FLYING_MOST = 12,
    BYTES_MOST = 1 << 20,
    TRANSACTION_MOST = 64 << 10,
    PIECES = 8,
    SAID_MOST = 32 << 10
};

/* A stage, its log, and its in-flight messages. */
struct flight {
    struct scene s;
    struct ek_tool_producer *sender;
    struct temporary file; /* log, written by its threads while it is read */
    FILE *to;
    long seen;
    struct ek_log *log;
    uint64_t handled, in_flight;
};

static void open_flight(struct flight *f)
{
    memset(f, 0, sizeof *f);
    begin(&f->s);
    must(ek_tool_producer_new(&f->sender, ek_mock_brokers(f->s.mock), "scored",
                              EK_TOOL_PRODUCER_ORDERED, NULL));
    f->file = temporary_file();
    f->to = fopen(f->file.path, "w");
    ck_assert_ptr_nonnull(f->to);
    f->log = ek_log_new(f->to, EK_LOG_WARN);
}

static void close_flight(struct flight *f)
{
    finish(&f->s);
    ek_tool_producer_free(f->sender);
    ek_log_free(f->log);
    fclose(f->to);
    unlink(f->file.path);
    end(&f->s);
}

static void send_bytes(struct flight *f, const void *bytes, size_t length)
{
    const struct ek_kafka_record r = {
        .partition = 0, .timestamp_ms = -1, .bytes = bytes, .length = length};
    must(ek_tool_producer_send(f->sender, &r, NULL));
    must(ek_tool_producer_flush(f->sender, WAIT_MS, NULL));
}

/* Small messages, sent and fetched together. */
static void send_many(struct flight *f, int count)
{
    const struct ek_kafka_record r = {
        .partition = 0, .timestamp_ms = -1, .bytes = "x", .length = 1};
    for (int i = 0; i < count; i++)
        must(ek_tool_producer_send(f->sender, &r, NULL));
    must(ek_tool_producer_flush(f->sender, WAIT_MS, NULL));
}

/* Send a list with an unknown field that pads it to that size. */
static void send_list(struct flight *f, uint64_t i, size_t length)
{
    static const char field[] = "\xa3pad\xc5"; /* followed by two bytes of length */
    struct ek_list q;
    struct ek_buf b;
    ek_list_init(&q);
    ek_buf_init(&b, 0);
    make_message(&f->s, i, &q, &b);
    ((uint8_t *)b.data)[0]++; /* one more field */
    must(ek_buf_add(&b, field, sizeof field - 1));
    ck_assert_uint_lt(b.length + 2, length);
    size_t rest = length - b.length - 2;
    must(ek_buf_add(&b, (const uint8_t[]){(uint8_t)(rest >> 8), (uint8_t)rest}, 2));
    must(ek_buf_add(&b, (const uint8_t[MESSAGE_MOST]){0}, rest));
    send_bytes(f, b.data, b.length);
    ek_buf_release(&b);
    ek_list_release(&q);
}

/* Return the length of a topic's only message, and set its dead-letter reason. */
static size_t length_of_only(struct scene *s, const char *topic, char why[200])
{
    struct ek_merged_consumer *t;
    struct ek_kafka_record r;
    size_t length = 0;
    int got, count = 0;
    must(ek_merged_consumer_new(&t, ek_mock_brokers(s->mock), topic, EK_MERGED_CONSUMER_UNTIL_END,
                                WAIT_MS, NULL));
    for (; !ek_merged_consumer_at_end(t); count += got) {
        must(ek_merged_consumer_next(t, &r, 100, &got, NULL));
        for (size_t i = 0; got && i < r.header_count; i++)
            if (!strcmp(r.headers[i].name, "ek-error"))
                snprintf(why, 200, "%.*s", (int)r.headers[i].length,
                         (const char *)r.headers[i].value);
        if (got)
            length = r.length;
    }
    ck_assert_int_eq(count, 1);
    ek_merged_consumer_free(t);
    return length;
}

START_TEST(a_message_of_message_bytes_passes_and_a_longer_one_is_a_dead_letter)
{
    struct flight f;
    char why[200] = "";
    open_flight(&f);
    f.s.change = make_short;
    set(&f.s, "limits.message_bytes", "4KiB");
    ek_codec_free(f.s.assets.codec);
    must(ek_codec_new(&f.s.assets.codec, f.s.assets.manifest, NULL,
                      &(struct ek_codec_limits){.message_bytes = MESSAGE_MOST}, NULL));
    for (int i = -1; i <= 1; i++)
        send_list(&f, (uint64_t)(i + 1), (size_t)(MESSAGE_MOST + i));
    start(&f.s);
    struct ek_stage_stats t = wait_for(&f.s, 3);
    ck_assert_uint_eq(t.passed, 2);
    ck_assert_uint_eq(length_of_only(&f.s, "ranked.dead", why), MESSAGE_MOST + 1);
    ck_assert_str_eq(why, "the message has 4097 bytes, limits.message_bytes allows 4096");
    close_flight(&f);
}
END_TEST

/* Wait for that many unacknowledged messages; with exactly-once, uncommitted ones. */
static void wait_in_flight(const struct flight *f, uint64_t count)
{
    struct ek_stage_stats t;
    int64_t until = ek_now_ms() + WAIT_MS;
    do {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        ek_stage_stats(f->s.stage, &t);
    } while (t.in_flight != count && ek_now_ms() < until);
    ck_assert_uint_eq(t.in_flight, count);
}

/* Put that many messages of that total size in flight. */
static void fly(struct flight *f, uint64_t count, size_t bytes)
{
    static const char nothing[BYTES_MOST];
    for (uint64_t i = 0; i < count; i++)
        send_bytes(f, nothing, bytes / count + (i < bytes % count));
    f->in_flight += count;
    wait_in_flight(f, f->in_flight);
}

/* Return the length of the log since the last call. */
static size_t hear(const struct flight *f, char text[SAID_MOST])
{
    FILE *from = fopen(f->file.path, "r");
    ck_assert(from && !fseek(from, f->seen, SEEK_SET));
    size_t length = fread(text, 1, SAID_MOST - 1, from);
    text[length] = 0;
    fclose(from);
    return length;
}

/* With one unread message, the stage logs a pause after one second, and reads it when the others
 * are acknowledged. */
static void wait_paused(struct flight *f)
{
    static const char event[] = "event=input_paused in_flight=";
    const char *said;
    char text[SAID_MOST];
    int64_t until = ek_now_ms() + WAIT_MS;
    do {
        nanosleep(&(struct timespec){0, 5000000}, NULL);
        hear(f, text);
        said = strstr(text, event);
    } while (!said && ek_now_ms() < until);
    ck_assert_msg(said != NULL, "it reads on: %s", text);
    ck_assert_uint_eq(strtoull(said + strlen(event), NULL, 10), f->in_flight);
    ek_mock_lead(f->s.mock, "ranked.dead", true);
    f->handled += f->in_flight + 1;
    wait_for(&f->s, f->handled);
    f->in_flight = 0;
    f->seen += (long)hear(f, text);
    ek_mock_lead(f->s.mock, "ranked.dead", false);
}

START_TEST(reading_stops_at_the_bytes_and_at_the_messages_in_flight_and_not_before)
{
    struct flight f;
    open_flight(&f);
    set(&f.s, "limits.in_flight_bytes", "1MiB");
    set(&f.s, "limits.in_flight_messages", "12");
    set(&f.s, "limits.message_bytes", "256KiB");
    set(&f.s, "input.librdkafka", "fetch.wait.max.ms=10");
    ek_mock_lead(f.s.mock, "ranked.dead", false);
    send_many(&f, FLYING_MOST + 1); /* read in one batch, except the last */
    start_with(&f.s, f.log);
    f.in_flight = FLYING_MOST;
    wait_in_flight(&f, f.in_flight);
    wait_paused(&f);
    fly(&f, FLYING_MOST - 1, FLYING_MOST - 1); /* one below reads one more */
    fly(&f, 1, 1);
    send_bytes(&f, "x", 1);
    wait_paused(&f);
    for (size_t more = 1; more <= 2; more++) {
        fly(&f, PIECES, BYTES_MOST - 1);
        fly(&f, 1, more);
        send_bytes(&f, "x", 1);
        wait_paused(&f);
    }
    ek_mock_lead(f.s.mock, "ranked.dead", true);
    close_flight(&f);
}
END_TEST

/* One byte below the limit it waits for the next message and ends with it; an early end would wait
 * for a message that is never sent. */
START_TEST(a_transaction_ends_at_its_bytes_and_not_before)
{
    struct flight f;
    open_flight(&f);
    set(&f.s, "input.delivery", "exactly_once");
    set(&f.s, "service.instance", "one");
    set(&f.s, "limits.transaction_bytes", "64KiB");
    set(&f.s, "limits.transaction_timeout", "120s");
    set(&f.s, "input.commit_interval", "60s");
    start(&f.s);
    send_bytes(&f, "x", 1); /* the first transaction is due from its start */
    wait_for(&f.s, ++f.handled);
    for (size_t more = 1; more <= 2; more++) {
        wait_in_flight(&f, 0);
        f.in_flight = 0;
        fly(&f, 1, TRANSACTION_MOST - 1);
        send_bytes(&f, "xx", more);
        f.handled += 2;
        wait_for(&f.s, f.handled);
    }
    close_flight(&f);
}
END_TEST

Suite *suite_limits_flow(void)
{
    return ek_suite("limits flow",
                    a_message_of_message_bytes_passes_and_a_longer_one_is_a_dead_letter,
                    reading_stops_at_the_bytes_and_at_the_messages_in_flight_and_not_before,
                    a_transaction_ends_at_its_bytes_and_not_before);
}
