/* The trial record: what one instance has tried of each route, for the guardrails of the decider
 * (docs/format/fleet.md).
 *
 * Figures are all that came since a route's present turn began, not what came since the last
 * record: so the newest record of an instance says all, one that is lost does no harm, and whoever
 * begins to decide knows of each route what was tried before. They add up over instances.
 * Plain figures of a trial (`plain`, `alone`) stay with the instance.
 */
#ifndef EK_FLEET_COMPARISON_RECORD_H
#define EK_FLEET_COMPARISON_RECORD_H

#include "fleet/evidence_report.h"
#include "fleet/fleet_plan_fields.h"
#include "serve/comparison_sums.h"

/* What it says of the instance as a whole, since its start. */
struct ek_fleet_comparisons_total {
    bool drifted; /* the model no longer ranks as its upstream */
    struct ek_comparisons_total is;
};

/* Feature and cell of `is` are not filled in. */
struct ek_fleet_comparison {
    struct ek_fleet_place place;
    struct ek_comparison_sums is;
};

/* Adds the record. head but for its dimensions is the caller's; cells are of that registry.
 * EK_ENOMEM, EK_ELIMIT of the buffer. */
int ek_fleet_comparisons_write(const struct ek_comparisons *t, bool drifted,
                               const struct ek_manifest *m, const struct ek_cells *cells,
                               const struct ek_fleet_head *head, struct ek_buf *out);

/* A record that was opened; good as long as its bytes. */
struct ek_fleet_comparisons {
    struct ek_fleet_head head;
    struct ek_fleet_comparisons_total all;
    struct ek_serialize content; /* behind these */
};

/* Checks all of it. EK_EFORMAT, EK_ESTATE for another manifest. */
int ek_fleet_comparisons_open(struct ek_fleet_comparisons *t, const void *bytes, size_t length,
                              const struct ek_manifest *m, struct ek_error *e);
/* Tells of each route, in its order; 0, or what `route` returned. */
int ek_fleet_comparisons_each(const struct ek_fleet_comparisons *t,
                              int (*route)(void *context, const struct ek_fleet_comparison *trial),
                              void *context);

#endif
