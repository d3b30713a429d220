#include "daemon/crew.h"

#include "base/alloc.h"
#include "daemon/cli.h"
#include "daemon/ring.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { RING_BATCHES = 4 }; /* what a ring holds */

struct worker {
    struct ek_crew *crew;
    struct ek_ring *ring;
    struct ek_context *context;
    struct ek_outlet *outlet;
    struct ek_ticket **batch; /* [config->batch] */
    int64_t wall_ms;          /* when it was taken */
    pthread_t thread;
    bool started;
};

struct ek_crew {
    struct ek_crew_tools tools;
    int size;
    struct worker *worker; /* [size] */
    pthread_mutex_t lock;  /* of the two below */
    struct ek_ticket *returned;
    struct ek_error failure;
    atomic_bool failed, some_returned;
};

static int make_worker(struct ek_crew *c, struct worker *w, struct ek_error *e)
{
    size_t batch = (size_t)c->tools.config->batch;
    w->crew = c;
    w->batch = ek_calloc(batch, sizeof *w->batch);
    if (!w->batch)
        return ek_fail(e, EK_ENOMEM, "no memory for a worker");
    int rc = ek_ring_new(&w->ring, RING_BATCHES * batch, c->tools.bell, e);
    if (!rc)
        rc = ek_context_new(&w->context, c->tools.assets, e);
    return rc ? rc : ek_outlet_new(&w->outlet, c->tools.output, e);
}

int ek_crew_new(struct ek_crew **out, const struct ek_crew_tools *tools, struct ek_error *e)
{
    struct ek_crew *c = ek_calloc(1, sizeof *c);
    if (!c)
        return ek_fail(e, EK_ENOMEM, "no memory for the workers");
    c->tools = *tools;
    c->size = ek_config_workers(tools->config);
    pthread_mutex_init(&c->lock, NULL);
    c->worker = ek_calloc((size_t)c->size, sizeof *c->worker);
    int rc = c->worker ? EK_OK : ek_fail(e, EK_ENOMEM, "no memory for the workers");
    for (int i = 0; !rc && i < c->size; i++)
        rc = make_worker(c, &c->worker[i], e);
    if (rc)
        ek_crew_free(c);
    else
        *out = c;
    return rc;
}

void ek_crew_free(struct ek_crew *c)
{
    if (!c)
        return;
    ek_crew_stop(c);
    for (int i = 0; c->worker && i < c->size; i++) {
        struct worker *w = &c->worker[i];
        ek_outlet_free(w->outlet);
        ek_context_free(w->context);
        ek_ring_free(w->ring);
        ek_free(w->batch);
    }
    ek_free(c->worker);
    pthread_mutex_destroy(&c->lock);
    ek_free(c);
}

int ek_crew_size(const struct ek_crew *c)
{
    return c->size;
}

static void give_back(struct ek_crew *c, struct ek_ticket *t)
{
    pthread_mutex_lock(&c->lock);
    t->back = c->returned;
    c->returned = t;
    pthread_mutex_unlock(&c->lock);
    atomic_store(&c->some_returned, true);
    ek_bell_ring(c->tools.bell);
}

static void fail(struct ek_crew *c, const struct ek_error *e)
{
    pthread_mutex_lock(&c->lock);
    if (!c->failure.code)
        c->failure = *e;
    pthread_mutex_unlock(&c->lock);
    atomic_store(&c->failed, true);
}

/* Reads a message and lets the guard take it into account. */
static int observe(struct worker *w, const struct ek_ticket *t, struct ek_error *e)
{
    const struct ek_crew_tools *tools = &w->crew->tools;
    if (t->length > (size_t)tools->config->message_bytes)
        return ek_fail(e, EK_ELIMIT, "the message has %zu bytes, limits.message_bytes allows %lld",
                       t->length, (long long)tools->config->message_bytes);
    int rc = ek_context_prepare(w->context, t->bytes ? t->bytes : "", t->length, e);
    return rc ? rc : ek_shared_guard_take(tools->guard, w->context, w->wall_ms, e);
}

