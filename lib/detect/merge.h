/* Joining what two detectors were told is normal: an accept that one of them has holds for what
 * both have seen. Of accepts of one place on both sides those of here go on; the others are gone
 * with that. An accept keeps its number, unless it is taken here. */
#ifndef EK_DETECT_MERGE_H
#define EK_DETECT_MERGE_H

#include "detect/detector.h"
#include "detect/detector_internal.h"
#include "detect/history.h"

/* Values that have an accept there get a cell here, and hold it: before the cells are merged. One
 * for which there is no room loses it. EK_ENOMEM. */
int ek_accepts_hold(struct ek_detector *into, const struct ek_detector *from);
/* Behind the rows, before the changes. to: numbers of the cells from there, here. */
void ek_accepts_merge(struct ek_detector *into, const struct ek_detector *from,
                      const struct ek_row_order *o, const int16_t *to);
/* A change from there, in the terms of here, behind ek_accepts_merge: whether an accept of here has
 * made it none. Its level is against what is normal here then. */
bool ek_accepts_end(const struct ek_detector *into, const struct ek_detector *from,
                    const int16_t *to, struct ek_episode *e);

/* The open changes of two detectors, whose lists have come in one order, united; internal. */
/* Rows are those of the new order from here on. to: cells of `from`, here. */
void ek_changes_merge(struct ek_detector *into, const struct ek_detector *from,
                      const struct ek_row_order *order, const int16_t *to);

/* Two detectors as one: what each has learnt of its part of the traffic.
 *
 * Lists that are remembered come in one order, that of their times, the last EK_HISTORY of them.
 * Open changes are united: of two of the same feature and cell a confirmed one stays, if both are
 * the one from here, and the other is dismissed. Those that come from there keep their numbers
 * unless they are taken here.
 *
 * Evidence adds up: while nothing has happened each R expects at most as much as it has had lists,
 * so their sum does for the lists of both (decide/evidence.h). Tracked levels are weighted by
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
