#include "daemon/commands/watch_instance.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "daemon/base/command.h"
#include "daemon/base/log.h"
#include "daemon/base/process.h"
#include "daemon/guard/guard_service.h"
#include "daemon/http/server.h"
#include "daemon/stage/reload.h"
#include "guard/event.h"
#include "serve/assets.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NEWS_MAX = 64, FINDINGS_MAX = 1024, PORTS = 20, ADDRESS_BYTES = 100 };

/* A change of the factor or of the fraction of lists that is printed again. */
static const double OTHER_RATIO = 1.5;

struct open_finding {
    uint32_t number;
    bool confirmed;
    struct ek_watch_shown shown;
};

struct ek_watch_instance {
    struct ek_config *config;
    struct ek_assets *assets; /* the first ones; the stage owns later ones */
    struct ek_log *log;
    struct ek_stage *stage;
    struct ek_http *http;
    pthread_t thread;
    bool threaded;
    atomic_bool ended;
    int rc; /* of the stage, after its end */
    struct ek_error stage_error;
    pthread_mutex_t lock; /* guards the fields below */
    char *news[NEWS_MAX]; /* ring; further ones are lost */
    unsigned news_in, news_out;
    struct open_finding open[FINDINGS_MAX];
    int open_count;
};

/* Return whether two values differ by OTHER_RATIO; NaN: unknown. */
static bool is_other(double shown, double now)
{
    double ratio = fabs(shown / now);
    return (isnan(shown) != isnan(now)) || ratio > OTHER_RATIO || ratio < 1 / OTHER_RATIO;
}

bool ek_watch_is_news(struct ek_watch_shown *shown, const struct ek_event_finding *f)
{
    bool changed =
        f->state == EK_UPDATED && (f->class != shown->class || is_other(shown->factor, f->factor) ||
                                   is_other(shown->fraction, f->fraction));
    bool news = f->state == EK_CONFIRMED || f->state == EK_RECOVERED || changed;
    if (news)
        *shown = (struct ek_watch_shown){f->class, f->factor, f->fraction};
    return news;
}

/* Follow the open findings. Return whether the finding is to be printed. */
static bool note_open(struct ek_watch_instance *w, const struct ek_event_finding *f)
{
    int i = 0;
    while (i < w->open_count && w->open[i].number != f->number)
        i++;
    if (ek_finding_is_over(f->state)) {
        if (i < w->open_count)
            w->open[i] = w->open[--w->open_count];
        return f->state == EK_RECOVERED;
    }
    if (i == FINDINGS_MAX)
        return f->state == EK_CONFIRMED;
    if (i == w->open_count)
        w->open[w->open_count++] = (struct open_finding){.number = f->number};
    w->open[i].confirmed = f->state != EK_SUSPECTED;
    return ek_watch_is_news(&w->open[i].shown, f);
}

/* Called on a thread of the stage. */
static void receive(void *context, const struct ek_event *v)
{
    struct ek_watch_instance *w = context;
    if (v->kind != EK_EVENT_FINDING)
        return;
    const struct ek_event_finding *f = &v->finding;
    pthread_mutex_lock(&w->lock);
    bool news = note_open(w, f);
    char *text = news && w->news_in - w->news_out < NEWS_MAX ? ek_strdup(f->text) : NULL;
    if (text)
        w->news[w->news_in++ % NEWS_MAX] = text;
    pthread_mutex_unlock(&w->lock);
}

static void *run_stage(void *context)
{
    struct ek_watch_instance *w = context;
    w->rc = ek_stage_run(w->stage, &w->stage_error);
    atomic_store(&w->ended, true);
    return NULL;
}

/* Start the page without changes. A page is no condition of monitoring, so without a free port
 * there is none. */
static int start_page(struct ek_watch_instance *w, struct ek_error *e)
{
    const struct ek_config *c = w->config;
    const struct ek_http_limits limits = {c->http_max_connections, c->http_max_connections_per_ip,
                                          c->http_max_event_streams, c->http_request_timeout_ms,
                                          &c->http_allowed_hosts};
    const struct ek_api api = {.stage = w->stage};
    const char *colon = strrchr(c->listen, ':');
    char address[ADDRESS_BYTES];
    uint64_t first = 0;
    int rc = colon && !ek_parse_u64(colon + 1, EK_WHOLE, &first) ? EK_EIO : EK_OK;
    for (uint64_t i = 0; rc == EK_EIO && i < PORTS; i++) {
        snprintf(address, sizeof address, "%.*s:%" PRIu64, (int)(colon - c->listen), c->listen,
                 first + i);
        rc = ek_http_start(&w->http, address, &limits, &api, w->log, e);
    }
    return rc == EK_EIO ? EK_OK : rc;
}

