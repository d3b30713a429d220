/* Calibration of the bets in segments: their expectation over the training lists of a segment
 * value, where it exceeds 1.
 *
 * The bets are made for the residuals of all lists. A segment whose residuals spread more, or have
 * another shape, would gather evidence without a change. Rows of features without an excess are
 * absent. Immutable after loading; shareable between threads.
 */
#ifndef EK_ASSETS_SEGMENT_CALIBRATION_H
#define EK_ASSETS_SEGMENT_CALIBRATION_H

#include "assets/tensors.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

enum { EK_CALIBRATED = 24 }; /* bets of the detector */

struct ek_segment_calibration {
    size_t rows;
    uint64_t *segment; /* [rows] ek_segment_key, ascending */
    uint64_t *feature; /* [rows] item feature, ascending within a segment */
    float *divisor;    /* [rows, EK_CALIBRATED] of the bets, at least 1 */
};

/* Return a hash of a dimension and its value. */
uint64_t ek_segment_key(struct ek_text dimension, struct ek_text value);
/* Allocate a table of `rows` rows, which the caller fills. Return 0 or EK_ENOMEM. */
int ek_segment_calibration_new(struct ek_segment_calibration **out, size_t rows);
/* Free a table. NULL is allowed. */
void ek_segment_calibration_free(struct ek_segment_calibration *t);
/* Set *first to the first row of a segment, and return their number. NULL: 0. */
size_t ek_segment_calibration_find(const struct ek_segment_calibration *t, uint64_t segment,
                                   size_t *first);
/* Return a hash of the table, from `seed`. NULL: seed. */
uint64_t ek_segment_calibration_hash(const struct ek_segment_calibration *t, uint64_t seed);

/* Append the table to a profile file; the names of its arrays begin with `prefix`. NULL: nothing.
 * Return 0 or EK_ENOMEM. */
int ek_segment_calibration_write(const struct ek_segment_calibration *t, const char *prefix,
                                 struct ek_tensors *file);
/* Read the table of a profile of `features` item features; the caller frees *out, which is NULL if
 * the file has none. Return 0, EK_ENOMEM, or EK_EFORMAT for rows out of order and divisors below 1
 * or not finite. */
int ek_segment_calibration_read(struct ek_segment_calibration **out, const char *prefix,
                                const struct ek_tensors *file, int features, struct ek_error *e);

#endif
