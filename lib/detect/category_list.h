/* What one list says about a category feature: the share of each value it has.
 *
 * Shares are of the present items; -0 is 0; NaN is missing. Owner: the caller; memory is reused
 * from list to list and grows only.
 */
#ifndef EK_DECIDE_CATEGORY_LIST_H
#define EK_DECIDE_CATEGORY_LIST_H

#include "lists/query.h"

struct ek_category_share {
    float value, share;
};

struct ek_category_list {
    struct ek_category_share *of; /* [count] different values, rising */
    int count;                    /* 0: all are missing */
    float *scratch;
    int capacity;
};

void ek_category_list_release(struct ek_category_list *l);
/* Values of an item feature of q. EK_ENOMEM. */
int ek_category_list_read(struct ek_category_list *l, const struct ek_query *q, int feature);

#endif
