/* Protobuf descriptors and messages for tests, written without its library.
 *
 * A file is text of lines: `syntax proto3`, `package shop`, `message NAME`, `enum NAME`, `end`, a
 * symbol `= NAME NUMBER`, and a field `LABEL NAME NUMBER TYPE`. Labels are `one`, `optional` (of
 * proto3), `oneof` and `repeated`. A type is a scalar, a message with a dot in front, `enum.NAME`,
 * or `?NAME` of a descriptor without the type.
 */
#ifndef EK_TESTS_DESCRIPTORS_H
#define EK_TESTS_DESCRIPTORS_H

#include "base/buf.h"
#include "tests/must.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROTO_VARINT, PROTO_FIXED64, PROTO_BYTES, PROTO_GROUP, PROTO_GROUP_END, PROTO_FIXED32 };

static inline void proto_varint(struct ek_buf *b, uint64_t bits)
{
    for (; bits >> 7; bits >>= 7)
        must(ek_buf_add(b, &(uint8_t){(uint8_t)(bits | 0x80)}, 1));
    must(ek_buf_add(b, &(uint8_t){(uint8_t)bits}, 1));
}

static inline void proto_number(struct ek_buf *b, uint32_t field, uint64_t bits)
{
    proto_varint(b, field << 3 | PROTO_VARINT);
    proto_varint(b, bits);
}

static inline void proto_bytes(struct ek_buf *b, uint32_t field, const void *bytes, size_t length)
{
    proto_varint(b, field << 3 | PROTO_BYTES);
    proto_varint(b, length);
    must(ek_buf_add(b, bytes, length));
}

static inline void proto_text(struct ek_buf *b, uint32_t field, const char *text)
{
    proto_bytes(b, field, text, strlen(text));
}

static inline void proto_float(struct ek_buf *b, uint32_t field, float value)
{
    proto_varint(b, field << 3 | PROTO_FIXED32);
    must(ek_buf_add(b, &value, sizeof value));
}

static inline void proto_double(struct ek_buf *b, uint32_t field, double value)
{
    proto_varint(b, field << 3 | PROTO_FIXED64);
    must(ek_buf_add(b, &value, sizeof value));
}

/* Append a message and clear it. */
static inline void proto_message(struct ek_buf *b, uint32_t field, struct ek_buf *inner)
{
    proto_bytes(b, field, inner->data, inner->length);
    ek_buf_clear(inner);
}

static inline void descriptor_type(struct ek_buf *field, const char *type)
{
    static const char *const scalars[] = {
        "double", "float", "int64", "uint64", "int32", "fixed64",  "fixed32",  "bool",   "string",
        "group",  "",      "bytes", "uint32", "",      "sfixed32", "sfixed64", "sint32", "sint64"};
    for (uint32_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        if (!strcmp(type, scalars[i]))
            proto_number(field, 5, i + 1);
    if (*type == '.' || !strncmp(type, "enum.", 5)) {
        proto_number(field, 5, *type == '.' ? 11 : 14);
        proto_text(field, 6, strchr(type, '.'));
    } else if (*type == '?') {
        proto_text(field, 6, type + 1);
    }
}

static inline void descriptor_field(struct ek_buf *message, const char *label, const char *name,
                                    unsigned number, const char *type)
{
    struct ek_buf field;
    ek_buf_init(&field, 0);
    proto_text(&field, 1, name);
    proto_number(&field, 3, number);
    proto_number(&field, 4, strcmp(label, "repeated") ? 1 : 3);
    descriptor_type(&field, type);
    if (!strcmp(label, "oneof") || !strcmp(label, "optional"))
        proto_number(&field, 9, 0);
    if (!strcmp(label, "optional"))
        proto_number(&field, 17, 1);
    proto_message(message, 2, &field);
    ek_buf_release(&field);
}

static inline void descriptor_symbol(struct ek_buf *message, const char *name, unsigned number)
{
    struct ek_buf value;
    ek_buf_init(&value, 0);
    proto_text(&value, 1, name);
    proto_number(&value, 2, number);
    proto_message(message, 2, &value);
    ek_buf_release(&value);
}

/* Append a FileDescriptorProto. Messages named `...Entry` are those of maps. */
static inline void descriptor_file(struct ek_buf *file, const char *text)
{
    enum { DEPTH = 70, WORD = 80 };
    static const uint8_t is_map[] = {7 << 3, 1};
    struct ek_buf open[DEPTH];
    bool is_enum[DEPTH] = {false};
    int depth = 0;
    for (const char *line = text; *line; line += strcspn(line, "\n") + !!strchr(line, '\n')) {
        char word[4][WORD] = {"", "", "", ""};
        sscanf(line, " %79s %79s %79s %79s", word[0], word[1], word[2], word[3]);
        if (!strcmp(word[0], "syntax") || !strcmp(word[0], "package")) {
            proto_text(file, *word[0] == 's' ? 12 : 2, word[1]);
        } else if (!strcmp(word[0], "message") || !strcmp(word[0], "enum")) {
            size_t length = strlen(word[1]);
            must(depth >= DEPTH);
            is_enum[depth] = *word[0] == 'e';
            ek_buf_init(&open[depth++], 0);
            proto_text(&open[depth - 1], 1, word[1]);
            if (length > 5 && !strcmp(word[1] + length - 5, "Entry"))
                proto_bytes(&open[depth - 1], 7, is_map, sizeof is_map);
        } else if (!strcmp(word[0], "end")) {
            struct ek_buf *to = --depth ? &open[depth - 1] : file;
            proto_message(to, (depth ? 3 : 4) + is_enum[depth], &open[depth]);
            ek_buf_release(&open[depth]);
        } else if (!strcmp(word[0], "=")) {
            descriptor_symbol(&open[depth - 1], word[1], (unsigned)strtoul(word[2], NULL, 10));
        } else if (*word[0]) {
            descriptor_field(&open[depth - 1], word[0], word[1],
                             (unsigned)strtoul(word[2], NULL, 10), word[3]);
        }
    }
}

/* Append a file to a FileDescriptorSet. */
static inline void descriptor_set(struct ek_buf *set, const char *text)
{
    struct ek_buf file;
    ek_buf_init(&file, 0);
    descriptor_file(&file, text);
    proto_message(set, 1, &file);
    ek_buf_release(&file);
}

#endif
