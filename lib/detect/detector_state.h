/* Checkpoint of a detector in parts, so that only changed parts are written
 * (docs/dev/formats/state-detector.md).
 *
 * A detector restored from all parts continues bit for bit like the saved one. Save and restore
 * between two lists. Detectors with the same manifest, profile, segment dimensions and cell limit
 * can read each other's parts.
 */
#ifndef EK_DETECT_DETECTOR_STATE_H
#define EK_DETECT_DETECTOR_STATE_H

#include "base/serialize.h"
#include "detect/detector.h"

/* Parts in reading order. Read all of each into a new detector. */
enum ek_detector_part {
    EK_PART_CELLS,    /* 1: cells of the values and their frequencies */
    EK_PART_LISTS,    /* 1: list counts and recently seen lists */
    EK_PART_ROWS,     /* EK_PART_ROWS_EACH slots of the history each */
    EK_PART_EVIDENCE, /* one per cell */
    EK_PART_CHANGES,  /* 1: open findings, and findings not yet fetched */
    EK_PART_ACCEPTS,  /* accepted shifts: 0 before the first accept, then 1 */
    EK_PART_LEARNED   /* levels of new items: 0 before the first one, then EK_LEARNED_BLOCKS */
};

enum { EK_PART_ROWS_EACH = 64 };

/* Properties that two detectors must share to read each other's parts, besides the manifest. */
struct ek_detector_kind {
    uint64_t profile;
    int features, query_features, strata, bets, bounds, history, cells, dimensions;
};
/* Return the kind of a detector: the sizes and hashes that another detector must share to read its
 * parts. */
struct ek_detector_kind ek_detector_get_kind(const struct ek_detector *d);
/* Read or write a kind. Reading only checks that sizes are not negative; the caller compares it.
 * Errors are in s->rc. */
void ek_detector_kind_serialize(struct ek_detector_kind *k, struct ek_serialize *s);

/* Return the current number of instances of a part. */
int ek_detector_part_count(const struct ek_detector *d, enum ek_detector_part part);
/* Return a nonzero mark that differs whenever the part may have changed, or 0 if unknown or if
 * a part of EK_PART_LEARNED has no items. */
uint64_t ek_detector_part_mark(const struct ek_detector *d, enum ek_detector_part part, int number);
/* Read or write instance `number` of a part; read into a new detector of the same kind. Errors are
 * in s->rc. */
void ek_detector_part_serialize(struct ek_detector *d, enum ek_detector_part part, int number,
                                struct ek_serialize *s);

#endif
