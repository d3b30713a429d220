/* Sketch: mergeable signed log-histogram of one feature in one cell.
 *
 * Key: the top 15 bits of the float32 pattern (bits >> 17): sign, exponent, 6 mantissa bits; 64
 * linear sub-buckets per octave over the whole range. +0 -> 0, -0 -> 16384, +Inf 16320, -Inf 32704,
 * quiet NaN 16352; a signalling NaN is made quiet first, a NaN's sign is dropped. |x| < 2^-132
 * shares key 0. Merging is addition of counts: exact, commutative, associative. A `struct
 * ek_sketch_set` holds the sketches of all features of one cell: 16-bit hot counters that are
 * drained into wide cold ones before any can overflow, rows buffered and flushed in blocks. Units:
 * counts are items; 64 bits, not watched for overflow. Owner: the caller. Threads: one at a time
 * per sketch or set. No call but _new allocates; a set's pages become resident when first touched,
 * its virtual size is 320 KiB per feature.
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
    EK_SKETCH_FEATURES_MAX = 16384, /* of a set */
};

/* Largest relative error of a quantile for normal numbers: 1/128 of the value's octave (0.0079). */
double ek_sketch_max_rel_error(void);
uint16_t ek_sketch_key(float x);
/* Middle of a key's range (0 for both zeros and what shares their keys, +-inf, NaN). */
double ek_sketch_value(uint16_t key);
/* ln of the geometric middle of |range|; -inf for zeros. For alignment: a shift of keys is no log
 * shift. */
double ek_sketch_ln(uint16_t key);

/* One histogram, wide counters only. */
struct ek_sketch;
int ek_sketch_new(struct ek_sketch **out);
void ek_sketch_free(struct ek_sketch *s);
void ek_sketch_clear(struct ek_sketch *s);
void ek_sketch_add(struct ek_sketch *s, float x, uint64_t count);
void ek_sketch_merge(struct ek_sketch *into, const struct ek_sketch *from);
/* Adds the counts of `from` at values times exp(shift_ln): zeros, infinities and NaN as they are;
 * what leaves the range of a float is infinite, or zero. Values are rounded once more, so that a
 * quantile is within (1 + ek_sketch_max_rel_error())^2 - 1, 1.6%. */
void ek_sketch_translate(const struct ek_sketch *from, double shift_ln, struct ek_sketch *out);
uint64_t ek_sketch_count(const struct ek_sketch *s, uint16_t key);
uint64_t ek_sketch_total(const struct ek_sketch *s); /* NaN included */

struct ek_sketch_summary {
    uint64_t total, missing, zero, negative, infinite;
    double log_mean, log_sd;    /* of ln|x| over finite non-zero values; NaN without any */
    double p01, p50, p99, p999; /* of x over finite values; NaN without any */
    double low, high;           /* smallest and largest finite value, to the bucket */
};
void ek_sketch_summarize(const struct ek_sketch *s, struct ek_sketch_summary *out);
/* Smallest value v with P(x <= v) >= share, over the non-missing values; NaN without any. */
double ek_sketch_quantile(const struct ek_sketch *s, double share);
/* The same over the finite values, for `count` rising shares at once. */
void ek_sketch_quantiles(const struct ek_sketch *s, const double *shares, int count, double *out);

/* Serialised as gap and count varints, keys rising (docs/format/sketch.md). Appends to `out`; on
 * failure it has what it had. */
int ek_sketch_write(const struct ek_sketch *s, struct ek_buf *out);
/* Replaces the content. EK_EFORMAT when bytes are no sketch; *used = bytes read, may be NULL. */
int ek_sketch_read(struct ek_sketch *s, const void *bytes, size_t length, size_t *used,
                   struct ek_error *e);

/* All features of one cell; the hot path. EK_ELIMIT for a senseless number of features. */
struct ek_sketch_set;
int ek_sketch_set_new(struct ek_sketch_set **out, int features, struct ek_error *e);
void ek_sketch_set_free(struct ek_sketch_set *s);
/* rows x features values, row-major. EK_EUSAGE for negative rows. */
int ek_sketch_set_add(struct ek_sketch_set *s, const float *x, int rows);
/* Adds the content of one feature to `out`. */
void ek_sketch_set_get(const struct ek_sketch_set *s, int feature, struct ek_sketch *out);
/* Adds all of `from`, which keeps its content, to `into`. EK_EUSAGE when they have different
 * features or one has a sealed part. */
int ek_sketch_set_merge(struct ek_sketch_set *into, struct ek_sketch_set *from);
/* Adds a sketch to one feature, and rows to all of them: every feature is to be given as many
 * values as rows. EK_EUSAGE while a part is sealed. */
int ek_sketch_set_add_sketch(struct ek_sketch_set *into, int feature, const struct ek_sketch *from);
int ek_sketch_set_add_rows(struct ek_sketch_set *into, uint64_t rows);
void ek_sketch_set_clear(struct ek_sketch_set *s);
/* What of it is resident, and the most that it can be: when every key of every feature has come. */
size_t ek_sketch_set_bytes(const struct ek_sketch_set *s);
uint64_t ek_sketch_set_rows(const struct ek_sketch_set *s);

/* To empty a set bit by bit while rows go on coming: what it has becomes its sealed part, which the
 * calls above no longer see; the features of that part are then read and dropped, rising. At most
 * EK_SKETCH_SEALED_ROWS rows may come before the last is dropped, beyond them _add is EK_EUSAGE.
 * Nothing must be sealed at that time. Costs a flush of what is buffered; the counters of a group
 * of features are drained when that is flushed next, or when its first feature is dropped. */
enum { EK_SKETCH_SEALED_ROWS = 32768 };
void ek_sketch_set_seal(struct ek_sketch_set *s);
/* The first feature whose sealed part is there; the number of features when there is none. */
int ek_sketch_set_sealed(const struct ek_sketch_set *s);
/* Adds the sealed part of a feature to `out`, nothing when it was dropped. */
void ek_sketch_set_get_sealed(const struct ek_sketch_set *s, int feature, struct ek_sketch *out);
/* Drops that of the first feature that has one; there must be one. */
void ek_sketch_set_remove_sealed(struct ek_sketch_set *s);

#endif
