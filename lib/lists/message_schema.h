/* Avro or Protobuf schema of messages, compiled for the fields of a mapping (Avro
 * specification 1.11, Protobuf encoding guide).
 *
 * Of a message only the mapped fields are converted; the others are skipped. Named types may refer
 * to themselves. Defaults, aliases and other attributes have no effect on the encoding and are
 * ignored. Logical types: timestamps and dates become milliseconds where they are the time of a
 * list; a decimal is bytes, which is no number. google.protobuf.Timestamp is milliseconds, and a
 * wrapper such as DoubleValue its value. Read-only and thread-safe.
 */
#ifndef EK_LISTS_MESSAGE_SCHEMA_H
#define EK_LISTS_MESSAGE_SCHEMA_H

#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_SCHEMA_BYTES_MAX = 1 << 20, EK_SCHEMA_NAMED_MAX = 4096 };

struct ek_message_schema;
struct ek_mapping;

/* Compile the last of `count` schemas (JSON); those before it define named types that it may use.
 * mapping NULL: all fields are converted. Return 0, EK_ECONFIG for an invalid schema or a mapped
 * path that it lacks (naming the nearest field), EK_ELIMIT for a schema that is too large or too
 * deep, or EK_ENOMEM. Free *out with ek_message_schema_free. */
int ek_avro_new(struct ek_message_schema **out, const struct ek_text *schemas, size_t count,
                const struct ek_mapping *mapping, struct ek_error *e);

/* Message of a set of descriptors. */
struct ek_proto_type {
    const char *name; /* "package.Message"; NULL: by its indexes in the last file */
    /* Position among the messages of the file, then of each within the one before, in bits 16, 8
     * and 0; their number less one in bit 24. 0: the first message of the file. */
    uint32_t indexes;
};

/* Compile a message of a FileDescriptorSet, likewise. Files are in the order of their use, as
 * protoc writes them. EK_ECONFIG also for an unknown message. */
int ek_proto_new(struct ek_message_schema **out, struct ek_text set,
                 const struct ek_proto_type *type, const struct ek_mapping *mapping,
                 struct ek_error *e);
/* Return whether bytes have the form of a FileDescriptorSet, which no JSON has. */
bool ek_proto_is_set(struct ek_text set);

void ek_message_schema_free(struct ek_message_schema *s);
/* Return the memory of a schema in bytes. */
size_t ek_message_schema_bytes(const struct ek_message_schema *s);

/* Return 0, or EK_ECONFIG with the type if a score of this schema cannot be replaced in place:
 * only float and double can. */
int ek_message_schema_check_score(const struct ek_message_schema *s, struct ek_error *e);

#endif
