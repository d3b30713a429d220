#include "daemon/stage/steward.h"

#include "daemon/base/clock.h"
#include "base/alloc.h"
#include "daemon/base/bell.h"
#include "daemon/base/log.h"
#include "daemon/base/metrics.h"
#include "daemon/base/process_metrics.h"
#include "daemon/stage/reload.h"

#include "guard/event.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* A join of states, a reload and a backlog all leave much free behind them, where other threads
 * cannot use it. Threads that ask for memory wait while it is given back, some 100 ms where it is
 * half a gigabyte, so it has to be worth it. */
enum { TRIM_EVERY_MS = 60000, TRIM_LEAST = 32 << 20 };

/* What somebody asked for. */
struct wish {
    uint64_t number; /* of the reload; 0: none */
    bool begin_anew;
    char author[EK_AUTHOR_BYTES + 1];
};

struct ek_steward {
    struct ek_stage *stage;
    const struct ek_config *config;
    struct ek_tokens *tokens;
    struct ek_log *log;
    struct ek_bell bell;
    pthread_t thread;
    bool started;
    atomic_bool hup, ending;
    pthread_mutex_t lock; /* of what follows */
    struct wish wish;     /* not begun */
    uint64_t wishes;      /* ever */
    bool loading;
    struct ek_buf last; /* what is told of the last reload; empty: there was none */
};

/* The members of an event of a reload, and of the page about the last one. */
static int write_outcome(const struct ek_reload *r, const struct wish *w, int64_t time_ms,
                         struct ek_buf *out)
{
    ek_buf_printf(out, "\"reload\":%" PRIu64 ",\"time_ms\":%" PRId64 ",\"who\":", w->number,
                  time_ms);
    if (*w->author)
        ek_buf_json(out, w->author, strlen(w->author));
    else
        ek_buf_text(out, "null");
    if (r->done)
        ek_buf_printf(out, ",\"fit\":\"%s\"", ek_state_fit_name(r->fit));
    else
        ek_buf_text(out, ",\"fit\":null");
    ek_buf_text(out, ",\"faults\":");
    ek_error_list_json(&r->faults, out);
    ek_buf_text(out, ",\"notes\":");
    return ek_error_list_json(&r->notes, out);
}

static void tell_errors(struct ek_log *log, enum ek_log_level level, const char *event,
                        const struct ek_error_list *errors)
{
    char text[700];
    for (size_t i = 0; i < errors->count; i++)
        ek_log_text(log, level, event, ek_error_text(&errors->errors[i], text, sizeof text));
}

static void report_event(struct ek_steward *s, const struct ek_reload *r, const char *outcome,
                         int64_t time_ms)
{
    struct ek_event v = {.kind = EK_EVENT_RELOAD,
                         .time_ms = time_ms,
                         .reload = {.done = r->done, .outcome = outcome}};
    if (r->faults.count) {
        const struct ek_error *first = &r->faults.errors[0];
        v.reload.file = first->file;
        v.reload.line = first->line;
        v.reload.column = first->column;
        v.reload.message = first->message;
    }
    ek_stage_tell(s->stage, &v);
}

/* For who watches whether what is on the disk is what is in force. */
static void note_outcome(struct ek_metrics *m, bool done)
{
    ek_metrics_gauge(m, EK_GAUGE_RELOAD_OK, done);
    if (done)
        ek_metrics_gauge(m, EK_GAUGE_RELOAD_SECONDS, (uint64_t)ek_wall_ms() / 1000);
}

static void tell(struct ek_steward *s, const struct ek_reload *r, const struct wish *w)
{
    struct ek_metrics *metrics = ek_stage_metrics(s->stage);
    struct ek_buf outcome, last;
    int64_t time_ms = ek_wall_ms();
    ek_buf_init(&outcome, 0);
    ek_buf_init(&last, 0);
    ek_metrics_count(metrics, r->done ? EK_COUNT_RELOADS_DONE : EK_COUNT_RELOADS_REFUSED, 1);
    note_outcome(metrics, r->done);
    tell_errors(s->log, EK_LOG_ERROR, "reload_refused", &r->faults);
    tell_errors(s->log, EK_LOG_WARN, "reload_note", &r->notes);
    if (r->done)
        ek_log_write(s->log, EK_LOG_INFO, "reload_done", "fit=%s", ek_state_fit_name(r->fit));
    int rc = write_outcome(r, w, time_ms, &outcome);
    rc = rc || !ek_buf_string(&outcome) ? EK_ENOMEM : EK_OK;
    if (rc)
        ek_log_text(s->log, EK_LOG_ERROR, "event_lost", "no memory for an event");
    else
        report_event(s, r, (const char *)outcome.data, time_ms);
    if (!rc)
        rc = ek_buf_printf(&last, "{\"state\":\"%s\",%s}", r->done ? "done" : "refused",
                           (const char *)outcome.data);
    ek_buf_release(&outcome);
    pthread_mutex_lock(&s->lock);
    ek_buf_release(&s->last);
    s->last = last;
    s->loading = false;
    if (rc)
        ek_buf_clear(&s->last);
    pthread_mutex_unlock(&s->lock);
}