static int forward(struct worker *w, struct ek_ticket *t, struct ek_error *e)
{
    const struct ek_crew_tools *tools = &w->crew->tools;
    struct ek_error why = {0};
    size_t length = t->length;
    const void *bytes = ek_context_score(w->context, &length, &why);
    if (!bytes) {
        bytes = t->bytes;
        length = t->length;
        ek_metrics_count(tools->metrics, EK_COUNT_SCORE_FAILED, 1);
        ek_log_text(tools->log, EK_LOG_ERROR, "score_failed", why.message);
    }
    return ek_outlet_forward(w->outlet, t, bytes, length, ek_context_plan_version(w->context),
                             ek_context_action(w->context), e);
}

/* Fails when the stage cannot go on; then the ticket is still ours. */
static int work(struct worker *w, struct ek_ticket *t, struct ek_error *e)
{
    char text[600];
    struct ek_error why = {0};
    int rc = observe(w, t, &why);
    if (!rc)
        return forward(w, t, e);
    if (rc == EK_ENOMEM) {
        *e = why; /* no fault of the message: a restart reads it again */
        return rc;
    }
    return ek_outlet_dead_letter(w->outlet, t, why.code, ek_error_text(&why, text, sizeof text), e);
}

static void work_or_return(struct worker *w, struct ek_ticket *t)
{
    struct ek_error e = {0};
    if (atomic_load_explicit(&w->crew->failed, memory_order_relaxed) || ek_ticket_loose(t)) {
        give_back(w->crew, t);
    } else if (work(w, t, &e)) {
        fail(w->crew, &e);
        give_back(w->crew, t);
    }
}

static void *run(void *context)
{
    struct worker *w = context;
    size_t most = (size_t)w->crew->tools.config->batch, count;
    while ((count = ek_ring_take(w->ring, (void **)w->batch, most))) {
        uint64_t began = ek_now_ns();
        w->wall_ms = ek_wall_ms();
        for (size_t i = 0; i < count; i++) {
            work_or_return(w, w->batch[i]);
            uint64_t now = ek_now_ns();
            ek_metrics_time_ns(w->crew->tools.metrics, EK_TIME_STAGE, now - began);
            began = now;
        }
    }
    return NULL;
}

int ek_crew_start(struct ek_crew *c, struct ek_error *e)
{
    for (int i = 0; i < c->size; i++) {
        int problem = pthread_create(&c->worker[i].thread, NULL, run, &c->worker[i]);
        if (problem)
            return ek_fail(e, EK_EIO, "cannot start a worker: %s", strerror(problem));
        c->worker[i].started = true;
    }
    ek_metrics_gauge(c->tools.metrics, EK_GAUGE_WORKERS, (uint64_t)c->size);
    return EK_OK;
}

void ek_crew_stop(struct ek_crew *c)
{
    for (int i = 0; c->worker && i < c->size; i++)
        if (c->worker[i].started)
            ek_ring_close(c->worker[i].ring);
    for (int i = 0; c->worker && i < c->size; i++) {
        if (c->worker[i].started)
            pthread_join(c->worker[i].thread, NULL);
        c->worker[i].started = false;
    }
}

size_t ek_crew_room(struct ek_crew *c, int w)
{
    return ek_ring_room(c->worker[w].ring);
}

void ek_crew_give(struct ek_crew *c, int w, struct ek_ticket *const *tickets, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ek_ring_put(c->worker[w].ring, tickets[i]);
    ek_ring_publish(c->worker[w].ring);
}

size_t ek_crew_waiting(const struct ek_crew *c)
{
    size_t sum = 0;
    for (int i = 0; i < c->size; i++)
        sum += ek_ring_depth(c->worker[i].ring);
    return sum;
}

struct ek_ticket *ek_crew_returned(struct ek_crew *c)
{
    if (!atomic_load_explicit(&c->some_returned, memory_order_relaxed))
        return NULL;
    pthread_mutex_lock(&c->lock);
    struct ek_ticket *t = c->returned;
    if (t)
        c->returned = t->back;
    atomic_store(&c->some_returned, c->returned != NULL);
    pthread_mutex_unlock(&c->lock);
    return t;
}

int ek_crew_failure(struct ek_crew *c, struct ek_error *e)
{
    if (!atomic_load_explicit(&c->failed, memory_order_relaxed))
        return EK_OK;
    pthread_mutex_lock(&c->lock);
    if (e)
        *e = c->failure;
    int rc = c->failure.code;
    pthread_mutex_unlock(&c->lock);
    return rc;
}
