#include "daemon/demo/demo_pipeline.h"

#include "daemon/base/clock.h"
#include "base/alloc.h"
#include "guard/event.h"
#include "daemon/config/config.h"
#include "daemon/http/server.h"
#include "daemon/kafka/mock_cluster.h"
#include "daemon/guard/guard_service.h"
#include "daemon/stage/stage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { CONNECT_MS = 60000, FLUSH_MS = 5000, EVENTS_MAX = 1024 };

static const char INPUT[] = "scored", OUTPUT[] = "ranked", DEAD[] = "ranked.dead";

struct ek_demo_pipeline {
    struct ek_mock *mock;
    struct ek_config *config;
    struct ek_assets *assets;
    struct ek_stage *stage;
    struct ek_http *http; /* NULL: off */
    struct ek_tool_producer *sender;
    struct ek_merged_consumer *lists;
    pthread_mutex_t lock;                /* of the events */
    struct ek_event *events[EVENTS_MAX]; /* ring buffer; further events are lost */
    uint64_t events_in, events_out;
    pthread_t thread;
    bool threaded;
    atomic_bool ended;
    int rc; /* of the stage, after its end */
    struct ek_error stage_error;
};

static int set_all(struct ek_config *c, const struct ek_demo_assets *a, const char *brokers,
                   struct ek_error *e)
{
    const char *const keys[][2] = {
        {"service.name", "demo"},
        {"input.brokers", brokers},
        {"input.topics", INPUT},
        {"input.group", "demo"},
        {"output.topic", OUTPUT},
        {"output.dead_letter_topic", DEAD},
        {"http.listen", "off"},
        {"assets.rules", a->rules},
        {"assets.manifest", a->manifest_path},
        {"assets.model", a->routable},
        {"assets.profile", a->profile},
    };
    int rc = EK_OK;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !rc; i++)
        rc = ek_config_set(c, keys[i][0], keys[i][1], e);
    return rc ? rc : ek_config_finish(c, e);
}

static int start_broker(struct ek_demo_pipeline *p, struct ek_error *e)
{
    static const char *const topics[] = {INPUT, OUTPUT, DEAD};
    int rc = ek_mock_start(&p->mock, e);
    for (size_t i = 0; i < sizeof topics / sizeof *topics && !rc; i++)
        rc = ek_mock_topic(p->mock, topics[i], 1, e);
    return rc;
}

static int start_clients(struct ek_demo_pipeline *p, struct ek_error *e)
{
    const char *brokers = ek_mock_brokers(p->mock);
    int rc = ek_merged_consumer_new(&p->lists, brokers, OUTPUT, 0, CONNECT_MS, e);
    return rc ? rc : ek_tool_producer_new(&p->sender, brokers, INPUT, EK_TOOL_PRODUCER_ORDERED, e);
}

/* Called on a thread of the stage. */
static void add_event(void *context, const struct ek_event *v)
{
    struct ek_demo_pipeline *p = context;
    struct ek_event *copy = ek_event_copy(v);
    pthread_mutex_lock(&p->lock);
    if (copy && p->events_in - p->events_out < EVENTS_MAX)
        p->events[p->events_in++ % EVENTS_MAX] = copy;
    else
        ek_free(copy);
    pthread_mutex_unlock(&p->lock);
}

static struct ek_event *receive_event(struct ek_demo_pipeline *p)
{
    return p->events[p->events_out++ % EVENTS_MAX];
}

static void *run_stage(void *arg)
{
    struct ek_demo_pipeline *p = arg;
    p->rc = ek_stage_run(p->stage, &p->stage_error);
    atomic_store(&p->ended, true);
    return NULL;
}

static int start_stage(struct ek_demo_pipeline *p, const struct ek_demo_assets *a,
                       struct ek_error *e)
{
    int rc = ek_config_new(&p->config, e);
    if (!rc)
        rc = set_all(p->config, a, ek_mock_brokers(p->mock), e);
    if (!rc)
        rc = ek_assets_load(&p->assets, a->manifest_path, a->profile, a->rules, a->routable, e);
    if (!rc)
        rc = ek_stage_new(&p->stage, p->config, p->assets, NULL, e);
    if (rc)
        return rc;
    ek_guard_service_set_listener(ek_stage_guard(p->stage), add_event, p);
    if (pthread_create(&p->thread, NULL, run_stage, p))
        return ek_fail(e, EK_EIO, "cannot start the thread of the stage");
    p->threaded = true;
    return EK_OK;
}

