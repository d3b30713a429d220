/* Merge of two detectors that learned from different parts of the traffic.
 *
 * The last EK_HISTORY lists are kept, ordered by time. If both have a finding for the same feature
 * and segment, a confirmed one stays, by preference that of `into`, and the other is dismissed.
 * Merged findings keep their numbers unless those are in use. A finding is dismissed if its value
 * gets no cell.
 *
 * Evidence is summed: without a change, R expects at most the number of lists, so the sum is valid
 * for all lists (evidence.h). Tracked levels are averaged by lists. Where either detector has an
 * open finding the sum restarts, which delays detection and never causes a false alarm.
 *
 * An accept of either detector applies to the lists of both. If both accepted a shift of the same
 * feature and segment, that of `into` stays. A version changes only if it is in use.
 */
#ifndef EK_DETECT_MERGE_H
#define EK_DETECT_MERGE_H

#include "detect/detector.h"
#include "detect/detector_internal.h"
#include "detect/history.h"

/* Merge only the cells and their counts. Values without a free cell join the pool of their
 * dimension. to [ek_cells_count(from)] maps the cells, -1 for a dimension unknown to `into`. Return
 * 0, or EK_ENOMEM: `into` is unusable. */
int ek_detector_adopt_cells(struct ek_detector *into, const struct ek_cells *from, int16_t *to);
/* Merge the complete state of a detector with the same assets; `from` stays unchanged. Neither may
 * have queued findings. to: as in ek_detector_adopt_cells. Dismissals are queued as findings.
 * Return 0, or EK_ENOMEM: `into` is unusable. */
int ek_detector_merge(struct ek_detector *into, const struct ek_detector *from, int16_t *to);
/* Return whether a finding on the feature is open in the cell. */
bool ek_detector_has_open(const struct ek_detector *d, int feature, int cell);

#endif
