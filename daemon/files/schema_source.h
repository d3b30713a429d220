/* Avro or Protobuf schemas of messages: one file, or those of a schema registry, by id.
 *
 * A schema of the registry is fetched at its first message and stays cached. The message waits at
 * most `timeout`; after that, messages with unknown ids fail at once until the registry is tried
 * again, with growing pauses. Cached schemas are used meanwhile. Sources with the same settings are
 * shared, so that a reload keeps the cache. Threads: any.
 */
#ifndef EK_DAEMON_FILES_SCHEMA_SOURCE_H
#define EK_DAEMON_FILES_SCHEMA_SOURCE_H

#include "base/error.h"
#include "lists/codec.h"

#include <stdint.h>

struct ek_schema_source;

struct ek_schema_settings {
    enum ek_message_encoding encoding; /* EK_MESSAGES_EITHER: that of the file */
    const char *type;                  /* Protobuf message of the file; NULL: the first */
    const char *file;                  /* NULL: a registry */
    const char *url, *user, *password, *token, *ca_file; /* of the registry; the last may be NULL */
    int64_t timeout_ms;
    int64_t cache; /* maximum number of schemas */
    enum ek_schema_frame frame;
    bool converts_all; /* all fields, not only those of the mapping */
};

/* Open a source, or share one with the same settings and mapping, which are copied. A file is read
 * now, a registry at the first message. Return 0, EK_EIO, EK_ECONFIG or EK_ELIMIT for an invalid
 * schema file, or EK_ENOMEM. Close *out with ek_schema_source_close. */
int ek_schema_source_open(struct ek_schema_source **out, const struct ek_schema_settings *s,
                          const struct ek_mapping *mapping, struct ek_error *e);
/* Close a source after the last codec that uses it. NULL is allowed. */
void ek_schema_source_close(struct ek_schema_source *s);
/* Return the schemas for a codec, valid until the source is closed. */
const struct ek_schema_set *ek_schema_source_get(const struct ek_schema_source *s);
/* Return the schema of a file; NULL for a registry. */
const struct ek_message_schema *ek_schema_source_file(const struct ek_schema_source *s);

#endif
