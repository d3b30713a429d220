/* Display histogram of two sketches over shared bins.
 *
 * Bins have equal width in ln|x|, separately for each sign. They cover the middle 99.8% of both
 * sketches, so one outlier does not squeeze all other values into one bar. The outermost bins of a
 * sign include the values beyond. Fractions are of all items, missing ones included.
 */
#ifndef EK_NUM_HISTOGRAM_H
#define EK_NUM_HISTOGRAM_H

#include "num/sketch.h"

enum { EK_HISTOGRAM_BINS = 48 };
/* Sign of a binned value; missing, zero and infinite values have no bin. */
enum { EK_HISTOGRAM_NEGATIVE, EK_HISTOGRAM_POSITIVE, EK_HISTOGRAM_SIGNS };
enum { EK_HISTOGRAM_TRAINING, EK_HISTOGRAM_RECENT, EK_HISTOGRAM_SIDES };

struct ek_histogram {
    double width_ln;
    double low_ln[EK_HISTOGRAM_SIGNS]; /* lower end of the first bin of a sign */
    int bins[EK_HISTOGRAM_SIGNS];      /* 0: the sign has no values */
    struct ek_histogram_side {
        uint64_t items;
        float missing, zero, infinite;
        /* Negative bins first; within a sign in ascending order of |x|. */
        float share[EK_HISTOGRAM_BINS];
    } side[EK_HISTOGRAM_SIDES];
};

/* Set *out to the shared bins and the fractions of both sketches. */
void ek_histogram_build(const struct ek_sketch *training, const struct ek_sketch *recent,
                        struct ek_histogram *out);
/* Append a JSON object (docs/http.md) to `out`. Return 0, EK_ENOMEM, or EK_ELIMIT beyond the limit
 * of `out`. */
int ek_histogram_json(const struct ek_histogram *h, struct ek_buf *out);

#endif
