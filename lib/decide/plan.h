/* The plan: the versioned set of (feature, cell -> treatment) in force.
 *
 * A list is scored under exactly one plan. The most specific entry wins: a segment's over that of
 * all traffic. Owner: the caller.
 */
#ifndef EK_DECIDE_PLAN_H
#define EK_DECIDE_PLAN_H

#include "data/words.h"

#include <stdbool.h>
#include <stdint.h>

enum { EK_PLAN_MAX = 1024 };

struct ek_plan_entry {
    int feature, cell; /* item feature and cell numbers */
    struct ek_treatment treatment;
    int64_t since_ms;
    int64_t until_ms; /* recovered: taken out at this time; -1: stays */
    int64_t hold_ms;  /* of until_ms: it is never further away than this */
};

struct ek_plan {
    uint64_t version; /* 0: never had an entry */
    int count;
    struct ek_plan_entry entry[EK_PLAN_MAX];
};

/* Puts an entry in, or changes its treatment and keeps it. The version rises when the set of
 * actions changed; a better value of the same action is taken silently. Returns whether the version
 * rose; nothing happens at EK_PLAN_MAX. */
int ek_plan_set(struct ek_plan *p, int feature, int cell, struct ek_treatment treatment,
                int64_t now_ms);
int ek_plan_has(const struct ek_plan *p, int feature, int cell);
/* Whether ek_plan_set would take it. */
int ek_plan_has_room(const struct ek_plan *p, int feature, int cell);
int ek_plan_remove(struct ek_plan *p, int feature, int cell);
/* Lets an entry end once it has been in force for hold_ms, now or later. */
void ek_plan_end(struct ek_plan *p, int feature, int cell, int64_t now_ms, int64_t hold_ms);
/* Takes out what has ended; returns whether the version rose. Times may jump: an end that is
 * further away than the hold was set by a clock that was wrong, and comes a hold from now. */
int ek_plan_expire(struct ek_plan *p, int64_t now_ms);
/* How many features have an entry. */
int ek_plan_features(const struct ek_plan *p);
/* Treatments [routables] of a list by its cells; routable_of_item [F]. sources: the list can be
 * routed by source; where it cannot, such an entry is as if it were not there. Returns how many
 * features are treated. */
int ek_plan_apply(const struct ek_plan *p, const int16_t *cells, int cell_count, bool sources,
                  const int *routable_of_item, struct ek_treatment *treatment, int routables);

#endif
