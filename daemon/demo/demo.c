/* Command `demo`: shows a detected and mitigated fault within a minute on an embedded broker. */
#include "base/alloc.h"
#include "base/parse.h"
#include "daemon/base/arguments.h"
#include "daemon/base/clock.h"
#include "daemon/base/command.h"
#include "daemon/config/config.h"
#include "daemon/demo/demo_assets.h"
#include "daemon/demo/demo_source.h"
#include "daemon/demo/demo_report.h"
#include "daemon/guard/guard_service.h"
#include "daemon/http/server.h"
#include "daemon/kafka/mock_cluster.h"
#include "daemon/kafka/tool_client.h"
#include "daemon/stage/stage.h"
#include "guard/event.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CONNECT_MS = 60000, FLUSH_MS = 5000, EVENTS_MAX = 1024 };

static const char INPUT[] = "scored", OUTPUT[] = "ranked", DEAD[] = "ranked.dead";

/* Pipeline of the demo: an embedded broker, a stage in its own thread, a producer and a consumer.
 *
 * Topics `scored` and `ranked` have one partition, so that messages return in order; there is a
 * dead-letter topic. Events come directly from the stage. One thread.
 */
struct pipeline {
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

static int start_broker(struct pipeline *p, struct ek_error *e)
{
    static const char *const topics[] = {INPUT, OUTPUT, DEAD};
    int rc = ek_mock_start(&p->mock, e);
    for (size_t i = 0; i < sizeof topics / sizeof *topics && !rc; i++)
        rc = ek_mock_topic(p->mock, topics[i], 1, e);
    return rc;
}

static int start_clients(struct pipeline *p, struct ek_error *e)
{
    const char *brokers = ek_mock_brokers(p->mock);
    int rc = ek_merged_consumer_new(&p->lists, brokers, OUTPUT, 0, CONNECT_MS, e);
    return rc ? rc : ek_tool_producer_new(&p->sender, brokers, INPUT, EK_TOOL_PRODUCER_ORDERED, e);
}

/* Called on a thread of the stage. */
static void add_event(void *context, const struct ek_event *v)
{
    struct pipeline *p = context;
    struct ek_event *copy = ek_event_copy(v);
    pthread_mutex_lock(&p->lock);
    if (copy && p->events_in - p->events_out < EVENTS_MAX)
        p->events[p->events_in++ % EVENTS_MAX] = copy;
    else
        ek_free(copy);
    pthread_mutex_unlock(&p->lock);
}

static struct ek_event *receive_event(struct pipeline *p)
{
    return p->events[p->events_out++ % EVENTS_MAX];
}

static void *run_stage(void *arg)
{
    struct pipeline *p = arg;
    p->rc = ek_stage_run(p->stage, &p->stage_error);
    atomic_store(&p->ended, true);
    return NULL;
}

static int start_stage(struct pipeline *p, const struct ek_demo_assets *a, struct ek_error *e)
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
static int still_running(const struct pipeline *p, struct ek_error *e)
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
static int wait_until_ready(struct pipeline *p, struct ek_demo_stop stop, struct ek_error *e)
{
    const struct timespec nap = {0, 20000000};
    int64_t until = ek_now_ms() + CONNECT_MS;
    for (;;) {
        struct ek_stage_stats stats;
        ek_stage_stats(p->stage, &stats);
        int rc = still_running(p, e);
        if (rc || stats.ready)
            return rc;
        if (stop.is_canceled(stop.context))
            return ek_fail(e, EK_ESTATE, "interrupted");
        if (ek_now_ms() > until)
            return ek_fail(e, EK_EIO, "the stage has no partition after %d s", CONNECT_MS / 1000);
        nanosleep(&nap, NULL);
    }
}

/* Stop the stage and wait for its end; return its error. Always frees. */
static int close_pipeline(struct pipeline *p, struct ek_error *e)
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

/* Return when the stage runs and its partition is assigned. Return errors of the parts, or
 * EK_ESTATE if canceled. */
static int open_pipeline(struct pipeline **out, const struct ek_demo_assets *a,
                         struct ek_demo_stop stop, struct ek_error *e)
{
    struct pipeline *p = ek_calloc(1, sizeof *p);
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
        close_pipeline(p, NULL);
        return rc;
    }
    *out = p;
    return EK_OK;
}

