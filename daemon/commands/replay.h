/* Replay report: counts of `replay` and, where lists have labels, the quality of re-scored lists
 * before and after.
 *
 * NDCG@10 has gain 2^y - 1; lists without a positive or with a negative label are skipped. One
 * thread.
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
    uint64_t messages, untouched, rescored, unreadable;
    uint64_t unscored; /* part of `untouched`: covered by a plan, but not scorable */
    uint64_t confirmed, plans;
    struct ek_fit_target reported;
    /* of lists covered by a plan: by its actions, and by the model without routes */
    struct ek_rank_sums plan_ranks, model_ranks;
    uint64_t labeled; /* part of the re-scored lists */
    bool writes_features;
    uint64_t repaired, values, withheld; /* lists; values written; left because of the mode */
    struct ek_metric_mean before, after;
    bool model, enforce; /* a model exists; the rules have a mode that acts */
    struct ek_list input, output;
    int *order;
    double *scratch;
    size_t capacity; /* of both arrays */
};

#endif
