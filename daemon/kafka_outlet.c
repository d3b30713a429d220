/* What workers send with. */
#include "daemon/kafka_output_internal.h"

#include "base/alloc.h"
#include "daemon/gate.h"
#include "daemon/kafka_load.h"
#include "daemon/ticket_log.h"
#include "decide/plan.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

enum { QUEUE_FULL_WAIT_NS = 1000000, WORDS = EK_WORD_PAUSED + 1 };

/* They are left out of the dead letter then. */
static const char UNREAD_HEADERS[] = "the headers cannot be read, or are more than 100000";

/* The headers of most messages, which have none of their own, are the same until the next plan. */
struct ek_outlet {
    struct ek_output *o;
    uint64_t plan;
    rd_kafka_headers_t *ready[WORDS]; /* by word; NULL: not made yet */
    /* Exactly once; the lists are for who holds the gate's lock, or has shut it. */
    struct ek_gate *gate;
    struct ek_ticket *sent, **sent_end; /* in the open transaction */
    struct ek_ticket *dropped;          /* of partitions that went away before they could be sent */
};

/* One message on its way out; key and time are those of the ticket's. */
struct parcel {
    struct ek_ticket *ticket; /* NULL: it was sent, or is with somebody else */
    rd_kafka_topic_t *topic;
    int partition;
    const void *bytes;
    size_t length;
    bool own; /* the bytes: a copy for as long as it waits */
    rd_kafka_headers_t *headers;
};

static const char *reason_name(enum ek_code code)
{
    return code == EK_EIO ? "delivery" : ek_code_name(code);
}

/* The message's headers, to which more are added; NULL without memory. */
static rd_kafka_headers_t *headers_of(rd_kafka_message_t *source)
{
    rd_kafka_headers_t *own;
    ek_kafka_headers_of(source, &own);
    return own ? own : rd_kafka_headers_new(8);
}

static void add_header(rd_kafka_headers_t *headers, const char *name, const char *value)
{
    rd_kafka_header_add(headers, name, -1, value, -1);
}

/* Gives the parcel to the client, which takes the headers when it succeeds. */
static rd_kafka_resp_err_t produce(struct ek_output *o, struct parcel *p)
{
    const rd_kafka_message_t *source = p->ticket->message;
    int copy = p->bytes == source->payload ? 0 : RD_KAFKA_MSG_F_COPY;
    int64_t stamp = p->ticket->stamp_ms < 0 ? 0 : p->ticket->stamp_ms;
    p->ticket->sent = p->length;
    rd_kafka_resp_err_t err = rd_kafka_producev(
        o->client, RD_KAFKA_V_RKT(p->topic), RD_KAFKA_V_PARTITION(p->partition),
        RD_KAFKA_V_MSGFLAGS(copy), RD_KAFKA_V_VALUE((void *)(uintptr_t)p->bytes, p->length),
        RD_KAFKA_V_KEY(source->key, source->key_len), RD_KAFKA_V_TIMESTAMP(stamp),
        RD_KAFKA_V_HEADERS(p->headers), RD_KAFKA_V_OPAQUE(p->ticket), RD_KAFKA_V_END);
    if (!err)
        p->headers = NULL;
    return err;
}

/* At least once. A full queue is waited for: it has room for more than may be in flight, and
 * another thread serves the acknowledgements. What is wrong with the topic and not with the
 * message, as when it was deleted, is fatal: nothing was acknowledged, and is read again after a
 * restart. */
static int send_now(struct ek_output *o, struct parcel *p, struct ek_error *e)
{
    rd_kafka_resp_err_t err;
    while ((err = produce(o, p)) == RD_KAFKA_RESP_ERR__QUEUE_FULL && !atomic_load(&o->given_up))
        nanosleep(&(struct timespec){0, QUEUE_FULL_WAIT_NS}, NULL);
    if (!err)
        return EK_OK;
    if (err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE || err == RD_KAFKA_RESP_ERR__QUEUE_FULL)
        return ek_fail(e, EK_EIO, "%s", rd_kafka_err2str(err));
    return ek_fail_fatal(e, EK_EIO, "topic '%s' takes no message: %s",
                         rd_kafka_topic_name(p->topic), rd_kafka_err2str(err));
}

/* Counts what was handed over, an output of that length with its key and headers; the reader is
 * woken when that is enough for a transaction. */
