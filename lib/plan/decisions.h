/* Decision log: changes of the plan with time, actor, reason and effect, for the history, the
 * alerts topic and the checkpoint.
 *
 * It retains the last EK_DECISIONS_RETAINED decisions, numbered from 1. In a fleet the leader
 * numbers them, and a known or evicted number is ignored. Numbers may be missing.
 */
#ifndef EK_PLAN_DECISIONS_H
#define EK_PLAN_DECISIONS_H

#include "base/serialize.h"
#include "schema/enum_names.h"
#include "plan/rollout.h"

#include <stdbool.h>

/* Segment value of all values without a separate cell. */
#define EK_SEGMENT_OTHER "(other)"

enum {
    EK_DECISIONS_RETAINED = 1024,
    EK_DECISIONS_PER_PART = 64, /* in one part of the checkpoint */
    EK_DECISIONS_PARTS = EK_DECISIONS_RETAINED / EK_DECISIONS_PER_PART
};

enum ek_decision_kind {
    EK_DECIDED_ROUTE,    /* a route starts */
    EK_DECIDED_END,      /* a route ends */
    EK_DECIDED_STEP,     /* a canary percentage changes */
    EK_DECIDED_ROLLBACK, /* a guardrail rolls a route back */
    EK_DECIDED_RELAPSE,  /* as ROUTE, for a relapse */
    EK_DECIDED_LIMIT,    /* the rules limit the routes */
    EK_DECIDED_PIN,
    EK_DECIDED_UNPIN,
    EK_DECIDED_EXPIRE, /* a pin expires */
    EK_DECIDED_ACCEPT,
    EK_DECIDED_REVERT,
    EK_DECIDED_PAUSE,
    EK_DECIDED_RESUME,
    EK_DECIDED_RELOAD,
    EK_DECISION_KINDS
};

/* Return the name of a kind, a static string: "route", "end", ... */
const char *ek_decision_kind_name(enum ek_decision_kind d);
/* Return the enum ek_decision_kind with this name, or -1. */
int ek_decision_kind_parse(const char *word);

/* Strings may be NULL; the log has copies. */
struct ek_decision_record {
    uint64_t number;        /* 0: not numbered yet */
    uint64_t query;         /* number of the first affected list */
    uint64_t before, after; /* versions of the plan */
    uint64_t accept;        /* number of the new or reverted accept; 0: none */
    uint64_t normal;        /* of an accept: version of the accepted levels after it */
    int64_t time_ms;        /* event time */
    enum ek_decision_kind kind;
    uint32_t finding;    /* 0: none */
    enum ek_class class; /* EK_CLASS_NONE: none */
    enum ek_action action;
    enum ek_guardrail guardrail;
    double factor, factor_low, factor_high, fraction; /* NaN: none */
    double observed, limit;                           /* of a guardrail or limit; NaN: none */
    int percent;                                      /* hundredths; -1: none */
    const char *actor;                                /* actor: "system" or a user */
    const char *reason;                               /* reason, a sentence */
    const char *request;                              /* id of the operator command */
    const char *instance;                             /* if it concerns one instance only */
    const char *feature;
    const char *dimension, *value; /* dimension NULL: all traffic; value NULL: (other) */
};

struct ek_decisions;

/* Return an empty record of this kind with the actor "system"; its strings are static. */
struct ek_decision_record ek_decision_get(enum ek_decision_kind what);

/* Create an empty log. Return 0, or EK_ENOMEM. */
int ek_decisions_new(struct ek_decisions **out);
void ek_decisions_free(struct ek_decisions *d);
/* Append a copy; number 0: assign the next number. Set *is_new to false, with the log unchanged, if
 * its number is known or evicted. Return 0, or EK_ENOMEM with the log unchanged. */
int ek_decisions_add(struct ek_decisions *d, const struct ek_decision_record *m, bool *is_new);
/* Return the decision of this number, or NULL if unknown or evicted. Valid until the next
 * ek_decisions_add. */
const struct ek_decision_record *ek_decisions_at(const struct ek_decisions *d, uint64_t number);
/* Set the plan versions of a decision after the plan was numbered; no effect on an unknown
 * decision. */
void ek_decisions_set_plan(struct ek_decisions *d, uint64_t number, uint64_t before,
                           uint64_t after);
/* Return whether the log has an equal decision of any number: same kind, target, time and plan
 * versions. */
bool ek_decisions_has(const struct ek_decisions *d, const struct ek_decision_record *m);
/* Append the decisions of another log, which stays unchanged, with new numbers. Return 0, or
 * EK_ENOMEM; some are then appended. */
int ek_decisions_merge(struct ek_decisions *into, const struct ek_decisions *from);
/* Return the highest number; 0: none. */
uint64_t ek_decisions_last(const struct ek_decisions *d);

/* Read or write part 0 .. EK_DECISIONS_PARTS - 1 of the ring; read into an empty log. Errors are in
 * s->rc. */
void ek_decisions_serialize(struct ek_decisions *d, struct ek_serialize *s, int part);
/* Return the mark of a part, 0 if it is empty. A part is unchanged as long as its mark is the
 * same. */
uint64_t ek_decisions_mark(const struct ek_decisions *d, int part);

#endif
