#include "daemon/stage/worker_pool.h"

#include "base/alloc.h"
#include "daemon/base/clock.h"
#include "daemon/files/field_mapping.h"
#include "daemon/guard/shadow_scorer.h"
#include "daemon/kafka/partition_offsets.h"
#include "daemon/stage/flow_monitor.h"
#include "daemon/views/rank_samples.h"
#include "lists/codec_json.h"
#include "serve/context.h"
#include "serve/shadow_scoring.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { CACHE_LINE = 64 };

/* Positions only grow; the slot is the position modulo the capacity. Positions and sleep flags are
 * sequentially consistent: each side writes its own, then reads the other's, so at least one side
 * sees that it must signal. */
struct ek_spsc_queue {
    void **slot;
    size_t capacity;
    const struct ek_wakeup *room;
    struct ek_wakeup filled;
    char apart[CACHE_LINE]; /* avoids false sharing */
    atomic_size_t tail;     /* published */
    size_t put;             /* pushed, maybe unpublished; producer only */
    bool was_full;          /* producer only */
    char apart_too[CACHE_LINE];
    atomic_size_t head; /* consumed */
    char and_this[CACHE_LINE];
    atomic_bool sleeping, desired, closed;
};

int ek_spsc_queue_new(struct ek_spsc_queue **out, size_t capacity, const struct ek_wakeup *room,
                      struct ek_error *e)
{
    struct ek_spsc_queue *r = ek_calloc(1, sizeof *r);
    if (!r)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    r->filled.fd = -1;
    r->room = room;
    for (r->capacity = 1; r->capacity < capacity;)
        r->capacity *= 2;
    r->slot = ek_calloc(r->capacity, sizeof *r->slot);
    int rc = r->slot ? ek_wakeup_init(&r->filled, e) : ek_fail(e, EK_ENOMEM, "out of memory");
    if (rc)
        ek_spsc_queue_free(r);
    else
        *out = r;
    return rc;
}

void ek_spsc_queue_free(struct ek_spsc_queue *r)
{
    if (!r)
        return;
    ek_wakeup_close(&r->filled);
    ek_free(r->slot);
    ek_free(r);
}

size_t ek_spsc_queue_space(struct ek_spsc_queue *r)
{
    size_t used = r->put - atomic_load(&r->head);
    if (!r->was_full && used < r->capacity)
        return r->capacity - used;
    r->was_full = true;
    atomic_store(&r->desired, true);
    used = r->put - atomic_load(&r->head); /* the consumer may have missed `desired` */
    if (used > r->capacity / 2)
        return 0;
    r->was_full = false;
    return r->capacity - used;
}

void ek_spsc_queue_push(struct ek_spsc_queue *r, void *item)
{
    r->slot[r->put++ & (r->capacity - 1)] = item;
}

static void wake(struct ek_spsc_queue *r)
{
    if (atomic_load(&r->sleeping) && atomic_exchange(&r->sleeping, false))
        ek_wakeup_signal(&r->filled);
}

void ek_spsc_queue_publish(struct ek_spsc_queue *r)
{
    if (atomic_load_explicit(&r->tail, memory_order_relaxed) == r->put)
        return;
    atomic_store(&r->tail, r->put);
    wake(r);
}

void ek_spsc_queue_close(struct ek_spsc_queue *r)
{
    ek_spsc_queue_publish(r);
    atomic_store(&r->closed, true);
    wake(r);
}

/* Remove items without waiting. */
static size_t pop_items(struct ek_spsc_queue *r, void **items, size_t most)
{
    size_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    size_t count = atomic_load(&r->tail) - head;
    count = count < most ? count : most;
    for (size_t i = 0; i < count; i++)
        items[i] = r->slot[(head + i) & (r->capacity - 1)];
    if (!count)
        return 0;
    atomic_store(&r->head, head + count);
    if (atomic_load(&r->desired) && ek_spsc_queue_depth(r) <= r->capacity / 2 &&
        atomic_exchange(&r->desired, false))
        ek_wakeup_signal(r->room);
    return count;
}

