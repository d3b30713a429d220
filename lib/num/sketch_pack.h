/* A sketch in few bytes, for keeping many of them in memory.
 *
 * Not a format for files or other processes (that is ek_sketch_write): no magic, no checksum, and
 * what is unpacked is not checked. Runs of counted keys, each the gap before it, its length less
 * one in a byte, and the counts; gaps and counts are varints. Owner: the caller.
 */
#ifndef EK_NUM_SKETCH_PACK_H
#define EK_NUM_SKETCH_PACK_H

#include "num/sketch.h"

/* Appends to `out`; EK_ENOMEM or EK_ELIMIT leave it as it was. */
int ek_sketch_pack(const struct ek_sketch *s, struct ek_buf *out);
/* Adds what ek_sketch_pack appended, unchanged. */
void ek_sketch_unpack(struct ek_sketch *s, const uint8_t *bytes, size_t length);

#endif
