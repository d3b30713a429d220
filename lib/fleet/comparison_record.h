/* Comparison record: results of shadow scoring on one instance, by route, for the guardrails of the
 * leader (docs/dev/formats/fleet.md).
 *
 * Sums cover the time since the start of a route, not since the last record. So the last record of
 * an instance is sufficient, a lost record does no harm, and a new leader knows all earlier
 * comparisons. Sums add up over instances. Comparisons of upstream and model order without a route
 * (`plain`, `alone`) are not written.
 */
#ifndef EK_FLEET_COMPARISON_RECORD_H
#define EK_FLEET_COMPARISON_RECORD_H

#include "fleet/evidence_report.h"
#include "fleet/fleet_plan_fields.h"
#include "serve/comparison_sums.h"

/* Totals of the instance since its start. */
struct ek_fleet_comparisons_total {
    bool drifted; /* the model no longer agrees with upstream */
    struct ek_comparisons_total is;
};

/* Feature and cell of `is` are not set. */
struct ek_fleet_comparison {
    struct ek_fleet_place place;
    struct ek_comparison_sums is;
};

/* Append the record of the sums `t` to `out`. `drifted`: the model no longer agrees with upstream.
 * The caller sets `head` except its dimensions; cells refer to `cells`. Return 0, EK_ENOMEM, or
 * EK_ELIMIT if `out` is full; on error `out` is unchanged. */
int ek_fleet_comparisons_write(const struct ek_comparisons *t, bool drifted,
                               const struct ek_manifest *m, const struct ek_cells *cells,
                               const struct ek_fleet_head *head, struct ek_buf *out);

/* Open record; a view into its bytes. */
struct ek_fleet_comparisons {
    struct ek_fleet_head head;
    struct ek_fleet_comparisons_total all;
    struct ek_serialize content; /* rest of the record */
};

/* Open and check a whole record, which must outlive *t. Return 0, EK_EFORMAT, or EK_ESTATE for
 * another manifest; on error *t is undefined. */
int ek_fleet_comparisons_open(struct ek_fleet_comparisons *t, const void *bytes, size_t length,
                              const struct ek_manifest *m, struct ek_error *e);
/* Call `route` for each route in order; strings are views into the record. Return 0, or the first
 * nonzero result of `route`, which ends the loop. */
int ek_fleet_comparisons_each(const struct ek_fleet_comparisons *t,
                              int (*route)(void *context, const struct ek_fleet_comparison *trial),
                              void *context);

#endif
