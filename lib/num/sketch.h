/* Mergeable signed log-histogram of one feature in one segment.
 *
 * The key of a value is the top 15 bits of its float32 pattern (bits >> 17): sign, exponent and 6
 * mantissa bits, so 64 linear sub-buckets per octave. +0 -> 0, -0 -> 16384, +Inf 16320, -Inf 32704,
 * NaN 16352; all NaNs share one key, and |x| < 2^-132 shares key 0. Merging adds counts and is
 * exact, commutative and associative. Counts are items in 64 bits; overflow is not checked.
 *
 * A `struct ek_sketch_set` has the sketches of all features of one segment. It buffers rows and
 * counts them in 16-bit hot counters, which are drained into wide cold counters before they can
 * overflow. Its virtual size is 320 KiB per feature; pages become resident at the first write.
 *
 * A sketch or a set is used by one thread at a time. Only _new allocates.
 */
#ifndef EK_NUM_SKETCH_H
#define EK_NUM_SKETCH_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

enum {
    EK_SKETCH_KEYS = 32768,
    EK_SKETCH_NAN = 16352,
    EK_SKETCH_INF = 16320,
    EK_SKETCH_NEG_INF = 32704,
    EK_SKETCH_NEG_ZERO = 16384,
    EK_SKETCH_FEATURES_MAX = 16384, /* per set */
};

/* Return the largest relative error of a quantile of normal numbers: 1/128 of the octave (0.0079).
 */
double ek_sketch_max_rel_error(void);
/* Return the key of `x`; all NaNs have the key EK_SKETCH_NAN. */
uint16_t ek_sketch_key(float x);
/* Return the middle of a key's range: 0 for both zeros and values that share their keys, +-inf, or
 * NaN. */
double ek_sketch_value(uint16_t key);
/* Return the ln of the geometric middle of |range|; -inf for zeros. Use it for shifts in ln: a
 * shift of keys is not logarithmic. */
double ek_sketch_ln(uint16_t key);

/* Sketch of one feature, with wide counters only. */
struct ek_sketch;
/* Create an empty sketch. Return 0 or EK_ENOMEM. */
int ek_sketch_new(struct ek_sketch **out);
void ek_sketch_free(struct ek_sketch *s);
/* Set all counts to 0. */
void ek_sketch_clear(struct ek_sketch *s);
/* Count `count` items of value `x`; NaN is counted as missing. */
void ek_sketch_add(struct ek_sketch *s, float x, uint64_t count);
/* Add the counts of `from` to `into`; `from` stays unchanged. */
void ek_sketch_merge(struct ek_sketch *into, const struct ek_sketch *from);
/* Remove the counts of one key. */
void ek_sketch_remove(struct ek_sketch *s, uint16_t key);
/* Multiply all counts by `weight`. */
void ek_sketch_scale(struct ek_sketch *s, uint64_t weight);
/* Add the counts of `from`, which stays unchanged, to `out`, at values times exp(shift_ln). Zeros,
 * infinities and NaN stay; values out of the float range become infinite or zero. The second
 * rounding limits the error of a quantile to (1 + ek_sketch_max_rel_error())^2 - 1, 1.6%. */
void ek_sketch_translate(const struct ek_sketch *from, double shift_ln, struct ek_sketch *out);
/* Return the count of one key. */
uint64_t ek_sketch_count(const struct ek_sketch *s, uint16_t key);
/* Return the count of all keys, NaN included. */
uint64_t ek_sketch_total(const struct ek_sketch *s);

struct ek_sketch_summary {
    uint64_t total, missing, zero, negative, infinite;
    double log_mean, log_sd; /* of ln|x| over finite nonzero values; NaN without any */
    double p01, p50, p99;    /* of x over finite values; NaN without any */
    double low, high;        /* smallest and largest finite value, to the bucket */
};
/* Set *out to the summary of a sketch. */
void ek_sketch_summarize(const struct ek_sketch *s, struct ek_sketch_summary *out);
/* Return the smallest value v with P(x <= v) >= share over the non-missing values; NaN without any.
 */
