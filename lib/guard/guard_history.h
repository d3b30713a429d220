/* What was decided, in a guard: kept, told as an event, and shown. */
#ifndef EK_GUARD_GUARD_HISTORY_H
#define EK_GUARD_GUARD_HISTORY_H

#include "base/buf.h"
#include "plan/decisions.h"

#include <stdbool.h>

struct ek_guard;

/* Keeps a decision and tells it. What is 0 in it is put in: its number, its time (of the stream;
 * before its first list, of the caller), the next list as its query, and the version of the plan.
 * EK_ENOMEM. */
int ek_guard_decided(struct ek_guard *g, const struct ek_decided *m);

/* Which decisions are asked for. */
struct ek_history_wish {
    uint64_t count; /* at most so many: the last, or those next behind `after` */
    bool has_after;
    uint64_t after;      /* a number */
    const char *feature; /* that they are about; NULL: any */
};

/* Appends them as a JSON array, oldest first. EK_EUSAGE for a feature that is none, with the
 * nearest; EK_ENOMEM. */
int ek_guard_history(const struct ek_guard *g, const struct ek_history_wish *w, struct ek_buf *out,
                     struct ek_error *e);

#endif
