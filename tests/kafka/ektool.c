/* ektool: topics as files of frames, so that tests need no other Kafka client.
 *
 *     ektool wait   BROKERS SECONDS              until the broker can create topics
 *     ektool create BROKERS TOPIC PARTITIONS [SETTING VALUE]
 *     ektool send   BROKERS TOPIC FILE [PER_SECOND]   each once and in order
 *     ektool send-on BROKERS TOPIC FILE PER_SECOND   despite broker failures; may duplicate
 *     ektool lines  BROKERS TOPIC FILE PER_SECOND AT_ONCE   text lines; AT_ONCE unthrottled first
 *     ektool read   BROKERS TOPIC FILE [COUNT SECONDS]   to the end, or until COUNT messages
 *     ektool count  BROKERS TOPIC
 *     ektool delete BROKERS TOPIC
 *     ektool grow   BROKERS TOPIC PARTITIONS
 *     ektool empty  BROKERS TOPIC PARTITION OFFSET   deletes the records before it
 *     ektool commit BROKERS GROUP TOPIC OFFSET METADATA   of partition 0
 *     ektool fence  BROKERS ID                   takes a transactional id away
 *     ektool hold   BROKERS GROUP TOPIC PARTITION ID   leaves an offset in an open transaction
 *     ektool hold-output BROKERS TOPIC ID        leaves a message in an open transaction
 *     ektool set    BROKERS TOPIC SETTING VALUE [SETTING VALUE]...   all others to their defaults
 *     ektool allow  BROKERS USER OPERATION RESOURCE NAME, also revoke: ACLs, see admin.h
 *     ektool version                             of librdkafka
 *
 * A frame, all numbers little-endian: i32 partition (sending: -1 by key), i64 offset, i64 timestamp
 * in milliseconds, bytes key, bytes value, u32 headers, and per header bytes name, bytes value.
 * `bytes` is i32 length (-1: null) and that many bytes.
 */
#include "daemon/base/clock.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parse.h"
#include "daemon/kafka/kafka.h"
#include "daemon/kafka/tool_client.h"
#include "tests/kafka/admin.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { WAIT_MS = 30000, ATTEMPT_MS = 5000, POLL_MS = 100, FRAME_BYTES_MAX = 64 << 20 };

static int fail(const struct ek_error *e)
{
    char text[700];
    fprintf(stderr, "ektool: %s\n", ek_error_text(e, text, sizeof text));
    return 1;
}

static int number(const char *text)
{
    int64_t value = 0;
    if (ek_parse_i64(text, EK_WHOLE, &value))
        fprintf(stderr, "invalid ektool: '%s'\n", text);
    return (int)value;
}

static int put_bytes(struct ek_buf *out, const void *bytes, size_t length)
{
    int32_t size = bytes ? (int32_t)length : -1;
    int rc = ek_buf_add(out, &size, sizeof size);
    return rc || !bytes ? rc : ek_buf_add(out, bytes, length);
}

static int put_frame(struct ek_buf *out, const struct ek_kafka_record *r)
{
    int32_t partition = r->partition;
    uint32_t count = (uint32_t)r->header_count;
    int rc = ek_buf_add(out, &partition, sizeof partition);
    rc = rc ? rc : ek_buf_add(out, &r->offset, sizeof r->offset);
    rc = rc ? rc : ek_buf_add(out, &r->timestamp_ms, sizeof r->timestamp_ms);
    rc = rc ? rc : put_bytes(out, r->key, r->key_length);
    rc = rc ? rc : put_bytes(out, r->bytes, r->length);
    rc = rc ? rc : ek_buf_add(out, &count, sizeof count);
    for (size_t i = 0; !rc && i < r->header_count; i++) {
        const struct ek_header *h = &r->headers[i];
        rc = put_bytes(out, h->name, strlen(h->name));
        rc = rc ? rc : put_bytes(out, h->value, h->length);
    }
    return rc;
}