size_t ek_spsc_queue_pop(struct ek_spsc_queue *r, void **items, size_t most)
{
    for (;;) {
        bool closed = atomic_load(&r->closed);
        size_t count = pop_items(r, items, most);
        if (count || closed)
            return count;
        atomic_store(&r->sleeping, true);
        if (!ek_spsc_queue_depth(r) && !atomic_load(&r->closed))
            ek_wakeup_wait(&r->filled, -1);
        atomic_store(&r->sleeping, false);
    }
}

size_t ek_spsc_queue_depth(const struct ek_spsc_queue *r)
{
    size_t head = atomic_load(&r->head); /* read first: it never passes a tail read later */
    return atomic_load(&r->tail) - head;
}

size_t ek_decode_batch_context(struct ek_inflight *const *inflights, size_t count)
{
    size_t most = count < EK_DECODE_BATCH_MAX ? count : EK_DECODE_BATCH_MAX, some = 1;
    if (inflights[0]->length > EK_DECODE_BATCH_MESSAGE)
        return 1;
    while (some < most && inflights[some]->length <= EK_DECODE_BATCH_MESSAGE)
        some++;
    return some;
}

size_t ek_decode_batch_read(struct ek_guard_service_list *lists,
                            struct ek_inflight *const *inflights, size_t count,
                            void (*read)(void *context, const struct ek_inflight *t,
                                         struct ek_guard_service_list *l),
                            void *context)
{
    size_t some = 0;
    bool large = false;
    for (; some < count && !large; some++) {
        read(context, inflights[some], &lists[some]);
        /* the first context keeps the size of earlier lists */
        large = some > 0 && ek_context_bytes(lists[some].context) > EK_DECODE_BATCH_LIST;
    }
    return some;
}

void ek_decode_batch_finish(struct ek_guard_service_list *lists, size_t count)
{
    for (size_t i = 1; i < count; i++)
        ek_context_shrink(lists[i].context, EK_DECODE_BATCH_LIST);
}

enum {
    RING_BATCHES = 4,   /* capacity of a queue */
    SCORELESS_MAX = 100 /* lists without scores before a warning */
};

/* Contexts of a worker. The first outlives the others, which share its scratch memory. */
struct contexts {
    struct ek_asset_ref *assets;
    struct ek_context *of[EK_DECODE_BATCH_MAX];
};

struct worker {
    struct ek_worker_pool *worker_pool;
    struct ek_spsc_queue *ring;
    struct contexts *in_use;
    struct contexts *laid, *next; /* committed contexts, staged contexts; NULL: none */
    struct ek_guard_service_list list[EK_DECODE_BATCH_MAX];
    bool has_time[EK_DECODE_BATCH_MAX]; /* the message has its time */
    size_t together;                    /* lists per batch; 1 without other workers */
    struct ek_output_writer *output_writer;
    struct ek_inflight **batch;                     /* [config->batch_size] */
    int64_t clock_ms;                               /* guard's clock at the start of the batch */
    uint64_t began_ns;                              /* start of the current lists */
    struct ek_context *to_try[EK_DECODE_BATCH_MAX]; /* sent lists to shadow-score */
    size_t to_try_count;
    struct ek_shadow_scorer tries;
    struct ek_rank_sample *sample;    /* sample of the list to shadow-score next; NULL: none */
    const struct ek_context *sampled; /* that list */
    int64_t sample_due_ms;
    pthread_t thread;
    bool started;
};

struct ek_worker_pool {
    struct ek_worker_pool_tools tools;
    int size;
    struct worker *worker; /* [size] */
    pthread_mutex_t lock;  /* guards `returned`, `failure` and staged contexts */
    struct ek_inflight *returned;
    struct ek_error failure;
    atomic_bool failed, some_returned;
    struct ek_score_check scores;
};

static void free_contexts(struct contexts *s)
{
    if (!s)
        return;
    for (size_t k = EK_DECODE_BATCH_MAX; k-- > 0;)
        ek_context_free(s->of[k]);
    ek_asset_ref_release(s->assets);
    ek_free(s);
}

