#include "daemon/alerts/alert_registry.h"

#include "base/alloc.h"
#include "base/error.h"
#include "daemon/alerts/alert.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FINDINGS_MAX = 4096 };

/* An open finding and the alert that tells of it. */
struct finding {
    uint32_t episode, cause;
    char limit[EK_ALERT_NAME_TEXT_BYTES];
    char feature[EK_ALERT_NAME_BYTES], segment[EK_ALERT_NAME_BYTES];
    struct ek_alert_entry *entry;
    bool seen; /* since the recall began */
};

struct ek_alert_registry {
    struct ek_alert_entry **entry;
    size_t count, limit;
    struct finding *finding;
    size_t findings, findings_room;
    bool recalling;
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

static void drop_findings_of(struct ek_alert_registry *b, const struct ek_alert_entry *e)
{
    for (size_t i = 0; i < b->findings;)
        if (b->finding[i].entry == e)
            b->finding[i] = b->finding[--b->findings];
        else
            i++;
}

void ek_alert_registry_remove(struct ek_alert_registry *b, size_t number)
{
    drop_findings_of(b, b->entry[number]);
    ek_free(b->entry[number]);
    b->entry[number] = b->entry[--b->count];
}

/* How much its end is missed where it goes: by those who were told that it fires the most. */
static int missed(const struct ek_alert_entry *e)
{
    bool told = false;
    for (size_t i = 0; i < EK_ALERT_SINKS_MAX; i++) {
        if (e->told[i].firing || e->told[i].unsure)
            return 2;
        told = told || e->told[i].news;
    }
    if (told)
        return 0;
    return e->old ? 2 : 1;
}

/* Who goes for another. What fires stays: nobody would hear of its end, and it would come anew. */
static bool is_better_victim(const struct ek_alert_entry *a, const struct ek_alert_entry *b)
{
    int by = missed(a) - missed(b);
    return by ? by < 0 : a->changed_ms < b->changed_ms;
}

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
    e->news = 1;
    e->born_ms = e->changed_ms = e->heard_ms = when.now_ms;
    b->entry[b->count++] = e;
    return e;
}

/* What was told before is not told anew when it is back before anybody heard of its end. */
static void fire_again(struct ek_alert_entry *e, const struct ek_alert *a,
                       struct ek_alert_times when)
{
    e->alert = *a;
    e->born_ms = e->changed_ms = when.now_ms;
}

static void end(struct ek_alert_entry *e, struct ek_alert_times when)
{
    if (!e->alert.firing)
        return;
    e->alert.firing = false;
    e->alert.ended_ms = when.wall_ms;
    e->changed_ms = when.now_ms;
}

/* What a cause does to the feature that was there first stands for all; of the others the names. */
static void refresh_members(struct ek_alert *own, const struct ek_alert *a)
{
    own->features_count = a->features_count;
    ek_alert_copy(own->features, sizeof own->features, a->features);
}

/* Figures change all the time; what is done, and to what, is worth a word. */
static void refresh(struct ek_alert_entry *e, const struct ek_alert *a, struct ek_alert_times when)
{
    struct ek_alert *own = &e->alert, was = *own;
    bool main = !strcmp(own->feature, a->feature) && !strcmp(own->segment, a->segment);
    if (own->features_count != a->features_count || (main && strcmp(own->action, a->action) != 0)) {
        e->news++;
        e->changed_ms = when.now_ms;
    }
    refresh_members(own, a);
    if (!main)
        return;
    *own = *a;
    own->since_ms = was.since_ms;
    ek_alert_copy(own->class, sizeof own->class, was.class);
}

/* What another instance has told is old when it comes to us. */
static void belong(struct ek_alert_entry *e, bool ours)
{
    e->old = e->old || (ours && !e->ours);
    e->ours = ours;
}

static void mark_received(struct ek_alert_entry *e, bool ours, struct ek_alert_times when)
{
    belong(e, ours);
    e->heard_ms = when.now_ms;
}