/* Append `size` bytes to `b`. Return false at the end of the file. */
static bool get(struct ek_reader *in, struct ek_buf *b, size_t size, struct ek_error *e)
{
    size_t got = 0;
    e->code = ek_buf_reserve(b, size + 1);
    if (e->code || (size && (ek_reader_read_exact(in, b->data + b->length, size, &got, e) || !got)))
        return false;
    b->length += size;
    return true;
}

/* Append the bytes and a zero to `b`. Sets *at to their start and *length, -1 for null. */
static bool get_bytes(struct ek_reader *in, struct ek_buf *b, size_t *at, int32_t *length,
                      struct ek_error *e)
{
    size_t start = b->length;
    if (!get(in, b, sizeof *length, e))
        return false;
    memcpy(length, b->data + start, sizeof *length);
    b->length = *at = start;
    if (*length > 0 && !get(in, b, (size_t)*length, e))
        return false;
    return !ek_buf_add(b, "", 1);
}

struct span {
    size_t at;
    int32_t length;
};

static const void *view(const struct ek_buf *b, struct span s, size_t *length)
{
    *length = s.length > 0 ? (size_t)s.length : 0;
    return s.length < 0 ? NULL : b->data + s.at;
}

struct fixed {
    int32_t partition;
    int64_t offset, timestamp_ms;
};

static bool get_fixed(struct ek_reader *in, struct ek_buf *b, struct fixed *f, struct ek_error *e)
{
    if (!get(in, b, 20, e))
        return false;
    memcpy(&f->partition, b->data, 4);
    memcpy(&f->offset, b->data + 4, 8);
    memcpy(&f->timestamp_ms, b->data + 12, 8);
    return true;
}

static bool get_frame(struct ek_reader *in, struct ek_buf *b, struct ek_kafka_record *r,
                      struct ek_error *e)
{
    struct span key, value, names[EK_HEADERS_MAX], values[EK_HEADERS_MAX];
    struct fixed f;
    uint32_t count = 0;
    size_t ignored;
    ek_buf_clear(b);
    e->code = 0;
    if (!get_fixed(in, b, &f, e) || !get_bytes(in, b, &key.at, &key.length, e) ||
        !get_bytes(in, b, &value.at, &value.length, e) || !get(in, b, sizeof count, e))
        return false;
    memcpy(&count, b->data + b->length - sizeof count, sizeof count);
    for (uint32_t i = 0; i < count; i++)
        if (i >= EK_HEADERS_MAX || !get_bytes(in, b, &names[i].at, &names[i].length, e) ||
            !get_bytes(in, b, &values[i].at, &values[i].length, e))
            return false;
    *r = (struct ek_kafka_record){.partition = f.partition,
                                  .offset = f.offset,
                                  .timestamp_ms = f.timestamp_ms,
                                  .header_count = count};
    r->key = view(b, key, &r->key_length);
    r->bytes = view(b, value, &r->length);
    for (uint32_t i = 0; i < count; i++) {
        r->headers[i].name = view(b, names[i], &ignored);
        r->headers[i].value = view(b, values[i], &r->headers[i].length);
    }
    return true;
}

/* Read the next line of text, for any partition. */
static bool get_line(struct ek_reader *in, struct ek_buf *b, struct ek_kafka_record *r,
                     struct ek_error *e)
{
    char *line;
    *r = (struct ek_kafka_record){.partition = -1, .timestamp_ms = -1};
    ek_buf_clear(b);
    e->code = 0;
    if (ek_reader_line(in, &line, &r->length, e) || !line)
        return false;
    r->bytes = line;
    return true;
}

/* Rate of a send; the first `at_once` are unthrottled. per_second 0: no limit. */
struct sending {
    bool (*get)(struct ek_reader *in, struct ek_buf *b, struct ek_kafka_record *r,
                struct ek_error *e);
    int per_second, at_once;
    unsigned flags;
};

static void pace(int64_t began_ms, uint64_t sent, int per_second)
{
    int64_t ahead =
        per_second ? (int64_t)(sent * 1000 / (uint64_t)per_second) - (ek_now_ms() - began_ms) : 0;
    if (ahead > 0)
        nanosleep(&(struct timespec){ahead / 1000, ahead % 1000 * 1000000}, NULL);
}

