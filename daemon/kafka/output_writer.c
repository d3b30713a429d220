#include "daemon/kafka/output_writer.h"

#include "base/alloc.h"
#include "daemon/kafka/client.h"
#include "daemon/kafka/partition_offsets.h"
#include "daemon/kafka/producer_internal.h"
#include "plan/plan.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

struct waiting {
    struct waiting *next;
    void *kept;
};

struct ek_hold_queue {
    struct ek_hold_queue_hooks hooks;
    pthread_mutex_t lock; /* guards the fields below */
    bool open;
    struct waiting *first, **end;
};

int ek_hold_queue_new(struct ek_hold_queue **out, const struct ek_hold_queue_hooks *hooks,
                      struct ek_error *e)
{
    struct ek_hold_queue *g = ek_calloc(1, sizeof *g);
    if (!g)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    g->hooks = *hooks;
    g->end = &g->first;
    pthread_mutex_init(&g->lock, NULL);
    *out = g;
    return EK_OK;
}

/* Remove and free the oldest item. */
static void drop_first(struct ek_hold_queue *g)
{
    struct waiting *w = g->first;
    g->first = w->next;
    if (!g->first)
        g->end = &g->first;
    g->hooks.release(g->hooks.context, w->kept);
    ek_free(w);
}

void ek_hold_queue_free(struct ek_hold_queue *g)
{
    if (!g)
        return;
    while (g->first)
        drop_first(g);
    pthread_mutex_destroy(&g->lock);
    ek_free(g);
}

