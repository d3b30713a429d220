#include "assets/segment_levels.h"

#include "assets/feature_columns.h"
#include "base/alloc.h"
#include "base/hash.h"

#include <math.h>
#include <string.h>

static const float LEVEL_MOST = 200; /* ln of the largest float is 88.7 */

int ek_segment_levels_new(struct ek_segment_levels **out, int dimensions, int values, int features)
{
    struct ek_segment_levels *t = ek_calloc(1, sizeof *t);
    if (!t)
        return EK_ENOMEM;
    size_t columns = (size_t)features;
    t->dimensions = dimensions;
    t->features = features;
    t->first[dimensions] = values;
    t->value = ek_calloc((size_t)values, sizeof *t->value);
    t->feature = ek_calloc(columns, sizeof *t->feature);
    t->level = ek_calloc((size_t)values * columns, sizeof *t->level);
    t->has = ek_calloc((size_t)dimensions * columns, sizeof *t->has);
    if (!t->value || !t->feature || !t->level || !t->has) {
        ek_segment_levels_free(t);
        return EK_ENOMEM;
    }
    *out = t;
    return EK_OK;
}

void ek_segment_levels_free(struct ek_segment_levels *t)
{
    if (!t)
        return;
    for (int d = 0; d < t->dimensions; d++)
        ek_free(t->dimension[d]);
    for (int v = 0; t->value && v < t->first[t->dimensions]; v++)
        ek_free(t->value[v]);
    ek_free(t->value);
    ek_free(t->feature);
    ek_free(t->level);
    ek_free(t->has);
    ek_free(t);
}

void ek_segment_levels_index(struct ek_segment_levels *t)
{
    memset(t->has, 0, (size_t)(t->dimensions * t->features) * sizeof *t->has);
    for (int d = 0; d < t->dimensions; d++)
        for (int v = t->first[d]; v < t->first[d + 1]; v++)
            for (int a = 0; a < t->features; a++)
                t->has[d * t->features + a] |= !isnan(t->level[v * t->features + a]);
}

bool ek_segment_levels_differ(const struct ek_segment_levels *t, const char *name)
{
    for (int d = 0; t && d < t->dimensions; d++)
        if (!strcmp(t->dimension[d], name))
            return true;
    return false;
}

bool ek_segment_levels_has(const struct ek_segment_levels *t, int dimension, int item_feature)
{
    int a = ek_feature_columns_find(t->feature, t->features, item_feature);
    return a >= 0 && t->has[dimension * t->features + a];
}

int ek_segment_levels_features(const struct ek_segment_levels *t, int dimension)
{
    int count = 0;
    for (int a = 0; a < t->features; a++)
        count += t->has[dimension * t->features + a];
    return count;
}

int ek_segment_levels_find(const struct ek_segment_levels *t, int dimension, struct ek_text value)
{
    return ek_text_find(value, t->value, t->first[dimension], t->first[dimension + 1]);
}

/* Set row [D] to the values of a list, -1 for unknown ones. */
static void locate(const struct ek_segment_levels *t, const struct ek_list *q, int *row)
{
    for (int d = 0; d < t->dimensions; d++)
        row[d] = ek_segment_levels_find(t, d, ek_list_segment(q, t->dimension[d]));
}

/* Return the level of a column in rows [D]; NaN without one. */
static double level_of(const struct ek_segment_levels *t, const int *row, int feature)
{
    double sum = 0;
    for (int d = 0; d < t->dimensions; d++)
        if (t->has[d * t->features + feature])
            sum += row[d] < 0 ? (double)NAN : (double)t->level[row[d] * t->features + feature];
    return sum;
}

bool ek_segment_levels_subtract(const struct ek_segment_levels *t, const int *row, int feature,
                                struct ek_list_stats *record)
{
    double level = level_of(t, row, feature);
    record->r = ek_residual_lowered(record->r, level);
    if (isnan(level))
        ek_list_stats_remove_level(record);
    return !isnan(level);
}

bool ek_segment_levels_apply(const struct ek_segment_levels *t, const struct ek_list *q,
                             struct ek_list_stats *record)
{
    int row[EK_SEGMENT_LEVEL_DIMENSIONS_MAX];
    bool all = true;
    locate(t, q, row);
    for (int a = 0; a < t->features; a++)
        all &= ek_segment_levels_subtract(t, row, a, &record[t->feature[a]]);
    return all;
}

double ek_segment_levels_of(const struct ek_segment_levels *t, const struct ek_list *q,
                            int item_feature)
{
    int a = t ? ek_feature_columns_find(t->feature, t->features, item_feature) : -1;
    int row[EK_SEGMENT_LEVEL_DIMENSIONS_MAX];
    if (a < 0)
        return 0;
    locate(t, q, row);
    return level_of(t, row, a);
}

static uint64_t text_hash(const char *text, uint64_t seed)
{
    return ek_hash(text, strlen(text) + 1, seed);
}

uint64_t ek_segment_levels_hash(const struct ek_segment_levels *t, uint64_t seed)
{
    if (!t)
        return seed;
    int values = t->first[t->dimensions];
    uint64_t h = ek_hash(t->first, sizeof t->first, seed);
    for (int d = 0; d < t->dimensions; d++)
        h = text_hash(t->dimension[d], h);
    for (int v = 0; v < values; v++)
        h = text_hash(t->value[v], h);
    h = ek_hash(t->feature, (size_t)t->features * sizeof *t->feature, h);
    return ek_hash(t->level, (size_t)(values * t->features) * sizeof *t->level, h);
}