static int make_contexts(struct contexts **out, size_t count, struct ek_asset_ref *assets,
                         struct ek_error *e)
{
    struct contexts *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    s->assets = ek_asset_ref_retain(assets);
    int rc = ek_context_new(&s->of[0], ek_asset_ref_get(assets), e);
    for (size_t i = 1; !rc && i < count; i++)
        rc = ek_context_new_paired(&s->of[i], s->of[0], e);
    if (rc)
        free_contexts(s);
    else
        *out = s;
    return rc;
}

static void use(struct worker *w, struct contexts *s)
{
    free_contexts(w->in_use);
    w->in_use = s;
    for (size_t i = 0; i < w->together; i++)
        w->list[i].context = s->of[i];
}

static int make_worker(struct ek_worker_pool *c, struct worker *w, struct ek_error *e)
{
    size_t batch = (size_t)c->tools.config->batch_size;
    w->worker_pool = c;
    w->together = c->size > 1 ? EK_DECODE_BATCH_MAX : 1;
    ek_shadow_scorer_init(&w->tries, (int)c->tools.config->shadow_scoring_cpu_percent, ek_now_ns(),
                          c->tools.metrics);
    w->batch = ek_calloc(batch, sizeof *w->batch);
    if (!w->batch)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_spsc_queue_new(&w->ring, RING_BATCHES * batch, c->tools.wakeup, e);
    struct contexts *first;
    if (!rc)
        rc = make_contexts(&first, w->together, c->tools.assets, e);
    if (rc)
        return rc;
    use(w, first);
    return ek_output_writer_new(&w->output_writer, c->tools.output, e);
}

int ek_worker_pool_new(struct ek_worker_pool **out, const struct ek_worker_pool_tools *tools,
                       struct ek_error *e)
{
    struct ek_worker_pool *c = ek_calloc(1, sizeof *c);
    if (!c)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    c->tools = *tools;
    c->size = ek_config_workers(tools->config);
    pthread_mutex_init(&c->lock, NULL);
    c->worker = ek_calloc((size_t)c->size, sizeof *c->worker);
    int rc = c->worker ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
    for (int i = 0; !rc && i < c->size; i++)
        rc = make_worker(c, &c->worker[i], e);
    if (rc)
        ek_worker_pool_free(c);
    else
        *out = c;
    return rc;
}

void ek_worker_pool_free(struct ek_worker_pool *c)
{
    if (!c)
        return;
    ek_worker_pool_stop(c);
    for (int i = 0; c->worker && i < c->size; i++) {
        struct worker *w = &c->worker[i];
        ek_output_writer_free(w->output_writer);
        free_contexts(w->in_use);
        free_contexts(w->laid);
        free_contexts(w->next);
        ek_spsc_queue_free(w->ring);
        ek_free(w->batch);
    }
    ek_free(c->worker);
    pthread_mutex_destroy(&c->lock);
    ek_free(c);
}

int ek_worker_pool_size(const struct ek_worker_pool *c)
{
    return c->size;
}

static void return_message(struct ek_worker_pool *c, struct ek_inflight *t)
{
    pthread_mutex_lock(&c->lock);
    t->back = c->returned;
    c->returned = t;
    pthread_mutex_unlock(&c->lock);
    atomic_store(&c->some_returned, true);
    ek_wakeup_signal(c->tools.wakeup);
}

static void fail(struct ek_worker_pool *c, const struct ek_error *e)
{
    pthread_mutex_lock(&c->lock);
    if (!c->failure.code)
        c->failure = *e;
    pthread_mutex_unlock(&c->lock);
    atomic_store(&c->failed, true);
}

static bool chooses(const struct worker *w)
{
    return w->worker_pool->tools.config->observe == EK_OBSERVE_AUTO;
}

