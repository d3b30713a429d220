#include "assets/profile_lists.h"

#include "base/alloc.h"
#include "assets/profile_internal.h"

#include <math.h>
#include <string.h>

/* Arrays per list, in the order of the file. */
enum { LEVEL, SPREAD, SHARE, USABLE, TIME, STRATUM, BY_LIST };
enum { PAIR, WEIGHT, TIMES, BY_PAIR };
static const char *const LIST_NAMES[BY_LIST] = {"list_level",  "list_spread", "list_share",
                                                "list_usable", "list_time",   "list_stratum"};
static const char *const PAIR_NAMES[BY_PAIR] = {"count_pair", "count_weight", "count_times"};
static const char OFFSET[] = "count_offset", LISTS[] = "count_lists";

struct ek_profile_lists *ek_profile_lists_new(int features)
{
    struct ek_profile_lists *l = ek_calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->features = features;
    l->category = ek_calloc((size_t)features, sizeof *l->category);
    if (l->category)
        return l;
    ek_free(l);
    return NULL;
}

void ek_profile_lists_free(struct ek_profile_lists *l)
{
    if (!l)
        return;
    for (int f = 0; f < l->features; f++) {
        ek_free(l->category[f].pair);
        ek_free(l->category[f].lists);
    }
    ek_free(l->category);
    ek_free(l->record);
    ek_free(l->time_ms);
    ek_free(l->stratum);
    ek_free(l);
}

static void list_shape(int which, size_t queries, size_t features, size_t shape[3], int *dims,
                       enum ek_dtype *dtype)
{
    static const enum ek_dtype TYPES[BY_LIST] = {EK_F32, EK_F32, EK_U8, EK_U16, EK_I64, EK_U16};
    *dtype = TYPES[which];
    *dims = which >= TIME ? 1 : which == SHARE ? 3 : 2;
    shape[0] = queries;
    shape[1] = features;
    shape[2] = EK_SHARES;
}

static void write_records(const struct ek_profile_lists *l, struct ek_tensor *const *array)
{
    float *level = array[LEVEL]->data, *spread = array[SPREAD]->data;
    uint8_t *share = array[SHARE]->data;
    uint16_t *usable = array[USABLE]->data;
    size_t cells = l->queries * (size_t)l->features;
    for (size_t i = 0; i < cells; i++, share += EK_SHARES) {
        level[i] = l->record[i].r;
        spread[i] = l->record[i].spread;
        usable[i] = l->record[i].usable;
        memcpy(share, l->record[i].share, EK_SHARES);
    }
    memcpy(array[TIME]->data, l->time_ms, l->queries * sizeof *l->time_ms);
    for (size_t q = 0; q < l->queries; q++)
        ((uint16_t *)array[STRATUM]->data)[q] = (uint16_t)l->stratum[q];
}

static int add_records(struct ek_tensors *t, const struct ek_profile_lists *l)
{
    struct ek_tensor *array[BY_LIST];
    for (int i = 0; i < BY_LIST; i++) {
        size_t shape[3];
        enum ek_dtype dtype;
        int dims;
        list_shape(i, l->queries, (size_t)l->features, shape, &dims, &dtype);
        if (!(array[i] = ek_tensors_add(t, LIST_NAMES[i], dtype, dims, shape)))
            return EK_ENOMEM;
    }
    write_records(l, array);
    return EK_OK;
}

static void write_counts(const struct ek_profile_lists *l, size_t strata, uint64_t *offset,
                         struct ek_tensor *const *array, uint32_t *lists)
{
    for (int f = 0; f < l->features; f++, lists += strata) {
        const struct ek_category_counts *c = &l->category[f];
        offset[f + 1] = offset[f] + c->pairs;
        for (size_t i = 0; i < c->pairs; i++) {
            ((uint64_t *)array[PAIR]->data)[offset[f] + i] = c->pair[i].key;
            ((uint64_t *)array[WEIGHT]->data)[offset[f] + i] = c->pair[i].weight;
            ((uint64_t *)array[TIMES]->data)[offset[f] + i] = c->pair[i].times;
        }
        if (c->lists)
            memcpy(lists, c->lists, strata * sizeof *lists);
    }
}

