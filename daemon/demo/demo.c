/* Command `demo`: shows a detected and mitigated fault within a minute on an embedded broker. */
#include "base/alloc.h"
#include "base/parse.h"
#include "daemon/base/arguments.h"
#include "daemon/base/clock.h"
#include "daemon/base/command.h"
#include "daemon/demo/demo_assets.h"
#include "daemon/demo/demo_view.h"
#include "daemon/demo/demo_source.h"
#include "daemon/demo/demo_pipeline.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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
    struct ek_demo_pipeline *pipeline;
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
            rc = ek_demo_pipeline_send(d->pipeline, bytes, length, &d->e);
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
        rc = ek_demo_pipeline_list(d->pipeline, &record, wait_ms, &got, &d->e);
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
    while (!rc && (v = ek_demo_pipeline_event(d->pipeline))) {
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
    s->dead = ek_demo_pipeline_dead_letter(d->pipeline);
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
    int port, rc = d->listen ? ek_demo_pipeline_serve(d->pipeline, d->listen, &port, &d->e) : EK_OK;
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
    rc = ek_demo_pipeline_open(&d->pipeline, &d->assets, stop, &d->e);
    if (!rc) {
        ek_progress_finish(&progress, NULL);
        rc = start_api(d);
        ek_demo_view_start(&d->screen);
        rc = rc ? rc : run_demo(d);
        if (!rc && d->listen)
            wait_for_signal(d);
        int ended = ek_demo_pipeline_close(d->pipeline, rc ? NULL : &d->e);
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
    int rc = ek_demo_assets_make(&d->assets, d->seed, stop, &d->e);
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