/* Start the HTTP API at `listen` (`http.listen`) without changes. *port: the port in use. */
static int serve_page(struct pipeline *p, const char *listen, int *port, struct ek_error *e)
{
    const struct ek_api api = {.stage = p->stage};
    int rc = ek_http_start(&p->http, listen, NULL, &api, NULL, e);
    *port = rc ? 0 : ek_http_port(p->http);
    return rc;
}

static int send_list(struct pipeline *p, const void *bytes, size_t length, struct ek_error *e)
{
    struct ek_kafka_record record = {
        .partition = 0, .timestamp_ms = -1, .bytes = bytes, .length = length};
    return ek_tool_producer_send(p->sender, &record, e);
}

/* Wait at most wait_ms for an output message; *got = 0: none. Return EK_EIO, or the error of a
 * stage that ended. */
static int receive_list(struct pipeline *p, struct ek_kafka_record *record, int wait_ms, int *got,
                        struct ek_error *e)
{
    int rc = still_running(p, e);
    if (rc)
        return rc;
    return ek_merged_consumer_next(p->lists, record, wait_ms, got, e);
}

/* Return the next event, owned by the caller; NULL: none. */
static struct ek_event *pop_event(struct pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    struct ek_event *v = p->events_out < p->events_in ? receive_event(p) : NULL;
    pthread_mutex_unlock(&p->lock);
    return v;
}

static uint64_t count_dead_letters(struct pipeline *p)
{
    struct ek_stage_stats stats;
    ek_stage_stats(p->stage, &stats);
    return stats.dead;
}

enum {
    SEARCHES_PER_SECOND = 350,
    HEALTHY_SEARCHES = 1750,
    /* lists of arm B with the wrong price and an active route, before the fault may end */
    MEASURED_SEARCHES = 1600,
    FAULTY_SEARCHES_MAX = 6500,
    OVER_SEARCHES_MAX = 3000,
    LAST_SEARCHES = 350,    /* after the route ended */
    WINDOW = 1000,          /* lists in flight: the broker keeps only 5 MiB */
    STEP_MS = 20,           /* longest wait for a message */
    DRAIN_MS = 5000,        /* for the last messages */
    TRAFFIC_MS_MAX = 30000, /* time limit of the traffic */
    TRAFFIC_SEED_OFFSET = 1000
};

struct demo {
    uint64_t seed;
    const char *listen; /* of the HTTP API; NULL: off */
    atomic_int stopped; /* number of the signal; 0: none */
    sigset_t signals;
    struct ek_demo_assets assets;
    struct pipeline *pipeline;
    struct ek_demo_source *feed;
    struct ek_demo_report report;
    struct ek_demo_view screen;
    int64_t started_ms;
    struct ek_error e;
};

/* Poll for blocked signals, so that an interrupted demo removes all its files. */
static bool stopped(void *context)
{
    struct demo *d = context;
    const struct timespec at_once = {0, 0};
    int number = sigtimedwait(&d->signals, NULL, &at_once);
    if (number > 0)
        atomic_store(&d->stopped, number);
    return atomic_load(&d->stopped) > 0;
}

static int send_due(struct demo *d)
{
    int64_t due = (ek_now_ms() - d->started_ms) * SEARCHES_PER_SECOND / 1000;
    struct ek_demo_report *s = &d->report;
    int rc = EK_OK;
    while (!rc && (int64_t)s->sent < due && s->sent - s->back < WINDOW) {
        const void *bytes;
        size_t length;
        rc = ek_demo_source_next(d->feed, s->phase == EK_DEMO_FAULTY, ek_wall_ms(), &bytes, &length,
                                 &d->e);
        if (!rc)
            rc = send_list(d->pipeline, bytes, length, &d->e);
        s->sent += !rc;
    }
    return rc;
}