static int add_fired(struct ek_alert_registry *b, const struct ek_alert *a, bool ours,
                     bool recalled, struct ek_alert_times when, struct ek_alert_entry **out)
{
    struct ek_alert_entry *e = find(b, a);
    if (!e) {
        if (!(e = add(b, a, when)))
            return EK_ENOMEM;
        e->ours = ours;
        e->old = recalled || !ours;
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
        if (b->finding[i].cause == cause && (b->finding[i].seen || !b->recalling))
            return b->finding[i].entry;
    return NULL;
}

/* Before its alert fires: one without a finding would have nobody to end it. */
static int reserve_finding(struct ek_alert_registry *b)
{
    if (b->findings == FINDINGS_MAX)
        return EK_OK;
    struct finding *more = ek_grow(b->finding, b->findings, &b->findings_room, sizeof *more);
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

/* No state says of a limit that it was told, but of findings that it holds them back. */
static int replay_limit(struct ek_alert_registry *b, const struct ek_alert_update *n, bool ours,
                        struct ek_alert_times when)
{
    struct ek_alert_entry *e;
    struct ek_alert a = {.kind = EK_ALERT_LIMIT_REACHED, .firing = true};
    a.factor = a.factor_low = a.factor_high = a.share = NAN;
    ek_alert_copy(a.limit, sizeof a.limit, n->limit);
    ek_alert_format_other(&a, "it holds findings back that are open");
    return add_fired(b, &a, ours, true, when, &e);
}

static int open_finding(struct ek_alert_registry *b, const struct ek_alert_update *n, bool ours,
                        bool recalled, struct ek_alert_times when)
{
    struct finding *f = find_finding(b, n);
    struct ek_alert_entry *e = f && (f->seen || !b->recalling) ? f->entry : find_cause(b, n->cause);
    int rc = reserve_finding(b);
    if (!rc && !e) {
        rc = add_fired(b, &n->alert, ours, recalled, when, &e);
        f = find_finding(b, n); /* room may have been made */
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
    return recalled && *n->limit ? replay_limit(b, n, ours, when) : EK_OK;
}

static bool has_findings(const struct ek_alert_registry *b, const struct ek_alert_entry *e)
{
    for (size_t i = 0; i < b->findings; i++)
        if (b->finding[i].entry == e)
            return true;
    return false;
}

static void end_withdrawn(struct ek_alert_registry *b, const struct finding *f,
                          struct ek_alert_times when)
{
    struct ek_alert which = {.kind = EK_ALERT_ROUTE_ROLLED_BACK};
    ek_alert_copy(which.feature, sizeof which.feature, f->feature);
    ek_alert_copy(which.segment, sizeof which.segment, f->segment);
    struct ek_alert_entry *e = find(b, &which);
    if (e)
        end(e, when);
}

static void close_finding(struct ek_alert_registry *b, struct finding *f,
                          struct ek_alert_times when)
{
    struct ek_alert_entry *e = f->entry;
    end_withdrawn(b, f, when);
    *f = b->finding[--b->findings];
    e->heard_ms = when.now_ms;
    if (!has_findings(b, e))
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
                          bool recalled, struct ek_alert_times when)
{
    struct ek_alert_entry *e;
    struct finding *f;
    switch (n->what) {
    case EK_ALERT_FIRES: {
        int rc = add_fired(b, &n->alert, ours, recalled, when, &e);
        if (!rc)
            refresh(e, &n->alert, when);
        return rc;
    }
    case EK_ALERT_ENDS:
        end_alert(b, &n->alert, n->alert.kind, ours, when);
        return EK_OK;
    case EK_ALERT_FINDING_OPEN:
        return open_finding(b, n, ours, recalled, when);
    case EK_ALERT_FINDING_CLOSED:
        if ((f = find_finding(b, n))) {
            mark_received(f->entry, ours, when);
            close_finding(b, f, when);
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
        belong(b->entry[i], true);
}

void ek_alert_registry_start_replay(struct ek_alert_registry *b)
{
    for (size_t i = 0; i < b->findings; i++)
        b->finding[i].seen = false;
    b->recalling = true;
}

void ek_alert_registry_stop_replay(struct ek_alert_registry *b, struct ek_alert_times when)
{
    for (size_t i = 0; i < b->findings;)
        if (!b->finding[i].seen)
            close_finding(b, &b->finding[i], when);
        else
            i++;
    for (size_t i = 0; i < b->count; i++) /* its findings may have gone to another one */
        if (b->entry[i]->alert.kind == EK_ALERT_DRIFT && !has_findings(b, b->entry[i]))
            end(b->entry[i], when);
    b->recalling = false;
}

static bool ends_with_guard(enum ek_alert_kind kind)
{
    return kind == EK_ALERT_ROUTE_ROLLED_BACK || kind == EK_ALERT_MODEL_DRIFT ||
           kind == EK_ALERT_LIMIT_REACHED;
}

void ek_alert_registry_reset(struct ek_alert_registry *b, struct ek_alert_times when)
{
    while (b->findings)
        close_finding(b, b->finding, when);
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

/* No event says that a limit holds no more, but findings say which one holds them back. */
static void age_limit(const struct ek_alert_registry *b, struct ek_alert_entry *e,
                      struct ek_alert_times when)
{
    if (*e->alert.limit && has_limit(b, e->alert.limit))
        e->heard_ms = when.now_ms;
    if (when.now_ms - e->heard_ms >= EK_ALERT_BRIEF_MS)
        end(e, when);
}

void ek_alert_registry_age(struct ek_alert_registry *b, struct ek_alert_times when)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->entry[i]->alert.kind == EK_ALERT_LIMIT_REACHED)
            age_limit(b, b->entry[i], when);
}
