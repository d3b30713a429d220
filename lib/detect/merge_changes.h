/* The open changes of two detectors, whose lists have come in one order, united; internal. */
#ifndef EK_DECIDE_MERGE_CHANGES_H
#define EK_DECIDE_MERGE_CHANGES_H

#include "detect/detector.h"
#include "detect/row_order.h"

/* Rows are those of the new order from here on. to: cells of `from`, here. */
void ek_changes_merge(struct ek_detector *into, const struct ek_detector *from,
                      const struct ek_row_order *order, const int16_t *to);

#endif
