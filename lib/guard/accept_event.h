/* The event that people have said what is normal, or took it back (docs/format/events.md). */
#ifndef EK_GUARD_ACCEPT_EVENT_H
#define EK_GUARD_ACCEPT_EVENT_H

#include "base/buf.h"
#include "data/manifest.h"
#include "decide/cells.h"
#include "decide/rebase.h"

struct ek_accept_told {
    bool revert;
    struct ek_rebase accept;     /* that was made, or taken back */
    uint64_t version;            /* of what is normal, with it */
    const char *author, *reason; /* NULL: not said */
};

/* Writes over `out`. query: the first list with it. EK_ENOMEM. */
int ek_event_accept(struct ek_buf *out, const struct ek_manifest *m, const struct ek_cells *cells,
                    const struct ek_accept_told *told, uint64_t query, int64_t time_ms);

#endif
