#include "daemon/kafka/transaction_thread.h"

#include "base/alloc.h"
#include "daemon/base/clock.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

/* Pause between two attempts of a call, doubled up to the maximum. */
enum { PAUSE_MS = 100, PAUSE_MAX_MS = 2000, WAIT_FOR_EVER = -1 };

enum job { JOB_NONE, JOB_COMMIT, JOB_ABORT, JOB_STOP };
/* Result of a call. */
enum verdict { DONE, AGAIN, ABORT, END };

struct ek_txn {
    struct ek_txn_tools tools;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t changed;
    enum job job;
    bool stop, ended;
    bool lost; /* the failure is recoverable by a new client */
    enum ek_txn_state state;
    rd_kafka_topic_partition_list_t *offsets;
    rd_kafka_consumer_group_metadata_t *group;
    rd_kafka_resp_err_t reason; /* cause of the abort */
    struct ek_error failure;
};

int ek_txn_new(struct ek_txn **out, const struct ek_txn_tools *tools, struct ek_error *e)
{
    struct ek_txn *t = ek_calloc(1, sizeof *t);
    if (!t)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    t->tools = *tools;
    t->state = EK_TXN_BUSY;
    pthread_mutex_init(&t->lock, NULL);
    ek_cond_init(&t->changed);
    *out = t;
    return EK_OK;
}

static void set_state(struct ek_txn *t, enum ek_txn_state state)
{
    pthread_mutex_lock(&t->lock);
    t->state = state;
    pthread_mutex_unlock(&t->lock);
    ek_wakeup_signal(t->tools.wakeup);
}

static void end(struct ek_txn *t, const struct ek_error *failure, bool lost)
{
    pthread_mutex_lock(&t->lock);
    t->lost = lost;
    t->failure = *failure;
    t->failure.flags = EK_ERR_FATAL;
    pthread_mutex_unlock(&t->lock);
    set_state(t, EK_TXN_BROKEN);
}

static bool stopping(struct ek_txn *t)
{
    pthread_mutex_lock(&t->lock);
    bool stop = t->stop;
    pthread_mutex_unlock(&t->lock);
    return stop;
}

/* Wait for `flag` for at most `ms`. Call under the lock. */
static void wait_for(struct ek_txn *t, const bool *flag, int64_t ms)
{
    int64_t until_ms = ek_now_ms() + ms;
    while (!*flag && ek_cond_wait_until(&t->changed, &t->lock, until_ms))
        ;
}

/* Sleep, or return early if the thread must end. */
static void pause_for(struct ek_txn *t, int ms)
{
    pthread_mutex_lock(&t->lock);
    wait_for(t, &t->stop, ms);
    pthread_mutex_unlock(&t->lock);
}

bool ek_txn_is_fenced(rd_kafka_resp_err_t err, const char *text, struct ek_error *e)
{
    switch (err) {
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
        ek_fail_fatal(e, EK_EIO,
                      "brokers take no more from this instance: it stood still, or they were away, "
                      "for longer than 'limits.transaction_timeout'; or another instance has the "
                      "same 'service.instance', which each needs for itself (%s)",
                      text);
        return true;
    case RD_KAFKA_RESP_ERR_INVALID_TXN_STATE:
        ek_fail_fatal(e, EK_EIO,
                      "brokers have ended a transaction of this instance: it was open for longer "
                      "than 'limits.transaction_timeout', as when they are away for that long (%s)",
                      text);
        return true;
    default:
        return false;
    }
}

bool ek_txn_is_recoverable(rd_kafka_resp_err_t err)
{
    switch (err) {
    case RD_KAFKA_RESP_ERR__FENCED:
    case RD_KAFKA_RESP_ERR__INCONSISTENT:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING:
    case RD_KAFKA_RESP_ERR_INVALID_TXN_STATE:
    case RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER:
    case RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID:
        return true;
    default:
        return false;
    }
}

static void fail(struct ek_txn *t, const char *call, const rd_kafka_error_t *problem)
{
    struct ek_error e;
    char text[400];
    rd_kafka_resp_err_t err = rd_kafka_error_code(problem);
    ek_kafka_errmsg(text, sizeof text, t->tools.watch, err, EK_KAFKA_TXN, NULL,
                    rd_kafka_error_string(problem));
    if (!ek_txn_is_fenced(err, rd_kafka_error_string(problem), &e))
        ek_fail(&e, EK_EIO, "kafka: %s: %s", call, text);
    end(t, &e, ek_txn_is_recoverable(err));
}

