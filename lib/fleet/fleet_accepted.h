/* What is normal in a fleet, because somebody has said so: the accepted levels (decide/rebase.h) of
 * a plan record, with who said it, when and why.
 *
 * Cells are numbers of whoever has it: places of the decider's pool, cells of an instance's
 * detector. Starts as {0}; texts are owned. Owner: the caller. Some 20 KiB.
 */
#ifndef EK_FLEET_FLEET_ACCEPTED_H
#define EK_FLEET_FLEET_ACCEPTED_H

#include "detect/level_offset.h"
#include "fleet/fleet_findings.h"
#include "fleet/fleet_plan_fields.h"
#include "fleet/pool.h"
#include "plan/decisions.h"

struct ek_fleet_accepted_set {
    uint64_t profile; /* hash of the one that they were accepted under, and end with */
    struct ek_level_offsets levels; /* rows mean nothing */
    int64_t since_ms[EK_LEVEL_OFFSETS_MAX];
    struct ek_fleet_accepted_shift {
        int64_t time_ms;
        char *author, *reason; /* NULL: not said */
    } about[EK_LEVEL_OFFSETS_MAX];
};

/* Nothing is accepted, and no version is known. */
void ek_fleet_accepted_set_clear(struct ek_fleet_accepted_set *n);
/* One that was read, for that feature and cell. EK_ENOMEM. */
int ek_fleet_accepted_load(struct ek_fleet_accepted_set *n, const struct ek_fleet_accept *a,
                           int feature, int cell);
/* By names, for a record; texts are views. */
struct ek_fleet_accept ek_fleet_accepted_set_accept(const struct ek_fleet_accepted_set *n, int i,
                                                    const struct ek_fleet_place *place);

/* What a decider works on, and what comes of it. */
struct ek_fleet_accepted_set_tools {
    const struct ek_manifest *manifest;
    struct ek_fleet_pool *pool;
    struct ek_fleet_findings *told;
    int64_t time_ms; /* of the stream */
};

/* What the feature is like in the place (-1: nobody has told of lists there; `cell` has its names)
 * is normal from here on: as ek_detector_accept of a single detector, and refused as there. The
 * author and the reason are in *m, which gets the version and the factor; *over is the finding that
 * this ends, which was told. EK_ESTATE, EK_ELIMIT, EK_ENOMEM: all is as it was. */
int ek_fleet_accepted_set_add(struct ek_fleet_accepted_set *n,
                              const struct ek_fleet_accepted_set_tools *t, int feature, int place,
                              struct ek_decision_record *m, struct ek_finding *over,
                              struct ek_error *e);
/* Takes the one of that version back; *one is what it was. EK_ESTATE: there is none. */
int ek_fleet_accepted_set_remove(struct ek_fleet_accepted_set *n, uint64_t version,
                                 struct ek_decision_record *m, struct ek_level_offset *one,
                                 struct ek_error *e);

#endif
