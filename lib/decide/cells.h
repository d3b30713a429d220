/* Cells: all traffic, and each value of the segment dimensions of the rules.
 *
 * Cell 0 is all traffic. Values appear at run time; the first `limit` of them get a cell of their
 * own, later ones share one cell per dimension ("other", value NULL). Owner: the caller. Numbers
 * are stable for the life of the registry.
 */
#ifndef EK_DECIDE_CELLS_H
#define EK_DECIDE_CELLS_H

#include "data/query.h"
#include "data/rules.h"

enum { EK_CELLS_DEFAULT_MAX = 256, EK_CELLS_PER_QUERY = 1 + EK_DIMENSIONS_MAX };

struct ek_cells;

/* dimensions: names, copied. limit: cells in all. */
int ek_cells_new(struct ek_cells **out, char *const *dimensions, int count, int limit);
void ek_cells_free(struct ek_cells *c);
int ek_cells_dimensions(const struct ek_cells *c);
int ek_cells_count(const struct ek_cells *c);
/* Cells of a list: ids[0] is 0, ids[1 + d] the cell of dimension d or -1 when the list does not
 * have it. EK_ENOMEM. */
int ek_cells_of(struct ek_cells *c, const struct ek_query *q, int16_t ids[EK_CELLS_PER_QUERY]);
/* Dimension of a cell, -1 for all traffic; its name and value (NULL for all traffic / "other"). */
int ek_cells_dimension(const struct ek_cells *c, int cell);
const char *ek_cells_dimension_name(const struct ek_cells *c, int cell);
const char *ek_cells_value(const struct ek_cells *c, int cell);

#endif
