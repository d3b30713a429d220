/* What `replay --compare` says of a comparison. */
#ifndef EK_DAEMON_COMPARE_PRINT_H
#define EK_DAEMON_COMPARE_PRINT_H

#include "base/buf.h"
#include "offline/world/compare.h"

#include <stdio.h>

enum {
    EK_COMPARED_SHOWN = 20
}; /* findings of a kind, and plans, in the text; the rest is counted */

/* For people, in at most 79 columns but for long names. a, b: the rules' names. */
void ek_compare_print(const struct ek_compared *c, const char *a, const char *b, FILE *to);
/* Appends one JSON object and a line end. unreadable: messages left out. EK_ENOMEM. */
int ek_compare_json(const struct ek_compared *c, const char *a, const char *b, uint64_t unreadable,
                    struct ek_buf *out);

#endif