static int add_counts(struct ek_tensors *t, const struct ek_profile_lists *l, int strata)
{
    struct ek_tensor *array[BY_PAIR];
    size_t pairs = 0, categories = 0, shape[2] = {(size_t)l->features + 1};
    for (int f = 0; f < l->features; f++) {
        pairs += l->category[f].pairs;
        categories += l->category[f].lists != NULL;
    }
    if (!categories)
        return EK_OK;
    struct ek_tensor *offset = ek_tensors_add(t, OFFSET, EK_U64, 1, shape);
    shape[0] = pairs;
    for (int i = 0; i < BY_PAIR; i++)
        if (!(array[i] = ek_tensors_add(t, PAIR_NAMES[i], EK_U64, 1, shape)))
            return EK_ENOMEM;
    shape[0] = (size_t)l->features;
    shape[1] = (size_t)strata;
    struct ek_tensor *lists = ek_tensors_add(t, LISTS, EK_U32, 2, shape);
    if (!offset || !lists)
        return EK_ENOMEM;
    write_counts(l, (size_t)strata, offset->data, array, lists->data);
    return EK_OK;
}

int ek_profile_add_lists(struct ek_tensors *t, const struct ek_profile *p)
{
    if (!p->lists)
        return EK_OK;
    int rc = add_records(t, p->lists);
    return rc ? rc : add_counts(t, p->lists, p->strata);
}

static int no_training(const char *array, struct ek_error *e)
{
    return ek_fail(e, EK_EFORMAT, "'%s' of the profile holds what no training gives", array);
}

/* Return the array with an invalid value, or BY_LIST. A level is known where values are usable. 200
 * exceeds the ln of any float, 88.7. */
static int unsound(const struct ek_list_stats *r)
{
    static const float LN_MOST = 200;
    if (r->usable ? !(fabsf(r->r) <= LN_MOST) : !isnan(r->r))
        return LEVEL;
    if (!isnan(r->spread) && !(fabsf(r->spread) <= LN_MOST))
        return SPREAD;
    for (int i = 0; i < EK_SHARES; i++)
        if (r->share[i] > EK_SHARE_WHOLE && r->share[i] != EK_SHARE_UNKNOWN)
            return SHARE;
    return BY_LIST;
}

static int load_records(struct ek_profile_lists *l, int strata,
                        const struct ek_tensor *const *array, struct ek_error *e)
{
    const float *level = array[LEVEL]->data, *spread = array[SPREAD]->data;
    const uint8_t *share = array[SHARE]->data;
    const uint16_t *usable = array[USABLE]->data, *stratum = array[STRATUM]->data;
    size_t cells = l->queries * (size_t)l->features;
    for (size_t i = 0; i < cells; i++, share += EK_SHARES) {
        struct ek_list_stats *r = &l->record[i];
        r->r = level[i];
        r->spread = spread[i];
        r->usable = usable[i];
        memcpy(r->share, share, EK_SHARES);
        int bad = unsound(r);
        if (bad != BY_LIST)
            return no_training(LIST_NAMES[bad], e);
    }
    for (size_t q = 0; q < l->queries; q++) {
        if (stratum[q] >= strata)
            return no_training(LIST_NAMES[STRATUM], e);
        l->stratum[q] = stratum[q];
    }
    memcpy(l->time_ms, array[TIME]->data, l->queries * sizeof *l->time_ms);
    return EK_OK;
}

static int read_records(const struct ek_tensors *t, const struct ek_profile *p,
                        struct ek_profile_lists *l, struct ek_error *e)
{
    const struct ek_tensor *array[BY_LIST];
    for (int i = 0; i < BY_LIST; i++) {
        size_t shape[3];
        enum ek_dtype dtype;
        int dims;
        list_shape(i, p->queries, (size_t)p->features, shape, &dims, &dtype);
        int rc = ek_tensors_expect(t, LIST_NAMES[i], dtype, dims, shape, &array[i], e);
        if (rc)
            return rc;
    }
    l->queries = p->queries;
    l->record = ek_calloc(l->queries * (size_t)l->features, sizeof *l->record);
    l->time_ms = ek_calloc(l->queries, sizeof *l->time_ms);
    l->stratum = ek_calloc(l->queries, sizeof *l->stratum);
    if (!l->record || !l->time_ms || !l->stratum)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return load_records(l, p->strata, array, e);
}

