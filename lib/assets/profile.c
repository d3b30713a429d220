/* Reading and writing of profiles. The tables of category features are concatenated;
 * `category_offset` has their positions. A profile without category features has none of these
 * arrays.
 */
#include "assets/profile.h"

#include "assets/profile_internal.h"
#include "assets/tensors.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/parse.h"
#include "lists/list.h"
#include "yaml/json_parse.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

int ek_category_table_init(struct ek_category_table *t, int count, int strata)
{
    size_t values = (size_t)count, columns = (size_t)strata;
    *t = (struct ek_category_table){.count = count, .strata = strata};
    t->value = ek_calloc(values, sizeof *t->value);
    t->share = ek_calloc(values * columns, sizeof *t->share);
    t->unknown = ek_calloc(columns, sizeof *t->unknown);
    if (t->value && t->share && t->unknown)
        return EK_OK;
    ek_category_table_release(t);
    return EK_ENOMEM;
}

void ek_category_table_release(struct ek_category_table *t)
{
    ek_free(t->value);
    ek_free(t->share);
    ek_free(t->unknown);
    *t = (struct ek_category_table){0};
}

int ek_category_find(const struct ek_category_table *t, float value)
{
    int low = 0, high = t->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (t->value[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->count && t->value[low] == value ? low : -1;
}

enum { FORMAT_VERSION = 3, SCALARS = 4 };
#define DESCRIPTION "evenkeel_profile"

static int copy_names(struct ek_profile *p, const struct ek_manifest *m)
{
    for (int f = 0; f < p->features; f++)
        if (!(p->name[f] = ek_strdup(m->item[f]->name)))
            return EK_ENOMEM;
    return EK_OK;
}

static void free_laws(struct ek_residual_laws *l)
{
    ek_free(l->baseline);
    ek_free(l->level);
    ek_free(l->band);
    ek_free(l->calibration);
    ek_free(l->density);
    ek_segment_calibration_free(l->segment_calibration);
    *l = (struct ek_residual_laws){0};
}

int ek_profile_reserve_laws(struct ek_profile *p)
{
    struct ek_residual_laws *l = &p->by_segment;
    size_t features = (size_t)p->features, strata = (size_t)p->strata;
    l->baseline = ek_calloc(features, sizeof *l->baseline);
    l->level = ek_calloc(features * strata, sizeof *l->level);
    l->band = ek_calloc(features * strata, sizeof *l->band);
    l->calibration = ek_calloc(features * strata * EK_CALIBRATED, sizeof *l->calibration);
    l->density = ek_calloc(features * EK_DENSITY_BINS, sizeof *l->density);
    if (l->baseline && l->level && l->band && l->calibration && l->density)
        return EK_OK;
    free_laws(l);
    return EK_ENOMEM;
}

void ek_profile_exchange_laws(struct ek_profile *p)
{
    struct ek_residual_laws other = p->by_segment;
    p->by_segment = (struct ek_residual_laws){p->baseline,    p->level,   p->band,
                                              p->calibration, p->density, p->segment_calibration};
    p->baseline = other.baseline;
    p->level = other.level;
    p->band = other.band;
    p->calibration = other.calibration;
    p->density = other.density;
    p->segment_calibration = other.segment_calibration;
}

void ek_profile_choose_segments(struct ek_profile *p, char *const *names, int count)
{
    bool differ = false;
    if (!p->by_segment.baseline)
        return;
    for (int i = 0; i < count; i++)
        differ |= ek_segment_levels_differ(p->segment_levels, names[i]);
    if (differ) {
        ek_profile_exchange_laws(p);
    } else {
        ek_segment_levels_free(p->segment_levels);
        p->segment_levels = NULL;
    }
    free_laws(&p->by_segment);
}

static int allocate(struct ek_profile *p)
{
    size_t features = (size_t)p->features, strata = (size_t)p->strata;
    if (ek_profile_reserve_laws(p))
        return EK_ENOMEM;
    ek_profile_exchange_laws(p);
    p->stratum = ek_calloc(strata, sizeof *p->stratum);
    p->name = ek_calloc(features, sizeof *p->name);
    p->sketch = ek_calloc(features, sizeof *p->sketch);
    p->category = ek_calloc(features, sizeof *p->category);
    p->known = ek_calloc(features * EK_KNOWN_VALUES_MAX, sizeof *p->known);
    p->known_count = ek_calloc(features, sizeof *p->known_count);
    if (!p->stratum || !p->name || !p->sketch || !p->category || !p->known || !p->known_count)
        return EK_ENOMEM;
    for (int f = 0; f < p->features; f++)
        if (ek_sketch_new(&p->sketch[f]))
            return EK_ENOMEM;
    return EK_OK;
}

int ek_profile_new(struct ek_profile **out, const struct ek_manifest *m, int strata,
                   const char *field, struct ek_error *e)
{
    struct ek_profile *p = ek_calloc(1, sizeof *p);
    if (!p)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    p->features = m->watched_count;
    p->strata = strata;
    p->manifest_hash = m->hash;
    if (allocate(p) || copy_names(p, m) || !(p->stratum[0] = ek_strdup("")) ||
        (field && !(p->field = ek_strdup(field)))) {
        ek_profile_free(p);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    *out = p;
    return EK_OK;
}

static void free_texts(char **texts, int count)
{
    for (int i = 0; texts && i < count; i++)
        ek_free(texts[i]);
    ek_free(texts);
}

void ek_profile_free(struct ek_profile *p)
{
    if (!p)
        return;
    free_texts(p->stratum, p->strata);
    free_texts(p->name, p->features);
    for (int f = 0; p->sketch && f < p->features; f++)
        ek_sketch_free(p->sketch[f]);
    for (int f = 0; p->category && f < p->features; f++)
        ek_category_table_release(&p->category[f]);
    ek_profile_lists_free(p->lists);
    ek_item_levels_free(p->item_levels);
    ek_query_slopes_free(p->query_slopes);
    ek_free(p->category);
    ek_free(p->known);
    ek_free(p->known_count);
    ek_free(p->sketch);
    ek_free(p->field);
    ek_segment_levels_free(p->segment_levels);
    free_laws(&p->by_segment);
    ek_profile_exchange_laws(p);
    free_laws(&p->by_segment);
    ek_free(p);
}

/* Per-feature array of the file: position in struct ek_baseline and shape. */
struct column {
    const char *name;
    enum ek_dtype dtype;
    int dims;
    size_t shape[EK_TENSOR_DIMS_MAX]; /* shape[0] is the number of features */
    size_t offset, bytes;             /* in struct ek_baseline */
};
#define MEMBER(m) offsetof(struct ek_baseline, m), sizeof(((struct ek_baseline *)0)->m)
static const struct column COLUMNS[] = {
    {"queries", EK_U64, 1, {0}, MEMBER(queries)},
    {"feature_level", EK_F32, 1, {0}, MEMBER(level)},
    {"sd", EK_F32, 1, {0}, MEMBER(sd)},
    {"inv_sd", EK_F32, 2, {0, EK_SD_SIZES}, MEMBER(inv_sd)},
    {"log_mean", EK_F32, 1, {0}, MEMBER(log_mean)},
    {"log_sd", EK_F32, 1, {0}, MEMBER(log_sd)},
    {"spread_hi", EK_F32, 2, {0, EK_SIZE_CLASSES}, MEMBER(spread_hi)},
    {"spread_mean", EK_F32, 2, {0, EK_SIZE_CLASSES}, MEMBER(spread_mean)},
    {"spread_sd", EK_F32, 2, {0, EK_SIZE_CLASSES}, MEMBER(spread_sd)},
    {"share", EK_F32, 2, {0, EK_SHARES}, MEMBER(share)},
    {"season", EK_F32, 2, {0, EK_SEASON}, MEMBER(season)},
    {"design_effect", EK_F32, 2, {0, EK_RESPECTS}, MEMBER(deff)},
    {"band", EK_F32, 1, {0}, MEMBER(band)},
    {"range", EK_F32, 1, {0}, MEMBER(range)},
    {"share_wander", EK_F32, 2, {0, EK_SHARES}, MEMBER(share_wander)},
    {"z_rank", EK_U8, 3, {0, 2, EK_Z_BINS}, MEMBER(z_rank)},
    {"spread_rank", EK_U8, 4, {0, EK_SIZE_CLASSES, 2, EK_SPREAD_BINS}, MEMBER(spread_rank)},
};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof *COLUMNS };

static void column_shape(const struct column *c, int features, size_t *shape)
{
    memcpy(shape, c->shape, sizeof c->shape);
    shape[0] = (size_t)features;
}

/* Names of the arrays of lists relative to their segments begin with this. */
#define BY_SEGMENT "by_segment_"
enum { ARRAY_NAME = 32 };

static const char *array_name(const char *prefix, const char *name, char text[ARRAY_NAME])
{
    snprintf(text, ARRAY_NAME, "%s%s", prefix, name);
    return text;
}

static int add_columns(struct ek_tensors *t, const char *prefix, const struct ek_profile *p)
{
    char name[ARRAY_NAME];
    for (int i = 0; i < COLUMN_COUNT; i++) {
        const struct column *c = &COLUMNS[i];
        size_t shape[EK_TENSOR_DIMS_MAX];
        column_shape(c, p->features, shape);
        struct ek_tensor *tensor =
            ek_tensors_add(t, array_name(prefix, c->name, name), c->dtype, c->dims, shape);
        if (!tensor)
            return EK_ENOMEM;
        for (int f = 0; f < p->features; f++)
            memcpy((char *)tensor->data + (size_t)f * c->bytes,
                   (const char *)&p->baseline[f] + c->offset, c->bytes);
    }
    return EK_OK;
}

static int read_columns(const struct ek_tensors *t, const char *prefix, struct ek_profile *p,
                        struct ek_error *e)
{
    char name[ARRAY_NAME];
    for (int i = 0; i < COLUMN_COUNT; i++) {
        const struct column *c = &COLUMNS[i];
        size_t shape[EK_TENSOR_DIMS_MAX];
        const struct ek_tensor *tensor;
        column_shape(c, p->features, shape);
        int rc = ek_tensors_expect(t, array_name(prefix, c->name, name), c->dtype, c->dims, shape,
                                   &tensor, e);
        if (rc)
            return rc;
        for (int f = 0; f < p->features; f++)
            memcpy((char *)&p->baseline[f] + c->offset,
                   (const char *)tensor->data + (size_t)f * c->bytes, c->bytes);
    }
    return EK_OK;
}

static int add_array(struct ek_tensors *t, const char *name, enum ek_dtype dtype, size_t rows,
                     size_t columns, const void *data, size_t bytes)
{
    size_t shape[] = {rows, columns};
    struct ek_tensor *tensor = ek_tensors_add(t, name, dtype, columns ? 2 : 1, shape);
    if (!tensor)
        return EK_ENOMEM;
    memcpy(tensor->data, data, bytes);
    return EK_OK;
}

/* Append the distributions of the residuals. */
static int add_laws(struct ek_tensors *t, const char *prefix, const struct ek_profile *p)
{
    char name[ARRAY_NAME];
    size_t features = (size_t)p->features, strata = (size_t)p->strata, laws = features * strata;
    int rc = add_columns(t, prefix, p);
    if (!rc)
        rc = add_array(t, array_name(prefix, "level", name), EK_F32, features, strata, p->level,
                       laws * sizeof *p->level);
    if (!rc)
        rc = add_array(t, array_name(prefix, "stratum_band", name), EK_F32, features, strata,
                       p->band, laws * sizeof *p->band);
    if (!rc)
        rc = add_array(t, array_name(prefix, "density", name), EK_F32, features, EK_DENSITY_BINS,
                       p->density, features * EK_DENSITY_BINS * sizeof *p->density);
    if (!rc)
        rc = add_array(t, array_name(prefix, "calibration", name), EK_F32, features,
                       strata * EK_CALIBRATED, p->calibration,
                       laws * EK_CALIBRATED * sizeof *p->calibration);
    return rc ? rc : ek_segment_calibration_write(p->segment_calibration, prefix, t);
}

static int add_segments(struct ek_tensors *t, const struct ek_profile *p)
{
    struct ek_profile other = *p;
    if (!p->segment_levels)
        return EK_OK;
    ek_profile_exchange_laws(&other);
    int rc = add_laws(t, BY_SEGMENT, &other);
    return rc ? rc : ek_segment_levels_write(p->segment_levels, t);
}

static int add_sketches(struct ek_tensors *t, const struct ek_profile *p)
{
    struct ek_buf bytes;
    uint64_t *offset = ek_calloc((size_t)p->features + 1, sizeof *offset);
    int rc = offset ? EK_OK : EK_ENOMEM;
    ek_buf_init(&bytes, 0);
    for (int f = 0; !rc && f < p->features; f++) {
        rc = ek_sketch_write(p->sketch[f], &bytes);
        offset[f + 1] = bytes.length;
    }
    if (!rc)
        rc = add_array(t, "sketch_offset", EK_U64, (size_t)p->features + 1, 0, offset,
                       ((size_t)p->features + 1) * sizeof *offset);
    if (!rc)
        rc = add_array(t, "sketch", EK_U8, bytes.length, 0, bytes.data, bytes.length);
    ek_buf_release(&bytes);
    ek_free(offset);
    return rc;
}

static void write_texts(struct ek_json_writer *w, const char *key, char *const *texts, int count)
{
    ek_json_open(w, key, '[');
    for (int i = 0; i < count; i++)
        ek_json_add_text(w, NULL, texts[i]);
    ek_json_close(w, ']');
}

/* Write the description, with keys in ascending order. */
static void write_description(struct ek_json_writer *w, const struct ek_profile *p)
{
    char hash[17];
    snprintf(hash, sizeof hash, "%016" PRIx64, p->manifest_hash);
    ek_json_open(w, NULL, '{');
    ek_json_add_text(w, "baseline", p->field);
    write_texts(w, "features", p->name, p->features);
    ek_json_add_integer(w, "items", (int64_t)p->items);
    ek_json_add_text(w, "manifest", hash);
    ek_json_add_integer(w, "queries", (int64_t)p->queries);
    ek_segment_levels_describe(p->segment_levels, w);
    ek_json_add_integer(w, "span_ms", p->span_ms);
    write_texts(w, "strata", p->stratum, p->strata);
    if (p->unnamed)
        ek_json_add_integer(w, "unnamed", (int64_t)p->unnamed);
    ek_json_add_integer(w, "version", FORMAT_VERSION);
    ek_json_close(w, '}');
}

static int add_description(struct ek_tensors *t, const struct ek_profile *p)
{
    struct ek_buf text;
    struct ek_json_writer w;
    ek_buf_init(&text, 0);
    ek_json_init(&w, &text);
    write_description(&w, p);
    const char *string = w.rc ? NULL : ek_buf_string(&text);
    int rc = string ? ek_tensors_set_text(t, DESCRIPTION, string) : EK_ENOMEM;
    ek_buf_release(&text);
    return rc;
}

enum { ARRAYS = 4 };
/* Value in `category_unknown` of a feature that is not a category. */
static const float NO_CATEGORY = -1;
static const char *const NAMES[ARRAYS] = {"category_offset", "category_value", "category_share",
                                          "category_unknown"};

static size_t values_of(const struct ek_profile *p)
{
    size_t sum = 0;
    for (int f = 0; f < p->features; f++)
        sum += (size_t)p->category[f].count;
    return sum;
}

bool ek_profile_has_categories(const struct ek_profile *p)
{
    for (int f = 0; f < p->features; f++)
        if (p->category[f].strata)
            return true;
    return false;
}

static void fill(const struct ek_profile *p, uint64_t *offset, float *value, float *share,
                 float *unknown)
{
    size_t strata = (size_t)p->strata;
    for (int f = 0; f < p->features; f++, unknown += strata) {
        const struct ek_category_table *t = &p->category[f];
        size_t values = (size_t)t->count;
        offset[f + 1] = offset[f] + values;
        for (size_t s = 0; s < strata; s++)
            unknown[s] = t->strata ? t->unknown[s] : NO_CATEGORY;
        if (!values)
            continue;
        memcpy(value + offset[f], t->value, values * sizeof *value);
        memcpy(share + offset[f] * strata, t->share, values * strata * sizeof *share);
    }
}

static int profile_add_categories(struct ek_tensors *t, const struct ek_profile *p)
{
    size_t features = (size_t)p->features, strata = (size_t)p->strata, values = values_of(p);
    const size_t shape[ARRAYS][2] = {
        {features + 1, 0}, {values, 0}, {values, strata}, {features, strata}};
    struct ek_tensor *array[ARRAYS];
    if (!ek_profile_has_categories(p))
        return EK_OK;
    for (int i = 0; i < ARRAYS; i++) {
        array[i] = ek_tensors_add(t, NAMES[i], i ? EK_F32 : EK_U64, shape[i][1] ? 2 : 1, shape[i]);
        if (!array[i])
            return EK_ENOMEM;
    }
    fill(p, array[0]->data, array[1]->data, array[2]->data, array[3]->data);
    return EK_OK;
}

static bool has_known(const struct ek_profile *p)
{
    for (int f = 0; f < p->features; f++)
        if (p->known_count[f])
            return true;
    return false;
}

static int add_known(struct ek_tensors *t, const struct ek_profile *p)
{
    const size_t features = (size_t)p->features, shape[] = {features, EK_KNOWN_VALUES_MAX};
    if (!has_known(p))
        return EK_OK;
    struct ek_tensor *count = ek_tensors_add(t, "known_count", EK_U8, 1, shape);
    struct ek_tensor *value = count ? ek_tensors_add(t, "known_value", EK_F32, 2, shape) : NULL;
    if (!value)
        return EK_ENOMEM;
    memcpy(count->data, p->known_count, features);
    memcpy(value->data, p->known, features * EK_KNOWN_VALUES_MAX * sizeof *p->known);
    return EK_OK;
}

int ek_profile_save(const struct ek_profile *p, const char *path, struct ek_error *e)
{
    struct ek_tensors *t = NULL;
    int rc = ek_tensors_new(&t);
    if (!rc)
        rc = add_laws(t, "", p);
    if (!rc)
        rc = add_sketches(t, p);
    if (!rc)
        rc = profile_add_categories(t, p);
    if (!rc)
        rc = add_known(t, p);
    if (!rc)
        rc = ek_item_levels_write(p->item_levels, t);
    if (!rc)
        rc = ek_query_slopes_write(p->query_slopes, t);
    if (!rc)
        rc = ek_query_ranges_write(&p->query_ranges, t);
    if (!rc)
        rc = add_segments(t, p);
    if (!rc)
        rc = ek_profile_add_lists(t, p);
    if (!rc)
        rc = add_description(t, p);
    rc = rc ? ek_fail(e, (enum ek_code)rc, "out of memory") : ek_tensors_write(t, path, e);
    ek_tensors_free(t);
    return rc;
}

static int read_texts(yyjson_val *array, int count, char **texts)
{
    for (int i = 0; i < count; i++) {
        const char *text = yyjson_get_str(yyjson_arr_get(array, (size_t)i));
        if (!text)
            return EK_EFORMAT;
        char *copy = ek_strdup(text);
        if (!copy)
            return EK_ENOMEM;
        ek_free(texts[i]);
        texts[i] = copy;
    }
    return EK_OK;
}

static int bad(const char *path, struct ek_error *e, const char *what)
{
    return ek_fail_at(e, EK_EFORMAT, path, 0, 0, "not a profile of this version: %s", what);
}

/* Read shapes and names from the description, and allocate the arrays. */
static int read_description(struct ek_profile *p, yyjson_val *root, const char *path,
                            struct ek_error *e)
{
    yyjson_val *features = yyjson_obj_get(root, "features");
    yyjson_val *strata = yyjson_obj_get(root, "strata");
    const char *hash = yyjson_get_str(yyjson_obj_get(root, "manifest"));
    const char *field = yyjson_get_str(yyjson_obj_get(root, "baseline"));
    if (yyjson_get_sint(yyjson_obj_get(root, "version")) != FORMAT_VERSION)
        return bad(path, e, "version");
    if (!yyjson_is_arr(features) || yyjson_arr_size(features) > EK_FEATURES_MAX)
        return bad(path, e, "'features'");
    if (!yyjson_arr_size(strata) || yyjson_arr_size(strata) > EK_STRATA_MAX)
        return bad(path, e, "'strata'");
    if (!hash || ek_parse_hash(hash, EK_WHOLE, &p->manifest_hash))
        return bad(path, e, "'manifest'");
    p->features = (int)yyjson_arr_size(features);
    p->strata = (int)yyjson_arr_size(strata);
    p->queries = (uint64_t)yyjson_get_sint(yyjson_obj_get(root, "queries"));
    p->items = (uint64_t)yyjson_get_sint(yyjson_obj_get(root, "items"));
    p->span_ms = yyjson_get_sint(yyjson_obj_get(root, "span_ms"));
    p->unnamed = yyjson_get_uint(yyjson_obj_get(root, "unnamed"));
    int rc = allocate(p);
    if (!rc && field && !(p->field = ek_strdup(field)))
        rc = EK_ENOMEM;
    if (!rc)
        rc = read_texts(features, p->features, p->name);
    if (!rc)
        rc = read_texts(strata, p->strata, p->stratum);
    if (rc == EK_ENOMEM)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return rc ? bad(path, e, "a name is no text") : EK_OK;
}

static int read_array(const struct ek_tensors *t, const char *name, size_t rows, size_t columns,
                      float *to, struct ek_error *e)
{
    const struct ek_tensor *tensor;
    size_t shape[] = {rows, columns};
    int rc = ek_tensors_expect(t, name, EK_F32, 2, shape, &tensor, e);
    if (!rc)
        memcpy(to, tensor->data, rows * columns * sizeof *to);
    return rc;
}

static int read_sketches(const struct ek_tensors *t, struct ek_profile *p, const char *path,
                         struct ek_error *e)
{
    const struct ek_tensor *bytes = ek_tensors_find(t, "sketch"), *offsets;
    size_t shape[] = {(size_t)p->features + 1};
    int rc = ek_tensors_expect(t, "sketch_offset", EK_U64, 1, shape, &offsets, e);
    if (rc)
        return rc;
    if (!bytes || bytes->dtype != EK_U8)
        return bad(path, e, "'sketch'");
    const uint64_t *offset = offsets->data;
    for (int f = 0; !rc && f < p->features; f++) {
        size_t used;
        if (offset[f] > offset[f + 1] || offset[f + 1] > bytes->count)
            return bad(path, e, "'sketch_offset'");
        rc = ek_sketch_read(p->sketch[f], (const char *)bytes->data + offset[f],
                            offset[f + 1] - offset[f], &used, e);
    }
    return rc;
}

static int read_values(struct ek_profile *p, const uint64_t *offset, const float *value,
                       const float *share, const float *unknown, struct ek_error *e)
{
    size_t strata = (size_t)p->strata;
    for (int f = 0; f < p->features; f++, unknown += strata) {
        size_t values = offset[f + 1] - offset[f];
        if (unknown[0] == NO_CATEGORY && !values)
            continue;
        if (ek_category_table_init(&p->category[f], (int)values, p->strata))
            return ek_fail(e, EK_ENOMEM, "out of memory");
        memcpy(p->category[f].value, value + offset[f], values * sizeof *value);
        memcpy(p->category[f].share, share + offset[f] * strata, values * strata * sizeof *share);
        memcpy(p->category[f].unknown, unknown, strata * sizeof *unknown);
    }
    return EK_OK;
}

/* Return whether every table lies within the values and its size limit. */
static int are_offsets_valid(const uint64_t *offset, size_t features, size_t values, size_t strata)
{
    size_t cells = EK_CATEGORY_CELLS_MAX / strata;
    size_t most = cells < EK_CATEGORIES_MAX ? cells : EK_CATEGORIES_MAX;
    if (offset[0] || offset[features] != values)
        return 0;
    for (size_t f = 0; f < features; f++)
        if (offset[f] > offset[f + 1] || offset[f + 1] - offset[f] > most)
            return 0;
    return 1;
}

/* Read the tables of the category features, if any. Return 0, EK_ENOMEM or EK_EFORMAT. */
static int profile_read_categories(const struct ek_tensors *t, struct ek_profile *p,
                                   struct ek_error *e)
{
    const struct ek_tensor *array[ARRAYS];
    size_t features = (size_t)p->features, strata = (size_t)p->strata;
    const struct ek_tensor *value = ek_tensors_find(t, NAMES[1]);
    size_t values = value ? value->count : 0;
    const size_t shape[ARRAYS][2] = {
        {features + 1, 0}, {values, 0}, {values, strata}, {features, strata}};
    if (!ek_tensors_find(t, NAMES[0]))
        return EK_OK;
    for (int i = 0; i < ARRAYS; i++) {
        int rc = ek_tensors_expect(t, NAMES[i], i ? EK_F32 : EK_U64, shape[i][1] ? 2 : 1, shape[i],
                                   &array[i], e);
        if (rc)
            return rc;
    }
    if (!are_offsets_valid(array[0]->data, features, values, strata))
        return ek_fail(e, EK_EFORMAT, "'%s' of the profile holds what no training gives", NAMES[0]);
    return read_values(p, array[0]->data, array[1]->data, array[2]->data, array[3]->data, e);
}

/* Limits of valid values. ln of the largest float is 88.7, so LN_MOST exceeds all levels. */
static const float LN_MOST = 200, DEFF_MOST = 1e6f, CALIBRATION_MOST = 1e4f;

/* Return whether all values are in [low, high]. */
static bool is_within(const float *x, size_t count, float low, float high)
{
    for (size_t i = 0; i < count; i++)
        if (!(x[i] >= low && x[i] <= high))
            return false;
    return true;
}

static bool positive(const float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(x[i] > 0 && isfinite(x[i])))
            return false;
    return true;
}

static const char *find_invalid_array(const struct ek_baseline *b)
{
    if (!is_within(&b->level, 1, -LN_MOST, LN_MOST))
        return "feature_level";
    if (!positive(&b->sd, 1))
        return "sd";
    if (!positive(b->inv_sd, EK_SD_SIZES))
        return "inv_sd";
    if (!is_within(&b->log_mean, 1, -LN_MOST, LN_MOST))
        return "log_mean";
    if (!is_within(&b->log_sd, 1, 0, LN_MOST))
        return "log_sd";
    if (!is_within(b->spread_hi, EK_SIZE_CLASSES, -LN_MOST, EK_SPREAD_UNKNOWN))
        return "spread_hi";
    if (!is_within(b->spread_mean, EK_SIZE_CLASSES, -LN_MOST, LN_MOST))
        return "spread_mean";
    if (!positive(b->spread_sd, EK_SIZE_CLASSES))
        return "spread_sd";
    if (!is_within(b->share, EK_SHARES, 0, 1))
        return "share";
    if (!is_within(b->season, EK_SEASON, -LN_MOST, LN_MOST))
        return "season";
    if (!is_within(b->deff, EK_RESPECTS, 0, DEFF_MOST))
        return "design_effect";
    if (!is_within(&b->band, 1, 0, LN_MOST))
        return "band";
    if (!is_within(&b->range, 1, 0, LN_MOST))
        return "range";
    return is_within(b->share_wander, EK_SHARES, 0, 1) ? NULL : "share_wander";
}

static const char *find_invalid_category(const struct ek_category_table *t)
{
    size_t values = (size_t)t->count, strata = (size_t)t->strata;
    for (size_t i = 0; i < values; i++)
        if (isnan(t->value[i]) || (i && !(t->value[i - 1] < t->value[i])))
            return "category_value";
    if (!is_within(t->share, values * strata, 0, 1))
        return "category_share";
    return is_within(t->unknown, strata, 0, 1) ? NULL : "category_unknown";
}

static bool is_rising(const float *x, int count)
{
    bool good = count <= EK_KNOWN_VALUES_MAX;
    for (int i = 0; good && i < count; i++)
        good = isfinite(x[i]) && (!i || x[i - 1] < x[i]);
    return good;
}

static const char *find_invalid_laws(const struct ek_profile *p)
{
    size_t features = (size_t)p->features, laws = features * (size_t)p->strata;
    const char *fault = NULL;
    for (int f = 0; !fault && f < p->features; f++)
        fault = find_invalid_array(&p->baseline[f]);
    if (fault)
        return fault;
    if (!is_within(p->level, laws, -LN_MOST, LN_MOST))
        return "level";
    if (!is_within(p->band, laws, 0, LN_MOST))
        return "stratum_band";
    if (!positive(p->density, features * EK_DENSITY_BINS))
        return "density";
    return is_within(p->calibration, laws * EK_CALIBRATED, 1, CALIBRATION_MOST) ? NULL
                                                                                : "calibration";
}

/* Return the name of the first array with invalid values (not finite, out of range, out of order),
 * or NULL. The detector divides by some of these and searches names by bisection, so a damaged file
 * must be rejected here. */
static const char *find_invalid(const struct ek_profile *p)
{
    size_t strata = (size_t)p->strata;
    const char *fault = find_invalid_laws(p);
    for (int f = 0; !fault && f < p->features; f++)
        fault = find_invalid_category(&p->category[f]);
    if (fault)
        return fault;
    for (int f = 0; f < p->features; f++)
        if (!is_rising(p->known + (size_t)f * EK_KNOWN_VALUES_MAX, p->known_count[f]))
            return "known_value";
    for (size_t s = 1; s < strata; s++)
        if (strcmp(p->stratum[s - 1], p->stratum[s]) >= 0)
            return "strata";
    return NULL;
}

/* Read the known values, which profiles of earlier versions do not have. */
static int read_known(const struct ek_tensors *t, struct ek_profile *p, struct ek_error *e)
{
    const struct ek_tensor *count;
    size_t features = (size_t)p->features;
    if (!ek_tensors_find(t, "known_count"))
        return EK_OK;
    int rc = ek_tensors_expect(t, "known_count", EK_U8, 1, &features, &count, e);
    if (!rc)
        rc = read_array(t, "known_value", features, EK_KNOWN_VALUES_MAX, p->known, e);
    if (!rc)
        memcpy(p->known_count, count->data, features);
    return rc;
}

static int read_laws(const struct ek_tensors *t, const char *prefix, struct ek_profile *p,
                     struct ek_error *e)
{
    char name[ARRAY_NAME];
    size_t features = (size_t)p->features, strata = (size_t)p->strata;
    int rc = read_columns(t, prefix, p, e);
    if (!rc)
        rc = read_array(t, array_name(prefix, "level", name), features, strata, p->level, e);
    if (!rc)
        rc = read_array(t, array_name(prefix, "stratum_band", name), features, strata, p->band, e);
    if (!rc)
        rc = read_array(t, array_name(prefix, "density", name), features, EK_DENSITY_BINS,
                        p->density, e);
    if (!rc)
        rc = read_array(t, array_name(prefix, "calibration", name), features,
                        strata * EK_CALIBRATED, p->calibration, e);
    return rc ? rc
              : ek_segment_calibration_read(&p->segment_calibration, prefix, t, p->features, e);
}

/* Read the levels of segments and the distributions relative to them, if any. */
static int read_segments(const struct ek_tensors *t, struct ek_profile *p, yyjson_val *root,
                         const char *path, struct ek_error *e)
{
    int rc = ek_segment_levels_read(&p->segment_levels, root, t, p->features, e);
    if (rc || !p->segment_levels)
        return rc;
    if (ek_profile_reserve_laws(p))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_profile_exchange_laws(p);
    rc = read_laws(t, BY_SEGMENT, p, e);
    const char *fault = rc ? NULL : find_invalid_laws(p);
    ek_profile_exchange_laws(p);
    return fault
               ? ek_fail_at(e, EK_EFORMAT, path, 0, 0,
                            "'" BY_SEGMENT "%s' of the profile holds what no training gives", fault)
               : rc;
}

static int read_all(const struct ek_tensors *t, struct ek_profile *p, const char *path,
                    struct ek_error *e)
{
    const char *text = ek_tensors_text(t, DESCRIPTION);
    struct ek_json_error why;
    yyjson_doc *doc;
    int rc = text ? ek_json_parse(&doc, text, strlen(text), false, &why) : EK_EFORMAT;
    if (rc == EK_ENOMEM)
        return ek_fail(e, rc, "out of memory");
    if (rc)
        return bad(path, e, "no description under '" DESCRIPTION "'");
    rc = read_description(p, yyjson_doc_get_root(doc), path, e);
    if (!rc)
        rc = read_segments(t, p, yyjson_doc_get_root(doc), path, e);
    yyjson_doc_free(doc);
    if (!rc)
        rc = read_laws(t, "", p, e);
    if (!rc)
        rc = read_sketches(t, p, path, e);
    if (!rc)
        rc = profile_read_categories(t, p, e);
    if (!rc)
        rc = read_known(t, p, e);
    if (!rc)
        rc = ek_item_levels_read(&p->item_levels, t, p->features, e);
    if (!rc)
        rc = ek_query_slopes_read(&p->query_slopes, t, p->features, e);
    if (!rc)
        rc = ek_query_ranges_read(&p->query_ranges, t, e);
    const char *fault = rc ? NULL : find_invalid(p);
    return fault ? ek_fail_at(e, EK_EFORMAT, path, 0, 0,
                              "'%s' of the profile holds what no training gives", fault)
                 : rc;
}

static int load(struct ek_profile **out, const char *path, bool lists, struct ek_error *e)
{
    struct ek_tensors *t;
    int rc = ek_tensors_read(&t, path, e);
    if (rc)
        return rc;
    struct ek_profile *p = ek_calloc(1, sizeof *p);
    rc = p ? read_all(t, p, path, e) : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc && lists)
        rc = ek_profile_read_lists(t, p, e);
    ek_tensors_free(t);
    if (rc) {
        ek_profile_free(p);
        ek_error_place(e, path, 0, 0);
        return rc;
    }
    *out = p;
    return EK_OK;
}

