#include "daemon/stage/reload.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/portable.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/metrics.h"
#include "daemon/base/process.h"
#include "daemon/base/wakeup.h"
#include "daemon/config/config_keys.h"
#include "daemon/files/field_mapping.h"
#include "daemon/stage/stage_internal.h"
#include "guard/event.h"
#include "plan/decisions.h"
#include "rules/rules.h"
#include "schema/enum_names.h"
#include "serve/assets.h"
#include "yaml/yaml.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static void commit_assets(void *context)
{
    struct ek_stage *s = context;
    ek_worker_pool_commit_assets(s->worker_pool);
}

/* Allocate first, so that no allocation can fail after the guard has switched. */
static int stage_assets(struct ek_stage *s, struct ek_asset_ref *assets, struct ek_error *e)
{
    int rc = ek_worker_pool_stage_assets(s->worker_pool, assets, e);
    return !rc && s->fleet ? ek_fleet_stage_assets(s->fleet, assets, e) : rc;
}

static void discard_assets(struct ek_stage *s)
{
    ek_worker_pool_discard_assets(s->worker_pool);
    if (s->fleet)
        ek_fleet_discard_assets(s->fleet);
}

/* Record the reload in the event history. */
static void decide(struct ek_stage *s, const char *actor, enum ek_restore_result fit)
{
    struct ek_decision_record m = ek_decision_get(EK_DECIDED_RELOAD);
    m.actor = actor;
    m.reason =
        fit == EK_RESTORE_COUNTERS_ONLY
            ? "rules, profile and model were read again: evidence, findings and routes are reset"
            : "rules, profile and model were read again: evidence, findings and routes are kept";
    if (ek_guard_service_add_decision(s->guard, &m))
        ek_log_text(s->log, EK_LOG_ERROR, "event_dropped", "out of memory");
}

/* Switch to other assets of the same manifest between two lists. Lists decoded with the old assets
 * are decoded again; lists already counted are scored with the old. *fit is the result of
 * ek_guard_set_assets. Adds a decision of the actor (may be NULL). Return 0, or an error, which
 * changes nothing. */
static int switch_assets(struct ek_stage *s, struct ek_asset_ref *assets, const char *actor,
                         enum ek_restore_result *fit, struct ek_error *e)
{
    const struct ek_guard_service_assets turn = {.assets = ek_asset_ref_get(assets),
                                                 .board = s->board,
                                                 .agreement = s->agreement,
                                                 .history = s->tracks,
                                                 .on_switch = commit_assets,
                                                 .context = s};
    int rc = stage_assets(s, assets, e);
    if (!rc)
        rc = ek_guard_service_set_assets(s->guard, &turn, fit, e);
    if (rc) {
        discard_assets(s);
        return rc;
    }
    decide(s, actor, *fit);
    if (s->fleet)
        ek_fleet_commit_assets(s->fleet);
    struct ek_asset_ref *before = s->assets;
    s->assets = ek_asset_ref_retain(assets);
    ek_asset_ref_release(before);
    atomic_store(&s->turned, true);
    ek_stage_expect_fields(s, ek_asset_ref_get(assets));
    return EK_OK;
}

