#include "daemon/views/journal.h"

#include "base/alloc.h"
#include "base/error.h"
#include "yaml/json_parse.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <pthread.h>
#include <string.h>

struct ek_journal {
    pthread_mutex_t lock;
    char **events; /* ring; event number k stands at (k - 1) % keep */
    size_t keep;
    uint64_t count;    /* events ever */
    uint64_t gone;     /* of them, the oldest first */
    size_t bytes;      /* of those that are kept */
    json_t *findings;  /* array of the newest event of every open episode */
    json_t *confirmed; /* object, by episode: when one of these was first heard of as confirmed */
    json_t *plan;      /* NULL before the first */
};

struct ek_journal *ek_journal_new(size_t keep)
{
    struct ek_journal *j = ek_calloc(1, sizeof *j);
    if (!j)
        return NULL;
    j->keep = keep ? keep : 1;
    j->events = ek_calloc(j->keep, sizeof *j->events);
    j->findings = json_array();
    j->confirmed = json_object();
    pthread_mutex_init(&j->lock, NULL);
    if (j->events && j->findings && j->confirmed)
        return j;
    ek_journal_free(j);
    return NULL;
}

void ek_journal_free(struct ek_journal *j)
{
    if (!j)
        return;
    for (size_t i = 0; j->events && i < j->keep; i++)
        ek_free(j->events[i]);
    ek_free(j->events);
    json_decref(j->findings);
    json_decref(j->confirmed);
    json_decref(j->plan);
    pthread_mutex_destroy(&j->lock);
    ek_free(j);
}

static bool says(const json_t *event, const char *key, const char *word)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text && !strcmp(text, word);
}

static bool routes(const json_t *event)
{
    return says(event, "action", "route") || says(event, "action", "route_spread");
}

/* Of a plan's cell: whether the output of some lists has other scores for it. */
static bool acts(const json_t *cell)
{
    return routes(cell) && !says(cell, "mode", "observe") && !says(cell, "mode", "shadow");
}

static size_t place_of(const json_t *findings, const json_t *event)
{
    size_t i;
    json_t *f;
    json_array_foreach(findings, i, f)
    {
        if (json_equal(json_object_get(f, "episode"), json_object_get(event, "episode")))
            return i;
    }
    return json_array_size(findings);
}

static const char *episode_of(const json_t *event)
{
    const char *episode = json_string_value(json_object_get(event, "episode"));
    return episode ? episode : "";
}

/* Its time is that of the first event that says so. */
static int note_confirmed(struct ek_journal *j, const json_t *event, int64_t now_ms)
{
    if (says(event, "state", "suspected") || json_object_get(j->confirmed, episode_of(event)))
        return 0;
    return json_object_set_new(j->confirmed, episode_of(event), json_integer(now_ms));
}

static int forget(struct ek_journal *j, size_t i)
{
    json_object_del(j->confirmed, episode_of(json_array_get(j->findings, i)));
    return json_array_remove(j->findings, i);
}

static int take_finding(struct ek_journal *j, json_t *event, int64_t now_ms,
                        struct ek_journal_change *change)
{
    size_t i = place_of(j->findings, event), n = json_array_size(j->findings);
    if (says(event, "state", "dismissed") || says(event, "state", "recovered"))
        return i < n && forget(j, i) ? EK_ENOMEM : EK_OK;
    int rc = note_confirmed(j, event, now_ms);
    if (!rc && i < n) {
        rc = json_array_set(j->findings, i, event);
    } else if (!rc) {
        if (n == EK_JOURNAL_FINDINGS_MAX)
            forget(j, 0);
        rc = json_array_append(j->findings, event);
    }
    change->detected = !rc && says(event, "state", "confirmed") && routes(event);
    return rc ? EK_ENOMEM : EK_OK;
}

static bool same_route(const json_t *a, const json_t *b)
{
    return acts(a) && acts(b) &&
           json_equal(json_object_get(a, "feature"), json_object_get(b, "feature")) &&
           json_equal(json_object_get(a, "segment"), json_object_get(b, "segment"));
}

static bool routed_before(const json_t *plan, const json_t *cell)
{
    size_t i;
    json_t *old;
    json_array_foreach(json_object_get(plan, "cells"), i, old)
    {
        if (same_route(old, cell))
            return true;
    }
    return false;
}

static void take_plan(struct ek_journal *j, json_t *event, struct ek_journal_change *change)
{
    size_t i;
    json_t *cell;
    json_array_foreach(json_object_get(event, "cells"), i, cell)
    {
        change->enforced += acts(cell) && !routed_before(j->plan, cell);
    }
    json_decref(j->plan);
    j->plan = json_incref(event);
}

