/* Plan: versioned set of entries (feature, segment, treatment).
 *
 * A list is scored under exactly one plan. The most specific entry applies: a segment takes
 * precedence over all traffic. The mode of an entry is observe (report only), shadow (score, do not
 * forward), canary (a percentage of lists) or enforce (all lists). A pin applies to all lists.
 *
 * The desired plan has the entries that findings request, all of them enforced. plan/plan_compose.h
 * makes the current plan from it.
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
    EK_PERCENT_WHOLE = 10000, /* all lists, as ek_canary_bucket */
    EK_ROUTING_ENTRIES = 32
};

/* The last two are pins. */
enum ek_plan_source { EK_BY_FINDING, EK_BY_OPERATOR, EK_BY_RULES, EK_PLAN_SOURCE_COUNT };

/* Repair of feature values (serve/feature_writer.h). */
enum ek_repair_by {
    EK_REPAIR_UNKNOWN,       /* no repair: values stay */
    EK_REPAIR_NUMBER,        /* divide all lists by the number */
    EK_REPAIR_LIST,          /* divide lists whose level is nearer to the fault than to normal */
    EK_REPAIR_ITEM,          /* divide items whose value is nearer to the fault than to normal */
    EK_REPAIR_LEVEL,         /* put lists on the usual level of their stratum; number 1: all, else
                              * those that LIST would divide */
    EK_REPAIR_QUERY_FEATURE, /* divide by the query feature */
    EK_REPAIR_POWER,         /* invert scale * x^number */
    EK_REPAIR_OFFSET,        /* subtract the number */
    EK_REPAIR_SIGN,          /* reverse the sign */
    EK_REPAIR_MISSING,       /* fill missing values with the typical value of the list */
    EK_REPAIR_ZERO,          /* fill zeros with the typical value of the list */
    EK_REPAIR_ALL,           /* fill all values with the usual level */
    EK_REPAIR_BLANK,         /* make all values missing */
    EK_REPAIR_COUNT
};

/* Return whether the repair depends on the usual level. */
static inline bool ek_repair_uses_level(enum ek_repair_by by)
{
    return by == EK_REPAIR_LIST || by == EK_REPAIR_ITEM || by == EK_REPAIR_LEVEL ||
           by == EK_REPAIR_MISSING || by == EK_REPAIR_ZERO || by == EK_REPAIR_ALL;
}

/* Known correction of a fault. */
struct ek_plan_repair {
    double factor;        /* for comparisons: divide the value by it; NaN: unknown */
    int query_feature;    /* its value is the divisor; -1: use factor */
    enum ek_repair_by by; /* kind; it selects the fields below */
    bool exact;           /* the number is exact: a unit, a root, 2 or 3 */
    double number;        /* divisor, exponent or offset */
    double scale;         /* POWER: factor before the power. OFFSET: standard error */
};

/* `until_ms` and `min_duration_ms` of an entry whose fault has cleared and that waits for an
 * operator (`recover: manual`). Later than any event time. */
#define EK_PLAN_AWAITS_MS (INT64_C(1) << 52)

struct ek_plan_entry {
    int feature, cell; /* item feature; cell */
    struct ek_treatment treatment;
    enum ek_mode mode; /* observe: only modes of segments let some lists act */
    int percent;       /* hundredths: a canary acts on lower buckets */
    enum ek_plan_source by;
    struct ek_plan_repair repair;
    int64_t since_ms;
    int64_t until_ms;        /* remove at this event time, after recovery; -1: no end */
    int64_t min_duration_ms; /* maximum distance of until_ms from now */
    uint32_t restarts;       /* of its rollout */
};

/* Mode of a feature for the lists of a cell, for entries of any cell. */
struct ek_plan_mode {
    int feature, cell;
    enum ek_mode mode;
    bool own; /* from the feature's rule, which takes precedence over `defaults` */
};

struct ek_plan {
    uint64_t version; /* 0: never had an entry */
    bool paused;      /* by an operator: no entries */
    uint64_t normal;  /* in a fleet: version of its accepted levels */
    int count, modes;
    struct ek_plan_entry entry[EK_PLAN_MAX];
    struct ek_plan_mode mode[EK_PLAN_MODES_MAX];
};

/* Properties of a list that decide its treatment. */
struct ek_plan_list {
    const int16_t *cells; /* all traffic first; -1: none */
    int cell_count;
    int bucket;   /* ek_canary_bucket */
    bool sources; /* the list can be routed per source; otherwise such entries do not apply */
};

/* Outcome of a list. */
enum ek_list_outcome {
    EK_LIST_PASSED,
    EK_LIST_SHADOW,
    EK_LIST_CANARY,
    EK_LIST_ROUTED,
    EK_LIST_PAUSED,
    EK_LIST_REPAIRED, /* feature values changed */
    EK_LIST_UNDECODABLE
};

/* Treatment of one list under a plan. The caller owns the arrays [routable features]; they are
 * valid if `desired` is not 0. */
struct ek_plan_routing {
    struct ek_treatment *acts;  /* treatment of the output */
    struct ek_treatment *would; /* treatment if shadow and canary entries acted on all lists */
    int acted, desired;         /* number of treated features in each; desired >= acted */
    enum ek_list_outcome outcome;
    int entries; /* first entries in `would`: of findings, then pins */
    int16_t entry[EK_ROUTING_ENTRIES];
    uint64_t reach[EK_PLAN_MAX / 64]; /* all entries in `would`, one bit each */
};

