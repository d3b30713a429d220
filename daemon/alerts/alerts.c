#include "daemon/alerts/alerts.h"

#include "base/alloc.h"
#include "daemon/alerts/http_delivery.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/metrics_table.h"
#include "daemon/base/process.h"
#include "daemon/base/url.h"
#include "daemon/config/config.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const int64_t NEVER = INT64_MAX, FIRST_BACK_OFF_MS = 1000;

struct sink {
    struct ek_alert_rule rule;
    struct ek_alert_entry *busy; /* delivery in flight; NULL: none */
    struct ek_alert_delivered in_flight;
    int64_t not_before_ms, back_off_ms;
};

struct ek_alert_queue {
    struct ek_alert_registry *book;
    int64_t wait_ms;
    bool is_stopping;
    size_t sinks;
    struct sink sink[EK_ALERT_SINKS_MAX];
};

struct ek_alert_queue *ek_alert_queue_new(struct ek_alert_registry *book,
                                          const struct ek_alert_rule *rules, size_t sinks,
                                          int64_t wait_ms)
{
    struct ek_alert_queue *q = ek_calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->book = book;
    q->wait_ms = wait_ms;
    q->sinks = sinks < EK_ALERT_SINKS_MAX ? sinks : EK_ALERT_SINKS_MAX;
    for (size_t i = 0; i < q->sinks; i++)
        q->sink[i].rule = rules[i];
    return q;
}

void ek_alert_queue_free(struct ek_alert_queue *q)
{
    ek_free(q);
}

void ek_alert_queue_skip_waits(struct ek_alert_queue *q)
{
    q->is_stopping = true;
}