static enum ek_rail rail_of(const json_t *event)
{
    int rail = EK_RAILS - 1;
    while (rail > EK_RAIL_NONE && !says(event, "rail", ek_rail_name((enum ek_rail)rail)))
        rail--;
    return (enum ek_rail)rail;
}

/* What is no JSON is kept, and tells nothing. */
static int interpret(struct ek_journal *j, const char *json, int64_t now_ms,
                     struct ek_journal_change *change)
{
    json_error_t why;
    json_t *event;
    int rc = ek_json_parse(&event, json, strlen(json), JSON_REJECT_DUPLICATES, &why);
    rc = rc == EK_ENOMEM ? rc : EK_OK;
    if (says(event, "event", "finding"))
        rc = take_finding(j, event, now_ms, change);
    else if (says(event, "event", "plan"))
        take_plan(j, event, change);
    else if (says(event, "event", "model_drift"))
        change->drifted = says(event, "state", "drifted");
    else if (says(event, "event", "decision") && says(event, "what", "withdraw"))
        change->withdrawn = rail_of(event);
    json_decref(event);
    return rc;
}

static void drop_oldest(struct ek_journal *j)
{
    char **slot = &j->events[j->gone++ % j->keep];
    j->bytes -= strlen(*slot);
    ek_free(*slot);
    *slot = NULL;
}

int ek_journal_add(struct ek_journal *j, const char *json, int64_t now_ms,
                   struct ek_journal_change *change)
{
    size_t length = strlen(json);
    char *copy = ek_strndup(json, length);
    *change = (struct ek_journal_change){0};
    if (!copy)
        return EK_ENOMEM;
    pthread_mutex_lock(&j->lock);
    int rc = interpret(j, json, now_ms, change);
    if (!rc) {
        while (j->gone < j->count &&
               (j->count - j->gone == j->keep || j->bytes + length > EK_JOURNAL_BYTES_MAX))
            drop_oldest(j);
        j->events[j->count++ % j->keep] = copy;
        j->bytes += length;
    }
    pthread_mutex_unlock(&j->lock);
    if (rc)
        ek_free(copy);
    return rc;
}

/* Number of the oldest event that is still kept, minus one. */
static uint64_t oldest(const struct ek_journal *j)
{
    return j->gone;
}

void ek_journal_begin_anew(struct ek_journal *j)
{
    pthread_mutex_lock(&j->lock);
    json_array_clear(j->findings);
    json_object_clear(j->confirmed);
    json_decref(j->plan);
    j->plan = NULL;
    pthread_mutex_unlock(&j->lock);
}

int ek_journal_since(struct ek_journal *j, uint64_t *after, struct ek_buf *out)
{
    int rc = EK_OK;
    pthread_mutex_lock(&j->lock);
    uint64_t k = *after > oldest(j) ? *after : oldest(j);
    for (; !rc && k < j->count; k++)
        rc = ek_buf_printf(out, "%s\n", j->events[k % j->keep]);
    if (!rc)
        *after = k;
    pthread_mutex_unlock(&j->lock);
    return rc;
}

/* What an event is, for who listens to some only: the name behind its first key. */
static int add_kind(const char *json, struct ek_buf *out)
{
    static const char head[] = "{\"event\":\"";
    const char *kind = json + sizeof head - 1;
    if (strncmp(json, head, sizeof head - 1) != 0)
        return EK_OK;
    return ek_buf_printf(out, "event: %.*s\n", (int)strcspn(kind, "\"\\"), kind);
}

static int add_streamed(const struct ek_journal *j, int64_t started_ms, uint64_t number,
                        struct ek_buf *out)
{
    const char *json = j->events[(number - 1) % j->keep];
    int rc = ek_buf_printf(out, "id: %" PRId64 "-%" PRIu64 "\n", started_ms, number);
    if (!rc)
        rc = add_kind(json, out);
    return rc ? rc : ek_buf_printf(out, "data: %s\n\n", json);
}

int ek_journal_stream(struct ek_journal *j, int64_t started_ms, uint64_t *after, size_t most,
                      struct ek_buf *out)
{
    int rc = EK_OK;
    size_t begun = out->length;
    pthread_mutex_lock(&j->lock);
    uint64_t missed = *after < oldest(j) ? oldest(j) - *after : 0;
    if (missed)
        rc = ek_buf_printf(out, "event: missed\ndata: {\"missed\":%" PRIu64 "}\n\n", missed);
    uint64_t k = *after + missed;
    while (!rc && k < j->count && (out->length - begun < most))
        rc = add_streamed(j, started_ms, ++k, out);
    if (!rc)
        *after = k;
    pthread_mutex_unlock(&j->lock);
    return rc;
}