double ek_sketch_quantile(const struct ek_sketch *s, double share);
/* Set out [count] to the quantiles of the finite values for `count` ascending fractions in
 * `shares`; NaN without any. */
void ek_sketch_quantiles(const struct ek_sketch *s, const double *shares, int count, double *out);

/* Append the serialized sketch (docs/dev/formats/sketch.md) to `out`. Return 0, or EK_ENOMEM or
 * EK_ELIMIT with the bytes of `out` unchanged. */
int ek_sketch_write(const struct ek_sketch *s, struct ek_buf *out);
/* Replace the sketch by a serialized one and set *used, unless NULL, to the bytes read. Return 0,
 * or EK_EFORMAT for invalid bytes. */
int ek_sketch_read(struct ek_sketch *s, const void *bytes, size_t length, size_t *used,
                   struct ek_error *e);

struct ek_sketch_set;
/* Create an empty set. Return 0, EK_ENOMEM, or EK_ELIMIT unless `features` is 1 to
 * EK_SKETCH_FEATURES_MAX. */
int ek_sketch_set_new(struct ek_sketch_set **out, int features, struct ek_error *e);
void ek_sketch_set_free(struct ek_sketch_set *s);
/* Add x [rows, features], row-major, which is not kept. Return 0, or EK_EUSAGE, with nothing added,
 * for negative `rows` or more than EK_SKETCH_SEALED_ROWS rows while a part is sealed. */
int ek_sketch_set_add(struct ek_sketch_set *s, const float *x, int rows);
/* Add the counts of one feature to `out`; the set stays unchanged. */
void ek_sketch_set_get(const struct ek_sketch_set *s, int feature, struct ek_sketch *out);
/* Add all counts of `from` to `into`; `from` keeps its counts. Return 0, or EK_EUSAGE if the
 * numbers of features differ or one set has a sealed part. */
int ek_sketch_set_merge(struct ek_sketch_set *into, struct ek_sketch_set *from);
/* Add a sketch, which stays unchanged, to one feature. The caller must add as many values to every
 * feature as rows to the set (ek_sketch_set_add_rows). Return 0, or EK_EUSAGE while a part is
 * sealed. */
int ek_sketch_set_add_sketch(struct ek_sketch_set *into, int feature, const struct ek_sketch *from);
/* Add a number of rows to the set, without values. Return 0, or EK_EUSAGE while a part is sealed.
 */
int ek_sketch_set_add_rows(struct ek_sketch_set *into, uint64_t rows);
/* Set all counts to 0. */
void ek_sketch_set_clear(struct ek_sketch_set *s);
/* Return the resident bytes of a set. */
size_t ek_sketch_set_bytes(const struct ek_sketch_set *s);
/* Return the number of rows without the sealed part. */
uint64_t ek_sketch_set_rows(const struct ek_sketch_set *s);

enum { EK_SKETCH_SEALED_ROWS = 32768 };
/* Seal all counts, to empty a set in steps while it receives more rows. No other function sees the
 * sealed part. The caller reads and removes it feature by feature, in ascending order. Until the
 * last removal, _add accepts EK_SKETCH_SEALED_ROWS rows, then returns EK_EUSAGE. No part may be
 * sealed already. The call flushes the buffers. A group's counters are drained at its next flush or
 * its first removal. */
void ek_sketch_set_seal(struct ek_sketch_set *s);
/* Return the first feature with a sealed part, or the number of features without any. */
int ek_sketch_set_sealed(const struct ek_sketch_set *s);
/* Add the sealed part of a feature to `out`; no effect if it was removed. */
void ek_sketch_set_get_sealed(const struct ek_sketch_set *s, int feature, struct ek_sketch *out);
/* Remove the sealed part of the first feature that has one. The set must have a sealed part. */
void ek_sketch_set_remove_sealed(struct ek_sketch_set *s);

#endif
