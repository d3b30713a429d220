#include "daemon/views/event_log.h"

#include "base/alloc.h"
#include "base/error.h"
#include "daemon/base/metrics.h"
#include "guard/event_json.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

struct event {
    const char *kind; /* NULL: unknown */
    char *json;
};

struct ek_event_log {
    pthread_mutex_t lock;
    struct event *events; /* ring; event k is at (k - 1) % keep */
    size_t keep;
    uint64_t count;   /* events so far */
    uint64_t removed; /* removed events, the oldest */
    size_t bytes;     /* of the retained events */
    struct ek_reported_findings open;
    struct ek_event *plan; /* NULL before the first */
    uint64_t plan_changes;
};

struct ek_event_log *ek_event_log_new(size_t keep)
{
    struct ek_event_log *j = ek_calloc(1, sizeof *j);
    if (!j)
        return NULL;
    j->keep = keep ? keep : 1;
    j->open.suspected = true;
    j->events = ek_calloc(j->keep, sizeof *j->events);
    if (!j->events) {
        ek_free(j);
        return NULL;
    }
    pthread_mutex_init(&j->lock, NULL);
    return j;
}

static void remove_all_open(struct ek_event_log *j)
{
    ek_reported_findings_release(&j->open);
    ek_free(j->plan);
    j->plan = NULL;
    j->plan_changes++;
}

void ek_event_log_free(struct ek_event_log *j)
{
    if (!j)
        return;
    for (size_t i = 0; i < j->keep; i++)
        ek_free(j->events[i].json);
    ek_free(j->events);
    remove_all_open(j);
    pthread_mutex_destroy(&j->lock);
    ek_free(j);
}

static int add_finding(struct ek_event_log *j, const struct ek_event *v, int64_t now_ms,
                       struct ek_event_log_change *change)
{
    struct ek_reported_finding *one = ek_reported_findings_of(&j->open, v);
    bool known = one && one->confirmed != UINT64_MAX;
    if (j->open.count == EK_EVENT_LOG_FINDINGS_MAX && ek_reported_findings_grow(&j->open, v))
        ek_reported_findings_remove(&j->open, j->open.item);
    int rc = ek_reported_findings_follow(&j->open, v);
    if (rc)
        return rc;
    one = one ? one : ek_reported_findings_of(&j->open, v);
    if (one && one->end)
        ek_reported_findings_remove(&j->open, one);
    else if (one && !known)
        one->confirmed_ms = now_ms;
    change->detected = v->finding.state == EK_CONFIRMED && ek_action_routes(v->finding.action);
    return EK_OK;
}

static bool was_routed(const struct ek_event *plan, const struct ek_event_entry *e)
{
    for (int i = 0; plan && i < plan->plan.count; i++)
        if (ek_event_entry_acts(&plan->plan.entry[i]) &&
            ek_event_same_place(&plan->plan.entry[i].at, &e->at))
            return true;
    return false;
}

static int store_plan(struct ek_event_log *j, const struct ek_event *v,
                      struct ek_event_log_change *change)
{
    struct ek_event *copy = ek_event_copy(v);
    if (!copy)
        return EK_ENOMEM;
    for (int i = 0; i < v->plan.count; i++) {
        const struct ek_event_entry *e = &v->plan.entry[i];
        change->enforced += ek_event_entry_acts(e) && !was_routed(j->plan, e);
    }
    ek_free(j->plan);
    j->plan = copy;
    j->plan_changes++;
    return EK_OK;
}

static int apply(struct ek_event_log *j, const struct ek_event *v, int64_t now_ms,
                 struct ek_event_log_change *change)
{
    if (v->kind == EK_EVENT_FINDING)
        return add_finding(j, v, now_ms, change);
    if (v->kind == EK_EVENT_PLAN)
        return store_plan(j, v, change);
    if (v->kind == EK_EVENT_DECISION && v->decision.kind == EK_DECIDED_ROLLBACK)
        change->rolled_back = v->decision.guardrail;
    return EK_OK;
}

static void drop_oldest(struct ek_event_log *j)
{
    struct event *slot = &j->events[j->removed++ % j->keep];
    j->bytes -= strlen(slot->json);
    ek_free(slot->json);
    slot->json = NULL;
}

int ek_event_log_add(struct ek_event_log *j, const struct ek_event *v, const char *json,
                     int64_t now_ms, struct ek_event_log_change *change)
{
    size_t length = strlen(json);
    char *copy = ek_strndup(json, length);
    *change = (struct ek_event_log_change){0};
    if (!copy)
        return EK_ENOMEM;
    pthread_mutex_lock(&j->lock);
    int rc = apply(j, v, now_ms, change);
    if (!rc) {
        while (j->removed < j->count &&
               (j->count - j->removed == j->keep || j->bytes + length > EK_EVENT_LOG_BYTES_MAX))
            drop_oldest(j);
        j->events[j->count++ % j->keep] = (struct event){ek_event_kind_name(v->kind), copy};
        j->bytes += length;
    }
    pthread_mutex_unlock(&j->lock);
    if (rc)
        ek_free(copy);
    return rc;
}

void ek_event_log_reset(struct ek_event_log *j)
{
    pthread_mutex_lock(&j->lock);
    remove_all_open(j);
    pthread_mutex_unlock(&j->lock);
}

static void add_streamed(const struct ek_event_log *j, int64_t started_ms, uint64_t number,
                         struct ek_buf *out)
{
    const struct event *event = &j->events[(number - 1) % j->keep];
    ek_buf_printf(out, "id: %" PRId64 "-%" PRIu64 "\n", started_ms, number);
    if (event->kind)
        ek_buf_printf(out, "event: %s\n", event->kind);
    ek_buf_printf(out, "data: %s\n\n", event->json);
}

