#include "detect/cells.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "detect/space_saving.h"

#include <math.h>

enum {
    CANDIDATES_PER_CELL = 2,
    SEARCH_INTERVAL = 64, /* lists between two searches for the least busy cell */
    SEEN_BITS = 16384 /* bitmap that counts pooled values (linear counting; Whang et al. 1990) */
};

struct cell {
    int dimension;
    int held;
    char *value;
    uint64_t taken; /* value of taken_ever after it was reassigned; 0: never */
};

struct dimension {
    char *name;
    int other; /* cell of pooled values, -1: none yet */
    int own;
    int bits; /* bits set in `seen` */
    uint64_t lists, pooled;
    uint64_t seen[SEEN_BITS / 64];
};

struct ek_cells {
    int dimensions, count, own, limit;
    struct dimension *dimension; /* [dimensions] */
    struct cell *cell;           /* [limit + dimensions] */
    struct ek_space_saving *busy;
    int16_t taken[EK_CELLS_PER_LIST]; /* cells reassigned by the last list */
    int taken_count, since_look;
    uint64_t taken_ever; /* total reassignments */
    int least;           /* least busy cell that may be reassigned, -1: none */
};

int ek_cells_new(struct ek_cells **out, char *const *dimensions, int count, int limit)
{
    struct ek_cells *c = ek_calloc(1, sizeof *c);
    if (!c)
        return EK_ENOMEM;
    c->limit = limit > 1 ? limit : 1;
    c->least = -1;
    c->cell = ek_calloc((size_t)c->limit + (size_t)count, sizeof *c->cell);
    c->dimension = count ? ek_calloc((size_t)count, sizeof *c->dimension) : NULL;
    int rc = ek_space_saving_new(&c->busy, c->limit + count, CANDIDATES_PER_CELL * c->limit);
    for (; !rc && c->dimension && c->dimensions < count; c->dimensions++) {
        c->dimension[c->dimensions].other = -1;
        if (!(c->dimension[c->dimensions].name = ek_strdup(dimensions[c->dimensions])))
            break;
    }
    if (rc || !c->cell || c->dimensions < count) {
        ek_cells_free(c);
        return EK_ENOMEM;
    }
    c->cell[0].dimension = -1;
    c->count = c->own = 1;
    *out = c;
    return EK_OK;
}