static bool take_wish(struct ek_steward *s, struct wish *out)
{
    pthread_mutex_lock(&s->lock);
    *out = s->wish;
    s->wish = (struct wish){.number = 0};
    if (!out->number && atomic_exchange(&s->hup, false))
        out->number = ++s->wishes;
    s->loading = out->number > 0;
    pthread_mutex_unlock(&s->lock);
    return out->number > 0;
}

static void reload(struct ek_steward *s, const struct wish *w)
{
    struct ek_reload r;
    ek_reload_run(&r, s->stage, s->config, w->begin_anew, *w->author ? w->author : NULL);
    if (r.done && r.tokens)
        ek_tokens_turn(s->tokens, r.tokens);
    if (r.done)
        ek_log_set_level(s->log, r.log_level);
    tell(s, &r, w);
    ek_reload_release(&r);
}

/* Beside what is in use. */
static bool much_is_free(void)
{
    return ek_process_own_bytes() > (double)ek_alloc_used() + TRIM_LEAST;
}

static void *run(void *context)
{
    struct ek_steward *s = context;
    struct wish w;
    while (!atomic_load(&s->ending)) {
        if (take_wish(s, &w)) {
            reload(s, &w);
        } else {
            ek_bell_wait(&s->bell, TRIM_EVERY_MS);
            if (!atomic_load(&s->ending) && much_is_free())
                ek_alloc_trim();
        }
    }
    return NULL;
}

int ek_steward_new(struct ek_steward **out, struct ek_stage *stage, const struct ek_config *config,
                   struct ek_tokens *tokens, struct ek_log *log, struct ek_error *e)
{
    struct ek_steward *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "no memory for reloads");
    *s = (struct ek_steward){.stage = stage, .config = config, .tokens = tokens, .log = log};
    s->bell.fd = -1;
    atomic_init(&s->hup, false);
    atomic_init(&s->ending, false);
    pthread_mutex_init(&s->lock, NULL);
    ek_buf_init(&s->last, 0);
    note_outcome(ek_stage_metrics(stage), true);
    int rc = ek_bell_make(&s->bell, e);
    int problem = rc ? 0 : pthread_create(&s->thread, NULL, run, s);
    if (problem)
        rc = ek_fail(e, EK_EIO, "cannot start a thread for reloads: %s", strerror(problem));
    s->started = !rc;
    if (rc)
        ek_steward_free(s);
    else
        *out = s;
    return rc;
}

void ek_steward_free(struct ek_steward *s)
{
    if (!s)
        return;
    atomic_store(&s->ending, true);
    if (s->started) {
        ek_bell_ring(&s->bell);
        pthread_join(s->thread, NULL);
    }
    ek_bell_close(&s->bell);
    pthread_mutex_destroy(&s->lock);
    ek_buf_release(&s->last);
    ek_free(s);
}

void ek_steward_hup(struct ek_steward *s)
{
    atomic_store(&s->hup, true);
    ek_bell_ring(&s->bell);
}

uint64_t ek_steward_reload(struct ek_steward *s, bool begin_anew, const char *author)
{
    pthread_mutex_lock(&s->lock);
    s->wish.number = ++s->wishes;
    s->wish.begin_anew |= begin_anew; /* one that waits is answered by the same reload */
    snprintf(s->wish.author, sizeof s->wish.author, "%s", author ? author : "");
    uint64_t number = s->wish.number;
    pthread_mutex_unlock(&s->lock);
    ek_bell_ring(&s->bell);
    return number;
}

int ek_steward_reload_json(struct ek_steward *s, struct ek_buf *out)
{
    pthread_mutex_lock(&s->lock);
    if (s->loading || s->wish.number)
        ek_buf_printf(out, "{\"state\":\"loading\",\"reload\":%" PRIu64 "}", s->wishes);
    else if (!s->last.length)
        ek_buf_text(out, "{\"state\":\"never\",\"reload\":0}");
    else
        ek_buf_add(out, s->last.data, s->last.length);
    pthread_mutex_unlock(&s->lock);
    return out->rc;
}
