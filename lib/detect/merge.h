/* Joining what two detectors were told is normal: an accept that one of them has holds for what
 * both have seen. Of accepts of one place on both sides those of here go on; the others are gone
 * with that. An accept keeps its number, unless it is taken here. */
#ifndef EK_DETECT_MERGE_H
#define EK_DETECT_MERGE_H

#include "detect/detector.h"
#include "detect/detector_internal.h"
#include "detect/history.h"

/* The open changes of two detectors, whose lists have come in one order, united; internal. */

/* Two detectors as one: what each has learnt of its part of the traffic.
 *
 * Lists that are remembered come in one order, that of their times, the last EK_HISTORY of them.
 * Open changes are united: of two of the same feature and cell a confirmed one stays, if both are
 * the one from here, and the other is dismissed. Those that come from there keep their numbers
 * unless they are taken here.
 *
 * Evidence adds up: while nothing has happened each R expects at most as much as it has had lists,
 * so their sum does for the lists of both (evidence.h). Tracked levels are weighted by
 * lists. Where one of them has an open change the sum starts at nothing, which costs time and
 * never a false alarm.
 */
/* Values of `from` get cells of their own as far as there is room, else share the pool of their
 * dimension. to [ek_cells_count(from)]: numbers of its cells here, -1 where it has a dimension that
 * is not among those here. Nothing but the counts of the registry is taken over. EK_ENOMEM: of no
 * use any more. */
int ek_detector_adopt_cells(struct ek_detector *into, const struct ek_cells *from, int16_t *to);
/* The same, and all that a detector of the same assets has learnt, which stays as it is. Both have
 * no findings that wait; what is dismissed is one. */
int ek_detector_merge(struct ek_detector *into, const struct ek_detector *from, int16_t *to);
/* Whether a change of a feature in a cell is open. */
bool ek_detector_has_open(const struct ek_detector *d, int feature, int cell);

#endif
