/* Fields of Protobuf bytes: messages and descriptors (Protobuf encoding guide). */
#ifndef EK_LISTS_PROTO_WIRE_H
#define EK_LISTS_PROTO_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ek_proto_wire {
    EK_PROTO_VARINT,
    EK_PROTO_FIXED64,
    EK_PROTO_BYTES,
    EK_PROTO_GROUP,
    EK_PROTO_GROUP_END,
    EK_PROTO_FIXED32
};

enum { EK_PROTO_NUMBER_MAX = (1 << 29) - 1 };

struct ek_proto_field {
    uint32_t number; /* 0: a group, which was skipped */
    uint8_t wire;
    uint64_t bits;        /* of a varint */
    const uint8_t *bytes; /* of the other wire types, `length` of them */
    size_t length;
};

/* Read the field at *p; groups are skipped, at most `depth` levels of them. Return NULL, or the
 * reason that there is none: an empty text if the bytes end too early. */
const char *ek_proto_next(const uint8_t **p, const uint8_t *end, int depth,
                          struct ek_proto_field *f);

/* Read a number, seven bits a byte, from *p on. Return false past `end`, or for more than 64 bits.
 */
static inline bool ek_proto_varint(const uint8_t **p, const uint8_t *end, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 64 && *p < end; shift += 7) {
        uint8_t byte = *(*p)++;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return shift < 63 || byte <= 1;
    }
    return false;
}

/* Return the number of a zigzag code. */
static inline int64_t ek_proto_zigzag(uint64_t bits)
{
    return (int64_t)(bits >> 1) ^ -(int64_t)(bits & 1);
}

#endif
