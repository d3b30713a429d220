#include "daemon/alerts/alert_delivery.h"

#include "base/alloc.h"

#include <stdint.h>

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
        bool missed = !state.revision && e->changed_ms - e->fired_ms >= q->wait_ms;
        return state.firing || state.uncertain || missed ? e->changed_ms + group_wait_ms(q) : NEVER;
    }
    if (!state.firing || state.uncertain)
        return e->fired_ms + group_wait_ms(q);
    return state.revision == e->revision ? NEVER
                                         : later(e->changed_ms, state.last_ms + EK_ALERT_PACE_MS);
}

static int64_t due_ms(const struct ek_alert_queue *q, const struct ek_alert_entry *e, size_t number)
{
    int64_t update = update_due_ms(q, e, number), repeat = q->sink[number].rule.repeat_ms;
    if (!repeat || !e->ours || !e->alert.firing || !e->delivered[number].firing)
        return update;
    int64_t again = e->delivered[number].last_ms + repeat;
    return again < update ? again : update;
}

static struct ek_alert_entry *first_due(struct ek_alert_queue *q, size_t number, int64_t *due)
{
    struct ek_alert_entry *first = NULL;
    *due = NEVER;
    for (size_t i = 0; i < ek_alert_registry_count(q->book); i++) {
        struct ek_alert_entry *e = ek_alert_registry_get(q->book, i);
        int64_t at = due_ms(q, e, number);
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