static int64_t group_wait_ms(const struct ek_alert_queue *q)
{
    return q->is_stopping ? 0 : q->wait_ms;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Return the delivered state. An alert of an earlier process counts as delivered firing, unless the
 * sink deduplicates. */
static struct ek_alert_delivered delivered_state(const struct ek_alert_entry *e,
                                                 const struct sink *s, size_t number)
{
    struct ek_alert_delivered state = e->delivered[number];
    if (!state.revision && e->is_inherited && !s->rule.deduplicates)
        state = (struct ek_alert_delivered){
            .revision = 1, .firing = true, .uncertain = state.uncertain, .last_ms = e->fired_ms};
    return state;
}

/* Return when an update is due; NEVER: the sink has the current state. */
static int64_t update_due_ms(const struct ek_alert_queue *q, const struct ek_alert_entry *e,
                             size_t number)
{
    const struct sink *s = &q->sink[number];
    struct ek_alert_delivered state = delivered_state(e, s, number);
    if (!e->ours || ek_alert_get_severity(&e->alert) < s->rule.min_severity)
        return NEVER;
    if (!e->alert.firing) {
        bool missed =
            !state.revision && (e->is_inherited || e->changed_ms - e->fired_ms >= q->wait_ms);
        return state.firing || state.uncertain || missed ? e->changed_ms + group_wait_ms(q) : NEVER;
    }
    if (!state.firing || state.uncertain)
        return e->fired_ms + group_wait_ms(q);
    int64_t pace_ms = q->is_stopping ? 0 : EK_ALERT_PACE_MS;
    return state.revision == e->revision ? NEVER : later(e->changed_ms, state.last_ms + pace_ms);
}

static int64_t due_ms(const struct ek_alert_queue *q, const struct ek_alert_entry *e, size_t number)
{
    int64_t update = update_due_ms(q, e, number), repeat = q->sink[number].rule.repeat_ms;
    if (!repeat || !e->ours || !e->alert.firing || !e->delivered[number].firing)
        return update;
    int64_t again = e->delivered[number].last_ms + repeat;
    return again < update ? again : update;
}

/* An alert that a sink rejects must not hold back the others: it follows those that were due before
 * its last attempt. */
static struct ek_alert_entry *first_due(struct ek_alert_queue *q, size_t number, int64_t *due)
{
    struct ek_alert_entry *first = NULL;
    *due = NEVER;
    for (size_t i = 0; i < ek_alert_registry_count(q->book); i++) {
        struct ek_alert_entry *e = ek_alert_registry_get(q->book, i);
        int64_t at = due_ms(q, e, number);
        at = at == NEVER ? NEVER : later(at, e->delivered[number].failed_ms);
        if (at < *due) {
            first = e;
            *due = at;
        }
    }
    return first;
}

const struct ek_alert_entry *ek_alert_queue_next(struct ek_alert_queue *q, size_t sink,
                                                 int64_t now_ms)
{
    struct sink *s = &q->sink[sink];
    int64_t due;
    if (s->busy || now_ms < s->not_before_ms)
        return NULL;
    struct ek_alert_entry *e = first_due(q, sink, &due);
    if (!e || due > now_ms)
        return NULL;
    s->busy = e;
    s->in_flight = (struct ek_alert_delivered){.revision = e->revision, .firing = e->alert.firing};
    e->busy++;
    return e;
}

static void back_off(struct sink *s, int64_t retry_after_ms, int64_t now_ms)
{
    int64_t next = s->back_off_ms ? 2 * s->back_off_ms : FIRST_BACK_OFF_MS;
    s->back_off_ms = next < EK_ALERT_BACK_OFF_MAX_MS ? next : EK_ALERT_BACK_OFF_MAX_MS;
    int64_t requested_ms =
        retry_after_ms < EK_ALERT_RETRY_AFTER_MAX_MS ? retry_after_ms : EK_ALERT_RETRY_AFTER_MAX_MS;
    s->not_before_ms = now_ms + later(s->back_off_ms, requested_ms);
}

void ek_alert_queue_finish(struct ek_alert_queue *q, size_t sink, enum ek_alert_result result,
                           int64_t retry_after_ms, int64_t now_ms)
{
    struct sink *s = &q->sink[sink];
    if (!s->busy)
        return;
    if (result == EK_ALERT_FAILED) {
        s->busy->delivered[sink].uncertain = true;
        s->busy->delivered[sink].failed_ms = now_ms;
        back_off(s, retry_after_ms, now_ms);
    } else {
        s->in_flight.last_ms = now_ms;
        s->busy->delivered[sink] = s->in_flight;
        s->back_off_ms = s->not_before_ms = 0;
    }
    s->busy->busy--;
    s->busy = NULL;
}

int64_t ek_alert_queue_wait_ms(struct ek_alert_queue *q, int64_t now_ms)
{
    int64_t first = NEVER, due;
    for (size_t i = 0; i < q->sinks; i++) {
        const struct sink *s = &q->sink[i];
        if (s->busy || !first_due(q, i, &due))
            continue;
        due = later(due, s->not_before_ms);
        first = due < first ? due : first;
    }
    return first == NEVER ? -1 : later(first - now_ms, 0);
}

static bool is_over(const struct ek_alert_queue *q, const struct ek_alert_entry *e)
{
    if (e->alert.firing || e->busy)
        return false;
    for (size_t i = 0; i < q->sinks; i++)
        if (update_due_ms(q, e, i) != NEVER)
            return false;
    return true;
}

void ek_alert_queue_remove_ended(struct ek_alert_queue *q, int64_t now_ms)
{
    for (size_t i = ek_alert_registry_count(q->book); i-- > 0;) {
        const struct ek_alert_entry *e = ek_alert_registry_get(q->book, i);
        if (is_over(q, e) && now_ms - e->changed_ms >= q->wait_ms)
            ek_alert_registry_remove(q->book, i);
    }
}

struct ek_alert_backlog ek_alert_queue_backlog(struct ek_alert_queue *q, int64_t now_ms)
{
    struct ek_alert_backlog b = {.waiting = 0};
    for (size_t i = 0; i < q->sinks; i++)
        for (size_t k = 0; k < ek_alert_registry_count(q->book); k++) {
            int64_t due = update_due_ms(q, ek_alert_registry_get(q->book, k), i);
            if (due > now_ms)
                continue;
            b.waiting++;
            b.oldest_ms = later(b.oldest_ms, now_ms - due);
        }
    return b;
}

enum { MAX_WAIT_MS = 60000 };
enum phase { RUNNING, FINISHING, STOPPING };
enum { EVENT = EK_ALERTS_CHANGES, REPLAYED }; /* further kinds of input */

struct input {
    struct input *next;
    int kind; /* or enum ek_alerts_change */
    bool ours;
    struct ek_event *event; /* of EVENT and REPLAYED */
};

struct stats {
    uint64_t results[EK_ALERT_SINKS_MAX][EK_ALERT_RESULTS];
    uint64_t lost;    /* dropped events */
    uint64_t dropped; /* evicted alerts */
    struct ek_alert_backlog backlog;
    size_t known;
};

struct ek_alerts {
    const struct ek_config *config;
    struct ek_log *log;
    char instance[EK_INSTANCE_BYTES]; /* "": no fleet */
    struct ek_alert_registry *book;
    struct ek_alert_queue *queue;
    struct ek_http *http;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* protects the members below */
    struct input *first, **end;
    size_t waiting, waiting_bytes;
    enum phase phase;
    struct stats stats;
};

static int enomem(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

static int init(struct ek_alerts *a, struct ek_error *e)
{
    const struct ek_config *c = a->config;
    struct ek_alert_rule rules[EK_ALERT_SINKS_MAX];
    for (size_t i = 0; i < c->sinks.count; i++)
        rules[i] = ek_alert_get_rule(&c->sinks.items[i]);
    a->book = ek_alert_registry_new((size_t)c->alerts_max_active);
    if (a->book)
        a->queue = ek_alert_queue_new(a->book, rules, c->sinks.count, c->alerts_group_wait_ms);
    return a->queue ? ek_http_new(&a->http, c->sinks.count, e) : enomem(e);
}

int ek_alerts_new(struct ek_alerts **out, const struct ek_config *c, struct ek_log *log,
                  struct ek_error *e)
{
    *out = NULL;
    if (!c->sinks.count)
        return EK_OK;
    struct ek_alerts *a = ek_calloc(1, sizeof *a);
    if (!a)
        return enomem(e);
    a->config = c;
    a->log = log;
    a->end = &a->first;
    pthread_mutex_init(&a->lock, NULL);
    int rc = init(a, e);
    if (rc)
        ek_alerts_free(a);
    else
        *out = a;
    return rc;
}

static void count_lost(struct ek_alerts *a, const char *why)
{
    pthread_mutex_lock(&a->lock);
    a->stats.lost++;
    pthread_mutex_unlock(&a->lock);
    ek_log_text(a->log, EK_LOG_ERROR, "alert_dropped", why);
}

static bool enqueue(struct ek_alerts *a, struct input *h)
{
    size_t bytes = h->event ? h->event->bytes : 0;
    pthread_mutex_lock(&a->lock);
    bool room =
        a->waiting < EK_ALERTS_INTAKE_MAX && a->waiting_bytes + bytes <= EK_ALERTS_INTAKE_BYTES_MAX;
    if (room) {
        *a->end = h;
        a->end = &h->next;
        a->waiting++;
        a->waiting_bytes += bytes;
    }
    pthread_mutex_unlock(&a->lock);
    return room;
}

static void free_one(struct input *h)
{
    if (h)
        ek_free(h->event);
    ek_free(h);
}

static int enqueue_event(struct ek_alerts *a, int kind, const struct ek_event *v, bool ours)
{
    struct input *h = ek_calloc(1, sizeof *h);
    if (!h || (v && !(h->event = ek_event_copy(v)))) {
        free_one(h);
        count_lost(a, "out of memory");
        return EK_ENOMEM;
    }
    h->kind = kind;
    h->ours = ours;
    if (!enqueue(a, h)) {
        free_one(h);
        count_lost(a, "queue full");
        return EK_OK;
    }
    ek_http_wake(a->http);
    return EK_OK;
}

static bool concerns(const struct ek_alerts *a, const struct ek_event *v)
{
    return a && v->kind != EK_EVENT_PLAN && v->kind != EK_EVENT_TEXT;
}

void ek_alerts_receive(struct ek_alerts *a, const struct ek_event *v, bool ours)
{
    if (concerns(a, v))
        enqueue_event(a, EVENT, v, ours);
}

int ek_alerts_replay(struct ek_alerts *a, const struct ek_event *v, bool ours)
{
    return concerns(a, v) ? enqueue_event(a, REPLAYED, v, ours) : EK_OK;
}

void ek_alerts_report(struct ek_alerts *a, enum ek_alerts_change change)
{
    if (a)
        enqueue_event(a, (int)change, NULL, change == EK_ALERTS_NEW_LEADER);
}

static struct ek_alert_times now(void)
{
    return (struct ek_alert_times){ek_now_ms(), ek_wall_ms()};
}

/* Set the instance of alerts that concern one instance only. */
static void name_instance(const struct ek_alerts *a, struct ek_alert *of)
{
    bool input = of->kind >= EK_ALERT_UNDECODABLE && of->kind <= EK_ALERT_UNMAPPED;
    bool own = input || of->kind == EK_ALERT_RELOAD_REFUSED || of->kind == EK_ALERT_MODEL_DRIFT;
    if (own)
        ek_alert_copy(of->instance, sizeof of->instance, a->instance);
}

static void process_event(struct ek_alerts *a, const struct input *h)
{
    struct ek_alert_update update;
    ek_alert_update_read(&update, h->event);
    name_instance(a, &update.alert);
    if (ek_alert_registry_add(a->book, &update, h->ours, h->kind == REPLAYED, now()))
        count_lost(a, "too many alerts");
}

static void process_input(struct ek_alerts *a, const struct input *h)
{
    if (h->kind == EK_ALERTS_REPLAY_STARTED)
        ek_alert_registry_start_replay(a->book);
    else if (h->kind == EK_ALERTS_REPLAY_ENDED)
        ek_alert_registry_stop_replay(a->book, now());
    else if (h->kind == EK_ALERTS_GUARD_RESET)
        ek_alert_registry_reset(a->book, now());
    else if (h->kind == EK_ALERTS_NEW_LEADER)
        ek_alert_registry_become_leader(a->book);
    else
        process_event(a, h);
}

static struct input *dequeue_all(struct ek_alerts *a, enum phase *phase)
{
    pthread_mutex_lock(&a->lock);
    struct input *first = a->first;
    a->first = NULL;
    a->end = &a->first;
    a->waiting = a->waiting_bytes = 0;
    *phase = a->phase;
    pthread_mutex_unlock(&a->lock);
    return first;
}

static void free_input(struct input *first)
{
    for (struct input *next; first; first = next) {
        next = first->next;
        free_one(first);
    }
}

static enum phase read_events(struct ek_alerts *a)
{
    enum phase phase;
    struct input *first = dequeue_all(a, &phase);
    for (const struct input *h = first; h; h = h->next)
        process_input(a, h);
    free_input(first);
    return phase;
}

static void send_due(struct ek_alerts *a)
{
    for (size_t i = 0; i < a->config->sinks.count; i++) {
        const struct ek_alert_entry *e = ek_alert_queue_next(a->queue, i, ek_now_ms());
        if (e && ek_alert_send(a->http, a->config, i, &e->alert, ek_wall_ms())) {
            ek_log_text(a->log, EK_LOG_ERROR, "alert_delivery_failed", "out of memory");
            ek_alert_queue_finish(a->queue, i, EK_ALERT_FAILED, 0, ek_now_ms());
        }
    }
}

static void report_result(struct ek_alerts *a, const struct ek_http_response *response,
                          enum ek_alert_result result)
{
    static const char *const events[] = {"alert_sent", "alert_delivery_failed", "alert_refused"};
    static const enum ek_log_level levels[] = {EK_LOG_DEBUG, EK_LOG_WARN, EK_LOG_ERROR};
    const struct ek_alert_sink *s = &a->config->sinks.items[response->slot];
    char url[EK_URL_REDACTED_BYTES], reply[EK_HTTP_START_BYTES],
        text[2 * EK_HTTP_START_BYTES + 400];
    ek_alert_format_response(s, response, reply);
    ek_url_redact(s->url, url);
    snprintf(text, sizeof text, "%s at %s: status %d%s%s", s->label, url, response->status,
             *reply ? ": " : "", reply);
    ek_log_text(a->log, levels[result], events[result], text);
}

static void process_responses(struct ek_alerts *a)
{
    struct ek_http_response response;
    while (ek_http_next(a->http, &response)) {
        enum ek_alert_result result = ek_alert_check_response(&response);
        ek_alert_queue_finish(a->queue, response.slot, result, response.retry_after_ms,
                              ek_now_ms());
        report_result(a, &response, result);
        pthread_mutex_lock(&a->lock);
        a->stats.results[response.slot][result]++;
        pthread_mutex_unlock(&a->lock);
    }
}

static void update_metrics(struct ek_alerts *a)
{
    struct ek_alert_backlog backlog = ek_alert_queue_backlog(a->queue, ek_now_ms());
    pthread_mutex_lock(&a->lock);
    a->stats.backlog = backlog;
    a->stats.known = ek_alert_registry_count(a->book);
    a->stats.dropped = ek_alert_registry_dropped_count(a->book);
    pthread_mutex_unlock(&a->lock);
}

static void step(struct ek_alerts *a, int64_t max_ms)
{
    ek_alert_registry_age(a->book, now());
    send_due(a);
    ek_alert_queue_remove_ended(a->queue, ek_now_ms());
    update_metrics(a);
    int64_t wait = ek_alert_queue_wait_ms(a->queue, ek_now_ms());
    ek_http_wait(a->http, (int)(wait < 0 || wait > max_ms ? max_ms : wait));
    process_responses(a);
}

/* Signals are for the main thread; a closed connection is an error, not SIGPIPE. */
static void block_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}

/* The last lists in flight may still cause events; EK_ALERTS_DRAIN_MS are left after them. */
static void report_remaining(struct ek_alerts *a)
{
    int64_t until = ek_now_ms() + a->config->shutdown_timeout_ms;
    bool stopping = false;
    ek_alert_queue_skip_waits(a->queue);
    for (;;) {
        if (read_events(a) == STOPPING && !stopping) {
            int64_t last = ek_now_ms() + EK_ALERTS_DRAIN_MS;
            until = last < until ? last : until;
            stopping = true;
        }
        update_metrics(a);
        if (ek_now_ms() >= until || (stopping && !a->stats.backlog.waiting))
            break;
        step(a, EK_ALERTS_DRAIN_MS / 20);
    }
    if (a->stats.backlog.waiting)
        ek_log_write(a->log, EK_LOG_WARN, "alerts_undelivered", "pending=%zu",
                     a->stats.backlog.waiting);
}

static void *run(void *context)
{
    struct ek_alerts *a = context;
    block_signals();
    ek_lower_priority();
    while (read_events(a) == RUNNING)
        step(a, MAX_WAIT_MS);
    report_remaining(a);
    return NULL;
}

void ek_alerts_set_instance(struct ek_alerts *a, const char *instance)
{
    if (a)
        snprintf(a->instance, sizeof a->instance, "%s", instance);
}

int ek_alerts_start(struct ek_alerts *a, struct ek_error *e)
{
    int problem = a && !a->started ? pthread_create(&a->thread, NULL, run, a) : 0;
    if (problem)
        return ek_fail(e, EK_EIO, "cannot start a thread for alerts: %s", strerror(problem));
    if (a)
        a->started = true;
    return EK_OK;
}

static void set_phase(struct ek_alerts *a, enum phase phase)
{
    pthread_mutex_lock(&a->lock);
    a->phase = phase;
    pthread_mutex_unlock(&a->lock);
    if (a->http)
        ek_http_wake(a->http);
}

void ek_alerts_finish(struct ek_alerts *a)
{
    if (a)
        set_phase(a, FINISHING);
}

void ek_alerts_stop(struct ek_alerts *a)
{
    if (!a)
        return;
    set_phase(a, STOPPING);
    if (a->started)
        pthread_join(a->thread, NULL);
    a->started = false;
}

void ek_alerts_free(struct ek_alerts *a)
{
    if (!a)
        return;
    ek_alerts_stop(a);
    ek_http_free(a->http);
    ek_alert_queue_free(a->queue);
    ek_alert_registry_free(a->book);
    free_input(a->first);
    pthread_mutex_destroy(&a->lock);
    ek_free(a);
}

static int add_results(const struct ek_alerts *a, const struct stats *f, struct ek_buf *out)
{
    static const char *const names[] = {"sent", "failed", "refused"};
    ek_metrics_head("evenkeel_alerts_sent_total", out);
    for (size_t i = 0; i < a->config->sinks.count; i++)
        for (int k = 0; k < EK_ALERT_RESULTS; k++)
            ek_buf_printf(out,
                          "evenkeel_alerts_sent_total{sink=\"%s\",result=\"%s\"} %" PRIu64 "\n",
                          a->config->sinks.items[i].label, names[k], f->results[i][k]);
    return out->rc;
}

static int add_family(const char *name, double value, struct ek_buf *out)
{
    ek_metrics_head(name, out);
    return ek_buf_printf(out, "%s %.9g\n", name, value);
}

int ek_alerts_metrics(struct ek_alerts *a, struct ek_buf *out)
{
    if (!a)
        return out->rc;
    pthread_mutex_lock(&a->lock);
    struct stats f = a->stats;
    pthread_mutex_unlock(&a->lock);
    add_results(a, &f, out);
    add_family("evenkeel_alerts_pending", (double)f.backlog.waiting, out);
    add_family("evenkeel_alerts_oldest_pending_age_seconds", (double)f.backlog.oldest_ms / 1e3,
               out);
    add_family("evenkeel_alerts_active", (double)f.known, out);
    return add_family("evenkeel_alerts_dropped_total", (double)(f.lost + f.dropped), out);
}