static void note_reason(struct ek_txn *t, rd_kafka_resp_err_t err)
{
    pthread_mutex_lock(&t->lock);
    t->reason = err;
    pthread_mutex_unlock(&t->lock);
}

rd_kafka_resp_err_t ek_txn_abort_reason(struct ek_txn *t)
{
    pthread_mutex_lock(&t->lock);
    rd_kafka_resp_err_t err = t->reason;
    pthread_mutex_unlock(&t->lock);
    return err;
}

/* Classify and destroy the result of a call. The client's flags take precedence over the table. */
static enum verdict judge(struct ek_txn *t, const char *call, rd_kafka_error_t *problem)
{
    if (!problem)
        return DONE;
    rd_kafka_resp_err_t err = rd_kafka_error_code(problem);
    enum ek_kafka_class class = rd_kafka_error_is_fatal(problem)             ? EK_KAFKA_FATAL
                                : rd_kafka_error_txn_requires_abort(problem) ? EK_KAFKA_ABORTABLE
                                : rd_kafka_error_is_retriable(problem)
                                    ? EK_KAFKA_RETRIABLE
                                    : ek_kafka_classify(err, EK_KAFKA_TXN);
    char text[300];
    snprintf(text, sizeof text, "%s: %s", call, rd_kafka_error_string(problem));
    ek_kafka_report_class(t->tools.watch, err, class, text);
    if (class == EK_KAFKA_FATAL)
        fail(t, call, problem);
    if (class == EK_KAFKA_ABORTABLE)
        note_reason(t, err);
    rd_kafka_error_destroy(problem);
    return class == EK_KAFKA_FATAL ? END : class == EK_KAFKA_ABORTABLE ? ABORT : AGAIN;
}

typedef rd_kafka_error_t *transactional_call(struct ek_txn *t);

/* Retry a call while its errors are retriable. */
static enum verdict insist(struct ek_txn *t, const char *name, transactional_call *call)
{
    int ms = PAUSE_MS;
    enum verdict v;
    while ((v = judge(t, name, call(t))) == AGAIN && !stopping(t)) {
        pause_for(t, ms);
        ms = 2 * ms < PAUSE_MAX_MS ? 2 * ms : PAUSE_MAX_MS;
    }
    return v;
}

static rd_kafka_error_t *call_init(struct ek_txn *t)
{
    return rd_kafka_init_transactions(t->tools.client, PAUSE_MAX_MS);
}

/* Retry a call after which an abort is impossible: any other error needs a new client. */
static bool must(struct ek_txn *t, const char *name, transactional_call *call)
{
    struct ek_error e;
    enum verdict v = insist(t, name, call);
    if (v == ABORT) {
        ek_fail(&e, EK_EIO, "kafka: %s: %s", name, rd_kafka_err2str(ek_txn_abort_reason(t)));
        end(t, &e, call != call_init);
    }
    return v == DONE;
}

static rd_kafka_error_t *call_begin(struct ek_txn *t)
{
    return rd_kafka_begin_transaction(t->tools.client);
}

static rd_kafka_error_t *call_offsets(struct ek_txn *t)
{
    return rd_kafka_send_offsets_to_transaction(t->tools.client, t->offsets, t->group,
                                                WAIT_FOR_EVER);
}

/* librdkafka's header warns that other timeouts may lose the state of the call. */
static rd_kafka_error_t *call_commit(struct ek_txn *t)
{
    return rd_kafka_commit_transaction(t->tools.client, WAIT_FOR_EVER);
}

static rd_kafka_error_t *call_abort(struct ek_txn *t)
{
    return rd_kafka_abort_transaction(t->tools.client, WAIT_FOR_EVER);
}

/* Find the cause of an abort. The requester knows only that the client rejects records. The client
 * returns the cause to any call that is invalid in its state, as begin is here. */
static void request_reason(struct ek_txn *t)
{
    rd_kafka_resp_err_t known = ek_txn_abort_reason(t);
    if (known && known != RD_KAFKA_RESP_ERR__STATE)
        return;
    rd_kafka_error_t *problem = call_begin(t);
    if (problem && rd_kafka_error_txn_requires_abort(problem))
        judge(t, "transaction", problem);
    else if (problem)
        rd_kafka_error_destroy(problem);
}

static void do_abort(struct ek_txn *t)
{
    request_reason(t);
    if (must(t, "abort", call_abort))
        set_state(t, EK_TXN_ABORTED);
}