static int prepare(const struct worker *w, const struct ek_inflight *t, struct ek_context *c,
                   bool *has_time, struct ek_error *e)
{
    long long most = (long long)w->worker_pool->tools.config->message_bytes;
    if (t->length > (size_t)most)
        return ek_fail(e, EK_ELIMIT, "the message has %zu bytes, limits.message_bytes allows %lld",
                       t->length, most);
    const void *bytes = t->bytes ? t->bytes : "";
    int rc = ek_context_read_message(c, bytes, t->length, e);
    if (rc)
        return rc;
    *has_time = c->query.time_ms >= 0;
    if (!*has_time)
        c->query.time_ms = t->stamp_ms; /* reproducible, unlike a wall clock */
    return chooses(w) ? EK_OK : ek_context_add_statistics(c, e);
}

static void read_one(void *worker, const struct ek_inflight *t, struct ek_guard_service_list *l)
{
    struct worker *w = worker;
    l->inflight = t;
    l->rc = prepare(w, t, l->context, &w->has_time[l - w->list], &l->why);
}

/* Update statistics of a sent list; its message may already be freed. */
static void note_sent(struct worker *w, struct ek_context *c, bool scored)
{
    if (!c->routing.desired)
        return;
    if (c->counted)
        ek_route_stats_add(&w->tries.acts, c, ek_now_ns() - w->began_ns);
    if (scored && ek_context_needs_comparison(c))
        w->to_try[w->to_try_count++] = c;
}

/* Sample a list before its message is freed. */
static void sample(struct worker *w, const struct ek_context *c)
{
    int64_t now = (int64_t)(w->began_ns / 1000000);
    if (!w->worker_pool->tools.samples || w->sample || now < w->sample_due_ms ||
        !ek_context_needs_comparison(c))
        return;
    w->sample_due_ms = now + EK_SAMPLE_EVERY_MS;
    (void)ek_rank_sample_new(&w->sample, w->worker_pool->tools.samples, c); /* else no sample */
    w->sampled = c;
}

/* Warn once about missing scores, before a route needs them. */
static void check_scores(struct worker *w, const struct ek_list *q)
{
    struct ek_worker_pool *worker_pool = w->worker_pool;
    char text[500];
    if (ek_score_check_missing(&worker_pool->scores, q) != SCORELESS_MAX ||
        !ek_score_check_expected(worker_pool->tools.config))
        return;
    ek_score_check_text(worker_pool->tools.config, SCORELESS_MAX, text, sizeof text);
    ek_log_text(worker_pool->tools.log, EK_LOG_WARN, "scores_missing", text);
}

/* Return whether a list keeps its scores: there is no output, but the plan of a fleet acts; or no
 * list has had a segment dimension that the rules name, and a fault of one segment would be treated
 * in all traffic. */
static bool is_held(const struct worker *w, enum ek_list_outcome word)
{
    const struct ek_worker_pool_tools *tools = &w->worker_pool->tools;
    return (word == EK_LIST_CANARY || word == EK_LIST_ROUTED || word == EK_LIST_REPAIRED) &&
           (!tools->config->output_topic || ek_flow_monitor_lacks_segment(tools->flow));
}

static int forward(struct worker *w, struct ek_inflight *t, struct ek_context *c,
                   struct ek_error *e)
{
    const struct ek_worker_pool_tools *tools = &w->worker_pool->tools;
    struct ek_error why = {0};
    size_t length = t->length;
    const void *bytes = ek_context_score(c, &length, &why);
    bool scored = bytes != NULL;
    enum ek_list_outcome word = c->outcome;
    bool held = scored && is_held(w, word);
    if (held) {
        bytes = ek_context_write_columns(c, &length, &why);
        word = EK_LIST_SHADOW;
    }
    check_scores(w, &c->query);
    if (!bytes) {
        bytes = t->bytes;
        length = t->length;
        ek_metrics_count(tools->metrics, EK_COUNT_SCORE_FAILED, 1);
        ek_inflight_log(tools->log, EK_LOG_ERROR, "score_failed", t, NULL, why.message);
    }
    if (scored && c->routing.desired)
        sample(w, c);
    ek_metrics_count(tools->metrics, EK_COUNT_REPAIRED_VALUES, held ? 0 : c->changed);
    ek_metrics_count(tools->metrics, EK_COUNT_WITHHELD_REPAIRS,
                     c->would_change + (held ? c->changed : 0));
    ek_output_writer_set_repair(w->output_writer, held ? NULL : ek_context_repair_note(c));
    int rc = ek_output_writer_forward(w->output_writer, t, bytes, length,
                                      ek_context_plan_version(c), word, e);
    if (!rc)
        note_sent(w, c, scored);
    return rc;
}

