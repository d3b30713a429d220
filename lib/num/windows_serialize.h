/* Windows of sketches as parts of the state (docs/format/state.md), and two of them as one.
 *
 * What is written depends on what was counted and on nothing else, so windows that were read are
 * written as the same bytes. Sketches are written packed (num/sketch_pack.h).
 */
#ifndef EK_NUM_WINDOWS_SERIALIZE_H
#define EK_NUM_WINDOWS_SERIALIZE_H

#include "base/serialize.h"
#include "num/windows.h"

/* Packs what is left of the newest closed window: the walks below want nothing unpacked. EK_ENOMEM:
 * nothing is lost. */
int ek_windows_pack_newest(struct ek_windows *w);
/* All closed windows since the start. Reading, it comes first, into new windows. */
void ek_windows_life_serialize(struct ek_windows *w, struct ek_serialize *s);
/* The current one. */
void ek_windows_now_serialize(struct ek_windows *w, struct ek_serialize *s);
/* Those that are kept have the places 0 .. that - 1; one that is closed takes the place of the
 * oldest. */
int ek_windows_places(const struct ek_windows *w);
void ek_windows_place_serialize(struct ek_windows *w, struct ek_serialize *s, int place);
/* Numbers that change when the current window does, when the life-long one does, and when that of a
 * place does, unless the windows were cleared meanwhile. */
uint64_t ek_windows_now_mark(const struct ek_windows *w);
uint64_t ek_windows_life_mark(const struct ek_windows *w);
uint64_t ek_windows_place_mark(const struct ek_windows *w, int place);

/* Adds all of `from`, which has the same features, and keeps what it had. Windows of the same
 * number become one; of the closed ones those with the highest numbers are kept. With `apart` their
 * numbers mean different times: what `from` has goes into the life-long one only. EK_ENOMEM: what
 * either says of life and of any span is as before. */
int ek_windows_merge(struct ek_windows *into, struct ek_windows *from, bool apart);

#endif
