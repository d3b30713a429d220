/* The values of one feature, rising: each different one with how often it is there. What scalings
 * are fitted on, categories are told by and histograms are drawn from.
 *
 * From a column they are exact; -0 and 0 are one value. From a sketch (num/sketch.h), whose buckets
 * are 1.6% wide, they are a guess: how many different values a bucket holds is not kept. So
 * `unique` says how many different values an entry stands for, which is 1 for all of a column, and
 * a bucket becomes up to EK_VALUES_PER_BUCKET entries spread over it. The guess:
 *   - the bucket of zero has one value, any other at most as many as items;
 *   - and no more than one and twice the items of the fuller of its two neighbours: what varies
 *     freely spills over, what does not is one value many times;
 *   - where all values lie on the multiples of a round step (prices in cents, counts), which shows
 *     in buckets that hold none being empty, a bucket with m multiples and n items has
 *     m (1 - exp(-n / m)) different ones, what n draws of m would give.
 * The one value of a bucket is taken for the number there that has the fewest decimals.
 * NaN and infinities are left out and counted as missing. Owner: the caller, ek_values_release.
 * Threads: no state.
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
    float unique; /* how many different values it stands for, at least 1 of a column's */
    double count; /* how many items have it; whole numbers of a column */
};

struct ek_values {
    struct ek_value *value; /* [entries], x rising; equal only where a sketch's bucket is tiny */
    size_t entries;
    double unique, count; /* sums of the above */
    uint64_t missing;
    double step; /* the round step that all lie on, 0: none was found, or not looked for */
    bool exact;  /* of a column */
};

/* x[0], x[stride], ...: `rows` of them. Nearly 24 bytes per row are needed meanwhile. EK_ENOMEM,
 * nothing is to be released then. */
int ek_values_from_column(struct ek_values *out, const float *x, size_t rows, size_t stride,
                          struct ek_error *e);
int ek_values_from_sketch(struct ek_values *out, const struct ek_sketch *s, struct ek_error *e);
void ek_values_release(struct ek_values *v);

#endif