int ek_event_log_stream(struct ek_event_log *j, int64_t started_ms, uint64_t *after, size_t most,
                        struct ek_buf *out)
{
    size_t start = out->length;
    pthread_mutex_lock(&j->lock);
    uint64_t missed = *after < j->removed ? j->removed - *after : 0;
    if (missed)
        ek_buf_printf(out, "event: missed\ndata: {\"missed\":%" PRIu64 "}\n\n", missed);
    uint64_t k = *after + missed;
    while (!out->rc && k < j->count && (out->length - start < most))
        add_streamed(j, started_ms, ++k, out);
    if (!out->rc)
        *after = k;
    pthread_mutex_unlock(&j->lock);
    return out->rc;
}

uint64_t ek_event_log_count(struct ek_event_log *j)
{
    pthread_mutex_lock(&j->lock);
    uint64_t count = j->count;
    pthread_mutex_unlock(&j->lock);
    return count;
}

int ek_event_log_last(struct ek_event_log *j, size_t n, struct ek_buf *out)
{
    pthread_mutex_lock(&j->lock);
    uint64_t k = j->count > n ? j->count - n : 0;
    if (k < j->removed)
        k = j->removed;
    ek_buf_text(out, "[");
    for (uint64_t first = k; k < j->count; k++)
        ek_buf_printf(out, "%s%s", k > first ? ",\n" : "", j->events[k % j->keep].json);
    pthread_mutex_unlock(&j->lock);
    return ek_buf_text(out, "]\n");
}

int ek_event_log_findings(struct ek_event_log *j, const char *feature, struct ek_buf *out)
{
    size_t written = 0;
    ek_buf_text(out, "[");
    pthread_mutex_lock(&j->lock);
    for (size_t i = 0; i < j->open.count; i++) {
        const struct ek_event *v = j->open.item[i].event;
        if (feature && strcmp(v->finding.at.feature, feature) != 0)
            continue;
        ek_buf_text(out, written++ ? "," : "");
        ek_event_json(v, out);
    }
    pthread_mutex_unlock(&j->lock);
    return ek_buf_text(out, "]\n");
}

uint64_t ek_event_log_plan_changes(struct ek_event_log *j)
{
    pthread_mutex_lock(&j->lock);
    uint64_t changes = j->plan_changes;
    pthread_mutex_unlock(&j->lock);
    return changes;
}

int ek_event_log_view(struct ek_event_log *j,
                      int (*visit)(void *context, const struct ek_event_log_state *v),
                      void *context)
{
    pthread_mutex_lock(&j->lock);
    const struct ek_event_log_state view = {j->open.item, j->open.count, j->plan};
    int rc = visit(context, &view);
    pthread_mutex_unlock(&j->lock);
    return rc;
}

size_t ek_event_log_open(struct ek_event_log *j)
{
    pthread_mutex_lock(&j->lock);
    size_t n = j->open.count;
    pthread_mutex_unlock(&j->lock);
    return n;
}

struct counts {
    int suspected, confirmed[EK_CLASS_COUNT];
    int64_t since_ms;         /* start of the oldest confirmed finding; now if there is none */
    int entry[EK_MODE_COUNT]; /* entries of the plan that change scores */
};

static int count_state(void *context, const struct ek_event_log_state *v)
{
    struct counts *t = context;
    for (size_t i = 0; i < v->findings; i++) {
        const struct ek_event_finding *f = &v->finding[i].event->finding;
        if (f->state == EK_SUSPECTED) {
            t->suspected++;
            continue;
        }
        t->confirmed[f->class]++;
        if (v->finding[i].confirmed_ms < t->since_ms)
            t->since_ms = v->finding[i].confirmed_ms;
    }
    for (int i = 0; v->plan && i < v->plan->plan.count; i++) {
        const struct ek_event_entry *e = &v->plan->plan.entry[i];
        t->entry[e->mode] += ek_action_treats(e->action);
    }
    return EK_OK;
}

static void add_count(const char *class, const char *state, int count, struct ek_buf *out)
{
    ek_buf_printf(out, "evenkeel_open_findings{class=\"%s\",state=\"%s\"} %d\n", class, state,
                  count);
}

static void add_plan(const int count[EK_MODE_COUNT], struct ek_buf *out)
{
    ek_metrics_head("evenkeel_plan_entries", out);
    for (int m = 0; m < EK_MODE_COUNT; m++)
        ek_buf_printf(out, "evenkeel_plan_entries{mode=\"%s\"} %d\n", ek_mode_name((enum ek_mode)m),
                      count[m]);
}

int ek_finding_metrics(struct ek_event_log *j, int64_t now_ms, struct ek_buf *out)
{
    struct counts t = {.since_ms = now_ms};
    ek_event_log_view(j, count_state, &t);
    ek_metrics_head("evenkeel_open_findings", out);
    add_count(ek_class_name(EK_CLASS_NONE), "suspected", t.suspected, out);
    for (int c = EK_CLASS_NONE + 1; c < EK_CLASS_COUNT; c++)
        add_count(ek_class_name((enum ek_class)c), "confirmed", t.confirmed[c], out);
    add_plan(t.entry, out);
    return ek_metrics_single("evenkeel_oldest_confirmed_finding_age_seconds",
                             (double)(now_ms - t.since_ms) / 1e3, out);
}
