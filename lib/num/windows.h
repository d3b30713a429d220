/* Event-time windows of sketches for all features of one segment.
 *
 * The current window is a sketch set. The last `kept` closed windows, and the sum of all closed
 * windows, are kept packed (num/sketch_io.h), a few kilobytes per feature. The number of a window
 * is its event time divided by its length. A list with another number closes the current window.
 * Numbers may jump and decrease; rows stay under their number. Merging is exact.
 *
 * After a window of at least 8,192 lists, the next one is a sample: one of each `weight` lists, a
 * power of two that leaves 4,096 or more if the windows are alike, and its counts are multiplied by
 * `weight`. All lists count again after a split. The number of lists is exact.
 *
 * A window is closed at once and packed later, some features at a time, so no list waits for all of
 * them. Reads do not depend on the packing progress. A list is one call of _add. NaN is counted as
 * a missing value (num/sketch.h). One thread at a time.
 */
#ifndef EK_NUM_WINDOWS_H
#define EK_NUM_WINDOWS_H

#include "base/serialize.h"
#include "num/sketch.h"

#include <limits.h>

enum { EK_WINDOWS_KEPT_MAX = 1000 };

struct ek_windows;

/* Create windows for `features` features that keep 1 to EK_WINDOWS_KEPT_MAX closed windows. Return
 * 0, EK_ENOMEM, or EK_ELIMIT for an invalid number of features or windows. */
int ek_windows_new(struct ek_windows **out, int features, int kept, struct ek_error *e);
void ek_windows_free(struct ek_windows *w);
/* Add one list, x [rows, features], row-major. The call first packs the rest of the newest closed
 * window if it closes another one or exceeds EK_SKETCH_SEALED_ROWS rows. Return 0, or EK_ENOMEM:
 * the list is not counted, earlier counts stay. */
int ek_windows_add(struct ek_windows *w, int64_t number, const float *x, int rows);
/* Return the number of features of the newest closed window that are not packed yet. */
int ek_windows_unpacked(const struct ek_windows *w);
/* Pack up to `features` unpacked features of the newest closed window, some microseconds each.
 * Return 0, or EK_ENOMEM: the next call continues at the same feature. */
int ek_windows_pack(struct ek_windows *w, int features);
/* Close the current window early if it has lists; the next one may have the same number. Set *since
 * to the number of closed windows, for ek_windows_get_since. Return 0, or EK_ENOMEM. */
int ek_windows_split(struct ek_windows *w, uint64_t *since);
/* Add the counts of a feature in the windows with the numbers first .. last to `out`: closed ones
 * that are not dropped yet, and the current one. Return their number of lists. */
uint64_t ek_windows_get(const struct ek_windows *w, int feature, int64_t first, int64_t last,
                        struct ek_sketch *out);
/* As ek_windows_get, without the windows before a split. */
uint64_t ek_windows_get_since(const struct ek_windows *w, int feature, uint64_t since,
                              int64_t first, int64_t last, struct ek_sketch *out);
/* Add the counts of a feature in all windows since the start to `out`. Return their number of
 * lists. */
uint64_t ek_windows_life(const struct ek_windows *w, int feature, struct ek_sketch *out);
/* Remove all counts and the lifetime sum. The pages of the current window are kept for reuse. */
void ek_windows_clear(struct ek_windows *w);
/* Return the bytes of the closed windows and their sum in memory. */
size_t ek_windows_packed_bytes(const struct ek_windows *w);
enum { EK_WINDOWS_SCRATCH = EK_SKETCH_KEYS * (int)sizeof(uint64_t) + (256 << 10) };
/* Return the resident bytes except the scratch memory of packing, which has at most
 * EK_WINDOWS_SCRATCH bytes. The bytes of closed windows are those after the last packing, so the
 * call is cheap. */
size_t ek_windows_bytes(const struct ek_windows *w);

/* Serialization of windows in checkpoints (docs/dev/formats/state.md), and their merge.
 *
 * Equal counts give equal bytes, so windows that were read are written unchanged. Sketches are
 * packed (num/sketch_io.h).
 */

/* Pack the rest of the newest closed window; the functions below require it. Return 0, or EK_ENOMEM
 * without a loss of counts. */
int ek_windows_pack_newest(struct ek_windows *w);
/* Read or write the sum of all closed windows. When reading, call it first, on new windows. Errors
 * are in s->rc. */
void ek_windows_life_serialize(struct ek_windows *w, struct ek_serialize *s);
/* Read or write the current window. Errors are in s->rc. */
void ek_windows_now_serialize(struct ek_windows *w, struct ek_serialize *s);
/* Return the number of retained windows, in places 0 .. n - 1. A newly closed window replaces the
 * oldest one in its place. */
int ek_windows_places(const struct ek_windows *w);
/* Read or write the closed window of one place. Errors are in s->rc. */
void ek_windows_place_serialize(struct ek_windows *w, struct ek_serialize *s, int place);
/* Return a number that changes with the current window, to skip unchanged parts of a checkpoint.
 * Marks are comparable until ek_windows_clear. */
uint64_t ek_windows_now_mark(const struct ek_windows *w);
/* Return a number that changes with the lifetime sum, for the same purpose as
 * ek_windows_now_mark. */
uint64_t ek_windows_life_mark(const struct ek_windows *w);
/* Return a number that changes with the window of a place, for the same purpose as
 * ek_windows_now_mark. */
uint64_t ek_windows_place_mark(const struct ek_windows *w, int place);

/* Add all counts of `from`, which has the same features and stays unchanged. Windows of equal
 * numbers are merged; the closed windows with the highest numbers are retained. With `apart`, the
 * numbers have different meanings, so the counts of `from` are added to the lifetime sum only.
 * Return 0, or EK_ENOMEM: lifetime and span counts of both stay as before. */
int ek_windows_merge(struct ek_windows *into, struct ek_windows *from, bool apart);

#endif
