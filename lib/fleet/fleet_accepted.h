/* Accepted levels (detect/level_offset.h) of a plan record, with actor, time and reason.
 *
 * Cells are numbers of the owner: cells of the leader's pool, or of an instance's detector. Starts
 * as {0}; strings are owned. About 20 KiB.
 */
#ifndef EK_FLEET_FLEET_ACCEPTED_H
#define EK_FLEET_FLEET_ACCEPTED_H

#include "detect/level_offset.h"
#include "fleet/fleet_findings.h"
#include "fleet/fleet_plan_fields.h"
#include "fleet/pool.h"
#include "plan/decisions.h"

struct ek_fleet_accepted_set {
    uint64_t profile; /* hash of the profile at the accept; accepts end with this profile */
    struct ek_level_offsets levels; /* rows are unused */
    int64_t since_ms[EK_LEVEL_OFFSETS_MAX];
    struct ek_fleet_accepted_shift {
        int64_t time_ms;
        char *author, *reason; /* NULL: not given */
    } about[EK_LEVEL_OFFSETS_MAX];
};

/* Free all levels and reset the version to 0. */
void ek_fleet_accepted_set_clear(struct ek_fleet_accepted_set *n);
/* Append a copy of an accept of a record, for this feature and cell. Return 0, or EK_ENOMEM without
 * a change. */
int ek_fleet_accepted_load(struct ek_fleet_accepted_set *n, const struct ek_fleet_accept *a,
                           int feature, int cell);
/* Return level `i` by names, for a record; strings are views of *n and *place. */
struct ek_fleet_accept ek_fleet_accepted_set_accept(const struct ek_fleet_accepted_set *n, int i,
                                                    const struct ek_fleet_place *place);

/* Inputs and outputs of the leader. */
struct ek_fleet_accepted_set_tools {
    const struct ek_manifest *manifest;
    struct ek_fleet_pool *pool;
    struct ek_fleet_findings *findings;
    int64_t time_ms; /* event time */
};

/* Accept the level of the open finding of a feature and cell as normal. `place` -1: no instance has
 * reported lists of the segment. *m has actor and reason and gets version and factor; *over gets
 * the ended finding, already reported. Return 0, EK_ESTATE without a finding that a shift undoes,
 * EK_ELIMIT for too many accepts, or EK_ENOMEM; on error nothing changes. */
int ek_fleet_accepted_set_add(struct ek_fleet_accepted_set *n,
                              const struct ek_fleet_accepted_set_tools *t, int feature, int place,
                              struct ek_decision_record *m, struct ek_finding *over,
                              struct ek_error *e);
/* Remove the accept of this version, and set *one to its level; *m gets version and factor. Return
 * 0, or EK_ESTATE for an unknown version. */
int ek_fleet_accepted_set_remove(struct ek_fleet_accepted_set *n, uint64_t version,
                                 struct ek_decision_record *m, struct ek_level_offset *one,
                                 struct ek_error *e);

#endif
