#include "assets/profile.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/parse.h"
#include "base/json.h"
#include "yaml/json_parse.h"
#include "assets/profile_inner.h"
#include "lists/query.h"
#include "assets/tensors.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FORMAT_VERSION = 2, SCALARS = 4 };
#define DESCRIPTION "evenkeel_profile"

static int copy_names(struct ek_profile *p, const struct ek_manifest *m)
{
    for (int f = 0; f < p->features; f++)
        if (!(p->name[f] = ek_strdup(m->item[f]->name)))
            return EK_ENOMEM;
    return EK_OK;
}

static int allocate(struct ek_profile *p)
{
    size_t features = (size_t)p->features, strata = (size_t)p->strata;
    p->stratum = ek_calloc(strata, sizeof *p->stratum);
    p->name = ek_calloc(features, sizeof *p->name);
    p->baseline = ek_calloc(features, sizeof *p->baseline);
    p->level = ek_calloc(features * strata, sizeof *p->level);
    p->density = ek_calloc(features * EK_DENSITY_BINS, sizeof *p->density);
    p->calibration = ek_calloc(features * strata * EK_CALIBRATED, sizeof *p->calibration);
    p->sketch = ek_calloc(features, sizeof *p->sketch);
    p->category = ek_calloc(features, sizeof *p->category);
    if (!p->stratum || !p->name || !p->baseline || !p->level || !p->density || !p->calibration ||
        !p->sketch || !p->category)
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
    p->features = m->item_count;
    p->strata = strata;
    p->manifest_hash = m->hash;
    p->related_lists = 1;
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
    ek_free(p->category);
    ek_free(p->sketch);
    ek_free(p->field);
    ek_free(p->baseline);
    ek_free(p->level);
    ek_free(p->density);
    ek_free(p->calibration);
    ek_free(p);
}

/* Every per-feature array of the file: where it stands in a baseline, and its shape. */
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
    {"related", EK_F32, 1, {0}, MEMBER(related)},
    {"z_rank", EK_U8, 3, {0, 2, EK_Z_BINS}, MEMBER(z_rank)},
    {"spread_rank", EK_U8, 4, {0, EK_SIZE_CLASSES, 2, EK_SPREAD_BINS}, MEMBER(spread_rank)},
};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof *COLUMNS };

static void column_shape(const struct column *c, int features, size_t *shape)
{
    memcpy(shape, c->shape, sizeof c->shape);
    shape[0] = (size_t)features;
}

static int add_columns(struct ek_tensors *t, const struct ek_profile *p)
{
    for (int i = 0; i < COLUMN_COUNT; i++) {
        const struct column *c = &COLUMNS[i];
        size_t shape[EK_TENSOR_DIMS_MAX];
        column_shape(c, p->features, shape);
        struct ek_tensor *tensor = ek_tensors_add(t, c->name, c->dtype, c->dims, shape);
        if (!tensor)
            return EK_ENOMEM;
        for (int f = 0; f < p->features; f++)
            memcpy((char *)tensor->data + (size_t)f * c->bytes,
                   (const char *)&p->baseline[f] + c->offset, c->bytes);
    }
    return EK_OK;
}

static int read_columns(const struct ek_tensors *t, struct ek_profile *p, struct ek_error *e)
{
    for (int i = 0; i < COLUMN_COUNT; i++) {
        const struct column *c = &COLUMNS[i];
        size_t shape[EK_TENSOR_DIMS_MAX];
        const struct ek_tensor *tensor;
        column_shape(c, p->features, shape);
        int rc = ek_tensors_expect(t, c->name, c->dtype, c->dims, shape, &tensor, e);
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

/* The keys rise. */
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
    ek_json_add_integer(w, "related_lists", p->related_lists);
    write_texts(w, "strata", p->stratum, p->strata);
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

int ek_profile_save(const struct ek_profile *p, const char *path, struct ek_error *e)
{
    struct ek_tensors *t = NULL;
    size_t features = (size_t)p->features, strata = (size_t)p->strata;
    int rc = ek_tensors_new(&t);
    if (!rc)
        rc = add_columns(t, p);
    if (!rc)
        rc = add_array(t, "level", EK_F32, features, strata, p->level,
                       features * strata * sizeof *p->level);
    if (!rc)
        rc = add_array(t, "density", EK_F32, features, EK_DENSITY_BINS, p->density,
                       features * EK_DENSITY_BINS * sizeof *p->density);
    if (!rc)
        rc = add_array(t, "calibration", EK_F32, features, strata * EK_CALIBRATED, p->calibration,
                       features * strata * EK_CALIBRATED * sizeof *p->calibration);
    if (!rc)
        rc = add_sketches(t, p);
    if (!rc)
        rc = ek_profile_add_categories(t, p);
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

/* Shapes and names from the description; arrays allocated. */
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
    p->related_lists = (int)yyjson_get_sint(yyjson_obj_get(root, "related_lists"));
    if (p->related_lists < 1)
        return bad(path, e, "'related_lists'");
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

static int read_all(const struct ek_tensors *t, struct ek_profile *p, const char *path,
                    struct ek_error *e)
{
    const char *text = ek_tensors_text(t, DESCRIPTION);
    struct ek_json_fault why;
    yyjson_doc *doc;
    int rc = text ? ek_json_parse(&doc, text, strlen(text), false, &why) : EK_EFORMAT;
    if (rc == EK_ENOMEM)
        return ek_fail(e, rc, "no memory for the description");
    if (rc)
        return bad(path, e, "no description under '" DESCRIPTION "'");
    rc = read_description(p, yyjson_doc_get_root(doc), path, e);
    yyjson_doc_free(doc);
    size_t features = (size_t)p->features;
    if (!rc)
        rc = read_columns(t, p, e);
    if (!rc)
        rc = read_array(t, "level", features, (size_t)p->strata, p->level, e);
    if (!rc)
        rc = read_array(t, "density", features, EK_DENSITY_BINS, p->density, e);
    if (!rc)
        rc = read_array(t, "calibration", features, (size_t)p->strata * EK_CALIBRATED,
                        p->calibration, e);
    if (!rc)
        rc = read_sketches(t, p, path, e);
    if (!rc)
        rc = ek_profile_read_categories(t, p, e);
    const char *fault = rc ? NULL : ek_profile_fault(p);
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

/* The hash does not say which features are categories. */
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

int ek_profile_check(const struct ek_profile *p, const struct ek_manifest *m, struct ek_error *e)
{
    if (p->manifest_hash == m->hash && p->features == m->item_count)
        return check_types(p, m, e);
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
    int low = 1, high = p->strata;
    while (name && low < high) {
        int middle = low + (high - low) / 2;
        int order = ek_text_compare((struct ek_text){name, length}, p->stratum[middle]);
        if (!order)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}