/* Forward a message unchanged, even if undecodable. */
static int forward_paused(struct worker *w, struct ek_inflight *t,
                          const struct ek_guard_service_list *l, struct ek_error *e)
{
    struct ek_metrics *m = w->worker_pool->tools.metrics;
    ek_metrics_count(m, EK_COUNT_UNDECODABLE_FORWARDED,
                     l->rc && w->worker_pool->tools.config->output_topic);
    return ek_output_writer_forward(w->output_writer, t, t->bytes, t->length,
                                    ek_metrics_gauge_value(m, EK_GAUGE_PLAN_VERSION),
                                    EK_LIST_PAUSED, e);
}

/* Send one message. On error, which is fatal, the caller keeps the message. */
static int pass_on(struct worker *w, struct ek_inflight *t, const struct ek_guard_service_list *l,
                   struct ek_error *e)
{
    char text[600];
    if (l->rc == EK_ENOMEM) {
        *e = l->why; /* not the message's fault: it is read again after a restart */
        return l->rc;
    }
    if (ek_pause_is_on(w->worker_pool->tools.pause))
        return forward_paused(w, t, l, e);
    if (!l->rc)
        return forward(w, t, l->context, e);
    ek_error_text(&l->why, text, sizeof text);
    if (w->worker_pool->tools.config->undecodable == EK_UNDECODABLE_DEAD_LETTER)
        return ek_output_writer_dead_letter(w->output_writer, t, l->why.code, text, e);
    return ek_output_writer_forward_undecodable(
        w->output_writer, t,
        ek_metrics_gauge_value(w->worker_pool->tools.metrics, EK_GAUGE_PLAN_VERSION), l->why.code,
        text, e);
}

/* Count whether the message could be read. */
static void count_decoded(const struct worker *w, const struct ek_inflight *t,
                          const struct ek_guard_service_list *l)
{
    const struct ek_worker_pool_tools *tools = &w->worker_pool->tools;
    char text[600];
    if (l->rc == EK_ENOMEM)
        return;
    if (l->rc) {
        ek_flow_monitor_add_undecodable(tools->flow, t->assignment->topic, t->assignment->partition,
                                        t->offset, ek_error_text(&l->why, text, sizeof text));
        return;
    }
    const struct ek_list *q = &l->context->query;
    ek_flow_monitor_add_list(tools->flow, q, w->has_time[l - w->list]);
    ek_metrics_count(tools->metrics, EK_COUNT_UNREADABLE_TIME,
                     q->unreadable >> EK_OPTIONAL_TIME & 1);
    ek_metrics_count(tools->metrics, EK_COUNT_UNREADABLE_SEGMENTS,
                     q->unreadable >> EK_OPTIONAL_SEGMENTS & 1);
}

static bool failed(const struct ek_worker_pool *c)
{
    return atomic_load_explicit(&c->failed, memory_order_relaxed);
}

static void send_or_return(struct worker *w, struct ek_inflight *t,
                           const struct ek_guard_service_list *l)
{
    struct ek_error e = {0};
    bool over = t->no_output && l->rc != EK_ENOMEM;
    if (over || failed(w->worker_pool)) {
        return_message(w->worker_pool, t);
    } else if (pass_on(w, t, l, &e)) {
        fail(w->worker_pool, &e);
        return_message(w->worker_pool, t);
    }
}

