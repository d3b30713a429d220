/* Registry of segments: all traffic (cell 0) and the most frequent values of the segment
 * dimensions.
 *
 * Each new value gets a cell while cells are free. Then the busiest values across all dimensions
 * keep their cells. The other values of a dimension share one cell ("other", value NULL): they are
 * pooled. A pooled value takes the cell of the least busy value once it is clearly busier. Its
 * recent lists must exceed EK_CELLS_ENTRY_RATIO * (lists of that value + EK_CELLS_ENTRY_LISTS)
 * (space_saving.h). The margin keeps two similar values from alternating. A retained cell (open
 * finding, plan entry) is never reassigned.
 *
 * A value longer than EK_SEGMENT_BYTES_MAX is pooled, unless a checkpoint assigned it a cell. A
 * cell number is stable while its value keeps the cell. Pooling depends on frequencies only. Not
 * thread-safe.
 */
#ifndef EK_DETECT_CELLS_H
#define EK_DETECT_CELLS_H

#include "lists/list.h"
#include "rules/rules.h"
#include "base/serialize.h"

enum {
    EK_CELLS_DEFAULT_MAX = 256,
    EK_CELLS_PER_LIST = 1 + EK_DIMENSIONS_MAX,
    EK_CELLS_ENTRY_LISTS = 8,
    EK_CELLS_ENTRY_RATIO = 2
};

/* All cells of a list, as bits. */
#define EK_CELLS_ALL UINT32_MAX
_Static_assert(EK_CELLS_PER_LIST <= 32, "a bit for each");

struct ek_cells;

/* Statistics of one dimension. */
struct ek_cells_share {
    const char *dimension;
    int own;                /* values with a cell */
    double pooled_values;   /* estimated number of distinct values that were ever pooled */
    uint64_t lists, pooled; /* lists with a value, and those with a pooled value */
};

/* Create a registry. dimensions [count] are copied; `limit` caps the cells, pools excluded. Return
 * 0 or EK_ENOMEM. */
int ek_cells_new(struct ek_cells **out, char *const *dimensions, int count, int limit);
void ek_cells_free(struct ek_cells *c);
/* Return the number of segment dimensions. */
int ek_cells_dimensions(const struct ek_cells *c);
/* Return the number of cells in use; they are 0 .. count - 1. */
int ek_cells_count(const struct ek_cells *c);
/* Return the largest possible number of cells, pools included. */
int ek_cells_max(const struct ek_cells *c);
/* Return the largest possible number of cells, pools excluded. */
int ek_cells_limit(const struct ek_cells *c);
/* Count a list and look up its cells: ids[0] is 0, ids[1 + d] the cell of dimension d or -1 without
 * a value. Reassign cells only if `may_take`. Return 0, or EK_ENOMEM: ids are undefined and some
 * dimensions may have counted the list. */
int ek_cells_lookup(struct ek_cells *c, const struct ek_list *q, int may_take,
                    int16_t ids[EK_CELLS_PER_LIST]);
/* Look up the cells of a list without counting it. A value without a cell gets the pool of its
 * dimension, or -1 if the dimension has none. */
void ek_cells_find(const struct ek_cells *c, const struct ek_list *q,
                   int16_t ids[EK_CELLS_PER_LIST]);
/* Return the cells that the last list reassigned, and set *count; valid until the next list. Data
 * stored under these numbers belongs to other values. */
const int16_t *ek_cells_reused(const struct ek_cells *c, int *count);
/* Return the total number of reassignments. */
uint64_t ek_cells_reuse_count(const struct ek_cells *c);
/* Return whether `cell` was reassigned after ek_cells_reuse_count was `ever`. */
bool ek_cells_is_reused_since(const struct ek_cells *c, int cell, uint64_t ever);
/* Set *cell to the cell of a value, by dimension name (text NULL: all traffic; value NULL: the
 * pool). A value without a cell gets one, counted as one list; the least busy one if `may_take` and
 * none is free. *cell is -1 if none is available. Return 0 or EK_ENOMEM. */
int ek_cells_assign(struct ek_cells *c, struct ek_text dimension, struct ek_text value,
                    int may_take, int *cell);
/* Protect a cell from reassignment until ek_cells_release was called as often. */
void ek_cells_retain(struct ek_cells *c, int cell);
/* Undo one ek_cells_retain. */
void ek_cells_release(struct ek_cells *c, int cell);
/* Return the number of the segment dimension of a cell, -1 for all traffic. */
int ek_cells_dimension(const struct ek_cells *c, int cell);
/* Return whether one list can belong to both cells. */
bool ek_cells_share_lists(const struct ek_cells *c, int a, int b);
/* Return the name of the segment dimension of a cell, valid as long as the registry; NULL for all
 * traffic. */
const char *ek_cells_dimension_name(const struct ek_cells *c, int cell);
/* Return the value of a cell, valid until it is reassigned; NULL for all traffic or "other". */
const char *ek_cells_value(const struct ek_cells *c, int cell);
/* Return the statistics of a segment dimension: estimated number of its values, and its lists, also
 * those without a cell. The name is valid as long as the registry. */
struct ek_cells_share ek_cells_get_share(const struct ek_cells *c, int dimension);
/* Merge the counts and values of another registry. A value keeps its cell in `into`, gets a free
 * one or is pooled. to [ek_cells_count(from)] maps the cells, -1 for a dimension unknown to `into`.
 * Candidates are not merged. Return 0, or EK_ENOMEM after a partial merge. */
int ek_cells_merge(struct ek_cells *into, const struct ek_cells *from, int16_t *to);
/* Read or write everything except dimension names, retain counts and the cells reassigned last.
 * Read into a new registry of the same dimensions. Errors are in s->rc. */
void ek_cells_serialize(struct ek_cells *c, struct ek_serialize *s);

#endif
