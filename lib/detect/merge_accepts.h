/* Joining what two detectors were told is normal: an accept that one of them has holds for what
 * both have seen. Of accepts of one place on both sides those of here go on; the others are gone
 * with that. An accept keeps its number, unless it is taken here. */
#ifndef EK_DECIDE_MERGE_ACCEPTS_H
#define EK_DECIDE_MERGE_ACCEPTS_H

#include "detect/detector_internal.h"
#include "detect/row_order.h"

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

#endif
