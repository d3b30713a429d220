/* Arrays of 32-bit numbers as bytes (Stream VByte: Lemire, Kurz, Rupp 2018). The only module that
 * includes streamvbyte.
 *
 * Invariants: what is unpacked is measured first, so that damaged bytes are told and nothing beyond
 * them is needed but the padding. Kinds: EK_PACK_WIDE numbers take 1 to 4 bytes, EK_PACK_SMALL ones
 * 0, 1, 2 or 4: for those that are mostly 0. Both take two bits more.
 */
#ifndef EK_TEXT_INDEX_PACKED_H
#define EK_TEXT_INDEX_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many bytes behind the packed ones have to be there and may hold anything. */
enum { EK_PACK_PADDING = 16 };
enum ek_pack { EK_PACK_WIDE, EK_PACK_SMALL };

/* Room that ek_pack needs for `count` numbers, padding included. */
size_t ek_pack_max_bytes(uint32_t count);
/* Returns the bytes written. */
size_t ek_pack_encode(enum ek_pack kind, const uint32_t *numbers, uint32_t count, uint8_t *out);
/* Unpacks `count` numbers that stand at the beginning of `size` bytes; *used of them. Returns false
 * when they would be longer. */
bool ek_pack_decode(enum ek_pack kind, const uint8_t *bytes, size_t size, uint32_t count,
                    uint32_t *numbers, size_t *used);

#endif