static int queue_item(struct ek_hold_queue *g, void *item, struct ek_error *e)
{
    struct waiting *w = ek_calloc(1, sizeof *w);
    if (w)
        w->kept = g->hooks.keep(g->hooks.context, item);
    if (!w || !w->kept) {
        ek_free(w);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    *g->end = w;
    g->end = &w->next;
    return EK_OK;
}

int ek_hold_queue_add(struct ek_hold_queue *g, void *item, struct ek_error *e)
{
    pthread_mutex_lock(&g->lock);
    int rc = g->open ? g->hooks.pass(g->hooks.context, item, e) : queue_item(g, item, e);
    pthread_mutex_unlock(&g->lock);
    return rc;
}

void ek_hold_queue_close(struct ek_hold_queue *g)
{
    pthread_mutex_lock(&g->lock);
    g->open = false;
    pthread_mutex_unlock(&g->lock);
}

static bool enough(const struct ek_hold_queue *g)
{
    return g->hooks.enough && g->hooks.enough(g->hooks.context);
}

int ek_hold_queue_open(struct ek_hold_queue *g, struct ek_error *e)
{
    int rc = EK_OK;
    pthread_mutex_lock(&g->lock);
    while (!rc && g->first && !enough(g)) {
        rc = g->hooks.pass(g->hooks.context, g->first->kept, e);
        drop_first(g);
    }
    g->open = !rc && !g->first;
    pthread_mutex_unlock(&g->lock);
    return rc;
}

/* Run `look` under the queue's lock. */
static void gate_look(struct ek_hold_queue *g, void (*look)(void *context), void *context)
{
    pthread_mutex_lock(&g->lock);
    look(context);
    pthread_mutex_unlock(&g->lock);
}

enum { QUEUE_FULL_WAIT_NS = 1000000, WORDS = EK_LIST_UNDECODABLE + 1 };

static const char PLAN_HEADER[] = "ek-plan-version", ACTION_HEADER[] = "ek-action";

/* One thread's output. Messages without headers share header lists, which are rebuilt for each
 * plan. */
struct ek_output_writer {
    struct ek_output *o;
    uint64_t plan;
    rd_kafka_headers_t *ready[WORDS]; /* by outcome; NULL: not built */
    const char *repair;               /* header of the next message; NULL: none */
    /* Exactly once, or without an output topic; then at least once never closes the gate. The lists
     * belong to the holder of the gate's lock, or to the thread that closed it. */
    struct ek_hold_queue *gate;
    struct ek_inflight *sent, **sent_end; /* in the open transaction */
    struct ek_inflight *dropped;          /* messages of partitions revoked before they were sent */
};

static bool is_dead_letter(const struct ek_outbound *p)
{
    return p->number != EK_WRITES_RANKED;
}

/* Return the name from the configuration: with exactly once, the client's topic may be replaced. */
static const char *name_of_topic(const struct ek_output *o, const struct ek_outbound *p)
{
    return is_dead_letter(p) ? o->config->dead_letter_topic : o->config->output_topic;
}

/* Produce a record. On success the client owns the headers. */
static rd_kafka_resp_err_t produce(struct ek_output *o, struct ek_outbound *p)
{
    const rd_kafka_message_t *source = p->inflight->message;
    int copy = p->bytes == source->payload ? 0 : RD_KAFKA_MSG_F_COPY;
    rd_kafka_resp_err_t err = rd_kafka_producev(
        o->client, RD_KAFKA_V_RKT(*p->topic), RD_KAFKA_V_PARTITION(p->partition),
        RD_KAFKA_V_MSGFLAGS(copy), RD_KAFKA_V_VALUE((void *)(uintptr_t)p->bytes, p->length),
        RD_KAFKA_V_KEY(p->key, p->key_length),
        RD_KAFKA_V_TIMESTAMP(ek_output_timestamp(p->inflight)), RD_KAFKA_V_HEADERS(p->headers),
        RD_KAFKA_V_OPAQUE(p->inflight), RD_KAFKA_V_END);
    if (!err)
        p->headers = NULL;
    return err;
}

/* Report that the client takes no record of the topic. A missing permission is fatal. Return
 * EK_EIO. */
static int no_record(const struct ek_output *o, const struct ek_outbound *p,
                     rd_kafka_resp_err_t err, struct ek_error *e)
{
    char text[400];
    if (ek_kafka_topic_of_error(err, NULL) != EK_KAFKA_AUTHORIZATION)
        return ek_fail(e, EK_EIO, "topic '%s' takes no message: %s", name_of_topic(o, p),
                       rd_kafka_err2str(err));
    ek_kafka_errmsg(text, sizeof text, &o->watch, err, EK_KAFKA_DELIVER, name_of_topic(o, p), NULL);
    return ek_fail_fatal(e, EK_EIO, "kafka: %s", text);
}

/* Send at least once. Messages in flight cannot fill the queue, which counts records, not bytes;
 * wait while events do. A copy is sent by the thread that serves acknowledgments, where the wait
 * would not end. An error of the topic, such as a deleted topic, is fatal: the message is not
 * acknowledged and is read after a restart. */
static int send_now(struct ek_output *o, struct ek_outbound *p, struct ek_error *e)
{
    rd_kafka_resp_err_t err;
    p->inflight->sent = p->length;
    while ((err = produce(o, p)) == RD_KAFKA_RESP_ERR__QUEUE_FULL && !atomic_load(&o->given_up))
        nanosleep(&(struct timespec){0, QUEUE_FULL_WAIT_NS}, NULL);
    if (!err)
        return EK_OK;
    if (err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE || err == RD_KAFKA_RESP_ERR__QUEUE_FULL)
        return ek_fail(e, EK_ELIMIT, "%s", rd_kafka_err2str(err));
    no_record(o, p, err, e);
    if (e)
        e->flags |= EK_ERR_FATAL;
    return EK_EIO;
}

/* Count a produced output with key and headers. Wake the reader for the first one, which may be the
 * whole transaction, and when the transaction reaches its size limit. */
static void count_handed(struct ek_output *o, const struct ek_inflight *inflight, size_t length)
{
    size_t bytes = inflight->loaded - inflight->length + length;
    size_t is_transaction_full = (size_t)o->config->transaction_bytes;
    size_t before = atomic_fetch_add(&o->sent_bytes, bytes);
    bool first = !atomic_fetch_add(&o->sent_count, 1);
    if (first || (before < is_transaction_full && before + bytes >= is_transaction_full))
        ek_wakeup_signal(o->wakeup);
}

static bool is_transaction_error(rd_kafka_resp_err_t err)
{
    return err == RD_KAFKA_RESP_ERR__STATE || err == RD_KAFKA_RESP_ERR__FATAL;
}

static void drop(struct ek_output_writer *t, struct ek_inflight *inflight)
{
    inflight->back = t->dropped;
    t->dropped = inflight;
    atomic_store(&t->o->has_dropped, true);
    ek_wakeup_signal(t->o->wakeup);
}

/* Send the copy of a message whose output is in the transaction. Without the copy the transaction
 * is aborted, and an error other than that of the transaction ends the stage. */
static rd_kafka_resp_err_t pass_copy(struct ek_output *o, struct ek_outbound *copy)
{
    struct ek_error e;
    rd_kafka_resp_err_t err = produce(o, copy);
    if (!err || is_transaction_error(err))
        return err;
    no_record(o, copy, err, &e);
    ek_kafka_fail(&o->watch, &e);
    return RD_KAFKA_RESP_ERR__STATE;
}

/* Hook: send exactly once, if there is a topic. A message the failed transaction rejects still
 * counts as sent, so that it is aborted and read again with the others. */
static int pass(void *context, void *item, struct ek_error *e)
{
    struct ek_output_writer *t = context;
    struct ek_outbound *p = item;
    struct ek_inflight *inflight = p->inflight;
    inflight->sent = p->length;
    if (ek_inflight_is_revoked(inflight)) {
        drop(t, inflight);
        p->inflight = NULL;
        return EK_OK;
    }
    rd_kafka_resp_err_t err = p->topic ? produce(t->o, p) : RD_KAFKA_RESP_ERR_NO_ERROR;
    if (!err && p->copy) {
        p->copy->inflight = inflight;
        err = pass_copy(t->o, p->copy);
    }
    if (err && !is_transaction_error(err))
        return no_record(t->o, p, err, e);
    if (err) {
        atomic_store(&t->o->must_abort, true);
        ek_wakeup_signal(t->o->wakeup);
    }
    p->inflight = NULL;
    inflight->back = NULL;
    *t->sent_end = inflight;
    t->sent_end = &inflight->back;
    count_handed(t->o, inflight, p->length);
    return EK_OK;
}

/* Hook: copy the value unless it is the source message's, which lives until the message is
 * finished. */
static void *keep_parcel(void *context, void *item)
{
    struct ek_outbound *p = item, *kept = ek_calloc(1, sizeof *kept);
    const rd_kafka_message_t *source = p->inflight->message;
    void *copy = NULL;
    (void)context;
    if (kept && p->bytes && p->bytes != source->payload) {
        copy = ek_calloc(1, p->length + 1);
        if (!copy) {
            ek_free(kept);
            return NULL;
        }
        memcpy(copy, p->bytes, p->length);
    }
    if (!kept)
        return NULL;
    *kept = *p;
    if (copy)
        kept->bytes = copy;
    kept->owns_bytes = copy != NULL;
    p->headers = NULL;
    p->copy = NULL;
    p->inflight = NULL;
    return kept;
}

/* Free headers, bytes and copy of a record as far as it owns them, not the record itself. */
static void release_outbound(struct ek_outbound *p)
{
    if (p->headers)
        rd_kafka_headers_destroy(p->headers);
    if (p->owns_bytes)
        ek_free((void *)(uintptr_t)p->bytes);
    if (p->copy)
        release_outbound(p->copy);
    ek_free(p->copy);
}

static void release(void *context, void *item)
{
    struct ek_output_writer *t = context;
    struct ek_outbound *p = item;
    if (p->inflight)
        drop(t, p->inflight);
    release_outbound(p);
    ek_free(p);
}

/* Hook: end when the opened queues have filled a transaction. */
static bool is_transaction_full(void *context)
{
    const struct ek_output *o = ((struct ek_output_writer *)context)->o;
    return atomic_load(&o->sent_bytes) >= (size_t)o->config->transaction_bytes;
}

/* Send a record, by the writer unless NULL, and release it. Return 0, or an error, after which the
 * caller keeps the in-flight message, unless it was dropped. */
static int send_outbound(struct ek_output *o, struct ek_output_writer *output_writer,
                         struct ek_outbound *p, struct ek_error *e)
{
    bool gated = output_writer && output_writer->gate && (o->records || !p->topic);
    int rc = gated ? ek_hold_queue_add(output_writer->gate, p, e) : send_now(o, p, e);
    release_outbound(p);
    return rc;
}

int ek_output_writer_new(struct ek_output_writer **out, struct ek_output *o, struct ek_error *e)
{
    struct ek_output_writer *t = ek_calloc(1, sizeof *t);
    if (!t)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    const struct ek_hold_queue_hooks hooks = {t, pass, keep_parcel, release, is_transaction_full};
    t->o = o;
    t->sent_end = &t->sent;
    int rc = o->output_writers == EK_OUTPUT_WRITERS_MAX
                 ? ek_fail(e, EK_ELIMIT, "more than %d writers", EK_OUTPUT_WRITERS_MAX)
             : o->records || !o->config->output_topic ? ek_hold_queue_new(&t->gate, &hooks, e)
                                                      : EK_OK;
    if (!rc && t->gate && !o->records)
        ek_hold_queue_open(t->gate, NULL); /* empty, so it cannot fail */
    if (rc) {
        ek_free(t);
        return rc;
    }
    o->output_writer[o->output_writers++] = t;
    *out = t;
    return EK_OK;
}

static void drop_headers(struct ek_output_writer *t)
{
    for (int i = 0; i < WORDS; i++)
        if (t->ready[i])
            rd_kafka_headers_destroy(t->ready[i]);
    memset(t->ready, 0, sizeof t->ready);
}

void ek_output_writer_free(struct ek_output_writer *t)
{
    if (!t)
        return;
    for (int i = 0; i < t->o->output_writers; i++)
        if (t->o->output_writer[i] == t)
            t->o->output_writer[i] = t->o->output_writer[--t->o->output_writers];
    ek_hold_queue_free(t->gate); /* drops buffered records */
    ek_output_adopt_unfinished(t->o, t->sent);
    ek_output_adopt_unfinished(t->o, t->dropped);
    drop_headers(t);
    ek_free(t);
}

static rd_kafka_headers_t *with_plan(rd_kafka_headers_t *headers, uint64_t plan,
                                     enum ek_list_outcome word)
{
    char version[24];
    if (!headers)
        return NULL;
    snprintf(version, sizeof version, "%" PRIu64, plan);
    ek_kafka_add_header(headers, PLAN_HEADER, version);
    ek_kafka_add_header(headers, ACTION_HEADER, ek_list_outcome_name(word));
    return headers;
}

/* Remove our headers from those of the input: they describe another stage, or are forged. */
static void remove_own(rd_kafka_headers_t *headers)
{
    static const char *const names[] = {PLAN_HEADER, ACTION_HEADER, "ek-truncated", "ek-repair"};
    for (size_t i = 0; headers && i < sizeof names / sizeof *names; i++)
        rd_kafka_header_remove(headers, names[i]);
}

/* Return true if the output has new scores or repaired features. */
static bool is_scored(enum ek_list_outcome word)
{
    return word == EK_LIST_CANARY || word == EK_LIST_ROUTED || word == EK_LIST_REPAIRED;
}

/* Return the message's headers `own` (may be NULL) with the plan headers appended, or NULL if out
 * of memory. Takes ownership of `own`. */
static rd_kafka_headers_t *plan_headers(struct ek_output_writer *t, rd_kafka_headers_t *own,
                                        uint64_t plan, enum ek_list_outcome word)
{
    remove_own(own);
    if (t->repair)
        own = own ? own : rd_kafka_headers_new(3);
    if (t->repair && own)
        ek_kafka_add_header(own, "ek-repair", t->repair);
    if (own || t->repair)
        return with_plan(own, plan, word);
    if (t->plan != plan)
        drop_headers(t);
    t->plan = plan;
    if (!t->ready[word])
        t->ready[word] = with_plan(rd_kafka_headers_new(2), plan, word);
    return t->ready[word] ? rd_kafka_headers_copy(t->ready[word]) : NULL;
}

/* Return 0, or EK_ELIMIT if the record exceeds the topic's limit: the broker would reject its batch
 * or transaction. */
static int check_outbound(const struct ek_output *o, const struct ek_outbound *p,
                          struct ek_error *e)
{
    size_t bytes = ek_topic_limits_batch_bytes(p->key_length, p->length, p->headers);
    size_t most = ek_topic_limits_get(o->limits, p->number);
    return bytes <= most ? EK_OK
                         : ek_fail(e, EK_ELIMIT,
                                   "the %s has %zu bytes, topic '%s' takes %zu "
                                   "(max.message.bytes)",
                                   is_dead_letter(p) ? "dead letter" : "output", bytes,
                                   name_of_topic(o, p), most);
}

/* A message with unreadable headers is forwarded without them. */
static void send_without_headers(const struct ek_output *o, struct ek_inflight *t,
                                 rd_kafka_headers_t *headers)
{
    t->outcome |= LEFT_HEADERS;
    if (headers)
        ek_kafka_add_header(headers, "ek-truncated", "headers");
    ek_inflight_log(o->watch.log, EK_LOG_WARN, "headers_omitted", t, NULL, EK_HEADERS_UNREADABLE);
}

/* Replace the headers of an unchanged message by its own: ours must not make it too large. */
static int omit_headers(struct ek_output *o, struct ek_outbound *p, struct ek_error *e)
{
    rd_kafka_headers_t *own;
    if (ek_kafka_headers_get(p->inflight->message, &own))
        return EK_ELIMIT;
    rd_kafka_headers_destroy(p->headers);
    remove_own(own);
    p->headers = own;
    int rc = check_outbound(o, p, e);
    ek_metrics_count(o->watch.metrics, EK_COUNT_HEADERS_OMITTED, !rc);
    return rc;
}

/* Return 0, or EK_ELIMIT with the reason if the output cannot be sent. */
static int send_output(struct ek_output_writer *output_writer, struct ek_outbound *p,
                       struct ek_error *e)
{
    struct ek_output *o = output_writer->o;
    int rc = p->headers ? check_outbound(o, p, e) : ek_fail(e, EK_ENOMEM, "out of memory");
    if (rc == EK_ELIMIT && (p->inflight->outcome & KIND) == PASSED)
        rc = omit_headers(o, p, e);
    if (!rc)
        return send_outbound(o, output_writer, p, e);
    release_outbound(p);
    return rc;
}

/* Dead letters: the source message with the error in headers, truncated if the topic rejects it. */

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

/* Omit parts of the message until it fits the topic. The client replaces a timestamp of 0. */
static int make_fit(const struct ek_output *o, struct ek_inflight *t, struct letter *l,
                    struct ek_outbound *p, struct ek_error *e)
{
    struct ek_error large;
    if (!t->stamp_ms && !(l->left & LEFT_TIME)) {
        l->left |= LEFT_TIME;
        snprintf(l->why, sizeof l->why, "timestamp 0 cannot be sent");
    }
    for (;;) {
        int rc = make_outbound(o, t, l, p, e);
        if (rc || !check_outbound(o, p, &large))
            return rc;
        release_outbound(p);
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
    rc = send_outbound(o, output_writer, &p, e);
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

/* Exactly once: return the copy of an undecodable message for the dead-letter topic, to send with
 * the message, or NULL if the topic does not take it, which is logged. The caller releases and
 * frees it. */
static struct ek_outbound *make_copy(struct ek_output *o, struct ek_inflight *t, enum ek_code code,
                                     const char *reason)
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

/* Forward the original message if the topic rejects its re-scored form, so that routing loses no
 * list. Only an original that is too large becomes a dead letter. */
static int refused_by_topic(struct ek_output_writer *output_writer, struct ek_inflight *t,
                            uint64_t plan, const char *why, struct ek_error *e)
{
    struct ek_output *o = output_writer->o;
    if (t->outcome != ROUTED)
        return ek_output_send_dead_letter(o, output_writer, t, EK_EIO, why, e);
    ek_metrics_count(o->watch.metrics, EK_COUNT_SCORE_FAILED, 1);
    ek_inflight_log(o->watch.log, EK_LOG_ERROR, "score_failed", t, NULL, why);
    return ek_output_writer_forward(output_writer, t, t->bytes, t->length, plan, EK_LIST_PASSED, e);
}

void ek_output_writer_set_repair(struct ek_output_writer *output_writer, const char *repair)
{
    output_writer->repair = repair;
}

/* Finish a message without an output: in its transaction, or by ek_output_finish_observed. */
static int finish_without_output(struct ek_output_writer *output_writer, struct ek_inflight *t,
                                 struct ek_outbound p, struct ek_error *e)
{
    p.inflight = t;
    p.bytes = NULL;
    p.length = 0;
    output_writer->repair = NULL;
    return send_outbound(output_writer->o, output_writer, &p, e);
}

/* Forward `p`, which has the value and maybe a dead-letter copy. */
static int forward_with(struct ek_output_writer *output_writer, struct ek_inflight *t,
                        struct ek_outbound p, uint64_t plan, enum ek_list_outcome word,
                        struct ek_error *e)
{
    struct ek_output *o = output_writer->o;
    const rd_kafka_message_t *source = t->message;
    rd_kafka_headers_t *own;
    struct ek_error refused;
    if (!o->config->output_topic)
        return finish_without_output(output_writer, t, p, e);
    bool unreadable = ek_kafka_headers_get(t->message, &own) != EK_OK;
    p.inflight = t;
    p.topic = &o->ranked;
    p.number = EK_WRITES_RANKED;
    p.partition = t->partition;
    p.key = source->key;
    p.key_length = source->key_len;
    p.headers = plan_headers(output_writer, own, plan, word);
    output_writer->repair = NULL;
    if (unreadable)
        send_without_headers(o, t, p.headers);
    int rc = send_output(output_writer, &p, &refused);
    if (rc == EK_ELIMIT)
        return refused_by_topic(output_writer, t, plan, refused.message, e);
    if (rc)
        *e = refused;
    return rc;
}

/* Return whether unreadable headers make the message a dead letter. */
static bool is_withheld(const struct ek_output *o, struct ek_inflight *t, enum ek_list_outcome word)
{
    rd_kafka_headers_t *own;
    if (word == EK_LIST_PAUSED || o->config->undecodable != EK_UNDECODABLE_DEAD_LETTER)
        return false;
    int rc = ek_kafka_headers_get(t->message, &own);
    if (own)
        rd_kafka_headers_destroy(own);
    return rc != EK_OK;
}

int ek_output_writer_forward(struct ek_output_writer *output_writer, struct ek_inflight *t,
                             const void *bytes, size_t length, uint64_t plan,
                             enum ek_list_outcome word, struct ek_error *e)
{
    struct ek_output *o = output_writer->o;
    if (t->refused)
        return ek_output_send_dead_letter(o, output_writer, t, EK_EIO, rd_kafka_err2str(t->refused),
                                          e);
    if (is_withheld(o, t, word))
        return ek_output_send_dead_letter(o, output_writer, t, EK_ELIMIT, EK_HEADERS_UNREADABLE, e);
    t->outcome = is_scored(word) ? ROUTED : PASSED;
    return forward_with(output_writer, t, (struct ek_outbound){.bytes = bytes, .length = length},
                        plan, word, e);
}

int ek_output_writer_forward_undecodable(struct ek_output_writer *output_writer,
                                         struct ek_inflight *t, uint64_t plan, enum ek_code code,
                                         const char *reason, struct ek_error *e)
{
    struct ek_output *o = output_writer->o;
    struct ek_outbound p = {.bytes = t->bytes, .length = t->length};
    bool forwards = o->config->output_topic != NULL;
    ek_metrics_count(o->watch.metrics, EK_COUNT_UNDECODABLE_FORWARDED, forwards);
    ek_inflight_log(o->watch.log, EK_LOG_WARN,
                    forwards ? "undecodable_forwarded" : "undecodable_skipped", t,
                    ek_code_name(code), reason);
    if (t->refused && !(t->outcome & COPY))
        return ek_output_send_dead_letter(o, output_writer, t, code, reason, e);
    bool copy = o->config->dead_letter_topic &&
                !t->refused; /* a refused copy is left out the second time */
    t->outcome = PASSED;
    if (copy && o->records) {
        p.copy = make_copy(o, t, code, reason);
    } else if (copy) {
        t->code = (int)code;
        t->reason = ek_strdup(reason);
        if (!t->reason)
            return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    return forward_with(output_writer, t, p, plan, EK_LIST_UNDECODABLE, e);
}

int ek_output_writer_dead_letter(struct ek_output_writer *output_writer, struct ek_inflight *t,
                                 enum ek_code code, const char *reason, struct ek_error *e)
{
    return ek_output_send_dead_letter(output_writer->o, output_writer, t, code, reason, e);
}

struct observed {
    struct ek_output_writer *writer;
    struct ek_inflight *first; /* linked by `back` */
};

static void take_observed(void *context)
{
    struct observed *of = context;
    of->first = of->writer->sent;
    of->writer->sent = NULL;
    of->writer->sent_end = &of->writer->sent;
}

void ek_output_finish_observed(struct ek_output *o)
{
    if (o->records || o->config->output_topic)
        return;
    ek_output_finish_dropped(o);
    if (!atomic_exchange(&o->sent_count, 0))
        return;
    atomic_store(&o->sent_bytes, 0);
    for (int i = 0; i < o->output_writers; i++) {
        struct observed of = {.writer = o->output_writer[i]};
        gate_look(of.writer->gate, take_observed, &of);
        for (struct ek_inflight *t = of.first, *next; t; t = next) {
            next = t->back;
            ek_output_finish_sent(o, t, 0);
        }
    }
}

/* Exactly once only; no transaction is open. */

void ek_output_close_batch(struct ek_output *o, struct ek_txn_batch *out)
{
    struct ek_inflight **end = &out->sent;
    for (int i = 0; i < o->output_writers; i++) {
        struct ek_output_writer *t = o->output_writer[i];
        ek_hold_queue_close(t->gate); /* no `pass` runs after this, so the list can be moved */
        *end = t->sent;
        if (t->sent)
            end = t->sent_end;
        t->sent = NULL;
        t->sent_end = &t->sent;
    }
    *end = NULL;
    out->must_abort = atomic_exchange(&o->must_abort, false);
    atomic_store(&o->sent_count, 0);
    atomic_store(&o->sent_bytes, 0);
}

int ek_output_open(struct ek_output *o, struct ek_error *e)
{
    int rc = EK_OK;
    for (int i = 0; !rc && i < o->output_writers; i++)
        rc = ek_hold_queue_open(o->output_writer[(o->first + i) % o->output_writers]->gate, e);
    o->first =
        (o->first + 1) % o->output_writers; /* rotate, because the last queue may have to wait */
    return rc;
}

static void abandon_dropped(void *context)
{
    struct ek_output_writer *t = context;
    for (struct ek_inflight *inflight = t->dropped, *next; inflight; inflight = next) {
        next = inflight->back;
        ek_output_abandon(t->o, inflight);
    }
    t->dropped = NULL;
}

void ek_output_finish_dropped(struct ek_output *o)
{
    if (!atomic_exchange(&o->has_dropped, false))
        return;
    for (int i = 0; i < o->output_writers; i++)
        gate_look(o->output_writer[i]->gate, abandon_dropped, o->output_writer[i]);
}