static void do_open(struct ek_txn *t, enum ek_txn_state then)
{
    struct ek_error e;
    if (!must(t, "begin", call_begin))
        return;
    if (t->tools.opened(t->tools.context, &e))
        end(t, &e, false);
    else
        set_state(t, then);
}

static void clear_job(struct ek_txn *t)
{
    if (t->offsets)
        rd_kafka_topic_partition_list_destroy(t->offsets);
    if (t->group)
        rd_kafka_consumer_group_metadata_destroy(t->group);
    t->offsets = NULL;
    t->group = NULL;
}

static void do_commit(struct ek_txn *t)
{
    enum verdict v = t->offsets && t->offsets->cnt ? insist(t, "offsets", call_offsets) : DONE;
    if (v == DONE)
        v = insist(t, "commit", call_commit);
    clear_job(t);
    if (v == DONE)
        do_open(t, EK_TXN_COMMITTED);
    else if (v == ABORT)
        do_abort(t);
}

/* After a fatal error call nothing more (librdkafka #4420: hangs). */
static enum job next_job(struct ek_txn *t)
{
    pthread_mutex_lock(&t->lock);
    while (!t->job && !t->stop && t->state != EK_TXN_BROKEN)
        pthread_cond_wait(&t->changed, &t->lock);
    enum job job = t->job && t->state != EK_TXN_BROKEN ? t->job : JOB_STOP;
    t->job = JOB_NONE;
    pthread_mutex_unlock(&t->lock);
    return job;
}

static void *run(void *context)
{
    struct ek_txn *t = context;
    enum job job;
    bool ready = must(t, "register", call_init);
    if (ready)
        do_open(t, EK_TXN_OPEN);
    while (ready && (job = next_job(t)) != JOB_STOP)
        if (job == JOB_COMMIT)
            do_commit(t);
        else
            do_abort(t);
    pthread_mutex_lock(&t->lock);
    bool open = t->state == EK_TXN_OPEN || t->state == EK_TXN_COMMITTED;
    pthread_mutex_unlock(&t->lock);
    if (open && !rd_kafka_fatal_error(t->tools.client, NULL, 0))
        judge(t, "abort", call_abort(t));
    pthread_mutex_lock(&t->lock);
    t->ended = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

int ek_txn_start(struct ek_txn *t, struct ek_error *e)
{
    int problem = pthread_create(&t->thread, NULL, run, t);
    if (problem)
        return ek_fail(e, EK_EIO, "cannot start a thread: %s", strerror(problem));
    t->started = true;
    return EK_OK;
}

enum ek_txn_state ek_txn_state(struct ek_txn *t, struct ek_error *e)
{
    pthread_mutex_lock(&t->lock);
    enum ek_txn_state state = t->state;
    if (state == EK_TXN_COMMITTED)
        t->state = EK_TXN_OPEN;
    if (state == EK_TXN_BROKEN && e)
        *e = t->failure;
    pthread_mutex_unlock(&t->lock);
    return state;
}

bool ek_txn_is_lost(struct ek_txn *t)
{
    pthread_mutex_lock(&t->lock);
    bool lost = t->state == EK_TXN_BROKEN && t->lost;
    pthread_mutex_unlock(&t->lock);
    return lost;
}

static void start_job(struct ek_txn *t, enum job job)
{
    pthread_mutex_lock(&t->lock);
    t->job = job;
    t->state = EK_TXN_BUSY;
    t->reason = RD_KAFKA_RESP_ERR_NO_ERROR;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

void ek_txn_commit(struct ek_txn *t, rd_kafka_topic_partition_list_t *offsets,
                   rd_kafka_consumer_group_metadata_t *group)
{
    t->offsets = offsets; /* the thread is waiting for a job and does not read them */
    t->group = group;
    start_job(t, JOB_COMMIT);
}

void ek_txn_abort(struct ek_txn *t)
{
    start_job(t, JOB_ABORT);
}

bool ek_txn_stop(struct ek_txn *t, int64_t wait_ms)
{
    if (!t->started)
        return true;
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_broadcast(&t->changed);
    wait_for(t, &t->ended, wait_ms);
    bool ended = t->ended;
    pthread_mutex_unlock(&t->lock);
    return ended;
}

void ek_txn_free(struct ek_txn *t)
{
    if (!t)
        return;
    if (t->started) {
        ek_txn_stop(t, 0);
        pthread_join(t->thread, NULL);
    }
    clear_job(t);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    ek_free(t);
}
