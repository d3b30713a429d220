/* Sums over the rows of one list for all features at once, the input of the list statistics.
 *
 * x is [rows, features], row-major; every array of the result is [features]. A value is missing if
 * it is NaN or infinite, and usable if it is neither missing nor zero. Denormals count as zero.
 * `tied` is the fraction of pairs of equal values, times the present values less one. It does not
 * depend on the order of the rows, nor in expectation on their number: it is exact for up to
 * EK_PICKS_MAX rows, and measured on so many rows of longer lists, which a hash of their values
 * selects. `negative` counts usable values below zero.
 *
 * ln and ln2 are sums of (ln|x| - pivot) and its square; a pivot near the mean avoids cancellation.
 * The error of one difference d is below 1e-6 + 1e-7 |d|. Pivots must be finite. Every instruction
 * set returns the same bits: rows are added in order and no operation is fused.
 */
#ifndef EK_NUM_LIST_MOMENTS_H
#define EK_NUM_LIST_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

enum { EK_PICKS_MAX = 32 };

struct ek_row_count {
    uint64_t hash, rows; /* rows 0: free */
};

struct ek_list_moments {
    int pick[EK_PICKS_MAX], picks; /* rows whose pairs are compared */
    int features, padded; /* padded: elements per array, a multiple of 16; the rest stays 0 */
    float *ln, *ln2;      /* sums over usable values */
    float *usable, *zero, *missing, *negative; /* counts */
    float *tied;
    void *memory;
    struct ek_row_count *table; /* equal rows by hash; grows */
    size_t slots;
};

/* Create sums for `features` features. Return 0, EK_ENOMEM, or EK_ELIMIT for an invalid number of
 * features. */
int ek_list_moments_new(struct ek_list_moments **out, int features);
void ek_list_moments_free(struct ek_list_moments *s);
/* Replace the sums by those of `rows` rows. `pivot` [padded] is usually the training mean of ln|x|.
 */
void ek_list_moments_compute(struct ek_list_moments *s, const float *x, int rows,
                             const float *pivot);

#endif