static void count_handed(struct ek_output *o, const struct ek_ticket *ticket, size_t length)
{
    size_t bytes = ticket->loaded - ticket->length + length;
    size_t enough = (size_t)o->config->transaction_bytes;
    size_t before = atomic_fetch_add(&o->handed_bytes, bytes);
    atomic_fetch_add(&o->handed, 1);
    if (before < enough && before + bytes >= enough)
        ek_bell_ring(o->bell);
}

static void drop(struct ek_outlet *t, struct ek_ticket *ticket)
{
    ticket->back = t->dropped;
    t->dropped = ticket;
    atomic_store(&t->o->some_dropped, true);
    ek_bell_ring(t->o->bell);
}

/* Passes the gate: exactly once. A transaction that has failed already takes nothing more; what
 * should have gone with it counts as handed over, so that it is aborted and all of it comes again.
 */
static int pass(void *context, void *item, struct ek_error *e)
{
    struct ek_outlet *t = context;
    struct parcel *p = item;
    struct ek_ticket *ticket = p->ticket;
    if (ek_ticket_loose(ticket)) {
        drop(t, ticket);
        p->ticket = NULL;
        return EK_OK;
    }
    rd_kafka_resp_err_t err = produce(t->o, p);
    if (err && err != RD_KAFKA_RESP_ERR__STATE && err != RD_KAFKA_RESP_ERR__FATAL)
        return ek_fail(e, EK_EIO, "topic '%s' takes no message: %s", rd_kafka_topic_name(p->topic),
                       rd_kafka_err2str(err));
    if (err) {
        atomic_store(&t->o->spoilt, true);
        ek_bell_ring(t->o->bell);
    }
    p->ticket = NULL;
    ticket->back = NULL;
    *t->sent_end = ticket;
    t->sent_end = &ticket->back;
    count_handed(t->o, ticket, p->length);
    return EK_OK;
}

/* Bytes that are the message's own last as long as the ticket. */
static void *keep(void *context, void *item)
{
    struct parcel *p = item, *kept = ek_calloc(1, sizeof *kept);
    const rd_kafka_message_t *source = p->ticket->message;
    void *copy = NULL;
    (void)context;
    if (kept && p->bytes != source->payload) {
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
    kept->own = copy != NULL;
    p->headers = NULL;
    p->ticket = NULL;
    return kept;
}

static void forget(struct parcel *p)
{
    if (p->headers)
        rd_kafka_headers_destroy(p->headers);
    if (p->own)
        ek_free((void *)(uintptr_t)p->bytes);
}

static void release(void *context, void *item)
{
    struct ek_outlet *t = context;
    struct parcel *p = item;
    if (p->ticket)
        drop(t, p->ticket);
    forget(p);
    ek_free(p);
}

/* What waits at all gates together is more than one transaction is to have. */
static bool enough(void *context)
{
    const struct ek_output *o = ((struct ek_outlet *)context)->o;
    return atomic_load(&o->handed_bytes) >= (size_t)o->config->transaction_bytes;
}

/* On failure the ticket is the caller's again, unless it was dropped on the way. */
static int hand_over(struct ek_output *o, struct ek_outlet *outlet, struct parcel *p,
                     struct ek_error *e)
{
    int rc = outlet && outlet->gate ? ek_gate_put(outlet->gate, p, e) : send_now(o, p, e);
    forget(p);
    return rc;
}

static int no_headers(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "no memory for headers");
}

static int no_way(struct ek_output *o, struct ek_error *e)
{
    char why[200];
    snprintf(why, sizeof why, "%.199s", e ? e->message : "");
    return ek_fail_fatal(e, EK_EIO, "topic '%s' takes no dead letter: %s", o->config->dead_letter,
                         why);
}

int ek_outlet_new(struct ek_outlet **out, struct ek_output *o, struct ek_error *e)
{
    struct ek_outlet *t = ek_calloc(1, sizeof *t);
    if (!t)
        return ek_fail(e, EK_ENOMEM, "no memory for an outlet");
    const struct ek_gate_hooks hooks = {t, pass, keep, release, enough};
    t->o = o;
    t->sent_end = &t->sent;
    int rc = o->outlets == EK_OUTLETS_MAX
                 ? ek_fail(e, EK_ELIMIT, "more than %d outlets", EK_OUTLETS_MAX)
             : o->records ? ek_gate_new(&t->gate, &hooks, e)
                          : EK_OK;
    if (rc) {
        ek_free(t);
        return rc;
    }
    o->outlet[o->outlets++] = t;
    *out = t;
    return EK_OK;
}

