/* The plan: the versioned set of (feature, cell -> treatment) in force.
 *
 * A list is scored under exactly one plan. The most specific entry wins: a segment's over that of
 * all traffic. How far an entry acts is its mode: only told (observe), scored beside (shadow), on a
 * percentage of the queries (canary), on all lists (enforce); a pin acts on all.
 * Two plans are of this type. `wanted` is what findings ask for, changed by ek_plan_set and the
 * others; its entries are all enforced. What is in force is made of it (decide/compose.h).
 * Owner: the caller.
 */
#ifndef EK_PLAN_PLAN_H
#define EK_PLAN_PLAN_H

#include "base/serialize.h"
#include "schema/enum_names.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    EK_PLAN_MAX = 1024,
    EK_PLAN_MODES_MAX = 512,
    EK_PERCENT_WHOLE = 10000, /* all queries, in hundredths of a percent: buckets of bucket.h */
    EK_ROUTING_ENTRIES = 32
};

/* The last two are pins. */
enum ek_plan_source { EK_BY_FINDING, EK_BY_PERSON, EK_BY_RULES, EK_BYS };

/* What would undo the fault: the value over it. */
struct ek_plan_repair {
    double factor;     /* NaN: not known */
    int query_feature; /* whose value it is; -1: one number */
};

/* `until_ms` and `min_duration_ms` of an entry whose fault is gone and that stays until a person
 * ends it
 * (`recover: manual`): later than any time there is. */
#define EK_PLAN_AWAITS_MS (INT64_C(1) << 52)

struct ek_plan_entry {
    int feature, cell; /* item feature and cell numbers */
    struct ek_treatment treatment;
    enum ek_mode mode; /* observe only where `mode` of the plan lets some lists act */
    int percent;       /* hundredths: a canary acts on the buckets below it */
    enum ek_plan_source by;
    struct ek_plan_repair repair;
    int64_t since_ms;
    int64_t until_ms;        /* recovered: taken out at this time; -1: stays */
    int64_t min_duration_ms; /* of until_ms: it is never further away than this */
    uint32_t turns;          /* of its rollout */
};

/* The mode of a feature for the lists of a cell, whatever cell the entry is of. */
struct ek_plan_mode {
    int feature, cell;
    enum ek_mode mode;
    bool own; /* said of the feature itself: it goes before what `defaults` say */
};

struct ek_plan {
    uint64_t version; /* 0: never had an entry */
    bool paused;      /* by a person: it has no entries then */
    uint64_t normal;  /* in a fleet: version of the accepted levels that belong to it */
    int count, modes;
    struct ek_plan_entry entry[EK_PLAN_MAX];
    struct ek_plan_mode mode[EK_PLAN_MODES_MAX];
};

/* What of a list its treatments follow from. */
struct ek_plan_list {
    const int16_t *cells; /* all traffic first; -1: none */
    int cell_count;
    int bucket;   /* ek_canary_bucket */
    bool sources; /* it can be routed by source; where it cannot, such an entry is as if it were
                   * not there */
};

/* What became of a list. */
enum ek_list_outcome {
    EK_LIST_PASSED,
    EK_LIST_SHADOW,
    EK_LIST_CANARY,
    EK_LIST_ROUTED,
    EK_LIST_PAUSED
};

/* What a plan has for one list. The arrays [K] by routable number are the caller's; they are
 * meaningful when `wanted` is not 0. */
struct ek_plan_routing {
    struct ek_treatment *acts;  /* what the output is scored with */
    struct ek_treatment *would; /* the same if all acted that is in shadow or outside its canary */
    int acted, desired;         /* features treated in each; wanted >= acted */
    enum ek_list_outcome outcome;
    int entries; /* of the plan that are in `would`, the first of them: findings', then pins */
    int16_t entry[EK_ROUTING_ENTRIES];
    uint64_t reach[EK_PLAN_MAX / 64]; /* all entries in `would`, a bit for each */
};