uint64_t ek_journal_count(struct ek_journal *j)
{
    pthread_mutex_lock(&j->lock);
    uint64_t count = j->count;
    pthread_mutex_unlock(&j->lock);
    return count;
}

int ek_journal_last(struct ek_journal *j, size_t n, struct ek_buf *out)
{
    pthread_mutex_lock(&j->lock);
    uint64_t k = j->count > n ? j->count - n : 0;
    if (k < oldest(j))
        k = oldest(j);
    int rc = ek_buf_text(out, "[");
    for (uint64_t first = k; !rc && k < j->count; k++)
        rc = ek_buf_printf(out, "%s%s", k > first ? ",\n" : "", j->events[k % j->keep]);
    pthread_mutex_unlock(&j->lock);
    return rc ? rc : ek_buf_text(out, "]\n");
}

static int add_text(const char *text, size_t length, void *out)
{
    return ek_buf_add(out, text, length);
}

static int dump(const json_t *value, struct ek_buf *out)
{
    return json_dump_callback(value, add_text, out, JSON_COMPACT) ? EK_ENOMEM
                                                                  : ek_buf_text(out, "\n");
}

int ek_journal_findings(struct ek_journal *j, struct ek_buf *out)
{
    pthread_mutex_lock(&j->lock);
    int rc = dump(j->findings, out);
    pthread_mutex_unlock(&j->lock);
    return rc;
}

int ek_journal_findings_of(struct ek_journal *j, const char *feature, struct ek_buf *out)
{
    size_t i, told = 0;
    json_t *event;
    int rc = ek_buf_text(out, "[");
    pthread_mutex_lock(&j->lock);
    json_array_foreach(j->findings, i, event)
    {
        if (!rc && says(event, "feature", feature)) {
            rc = ek_buf_text(out, told++ ? "," : "");
            rc = rc ? rc : dump(event, out);
        }
    }
    pthread_mutex_unlock(&j->lock);
    return rc ? rc : ek_buf_text(out, "]");
}

int ek_journal_plan(struct ek_journal *j, struct ek_buf *out)
{
    pthread_mutex_lock(&j->lock);
    int rc = j->plan ? dump(j->plan, out)
                     : ek_buf_text(out, "{\"event\":\"plan\",\"version\":0,\"cells\":[]}\n");
    pthread_mutex_unlock(&j->lock);
    return rc;
}

static enum ek_class class_of(const json_t *event)
{
    const char *name = json_string_value(json_object_get(event, "class"));
    int found = name ? ek_class_parse(name) : -1;
    return found < 0 ? EK_CLASS_NONE : (enum ek_class)found;
}

static struct ek_journal_finding open_finding(const struct ek_journal *j, json_t *event)
{
    void *pair = json_object_iter(json_object_get(event, "segment"));
    return (struct ek_journal_finding){
        .feature = json_string_value(json_object_get(event, "feature")),
        .dimension = pair ? json_object_iter_key(pair) : NULL,
        .value = pair ? json_string_value(json_object_iter_value(pair)) : NULL,
        .confirmed = !says(event, "state", "suspected"),
        .class = class_of(event),
        .confirmed_ms = json_integer_value(json_object_get(j->confirmed, episode_of(event))),
    };
}

void ek_journal_each_open(struct ek_journal *j,
                          void (*each)(void *context, const struct ek_journal_finding *f),
                          void *context)
{
    size_t i;
    json_t *event;
    pthread_mutex_lock(&j->lock);
    json_array_foreach(j->findings, i, event)
    {
        struct ek_journal_finding f = open_finding(j, event);
        if (f.feature)
            each(context, &f);
    }
    pthread_mutex_unlock(&j->lock);
}

size_t ek_journal_open(struct ek_journal *j)
{
    pthread_mutex_lock(&j->lock);
    size_t n = json_array_size(j->findings);
    pthread_mutex_unlock(&j->lock);
    return n;
}

/* -1: it changes no score in any mode. */
static int mode_of(const json_t *cell)
{
    const char *mode = json_string_value(json_object_get(cell, "mode"));
    bool changes = !says(cell, "action", "none") && !says(cell, "action", "alert");
    return mode && changes ? ek_mode_parse(mode) : -1;
}

void ek_journal_plan_modes(struct ek_journal *j, int count[EK_MODE_COUNT])
{
    size_t i;
    json_t *cell;
    memset(count, 0, EK_MODE_COUNT * sizeof *count);
    pthread_mutex_lock(&j->lock);
    json_array_foreach(json_object_get(j->plan, "cells"), i, cell)
    {
        int mode = mode_of(cell);
        if (mode >= 0)
            count[mode]++;
    }
    pthread_mutex_unlock(&j->lock);
}