static int send_all(struct ek_tool_producer *s, struct ek_reader *in, const struct sending *how,
                    uint64_t *sent, struct ek_error *e)
{
    struct ek_buf frame;
    struct ek_kafka_record r;
    int64_t began = ek_now_ms();
    int rc = EK_OK;
    ek_buf_init(&frame, FRAME_BYTES_MAX);
    while (!rc && how->get(in, &frame, &r, e)) {
        rc = ek_tool_producer_send(s, &r, e);
        *sent += !rc;
        if (*sent > (uint64_t)how->at_once)
            pace(began, *sent - (uint64_t)how->at_once, how->per_second);
    }
    rc = rc ? rc : (int)e->code;
    ek_buf_release(&frame);
    return rc ? rc : ek_tool_producer_flush(s, WAIT_MS, e);
}

static int do_send(char **argv, struct sending how)
{
    struct ek_error e = {0};
    struct ek_tool_producer *s;
    struct ek_reader *in;
    uint64_t sent = 0;
    int rc = ek_reader_open(&in, argv[2], &e);
    if (rc)
        return fail(&e);
    rc = ek_tool_producer_new(&s, argv[0], argv[1], how.flags, &e);
    if (!rc) {
        rc = send_all(s, in, &how, &sent, &e);
        ek_tool_producer_free(s);
    }
    ek_reader_close(in);
    if (rc)
        return fail(&e);
    printf("%llu\n", (unsigned long long)sent);
    return 0;
}

static int read_frames(struct ek_merged_consumer *t, struct ek_writer *out, int count,
                       int64_t until_ms, int *got, struct ek_error *e)
{
    struct ek_buf frame;
    struct ek_kafka_record r;
    int rc = EK_OK, one = 0;
    ek_buf_init(&frame, FRAME_BYTES_MAX);
    while (!rc &&
           (count ? *got < count && ek_now_ms() < until_ms : !ek_merged_consumer_at_end(t))) {
        rc = ek_merged_consumer_next(t, &r, POLL_MS, &one, e);
        if (rc || !one)
            continue;
        ++*got;
        ek_buf_clear(&frame);
        rc = put_frame(&frame, &r);
        rc = rc ? rc : ek_writer_write(out, frame.data, frame.length, e);
    }
    ek_buf_release(&frame);
    return rc;
}

static int do_read(char **argv, int count, int seconds)
{
    struct ek_error e = {0};
    struct ek_merged_consumer *t;
    struct ek_writer *out;
    int got = 0, rc = ek_merged_consumer_new(&t, argv[0], argv[1],
                                             count ? 0 : EK_MERGED_CONSUMER_UNTIL_END, WAIT_MS, &e);
    if (rc)
        return fail(&e);
    rc = ek_writer_open(&out, argv[2], &e);
    if (!rc) {
        rc = read_frames(t, out, count, ek_now_ms() + seconds * 1000, &got, &e);
        int closed = ek_writer_close(out, rc ? NULL : &e);
        rc = rc ? rc : closed;
    }
    ek_merged_consumer_free(t);
    if (rc)
        return fail(&e);
    printf("%d\n", got);
    return got < count;
}

static int do_count(char **argv)
{
    struct ek_error e = {0};
    struct ek_merged_consumer *t;
    struct ek_kafka_record r;
    int got = 0, one = 0,
        rc =
            ek_merged_consumer_new(&t, argv[0], argv[1], EK_MERGED_CONSUMER_UNTIL_END, WAIT_MS, &e);
    if (rc)
        return fail(&e);
    while (!rc && !ek_merged_consumer_at_end(t)) {
        rc = ek_merged_consumer_next(t, &r, POLL_MS, &one, &e);
        got += one;
    }
    ek_merged_consumer_free(t);
    if (rc)
        return fail(&e);
    printf("%d\n", got);
    return 0;
}