/* Return EK_OK while the stage runs, else its error. */
static int still_running(const struct ek_demo_pipeline *p, struct ek_error *e)
{
    if (!atomic_load(&p->ended))
        return EK_OK;
    if (!p->rc)
        return ek_fail(e, EK_ESTATE, "the stage ended early");
    if (e)
        *e = p->stage_error;
    return p->rc;
}

/* Wait until the consumer group is stable, which takes seconds. */
static int wait_until_ready(struct ek_demo_pipeline *p, struct ek_demo_stop stop,
                            struct ek_error *e)
{
    const struct timespec nap = {0, 20000000};
    int64_t until = ek_now_ms() + CONNECT_MS;
    for (;;) {
        struct ek_stage_stats stats;
        ek_stage_stats(p->stage, &stats);
        int rc = still_running(p, e);
        if (rc || stats.ready)
            return rc;
        if (stop.asked(stop.context))
            return ek_fail(e, EK_ESTATE, "interrupted");
        if (ek_now_ms() > until)
            return ek_fail(e, EK_EIO, "the stage has no partition after %d s", CONNECT_MS / 1000);
        nanosleep(&nap, NULL);
    }
}

int ek_demo_pipeline_open(struct ek_demo_pipeline **out, const struct ek_demo_assets *a,
                          struct ek_demo_stop stop, struct ek_error *e)
{
    struct ek_demo_pipeline *p = ek_calloc(1, sizeof *p);
    if (!p)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    pthread_mutex_init(&p->lock, NULL);
    int rc = start_broker(p, e);
    if (!rc)
        rc = start_clients(p, e);
    if (!rc)
        rc = start_stage(p, a, e);
    if (!rc)
        rc = wait_until_ready(p, stop, e);
    if (rc) {
        ek_demo_pipeline_close(p, NULL);
        return rc;
    }
    *out = p;
    return EK_OK;
}

int ek_demo_pipeline_serve(struct ek_demo_pipeline *p, const char *listen, int *port,
                           struct ek_error *e)
{
    const struct ek_api api = {.stage = p->stage};
    int rc = ek_http_start(&p->http, listen, NULL, &api, NULL, e);
    *port = rc ? 0 : ek_http_port(p->http);
    return rc;
}

int ek_demo_pipeline_close(struct ek_demo_pipeline *p, struct ek_error *e)
{
    int rc = EK_OK;
    ek_http_stop(p->http);
    if (p->threaded) {
        ek_stage_stop(p->stage);
        pthread_join(p->thread, NULL);
        rc = p->rc;
        if (rc && e)
            *e = p->stage_error;
    }
    ek_stage_free(p->stage);
    ek_tool_producer_free(p->sender);
    ek_merged_consumer_free(p->lists);
    while (p->events_out < p->events_in)
        ek_free(receive_event(p));
    pthread_mutex_destroy(&p->lock);
    ek_assets_free(p->assets);
    ek_config_free(p->config);
    ek_mock_stop(p->mock);
    ek_free(p);
    return rc;
}

int ek_demo_pipeline_send(struct ek_demo_pipeline *p, const void *bytes, size_t length,
                          struct ek_error *e)
{
    struct ek_kafka_record record = {
        .partition = 0, .timestamp_ms = -1, .bytes = bytes, .length = length};
    return ek_tool_producer_send(p->sender, &record, e);
}

int ek_demo_pipeline_list(struct ek_demo_pipeline *p, struct ek_kafka_record *record, int wait_ms,
                          int *got, struct ek_error *e)
{
    int rc = still_running(p, e);
    if (rc)
        return rc;
    return ek_merged_consumer_next(p->lists, record, wait_ms, got, e);
}

struct ek_event *ek_demo_pipeline_event(struct ek_demo_pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    struct ek_event *v = p->events_out < p->events_in ? receive_event(p) : NULL;
    pthread_mutex_unlock(&p->lock);
    return v;
}

uint64_t ek_demo_pipeline_dead_letter(struct ek_demo_pipeline *p)
{
    struct ek_stage_stats stats;
    ek_stage_stats(p->stage, &stats);
    return stats.dead;
}
