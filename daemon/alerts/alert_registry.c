#include "daemon/alerts/alert_registry.h"

#include "base/alloc.h"
#include "base/error.h"
#include "daemon/alerts/alert.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FINDINGS_MAX = 4096 };

/* Open finding with its alert. */
struct finding {
    uint32_t episode, cause;
    char limit[EK_ALERT_NAME_TEXT_BYTES];
    char feature[EK_ALERT_NAME_BYTES], segment[EK_ALERT_NAME_BYTES];
    struct ek_alert_entry *entry;
    bool seen; /* since the start of the replay */
};

struct ek_alert_registry {
    struct ek_alert_entry **entry;
    size_t count, limit;
    struct finding *finding;
    size_t findings, findings_capacity;
    bool replaying;
    uint64_t lost;
};

struct ek_alert_registry *ek_alert_registry_new(size_t limit)
{
    struct ek_alert_registry *b = ek_calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->limit = limit ? limit : 1;
    b->entry = ek_calloc(b->limit, sizeof *b->entry);
    if (b->entry)
        return b;
    ek_free(b);
    return NULL;
}

void ek_alert_registry_free(struct ek_alert_registry *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->count; i++)
        ek_free(b->entry[i]);
    ek_free(b->entry);
    ek_free(b->finding);
    ek_free(b);
}

size_t ek_alert_registry_count(const struct ek_alert_registry *b)
{
    return b->count;
}

struct ek_alert_entry *ek_alert_registry_get(struct ek_alert_registry *b, size_t number)
{
    return b->entry[number];
}

uint64_t ek_alert_registry_dropped_count(const struct ek_alert_registry *b)
{
    return b->lost;
}

static void drop_findings(struct ek_alert_registry *b, const struct ek_alert_entry *e)
{
    for (size_t i = 0; i < b->findings;)
        if (b->finding[i].entry == e)
            b->finding[i] = b->finding[--b->findings];
        else
            i++;
}

void ek_alert_registry_remove(struct ek_alert_registry *b, size_t number)
{
    drop_findings(b, b->entry[number]);
    ek_free(b->entry[number]);
    b->entry[number] = b->entry[--b->count];
}

/* Return the cost of evicting an ended alert: 2 if a sink still considers it firing, 1 if no sink
 * received it, 0 if its end was delivered. */
static int eviction_cost(const struct ek_alert_entry *e)
{
    bool delivered = false;
    for (size_t i = 0; i < EK_ALERT_SINKS_MAX; i++) {
        if (e->delivered[i].firing || e->delivered[i].uncertain)
            return 2;
        delivered = delivered || e->delivered[i].revision;
    }
    if (delivered)
        return 0;
    return e->is_inherited ? 2 : 1;
}

/* Return true if `a` must be evicted before `b`: by cost, then the one that ended earlier. */
static bool is_better_victim(const struct ek_alert_entry *a, const struct ek_alert_entry *b)
{
    int by = eviction_cost(a) - eviction_cost(b);
    return by ? by < 0 : a->changed_ms < b->changed_ms;
}

/* An evicted firing alert would fire again with its next event, and its end would never be sent. */
static bool is_evictable(const struct ek_alert_entry *e)
{
    return !e->busy && !e->alert.firing;
}

static bool evict_one(struct ek_alert_registry *b)
{
    size_t least = b->count;
    if (b->count < b->limit)
        return true;
    for (size_t i = 0; i < b->count; i++)
        if (is_evictable(b->entry[i]) &&
            (least == b->count || is_better_victim(b->entry[i], b->entry[least])))
            least = i;
    if (least == b->count)
        return false;
    b->lost++;
    ek_alert_registry_remove(b, least);
    return true;
}

static struct ek_alert_entry *find(struct ek_alert_registry *b, const struct ek_alert *a)
{
    for (size_t i = 0; i < b->count; i++)
        if (ek_alert_same(&b->entry[i]->alert, a))
            return b->entry[i];
    return NULL;
}

static struct ek_alert_entry *add(struct ek_alert_registry *b, const struct ek_alert *a,
                                  struct ek_alert_times when)
{
    struct ek_alert_entry *e = evict_one(b) ? ek_calloc(1, sizeof *e) : NULL;
    if (!e)
        return NULL;
    e->alert = *a;
    e->revision = 1;
    e->fired_ms = e->changed_ms = e->received_ms = when.now_ms;
    b->entry[b->count++] = e;
    return e;
}

/* Only a changed action or set of features needs a notification; statistics change with each event.
 * `main`: both are of the same feature and segment. */
static bool needs_notification(const struct ek_alert *was, const struct ek_alert *a, bool main)
{
    return was->features_count != a->features_count ||
           (main && strcmp(was->action, a->action) != 0);
}

/* The delivered state stays, so a relapse before its end was sent causes no notification unless its
 * action or features differ. */
static void fire_again(struct ek_alert_entry *e, const struct ek_alert *a,
                       struct ek_alert_times when)
{
    e->revision += needs_notification(&e->alert, a, true);
    e->alert = *a;
    e->fired_ms = e->changed_ms = when.now_ms;
}

