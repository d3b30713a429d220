/* Dead letters: the source message with the error in headers, truncated if the topic rejects it. */
#include "base/alloc.h"
#include "daemon/kafka/client.h"
#include "daemon/kafka/producer_internal.h"
#include "daemon/kafka/partition_offsets.h"

#include <inttypes.h>
#include <string.h>

enum { NAMES_BYTES = 40, WHY_BYTES = 400 };

struct letter {
    enum ek_code code;
    const char *reason;
    int left;            /* bits of LEFT: omitted parts */
    char why[WHY_BYTES]; /* reason for the truncation */
};

static const char *class_name(enum ek_code code)
{
    return code == EK_EIO ? "delivery" : ek_code_name(code);
}

/* Format omitted parts as "headers,value". */
static void name_left(int left, char out[NAMES_BYTES])
{
    static const struct {
        int bit;
        const char *name;
    } parts[] = {
        {LEFT_HEADERS, "headers"}, {LEFT_VALUE, "value"}, {LEFT_KEY, "key"}, {LEFT_TIME, "time"}};
    int length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (left & parts[i].bit)
            length += snprintf(out + length, NAMES_BYTES - (size_t)length, "%s%s",
                               length ? "," : "", parts[i].name);
}

/* Return the next part to omit, or 0 if only the error headers remain. */
static int next_left(rd_kafka_message_t *m, int left, rd_kafka_resp_err_t err)
{
    if (err == RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP)
        return LEFT_TIME & ~left;
    if (!(left & LEFT_HEADERS) && ek_kafka_has_headers(m))
        return LEFT_HEADERS;
    if (!(left & LEFT_VALUE) && m->len)
        return LEFT_VALUE;
    return !(left & LEFT_KEY) && m->key_len ? LEFT_KEY : 0;
}

static void add_number(rd_kafka_headers_t *headers, const char *name, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    ek_kafka_add_header(headers, name, text);
}

/* Return the source headers, unless omitted, plus the error headers; NULL if out of memory.
 * Unreadable source headers are marked as omitted. */
static rd_kafka_headers_t *headers_of(const struct ek_inflight *t, struct letter *l)
{
    char names[NAMES_BYTES];
    const rd_kafka_message_t *source = t->message;
    rd_kafka_headers_t *headers = NULL;
    if (!(l->left & LEFT_HEADERS) && ek_kafka_headers_get(t->message, &headers)) {
        l->left |= LEFT_HEADERS;
        snprintf(l->why, sizeof l->why, "%s", EK_HEADERS_UNREADABLE);
    }
    if (!headers)
        headers = rd_kafka_headers_new(8);
    if (!headers)
        return NULL;
    ek_kafka_add_header(headers, "ek-source-topic", rd_kafka_topic_name(source->rkt));
    add_number(headers, "ek-source-partition", source->partition);
    add_number(headers, "ek-source-offset", source->offset);
    if (l->left & LEFT_TIME)
        add_number(headers, "ek-source-time", t->stamp_ms);
    ek_kafka_add_header(headers, "ek-error-class", class_name(l->code));
    ek_kafka_add_header(headers, "ek-error", l->reason);
    if (!l->left)
        return headers;
    name_left(l->left, names);
    ek_kafka_add_header(headers, "ek-truncated", names);
    return headers;
}

static int is_undeliverable(const struct ek_output *o, const char *why, struct ek_error *e)
{
    char text[WHY_BYTES];
    snprintf(text, sizeof text, "%s", why);
    return ek_fail_fatal(e, EK_EIO, "topic '%s' takes no dead letter, not the smallest: %s",
                         o->config->dead_letter_topic, text);
}

static int make_outbound(const struct ek_output *o, struct ek_inflight *t, struct letter *l,
                         struct ek_outbound *p, struct ek_error *e)
{
    const rd_kafka_message_t *source = t->message;
    bool value = !(l->left & LEFT_VALUE), key = !(l->left & LEFT_KEY);
    *p = (struct ek_outbound){.inflight = t,
                              .topic = &o->dead,
                              .number = o->dead_number,
                              .partition = RD_KAFKA_PARTITION_UA,
                              .key = key ? source->key : NULL,
                              .key_length = key ? source->key_len : 0,
                              .bytes = value ? source->payload : NULL,
                              .length = value ? source->len : 0,
                              .headers = headers_of(t, l)};
    return p->headers ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
}