static bool is_routed(const struct ek_kafka_record *r)
{
    static const char name[] = "ek-action", value[] = "routed";
    for (size_t i = 0; i < r->header_count; i++)
        if (!strcmp(r->headers[i].name, name))
            return r->headers[i].length == sizeof value - 1 &&
                   !memcmp(r->headers[i].value, value, sizeof value - 1);
    return false;
}

static int read_lists(struct demo *d)
{
    struct ek_kafka_record record;
    int got = 1, rc = EK_OK, wait_ms = STEP_MS;
    while (!rc && got) {
        struct ek_demo_result result;
        rc = receive_list(d->pipeline, &record, wait_ms, &got, &d->e);
        if (rc || !got)
            break;
        rc = ek_demo_source_evaluate(d->feed, record.bytes, record.length, is_routed(&record),
                                     &result, &d->e);
        if (!rc)
            ek_demo_report_result(&d->report, &result);
        wait_ms = 0;
    }
    return rc;
}

static int read_events(struct demo *d)
{
    struct ek_event *v;
    int rc = EK_OK;
    while (!rc && (v = pop_event(d->pipeline))) {
        rc = ek_demo_report_event(&d->report, v);
        ek_free(v);
    }
    return rc ? ek_fail(&d->e, rc, "out of memory") : EK_OK;
}

/* Start the next phase when the current one is complete. Return false after the last. */
static bool next_phase(struct ek_demo_report *s)
{
    switch (s->phase) {
    case EK_DEMO_HEALTHY:
        if (s->sent >= HEALTHY_SEARCHES) {
            s->phase = EK_DEMO_FAULTY;
            s->fault_from = s->sent;
        }
        return true;
    case EK_DEMO_FAULTY:
        if (s->upstream.count >= MEASURED_SEARCHES ||
            s->sent - s->fault_from >= FAULTY_SEARCHES_MAX) {
            s->phase = EK_DEMO_OVER;
            s->fault_to = s->sent;
        }
        return true;
    case EK_DEMO_OVER:
        if (s->sent - s->fault_to >= OVER_SEARCHES_MAX)
            return false;
        return s->route_in_force || s->route_to == UINT64_MAX ||
               s->sent < s->route_to + LAST_SEARCHES;
    }
    return false;
}

static int step(struct demo *d, bool feeding)
{
    struct ek_demo_report *s = &d->report;
    int rc = feeding ? send_due(d) : EK_OK;
    if (!rc)
        rc = read_lists(d);
    if (!rc)
        rc = read_events(d);
    int64_t now = ek_now_ms();
    s->dead = count_dead_letters(d->pipeline);
    s->seconds = (double)(now - d->started_ms) / 1000;
    s->per_second = s->seconds > 0 ? (double)s->back / s->seconds : 0;
    ek_demo_view_draw(&d->screen, s, now, false);
    if (!rc && stopped(d))
        rc = ek_fail(&d->e, EK_ESTATE, "interrupted");
    return rc;
}

static int run_demo(struct demo *d)
{
    int rc = EK_OK;
    d->started_ms = ek_now_ms();
    while (!rc && next_phase(&d->report) && ek_now_ms() - d->started_ms < TRAFFIC_MS_MAX)
        rc = step(d, true);
    int64_t until = ek_now_ms() + DRAIN_MS;
    while (!rc && d->report.back + d->report.dead < d->report.sent && ek_now_ms() < until)
        rc = step(d, false);
    ek_demo_view_draw(&d->screen, &d->report, ek_now_ms(), true);
    return rc;
}

static int start_api(struct demo *d)
{
    int port, rc = d->listen ? serve_page(d->pipeline, d->listen, &port, &d->e) : EK_OK;
    if (d->listen && !rc)
        fprintf(stderr, "the page: http://%.*s:%d/\n", (int)(strrchr(d->listen, ':') - d->listen),
                d->listen, port);
    return rc;
}