static int do_create(const char *brokers, const char *topic, int partitions,
                     const char *const setting[2], int wait_ms)
{
    struct ek_error e = {0};
    return ek_kafka_create_topic(brokers, topic, partitions, setting, wait_ms, &e) ? fail(&e) : 0;
}

/* A broker whose controller changes may refuse with an error that is final elsewhere, or never
 * respond to a request that it passed on. */
static int do_wait(const char *brokers, int seconds)
{
    struct ek_error e = {0};
    int64_t until = ek_now_ms() + seconds * INT64_C(1000), left;
    while ((left = until - ek_now_ms()) > 0) {
        int attempt_ms = left < ATTEMPT_MS ? (int)left : ATTEMPT_MS;
        if (!ek_kafka_create_topic(brokers, "ektool-ready", 1, NULL, attempt_ms, &e))
            return 0;
        nanosleep(&(struct timespec){0, POLL_MS * 1000000}, NULL);
    }
    return fail(&e);
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    char **rest = argv + 2;
    if (!strcmp(verb, "version") && argc == 2)
        return puts(ek_kafka_version()) < 0;
    if (!strcmp(verb, "wait") && argc == 4)
        return do_wait(rest[0], number(rest[1]));
    if (!strcmp(verb, "create") && (argc == 5 || argc == 7))
        return do_create(rest[0], rest[1], number(rest[2]),
                         argc == 7 ? (const char *[]){rest[3], rest[4]} : NULL, WAIT_MS);
    if (!strcmp(verb, "send") && (argc == 5 || argc == 6))
        return do_send(rest, (struct sending){get_frame, argc == 6 ? number(rest[3]) : 0, 0,
                                              EK_TOOL_PRODUCER_ORDERED});
    if (!strcmp(verb, "send-on") && argc == 6)
        return do_send(rest, (struct sending){get_frame, number(rest[3]), 0, 0});
    if (!strcmp(verb, "lines") && argc == 7)
        return do_send(rest, (struct sending){get_line, number(rest[3]), number(rest[4]),
                                              EK_TOOL_PRODUCER_ORDERED});
    if (!strcmp(verb, "read") && (argc == 5 || argc == 7))
        return do_read(rest, argc == 7 ? number(rest[3]) : 0, argc == 7 ? number(rest[4]) : 0);
    if (!strcmp(verb, "count") && argc == 4)
        return do_count(rest);
    if (!strcmp(verb, "delete") && argc == 4)
        return ek_admin_delete_topic(rest[0], rest[1]);
    if (!strcmp(verb, "grow") && argc == 5)
        return ek_admin_grow_topic(rest[0], rest[1], number(rest[2]));
    if (!strcmp(verb, "empty") && argc == 6)
        return ek_admin_empty(rest[0], rest[1], number(rest[2]), number(rest[3]));
    if (!strcmp(verb, "commit") && argc == 7)
        return ek_admin_commit(rest[0], rest[1], rest[2], number(rest[3]), rest[4]);
    if (!strcmp(verb, "fence") && argc == 4)
        return ek_admin_fence(rest[0], rest[1]);
    if (!strcmp(verb, "hold-output") && argc == 5)
        return ek_admin_hold_output(rest[0], rest[1], rest[2]);
    if (!strcmp(verb, "hold") && argc == 7)
        return ek_admin_hold(rest[0], rest[1], rest[2], number(rest[3]), rest[4]);
    if (!strcmp(verb, "set") && argc >= 6 && argc % 2 == 0)
        return ek_admin_set_topic(rest[0], rest[1], rest + 2, argc - 4);
    if ((!strcmp(verb, "allow") || !strcmp(verb, "revoke")) && argc == 7)
        return ek_admin_right(rest[0], !strcmp(verb, "allow"), rest[1], rest[2], rest[3], rest[4]);
    fputs("usage: ektool "
          "wait|create|send|send-on|lines|read|count|delete|grow|empty|commit|fence|hold|"
          "hold-output|set|allow|revoke BROKERS ...\n",
          stderr);
    return 2;
}
