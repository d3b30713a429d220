/* The order of the rows of two histories in one: by time, the rows of each in their own order. */
#ifndef EK_DECIDE_ROW_ORDER_H
#define EK_DECIDE_ROW_ORDER_H

#include "detect/history.h"

/* Of one history: how many rows it ever had, and the new number of each that it remembers. */
struct ek_rows_moved {
    uint64_t count;
    uint64_t number[EK_HISTORY]; /* by place */
};

struct ek_row_order {
    uint64_t count, first;      /* of the new history: rows ever, the first that is remembered */
    uint16_t place[EK_HISTORY]; /* of row first + i in the ring it comes from ... */
    bool is_other[EK_HISTORY];  /* ... of the second history */
    struct ek_rows_moved here, there;
};

/* EK_HISTORY rows at most are remembered, the last ones. */
void ek_row_order(const struct ek_history *here, const struct ek_history *there,
                  struct ek_row_order *out);
/* New number of a row; of one that was forgotten, or is still to come, one on the same side. */
uint64_t ek_row_moved(const struct ek_row_order *o, const struct ek_rows_moved *moved,
                      uint64_t row);

#endif