/* Return revoked messages, or all after a failure, and compact the rest. Return the number left. */
static size_t sort_out(struct worker *w, struct ek_inflight **inflights, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (failed(w->worker_pool) || ek_inflight_is_revoked(inflights[i]))
            return_message(w->worker_pool, inflights[i]);
        else
            inflights[kept++] = inflights[i];
    return kept;
}

static void show_sample(struct worker *w, const struct ek_context *c)
{
    if (!w->sample || w->sampled != c)
        return;
    ek_rank_samples_add(w->worker_pool->tools.samples, w->sample,
                        ek_rank_comparison_scores(c->rank_comparison), ek_now_ms());
    w->sample = NULL;
}

/* Shadow-score after all outputs are sent, so that none waits for it. Messages may be freed. */
static void try_lists(struct worker *w)
{
    size_t half = RING_BATCHES / 2 * (size_t)w->worker_pool->tools.config->batch_size;
    for (size_t i = 0; i < w->to_try_count; i++) {
        uint64_t began = ek_now_ns();
        if (!ek_shadow_scorer_is_due(&w->tries, ek_spsc_queue_depth(w->ring) > half, began))
            continue;
        size_t waiting = w->tries.pending;
        ek_shadow_scorer_score(&w->tries, w->to_try[i]);
        if (w->tries.pending > waiting && !w->tries.result[waiting].failed)
            show_sample(w, w->to_try[i]);
        ek_shadow_scorer_add_time(&w->tries, ek_now_ns() - began);
    }
    if (w->sample) /* its list was skipped */
        w->sample_due_ms += EK_SAMPLE_RETRY_MS - EK_SAMPLE_EVERY_MS;
    ek_rank_sample_free(w->sample);
    w->sample = NULL;
    w->to_try_count = 0;
}

/* Switch to the committed contexts after the guard has changed assets. Results of the old assets
 * are dropped. */
static void pop_staged(struct worker *w)
{
    pthread_mutex_lock(&w->worker_pool->lock);
    struct contexts *laid = w->laid;
    w->laid = NULL;
    pthread_mutex_unlock(&w->worker_pool->lock);
    if (laid)
        use(w, laid);
    w->tries.pending = 0;
    ek_route_stats_clear(&w->tries.acts);
}

/* Choose the lists to observe before the work on their statistics. */
static void choose_observed(struct worker *w, size_t count)
{
    ek_guard_service_choose(w->worker_pool->tools.guard, w->list, count);
    for (size_t i = 0; i < count; i++) {
        struct ek_guard_service_list *l = &w->list[i];
        if (!l->rc && l->context->observed)
            l->rc = ek_context_add_statistics(l->context, &l->why);
    }
}

static size_t read_some(struct worker *w, struct ek_inflight *const *inflights, size_t count)
{
    size_t some = ek_decode_batch_read(w->list, inflights, count, read_one, w);
    if (chooses(w))
        choose_observed(w, some);
    return some;
}

/* Process up to w->together messages. Return how many remain at the end of the array. */
static size_t work(struct worker *w, struct ek_inflight **inflights, size_t given)
{
    const struct ek_worker_pool_tools *tools = &w->worker_pool->tools;
    w->began_ns = ek_now_ns();
    size_t kept = sort_out(w, inflights, given), count = read_some(w, inflights, kept);
    while (!ek_guard_service_update(tools->guard, w->list, count, w->clock_ms, &w->tries)) {
        pop_staged(w);
        count = read_some(w, inflights, kept);
    }
    for (size_t i = 0; i < count; i++) {
        count_decoded(w, inflights[i], &w->list[i]);
        send_or_return(w, inflights[i], &w->list[i]);
        ek_metrics_time_ns(tools->metrics, EK_TIME_PROCESSING, ek_now_ns() - w->began_ns);
    }
    try_lists(w);
    ek_decode_batch_finish(w->list, count);
    memmove(inflights + given - (kept - count), inflights + count,
            (kept - count) * sizeof *inflights);
    return kept - count;
}