static int start(struct ek_watch_instance *w, struct ek_error *e)
{
    w->log = ek_log_new(stderr, EK_LOG_WARN);
    if (!w->log)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_log_start(w->log, e);
    if (!rc && ek_config_assets(&w->assets, w->config, NULL, e))
        rc = ek_cli_config_fault(e);
    if (!rc)
        rc = ek_stage_new(&w->stage, w->config, w->assets, w->log, e);
    if (rc)
        return rc;
    ek_guard_service_set_listener(ek_stage_parts(w->stage).guard, receive, w);
    rc = start_page(w, e);
    if (rc)
        return rc;
    if (pthread_create(&w->thread, NULL, run_stage, w))
        return ek_fail(e, EK_EIO, "cannot start the thread of the stage");
    w->threaded = true;
    return EK_OK;
}

int ek_watch_instance_start(struct ek_watch_instance **out, struct ek_config *config,
                            struct ek_error *e)
{
    struct ek_watch_instance *w = ek_calloc(1, sizeof *w);
    if (!w) {
        ek_config_free(config);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    w->config = config;
    pthread_mutex_init(&w->lock, NULL);
    atomic_init(&w->ended, false);
    int rc = start(w, e);
    if (rc)
        ek_watch_instance_stop(w, NULL);
    else
        *out = w;
    return rc;
}

int ek_watch_instance_reload(struct ek_watch_instance *w, struct ek_error *e)
{
    struct ek_assets *assets;
    int rc = ek_config_assets(&assets, w->config, NULL, e);
    return rc ? rc : ek_stage_replace_assets(w->stage, assets, e);
}

int ek_watch_instance_check(const struct ek_watch_instance *w, struct ek_error *e)
{
    if (!atomic_load(&w->ended))
        return EK_OK;
    if (!w->rc)
        return ek_fail(e, EK_ESTATE, "the stage ended early");
    *e = w->stage_error;
    return w->rc;
}

int ek_watch_instance_port(const struct ek_watch_instance *w)
{
    return w->http ? ek_http_port(w->http) : 0;
}

void ek_watch_instance_stats(struct ek_watch_instance *w, struct ek_stage_stats *out)
{
    ek_stage_stats(w->stage, out);
}

const char *ek_watch_instance_reason(struct ek_watch_instance *w)
{
    return ek_stage_reason(w->stage);
}

void ek_watch_instance_open(struct ek_watch_instance *w, int *suspected, int *confirmed)
{
    *suspected = *confirmed = 0;
    pthread_mutex_lock(&w->lock);
    for (int i = 0; i < w->open_count; i++) {
        *confirmed += w->open[i].confirmed;
        *suspected += !w->open[i].confirmed;
    }
    pthread_mutex_unlock(&w->lock);
}

char *ek_watch_instance_news(struct ek_watch_instance *w)
{
    pthread_mutex_lock(&w->lock);
    char *text = w->news_out < w->news_in ? w->news[w->news_out++ % NEWS_MAX] : NULL;
    pthread_mutex_unlock(&w->lock);
    return text;
}

int ek_watch_instance_stop(struct ek_watch_instance *w, struct ek_error *e)
{
    if (!w)
        return EK_OK;
    int rc = EK_OK;
    ek_http_stop(w->http);
    if (w->threaded) {
        ek_stage_stop(w->stage);
        pthread_join(w->thread, NULL);
        rc = w->rc;
        if (rc && e)
            *e = w->stage_error;
    }
    /* A stuck producer blocks until a broker responds, and the process ends anyway. */
    if (w->stage && !(w->threaded && ek_stage_stuck(w->stage)))
        ek_stage_free(w->stage);
    ek_log_free(w->log);
    ek_assets_free(w->assets);
    ek_config_free(w->config);
    while (w->news_out < w->news_in)
        ek_free(w->news[w->news_out++ % NEWS_MAX]);
    pthread_mutex_destroy(&w->lock);
    ek_free(w);
    return rc;
}
