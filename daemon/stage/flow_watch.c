#include "daemon/stage/flow_watch.h"

#include "base/alloc.h"
#include "daemon/alerts/alerts.h"
#include "daemon/base/clock.h"
#include "daemon/guard/guard_service.h"
#include "guard/event.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { PERIOD_MS = 1000 };

struct ek_flow_watch {
    struct ek_flow_watch_tools tools;
    bool reported[EK_FLOW_CONDITIONS];
    pthread_t thread;
    pthread_mutex_t lock; /* guards `stop` */
    pthread_cond_t changed;
    bool stop;
};

static void report(struct ek_flow_watch *w, enum ek_flow_condition which,
                   const struct ek_flow_state *s)
{
    const struct ek_flow_watch_tools *t = &w->tools;
    const char *name = ek_flow_condition_name(which);
    const struct ek_event v = {.kind = EK_EVENT_INPUT,
                               .time_ms = ek_wall_ms(),
                               .input = {.condition = name,
                                         .instance = t->instance,
                                         .active = s->active,
                                         .text = s->active ? s->text : "it is over"}};
    char text[EK_FLOW_TEXT_BYTES + 100];
    snprintf(text, sizeof text, "%s: %s", name, v.input.text);
    if (s->active)
        ek_log_text(t->log, EK_LOG_WARN, "input_condition_started", text);
    else
        ek_log_text(t->log, EK_LOG_INFO, "input_condition_ended", text);
    ek_alerts_receive(t->alerts, &v, true); /* before the guard's lock, which may be held */
    ek_guard_service_add_event(t->guard, &v);
}

static void evaluate(struct ek_flow_watch *w)
{
    struct ek_flow_view v;
    int64_t now = ek_now_ms();
    w->tools.look(w->tools.context, now);
    ek_flow_monitor_evaluate(w->tools.flow, now);
    ek_flow_monitor_get(w->tools.flow, now, &v);
    for (int i = 0; i < EK_FLOW_CONDITIONS; i++) {
        bool lost = i == EK_FLOW_MESSAGES_LOST && v.condition[i].active; /* reported by the stage */
        if (v.condition[i].active == w->reported[i])
            continue;
        w->reported[i] = v.condition[i].active;
        if (!lost)
            report(w, (enum ek_flow_condition)i, &v.condition[i]);
    }
}

static bool rest(struct ek_flow_watch *w)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PERIOD_MS / 1000;
    pthread_mutex_lock(&w->lock);
    while (!w->stop && !pthread_cond_timedwait(&w->changed, &w->lock, &until))
        ;
    bool stop = w->stop;
    pthread_mutex_unlock(&w->lock);
    return !stop;
}

static void *run(void *context)
{
    struct ek_flow_watch *w = context;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (rest(w))
        evaluate(w);
    return NULL;
}

static void free_watch(struct ek_flow_watch *w)
{
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    ek_free(w);
}

int ek_flow_watch_start(struct ek_flow_watch **out, const struct ek_flow_watch_tools *tools,
                        struct ek_error *e)
{
    pthread_condattr_t clock;
    struct ek_flow_watch *w = ek_calloc(1, sizeof *w);
    if (!w)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    w->tools = *tools;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &clock);
    pthread_condattr_destroy(&clock);
    int problem = pthread_create(&w->thread, NULL, run, w);
    if (problem) {
        free_watch(w);
        return ek_fail(e, EK_EIO, "cannot start a thread: %s", strerror(problem));
    }
    *out = w;
    return EK_OK;
}

void ek_flow_watch_stop(struct ek_flow_watch *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    free_watch(w);
}