/* Omit parts of the message until it fits the topic. */
static int make_fit(const struct ek_output *o, struct ek_inflight *t, struct letter *l,
                    struct ek_outbound *p, struct ek_error *e)
{
    struct ek_error large;
    for (;;) {
        int rc = make_outbound(o, t, l, p, e);
        if (rc || !ek_outbound_check(o, p, &large))
            return rc;
        ek_outbound_release(p);
        int more = next_left(t->message, l->left, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
        if (!more)
            return is_undeliverable(o, large.message, e);
        l->left |= more;
        snprintf(l->why, sizeof l->why, "%s", large.message);
    }
}

static void log_truncated(const struct ek_output *o, const struct ek_inflight *t,
                          const struct letter *l)
{
    char names[NAMES_BYTES], text[WHY_BYTES + NAMES_BYTES + 20];
    name_left(l->left, names);
    snprintf(text, sizeof text, "without %s: %s", names, l->why);
    ek_inflight_log(o->watch.log, EK_LOG_WARN, "dead_letter_truncated", t, NULL, text);
}

static int send_letter(struct ek_output *o, struct ek_output_writer *output_writer,
                       struct ek_inflight *t, struct letter *l, struct ek_error *e)
{
    struct ek_outbound p;
    int rc = make_fit(o, t, l, &p, e);
    if (rc)
        return rc;
    t->outcome = DEAD | l->left | (t->outcome & COPY) | (int)l->code << CODE_SHIFT;
    if (l->left)
        log_truncated(o, t, l);
    rc = ek_outbound_send(o, output_writer, &p, e);
    return rc && e && !(e->flags & EK_ERR_FATAL) ? is_undeliverable(o, e->message, e) : rc;
}

/* Omit one more part of a rejected dead letter. Return false if no part is left. */
static bool leave_out_more(const struct ek_inflight *t, struct letter *l, rd_kafka_resp_err_t err)
{
    int more = next_left(t->message, t->outcome & LEFT, err);
    l->left = (t->outcome & LEFT) | more;
    snprintf(l->why, sizeof l->why, "%s", rd_kafka_err2str(err));
    return more != 0;
}

/* Nothing may be lost, so the message stays unread until the output takes it. */
static int no_dead_letters(const struct ek_output *o, const struct ek_inflight *t,
                           const char *reason, struct ek_error *e)
{
    char why[WHY_BYTES];
    snprintf(why, sizeof why, "%s", reason);
    return ek_fail_fatal(e, EK_EIO,
                         "topic '%s' does not take the message of topic '%s' partition %d offset "
                         "%lld: %s; set 'output.dead_letter_topic', or raise 'max.message.bytes'",
                         o->config->output_topic, t->assignment->topic, t->assignment->partition,
                         (long long)t->offset, why);
}

int ek_output_send_dead_letter(struct ek_output *o, struct ek_output_writer *output_writer,
                               struct ek_inflight *t, enum ek_code code, const char *reason,
                               struct ek_error *e)
{
    struct letter l = {.code = code, .reason = reason};
    bool again = (t->outcome & KIND) == DEAD;
    if (!o->config->dead_letter_topic)
        return no_dead_letters(o, t, reason, e);
    if (again && !leave_out_more(t, &l, (rd_kafka_resp_err_t)t->refused))
        return is_undeliverable(o, rd_kafka_err2str((rd_kafka_resp_err_t)t->refused), e);
    if (code == EK_EIO && !again) /* replaces an output: the outcome still names its kind */
        ek_metrics_count(o->watch.metrics,
                         t->outcome & ROUTED ? EK_COUNT_DEAD_ROUTED : EK_COUNT_DEAD_PASSED, 1);
    ek_inflight_log(o->watch.log, EK_LOG_WARN, "dead_letter_sent", t, class_name(code), reason);
    ek_free(t->reason); /* the dead letter takes the place of a copy */
    t->reason = NULL;
    return send_letter(o, output_writer, t, &l, e);
}

static void drop_copy(const struct ek_output *o, const struct ek_inflight *t, const char *why)
{
    ek_inflight_log(o->watch.log, EK_LOG_WARN, "dead_letter_dropped", t, NULL, why);
}

bool ek_output_copy(struct ek_output *o, struct ek_inflight *t)
{
    struct letter l = {.code = (enum ek_code)t->code, .reason = t->reason};
    struct ek_error e;
    t->outcome = COPY;
    int rc = send_letter(o, NULL, t, &l, &e);
    if (rc)
        drop_copy(o, t, e.message);
    ek_free(t->reason);
    t->reason = NULL;
    return !rc;
}

struct ek_outbound *ek_output_make_copy(struct ek_output *o, struct ek_inflight *t,
                                        enum ek_code code, const char *reason)
{
    struct letter l = {.code = code, .reason = reason};
    struct ek_outbound *p = ek_calloc(1, sizeof *p);
    struct ek_error e;
    ek_fail(&e, EK_ENOMEM, "out of memory");
    if (p && !make_fit(o, t, &l, p, &e)) {
        t->outcome |= COPY | l.left | (int)code << CODE_SHIFT;
        return p;
    }
    drop_copy(o, t, e.message);
    ek_free(p);
    return NULL;
}

int ek_output_resend_truncated(struct ek_output *o, struct ek_inflight *t,
                               const rd_kafka_message_t *report, struct ek_error *e)
{
    rd_kafka_headers_t *headers;
    const void *reason = NULL;
    size_t length;
    struct letter l = {.code = (enum ek_code)(t->outcome >> CODE_SHIFT)};
    if (!leave_out_more(t, &l, report->err))
        return is_undeliverable(o, rd_kafka_err2str(report->err), e);
    if (!rd_kafka_message_headers(report, &headers))
        rd_kafka_header_get_last(headers, "ek-error", &reason, &length);
    l.reason = reason ? reason : "";
    return send_letter(o, NULL, t, &l, e);
}
