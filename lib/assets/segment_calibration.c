#include "assets/segment_calibration.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 40 };

uint64_t ek_segment_key(struct ek_text dimension, struct ek_text value)
{
    return ek_hash(value.text, value.length, ek_hash(dimension.text, dimension.length, 0));
}

int ek_segment_calibration_new(struct ek_segment_calibration **out, size_t rows)
{
    struct ek_segment_calibration *t = ek_calloc(1, sizeof *t);
    if (!t)
        return EK_ENOMEM;
    t->rows = rows;
    t->segment = ek_calloc(rows, sizeof *t->segment);
    t->feature = ek_calloc(rows, sizeof *t->feature);
    t->divisor = ek_calloc(rows * EK_CALIBRATED, sizeof *t->divisor);
    if (!t->segment || !t->feature || !t->divisor) {
        ek_segment_calibration_free(t);
        return EK_ENOMEM;
    }
    *out = t;
    return EK_OK;
}

void ek_segment_calibration_free(struct ek_segment_calibration *t)
{
    if (!t)
        return;
    ek_free(t->segment);
    ek_free(t->feature);
    ek_free(t->divisor);
    ek_free(t);
}

size_t ek_segment_calibration_find(const struct ek_segment_calibration *t, uint64_t segment,
                                   size_t *first)
{
    size_t low = 0, high = t ? t->rows : 0, end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->segment[middle] < segment)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; t && end < t->rows && t->segment[end] == segment;)
        end++;
    *first = low;
    return end - low;
}

uint64_t ek_segment_calibration_hash(const struct ek_segment_calibration *t, uint64_t seed)
{
    if (!t)
        return seed;
    uint64_t h = ek_hash(t->segment, t->rows * sizeof *t->segment, seed);
    h = ek_hash(t->feature, t->rows * sizeof *t->feature, h);
    return ek_hash(t->divisor, t->rows * EK_CALIBRATED * sizeof *t->divisor, h);
}

int ek_segment_calibration_write(const struct ek_segment_calibration *t, const char *prefix,
                                 struct ek_tensors *file)
{
    char name[NAME_BYTES];
    if (!t)
        return EK_OK;
    const size_t shape[] = {t->rows, EK_CALIBRATED};
    snprintf(name, sizeof name, "%scalibrated_segment", prefix);
    struct ek_tensor *segment = ek_tensors_add(file, name, EK_U64, 1, shape);
    snprintf(name, sizeof name, "%scalibrated_feature", prefix);
    struct ek_tensor *feature = segment ? ek_tensors_add(file, name, EK_U64, 1, shape) : NULL;
    snprintf(name, sizeof name, "%scalibrated_divisor", prefix);
    struct ek_tensor *divisor = feature ? ek_tensors_add(file, name, EK_F32, 2, shape) : NULL;
    if (!divisor)
        return EK_ENOMEM;
    memcpy(segment->data, t->segment, t->rows * sizeof *t->segment);
    memcpy(feature->data, t->feature, t->rows * sizeof *t->feature);
    memcpy(divisor->data, t->divisor, t->rows * EK_CALIBRATED * sizeof *t->divisor);
    return EK_OK;
}

/* Return whether the rows rise and the divisors are finite and at least 1. */
static bool is_valid(const struct ek_segment_calibration *t, int features)
{
    for (size_t i = 0; i < t->rows; i++) {
        bool rises = !i || t->segment[i] > t->segment[i - 1] ||
                     (t->segment[i] == t->segment[i - 1] && t->feature[i] > t->feature[i - 1]);
        if (!rises || t->feature[i] >= (uint64_t)features)
            return false;
    }
    for (size_t i = 0; i < t->rows * EK_CALIBRATED; i++)
        if (!(t->divisor[i] >= 1 && isfinite(t->divisor[i])))
            return false;
    return true;
}

int ek_segment_calibration_read(struct ek_segment_calibration **out, const char *prefix,
                                const struct ek_tensors *file, int features, struct ek_error *e)
{
    char name[NAME_BYTES];
    const struct ek_tensor *segment, *feature, *divisor;
    *out = NULL;
    snprintf(name, sizeof name, "%scalibrated_segment", prefix);
    segment = ek_tensors_find(file, name);
    if (!segment)
        return EK_OK;
    if (segment->dims != 1 || segment->dtype != EK_U64 || !segment->shape[0])
        return ek_fail(e, EK_EFORMAT, "array '%s' of the profile has an invalid shape", name);
    const size_t shape[] = {segment->shape[0], EK_CALIBRATED};
    snprintf(name, sizeof name, "%scalibrated_feature", prefix);
    int rc = ek_tensors_expect(file, name, EK_U64, 1, shape, &feature, e);
    snprintf(name, sizeof name, "%scalibrated_divisor", prefix);
    if (!rc)
        rc = ek_tensors_expect(file, name, EK_F32, 2, shape, &divisor, e);
    if (rc)
        return rc;
    struct ek_segment_calibration *t;
    if (ek_segment_calibration_new(&t, shape[0]))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    memcpy(t->segment, segment->data, t->rows * sizeof *t->segment);
    memcpy(t->feature, feature->data, t->rows * sizeof *t->feature);
    memcpy(t->divisor, divisor->data, t->rows * EK_CALIBRATED * sizeof *t->divisor);
    if (!is_valid(t, features)) {
        ek_segment_calibration_free(t);
        return ek_fail(e, EK_EFORMAT,
                       "the calibration of segments of the profile is out of order or range");
    }
    *out = t;
    return EK_OK;
}
