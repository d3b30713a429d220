/* Command `demo`: shows a detected and mitigated fault within a minute on an embedded broker. */
#include "assets/profile.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/parse.h"
#include "daemon/base/arguments.h"
#include "daemon/base/clock.h"
#include "daemon/base/command.h"
#include "daemon/base/signals.h"
#include "daemon/config/config.h"
#include "daemon/demo/demo_report.h"
#include "daemon/demo/demo_source.h"
#include "daemon/guard/guard_service.h"
#include "daemon/http/server.h"
#include "daemon/kafka/mock_cluster.h"
#include "daemon/kafka/tool_client.h"
#include "daemon/stage/stage.h"
#include "guard/event.h"
#include "offline/fit/profile_fit.h"
#include "offline/train/training.h"
#include "offline/world/hotel.h"
#include "schema/manifest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DEMO_PATH = 512 };

/* Files in a temporary folder. Strings are paths. */
struct demo_assets {
    char folder[DEMO_PATH]; /* empty: no folder */
    char manifest_path[DEMO_PATH], rules[DEMO_PATH], profile[DEMO_PATH];
    char upstream[DEMO_PATH], routable[DEMO_PATH]; /* models; upstream: plain */
    struct ek_manifest *manifest;
};

/* Signals that end the demo. They are polled, so that an interrupted demo removes all its files.
 * Two threads. */
struct stop_signals {
    struct ek_signals signals;
    atomic_int received; /* number of the signal; 0: none */
};

static bool is_stopped(struct stop_signals *s)
{
    int number = ek_signals_read(&s->signals);
    if (number > 0)
        atomic_store(&s->received, number);
    return atomic_load(&s->received) > 0;
}

enum {
    TRAIN_LISTS = 12000,
    VALI_LISTS = 1500,
    PROFILE_LISTS = 20000, /* rare categories need many lists for evidence */
    EPOCHS = 12,
    TRAIN_MS_MAX = 20000 /* a slow machine uses the best model until then */
};

static const char RULES[] = "version: 1\n"
                            "defaults:\n"
                            "  mode: enforce\n"
                            "  stratify_by: market\n"
                            "  min_duration: 1s\n"
                            "segments: [arm]\n"
                            "features:\n"
                            "  price: {units: [cents, \"query_feature:stay_nights\"]}\n";

static const char *const FILES[] = {"features.yaml", "rules.yaml", "profile.ekp",
                                    "upstream.safetensors", "routable.safetensors"};

static char *path_of(struct demo_assets *a, int file)
{
    char *const paths[] = {a->manifest_path, a->rules, a->profile, a->upstream, a->routable};
    return paths[file];
}

enum { FILE_COUNT = sizeof FILES / sizeof *FILES };

static int make_folder(struct demo_assets *a, struct ek_error *e)
{
    const char *base = getenv("TMPDIR");
    int n = snprintf(a->folder, sizeof a->folder, "%s/evenkeel-demo-XXXXXX",
                     base && *base ? base : "/tmp");
    if (n > DEMO_PATH - 40 || !mkdtemp(a->folder)) {
        a->folder[0] = 0;
        return ek_fail(e, EK_EIO, "cannot make a temporary folder in '%.200s'",
                       base && *base ? base : "/tmp");
    }
    for (int i = 0; i < FILE_COUNT; i++)
        snprintf(path_of(a, i), DEMO_PATH, "%.460s/%s", a->folder, FILES[i]);
    return EK_OK;
}

/* Delete the folder and free the paths. */
static void demo_assets_remove(struct demo_assets *a)
{
    ek_manifest_free(a->manifest);
    if (a->folder[0]) {
        for (int i = 0; i < FILE_COUNT; i++)
            unlink(path_of(a, i));
        rmdir(a->folder);
    }
    memset(a, 0, sizeof *a);
}

/* Lists for all parts: training, then validation. */
struct lists {
    struct ek_dataset train, vali;
};

static int generate(struct lists *l, uint64_t seed, struct ek_error *e)
{
    struct ek_hotel *hotel;
    struct ek_list q;
    int rc = ek_hotel_new(&hotel, seed, e);
    if (rc)
        return rc;
    ek_list_init(&q);
    for (uint64_t i = 0; i < TRAIN_LISTS + VALI_LISTS && !rc; i++) {
        rc = ek_hotel_list(hotel, i, &q, e);
        if (!rc)
            rc = ek_dataset_add(i < TRAIN_LISTS ? &l->train : &l->vali, &q, e);
    }
    ek_list_release(&q);
    ek_hotel_free(hotel);
    return rc;
}

