/* Events: what happened in a guard or a stage, as values (docs/format/events.md).
 *
 * An event that a function returns is one block of memory with all of its texts: it stays good when
 * assets, segments and findings change, and ek_free gives it back. Events that callers fill
 * themselves borrow their texts. Texts are NULL where there is none.
 * Threads: a value; any thread may read it.
 */
#ifndef EK_GUARD_EVENT_H
#define EK_GUARD_EVENT_H

#include "detect/cells.h"
#include "plan/decisions.h"
#include "plan/plan.h"
#include "plan/policy.h"
#include "schema/manifest.h"
#include "serve/agreement_watch.h"

#include <stdbool.h>

enum { EK_EVENT_CAUSE_BYTES = sizeof "c-4294967295" };

enum ek_event_kind {
    EK_EVENT_TEXT, /* JSON that waited in a saved state */
    EK_EVENT_FINDING,
    EK_EVENT_PLAN,
    EK_EVENT_DECISION,
    EK_EVENT_LIMIT,
    EK_EVENT_MODEL_DRIFT,
    EK_EVENT_FLEET,
    EK_EVENT_RELOAD,
    EK_EVENT_KINDS
};

/* dimension NULL: all traffic; value NULL: EK_SEGMENT_OTHER. */
struct ek_event_place {
    const char *feature, *dimension, *value;
};

struct ek_event_finding {
    struct ek_event_place at;
    enum ek_finding_state state;
    uint32_t episode, cause; /* cause 0: none */
    uint64_t since_query;
    int64_t since_ms;
    enum ek_class class; /* EK_CLASS_NONE while suspected */
    double factor, factor_low, factor_high, share, spread_ratio;
    double exponent;           /* NaN: the class is not EK_POWER */
    const char *query_feature; /* its value is the factor */
    int units;                 /* likeliest first; a query feature as "query_feature:NAME" */
    const char *unit[1 + EK_UNIT_MATCHES];
    int categories;
    struct ek_category_change category[EK_CATEGORY_CHANGES];
    const char *signal, *reason;
    enum ek_action action;
    enum ek_mode mode;
    enum ek_bound limited; /* EK_BOUND_NONE: no limit */
    bool paused, stays;
    int members; /* features with the same cause; 0 without a cause */
    const char *const *member;
    const char *text; /* a sentence */
};

struct ek_event_entry {
    struct ek_event_place at;
    enum ek_action action;
    enum ek_mode mode;
    double percent; /* of the queries */
    enum ek_plan_source by;
    bool gone; /* its fault is gone, and a person has to end it */
};

struct ek_event_plan {
    uint64_t version;
    int count;
    struct ek_event_entry *entry;
};

struct ek_event_limit {
    enum ek_bound bound;
    int64_t most;
    int dimensions; /* of EK_BOUND_CELLS, else 0 */
    struct ek_cells_share dimension[EK_DIMENSIONS_MAX];
};

struct ek_event_model_drift {
    struct ek_agreement_view view;
    const char *text;
};

struct ek_event_fleet {
    const char *state, *instance, *text;
    bool wrong; /* what `state` names has begun, else it is over */
    bool name;  /* it is about the name of an instance, else about its plan */
};

struct ek_event_reload {
    bool done;
    const char *file, *message; /* first error */
    long line, column;          /* 0: not known */
    const char *outcome;        /* its other members as JSON */
};

struct ek_event {
    enum ek_event_kind kind;
    uint64_t query;  /* finding, plan, limit, model drift */
    int64_t time_ms; /* of the stream; fleet and reload: of the wall clock */
    size_t bytes;    /* of texts and lists, in an event that was returned */
    union {
        const char *text;
        struct ek_event_finding finding;
        struct ek_event_plan plan;
        struct ek_decision_record decision;
        struct ek_event_limit limit;
        struct ek_event_model_drift model_drift;
        struct ek_event_fleet fleet;
        struct ek_event_reload reload;
    };
};

/* Return NULL without memory. */
struct ek_event *ek_event_copy(const struct ek_event *v);
/* members [count]: features that share the cause of the finding. */
struct ek_event *ek_event_from_finding(const struct ek_manifest *m,
                                       const struct ek_finding *finding,
                                       const struct ek_decision *decision, const int *members,
                                       int count);
struct ek_event *ek_event_from_plan(const struct ek_manifest *m, const struct ek_cells *cells,
                                    const struct ek_plan *plan, uint64_t query, int64_t time_ms);
struct ek_event *ek_event_from_decision(const struct ek_decision_record *decision);
/* most: the limit. */
struct ek_event *ek_event_from_limit(enum ek_bound bound, int64_t most,
                                     const struct ek_cells *cells, uint64_t query, int64_t time_ms);
struct ek_event *ek_event_from_model_drift(const struct ek_agreement_view *v, uint64_t query,
                                           int64_t time_ms);

/* "finding", "plan", ...; NULL for EK_EVENT_TEXT. */
const char *ek_event_kind_name(enum ek_event_kind kind);
bool ek_event_same_place(const struct ek_event_place *a, const struct ek_event_place *b);
/* "c-17", or "" without a cause. Returns `text`. */
const char *ek_event_cause(const struct ek_event_finding *f, char text[EK_EVENT_CAUSE_BYTES]);
/* Return whether both report the same episode of a finding, or both model and upstream. */
bool ek_event_same_episode(const struct ek_event *a, const struct ek_event *b);
/* Return the state of a finding; model drift is confirmed or has recovered, else confirmed. */
enum ek_finding_state ek_event_finding_state(const struct ek_event *v);
/* Return whether a plan entry gives the output of some lists other scores. */
bool ek_event_entry_acts(const struct ek_event_entry *e);

struct ek_guard;
/* The oldest event of a guard that was not taken yet, good until the next call; NULL: there is
 * none. */
const struct ek_event *ek_guard_pop_event(struct ek_guard *g);

#endif