static void end(struct ek_alert_entry *e, struct ek_alert_times when)
{
    if (!e->alert.firing)
        return;
    e->alert.firing = false;
    e->alert.ended_ms = when.wall_ms;
    e->changed_ms = when.now_ms;
}

/* Of further features of an incident, only the names are copied. */
static void refresh_members(struct ek_alert *own, const struct ek_alert *a)
{
    own->features_count = a->features_count;
    ek_alert_copy(own->features, sizeof own->features, a->features);
}

static void refresh(struct ek_alert_entry *e, const struct ek_alert *a, struct ek_alert_times when)
{
    struct ek_alert *own = &e->alert, was = *own;
    bool main = !strcmp(own->feature, a->feature) && !strcmp(own->segment, a->segment);
    if (needs_notification(own, a, main)) {
        e->revision++;
        e->changed_ms = when.now_ms;
    }
    refresh_members(own, a);
    if (!main)
        return;
    *own = *a;
    own->since_ms = was.since_ms;
    ek_alert_copy(own->class, sizeof own->class, was.class);
}

/* An alert that another instance sent counts as old. */
static void set_owner(struct ek_alert_entry *e, bool ours)
{
    e->is_inherited = e->is_inherited || (ours && !e->ours);
    e->ours = ours;
}

static void mark_received(struct ek_alert_entry *e, bool ours, struct ek_alert_times when)
{
    set_owner(e, ours);
    e->received_ms = when.now_ms;
}

static int fire(struct ek_alert_registry *b, const struct ek_alert *a, bool ours, bool replayed,
                struct ek_alert_times when, struct ek_alert_entry **out)
{
    struct ek_alert_entry *e = find(b, a);
    if (!e) {
        if (!(e = add(b, a, when)))
            return EK_ENOMEM;
        e->ours = ours;
        e->is_inherited = replayed || !ours;
    }
    if (!e->alert.firing)
        fire_again(e, a, when);
    mark_received(e, ours, when);
    *out = e;
    return EK_OK;
}

static struct finding *find_finding(struct ek_alert_registry *b, const struct ek_alert_update *n)
{
    for (size_t i = 0; i < b->findings; i++)
        if (b->finding[i].episode == n->episode && !strcmp(b->finding[i].feature, n->alert.feature))
            return &b->finding[i];
    return NULL;
}

static struct ek_alert_entry *find_cause(struct ek_alert_registry *b, uint32_t cause)
{
    for (size_t i = 0; cause && i < b->findings; i++)
        if (b->finding[i].cause == cause && (b->finding[i].seen || !b->replaying))
            return b->finding[i].entry;
    return NULL;
}

/* Call before the alert fires: an alert without its finding would never end. */
static int reserve_finding(struct ek_alert_registry *b)
{
    if (b->findings == FINDINGS_MAX)
        return EK_OK;
    struct finding *more = ek_grow(b->finding, b->findings, &b->findings_capacity, sizeof *more);
    if (!more)
        return EK_ENOMEM;
    b->finding = more;
    return EK_OK;
}

static struct finding *add_finding(struct ek_alert_registry *b, const struct ek_alert_update *n)
{
    if (b->findings == FINDINGS_MAX)
        return NULL;
    struct finding *f = &b->finding[b->findings++];
    *f = (struct finding){.episode = n->episode, .seen = true};
    ek_alert_copy(f->feature, sizeof f->feature, n->alert.feature);
    ek_alert_copy(f->segment, sizeof f->segment, n->alert.segment);
    return f;
}

/* A checkpoint stores the limit that blocks a finding, but not the alert of the limit. */
static int replay_limit(struct ek_alert_registry *b, const struct ek_alert_update *n, bool ours,
                        struct ek_alert_times when)
{
    struct ek_alert_entry *e;
    struct ek_alert a = {.kind = EK_ALERT_LIMIT_REACHED, .firing = true};
    a.factor = a.factor_low = a.factor_high = a.share = NAN;
    ek_alert_copy(a.limit, sizeof a.limit, n->limit);
    ek_alert_format_other(&a, "it blocks the action of open findings");
    return fire(b, &a, ours, true, when, &e);
}

static int open_finding(struct ek_alert_registry *b, const struct ek_alert_update *n, bool ours,
                        bool replayed, struct ek_alert_times when)
{
    struct finding *f = find_finding(b, n);
    struct ek_alert_entry *e = f && (f->seen || !b->replaying) ? f->entry : find_cause(b, n->cause);
    int rc = reserve_finding(b);
    if (!rc && !e) {
        rc = fire(b, &n->alert, ours, replayed, when, &e);
        f = find_finding(b, n); /* an eviction may have moved it */
    }
    if (rc)
        return rc;
    if (!f && !(f = add_finding(b, n)))
        return EK_ENOMEM;
    f->entry = e;
    f->seen = true;
    f->cause = n->cause;
    ek_alert_copy(f->limit, sizeof f->limit, n->limit);
    mark_received(e, ours, when);
    refresh(e, &n->alert, when);
    return replayed && *n->limit ? replay_limit(b, n, ours, when) : EK_OK;
}

