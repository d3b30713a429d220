/* The last lists of the stream, as far as a diagnosis needs them: records, cells, query features.
 *
 * A ring of EK_HISTORY rows, shared by all cells. Row numbers count up for ever; the oldest rows
 * are overwritten. Record r is against the stratum's level. Memory: 16 bytes per row and item
 * feature, 4 per query feature.
 */
#ifndef EK_DETECT_HISTORY_H
#define EK_DETECT_HISTORY_H

#include "base/serialize.h"
#include "detect/cells.h"
#include "num/list_stats.h"

enum { EK_HISTORY = 4096 };

struct ek_history_row {
    uint64_t query; /* number in the stream, repeats counted */
    int64_t time_ms;
    int stratum; /* of the profile */
    int16_t cell[EK_CELLS_PER_LIST];
};

struct ek_history;

int ek_history_new(struct ek_history **out, int features, int query_features, int cells_per_query);
void ek_history_free(struct ek_history *h);
/* Opens the next row; records [features] and query [query_features] are to be filled by the caller.
 */
struct ek_history_row *ek_history_push(struct ek_history *h, struct ek_list_stats **records,
                                       float **query);
/* Rows ever pushed; row i may be read while count - EK_HISTORY <= i < count. */
uint64_t ek_history_count(const struct ek_history *h);
uint64_t ek_history_first(const struct ek_history *h);
const struct ek_history_row *ek_history_row(const struct ek_history *h, uint64_t i);
const struct ek_list_stats *ek_history_records(const struct ek_history *h, uint64_t i);
const float *ek_history_query(const struct ek_history *h, uint64_t i);
/* How many lists come in a day, by the times of the rows; 0: not known, for few rows or times that
 * do not move on. */
double ek_history_lists_per_day(const struct ek_history *h);
/* Lists of a cell that has changed hands are of no cell in its dimension from now on. */
void ek_history_reset_cell(struct ek_history *h, int cell);
/* What row i says of a feature, against a level higher by shift_ln. */
void ek_history_lower_bound(struct ek_history *h, uint64_t i, int feature, double shift_ln);
/* Whether row i belongs to a cell. */
int ek_history_row_in_cell(const struct ek_history *h, uint64_t i, int cell);
struct ek_row_order;
/* Takes the rows of another one in, in that order; to: numbers of its cells here. Rows that come
 * from there have the list numbers of those from here before them. EK_ENOMEM leaves all as it was.
 */
int ek_history_merge(struct ek_history *h, const struct ek_history *there,
                     const struct ek_row_order *order, const int16_t *to);
/* How many rows there ever were; then those in the places first .. end - 1 of the ring, which have
 * one; their strata and cells are below the counts. */
void ek_history_count_serialize(struct ek_history *h, struct ek_serialize *s);
void ek_history_cells_serialize(struct ek_history *h, struct ek_serialize *s, int first, int end,
                                int strata, int cells);

/* The order of the rows of two histories in one: by time, the rows of each in their own order. */
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
