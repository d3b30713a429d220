/* Events of a guard or the daemon as values (docs/format/events.md).
 *
 * A returned event is one memory block with all its strings, independent of assets, segments and
 * findings; free it with ek_free. Events that callers fill refer to the caller's strings. Strings
 * may be NULL. Any thread may read an event.
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

enum { EK_EVENT_INCIDENT_BYTES = sizeof "c-4294967295" };

enum ek_event_kind {
    EK_EVENT_TEXT, /* JSON of a pending event from a checkpoint */
    EK_EVENT_FINDING,
    EK_EVENT_PLAN,
    EK_EVENT_DECISION,
    EK_EVENT_LIMIT,
    EK_EVENT_MODEL_DRIFT,
    EK_EVENT_FLEET,
    EK_EVENT_RELOAD,
    EK_EVENT_INPUT,
    EK_EVENT_KINDS
};

/* dimension NULL: all traffic; value NULL: EK_SEGMENT_OTHER. */
struct ek_event_place {
    const char *feature, *dimension, *value;
};

struct ek_event_finding {
    struct ek_event_place at;
    enum ek_finding_state state;
    uint32_t number, incident; /* finding and incident number; cause 0: none */
    uint64_t since_query;
    int64_t since_ms;
    enum ek_class class; /* EK_CLASS_NONE while suspected */
    double factor, factor_low, factor_high, fraction, spread_ratio;
    bool varies; /* lists have factors of their own */
    bool mix;    /* the mix of the traffic explains the shift */
    /* Fraction of the values that are missing, zero or negative, now and in training; NaN unless
     * the class is a fraction of values. */
    double value_fraction, trained_fraction;
    double exponent;             /* NaN unless the class is EK_POWER */
    double offset, offset_error; /* of EK_OFFSET; error: standard error; NaN: unknown */
    const char *query_feature;   /* its value is the factor */
    int units;                   /* most likely first; a query feature is "query_feature:NAME" */
    const char *unit[1 + EK_UNIT_MATCHES];
    double ratio[1 + EK_UNIT_MATCHES];      /* exact factor of the unit; NaN: a query feature */
    const char *match[1 + EK_UNIT_MATCHES]; /* "listed", "fits" or "coincidence" */
    int categories;
    struct ek_category_change category[EK_CATEGORY_CHANGES];
    const char *trigger, *reason;
    enum ek_action action;
    enum ek_mode mode;
    enum ek_bound blocked_by; /* EK_BOUND_NONE: no limit */
    bool paused, stays;
    bool no_model; /* nothing can be mitigated, since scores are written without a model */
    int members;   /* features of the incident; 0 without one */
    const char *const *member;
    const char *text; /* a sentence */
};

struct ek_event_entry {
    struct ek_event_place at;
    enum ek_action action;
    enum ek_mode mode;
    double percent; /* of the lists */
    enum ek_plan_source source;
    bool fault_cleared;           /* the fault has cleared, and the route waits for an operator */
    struct ek_plan_repair repair; /* by EK_REPAIR_UNKNOWN: none */
    const char *query_feature;    /* of the repair; NULL: none */
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
    const char *query_feature; /* of EK_BOUND_QUERIES: one that is outside; NULL: unknown */
};

struct ek_event_model_drift {
    struct ek_agreement_view view;
    const char *text;
};

struct ek_event_fleet {
    const char *state, *instance, *text;
    bool wrong; /* the condition of `state` has begun; false: ended */
    bool name;  /* about the instance name; false: about its plan */
};

struct ek_event_reload {
    bool done;
    const char *file, *message; /* first error */
    long line, column;          /* 0: unknown */
    const char *outcome;        /* remaining members as JSON */
};

/* Condition of the message flow (docs/run.md). */
struct ek_event_input {
    const char *condition, *instance, *text;
    bool active;       /* it has begun; false: ended */
    const char *topic; /* of lost messages, else NULL */
    int partition;
    int64_t from, count; /* first lost offset, number of offsets */
};

struct ek_event {
    enum ek_event_kind kind;
    uint64_t query;  /* list number of finding, plan, limit, model drift */
    int64_t time_ms; /* event time; fleet, reload and input: wall clock */
    size_t bytes;    /* of strings and arrays, in a returned event */
    union {
        const char *text;
        struct ek_event_finding finding;
        struct ek_event_plan plan;
        struct ek_decision_record decision;
        struct ek_event_limit limit;
        struct ek_event_model_drift model_drift;
        struct ek_event_fleet fleet;
        struct ek_event_reload reload;
        struct ek_event_input input;
    };
};

/* Return a copy of an event, or NULL if out of memory. */
struct ek_event *ek_event_copy(const struct ek_event *v);
/* Return an event of a finding and the decision on it; members [count]: features of its incident.
 * NULL if out of memory. */
struct ek_event *ek_event_from_finding(const struct ek_manifest *m,
                                       const struct ek_finding *finding,
                                       const struct ek_decision *decision, const int *members,
                                       int count);
/* Set *out to a plan entry, with views of names of manifest and cells. */
void ek_event_entry_init(struct ek_event_entry *out, const struct ek_manifest *m,
                         const struct ek_cells *cells, const struct ek_plan_entry *e);
/* Return an event of a new plan; `query`: number of the next list. NULL if out of memory. */
struct ek_event *ek_event_from_plan(const struct ek_manifest *m, const struct ek_cells *cells,
                                    const struct ek_plan *plan, uint64_t query, int64_t time_ms);
/* Return an event of a decision. NULL if out of memory. */
struct ek_event *ek_event_from_decision(const struct ek_decision_record *decision);
/* Return an event of an exceeded limit; most: its value; query_feature: as in ek_event_limit. NULL
 * if out of memory. */
struct ek_event *ek_event_from_limit(enum ek_bound bound, int64_t most,
                                     const struct ek_cells *cells, const char *query_feature,
                                     uint64_t query, int64_t time_ms);
/* Return an event of a changed agreement of the model with upstream. NULL if out of memory. */
struct ek_event *ek_event_from_model_drift(const struct ek_agreement_view *v, uint64_t query,
                                           int64_t time_ms);

/* Return the name of a kind, a static string: "finding", "plan", ...; NULL for EK_EVENT_TEXT. */
const char *ek_event_kind_name(enum ek_event_kind kind);
/* Return whether feature, dimension and value are equal; NULL equals only NULL. */
bool ek_event_same_place(const struct ek_event_place *a, const struct ek_event_place *b);
/* Write the incident id, such as "c-17", or "" without an incident. Return `text`. */
const char *ek_event_incident(const struct ek_event_finding *f, char text[EK_EVENT_INCIDENT_BYTES]);
/* Return whether both events concern the same finding, or both the agreement of the model. */
bool ek_event_same_episode(const struct ek_event *a, const struct ek_event *b);
/* Return the state of a finding. Model drift is confirmed or recovered; other events are
 * confirmed. */
enum ek_finding_state ek_event_finding_state(const struct ek_event *v);
/* Return whether a plan entry replaces scores of some lists. */
bool ek_event_entry_acts(const struct ek_event_entry *e);

#endif
