/* Two sketches in the same few bins, for people to look at.
 *
 * Bins are equally wide in ln|x|, each sign on its own; where they are is said by the values that
 * both have between them: the middle 99.8% of each, so that a stray value does not make all others
 * one bar. The outermost bin of a sign takes what lies beyond. Shares are of all items, missing
 * ones included. Plain values. No failure, no allocation; reads the sketches only.
 */
#ifndef EK_NUM_HISTOGRAM_H
#define EK_NUM_HISTOGRAM_H

#include "num/sketch.h"

enum { EK_HISTOGRAM_BINS = 48 };
/* What a value may be: in the bins of its sign, or one of those apart. */
enum { EK_HISTOGRAM_NEGATIVE, EK_HISTOGRAM_POSITIVE, EK_HISTOGRAM_SIGNS };
enum { EK_HISTOGRAM_TRAINING, EK_HISTOGRAM_RECENT, EK_HISTOGRAM_SIDES };

struct ek_histogram {
    double width_ln;
    double low_ln[EK_HISTOGRAM_SIGNS]; /* where the bins of that sign begin */
    int bins[EK_HISTOGRAM_SIGNS];      /* 0: no such values */
    struct ek_histogram_side {
        uint64_t items;
        float missing, zero, infinite;
        /* Those of the negative values first; of either sign from the smallest |x| on. */
        float share[EK_HISTOGRAM_BINS];
    } side[EK_HISTOGRAM_SIDES];
};

void ek_histogram_build(const struct ek_sketch *training, const struct ek_sketch *recent,
                        struct ek_histogram *out);
/* Appends a JSON object (docs/format/features.md). EK_ENOMEM. */
int ek_histogram_json(const struct ek_histogram *h, struct ek_buf *out);

#endif
