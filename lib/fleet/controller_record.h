/* How things stand with what is done, in the plan record: what a control (guard/control.h) goes by,
 * by names, for the instances that carry it out and for whoever decides next.
 *
 * Owner: the caller. One thread at a time.
 */
#ifndef EK_FLEET_CONTROLLER_RECORD_H
#define EK_FLEET_CONTROLLER_RECORD_H

#include "fleet/fleet_accepted.h"
#include "fleet/plan_record.h"
#include "plan/route_controller.h"

/* What a record has besides the plan, under the numbers of who has read it. Some 390 KiB. */
struct ek_controller_record {
    struct ek_plan desired;
    struct ek_rollouts rollouts;
    struct ek_fleet_limits limits;
    struct ek_fleet_accepted_set normal;
    int pins;
    struct ek_controller_pin pin[EK_PINS_MAX]; /* of people; texts are owned */
};

/* Starts as {0}. */
void ek_controller_record_clear(struct ek_controller_record *s);
/* The same for a control; valid as long as both. */
struct ek_controller_memory ek_controller_record_memory(const struct ek_controller_record *s,
                                                        const struct ek_plan *plan);

/* Who reads a record. */
struct ek_controller_record_reader {
    const struct ek_manifest *manifest;
    /* The number of a cell by its names, -1: it can have none. EK_ENOMEM. */
    int (*cell_of)(void *context, const struct ek_fleet_cell *names, int *cell);
    void *context;
    bool decides;     /* it may decide next: pins and rollouts that have ended are read, too */
    uint64_t profile; /* hash of its own: what was accepted under another one is passed over */
    /* Set by reading. */
    int outdated;                /* accepts that were passed over */
    int missed;                  /* entries of the plan that found no feature or cell here */
    bool apart[EK_FEATURES_MAX]; /* item features of whose `mode_in` a cell was not found: nobody
                                  * can tell their lists apart */
};

/* Of a record that was opened, into *plan, whose version is the record's, and *s, both empty
 * before. EK_ENOMEM: then a part of it is there. */
int ek_controller_record_read(const struct ek_fleet_plan *record,
                              struct ek_controller_record_reader *r, struct ek_plan *plan,
                              struct ek_controller_record *s);
/* Writes what ek_controller_record_read reads. */
void ek_controller_record_write(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                                const struct ek_manifest *m,
                                const struct ek_controller_memory *memory,
                                const struct ek_fleet_accepted_set *normal,
                                struct ek_fleet_cell (*names_of)(const void *context, int cell),
                                const void *context);

#endif