static inline bool ek_routing_has(const struct ek_plan_routing *r, int entry)
{
    return r->desired && r->reach[entry / 64] >> (entry % 64) & 1;
}

/* "finding", "person", "rules". */
const char *ek_plan_source_name(enum ek_plan_source by);
/* "pass", "shadow", "canary", "routed", "paused". */
const char *ek_list_outcome_name(enum ek_list_outcome w);

/* An entry as a finding asks for it: enforced, repair not known, of time 0, stays. */
struct ek_plan_entry ek_plan_entry_find(int feature, int cell, struct ek_treatment treatment);
/* Puts an entry in, or changes its treatment and keeps it. The version rises when the set of
 * actions changed; a better value of the same action is taken silently. Returns whether the version
 * rose; nothing happens at EK_PLAN_MAX. */
int ek_plan_set(struct ek_plan *p, int feature, int cell, struct ek_treatment treatment,
                int64_t now_ms);
/* The number of an entry in `entry`; -1: there is none. */
int ek_plan_find(const struct ek_plan *p, int feature, int cell);
int ek_plan_has(const struct ek_plan *p, int feature, int cell);
/* NULL: there is none. */
const struct ek_plan_entry *ek_plan_entry_at(const struct ek_plan *p, int feature, int cell);
/* Lets it stay until a person ends it. */
void ek_plan_await(struct ek_plan *p, int feature, int cell);
static inline bool ek_plan_awaits(const struct ek_plan_entry *e)
{
    return e->until_ms == EK_PLAN_AWAITS_MS;
}
/* Whether ek_plan_set would take it. */
int ek_plan_has_space(const struct ek_plan *p, int feature, int cell);
int ek_plan_remove(struct ek_plan *p, int feature, int cell);
/* Lets an entry end once it has been in force for min_duration_ms, now or later. */
void ek_plan_end(struct ek_plan *p, int feature, int cell, int64_t now_ms, int64_t min_duration_ms);
/* Takes out what has ended; returns whether the version rose. Times may jump: an end that is
 * further away than the hold was set by a clock that was wrong, and comes a hold from now. */
int ek_plan_expire(struct ek_plan *p, int64_t now_ms);
/* How many features have an entry. */
int ek_plan_features(const struct ek_plan *p);
/* The treatments of a list; routable_of_item [F]. Of the entries of a feature a pin wins over what
 * findings ask for, then the more specific. The mode of one by a finding is the most careful that
 * the plan's `mode` has for the list, the feature's own before those of `defaults`, else that of
 * the entry. What is not treated is EK_ACT_NONE. An empty plan costs one comparison. */
void ek_plan_apply(const struct ek_plan *p, const struct ek_plan_list *list,
                   const int *routable_of_item, int routables, struct ek_plan_routing *out);
/* Whether they treat every list alike, the values of treatments, times and versions aside. */
bool ek_plan_same(const struct ek_plan *a, const struct ek_plan *b);

/* Which modes the lists that an entry reaches can get, by words that the rules have for some cells.
 *
 * A list's mode is the most careful that words of its own cells say, those of the feature before
 * those of `defaults`, else that of the entry; an entry of all traffic, or of one dimension, has
 * lists of many modes then. Pure.
 */
struct ek_plan_outcomes {
    const struct ek_plan_mode *mode; /* one per feature, level and cell */
    int modes;
    int (*dimension_of)(void *context, int cell); /* -1: all traffic */
    void *context;
};

/* A set of modes: 1 << mode of each. */
static inline unsigned ek_mode_bit(enum ek_mode m)
{
    return 1u << m;
}

/* Of an entry of this feature and cell; mode: what the most specific word says of it. */
unsigned ek_plan_get_modes(const struct ek_plan_outcomes *w, int feature, int cell,
                           enum ek_mode mode);

/* The plan as a part of the state (docs/format/state.md). */
/* Its entries are of features and cells below these. */
void ek_plan_serialize(struct ek_plan *p, struct ek_serialize *s, int features, int cells);

#endif