void ek_segment_levels_describe(const struct ek_segment_levels *t, struct ek_json_writer *w)
{
    if (!t)
        return;
    ek_json_open(w, "segments", '[');
    for (int d = 0; d < t->dimensions; d++) {
        ek_json_open(w, NULL, '{');
        ek_json_add_text(w, "dimension", t->dimension[d]);
        ek_json_open(w, "values", '[');
        for (int v = t->first[d]; v < t->first[d + 1]; v++)
            ek_json_add_text(w, NULL, t->value[v]);
        ek_json_close(w, ']');
        ek_json_close(w, '}');
    }
    ek_json_close(w, ']');
}

int ek_segment_levels_write(const struct ek_segment_levels *t, struct ek_tensors *file)
{
    if (!t)
        return EK_OK;
    size_t values = (size_t)t->first[t->dimensions];
    const size_t features[] = {(size_t)t->features}, shape[] = {values, features[0]};
    struct ek_tensor *feature = ek_tensors_add(file, "segment_level_feature", EK_U64, 1, features);
    struct ek_tensor *level =
        feature ? ek_tensors_add(file, "segment_level", EK_F32, 2, shape) : NULL;
    if (!level)
        return EK_ENOMEM;
    ek_feature_columns_write(t->feature, t->features, feature->data);
    memcpy(level->data, t->level, values * features[0] * sizeof *t->level);
    return EK_OK;
}

static int invalid(struct ek_error *e)
{
    return ek_fail(e, EK_EFORMAT, "the segment levels of the profile are out of order or range");
}

static int out_of_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

/* Return the number of values of all dimensions, or -1 if the names have an invalid form. */
static int count_values(yyjson_val *segments)
{
    size_t dimensions = yyjson_arr_size(segments);
    int values = 0;
    if (!dimensions || dimensions > EK_SEGMENT_LEVEL_DIMENSIONS_MAX)
        return -1;
    for (size_t d = 0; d < dimensions; d++) {
        yyjson_val *of = yyjson_obj_get(yyjson_arr_get(segments, d), "values");
        if (!yyjson_is_arr(of) || yyjson_arr_size(of) > EK_SEGMENT_LEVEL_VALUES_MAX)
            return -1;
        values += (int)yyjson_arr_size(of);
    }
    return values;
}

/* Copy the name of a dimension and its values, which rise. */
static int read_dimension(struct ek_segment_levels *t, int d, yyjson_val *from, struct ek_error *e)
{
    const char *name = yyjson_get_str(yyjson_obj_get(from, "dimension"));
    yyjson_val *values = yyjson_obj_get(from, "values");
    int first = t->first[d], count = (int)yyjson_arr_size(values);
    if (!name)
        return invalid(e);
    if (!(t->dimension[d] = ek_strdup(name)))
        return out_of_memory(e);
    for (int v = 0; v < count; v++) {
        const char *value = yyjson_get_str(yyjson_arr_get(values, (size_t)v));
        if (!value || (v && strcmp(t->value[first + v - 1], value) >= 0))
            return invalid(e);
        if (!(t->value[first + v] = ek_strdup(value)))
            return out_of_memory(e);
    }
    t->first[d + 1] = first + count;
    return EK_OK;
}

/* Copy the arrays. Return false for values that no training gives. */
static bool copy_arrays(struct ek_segment_levels *t, const uint64_t *feature, const float *level,
                        int features)
{
    if (!ek_feature_columns_read(t->feature, feature, t->features, features))
        return false;
    for (int i = 0; i < t->first[t->dimensions] * t->features; i++) {
        if (fabsf(level[i]) > LEVEL_MOST)
            return false;
        t->level[i] = level[i];
    }
    return true;
}

int ek_segment_levels_read(struct ek_segment_levels **out, yyjson_val *description,
                           const struct ek_tensors *file, int features, struct ek_error *e)
{
    yyjson_val *segments = yyjson_obj_get(description, "segments");
    const struct ek_tensor *feature = ek_tensors_find(file, "segment_level_feature"), *level;
    *out = NULL;
    if (!segments)
        return EK_OK;
    int values = count_values(segments), dimensions = (int)yyjson_arr_size(segments);
    if (values < 1 || !feature || feature->dims != 1 || feature->dtype != EK_U64 ||
        !feature->shape[0] || feature->shape[0] > (size_t)features)
        return ek_fail(e, EK_EFORMAT, "the segment levels of the profile have an invalid shape");
    const size_t shape[] = {(size_t)values, feature->shape[0]};
    int rc = ek_tensors_expect(file, "segment_level", EK_F32, 2, shape, &level, e);
    if (rc)
        return rc;
    struct ek_segment_levels *t;
    if (ek_segment_levels_new(&t, dimensions, values, (int)shape[1]))
        return out_of_memory(e);
    for (int d = 0; !rc && d < dimensions; d++)
        rc = read_dimension(t, d, yyjson_arr_get(segments, (size_t)d), e);
    if (!rc && !copy_arrays(t, feature->data, level->data, features))
        rc = invalid(e);
    if (rc) {
        ek_segment_levels_free(t);
        return rc;
    }
    ek_segment_levels_index(t);
    *out = t;
    return EK_OK;
}