/* Keep the HTTP API running after the demo until a signal. */
static void wait_for_signal(struct demo *d)
{
    const struct timespec nap = {0, 100000000};
    fputs("press Ctrl-C to close the page\n", stderr);
    while (!stopped(d))
        nanosleep(&nap, NULL);
}

static int with_pipeline(struct demo *d)
{
    struct ek_demo_stop stop = {stopped, d};
    struct ek_progress progress;
    int rc = ek_demo_source_new(&d->feed, d->assets.manifest, d->assets.upstream,
                                d->seed + TRAFFIC_SEED_OFFSET, &d->e);
    if (rc)
        return rc;
    ek_progress_start(&progress, "starting broker and stage");
    rc = open_pipeline(&d->pipeline, &d->assets, stop, &d->e);
    if (!rc) {
        ek_progress_finish(&progress, NULL);
        rc = start_api(d);
        ek_demo_view_start(&d->screen);
        rc = rc ? rc : run_demo(d);
        if (!rc && d->listen)
            wait_for_signal(d);
        int ended = close_pipeline(d->pipeline, rc ? NULL : &d->e);
        rc = rc ? rc : ended;
    }
    ek_demo_source_free(d->feed);
    return rc;
}

static int run(struct demo *d)
{
    struct ek_demo_stop stop = {stopped, d};
    sigset_t before;
    sigemptyset(&d->signals);
    sigaddset(&d->signals, SIGINT);
    sigaddset(&d->signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &d->signals, &before);
    ek_demo_view_init(&d->screen, stdout);
    ek_demo_report_init(&d->report);
    int rc = d->listen ? ek_http_check_address(d->listen, &d->e) : EK_OK;
    if (!rc)
        rc = ek_demo_assets_make(&d->assets, d->seed, stop, &d->e);
    if (!rc) {
        rc = with_pipeline(d);
        ek_demo_assets_remove(&d->assets);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

enum { KEY_PAGE = 256 };

static const struct argp_option OPTIONS[] = {
    {"seed", 's', "S", 0, "Random seed (1)", 0},
    {"page", KEY_PAGE, "ADDRESS", OPTION_ARG_OPTIONAL,
     "Serve the web page at host:port (127.0.0.1:9464) until Ctrl-C", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct demo *d = state->input;
    if (key == ARGP_KEY_ARG)
        argp_error(state, "unexpected argument '%s'", arg);
    if (key == KEY_PAGE) {
        d->listen = arg ? arg : "127.0.0.1:9464";
        return 0;
    }
    if (key != 's')
        return ARGP_ERR_UNKNOWN;
    if (ek_parse_u64(arg, EK_WHOLE, &d->seed))
        argp_error(state, "--seed needs a whole number, not '%s'", arg);
    return 0;
}

int ek_cmd_demo(int argc, char **argv)
{
    static const char doc[] =
        "Show detection and mitigation of a fault in less than a minute, with an embedded Kafka "
        "broker. Hotel searches are re-ranked; then arm B of a test receives the price of the "
        "whole stay. evenkeel detects, identifies and routes the fault, and ends the route after "
        "it. The exit status is 0 if all of this happened.";
    static const struct argp argp = {OPTIONS, parse, NULL, doc, NULL, NULL, NULL};
    struct demo d = {.seed = 1};
    ek_cli_parse(&argp, argc, argv, 0, &d);
    int rc = run(&d);
    int number = atomic_load(&d.stopped);
    if (!rc)
        ek_demo_view_end(&d.screen, &d.report);
    bool failed = ek_demo_report_fault(&d.report) != NULL;
    ek_demo_report_release(&d.report);
    if (rc)
        return ek_cli_stopped(number, ek_cli_fail(&d.e));
    return failed ? EK_EXIT_FAILURE : EK_EXIT_OK;
}
