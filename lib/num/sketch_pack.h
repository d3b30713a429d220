/* A sketch in few bytes, for keeping many of them in memory and in the state
 * (docs/format/state.md).
 *
 * No magic and no checksum; what is unpacked is not checked. Runs of counted keys, each the gap
 * before it, its length less one in a byte, and the counts; gaps and counts are varints. Equal
 * sketches have equal bytes. Owner: the caller.
 */
#ifndef EK_NUM_SKETCH_PACK_H
#define EK_NUM_SKETCH_PACK_H

#include "num/sketch.h"

#include <stdbool.h>

/* Appends to `out`; EK_ENOMEM or EK_ELIMIT leave it as it was. */
int ek_sketch_pack(const struct ek_sketch *s, struct ek_buf *out);
/* Adds what ek_sketch_pack appended, unchanged. */
void ek_sketch_unpack(struct ek_sketch *s, const uint8_t *bytes, size_t length);
/* Whether bytes of any origin are what ek_sketch_pack could have appended; *total: what the sketch
 * has counted. */
bool ek_sketch_pack_is_sound(const uint8_t *bytes, size_t length, uint64_t *total);

#endif
