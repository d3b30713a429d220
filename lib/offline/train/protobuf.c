#include "offline/train/protobuf.h"

#include <string.h>

enum { KIND_VARINT = 0, KIND_BYTES = 2, VARINT_BYTES_MAX = 10 };

static int add_varint(struct ek_buf *b, uint64_t value)
{
    uint8_t bytes[VARINT_BYTES_MAX];
    size_t count = 0;
    for (; value > 0x7f; value >>= 7)
        bytes[count++] = (uint8_t)(value | 0x80);
    bytes[count++] = (uint8_t)value;
    return ek_buf_add(b, bytes, count);
}

static int add_key(struct ek_buf *b, unsigned field, unsigned kind)
{
    return add_varint(b, (uint64_t)field << 3 | kind);
}

int ek_protobuf_int(struct ek_buf *b, unsigned field, uint64_t value)
{
    int code = add_key(b, field, KIND_VARINT);
    return code ? code : add_varint(b, value);
}

int ek_protobuf_bytes(struct ek_buf *b, unsigned field, const void *bytes, size_t length)
{
    int code = add_key(b, field, KIND_BYTES);
    if (!code)
        code = add_varint(b, length);
    return code ? code : ek_buf_add(b, bytes, length);
}

int ek_protobuf_text(struct ek_buf *b, unsigned field, const char *text)
{
    return ek_protobuf_bytes(b, field, text, strlen(text));
}