void ek_cells_free(struct ek_cells *c)
{
    if (!c)
        return;
    for (int i = 0; c->cell && i < c->count; i++)
        ek_free(c->cell[i].value);
    for (int d = 0; c->dimension && d < c->dimensions; d++)
        ek_free(c->dimension[d].name);
    ek_space_saving_free(c->busy);
    ek_free(c->dimension);
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

int ek_cells_max(const struct ek_cells *c)
{
    return c->limit + c->dimensions;
}

int ek_cells_limit(const struct ek_cells *c)
{
    return c->limit;
}

const int16_t *ek_cells_reused(const struct ek_cells *c, int *count)
{
    *count = c->taken_count;
    return c->taken;
}

uint64_t ek_cells_reuse_count(const struct ek_cells *c)
{
    return c->taken_ever;
}

bool ek_cells_is_reused_since(const struct ek_cells *c, int cell, uint64_t ever)
{
    return c->cell[cell].taken > ever;
}

void ek_cells_retain(struct ek_cells *c, int cell)
{
    c->cell[cell].held++;
    if (c->least == cell)
        c->least = -1;
}

void ek_cells_release(struct ek_cells *c, int cell)
{
    c->cell[cell].held--;
}

static void find_smallest(struct ek_cells *c)
{
    c->least = -1;
    c->since_look = 0;
    for (int i = 1; i < c->count; i++)
        if (c->cell[i].value && !c->cell[i].held &&
            (c->least < 0 ||
             ek_space_saving_lists(c->busy, i) < ek_space_saving_lists(c->busy, c->least)))
            c->least = i;
}

/* Return the cell that a pooled value may take, or -1. The cached least busy cell may have become
 * busier, which is harmless because its current count is compared. */
static int cell_to_reuse(struct ek_cells *c, double lists)
{
    if (lists <= EK_CELLS_ENTRY_RATIO * EK_CELLS_ENTRY_LISTS)
        return -1;
    if (c->least < 0 || c->since_look >= SEARCH_INTERVAL)
        find_smallest(c);
    if (c->least < 0)
        return -1;
    double least = ek_space_saving_lists(c->busy, c->least) + EK_CELLS_ENTRY_LISTS;
    return lists > EK_CELLS_ENTRY_RATIO * least ? c->least : -1;
}

static int assign_cell(struct ek_cells *c, int cell, int d, struct ek_text value, uint64_t key)
{
    char *copy = ek_strndup(value.text, value.length);
    if (!copy)
        return EK_ENOMEM;
    struct cell *one = &c->cell[cell];
    uint64_t taken = 0;
    if (one->value) {
        c->dimension[one->dimension].own--;
        c->taken[c->taken_count++] = (int16_t)cell;
        taken = ++c->taken_ever;
        ek_free(one->value);
    }
    *one = (struct cell){d, 0, copy, taken};
    c->dimension[d].own++;
    ek_space_saving_assign(c->busy, key, cell);
    c->least = -1;
    return EK_OK;
}

/* Return the cell of pooled values, creating it at first use. */
static int find_pool(struct ek_cells *c, int d)
{
    struct dimension *dim = &c->dimension[d];
    if (dim->other < 0) {
        c->cell[c->count] = (struct cell){d, 0, NULL, 0};
        dim->other = c->count++;
    }
    return dim->other;
}

static int pool_value(struct ek_cells *c, int d, uint64_t key)
{
    struct dimension *dim = &c->dimension[d];
    uint64_t bit = key >> 32 & (SEEN_BITS - 1), mask = (uint64_t)1 << (bit & 63);
    dim->pooled++;
    dim->bits += !(dim->seen[bit / 64] & mask);
    dim->seen[bit / 64] |= mask;
    return find_pool(c, d);
}

static int assign_new(struct ek_cells *c, int d, struct ek_text value, uint64_t key)
{
    int rc = assign_cell(c, c->count, d, value, key);
    if (!rc) {
        c->count++;
        c->own++;
    }
    return rc;
}

static uint64_t key_of(int d, struct ek_text value)
{
    return ek_hash(value.text, value.length, (uint64_t)d + 1);
}

static int cell_of(struct ek_cells *c, int d, struct ek_text value, int may_take, int16_t *id)
{
    double lists;
    uint64_t key = key_of(d, value);
    c->dimension[d].lists++;
    if (value.length > EK_SEGMENT_BYTES_MAX && ek_space_saving_cell(c->busy, key) < 0) {
        *id = (int16_t)pool_value(c, d, key);
        return EK_OK;
    }
    int cell = ek_space_saving_count(c->busy, key, &lists);
    if (cell < 0) {
        int fresh = c->own < c->limit;
        int own = fresh ? c->count : may_take ? cell_to_reuse(c, lists) : -1;
        if (own >= 0 && (fresh ? assign_new(c, d, value, key) : assign_cell(c, own, d, value, key)))
            return EK_ENOMEM;
        cell = own >= 0 ? own : pool_value(c, d, key);
    }
    *id = (int16_t)cell;
    return EK_OK;
}

int ek_cells_lookup(struct ek_cells *c, const struct ek_list *q, int may_take,
                    int16_t ids[EK_CELLS_PER_LIST])
{
    int rc = EK_OK;
    ids[0] = 0;
    c->taken_count = 0;
    c->since_look += c->since_look < SEARCH_INTERVAL;
    ek_space_saving_list(c->busy);
    for (int d = 0; d < c->dimensions; d++) {
        struct ek_text value = ek_list_segment(q, c->dimension[d].name);
        ids[1 + d] = -1;
        if (rc || !value.text)
            continue;
        rc = cell_of(c, d, value, may_take, &ids[1 + d]);
        if (!rc)
            ek_cells_retain(c, ids[1 + d]); /* another value of this list must not take it */
    }
    for (int d = 0; d < c->dimensions; d++)
        if (ids[1 + d] >= 0)
            ek_cells_release(c, ids[1 + d]);
    return rc;
}

void ek_cells_find(const struct ek_cells *c, const struct ek_list *q,
                   int16_t ids[EK_CELLS_PER_LIST])
{
    ids[0] = 0;
    for (int d = 0; d < c->dimensions; d++) {
        struct ek_text value = ek_list_segment(q, c->dimension[d].name);
        int cell = value.text ? ek_space_saving_cell(c->busy, key_of(d, value)) : -1;
        if (value.text && cell < 0)
            cell = c->dimension[d].other;
        ids[1 + d] = (int16_t)cell;
    }
}

static int dimension_named(const struct ek_cells *c, struct ek_text name)
{
    int d = 0;
    while (d < c->dimensions && ek_text_compare(name, c->dimension[d].name) != 0)
        d++;
    return d < c->dimensions ? d : -1;
}

/* Assign a value an unused cell, else the least busy one. Set *cell to -1 if none is available. */
static int assign_for(struct ek_cells *c, int d, struct ek_text value, int may_take, int *cell)
{
    uint64_t key = key_of(d, value);
    int fresh = c->own < c->limit;
    if (!fresh)
        find_smallest(c);
    *cell = value.length > EK_SEGMENT_BYTES_MAX ? -1 : fresh ? c->count : may_take ? c->least : -1;
    if (*cell < 0)
        return EK_OK;
    ek_space_saving_add(c->busy, key, 1); /* only a counted key can own a cell */
    return fresh ? assign_new(c, d, value, key) : assign_cell(c, *cell, d, value, key);
}

int ek_cells_assign(struct ek_cells *c, struct ek_text dimension, struct ek_text value,
                    int may_take, int *cell)
{
    int d = dimension.text ? dimension_named(c, dimension) : -1;
    c->taken_count = 0;
    *cell = dimension.text ? -1 : 0;
    if (d < 0)
        return EK_OK;
    *cell = value.text ? ek_space_saving_cell(c->busy, key_of(d, value)) : c->dimension[d].other;
    return value.text && *cell < 0 ? assign_for(c, d, value, may_take, cell) : EK_OK;
}

int ek_cells_dimension(const struct ek_cells *c, int cell)
{
    return c->cell[cell].dimension;
}

bool ek_cells_share_lists(const struct ek_cells *c, int a, int b)
{
    return a == b || !a || !b || c->cell[a].dimension != c->cell[b].dimension;
}

const char *ek_cells_dimension_name(const struct ek_cells *c, int cell)
{
    return cell > 0 ? c->dimension[c->cell[cell].dimension].name : NULL;
}

const char *ek_cells_value(const struct ek_cells *c, int cell)
{
    return c->cell[cell].value;
}

struct ek_cells_share ek_cells_get_share(const struct ek_cells *c, int dimension)
{
    const struct dimension *d = &c->dimension[dimension];
    int clear = SEEN_BITS - d->bits;
    double values = SEEN_BITS * log((double)SEEN_BITS / (clear ? clear : 1));
    return (struct ek_cells_share){d->name, d->own, values, d->lists, d->pooled};
}

static void cell_serialize(struct ek_cells *c, struct ek_serialize *s, int cell)
{
    struct cell *one = &c->cell[cell];
    int valued = one->value != NULL;
    ek_serialize_int(s, &one->dimension, 0, c->dimensions - 1);
    ek_serialize_int(s, &valued, 0, 1);
    if (valued)
        ek_serialize_text(s, &one->value);
}

/* Rebuild the counts and the pool after reading a cell. A dimension has at most one pool. */
static void count_cell(struct ek_cells *c, struct ek_serialize *s, int cell)
{
    struct dimension *d = &c->dimension[c->cell[cell].dimension];
    if (c->cell[cell].value) {
        d->own++;
        c->own++;
        return;
    }
    ek_serialize_require(s, d->other < 0);
    d->other = cell;
}

static void count_bits(struct dimension *d)
{
    d->bits = 0;
    for (int i = 0; i < SEEN_BITS / 64; i++)
        d->bits += __builtin_popcountll(d->seen[i]);
}

static void dimension_serialize(struct dimension *d, struct ek_serialize *s)
{
    ek_serialize_u64(s, &d->lists);
    ek_serialize_u64(s, &d->pooled);
    ek_serialize_raw(s, d->seen, sizeof d->seen);
    count_bits(d);
}

void ek_cells_serialize(struct ek_cells *c, struct ek_serialize *s)
{
    int count = c->count;
    ek_serialize_int(s, &count, 1, c->limit + c->dimensions);
    for (int i = 1; i < count && !s->rc; i++) {
        cell_serialize(c, s, i);
        if (ek_serialize_is_reading(s) && !s->rc) {
            c->count = i + 1;
            count_cell(c, s, i);
        }
    }
    ek_serialize_require(s, c->own <= c->limit);
    ek_serialize_u64(s, &c->taken_ever);
    ek_serialize_int(s, &c->since_look, 0, SEARCH_INTERVAL);
    ek_serialize_int(s, &c->least, -1, c->count - 1);
    ek_serialize_require(s, c->least < 0 || c->cell[c->least].value);
    for (int d = 0; d < c->dimensions; d++)
        dimension_serialize(&c->dimension[d], s);
    ek_space_saving_serialize(c->busy, s);
    for (int i = 0; i < c->limit + c->dimensions; i++)
        ek_serialize_require(s,
                             ek_space_saving_is_assigned(c->busy, i) == (c->cell[i].value != NULL));
}

/* Set *to to the cell in `into` for `cell` of `from`; d is the dimension in `into`. */
static int merge_cell(struct ek_cells *into, const struct ek_cells *from, int cell, int d,
                      int16_t *to)
{
    const char *text = from->cell[cell].value;
    int own = -1;
    if (text) {
        struct ek_text value = ek_text_from(text);
        uint64_t key = key_of(d, value);
        own = ek_space_saving_add(into->busy, key, ek_space_saving_lists(from->busy, cell));
        if (own < 0 && into->own < into->limit) {
            own = into->count;
            if (assign_new(into, d, value, key))
                return EK_ENOMEM;
        }
    }
    *to = (int16_t)(own < 0 ? find_pool(into, d) : own);
    return EK_OK;
}

static void merge_dimension(struct dimension *into, const struct dimension *from)
{
    into->lists += from->lists;
    into->pooled += from->pooled;
    for (int i = 0; i < SEEN_BITS / 64; i++)
        into->seen[i] |= from->seen[i];
    count_bits(into);
}

int ek_cells_merge(struct ek_cells *into, const struct ek_cells *from, int16_t *to)
{
    int rc = EK_OK;
    to[0] = 0;
    into->taken_count = 0;
    for (int d = 0; d < from->dimensions; d++) {
        int here = dimension_named(into, ek_text_from(from->dimension[d].name));
        for (int cell = 1; cell < from->count && !rc; cell++) {
            if (from->cell[cell].dimension != d)
                continue;
            to[cell] = -1;
            rc = here < 0 ? EK_OK : merge_cell(into, from, cell, here, &to[cell]);
        }
        if (here >= 0)
            merge_dimension(&into->dimension[here], &from->dimension[d]);
    }
    return rc;
}