static int fit(const struct demo_assets *a, uint64_t seed, struct ek_error *e)
{
    struct ek_profile_fit *fit;
    struct ek_profile *profile;
    struct ek_hotel *hotel;
    struct ek_list q;
    int rc = ek_hotel_new(&hotel, seed, e);
    if (rc)
        return rc;
    ek_list_init(&q);
    rc = ek_profile_fit_new(&fit, a->manifest, "market", e);
    if (!rc) {
        for (uint64_t i = 0; i < PROFILE_LISTS && !rc; i++) {
            rc = ek_hotel_list(hotel, i, &q, e);
            if (!rc)
                rc = ek_profile_fit_add(fit, &q, e);
        }
        if (!rc)
            rc = ek_profile_fit_finish(fit, &profile, e);
        if (!rc) {
            rc = ek_profile_save(profile, a->profile, e);
            ek_profile_free(profile);
        }
        ek_profile_fit_free(fit);
    }
    ek_list_release(&q);
    ek_hotel_free(hotel);
    return rc;
}

/* Training of one model. Only the routable one, in the caller's thread, shows progress. */
struct training {
    const struct demo_assets *a;
    const struct lists *lists;
    bool plain;
    struct stop_signals *stop;
    struct ek_progress progress;
    double ndcg;
    int rc;
    struct ek_error e;
};

static int show(void *context, const struct ek_train_progress *p)
{
    struct training *t = context;
    char note[60];
    snprintf(note, sizeof note, "NDCG@10 %.4f", p->vali_ndcg10);
    if (!t->plain)
        ek_progress_update(&t->progress, p->step, p->steps, p->epoch > 1 ? note : NULL);
    bool late = p->epoch > 1 && ek_now_ms() - t->progress.started_ms > TRAIN_MS_MAX;
    return late || is_stopped(t->stop);
}

static void *train(void *arg)
{
    struct training *t = arg;
    struct ek_train_options o;
    struct ek_train_progress last;
    struct ek_model *model;
    ek_train_defaults(&o);
    o.epochs = EPOCHS;
    o.progress = show;
    o.context = t;
    if (t->plain) {
        o.routing = EK_ROUTING_NONE;
        o.shape.log_input = EK_LOG_NONE;
        o.shape.mask_input = false;
    }
    t->rc = ek_train(&model, t->a->manifest, &t->lists->train, &t->lists->vali, &o, &last, &t->e);
    if (t->rc)
        return NULL;
    t->ndcg = last.best_ndcg10;
    t->rc = ek_model_save(model, t->plain ? t->a->upstream : t->a->routable, &t->e);
    ek_model_free(model);
    return NULL;
}

static int train_both(const struct demo_assets *a, const struct lists *l, struct stop_signals *stop,
                      struct ek_error *e)
{
    struct training plain = {.a = a, .lists = l, .plain = true, .stop = stop};
    struct training routable = {.a = a, .lists = l, .stop = stop};
    pthread_t thread;
    char note[100];
    ek_progress_start(&routable.progress, "training two models");
    plain.progress = routable.progress;
    bool apart = pthread_create(&thread, NULL, train, &plain) == 0;
    train(&routable);
    if (apart)
        pthread_join(thread, NULL);
    else
        train(&plain);
    if (is_stopped(stop))
        return ek_fail(e, EK_ESTATE, "interrupted");
    struct training *failed = plain.rc ? &plain : routable.rc ? &routable : NULL;
    if (failed) {
        *e = failed->e;
        return failed->rc;
    }
    snprintf(note, sizeof note, "validation NDCG@10 %.4f plain, %.4f routable", plain.ndcg,
             routable.ndcg);
    ek_progress_finish(&routable.progress, note);
    return EK_OK;
}

static int fill_folder(struct demo_assets *a, uint64_t seed, struct stop_signals *stop,
                       struct ek_error *e)
{
    struct lists l;
    struct ek_progress progress;
    char note[100];
    int rc = ek_file_write(a->manifest_path, ek_hotel_manifest(), e);
    if (!rc)
        rc = ek_file_write(a->rules, RULES, e);
    if (!rc)
        rc = ek_manifest_load(&a->manifest, a->manifest_path, e);
    if (rc)
        return rc;
    ek_dataset_init(&l.train, EK_HOTEL_ITEM_FEATURES, EK_HOTEL_QUERY_FEATURES);
    ek_dataset_init(&l.vali, EK_HOTEL_ITEM_FEATURES, EK_HOTEL_QUERY_FEATURES);
    ek_progress_start(&progress, "generating hotel searches, fitting the profile");
    rc = generate(&l, seed, e);
    if (!rc)
        rc = fit(a, seed, e);
    if (!rc) {
        snprintf(note, sizeof note, "%d lists", PROFILE_LISTS);
        ek_progress_finish(&progress, note);
        rc = train_both(a, &l, stop, e);
    }
    ek_dataset_release(&l.train);
    ek_dataset_release(&l.vali);
    return rc;
}