int ek_stage_replace_assets(struct ek_stage *s, struct ek_assets *assets, struct ek_error *e)
{
    enum ek_restore_result fit;
    struct ek_asset_ref *own = ek_asset_ref_new(assets);
    if (!own) {
        ek_assets_free(assets);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    int rc = switch_assets(s, own, NULL, &fit, e);
    ek_asset_ref_release(own);
    return rc;
}

const struct ek_assets *ek_stage_assets(const struct ek_stage *s)
{
    return ek_asset_ref_get(s->assets);
}

/* Reload in progress. */
struct loading {
    struct ek_reload *r;
    const struct ek_config *running;
    struct ek_config *fresh;     /* configuration read from the file */
    struct ek_config mixed;      /* resulting configuration; borrows from the other two */
    struct ek_asset_ref *loaded; /* its assets */
    bool reset_state;
};

static bool same_texts(const struct ek_text_list *a, const struct ek_text_list *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = !strcmp(a->items[i], b->items[i]);
    return same;
}

static bool same_properties(const struct ek_property_list *a, const struct ek_property_list *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = !strcmp(a->items[i].name, b->items[i].name) &&
               !strcmp(a->items[i].value, b->items[i].value);
    return same;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool same_paths(const struct ek_config_paths *a, const struct ek_config_paths *b)
{
    bool same = same_text(a->path, b->path) && a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = !strcmp(a->items[i].name, b->items[i].name) &&
               !strcmp(a->items[i].path, b->items[i].path);
    return same;
}

static bool same_value(const struct ek_config *a, const struct ek_config *b,
                       const struct ek_key_row *k)
{
    const void *x = ek_key_member(k, a), *y = ek_key_member(k, b);
    switch (k->type) {
    case EK_KEY_TEXT:
    case EK_KEY_PATH:
        return same_text(*(char *const *)x, *(char *const *)y);
    case EK_KEY_TEXTS:
        return same_texts(x, y);
    case EK_KEY_PROPERTIES:
        return same_properties(x, y);
    case EK_KEY_PATHS:
        return same_paths(x, y);
    default:
        return !memcmp(x, y, k->size);
    }
}

/* Merge the configurations: keys that are not reloadable keep their value and add a note. */
static void mix(struct loading *l)
{
    const struct ek_key_table *t = ek_config_keys();
    struct ek_error e;
    l->mixed = *l->running;
    l->mixed.path = l->fresh->path;
    l->mixed.places = l->fresh->places;
    for (size_t i = 0; i < t->count; i++) {
        const struct ek_key_row *k = &t->keys[i];
        if (!k->size || k->base != EK_IN_CONFIG)
            continue;
        if (k->flags & EK_KEY_RELOADABLE) {
            memcpy(ek_key_member(k, &l->mixed), ek_key_member(k, l->fresh), k->size);
        } else if (!same_value(l->running, l->fresh, k)) {
            ek_fail(&e, EK_ECONFIG, "'%s' takes a restart: what was in force stays", k->path);
            ek_config_place(l->fresh, k->path, &e);
            ek_error_list_add(&l->r->notes, &e);
        }
    }
}

/* Alert sinks are lists outside the key table. */
static void note_sinks(struct loading *l)
{
    struct ek_error e;
    if (ek_config_sinks_same(&l->running->sinks, &l->fresh->sinks))
        return;
    long line = l->fresh->sinks.count ? l->fresh->sinks.items[0].line : 0;
    ek_fail_at(&e, EK_ECONFIG, l->fresh->path, line, 0,
               "'alerts' takes a restart: what was in force stays");
    ek_error_list_add(&l->r->notes, &e);
}

static int read_config(struct loading *l, struct ek_error *e)
{
    struct ek_buf text;
    const char *path = l->running->path;
    ek_buf_init(&text, EK_YAML_BYTES_MAX);
    int rc = ek_file_read(path, &text, e);
    if (!rc)
        rc = ek_config_parse(&l->fresh, path, (const char *)text.data, text.length, &l->r->faults,
                             e);
    if (rc)
        ek_error_place(e, path, 0, 0);
    ek_buf_release(&text);
    return rc;
}

/* Resetting all routes needs explicit consent, because a typo could cause it. */
static int check_continues(const struct loading *l, const struct ek_rules *was,
                           const struct ek_rules *now, struct ek_error *e)
{
    bool same = ek_rules_has_segments(was, (const char *const *)now->segment, now->segment_count);
    const char *what = !same                                           ? "segments"
                       : same_text(was->stratify_by, now->stratify_by) ? NULL
                                                                       : "stratify_by";
    if (!what || l->reset_state)
        return EK_OK;
    ek_fail(e, EK_ECONFIG,
            "'%s' of the rules has changed, which resets evidence, findings and routes: reload "
            "with --reset-state, or restore the former value",
            what);
    ek_config_place(&l->mixed, "assets.rules", e);
    return EK_ECONFIG;
}

static int check_belong(const struct loading *l, const struct ek_assets *a, struct ek_error *e)
{
    struct ek_error why;
    char text[700];
    if (!ek_assets_belong(a, &why))
        return EK_OK;
    ek_fail(e, EK_ECONFIG, "'assets.model': %s", ek_error_text(&why, text, sizeof text));
    ek_config_place(&l->mixed, "assets.model", e);
    return EK_ECONFIG;
}

static int check_manifest(const struct loading *l, const struct ek_assets *was,
                          const struct ek_assets *now, struct ek_error *e)
{
    if (was->manifest->hash == now->manifest->hash)
        return EK_OK;
    ek_fail(e, EK_ECONFIG, "'assets.manifest' is another one: that takes a restart");
    ek_config_place(&l->mixed, "assets.manifest", e);
    return EK_ECONFIG;
}

/* Add the error of a check that failed (rc). Errors beyond the limit of the list are dropped.
 * Return 0 or EK_ENOMEM. */
static int add_fault(struct ek_reload *r, int rc, const struct ek_error *why, struct ek_error *e)
{
    if (!rc || ek_error_list_add(&r->faults, why) != EK_ENOMEM)
        return EK_OK;
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

/* Add the remaining errors of a rules file that has one reported error. */
static void find_others(struct ek_reload *r, const char *path, const struct ek_manifest *m)
{
    struct ek_rules *rules = NULL;
    struct ek_error_list faults;
    struct ek_buf text;
    ek_error_list_init(&faults);
    ek_buf_init(&text, EK_YAML_BYTES_MAX);
    if (!ek_file_read(path, &text, NULL))
        ek_rules_parse_all(&rules, m, path, (const char *)text.data, text.length, &faults, NULL);
    for (size_t i = 0; i < faults.count; i++)
        if (!strstr(r->faults.errors[0].message, faults.errors[i].message))
            ek_error_list_add(&r->faults, &faults.errors[i]); /* else the reload is refused, too */
    ek_rules_free(rules);
    ek_buf_release(&text);
    ek_error_list_release(&faults);
}

/* Warn of rules that act less than before: their file may have been cut. */
static void note_mode(struct loading *l, const struct ek_rules *was, const struct ek_rules *now)
{
    struct ek_error e;
    if (now->defaults.mode >= was->defaults.mode)
        return;
    ek_fail(&e, EK_ECONFIG, "the mode of 'defaults' in the rules has changed from '%s' to '%s'",
            ek_mode_name(was->defaults.mode), ek_mode_name(now->defaults.mode));
    ek_config_place(&l->mixed, "assets.rules", &e);
    ek_error_list_add(&l->r->notes, &e);
}

static int load_assets(struct loading *l, const struct ek_assets *was, struct ek_error *e)
{
    struct ek_assets *a;
    struct ek_error why;
    int rc = ek_config_assets(&a, &l->mixed, &l->r->faults, e);
    if (rc && l->r->faults.count && l->mixed.rules)
        find_others(l->r, l->mixed.rules, was->manifest);
    if (rc)
        return rc;
    rc = add_fault(l->r, check_manifest(l, was, a, &why), &why, e);
    if (!rc)
        rc = add_fault(l->r, check_belong(l, a, &why), &why, e);
    if (!rc)
        rc = add_fault(l->r, check_continues(l, was->rules, a->rules, &why), &why, e);
    note_mode(l, was->rules, a->rules);
    if (ek_config_lacks_model(&l->mixed, a, &why))
        ek_error_list_add(&l->r->notes, &why);
    if (!rc && !(l->loaded = ek_asset_ref_new(a)))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    if (rc)
        ek_assets_free(a);
    return rc;
}

static int load(struct loading *l, const struct ek_assets *was, struct ek_error *e)
{
    struct ek_error why;
    int rc = read_config(l, e);
    if (rc)
        return rc;
    mix(l);
    note_sinks(l);
    rc = load_assets(l, was, e);
    if (rc && !l->r->faults.count)
        ek_error_list_add(&l->r->faults, e);
    bool failed = ek_config_tokens(&l->r->tokens, &l->mixed, &why) != 0;
    if (!rc)
        rc = add_fault(l->r, failed, &why, e);
    else if (failed)
        ek_error_list_add(&l->r->faults, &why);
    l->r->log_level = (enum ek_log_level)l->mixed.log_level;
    return rc;
}

/* A file that is still being written may be read in part, and the part may be valid. A reload reads
 * again until no file was changed shortly before or while it was read, at most SETTLE_TRIES
 * times. */
enum { SETTLE_MS = 200, SETTLE_TRIES = 25, SETTLE_FILES = 6 };

/* State of the files of a reload. */
struct file_stamps {
    struct timespec changed[SETTLE_FILES]; /* 0: no file */
    off_t bytes[SETTLE_FILES];
};

static void read_stamps(const struct loading *l, struct file_stamps *out)
{
    const struct ek_config *c = l->fresh ? &l->mixed : l->running;
    const char *const files[SETTLE_FILES] = {l->running->path, c->rules,    c->profile,
                                             c->model,         c->manifest, c->token_file};
    memset(out, 0, sizeof *out);
    for (int i = 0; i < SETTLE_FILES; i++) {
        struct stat s;
        if (files[i] && !stat(files[i], &s)) {
            out->changed[i] = ek_change_time(&s);
            out->bytes[i] = s.st_size;
        }
    }
}

static int64_t ms_of(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000 + t->tv_nsec / 1000000;
}

/* Return true if no file changed in the SETTLE_MS before `start_ms`, or since the last stamps. */
static bool has_settled(const struct file_stamps *now, const struct file_stamps *last,
                        int64_t start_ms)
{
    bool old = true;
    for (int i = 0; i < SETTLE_FILES; i++)
        old = old && ms_of(&now->changed[i]) < start_ms - SETTLE_MS;
    return old || !memcmp(now, last, sizeof *now);
}

static void clear(struct loading *l)
{
    ek_error_list_release(&l->r->faults);
    ek_error_list_release(&l->r->notes);
    ek_tokens_free(l->r->tokens);
    l->r->tokens = NULL;
    ek_asset_ref_release(l->loaded);
    ek_config_free(l->fresh);
    l->loaded = NULL;
    l->fresh = NULL;
}

static int load_settled(struct loading *l, const struct ek_assets *was, struct ek_error *e)
{
    static const struct timespec pause = {.tv_nsec = SETTLE_MS * 1000000L};
    struct file_stamps last, now;
    memset(&last, 0, sizeof last);
    for (int i = 0;; i++) {
        int64_t start_ms = ek_wall_ms();
        int rc = load(l, was, e);
        read_stamps(l, &now);
        if (i == SETTLE_TRIES || has_settled(&now, &last, start_ms))
            return rc;
        last = now;
        clear(l);
        nanosleep(&pause, NULL);
    }
}

/* Run one reload. `running` is the stage's configuration; keys that are not reloadable keep its
 * values. With the flag set, changed `segments` or `stratify_by` are no error. The actor may be
 * NULL.
 */
static void reload_run(struct ek_reload *r, struct ek_stage *stage, const struct ek_config *running,
                       bool reset_state, const char *actor)
{
    struct loading l = {.r = r, .running = running, .reset_state = reset_state};
    struct ek_error e;
    *r = (struct ek_reload){.done = false};
    ek_error_list_init(&r->faults);
    ek_error_list_init(&r->notes);
    int rc = load_settled(&l, ek_stage_assets(stage), &e);
    if (!rc && !r->faults.count)
        rc = switch_assets(stage, l.loaded, actor, &r->fit, &e);
    if (rc && !r->faults.count)
        ek_error_list_add(&r->faults, &e);
    r->done = !rc && !r->faults.count;
    ek_asset_ref_release(l.loaded);
    ek_config_free(l.fresh);
}

static void reload_release(struct ek_reload *r)
{
    ek_error_list_release(&r->faults);
    ek_error_list_release(&r->notes);
    ek_tokens_free(r->tokens);
}

/* Restores, reloads and backlogs leave freed memory that other threads cannot use. Trimming blocks
 * allocations, about 100 ms for 512 MiB, so trim only a large amount. */
enum { TRIM_EVERY_MS = 60000, TRIM_LEAST = 32 << 20 };

struct request {
    uint64_t number; /* number of the reload; 0: none */
    bool reset_state;
    char author[EK_AUTHOR_BYTES + 1];
};

struct ek_reload_service {
    struct ek_stage *stage;
    const struct ek_config *config;
    struct ek_tokens *tokens;
    struct ek_log *log;
    struct ek_wakeup wakeup;
    pthread_t thread;
    bool started;
    atomic_bool hup, ending;
    pthread_mutex_t lock;   /* guards the fields below */
    struct request pending; /* pending request */
    uint64_t requests;      /* number of requests ever */
    bool loading;
    struct ek_buf last; /* JSON of the last reload; empty: none */
};

/* Append the members shared by the reload event and the page of the last reload. */
static int write_outcome(const struct ek_reload *r, const struct request *w, int64_t time_ms,
                         struct ek_buf *out)
{
    ek_buf_printf(out, "\"reload\":%" PRIu64 ",\"time_ms\":%" PRId64 ",\"actor\":", w->number,
                  time_ms);
    if (*w->author)
        ek_buf_json(out, w->author, strlen(w->author));
    else
        ek_buf_text(out, "null");
    if (r->done)
        ek_buf_printf(out, ",\"carried_over\":\"%s\"",
                      r->fit == EK_RESTORE_FULL ? "all" : ek_restore_result_name(r->fit));
    else
        ek_buf_text(out, ",\"carried_over\":null");
    ek_buf_text(out, ",\"errors\":");
    ek_error_list_json(&r->faults, out);
    ek_buf_text(out, ",\"warnings\":");
    return ek_error_list_json(&r->notes, out);
}

static void log_errors(struct ek_log *log, enum ek_log_level level, const char *event,
                       const struct ek_error_list *errors)
{
    char text[700];
    for (size_t i = 0; i < errors->count; i++)
        ek_log_text(log, level, event, ek_error_text(&errors->errors[i], text, sizeof text));
}

static void report_event(struct ek_reload_service *s, const struct ek_reload *r,
                         const char *outcome, int64_t time_ms)
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
    ek_guard_service_add_event(s->stage->guard, &v);
}

/* Set the metrics that show whether the files on disk are in effect. */
static void note_outcome(struct ek_metrics *m, bool done)
{
    ek_metrics_gauge(m, EK_GAUGE_RELOAD_OK, done);
    if (done)
        ek_metrics_gauge(m, EK_GAUGE_RELOAD_SECONDS, (uint64_t)ek_wall_ms() / 1000);
}

static void publish_result(struct ek_reload_service *s, const struct ek_reload *r,
                           const struct request *w)
{
    struct ek_metrics *metrics = s->stage->metrics;
    struct ek_buf outcome, last;
    int64_t time_ms = ek_wall_ms();
    ek_buf_init(&outcome, 0);
    ek_buf_init(&last, 0);
    ek_metrics_count(metrics, r->done ? EK_COUNT_RELOADS_DONE : EK_COUNT_RELOADS_REFUSED, 1);
    note_outcome(metrics, r->done);
    log_errors(s->log, EK_LOG_ERROR, "reload_refused", &r->faults);
    log_errors(s->log, EK_LOG_WARN, "reload_warning", &r->notes);
    if (r->done)
        ek_log_write(s->log, EK_LOG_INFO, "reload_completed", "carried_over=%s",
                     r->fit == EK_RESTORE_FULL ? "all" : ek_restore_result_name(r->fit));
    int rc = write_outcome(r, w, time_ms, &outcome);
    rc = rc || !ek_buf_string(&outcome) ? EK_ENOMEM : EK_OK;
    if (rc)
        ek_log_text(s->log, EK_LOG_ERROR, "event_dropped", "out of memory");
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

static bool pop_request(struct ek_reload_service *s, struct request *out)
{
    pthread_mutex_lock(&s->lock);
    *out = s->pending;
    s->pending = (struct request){.number = 0};
    if (!out->number && atomic_exchange(&s->hup, false))
        out->number = ++s->requests;
    s->loading = out->number > 0;
    pthread_mutex_unlock(&s->lock);
    return out->number > 0;
}

static void reload(struct ek_reload_service *s, const struct request *w)
{
    struct ek_reload r;
    reload_run(&r, s->stage, s->config, w->reset_state, *w->author ? w->author : NULL);
    if (r.done && r.tokens)
        ek_tokens_replace(s->tokens, r.tokens);
    if (r.done)
        ek_log_set_level(s->log, r.log_level);
    publish_result(s, &r, w);
    reload_release(&r);
}

/* Return true if much memory is resident but unused. */
static bool much_is_free(void)
{
    return ek_process_resident_bytes() > (double)ek_alloc_used() + TRIM_LEAST;
}

static void *run(void *context)
{
    struct ek_reload_service *s = context;
    struct request w;
    while (!atomic_load(&s->ending)) {
        if (pop_request(s, &w)) {
            reload(s, &w);
        } else {
            ek_wakeup_wait(&s->wakeup, TRIM_EVERY_MS);
            if (!atomic_load(&s->ending) && much_is_free())
                ek_alloc_trim();
        }
    }
    return NULL;
}

int ek_reload_service_new(struct ek_reload_service **out, struct ek_stage *stage,
                          const struct ek_config *config, struct ek_tokens *tokens,
                          struct ek_log *log, struct ek_error *e)
{
    struct ek_reload_service *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    *s = (struct ek_reload_service){.stage = stage, .config = config, .tokens = tokens, .log = log};
    s->wakeup.fd = -1;
    atomic_init(&s->hup, false);
    atomic_init(&s->ending, false);
    pthread_mutex_init(&s->lock, NULL);
    ek_buf_init(&s->last, 0);
    note_outcome(stage->metrics, true);
    int rc = ek_wakeup_init(&s->wakeup, e);
    int problem = rc ? 0 : pthread_create(&s->thread, NULL, run, s);
    if (problem)
        rc = ek_fail(e, EK_EIO, "cannot start a thread for reloads: %s", strerror(problem));
    s->started = !rc;
    if (rc)
        ek_reload_service_free(s);
    else
        *out = s;
    return rc;
}

void ek_reload_service_free(struct ek_reload_service *s)
{
    if (!s)
        return;
    atomic_store(&s->ending, true);
    if (s->started) {
        ek_wakeup_signal(&s->wakeup);
        pthread_join(s->thread, NULL);
    }
    ek_wakeup_close(&s->wakeup);
    pthread_mutex_destroy(&s->lock);
    ek_buf_release(&s->last);
    ek_free(s);
}

void ek_reload_service_signal(struct ek_reload_service *s)
{
    atomic_store(&s->hup, true);
    ek_wakeup_signal(&s->wakeup);
}

uint64_t ek_reload_service_request(struct ek_reload_service *s, bool reset_state,
                                   const char *author)
{
    pthread_mutex_lock(&s->lock);
    s->pending.number = ++s->requests;
    s->pending.reset_state |= reset_state; /* the pending reload serves both requests */
    snprintf(s->pending.author, sizeof s->pending.author, "%s", author ? author : "");
    uint64_t number = s->pending.number;
    pthread_mutex_unlock(&s->lock);
    ek_wakeup_signal(&s->wakeup);
    return number;
}

int ek_reload_service_json(struct ek_reload_service *s, struct ek_buf *out)
{
    pthread_mutex_lock(&s->lock);
    if (s->loading || s->pending.number)
        ek_buf_printf(out, "{\"state\":\"loading\",\"reload\":%" PRIu64 "}", s->requests);
    else if (!s->last.length)
        ek_buf_text(out, "{\"state\":\"never\",\"reload\":0}");
    else
        ek_buf_add(out, s->last.data, s->last.length);
    pthread_mutex_unlock(&s->lock);
    return out->rc;
}
