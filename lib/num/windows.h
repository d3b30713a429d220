/* Windows of sketches: all features of one cell, by stream time.
 *
 * The current window is a sketch set; the last `kept` closed ones and the sum of all closed ones
 * since the start are kept packed (num/sketch_pack.h), a few kilobytes per feature. A window has a
 * number, its time divided by its length: rows of another number than the last ones close the
 * current window. Numbers may jump and go back; what was counted stays under the number it came
 * with. Merging is exact, so any span is the sketch of all its rows.
 * A window is closed at once and packed afterwards, some features at a time, so that no list has to
 * wait for all of them; what is read does not depend on how far that is.
 * Units: numbers of windows; lists are calls of _add. Owner: the caller. One thread at a time. NaN
 * is a missing value and counted; see num/sketch.h.
 */
#ifndef EK_NUM_WINDOWS_H
#define EK_NUM_WINDOWS_H

#include "num/sketch.h"

#include <limits.h>

enum { EK_WINDOWS_KEPT_MAX = 1000 };

struct ek_windows;

/* EK_ELIMIT for a senseless number of features or of windows (1 .. EK_WINDOWS_KEPT_MAX). */
int ek_windows_new(struct ek_windows **out, int features, int kept, struct ek_error *e);
void ek_windows_free(struct ek_windows *w);
/* One list: rows x features values, row-major. A list that closes a window before the last one is
 * packed packs the rest of that, as does one after EK_SKETCH_SEALED_ROWS rows. EK_ENOMEM: the list
 * is not counted, nothing that was is lost. */
int ek_windows_add(struct ek_windows *w, int64_t number, const float *x, int rows);
/* Features of the newest closed window that are not packed yet. */
int ek_windows_unpacked(const struct ek_windows *w);
/* Packs that many of them, or what is left: some microseconds each. Memory is asked for where
 * windows are larger than those before. EK_ENOMEM: it goes on from there with the next call. */
int ek_windows_pack(struct ek_windows *w, int features);
/* Adds to `out` what a feature had in the windows first .. last, those of them that are kept;
 * returns their lists. */
uint64_t ek_windows_get(const struct ek_windows *w, int feature, int64_t first, int64_t last,
                        struct ek_sketch *out);
/* The same for all windows since the start, kept or not. */
uint64_t ek_windows_life(const struct ek_windows *w, int feature, struct ek_sketch *out);
/* Empty, as after _new; the pages of the current window stay for reuse. */
void ek_windows_clear(struct ek_windows *w);
/* Of the closed windows and their sum, in memory. */
size_t ek_windows_packed_bytes(const struct ek_windows *w);
/* All that is resident of it, but for EK_WINDOWS_SCRATCH at most; that of the closed windows as it
 * was when the last of them was packed. Costs nothing. */
enum { EK_WINDOWS_SCRATCH = EK_SKETCH_KEYS * (int)sizeof(uint64_t) + (256 << 10) };
size_t ek_windows_bytes(const struct ek_windows *w);
/* Counts the bytes of the closed windows anew: they came otherwise than by _pack. */
void ek_windows_weigh(struct ek_windows *w);

#endif
