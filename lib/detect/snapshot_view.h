/* What is in a snapshot, for people: without the manifest and the profile it was made with.
 *
 * Evidence is the ln of the weighted sum that raises an alarm when it reaches the level of the
 * rules. Owner: the caller, ek_snapshot_view_free.
 */
#ifndef EK_DECIDE_SNAPSHOT_VIEW_H
#define EK_DECIDE_SNAPSHOT_VIEW_H

#include "schema/words.h"
#include "detect/cells.h"
#include "detect/snapshot_frame.h"

/* An open change. */
struct ek_snapshot_change {
    uint32_t number, cause; /* cause 0: none yet */
    bool confirmed;
    int feature, cell;
    const char *signal;   /* the bet that raised the alarm */
    enum ek_class class;  /* EK_CLASS_NONE while suspected */
    double factor, share; /* NaN unless a scale */
    uint64_t since_query;
    int64_t since_ms;
    uint32_t lists; /* of the cell since the alarm */
};

struct ek_snapshot_evidence {
    double ln; /* the most that any cell has against the feature */
    int cell;
};

struct ek_snapshot_view {
    struct ek_snapshot_head head;
    char **feature;             /* [head.kind.features] */
    uint64_t lists, remembered; /* lists ever, and those kept in the history */
    struct ek_cells *cells;
    struct ek_snapshot_evidence *evidence; /* [head.kind.features] */
    int changes;
    struct ek_snapshot_change *change; /* [changes] */
    uint64_t waiting;                  /* findings that were not fetched */
};

/* EK_EFORMAT, EK_ESTATE (another version or build), EK_ENOMEM. */
int ek_snapshot_view_new(struct ek_snapshot_view **out, const void *bytes, size_t length,
                         struct ek_error *e);
void ek_snapshot_view_free(struct ek_snapshot_view *v);

#endif
