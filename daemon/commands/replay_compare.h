/* `evenkeel replay --compare`: recorded messages through two guards, which differ in their rules.
 */
#ifndef EK_DAEMON_REPLAY_COMPARE_H
#define EK_DAEMON_REPLAY_COMPARE_H

#include "daemon/files/dialect.h"
#include "serve/assets.h"

#include <stdbool.h>

struct ek_replay_compare {
    const struct ek_assets *assets[2]; /* A, B */
    const char *rules[2];              /* names for people */
    const char *messages;              /* a path, "-" for standard input */
    const struct ek_dialect *dialect;  /* that the assets were read with */
    bool json;
};

/* Tells the comparison on standard output; *differ says whether A and B do. Messages that cannot be
 * read are counted and left out, the first of them told on standard error. */
int ek_replay_compare(const struct ek_replay_compare *r, bool *differ, struct ek_error *e);

#endif
