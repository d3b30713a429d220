/* Decisions as they were made: what was done about the plan, when, by whom, why, and what it
 * changed. For the history that people read, for the alert topic, and for the state.
 *
 * The last EK_DECISIONS_RETAINED, numbered from 1; in a fleet they are numbered by the decider, and
 * one that is there already, or was, is not taken again. A number that was passed over stays open.
 * Owner: the caller. One thread at a time.
 */
#ifndef EK_PLAN_DECISIONS_H
#define EK_PLAN_DECISIONS_H

#include "base/serialize.h"
#include "schema/enum_names.h"
#include "plan/rollout.h"

#include <stdbool.h>

/* Value of a segment: all values without a cell of their own. */
#define EK_SEGMENT_OTHER "(other)"

enum {
    EK_DECISIONS_RETAINED = 1024,
    EK_DECISIONS_PER_PART = 64, /* in one part of the state */
    EK_DECISIONS_PARTS = EK_DECISIONS_RETAINED / EK_DECISIONS_PER_PART
};

enum ek_decision_kind {
    EK_DECIDED_ROUTE,    /* something acts that did not */
    EK_DECIDED_END,      /* and no longer */
    EK_DECIDED_STEP,     /* a canary has grown */
    EK_DECIDED_ROLLBACK, /* taken back by a guardrail */
    EK_DECIDED_RELAPSE,  /* as ROUTE, of a fault that has come back */
    EK_DECIDED_LIMIT,    /* more is wanted than the rules allow */
    EK_DECIDED_PIN,
    EK_DECIDED_UNPIN,
    EK_DECIDED_EXPIRE, /* a pin has run out */
    EK_DECIDED_ACCEPT,
    EK_DECIDED_REVERT,
    EK_DECIDED_PAUSE,
    EK_DECIDED_RESUME,
    EK_DECIDED_RELOAD,
    EK_DECISION_KINDS
};

/* "route", "end", ... */
const char *ek_decision_kind_name(enum ek_decision_kind d);
/* Return the enum ek_decision_kind of such a word, -1: unknown. */
int ek_did_parse(const char *word);

/* Texts are NULL where there is none; what is kept has copies. */
struct ek_decision_record {
    uint64_t number;        /* 0: not yet numbered */
    uint64_t query;         /* the first list that it counts for */
    uint64_t before, after; /* versions of the plan */
    uint64_t accept;        /* number of the one that was made, or taken back; 0: none */
    uint64_t normal;        /* with an accept: version of what is normal, with this decision */
    int64_t time_ms;        /* of the stream */
    enum ek_decision_kind what;
    uint32_t episode;    /* 0: none */
    enum ek_class class; /* EK_CLASS_NONE: none */
    enum ek_action action;
    enum ek_guardrail rail;
    double factor, factor_low, factor_high, share; /* NaN: none */
    double figure, limit;                          /* of a rail, or of a limit; NaN: none */
    int percent;                                   /* hundredths; -1: none */
    const char *who;                               /* "evenkeel", or a person */
    const char *why;                               /* a sentence */
    const char *request;                           /* that asked for it */
    const char *instance;                          /* where it is of one instance alone */
    const char *feature;
    const char *dimension, *value; /* dimension NULL: all traffic; value NULL: (other) */
};

struct ek_decisions;

/* One of which nothing is known but what it is, by evenkeel. */
struct ek_decision_record ek_decision_get(enum ek_decision_kind what);

int ek_decisions_new(struct ek_decisions **out); /* EK_ENOMEM */
void ek_decisions_free(struct ek_decisions *d);
/* Takes a copy; number 0 gets the next one. *is_new: it was not there. EK_ENOMEM: all as it was. */
int ek_decisions_add(struct ek_decisions *d, const struct ek_decision_record *m, bool *is_new);
/* NULL: never was, or gone. Valid until the next one is taken. */
const struct ek_decision_record *ek_decisions_at(const struct ek_decisions *d, uint64_t number);
/* Of which versions of the plan it is became known later; nothing for one that is not there. */
void ek_decisions_set_plan(struct ek_decisions *d, uint64_t number, uint64_t before,
                           uint64_t after);
/* Whether one that says the same is there, whatever its number: what was done, to what, when, and
 * between which versions of the plan. */
bool ek_decisions_has(const struct ek_decisions *d, const struct ek_decision_record *m);
/* Takes those of another guard over, numbered anew, behind its own. EK_ENOMEM: some were. */
int ek_decisions_merge(struct ek_decisions *into, const struct ek_decisions *from);
/* The highest number; 0: none yet. */
uint64_t ek_decisions_last(const struct ek_decisions *d);

/* One part of the ring; reading goes into a new ring. What was made of a part is as it was while
 * its mark is the same; 0: an empty one. */
void ek_decisions_serialize(struct ek_decisions *d, struct ek_serialize *s, int part);
uint64_t ek_decisions_mark(const struct ek_decisions *d, int part);

#endif