/* Return whether the routing includes an entry. */
static inline bool ek_routing_has(const struct ek_plan_routing *r, int entry)
{
    return r->desired && r->reach[entry / 64] >> (entry % 64) & 1;
}

/* Return the name of a source, a static string: "finding", "operator", "rules". */
const char *ek_plan_source_name(enum ek_plan_source by);
/* Return the name of a repair, a static string: "number", "list", "item", ...; "unknown". */
const char *ek_repair_by_name(enum ek_repair_by by);
/* Return the name of an outcome, a static string: "pass", "shadow", "canary", "routed", "paused",
 * "repaired", "undecodable". */
const char *ek_list_outcome_name(enum ek_list_outcome w);

/* Return the repair that an entry carries out: its own, or that of the action of a pin. */
struct ek_plan_repair ek_plan_entry_repair(const struct ek_plan_entry *e);
/* Return an initialized entry for a finding: enforced, unknown repair, start time 0, no end. */
struct ek_plan_entry ek_plan_entry_init(int feature, int cell, struct ek_treatment treatment);
/* Add an entry, or change the treatment of an existing one. The version rises only if the set of
 * actions changes; a new value of the same action does not count. Return 1 if it rose, else 0. No
 * effect if the plan is full. */
int ek_plan_set(struct ek_plan *p, int feature, int cell, struct ek_treatment treatment,
                int64_t now_ms);
/* Return the index of the entry of a feature and cell, or -1. */
int ek_plan_find(const struct ek_plan *p, int feature, int cell);
/* Return 1 if the plan has an entry of this feature and cell, else 0. */
int ek_plan_has(const struct ek_plan *p, int feature, int cell);
/* Return the entry of a feature and cell, valid until the plan changes, or NULL. */
const struct ek_plan_entry *ek_plan_entry_at(const struct ek_plan *p, int feature, int cell);
/* Mark the entry of a feature and cell as waiting for an operator: it stays until one resumes or
 * ends it. No effect without such an entry. */
void ek_plan_await(struct ek_plan *p, int feature, int cell);
/* Return whether the entry waits for an operator. */
static inline bool ek_plan_awaits(const struct ek_plan_entry *e)
{
    return e->until_ms == EK_PLAN_AWAITS_MS;
}
/* Return 1 if ek_plan_set has space for the entry, else 0. */
int ek_plan_has_space(const struct ek_plan *p, int feature, int cell);
/* Remove an entry. Return 1 if it existed, else 0. */
int ek_plan_remove(struct ek_plan *p, int feature, int cell);
/* Set the end of an entry: now_ms, or later if it is not in the plan for min_duration_ms yet.
 * ek_plan_expire removes it then. No effect without such an entry. */
void ek_plan_end(struct ek_plan *p, int feature, int cell, int64_t now_ms, int64_t min_duration_ms);
/* Remove entries whose end is not after now_ms. Return 1 if the version rose, else 0. Event time
 * may jump back: an end further away than min_duration_ms is moved to now_ms + min_duration_ms. */
int ek_plan_expire(struct ek_plan *p, int64_t now_ms);
/* Set *out to the treatments of a list; routable_of_item [features]. Of the entries of a feature a
 * pin takes precedence over a finding, then the more specific entry. A finding's entry has the most
 * careful matching mode of the plan: of the feature, else of `defaults`, else its own. Features
 * without treatment get EK_ACT_NONE. An empty plan costs one comparison. */
void ek_plan_treat(const struct ek_plan *p, const struct ek_plan_list *list,
                   const int *routable_of_item, int routables, struct ek_plan_routing *out);
/* Return whether two plans treat every list alike and repair values alike. Times, versions and
 * values of other treatments may differ. */
bool ek_plan_same(const struct ek_plan *a, const struct ek_plan *b);

/* Possible modes of the lists in the scope of an entry, if the rules set modes for some segments.
 * Modes combine as in ek_plan_treat, so an entry of all traffic or of one dimension can have lists
 * with several modes. */
struct ek_plan_outcomes {
    const struct ek_plan_mode *mode; /* one per feature, level and cell */
    int modes;
    int (*dimension_of)(void *context, int cell); /* -1: all traffic */
    void *context;
};

/* Return the bit of a mode in a set of modes. */
static inline unsigned ek_mode_bit(enum ek_mode m)
{
    return 1u << m;
}

/* Return the set of modes (ek_mode_bit) that an entry has in lists. mode: the most specific mode of
 * its feature and cell. */
unsigned ek_plan_get_modes(const struct ek_plan_outcomes *w, int feature, int cell,
                           enum ek_mode mode);

/* Read or write a repair without `factor` and `query_feature`. Errors are in s->rc. */
void ek_plan_repair_serialize(struct ek_plan_repair *r, struct ek_serialize *s);
/* Read or write a plan as a checkpoint part (docs/dev/formats/state.md). `features` and `cells` are
 * exclusive upper bounds. Errors are in s->rc. */
void ek_plan_serialize(struct ek_plan *p, struct ek_serialize *s, int features, int cells);

#endif
