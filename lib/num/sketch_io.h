/* Packed sketch, for many sketches in memory and in checkpoints (docs/dev/formats/state.md).
 *
 * A packed sketch is a sequence of runs of counted keys. A run is the gap before it, its length
 * minus one in a byte, and its counts. Gaps and counts are varints. The format has no magic and no
 * checksum. Equal sketches have equal bytes.
 */
#ifndef EK_NUM_SKETCH_IO_H
#define EK_NUM_SKETCH_IO_H

#include "num/sketch.h"

#include <stdbool.h>

/* Append the packed sketch to `out`. Return 0, or EK_ENOMEM or EK_ELIMIT with `out` unchanged. */
int ek_sketch_pack(const struct ek_sketch *s, struct ek_buf *out);
/* Add the counts of a packed sketch to `s`. The bytes are not checked: they must be the output of
 * ek_sketch_pack. */
void ek_sketch_unpack(struct ek_sketch *s, const uint8_t *bytes, size_t length);
/* Return true if untrusted bytes are a valid packed sketch, and set *total to its count. If false,
 * *total is undefined. */
bool ek_sketch_pack_is_sound(const uint8_t *bytes, size_t length, uint64_t *total);

#endif