int ek_profile_load(struct ek_profile **out, const char *path, struct ek_error *e)
{
    return load(out, path, false, e);
}

int ek_profile_load_lists(struct ek_profile **out, const char *path, struct ek_error *e)
{
    return load(out, path, true, e);
}

/* The manifest hash does not cover the types of features. */
static int check_types(const struct ek_profile *p, const struct ek_manifest *m, struct ek_error *e)
{
    for (int f = 0; f < p->features; f++) {
        int category = m->item[f]->type == EK_TYPE_CATEGORY;
        if (category != (p->category[f].strata > 0))
            return ek_fail(e, EK_ESTATE,
                           "'%s' is a %s in the manifest and was none when the profile was made; "
                           "make it again with this manifest",
                           p->name[f], category ? "category" : "number");
    }
    return EK_OK;
}

/* Return whether a table of the profile has query features beyond those of the manifest. They
 * ascend. */
static bool has_foreign_queries(const struct ek_profile *p, const struct ek_manifest *m)
{
    const struct ek_query_slopes *s = p->query_slopes;
    const struct ek_query_ranges *r = &p->query_ranges;
    return (s && s->queries && s->query[s->queries - 1] >= m->query_count) ||
           (r->count && r->query[r->count - 1] >= m->query_count);
}

/* Check the query features. The manifest hash does not cover which of them are watched. */
static int check_watched(const struct ek_profile *p, const struct ek_manifest *m,
                         struct ek_error *e)
{
    if (has_foreign_queries(p, m))
        return ek_fail(e, EK_EFORMAT, "the profile has query features that the manifest lacks");
    for (int f = m->item_count; f < m->watched_count || f < p->features; f++) {
        const char *here = f < m->watched_count ? m->item[f]->name : "none";
        const char *there = f < p->features ? p->name[f] : "none";
        if (strcmp(here, there) != 0)
            return ek_fail(e, EK_ESTATE,
                           "other query features are watched: '%s' in the manifest, '%s' in the "
                           "profile; make the profile again with this manifest",
                           here, there);
    }
    return EK_OK;
}

