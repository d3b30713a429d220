/* Sums over the rows of one list, for all features at once: what the query statistics are made of.
 *
 * Shapes: x [rows, features] row-major; every array of the result has `features` elements.
 * A value is missing when NaN; usable when finite and not zero (denormals count as zero here and in
 * `zero`: their logarithm is not worth the branch); tied when its bits equal those of the last
 * non-missing value of the feature in the list. Infinities are counted in `infinite` and are not
 * usable. Negative counts usable values below zero.
 * ln and ln2 are about the pivot, against cancellation: sums of (ln|x| - pivot) and its square; the
 * error of one such difference d is below 1e-6 + 1e-7 |d|. Pivots must be finite. Every instruction
 * set gives the same bits: features are lanes, rows are added in order, nothing is fused.
 */
#ifndef EK_NUM_LIST_SUMS_H
#define EK_NUM_LIST_SUMS_H

#include <stddef.h>

struct ek_list_sums {
    int features, padded; /* padded: room per array, a multiple of 16; the rest stays 0 */
    float *ln, *ln2;      /* sums over usable values */
    float *usable, *zero, *missing, *negative, *infinite, *tied; /* counts */
    float *last; /* scratch: bits of the last value */
    void *memory;
};

/* EK_ENOMEM, EK_ELIMIT for a senseless number of features. */
int ek_list_sums_new(struct ek_list_sums **out, int features);
void ek_list_sums_free(struct ek_list_sums *s);
/* pivot [padded of s], usually the training mean of ln|x|. Overwrites the sums. */
void ek_list_sums_compute(struct ek_list_sums *s, const float *x, int rows, const float *pivot);

#endif
