/* Findings of a replay, a sentence each, as the events report them; a drift of model and upstream
 * is listed among them.
 *
 * Confirmed ones only, each with its last sentence and how it ended; the first
 * EK_REPLAY_FINDINGS_MAX are kept and the rest counted. Findings with one cause are printed
 * together. Owner: the caller; starts as {0}, ek_reported_findings_release of `findings`.
 */
#ifndef EK_DAEMON_COMMANDS_REPLAY_FINDINGS_H
#define EK_DAEMON_COMMANDS_REPLAY_FINDINGS_H

#include "guard/reported_findings.h"

#include <stdint.h>
#include <stdio.h>

enum { EK_REPLAY_FINDINGS_MAX = 20 };

struct ek_fit_target {
    struct ek_reported_findings findings;
    uint64_t more; /* confirmed, and not kept */
};

/* Follow an event of the guard; only confirmed findings and the model change anything. EK_ENOMEM.
 */
int ek_replay_findings_add(struct ek_fit_target *t, const struct ek_event *v);
/* Indented paragraphs of at most 79 columns; nothing when there was no finding. */
void ek_replay_findings_print(const struct ek_fit_target *t, FILE *to);

#endif