static bool has_findings(const struct ek_alert_registry *b, const struct ek_alert_entry *e)
{
    for (size_t i = 0; i < b->findings; i++)
        if (b->finding[i].entry == e)
            return true;
    return false;
}

static void end_rollback(struct ek_alert_registry *b, const struct finding *f,
                         struct ek_alert_times when)
{
    struct ek_alert which = {.kind = EK_ALERT_ROUTE_ROLLED_BACK};
    ek_alert_copy(which.feature, sizeof which.feature, f->feature);
    ek_alert_copy(which.segment, sizeof which.segment, f->segment);
    struct ek_alert_entry *e = find(b, &which);
    if (e)
        end(e, when);
}

static void close_finding(struct ek_alert_registry *b, struct finding *f, bool accepted,
                          struct ek_alert_times when)
{
    struct ek_alert_entry *e = f->entry;
    end_rollback(b, f, when);
    *f = b->finding[--b->findings];
    e->received_ms = when.now_ms;
    if (has_findings(b, e))
        return;
    e->alert.accepted = accepted;
    end(e, when);
}

static void end_alert(struct ek_alert_registry *b, const struct ek_alert *a,
                      enum ek_alert_kind kind, bool ours, struct ek_alert_times when)
{
    struct ek_alert which = *a;
    which.kind = kind;
    which.class[0] = 0;
    struct ek_alert_entry *e = find(b, &which);
    if (!e)
        return;
    mark_received(e, ours, when);
    end(e, when);
}

int ek_alert_registry_add(struct ek_alert_registry *b, const struct ek_alert_update *n, bool ours,
                          bool replayed, struct ek_alert_times when)
{
    struct ek_alert_entry *e;
    struct finding *f;
    switch (n->what) {
    case EK_ALERT_FIRES: {
        int rc = fire(b, &n->alert, ours, replayed, when, &e);
        if (!rc)
            refresh(e, &n->alert, when);
        return rc;
    }
    case EK_ALERT_ENDS:
        end_alert(b, &n->alert, n->alert.kind, ours, when);
        return EK_OK;
    case EK_ALERT_FINDING_OPEN:
        return open_finding(b, n, ours, replayed, when);
    case EK_ALERT_FINDING_CLOSED:
        if ((f = find_finding(b, n))) {
            mark_received(f->entry, ours, when);
            close_finding(b, f, n->alert.accepted, when);
        }
        end_alert(b, &n->alert, EK_ALERT_ROUTE_ROLLED_BACK, ours, when);
        return EK_OK;
    default:
        return EK_OK;
    }
}

void ek_alert_registry_become_leader(struct ek_alert_registry *b)
{
    for (size_t i = 0; i < b->count; i++)
        set_owner(b->entry[i], true);
}

void ek_alert_registry_start_replay(struct ek_alert_registry *b)
{
    for (size_t i = 0; i < b->findings; i++)
        b->finding[i].seen = false;
    b->replaying = true;
}

void ek_alert_registry_stop_replay(struct ek_alert_registry *b, struct ek_alert_times when)
{
    for (size_t i = 0; i < b->findings;)
        if (!b->finding[i].seen)
            close_finding(b, &b->finding[i], false, when);
        else
            i++;
    for (size_t i = 0; i < b->count; i++) /* the replay may have moved its findings */
        if (b->entry[i]->alert.kind == EK_ALERT_DRIFT && !has_findings(b, b->entry[i]))
            end(b->entry[i], when);
    b->replaying = false;
}

static bool ends_with_guard(enum ek_alert_kind kind)
{
    return kind == EK_ALERT_ROUTE_ROLLED_BACK || kind == EK_ALERT_MODEL_DRIFT ||
           kind == EK_ALERT_LIMIT_REACHED;
}

void ek_alert_registry_reset(struct ek_alert_registry *b, struct ek_alert_times when)
{
    while (b->findings)
        close_finding(b, b->finding, false, when);
    for (size_t i = 0; i < b->count; i++)
        if (ends_with_guard(b->entry[i]->alert.kind))
            end(b->entry[i], when);
}

static bool has_limit(const struct ek_alert_registry *b, const char *limit)
{
    for (size_t i = 0; i < b->findings; i++)
        if (!strcmp(b->finding[i].limit, limit))
            return true;
    return false;
}

/* No event reports the end of a limit; findings name the limit that blocks them. */
static void age_limit(const struct ek_alert_registry *b, struct ek_alert_entry *e,
                      struct ek_alert_times when)
{
    if (*e->alert.limit && has_limit(b, e->alert.limit))
        e->received_ms = when.now_ms;
    if (when.now_ms - e->received_ms >= EK_ALERT_BRIEF_MS)
        end(e, when);
}

void ek_alert_registry_age(struct ek_alert_registry *b, struct ek_alert_times when)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->entry[i]->alert.kind == EK_ALERT_LIMIT_REACHED)
            age_limit(b, b->entry[i], when);
}
