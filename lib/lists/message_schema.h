/* Avro schema, compiled for the fields of a mapping (Avro specification 1.11).
 *
 * Of a message only the mapped fields are converted; the others are skipped. Named types may refer
 * to themselves. Defaults, aliases and other attributes have no effect on the encoding and are
 * ignored. Logical types: timestamps and dates become milliseconds where they are the time of a
 * list; a decimal is bytes, which is no number. Read-only after ek_avro_new and thread-safe.
 */
#ifndef EK_LISTS_MESSAGE_SCHEMA_H
#define EK_LISTS_MESSAGE_SCHEMA_H

#include "base/error.h"
#include "base/text.h"

#include <stddef.h>

enum { EK_SCHEMA_BYTES_MAX = 1 << 20, EK_SCHEMA_NAMED_MAX = 4096 };

struct ek_message_schema;
struct ek_mapping;

/* Compile the last of `count` schemas (JSON); those before it define named types that it may use.
 * mapping NULL: all fields are converted. Return 0, EK_ECONFIG for an invalid schema or a mapped
 * path that it lacks (naming the nearest field), EK_ELIMIT for a schema that is too large or too
 * deep, or EK_ENOMEM. Free *out with ek_message_schema_free. */
int ek_avro_new(struct ek_message_schema **out, const struct ek_text *schemas, size_t count,
                const struct ek_mapping *mapping, struct ek_error *e);
void ek_message_schema_free(struct ek_message_schema *s);
/* Return the memory of a schema in bytes. */
size_t ek_message_schema_bytes(const struct ek_message_schema *s);

/* Return 0, or EK_ECONFIG with the type if a score of this schema cannot be replaced in place:
 * float and double have a fixed width, other numbers have not. */
int ek_message_schema_check_score(const struct ek_message_schema *s, struct ek_error *e);

#endif
