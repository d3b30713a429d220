/* Compressed arrays of 32-bit integers (Stream VByte: Lemire, Kurz, Rupp 2018). The only module
 * that includes streamvbyte.
 *
 * Decoding measures the input first, so damage is detected and only the padding is read beyond it.
 * EK_PACK_WIDE integers take 1 to 4 bytes, EK_PACK_SMALL ones 0, 1, 2 or 4, for mostly zeros. Both
 * take two more bits.
 */
#ifndef EK_TEXT_INDEX_PACKED_H
#define EK_TEXT_INDEX_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Readable bytes required after the encoded ones, of any value. */
enum { EK_PACK_PADDING = 16 };
enum ek_pack { EK_PACK_WIDE, EK_PACK_SMALL };

/* Return the bytes that ek_pack_encode needs for `count` numbers, with padding. */
size_t ek_pack_max_bytes(uint32_t count);
/* Encode `count` numbers to `out`, which needs ek_pack_max_bytes. Return the bytes written, without
 * padding. */
size_t ek_pack_encode(enum ek_pack kind, const uint32_t *numbers, uint32_t count, uint8_t *out);
/* Decode `count` numbers from the beginning of `size` bytes and set *used to the bytes consumed.
 * Return false if they exceed `size`. */
bool ek_pack_decode(enum ek_pack kind, const uint8_t *bytes, size_t size, uint32_t count,
                    uint32_t *numbers, size_t *used);

#endif
