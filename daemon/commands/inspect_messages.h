/* Messages in `evenkeel inspect`: coverage of a mapping, and drafts of mapping and manifest. */
#ifndef EK_DAEMON_COMMANDS_INSPECT_MESSAGES_H
#define EK_DAEMON_COMMANDS_INSPECT_MESSAGES_H

#include "daemon/files/field_mapping.h"

#include <stdio.h>

/* Print how many messages of a file have each field that the configuration names: query id, time,
 * scores, segments with their values, features. Return 0, EK_EUSAGE without a manifest, or an error
 * of reading. */
int ek_inspect_coverage(const char *path, const struct ek_field_mapping *own, FILE *to,
                        struct ek_error *e);
/* Print an initial manifest for a capture, from its first 10,000 messages; without a configuration
 * also for a mapping that is found and printed as a comment. Return 0, or an error of reading or of
 * ek_shape_manifest. */
int ek_inspect_manifest(const char *path, const struct ek_field_mapping *own, FILE *to,
                        struct ek_error *e);
/* Print the section `message` for a capture, from its first 1,000 messages, in the encoding of
 * `own`. Return 0, or an error
 * of reading or of ek_shape_manifest if no feature is found. */
int ek_inspect_mapping(const char *path, const struct ek_field_mapping *own, FILE *to,
                       struct ek_error *e);

#endif
