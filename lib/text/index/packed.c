#include "text/index/packed.h"

#include <streamvbyte.h>
#include <string.h>

size_t ek_pack_max_bytes(uint32_t count)
{
    return streamvbyte_max_compressedbytes(count) + EK_PACK_PADDING;
}

size_t ek_pack_encode(enum ek_pack kind, const uint32_t *numbers, uint32_t count, uint8_t *out)
{
    return kind == EK_PACK_SMALL ? streamvbyte_encode_0124(numbers, count, out)
                                 : streamvbyte_encode(numbers, count, out);
}

/* Return the data bytes of a control byte: the sum of its four codes, plus one per number (wide) or
 * per code of 3, which means 4 (small). */
static size_t announced(enum ek_pack kind, uint8_t control)
{
    unsigned pairs = (control & 0x33u) + (control >> 2 & 0x33u);
    unsigned sum = (pairs & 0xf) + (pairs >> 4), threes = control & (control >> 1) & 0x55u;
    return sum + (kind == EK_PACK_WIDE
                      ? 4
                      : (threes & 1) + (threes >> 2 & 1) + (threes >> 4 & 1) + (threes >> 6));
}

/* Return the data bytes of all numbers. The last control byte may cover fewer than four. */
static size_t measure(enum ek_pack kind, const uint8_t *controls, uint32_t count)
{
    size_t data = 0;
    for (size_t i = 0; i < count / 4; i++)
        data += announced(kind, controls[i]);
    if (count % 4) {
        uint8_t mask = (uint8_t)((1u << 2 * (count % 4)) - 1);
        data += announced(kind, controls[count / 4] & mask);
        data -= kind == EK_PACK_WIDE ? 4 - count % 4 : 0;
    }
    return data;
}

/* Fast path if all numbers have the shortest form, as in most blocks: gaps of frequent terms fit
 * into a byte, counts are 1. Generic builds of the library decode one number at a time, which is
 * several times slower. */
static bool get_shortest(enum ek_pack kind, const uint8_t *data, size_t size, uint32_t count,
                         uint32_t *numbers)
{
    if (kind == EK_PACK_WIDE && size == count) {
        for (uint32_t i = 0; i < count; i++)
            numbers[i] = data[i];
        return true;
    }
    if (kind == EK_PACK_SMALL && !size) {
        memset(numbers, 0, count * sizeof *numbers);
        return true;
    }
    return false;
}

bool ek_pack_decode(enum ek_pack kind, const uint8_t *bytes, size_t size, uint32_t count,
                    uint32_t *numbers, size_t *used)
{
    size_t controls = (size_t)count / 4 + (count % 4 != 0);
    if (!count || controls > size) {
        *used = 0;
        return !count;
    }
    size_t data = measure(kind, bytes, count);
    if (data > size - controls)
        return false;
    *used = controls + data;
    if (get_shortest(kind, bytes + controls, data, count, numbers))
        return true;
    if (kind == EK_PACK_SMALL)
        streamvbyte_decode_0124(bytes, numbers, count);
    else
        streamvbyte_decode(bytes, numbers, count);
    return true;
}