int ek_profile_check(const struct ek_profile *p, const struct ek_manifest *m, struct ek_error *e)
{
    if (p->manifest_hash == m->hash && p->features >= m->item_count) {
        int rc = check_watched(p, m, e);
        return rc ? rc : check_types(p, m, e);
    }
    for (int f = 0; f < p->features && f < m->item_count; f++)
        if (strcmp(p->name[f], m->item[f]->name) != 0)
            return ek_fail(e, EK_ESTATE,
                           "the profile is of another manifest: item feature %d is '%s' there and "
                           "'%s' here",
                           f + 1, p->name[f], m->item[f]->name);
    return ek_fail(e, EK_ESTATE,
                   "the profile is of another manifest: hash %016" PRIx64 " there, %016" PRIx64
                   " here; make it again with this manifest",
                   p->manifest_hash, m->hash);
}

const float *ek_profile_density(const struct ek_profile *p, int feature)
{
    return p->density + (size_t)feature * EK_DENSITY_BINS;
}

int ek_profile_stratum(const struct ek_profile *p, const char *name, size_t length)
{
    int at = ek_text_find((struct ek_text){name, length}, p->stratum, 1, p->strata);
    return at < 0 ? 0 : at;
}

float ek_season_at(const float season[EK_SEASON], double day)
{
    double sum = 0;
    for (int i = 0; i < EK_SEASON / 2; i++) {
        double angle = 2 * M_PI * (i + 1) * day;
        sum += (double)season[2 * i] * cos(angle) + (double)season[2 * i + 1] * sin(angle);
    }
    return (float)sum;
}