/* Return whether the pairs of a feature are ascending, in known strata and with nonzero weights. */
static bool sound_pairs(const struct ek_category_counts *c, int strata)
{
    for (size_t i = 0; i < c->pairs; i++) {
        const struct ek_misra_gries_key *k = &c->pair[i];
        if (!k->weight || !k->times || k->key >> 32 >= (uint64_t)strata ||
            (i && c->pair[i - 1].key >= k->key))
            return false;
    }
    return true;
}

static int load_counts(const struct ek_profile *p, int f, const uint64_t *const *array,
                       const uint64_t *offset, const uint32_t *lists, struct ek_category_counts *c,
                       struct ek_error *e)
{
    size_t strata = (size_t)p->strata;
    c->pairs = offset[f + 1] - offset[f];
    c->pair = ek_calloc(c->pairs, sizeof *c->pair);
    c->lists = ek_calloc(strata, sizeof *c->lists);
    if (!c->pair || !c->lists)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    memcpy(c->lists, lists + (size_t)f * strata, strata * sizeof *lists);
    for (size_t i = 0; i < c->pairs; i++)
        c->pair[i] = (struct ek_misra_gries_key){
            array[PAIR][offset[f] + i], array[WEIGHT][offset[f] + i], array[TIMES][offset[f] + i]};
    return sound_pairs(c, p->strata) ? EK_OK : no_training(PAIR_NAMES[PAIR], e);
}

static bool sound_offsets(const uint64_t *offset, size_t features, size_t pairs)
{
    for (size_t f = 0; f < features; f++)
        if (offset[f] > offset[f + 1])
            return false;
    return !offset[0] && offset[features] == pairs;
}

static int read_counts(const struct ek_tensors *t, const struct ek_profile *p,
                       struct ek_profile_lists *l, struct ek_error *e)
{
    const struct ek_tensor *offset, *array, *lists, *first = ek_tensors_find(t, PAIR_NAMES[PAIR]);
    const uint64_t *pairs[BY_PAIR];
    size_t shape[2] = {(size_t)p->features + 1};
    int rc = ek_tensors_expect(t, OFFSET, EK_U64, 1, shape, &offset, e);
    shape[0] = first ? first->count : 0;
    for (int i = 0; !rc && i < BY_PAIR; i++) {
        rc = ek_tensors_expect(t, PAIR_NAMES[i], EK_U64, 1, shape, &array, e);
        pairs[i] = rc ? NULL : array->data;
    }
    if (!rc && !sound_offsets(offset->data, (size_t)p->features, shape[0]))
        rc = no_training(OFFSET, e);
    shape[0] = (size_t)p->features;
    shape[1] = (size_t)p->strata;
    if (!rc)
        rc = ek_tensors_expect(t, LISTS, EK_U32, 2, shape, &lists, e);
    for (int f = 0; !rc && f < p->features; f++)
        if (p->category[f].strata)
            rc = load_counts(p, f, pairs, offset->data, lists->data, &l->category[f], e);
    return rc;
}

int ek_profile_read_lists(const struct ek_tensors *t, struct ek_profile *p, struct ek_error *e)
{
    if (!ek_tensors_find(t, LIST_NAMES[LEVEL]))
        return ek_fail(e, EK_ESTATE,
                       "the profile keeps no lists: make it with 'profile --keep-lists'");
    if (!p->queries)
        return no_training("queries", e);
    if (!(p->lists = ek_profile_lists_new(p->features)))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = read_records(t, p, p->lists, e);
    if (!rc && ek_profile_has_categories(p))
        rc = read_counts(t, p, p->lists, e);
    return rc;
}
