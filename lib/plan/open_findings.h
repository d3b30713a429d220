/* Registry of open findings by feature and segment, oldest first.
 *
 * The guard adds findings of its detector. In a fleet the leader adds proposed findings, and each
 * instance adds the findings of plan records. Starts as {0}; free with ek_open_findings_release.
 */
#ifndef EK_PLAN_OPEN_FINDINGS_H
#define EK_PLAN_OPEN_FINDINGS_H

#include "detect/detector.h"

#include <stdbool.h>

struct ek_open_finding {
    struct ek_finding f;     /* as last reported */
    struct ek_finding now;   /* as proposed by `now_by` */
    int by, now_by;          /* instances that proposed `f` and `now` */
    char *dimension, *value; /* strings of `f` if the registry owns them */
    bool present;            /* proposed, or in the last record */
    bool reported, changed, accepted;
};

struct ek_open_findings {
    int count, room;
    struct ek_open_finding *item; /* [count], oldest first */
};

/* Free all findings and their strings. The registry is then empty and can be used again. */
void ek_open_findings_release(struct ek_open_findings *o);
/* Reserve space for `room` findings in total. Return 0, or EK_ENOMEM. */
int ek_open_findings_reserve(struct ek_open_findings *o, int room);
/* Append a copy of *f. Its strings are not copied: they must live as long as the finding, unless
 * the caller sets `dimension` and `value` of the result to allocated copies, which the registry
 * then owns. Return the finding, valid until the next change, or NULL if memory runs out, which
 * cannot happen within the reserved space. */
struct ek_open_finding *ek_open_findings_add(struct ek_open_findings *o,
                                             const struct ek_finding *f);
/* Return the open finding of a feature and segment, valid until the next change, or NULL. */
struct ek_open_finding *ek_open_findings_at(const struct ek_open_findings *o, int feature,
                                            int cell);
/* Remove and free a finding of the registry; later ones move to its place. */
void ek_open_findings_remove(struct ek_open_findings *o, struct ek_open_finding *one);
/* Return whether the fault of an ended finding was assigned to another segment: a later finding of
 * the same feature is present, and its segment is of another dimension. Segments of one dimension
 * have no list in common, so each has a fault of its own. */
bool ek_open_findings_is_handed_over(const struct ek_open_findings *o,
                                     const struct ek_open_finding *gone);
/* Apply an event of the detector: add an open finding that is not in the registry, remove one that
 * has ended. Known findings stay unchanged. EK_EPISODES_MAX must be reserved. */
void ek_open_findings_follow(struct ek_open_findings *o, const struct ek_finding *f);
/* Return whether a finding is open in any of the cells. */
bool ek_open_findings_match(const struct ek_open_findings *o, const int16_t *cells, int count);

#endif
