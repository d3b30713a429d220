/* Comparison of two rule sets on recorded messages, for `replay --compare`. */
#ifndef EK_DAEMON_COMMANDS_REPLAY_COMPARE_H
#define EK_DAEMON_COMMANDS_REPLAY_COMPARE_H

#include "base/buf.h"
#include "daemon/files/field_mapping.h"
#include "offline/world/compare.h"
#include "serve/assets.h"

#include <stdbool.h>
#include <stdio.h>

enum {
    EK_COMPARED_LISTED = 20
}; /* findings of a kind and plans in the text; the others are only counted */

/* Options of a comparison: two guards process the same messages with different rules. */
struct ek_replay_compare {
    const struct ek_assets *assets[2];            /* A and B */
    const char *rules[2];                         /* names in the output */
    const char *messages;                         /* path; "-": standard input */
    const struct ek_field_mapping *field_mapping; /* mapping of the assets */
    bool json;
};

/* Process the messages with two guards, one per rule set, print the comparison to standard output,
 * and set *differ to whether they differ. Unreadable messages are skipped and counted, and the
 * first is reported on standard error. Return 0 whether they differ or not, EK_ENOMEM, or an error
 * of the files or of a guard. */
int ek_replay_compare(const struct ek_replay_compare *r, bool *differ, struct ek_error *e);

#endif
