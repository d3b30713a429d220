#include "text/packed.h"

#include <streamvbyte.h>

size_t ek_pack_room(uint32_t count)
{
    return streamvbyte_max_compressedbytes(count) + EK_PACK_PADDING;
}

size_t ek_pack_put(enum ek_pack kind, const uint32_t *numbers, uint32_t count, uint8_t *out)
{
    return kind == EK_PACK_SMALL ? streamvbyte_encode_0124(numbers, count, out)
                                 : streamvbyte_encode(numbers, count, out);
}

/* Data bytes that a control byte announces for the first `count` of its four numbers. */
static size_t announced(enum ek_pack kind, uint8_t control, uint32_t count)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        unsigned code = control >> (2 * i) & 3;
        bytes += kind == EK_PACK_WIDE ? code + 1 : code == 3 ? 4 : code;
    }
    return bytes;
}

bool ek_pack_get(enum ek_pack kind, const uint8_t *bytes, size_t size, uint32_t count,
                 uint32_t *numbers, size_t *used)
{
    size_t controls = (size_t)count / 4 + (count % 4 != 0), data = 0;
    if (controls > size)
        return false;
    for (size_t i = 0; i < count / 4; i++)
        data += announced(kind, bytes[i], 4);
    if (count % 4)
        data += announced(kind, bytes[controls - 1], count % 4);
    if (data > size - controls)
        return false;
    *used = controls + data;
    if (kind == EK_PACK_SMALL)
        streamvbyte_decode_0124(bytes, numbers, count);
    else
        streamvbyte_decode(bytes, numbers, count);
    return true;
}
