/* A list tried both ways (score/both_ways.h): in the order of the upstream scores, and in that
 * which the plan wants for it.
 *
 * The thread that has the context tries it after its output was handed on; nothing of the output
 * changes. The context's own numbers are read and none of its texts, for the message may be gone by
 * then. What it says is given to the guard later (guard/guard_trials.h), by plan version. Which
 * lists are tried must not hang on what is in them. Threads: that of the context.
 */
#ifndef EK_GUARD_TRIAL_H
#define EK_GUARD_TRIAL_H

#include "plan/plan.h"
#include "serve/context.h"
#include "score/both_ways.h"

#include <stdbool.h>

struct ek_trial {
    uint64_t plan; /* version that the list was taken under */
    int entries;   /* of that plan, that treat the list or would */
    int16_t entry[EK_ROUTING_ENTRIES];
    uint32_t acting; /* of them that the output was scored under, as bits */
    bool failed;     /* it cannot be scored as the plan wants: there are no ways */
    struct ek_ways ways;
};

/* The plan wants something for it, it is whole, it has two items, and it was taken, not only looked
 * at: a list that is looked at again would count twice. */
bool ek_context_wants_trial(const struct ek_context *c);
/* For a list that wants one. more: plain and harm as well, two more scorings. gap: as from
 * ek_guard_gap; NaN: no harm. Nor is there any where an entry does not know what would undo its
 * fault. *says as in ek_both_ways_try; *out is meaningful when it says something. EK_ENOMEM. */
int ek_context_try(struct ek_context *c, bool more, double gap, struct ek_trial *out, bool *says,
                   struct ek_error *e);

#endif