static void forget_headers(struct ek_outlet *t)
{
    for (int i = 0; i < WORDS; i++)
        if (t->ready[i])
            rd_kafka_headers_destroy(t->ready[i]);
    memset(t->ready, 0, sizeof t->ready);
}

void ek_outlet_free(struct ek_outlet *t)
{
    if (!t)
        return;
    for (int i = 0; i < t->o->outlets; i++)
        if (t->o->outlet[i] == t)
            t->o->outlet[i] = t->o->outlet[--t->o->outlets];
    ek_gate_free(t->gate); /* drops what waits */
    ek_output_orphan(t->o, t->sent);
    ek_output_orphan(t->o, t->dropped);
    forget_headers(t);
    ek_free(t);
}

static rd_kafka_headers_t *with_plan(rd_kafka_headers_t *headers, uint64_t plan, const char *action)
{
    char version[24];
    if (!headers)
        return NULL;
    snprintf(version, sizeof version, "%" PRIu64, plan);
    add_header(headers, "ek-plan", version);
    add_header(headers, "ek-action", action);
    return headers;
}

static enum ek_word word_of(const char *action)
{
    int word = WORDS - 1;
    while (word > EK_WORD_PASS && strcmp(action, ek_word_name((enum ek_word)word)) != 0)
        word--;
    return (enum ek_word)word;
}

/* With other scores than it came with. */
static bool is_scored(enum ek_word word)
{
    return word == EK_WORD_CANARY || word == EK_WORD_ROUTED;
}

/* Those of the message, of which it gets hold, and ours; NULL without memory. */
static rd_kafka_headers_t *plan_headers(struct ek_outlet *t, rd_kafka_headers_t *own, uint64_t plan,
                                        const char *action)
{
    enum ek_word word = word_of(action);
    if (own)
        return with_plan(own, plan, action);
    if (t->plan != plan)
        forget_headers(t);
    t->plan = plan;
    if (!t->ready[word])
        t->ready[word] = with_plan(rd_kafka_headers_new(2), plan, action);
    return t->ready[word] ? rd_kafka_headers_copy(t->ready[word]) : NULL;
}

/* What no batch can hold must not reach the broker, which would refuse others with it. */
static int check_size(const struct ek_output *o, size_t topic, const struct parcel *p,
                      struct ek_error *e)
{
    const rd_kafka_message_t *source = p->ticket->message;
    size_t bytes = ek_limits_batch_bytes(source->key_len, p->length, p->headers);
    size_t most = ek_limits_of(o->limits, topic);
    return bytes <= most ? EK_OK
                         : ek_fail(e, EK_EIO,
                                   "the output has %zu bytes, topic '%s' takes %zu "
                                   "(max.message.bytes)",
                                   bytes, rd_kafka_topic_name(p->topic), most);
}

/* What a topic refuses with other scores goes out as it came: no list is lost to a plan, and what
 * is too large then is so by what its producer sent, and is no dead letter of a route. */
static int refused_by_topic(struct ek_outlet *outlet, struct ek_ticket *t, uint64_t plan,
                            const char *why, struct ek_error *e)
{
    struct ek_output *o = outlet->o;
    if (t->outcome != ROUTED)
        return ek_output_send_dead(o, outlet, t, EK_EIO, why, e);
    ek_metrics_count(o->watch.metrics, EK_COUNT_SCORE_FAILED, 1);
    ek_ticket_log(o->watch.log, EK_LOG_ERROR, "score_failed", t, NULL, why);
    return ek_outlet_forward(outlet, t, t->bytes, t->length, plan, ek_word_name(EK_WORD_PASS), e);
}

int ek_outlet_forward(struct ek_outlet *outlet, struct ek_ticket *t, const void *bytes,
                      size_t length, uint64_t plan, const char *action, struct ek_error *e)
{
    struct ek_error refused;
    struct ek_output *o = outlet->o;
    rd_kafka_headers_t *own;
    t->outcome = is_scored(word_of(action)) ? ROUTED : PASSED;
    if (ek_kafka_headers_of(t->message, &own))
        return ek_output_send_dead(o, outlet, t, EK_EIO, UNREAD_HEADERS, e);
    struct parcel p = {.ticket = t,
                       .topic = o->ranked,
                       .partition = t->partition,
                       .bytes = bytes,
                       .length = length,
                       .headers = plan_headers(outlet, own, plan, action)};
    if (!p.headers)
        return no_headers(e);
    if (check_size(o, EK_WRITES_RANKED, &p, &refused)) {
        forget(&p);
        return refused_by_topic(outlet, t, plan, refused.message, e);
    }
    if (outlet->gate)
        return hand_over(o, outlet, &p, e);
    if (!hand_over(o, outlet, &p, &refused))
        return EK_OK;
    if (refused.flags & EK_ERR_FATAL) {
        *e = refused;
        return EK_EIO;
    }
    return refused_by_topic(outlet, t, plan, refused.message, e);
}

