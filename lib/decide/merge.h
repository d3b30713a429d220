/* Two detectors as one: what each has learnt of its part of the traffic.
 *
 * Evidence adds up: while nothing has happened each R expects at most as much as it has had lists,
 * so their sum does for the lists of both (decide/evidence.h). Tracked levels are weighted by
 * lists. Where one of them has an open change the sum starts at nothing, which costs time and
 * never a false alarm.
 */
#ifndef EK_DECIDE_MERGE_H
#define EK_DECIDE_MERGE_H

#include "decide/detector.h"

/* Values of `from` get cells of their own as far as there is room, else share the pool of their
 * dimension. to [ek_cells_count(from)]: numbers of its cells here, -1 where it has a dimension that
 * is not among those here. Nothing but the counts of the registry is taken over. EK_ENOMEM: of no
 * use any more. */
int ek_detector_adopt_cells(struct ek_detector *into, const struct ek_cells *from, int16_t *to);
/* The same, and evidence, levels and habits of a detector of the same assets, which stays as it is.
 * Lists that `from` remembers and what it has open are not taken over. */
int ek_detector_merge(struct ek_detector *into, const struct ek_detector *from, int16_t *to);

#endif
