/* What a rehearsal came to: the counts of `replay`, and where lists carry labels, how well those
 * that were scored anew ranked before and after.
 *
 * NDCG@10 has gain 2^y - 1; lists without a positive label are skipped, and so are lists with a
 * negative one. Owner: the caller; ek_rehearsal_init, ek_rehearsal_release. One thread.
 */
#ifndef EK_DAEMON_COMMANDS_REPLAY_H
#define EK_DAEMON_COMMANDS_REPLAY_H

#include "daemon/commands/replay_findings.h"
#include "lists/codec.h"
#include "score/metrics.h"
#include "serve/assets.h"
#include "serve/shadow_scoring.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct ek_replay_report {
    uint64_t messages, untouched, anew, unreadable;
    uint64_t unscored; /* of the untouched: the plan was for them, but they cannot be scored */
    uint64_t confirmed, plans;
    struct ek_fit_target told;
    struct ek_rank_sums moved_by_plan, moved_by_model; /* of lists the plan is for: to what it
                                                        * wants; to the model with nothing routed */
    uint64_t labelled;                                 /* of those scored anew */
    struct ek_metric_mean before, after;
    bool model, enforce; /* there is a model; the rules enforce something */
    struct ek_list came, goes;
    int *order;
    double *scratch;
    size_t capacity; /* of the two */
};

#endif
