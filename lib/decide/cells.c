#include "decide/cells.h"

#include "base/alloc.h"

#include <string.h>

struct cell {
    int dimension;
    char *value;
    size_t length;
};

struct ek_cells {
    int dimensions, count, limit;
    char *name[EK_DIMENSIONS_MAX];
    int other[EK_DIMENSIONS_MAX]; /* cell of the late-comers, -1 before the first */
    struct cell *cell;            /* [limit + dimensions] */
};

int ek_cells_new(struct ek_cells **out, char *const *dimensions, int count, int limit)
{
    struct ek_cells *c = ek_calloc(1, sizeof *c);
    if (!c)
        return EK_ENOMEM;
    c->limit = limit > 1 ? limit : 1;
    c->cell = ek_calloc((size_t)(c->limit + count), sizeof *c->cell);
    for (int d = 0; c->cell && d < count; d++, c->dimensions++) {
        c->other[d] = -1;
        if (!(c->name[d] = ek_strdup(dimensions[d])))
            break;
    }
    if (!c->cell || c->dimensions < count) {
        ek_cells_free(c);
        return EK_ENOMEM;
    }
    c->cell[0].dimension = -1;
    c->count = 1;
    *out = c;
    return EK_OK;
}

void ek_cells_free(struct ek_cells *c)
{
    if (!c)
        return;
    for (int i = 0; c->cell && i < c->count; i++)
        ek_free(c->cell[i].value);
    for (int d = 0; d < EK_DIMENSIONS_MAX; d++)
        ek_free(c->name[d]);
    ek_free(c->cell);
    ek_free(c);
}

int ek_cells_dimensions(const struct ek_cells *c)
{
    return c->dimensions;
}

int ek_cells_count(const struct ek_cells *c)
{
    return c->count;
}

static int find(const struct ek_cells *c, int dimension, struct ek_text value)
{
    for (int i = 1; i < c->count; i++)
        if (c->cell[i].dimension == dimension && c->cell[i].length == value.length &&
            c->cell[i].value && !memcmp(c->cell[i].value, value.text, value.length))
            return i;
    return -1;
}

static int add(struct ek_cells *c, int dimension, struct ek_text value, int16_t *id)
{
    int pooled = c->count >= c->limit;
    if (pooled && c->other[dimension] >= 0) {
        *id = (int16_t)c->other[dimension];
        return EK_OK;
    }
    char *copy = pooled ? NULL : ek_strndup(value.text, value.length);
    if (!pooled && !copy)
        return EK_ENOMEM;
    c->cell[c->count] = (struct cell){dimension, copy, pooled ? 0 : value.length};
    if (pooled)
        c->other[dimension] = c->count;
    *id = (int16_t)c->count++;
    return EK_OK;
}

int ek_cells_of(struct ek_cells *c, const struct ek_query *q, int16_t ids[EK_CELLS_PER_QUERY])
{
    ids[0] = 0;
    for (int d = 0; d < c->dimensions; d++) {
        struct ek_text value = ek_query_segment(q, c->name[d]);
        ids[1 + d] = value.text ? (int16_t)find(c, d, value) : -1;
        if (!value.text || ids[1 + d] >= 0)
            continue;
        int rc = add(c, d, value, &ids[1 + d]);
        if (rc)
            return rc;
    }
    return EK_OK;
}

int ek_cells_dimension(const struct ek_cells *c, int cell)
{
    return c->cell[cell].dimension;
}

const char *ek_cells_dimension_name(const struct ek_cells *c, int cell)
{
    return cell > 0 ? c->name[c->cell[cell].dimension] : NULL;
}

const char *ek_cells_value(const struct ek_cells *c, int cell)
{
    return c->cell[cell].value;
}
