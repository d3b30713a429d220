/* Distinct values of one feature in ascending order, with counts. Scalings, category detection and
 * histograms use them.
 *
 * Values from a column are exact; -0 and 0 are one value. Values from a sketch (num/sketch.h) are
 * estimates, because its buckets are 1.6% wide and do not keep the number of distinct values.
 * `unique` is the number of distinct values of an entry, always 1 for a column. A bucket becomes up
 * to EK_VALUES_PER_BUCKET entries. The estimate of its distinct values:
 * - The bucket of zero has one value; another bucket has at most one per item.
 * - At most one plus twice the items of the fuller neighbor: continuous values spread over adjacent
 *   buckets, a single repeated value does not.
 * - If all values are multiples of a round step (prices in cents, counts), buckets without a
 *   multiple are empty. A bucket with m multiples and n items then has m (1 - exp(-n / m)) values,
 *   as n draws of m.
 *
 * A single value is placed on the number of its bucket with the fewest decimals. NaN and infinities
 * are not included; they are counted as missing.
 */
#ifndef EK_OFFLINE_SCALE_VALUES_H
#define EK_OFFLINE_SCALE_VALUES_H

#include "base/error.h"
#include "num/sketch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_VALUES_PER_BUCKET = 16 };

struct ek_value {
    float x;
    float unique; /* distinct values of the entry, at least 1 from a column */
    double count; /* items, a whole number from a column */
};

struct ek_values {
    struct ek_value *value; /* [entries], x ascending; equal only for tiny buckets */
    size_t entries;
    double unique, count; /* sums of the above */
    uint64_t missing;
    double step; /* common round step; 0: none, or not determined */
    bool exact;  /* from a column */
};

/* Set *out to the distinct values of x[0], x[stride], ..., `rows` numbers; release it with
 * ek_values_release. Allocates nearly 24 temporary bytes per row. Return 0, or EK_ENOMEM with
 * nothing to release. */
int ek_values_from_column(struct ek_values *out, const float *x, size_t rows, size_t stride,
                          struct ek_error *e);
/* Set *out to the estimated values of a sketch; release it with ek_values_release. Return 0, or
 * EK_ENOMEM with nothing to release. */
int ek_values_from_sketch(struct ek_values *out, const struct ek_sketch *s, struct ek_error *e);
void ek_values_release(struct ek_values *v);

#endif