int ek_outlet_dead_letter(struct ek_outlet *outlet, struct ek_ticket *t, enum ek_code code,
                          const char *reason, struct ek_error *e)
{
    return ek_output_send_dead(outlet->o, outlet, t, code, reason, e);
}

static rd_kafka_headers_t *dead_headers(rd_kafka_message_t *source, enum ek_code code,
                                        const char *reason)
{
    char number[24];
    rd_kafka_headers_t *headers = headers_of(source);
    if (!headers)
        return NULL;
    add_header(headers, "ek-source-topic", rd_kafka_topic_name(source->rkt));
    snprintf(number, sizeof number, "%d", source->partition);
    add_header(headers, "ek-source-partition", number);
    snprintf(number, sizeof number, "%" PRId64, source->offset);
    add_header(headers, "ek-source-offset", number);
    add_header(headers, "ek-error-class", reason_name(code));
    add_header(headers, "ek-error", reason);
    return headers;
}

int ek_output_send_dead(struct ek_output *o, struct ek_outlet *outlet, struct ek_ticket *t,
                        enum ek_code code, const char *reason, struct ek_error *e)
{
    rd_kafka_message_t *source = t->message;
    struct parcel p = {.ticket = t,
                       .topic = o->dead,
                       .partition = RD_KAFKA_PARTITION_UA,
                       .bytes = source->payload,
                       .length = source->len,
                       .headers = dead_headers(source, code, reason)};
    if (!p.headers)
        return no_headers(e);
    if (code == EK_EIO) /* in place of an output, which the ticket still tells */
        ek_metrics_count(o->watch.metrics,
                         t->outcome & ROUTED ? EK_COUNT_DEAD_ROUTED : EK_COUNT_DEAD_PASSED, 1);
    t->outcome = DEAD | (int)code << CODE_SHIFT;
    ek_ticket_log(o->watch.log, EK_LOG_WARN, "dead_letter", t, reason_name(code), reason);
    if (check_size(o, EK_WRITES_DEAD, &p, e)) {
        forget(&p);
        return no_way(o, e);
    }
    return hand_over(o, outlet, &p, e) ? no_way(o, e) : EK_OK;
}

/* Exactly once: between the transactions. */

void ek_output_cut(struct ek_output *o, struct ek_cut *out)
{
    struct ek_ticket **end = &out->sent;
    for (int i = 0; i < o->outlets; i++) {
        struct ek_outlet *t = o->outlet[i];
        ek_gate_shut(t->gate); /* nobody passes after this, so the list is ours */
        *end = t->sent;
        if (t->sent)
            end = t->sent_end;
        t->sent = NULL;
        t->sent_end = &t->sent;
    }
    *end = NULL;
    out->spoilt = atomic_exchange(&o->spoilt, false);
    atomic_store(&o->handed, 0);
    atomic_store(&o->handed_bytes, 0);
}

int ek_output_open(struct ek_output *o, struct ek_error *e)
{
    int rc = EK_OK;
    for (int i = 0; !rc && i < o->outlets; i++)
        rc = ek_gate_open(o->outlet[(o->first + i) % o->outlets]->gate, e);
    o->first = (o->first + 1) % o->outlets; /* none is always the last, which may have to wait */
    return rc;
}

static void abandon_dropped(void *context)
{
    struct ek_outlet *t = context;
    for (struct ek_ticket *ticket = t->dropped, *next; ticket; ticket = next) {
        next = ticket->back;
        ek_output_abandon(t->o, ticket);
    }
    t->dropped = NULL;
}

void ek_output_finish_dropped(struct ek_output *o)
{
    if (!atomic_exchange(&o->some_dropped, false))
        return;
    for (int i = 0; i < o->outlets; i++)
        ek_gate_look(o->outlet[i]->gate, abandon_dropped, o->outlet[i]);
}