/* Generate lists, make the profile and train both models in parallel, with progress on stderr.
 * Return EK_ESTATE if canceled. On failure the folder is removed. */
static int demo_assets_make(struct demo_assets *a, uint64_t seed, struct stop_signals *stop,
                            struct ek_error *e)
{
    memset(a, 0, sizeof *a);
    int rc = make_folder(a, e);
    if (!rc)
        rc = fill_folder(a, seed, stop, e);
    if (rc)
        demo_assets_remove(a);
    return rc;
}

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

static int set_all(struct ek_config *c, const struct demo_assets *a, const char *brokers,
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
    return rc ? rc : ek_config_finish(c, NULL, e);
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

static int start_stage(struct pipeline *p, const struct demo_assets *a, struct ek_error *e)
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
    ek_guard_service_set_listener(ek_stage_parts(p->stage).guard, add_event, p);
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
static int wait_until_ready(struct pipeline *p, struct stop_signals *stop, struct ek_error *e)
{
    const struct timespec nap = {0, 20000000};
    int64_t until = ek_now_ms() + CONNECT_MS;
    for (;;) {
        struct ek_stage_stats stats;
        ek_stage_stats(p->stage, &stats);
        int rc = still_running(p, e);
        if (rc || stats.ready)
            return rc;
        if (is_stopped(stop))
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
static int open_pipeline(struct pipeline **out, const struct demo_assets *a,
                         struct stop_signals *stop, struct ek_error *e)
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
    struct stop_signals stop;
    struct demo_assets assets;
    struct pipeline *pipeline;
    struct ek_demo_source *feed;
    struct ek_demo_report report;
    struct ek_demo_view screen;
    int64_t started_ms;
    struct ek_error e;
};

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
    struct ek_stage_stats stats;
    int rc = feeding ? send_due(d) : EK_OK;
    if (!rc)
        rc = read_lists(d);
    if (!rc)
        rc = read_events(d);
    int64_t now = ek_now_ms();
    ek_stage_stats(d->pipeline->stage, &stats);
    s->dead = stats.dead;
    s->seconds = (double)(now - d->started_ms) / 1000;
    s->per_second = s->seconds > 0 ? (double)s->back / s->seconds : 0;
    ek_demo_view_draw(&d->screen, s, now, false);
    if (!rc && is_stopped(&d->stop))
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

/* Start the HTTP API without changes. */
static int start_api(struct demo *d)
{
    const struct ek_api api = {.stage = d->pipeline->stage};
    struct ek_http **http = &d->pipeline->http;
    int rc = d->listen ? ek_http_start(http, d->listen, NULL, &api, NULL, &d->e) : EK_OK;
    if (d->listen && !rc)
        fprintf(stderr, "the page: http://%.*s:%d/\n", (int)(strrchr(d->listen, ':') - d->listen),
                d->listen, ek_http_port(*http));
    return rc;
}

/* Keep the HTTP API running after the demo until a signal. */
static void wait_for_signal(struct demo *d)
{
    const struct timespec nap = {0, 100000000};
    fputs("press Ctrl-C to close the page\n", stderr);
    while (!is_stopped(&d->stop))
        nanosleep(&nap, NULL);
}

static int with_pipeline(struct demo *d)
{
    struct ek_progress progress;
    int rc = ek_demo_source_new(&d->feed, d->assets.manifest, d->assets.upstream,
                                d->assets.routable, d->seed + TRAFFIC_SEED_OFFSET, &d->e);
    if (rc)
        return rc;
    ek_progress_start(&progress, "starting broker and stage");
    rc = open_pipeline(&d->pipeline, &d->assets, &d->stop, &d->e);
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
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP /* the terminal was closed */};
    ek_signals_begin(&d->stop.signals, numbers, sizeof numbers / sizeof *numbers);
    ek_demo_view_init(&d->screen, stdout);
    ek_demo_report_init(&d->report);
    int rc = d->listen ? ek_http_check_address(d->listen, &d->e) : EK_OK;
    if (!rc)
        rc = demo_assets_make(&d->assets, d->seed, &d->stop, &d->e);
    if (!rc) {
        rc = with_pipeline(d);
        demo_assets_remove(&d->assets);
    }
    ek_signals_end(&d->stop.signals);
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
    int number = atomic_load(&d.stop.received);
    if (!rc)
        ek_demo_view_end(&d.screen, &d.report);
    bool failed = ek_demo_report_fault(&d.report) != NULL;
    ek_demo_report_release(&d.report);
    if (rc)
        return ek_cli_stopped(number, ek_cli_fail(&d.e));
    return failed ? EK_EXIT_FAILURE : EK_EXIT_OK;
}