static void *run(void *context)
{
    struct worker *w = context;
    struct ek_guard_service *guard = w->worker_pool->tools.guard;
    size_t most = (size_t)w->worker_pool->tools.config->batch_size, count;
    while ((count = ek_spsc_queue_pop(w->ring, (void **)w->batch, most))) {
        w->clock_ms = ek_guard_service_clock_ms(guard);
        for (size_t at = 0, some; at < count; at += some) {
            some = count - at < w->together ? count - at : w->together;
            some = ek_decode_batch_context(w->batch + at, some);
            some -= work(w, w->batch + at, some);
        }
        if (!ek_shadow_scorer_has_results(&w->tries) || ek_spsc_queue_depth(w->ring))
            continue;
        ek_shadow_scorer_report(&w->tries, ek_guard_service_lock(guard));
        ek_guard_service_unlock(guard);
    }
    return NULL;
}

int ek_worker_pool_start(struct ek_worker_pool *c, struct ek_error *e)
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

void ek_worker_pool_stop(struct ek_worker_pool *c)
{
    for (int i = 0; c->worker && i < c->size; i++)
        if (c->worker[i].started)
            ek_spsc_queue_close(c->worker[i].ring);
    for (int i = 0; c->worker && i < c->size; i++) {
        if (c->worker[i].started)
            pthread_join(c->worker[i].thread, NULL);
        c->worker[i].started = false;
    }
}

/* Set the staged contexts of all workers and free the previous ones. NULL clears them. */
static void set_staged(struct ek_worker_pool *c, struct contexts **sets)
{
    struct contexts *gone[EK_WORKERS_MAX];
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < c->size; i++) {
        gone[i] = c->worker[i].next;
        c->worker[i].next = sets ? sets[i] : NULL;
    }
    pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < c->size; i++)
        free_contexts(gone[i]);
}

int ek_worker_pool_stage_assets(struct ek_worker_pool *c, struct ek_asset_ref *assets,
                                struct ek_error *e)
{
    struct contexts *sets[EK_WORKERS_MAX] = {NULL};
    int rc = EK_OK;
    for (int i = 0; !rc && i < c->size; i++)
        rc = make_contexts(&sets[i], c->worker[i].together, assets, e);
    if (!rc)
        set_staged(c, sets);
    for (int i = 0; rc && i < c->size; i++)
        free_contexts(sets[i]);
    return rc;
}

void ek_worker_pool_discard_assets(struct ek_worker_pool *c)
{
    set_staged(c, NULL);
}

void ek_worker_pool_commit_assets(struct ek_worker_pool *c)
{
    struct contexts *gone[EK_WORKERS_MAX];
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < c->size; i++) {
        struct worker *w = &c->worker[i];
        gone[i] = w->laid; /* unused: no list since the previous commit */
        w->laid = w->next;
        w->next = NULL;
    }
    pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < c->size; i++)
        free_contexts(gone[i]);
}

size_t ek_worker_pool_space(struct ek_worker_pool *c, int w)
{
    return ek_spsc_queue_space(c->worker[w].ring);
}

void ek_worker_pool_submit(struct ek_worker_pool *c, int w, struct ek_inflight *const *inflights,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        ek_spsc_queue_push(c->worker[w].ring, inflights[i]);
    ek_spsc_queue_publish(c->worker[w].ring);
}

size_t ek_worker_pool_queued(const struct ek_worker_pool *c)
{
    size_t sum = 0;
    for (int i = 0; i < c->size; i++)
        sum += ek_spsc_queue_depth(c->worker[i].ring);
    return sum;
}

struct ek_inflight *ek_worker_pool_next_finished(struct ek_worker_pool *c)
{
    if (!atomic_load_explicit(&c->some_returned, memory_order_relaxed))
        return NULL;
    pthread_mutex_lock(&c->lock);
    struct ek_inflight *t = c->returned;
    if (t)
        c->returned = t->back;
    atomic_store(&c->some_returned, c->returned != NULL);
    pthread_mutex_unlock(&c->lock);
    return t;
}

int ek_worker_pool_failure(struct ek_worker_pool *c, struct ek_error *e)
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
