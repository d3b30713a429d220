/* Confirmed findings of a replay, including model drift, with their last sentence and their end.
 *
 * The first EK_REPLAY_FINDINGS_MAX are kept, the others counted. Findings of one incident are
 * printed together. Starts as {0}; release `findings` with ek_reported_findings_release.
 */
#ifndef EK_DAEMON_COMMANDS_REPLAY_H
#define EK_DAEMON_COMMANDS_REPLAY_H

#include "guard/reported_findings.h"

#include <stdint.h>
#include <stdio.h>

enum { EK_REPLAY_FINDINGS_MAX = 20 };

struct ek_fit_target {
    struct ek_reported_findings findings;
    int guardrail[EK_REPLAY_FINDINGS_MAX]; /* 1 + the one that rolled back its route; 0: none */
    uint64_t more;                         /* confirmed, but not kept */
};

/* Add a copy of an event; only confirmed findings, rollbacks and model drift have an effect. Return
 * 0 or EK_ENOMEM. */
int ek_replay_findings_add(struct ek_fit_target *t, const struct ek_event *v);
/* Print the findings as indented paragraphs of at most 79 columns; nothing without findings. */
void ek_replay_findings_print(const struct ek_fit_target *t, FILE *to);

#endif
