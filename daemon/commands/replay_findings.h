/* The findings of a run, a sentence each, as the events tell them; model and upstream that have
 * drifted apart stand among them.
 *
 * Confirmed ones only, each with its last sentence and how it ended; the first EK_TOLD_MAX are kept
 * and the rest counted. What has one cause stands together. Texts that are too long are cut. Value
 * type, no memory of its own.
 */
#ifndef EK_DAEMON_COMMANDS_REPLAY_FINDINGS_H
#define EK_DAEMON_COMMANDS_REPLAY_FINDINGS_H

#include "guard/event.h"

#include <stdint.h>
#include <stdio.h>

enum { EK_TOLD_MAX = 20, EK_TOLD_NAME_BYTES = 240, EK_TOLD_TEXT_BYTES = 600 };

struct ek_told_finding {
    char feature[EK_TOLD_NAME_BYTES]; /* "": model and upstream */
    uint32_t episode, cause;          /* cause 0: not known */
    char text[EK_TOLD_TEXT_BYTES];
    const char *end; /* how it ended; NULL: it did not */
};

struct ek_told {
    struct ek_told_finding finding[EK_TOLD_MAX];
    int count;
    uint64_t more; /* confirmed, and not kept */
};

/* Takes an event of the guard; others than those of confirmed findings and of the model change
 * nothing. */
void ek_told_event(struct ek_told *t, const struct ek_event *v);
/* Indented paragraphs of at most 79 columns; nothing when there was no finding. */
void ek_told_print(const struct ek_told *t, FILE *to);

#endif
