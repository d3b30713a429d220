/* The state of a detector in parts, so that only what has changed is written again
 * (docs/format/state.md).
 *
 * A detector restored from all of them continues as the saved one would have, bit by bit. Save and
 * restore between two lists. Detectors of the same manifest, profile, segment dimensions and limit
 * of cells can read each other's parts.
 */
#ifndef EK_DETECT_DETECTOR_STATE_H
#define EK_DETECT_DETECTOR_STATE_H

#include "base/serialize.h"
#include "detect/detector.h"

/* Read in this order, all of each, into a new detector. */
enum ek_detector_part {
    EK_PART_CELLS,    /* 1: which values have cells, and how busy they are */
    EK_PART_LISTS,    /* 1: how many lists, and what was seen lately */
    EK_PART_ROWS,     /* EK_PART_ROWS_EACH places of the history each */
    EK_PART_EVIDENCE, /* one for each cell */
    EK_PART_CHANGES,  /* 1: what is open, and what nobody has fetched */
    EK_PART_ACCEPTS   /* what was said to be normal: none before somebody did, then 1 */
};

enum { EK_PART_ROWS_EACH = 64 };

/* What a detector must share with another to read its parts, manifest aside. */
struct ek_detector_kind {
    uint64_t profile;
    int features, query_features, strata, bets, bounds, history, cells, dimensions;
};
struct ek_detector_kind ek_detector_get_kind(const struct ek_detector *d);
/* Sizes are not negative; more has to be asked of those that are read. */
void ek_detector_kind_serialize(struct ek_detector_kind *k, struct ek_serialize *s);

/* How many of a part there are now. */
int ek_detector_part_count(const struct ek_detector *d, enum ek_detector_part part);
/* Another number when the part may be another one, never 0; 0: not known. */
uint64_t ek_detector_part_mark(const struct ek_detector *d, enum ek_detector_part part, int number);
/* The walk over one. */
void ek_detector_part_serialize(struct ek_detector *d, enum ek_detector_part part, int number,
                                struct ek_serialize *s);

#endif
