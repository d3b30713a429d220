/* Which lists show a change: what acting on it is borne out by.
 *
 * A route acts on all lists of its cell, also on those that nothing is wrong with; so it is asked
 * of a confirmed change how many of its lists have it, and whether the newest have
 * (decide/policy.h, guard/control.h). A list counts from 0 to 1: of a level, by the chance that it
 * has moved, given shift and share; of other classes 1, where it is nearer to what was told than to
 * training. Where a list cannot say (it has no value) it counts as the others of the change do.
 * Lists that another finding explains are none of the change. Nothing is kept: all is read from the
 * history, which forgets after EK_HISTORY lists. Threads: those of the detector.
 */
#ifndef EK_DECIDE_SHOWS_H
#define EK_DECIDE_SHOWS_H

#include "decide/detector.h"

/* How far the list last observed shows the confirmed change, and the number of that; 0 and 0:
 * there is none, the list is not of it, or it was a repeat, of which nothing was learnt. */
double ek_detector_shows(const struct ek_detector *d, int feature, int cell, uint32_t *episode);
/* The same of all its lists since it began, as far as they are remembered. */
double ek_detector_shown(const struct ek_detector *d, int feature, int cell);

#endif
