/* Serialization of windows in checkpoints (docs/dev/formats/state.md), and their merge.
 *
 * Equal counts give equal bytes, so windows that were read are written unchanged. Sketches are
 * packed (num/sketch_pack.h).
 */
#ifndef EK_NUM_WINDOWS_SERIALIZE_H
#define EK_NUM_WINDOWS_SERIALIZE_H

#include "base/serialize.h"
#include "num/windows.h"

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
