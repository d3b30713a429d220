/* State of the route controller in a plan record, by names, for all instances and for the next
 * leader. */
#ifndef EK_FLEET_CONTROLLER_RECORD_H
#define EK_FLEET_CONTROLLER_RECORD_H

#include "fleet/fleet_accepted.h"
#include "fleet/plan_record.h"
#include "plan/route_controller.h"

/* Content of a record in addition to the plan, with the numbers of the reader. About 390 KiB. */
struct ek_controller_record {
    struct ek_plan desired;
    struct ek_rollouts rollouts;
    struct ek_fleet_limits limits;
    struct ek_fleet_accepted_set normal;
    int pins;
    struct ek_controller_pin pin[EK_PINS_MAX]; /* pins of operators; strings are owned */
};

/* Free all content; the record is then empty and can be used again. It starts as {0}. */
void ek_controller_record_clear(struct ek_controller_record *s);
/* Return a view of the record and `plan` for a controller; valid as long as both. */
struct ek_controller_memory ek_controller_record_memory(const struct ek_controller_record *s,
                                                        const struct ek_plan *plan);

/* Reader of a record: its names, and results of reading. */
struct ek_controller_record_reader {
    const struct ek_manifest *manifest;
    /* Set *cell to the cell of these names, -1: none available. Return 0, or EK_ENOMEM. */
    int (*cell_of)(void *context, const struct ek_fleet_cell *names, int *cell);
    void *context;
    bool decides;     /* may become leader: read pins and ended rollouts too */
    uint64_t profile; /* hash of the local profile; accepts under other profiles are skipped */
    /* Set by reading. */
    int outdated;                /* skipped accepts */
    int missed;                  /* plan entries without a known feature or cell */
    bool apart[EK_FEATURES_MAX]; /* features with a `mode_in` cell that is unknown here: their lists
                                    cannot be distinguished */
};

/* Read an open record into *plan and *s, both empty; *plan gets the version of the record. Return
 * 0, or EK_ENOMEM; both may then be partly filled. */
int ek_controller_record_read(const struct ek_fleet_plan *record,
                              struct ek_controller_record_reader *r, struct ek_plan *plan,
                              struct ek_controller_record *s);
/* Append the fields that ek_controller_record_read reads to a started record. `names_of` returns
 * the names of a cell. Errors are in w->rc. */
void ek_controller_record_write(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                                const struct ek_manifest *m,
                                const struct ek_controller_memory *memory,
                                const struct ek_fleet_accepted_set *normal,
                                struct ek_fleet_cell (*names_of)(const void *context, int cell),
                                const void *context);

#endif