static uint64_t text_hash(const char *text, uint64_t seed)
{
    return text ? ek_hash(text, strlen(text) + 1, seed) : ek_hash("", 0, seed);
}

static uint64_t floats_hash(const float *v, size_t count, uint64_t seed)
{
    return ek_hash(v, count * sizeof *v, seed);
}

static uint64_t category_hash(const struct ek_category_table *t, uint64_t seed)
{
    size_t values = (size_t)t->count, strata = (size_t)t->strata;
    if (!strata)
        return seed;
    uint64_t h = floats_hash(t->value, values, seed);
    h = floats_hash(t->share, values * strata, h);
    return floats_hash(t->unknown, strata, h);
}

/* Hash the bytes of a baseline, which has padding only after its last member. */
static uint64_t baseline_hash(const struct ek_baseline *b, uint64_t seed)
{
    return ek_hash(b, offsetof(struct ek_baseline, spread_rank) + sizeof b->spread_rank, seed);
}

static uint64_t laws_hash(const struct ek_profile *p, uint64_t seed)
{
    size_t features = (size_t)p->features, laws = features * (size_t)p->strata;
    uint64_t h = floats_hash(p->level, laws, seed);
    h = floats_hash(p->band, laws, h);
    h = floats_hash(p->calibration, laws * EK_CALIBRATED, h);
    h = floats_hash(p->density, features * EK_DENSITY_BINS, h);
    return ek_segment_calibration_hash(p->segment_calibration, h);
}

static uint64_t segments_hash(const struct ek_profile *p, uint64_t seed)
{
    struct ek_profile other = *p;
    uint64_t h = ek_segment_levels_hash(p->segment_levels, seed);
    if (!p->by_segment.baseline)
        return h;
    ek_profile_exchange_laws(&other);
    for (int f = 0; f < p->features; f++)
        h = baseline_hash(&other.baseline[f], h);
    return laws_hash(&other, h);
}

uint64_t ek_profile_hash(const struct ek_profile *p)
{
    uint64_t h = text_hash(p->field, p->manifest_hash);
    for (int s = 0; s < p->strata; s++)
        h = text_hash(p->stratum[s], h);
    h = ek_hash(&p->queries, sizeof p->queries, h);
    h = ek_hash(&p->span_ms, sizeof p->span_ms, h);
    h = p->unnamed ? ek_hash(&p->unnamed, sizeof p->unnamed, h) : h;
    h = laws_hash(p, h);
    for (int f = 0; f < p->features; f++)
        h = category_hash(&p->category[f], baseline_hash(&p->baseline[f], h));
    h = ek_query_slopes_hash(p->query_slopes, ek_item_levels_hash(p->item_levels, h));
    return segments_hash(p, h);
}
