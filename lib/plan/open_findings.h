/* Open findings: a registry by feature and segment, oldest first. A list without an open finding in
 * any of its segments has no known fault.
 *
 * The guard fills one with what its detector reports; in a fleet the leader fills one with what is
 * proposed, and each instance one with what the plan's log has.
 * Owner: the caller; starts as {0}, ek_open_findings_release. One thread at a time.
 */
#ifndef EK_PLAN_OPEN_FINDINGS_H
#define EK_PLAN_OPEN_FINDINGS_H

#include "detect/detector.h"

#include <stdbool.h>

struct ek_open_finding {
    struct ek_finding f;     /* as it was reported last */
    struct ek_finding now;   /* as it is proposed; what is proposed is the caller's to say */
    int by, now_by;          /* who proposed them */
    char *dimension, *value; /* texts of `f`, where they are the registry's */
    bool present;            /* proposed, or in the newest record */
    bool reported, changed, accepted;
};

struct ek_open_findings {
    int count, room;
    struct ek_open_finding *item; /* [count], oldest first */
};

void ek_open_findings_release(struct ek_open_findings *o);
/* Make room for so many in all. EK_ENOMEM. */
int ek_open_findings_reserve(struct ek_open_findings *o, int room);
/* Append a finding, without texts of its own. NULL without memory; within the room that was
 * reserved there is always some. */
struct ek_open_finding *ek_open_findings_add(struct ek_open_findings *o,
                                             const struct ek_finding *f);
/* Return the open finding of a segment; NULL: there is none. */
struct ek_open_finding *ek_open_findings_at(const struct ek_open_findings *o, int feature,
                                            int cell);
void ek_open_findings_remove(struct ek_open_findings *o, struct ek_open_finding *one);
/* Return whether a later finding of the feature is present: another segment has the fault. */
bool ek_open_findings_is_handed_over(const struct ek_open_findings *o,
                                     const struct ek_open_finding *gone);
/* Follow what the detector reports; EK_EPISODES_MAX must be reserved. */
void ek_open_findings_follow(struct ek_open_findings *o, const struct ek_finding *f);
/* Return whether a finding is open in any of these cells. */
bool ek_open_findings_match(const struct ek_open_findings *o, const int16_t *cells, int count);

#endif
