/* Incident log: the last incidents of a guard, for the API and the checkpoint.
 *
 * An incident starts when a finding is confirmed and ends when its last finding ends. It is shown
 * by its finding with the largest factor. A finding that returns, under the number of a past
 * incident, opens that incident again. The log refers to segments by name, so it remains valid
 * when assets change.
 *
 * It retains the last EK_INCIDENTS_RETAINED incidents, numbered from 1. An incident follows at
 * most EK_INCIDENT_FINDINGS findings; further ones are ignored.
 */
#ifndef EK_GUARD_INCIDENT_LOG_H
#define EK_GUARD_INCIDENT_LOG_H

#include "base/serialize.h"
#include "guard/event.h"

#include <stdbool.h>

enum {
    EK_INCIDENTS_RETAINED = 128,
    EK_INCIDENTS_PER_PART = 16, /* in one part of the checkpoint */
    EK_INCIDENTS_PARTS = EK_INCIDENTS_RETAINED / EK_INCIDENTS_PER_PART,
    EK_INCIDENT_FINDINGS = 64
};

struct ek_incident_finding {
    struct ek_event_place at; /* owned */
    uint32_t number;          /* of the finding; 0: unknown */
    bool open;
};

/* Displacement of items by the action: upstream order to planned order. */
struct ek_incident_ranks {
    uint64_t lists; /* compared lists; 0: none */
    double tau, top10, places, change, change_p95;
};

struct ek_incident {
    uint64_t sequence;           /* number in the log */
    uint32_t id, current;        /* incident number at its start, and for matching; 0: none */
    uint64_t changes;            /* counts changes, for checkpoints */
    int times;                   /* number of starts */
    enum ek_finding_state state; /* EK_CONFIRMED: open; else EK_RECOVERED or EK_DISMISSED */
    int64_t from_ms, to_ms;      /* event time; to_ms -1: open */
    uint64_t from_list, to_list; /* list numbers; to_list: 0 while open */
    int head, count, treated;    /* treated: finding whose treatment is shown */
    struct ek_incident_finding finding[EK_INCIDENT_FINDINGS];
    enum ek_class class; /* of the head */
    double factor, factor_low, factor_high, fraction;
    double ratio;               /* exact factor of the unit; NaN: none */
    char *unit, *text, *reason; /* likely unit, sentence, reason of a dismissal; NULL: none */
    enum ek_action action;      /* treatment; without one, the action of the rules */
    enum ek_mode mode;
    bool acts;              /* the plan changes lists of a finding */
    int64_t mitigated_ms;   /* event time of the first treatment; -1: none */
    uint64_t treated_lists; /* lists that the treatment changed */
    uint64_t counted;       /* part of treated_lists in the current statistics; not stored */
    struct ek_incident_ranks ranks;
    enum ek_guardrail guardrail; /* of the last rollback */
    double observed, limit;
};

struct ek_incident_log;

/* Create an empty log. Return 0, or EK_ENOMEM. */
int ek_incident_log_new(struct ek_incident_log **out);
void ek_incident_log_free(struct ek_incident_log *l);
/* Apply an event of a finding; suspected findings have no effect. Return 0, or EK_ENOMEM with the
 * event ignored. */
int ek_incident_log_add(struct ek_incident_log *l, const struct ek_event *v);
/* Record a rollback in the open incident of its segment. Other decisions have no effect. */
void ek_incident_log_add_decision(struct ek_incident_log *l, const struct ek_decision_record *m);
/* End the open findings for which `is_open` is false, or all if it is NULL. */
void ek_incident_log_end(struct ek_incident_log *l, enum ek_finding_state state, uint64_t query,
                         int64_t time_ms,
                         bool (*is_open)(void *context, const struct ek_event_place *at),
                         void *context);
/* Forget the incident numbers, because the detector restarts and assigns them again. */
void ek_incident_log_detach(struct ek_incident_log *l);
/* Append the incidents of another log, which stays unchanged, with new numbers. Incidents that both
 * have are merged. Return 0, or EK_ENOMEM; some are then appended. */
int ek_incident_log_merge(struct ek_incident_log *l, const struct ek_incident_log *from);

/* Return the highest number; 0: none. */
uint64_t ek_incident_log_last(const struct ek_incident_log *l);
/* Return the incident of this number, which the caller may change with an increment of `changes`,
 * or NULL if unknown or evicted. */
struct ek_incident *ek_incident_log_at(const struct ek_incident_log *l, uint64_t number);

/* Read or write part 0 .. EK_INCIDENTS_PARTS - 1; read into an empty log. Errors are in s->rc. */
void ek_incident_log_serialize(struct ek_incident_log *l, struct ek_serialize *s, int part);
/* Return the mark of a part, 0 if it is empty. A part is unchanged as long as its mark is the
 * same. */
uint64_t ek_incident_log_mark(const struct ek_incident_log *l, int part);

#endif
