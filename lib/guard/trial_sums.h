/* What trials say of each entry of the plan.
 *
 * A trial counts for every entry that treats its list, and for nothing when the plan is another one
 * by now. Figures begin with the entry, and anew when its action becomes another one. They add up
 * to the same in whatever order trials come, the evidence of harm aside.
 *
 * worse: bets (guard/mean_bets.h) that the treatment does more harm than the fault, on (1 + harm) /
 * 2 with a bound of 1/2. While the mean of harm is not above 0, the mean time until they reach
 * EK_HARM_EVIDENCE is at least so many lists whose harm was measured. Where several entries treat a
 * list, its harm is that of all of them and counts for each.
 * Memory: 2 KiB an entry. Owner: the caller. One thread at a time.
 */
#ifndef EK_GUARD_TRIAL_SUMS_H
#define EK_GUARD_TRIAL_SUMS_H

#include "guard/mean_bets.h"
#include "guard/trial.h"
#include "score/rank_change.h"

enum { EK_HARM_EVIDENCE = 10000 };

struct ek_trial_sums {
    int feature, cell; /* of the entry */
    enum ek_action action;
    int64_t since_ms;
    uint64_t tried, alone;            /* lists; those that no other entry treats */
    struct ek_rank_sums moved, plain; /* from the upstream scores to what the plan wants, and to the
                                       * model with nothing treated */
    struct ek_rank_sums acted;        /* of `moved`, lists whose output has those scores */
    uint64_t measured;                /* lists whose harm was */
    struct ek_mean_bets worse;
};

struct ek_trials;

int ek_trials_new(struct ek_trials **out, struct ek_error *e);
void ek_trials_free(struct ek_trials *t);
/* plan: of now. EK_ENOMEM: it did not count. */
int ek_trials_take(struct ek_trials *t, const struct ek_plan *plan, const struct ek_trial *trial,
                   struct ek_error *e);
/* Trials of another plan than that of their time. */
uint64_t ek_trials_late(const struct ek_trials *t);
/* NULL: nothing was tried there. Valid until the next call that changes anything. */
const struct ek_trial_sums *ek_trials_of(const struct ek_trials *t, int feature, int cell);
/* Figures of the entry begin anew. */
void ek_trials_begin(struct ek_trials *t, int feature, int cell);

#endif
