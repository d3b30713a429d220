/* Cells: all traffic, and the values of the segment dimensions of the rules that are seen most.
 *
 * Cell 0 is all traffic. Values appear at run time. While there is room each gets a cell of its
 * own; then the busiest keep theirs, all dimensions together, and the others share one cell per
 * dimension ("other", value NULL): pooled. A pooled value takes the cell of the least busy one when
 * it has surely had more than EK_CELLS_ENTRY_RATIO times as many of the last lists, with
 * EK_CELLS_ENTRY_LISTS added to what that one had (space_saving.h): so a newcomer gets a cell, and
 * two of a kind do not take turns. A cell in use (an open change, an entry of the plan) is not
 * taken.
 *
 * A value longer than EK_SEGMENT_BYTES_MAX is pooled, unless a state brings it with a cell.
 *
 * Numbers are stable while a value has its cell. Which value is pooled depends on how often values
 * come, and not on what they are called. Owner: the caller. One thread at a time.
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

struct ek_cells;

/* What is known of one dimension. */
struct ek_cells_share {
    const char *dimension;
    int own;                /* values with a cell */
    double pooled_values;   /* that ever came and went without one, about */
    uint64_t lists, pooled; /* lists with a value, and those whose value had no cell */
};

/* dimensions: names, copied. limit: cells in all, those of the pools not counted. */
int ek_cells_new(struct ek_cells **out, char *const *dimensions, int count, int limit);
void ek_cells_free(struct ek_cells *c);
int ek_cells_dimensions(const struct ek_cells *c);
/* How many numbers are in use, and how many there can be. */
int ek_cells_count(const struct ek_cells *c);
int ek_cells_max(const struct ek_cells *c);
int ek_cells_limit(const struct ek_cells *c);
/* Cells of a list, which counts: ids[0] is 0, ids[1 + d] the cell of dimension d or -1 when the
 * list does not have it. A cell may change hands only when `may_take`. EK_ENOMEM: the list has no
 * cells; some dimensions may have counted it. */
int ek_cells_lookup(struct ek_cells *c, const struct ek_list *q, int may_take,
                    int16_t ids[EK_CELLS_PER_LIST]);
/* The cells that a list would have if it counted, and none changed hands for it: a value without a
 * cell has the pool of its dimension, -1 before there is one. */
void ek_cells_find(const struct ek_cells *c, const struct ek_list *q,
                   int16_t ids[EK_CELLS_PER_LIST]);
/* Cells that changed hands with the last list: all that was kept under these numbers is of another
 * value. */
const int16_t *ek_cells_reused(const struct ek_cells *c, int *count);
/* How many ever did; and, for who looks less often, whether a cell has since there were so many. */
uint64_t ek_cells_reuse_count(const struct ek_cells *c);
bool ek_cells_is_reused_since(const struct ek_cells *c, int cell, uint64_t ever);
/* Cell of a value by its dimension's name (text NULL: all traffic; value NULL: the pool), for a
 * value that no list brought: it gets a cell if it has none, as of one list, that of the least busy
 * one too when it `may_take` and there is no room. -1 when there is none. EK_ENOMEM. */
int ek_cells_assign(struct ek_cells *c, struct ek_text dimension, struct ek_text value,
                    int may_take, int *cell);
/* Keeps a cell from being taken, once per call, until released as often. */
void ek_cells_retain(struct ek_cells *c, int cell);
void ek_cells_release(struct ek_cells *c, int cell);
/* Dimension of a cell, -1 for all traffic; its name and value (NULL for all traffic / "other"). The
 * value is good until the cell is taken. */
int ek_cells_dimension(const struct ek_cells *c, int cell);
const char *ek_cells_dimension_name(const struct ek_cells *c, int cell);
const char *ek_cells_value(const struct ek_cells *c, int cell);
struct ek_cells_share ek_cells_get_share(const struct ek_cells *c, int dimension);
/* Counts of another registry, and its values: each has the cell it has here, a free one, or the
 * pool of its dimension. to [ek_cells_count(from)]: their numbers here, -1 for a dimension that is
 * not among those here. Who nearly had a cell there is not taken over. EK_ENOMEM: some were. */
int ek_cells_merge(struct ek_cells *into, const struct ek_cells *from, int16_t *to);
/* All but the names of the dimensions, who holds cells, and what the last list took. */
void ek_cells_serialize(struct ek_cells *c, struct ek_serialize *s);

#endif
