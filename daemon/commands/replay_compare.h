/* What `replay --compare` says of a comparison. */
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
}; /* findings of a kind, and plans, in the text; the rest is counted */

/* `evenkeel replay --compare`: recorded messages through two guards, which differ in their rules.
 */
struct ek_replay_compare {
    const struct ek_assets *assets[2];      /* A, B */
    const char *rules[2];                   /* names for people */
    const char *messages;                   /* a path, "-" for standard input */
    const struct ek_field_mapping *dialect; /* that the assets were read with */
    bool json;
};

/* Tells the comparison on standard output; *differ says whether A and B do. Messages that cannot be
 * read are counted and left out, the first of them told on standard error. */
int ek_replay_compare(const struct ek_replay_compare *r, bool *differ, struct ek_error *e);

#endif
