/* Ring of the last EK_HISTORY lists, with their statistics, cells and query features, and the
 * merged order of two such rings.
 *
 * Shared by all cells. Row numbers increase forever; the oldest rows are overwritten. Residual r is
 * relative to the stratum's level. Memory: 16 bytes per row and item feature, 4 per query feature.
 *
 * A list may be observed in some of its cells only (detector.h). A row has the number of a cell
 * that did not observe it as ek_row_skipped, so that it is no list of that cell to a diagnosis.
 */
#ifndef EK_DETECT_HISTORY_H
#define EK_DETECT_HISTORY_H

#include "base/serialize.h"
#include "detect/cells.h"
#include "num/list_stats.h"

enum { EK_HISTORY = 4096 };

struct ek_history_row {
    uint64_t query; /* list number in the stream, including repeats */
    int64_t time_ms;
    int stratum; /* index in the profile */
    int16_t cell[EK_CELLS_PER_LIST];
};

/* Return the number of a cell in a row that the cell did not observe. */
static inline int16_t ek_row_skipped(int16_t cell)
{
    return (int16_t)(-2 - cell);
}

/* Return the cell of a number in a row, whether or not it observed the row; -1: none. */
static inline int16_t ek_row_cell(int16_t number)
{
    return number < -1 ? ek_row_skipped(number) : number;
}

struct ek_history;

/* Create an empty history of rows with this many features, query features and cells each. Return 0
 * or EK_ENOMEM. */
int ek_history_new(struct ek_history **out, int features, int query_features, int cells_per_query);
void ek_history_free(struct ek_history *h);
/* Append a row, which replaces the oldest one of a full ring. Return it, and set *records
 * [features] and *query [query_features]; the history owns all three, and the caller fills them
 * before the next call, because they are undefined. */
struct ek_history_row *ek_history_push(struct ek_history *h, struct ek_list_stats **records,
                                       float **query);
/* Return the number of rows ever appended. Row i is readable while count - EK_HISTORY <= i <
 * count. */
uint64_t ek_history_count(const struct ek_history *h);
/* Return the oldest readable row. */
uint64_t ek_history_first(const struct ek_history *h);
/* Return a readable row; it is valid until EK_HISTORY more rows are appended. */
const struct ek_history_row *ek_history_row(const struct ek_history *h, uint64_t i);
/* Return the list statistics [features] of a readable row; they are valid until EK_HISTORY more
 * rows are appended. */
const struct ek_list_stats *ek_history_records(const struct ek_history *h, uint64_t i);
/* Return the query features of a readable row; they are valid until EK_HISTORY more rows are
 * appended. */
const float *ek_history_query(const struct ek_history *h, uint64_t i);
/* Return the lists per day according to the times of the rows, or 0 for few rows or constant
 * times. */
double ek_history_lists_per_day(const struct ek_history *h);
/* Remove a reassigned cell from all rows; they have no cell in its dimension afterwards. */
void ek_history_reset_cell(struct ek_history *h, int cell);
/* Subtract shift_ln from the residual of a feature in row i, which must be readable. */
void ek_history_subtract_shift(struct ek_history *h, uint64_t i, int feature, double shift_ln);
/* Return 1 if row i, which must be readable, belongs to a cell, else 0. */
int ek_history_row_in_cell(const struct ek_history *h, uint64_t i, int cell);
/* Return 1 if row i, which must be readable, was observed in a cell, else 0. */
int ek_history_is_observed(const struct ek_history *h, uint64_t i, int cell);
struct ek_row_order;
/* Merge the rows of `there` in the given order; `to` maps its cells. A merged row gets the list
 * number of the row before it. Return 0, or EK_ENOMEM, which changes nothing. */
int ek_history_merge(struct ek_history *h, const struct ek_history *there,
                     const struct ek_row_order *order, const int16_t *to);
/* Read or write the number of rows ever appended. Errors are in s->rc. */
void ek_history_count_serialize(struct ek_history *h, struct ek_serialize *s);
/* Read or write the rows in slots first .. end - 1 of the ring, all in use. Reading a stratum >=
 * `strata` or a cell >= `cells` sets EK_EFORMAT. Errors are in s->rc. */
void ek_history_cells_serialize(struct ek_history *h, struct ek_serialize *s, int first, int end,
                                int strata, int cells);

/* Merged order of the rows of two histories: by time, with the rows of each in their own order. */
/* New row numbers of one history, and the number of rows it ever had. */
struct ek_rows_moved {
    uint64_t count;
    uint64_t number[EK_HISTORY]; /* by slot */
};

struct ek_row_order {
    uint64_t count, first;      /* of the merged history: rows ever, first row kept */
    uint16_t place[EK_HISTORY]; /* slot of row first + i in its original ring */
    bool is_other[EK_HISTORY];  /* whether row first + i is from the second history */
    struct ek_rows_moved here, there;
};

/* Set *out to the merged order of two histories by time, which keeps the last EK_HISTORY rows. */
void ek_row_order(const struct ek_history *here, const struct ek_history *there,
                  struct ek_row_order *out);
/* Return the new number of a row. A row already overwritten or still to be appended maps to a
 * number on the same side. */
uint64_t ek_row_moved(const struct ek_row_order *o, const struct ek_rows_moved *moved,
                      uint64_t row);

#endif
