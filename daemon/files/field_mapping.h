/* Lists of message files for offline commands: field mapping, iteration over the lists, and a
 * check for upstream scores. */
#ifndef EK_DAEMON_FILES_FIELD_MAPPING_H
#define EK_DAEMON_FILES_FIELD_MAPPING_H

#include "base/error.h"
#include "daemon/config/config.h"
#include "lists/codec.h"
#include "lists/list.h"
#include "schema/manifest.h"

struct ek_schema_source;

#include <stdatomic.h>
#include <stdbool.h>

/* Field mapping of message files: `message` of a configuration, or the defaults, so that captured
 * messages are read as `run` reads them. Read-only between ek_field_mapping_load and
 * ek_field_mapping_release. */
struct ek_field_mapping {
    struct ek_config *config; /* NULL: default names */
    struct ek_mapping mapping;
    struct ek_codec_limits limits;
    struct ek_schema_source *schemas; /* NULL: messages without schemas */
};

/* Option of each command that reads messages, a row of its argp table. */
#define EK_FIELD_MAPPING_OPTION                                                                    \
    {                                                                                              \
        "config", 'c', "FILE", 0,                                                                  \
            "Configuration of `run`, with the encoding and field names of messages", 0             \
    }

/* Load the field names of a configuration, by its path, or the default names for NULL. With a
 * configuration an encoding that it sets is required. Return 0, or an error of ek_config_load; no
 * release is needed then. */
int ek_field_mapping_load(struct ek_field_mapping *d, const char *config, struct ek_error *e);
/* Use a schema file (NULL: the configuration's schemas, if any) for all fields of messages,
 * not only those of the mapping. Return 0, or an error of ek_schema_source_open. */
int ek_field_mapping_show_all(struct ek_field_mapping *d, const char *schema, struct ek_error *e);
void ek_field_mapping_release(struct ek_field_mapping *d);
/* Options of a command that name assets; NULL members: the command has no such option. */
struct ek_asset_options {
    const char **manifest, **profile, **rules, **model;
};
/* Set each option that was not given to the path in `assets` of a configuration; config NULL: set
 * none. *owner keeps the paths; free it with ek_config_free. Return 0 or an error of
 * ek_config_load. */
int ek_asset_options_load(struct ek_config **owner, const char *config,
                          const struct ek_asset_options *o, struct ek_error *e);
/* Return 0, or EK_EUSAGE, naming `path`, if each message is an item. */
int ek_field_mapping_needs_lists(const struct ek_field_mapping *d, const char *path,
                                 struct ek_error *e);
/* Append the remedy to an error: for EK_ERR_FIELD without a configuration, the option that sets
 * field names; for EK_ERR_ENCODING, the key that sets the encoding. Return the code of the error.
 */
int ek_field_mapping_hint(const struct ek_field_mapping *d, struct ek_error *e);

/* Set the position of an error of ek_codec_new to that of its key in the configuration; NULL: none.
 * Return the code of the error. */
int ek_field_mapping_place(const struct ek_config *c, struct ek_error *e);

/* Parse "list" or "item" into *out. Return 0, or EK_EUSAGE with *out unchanged. */
int ek_layout_parse(const char *text, enum ek_message_layout *out, struct ek_error *e);

/* Iteration over the lists of a message file or capture. */
/* Process a list, valid during the call; `number` counts from 0. */
typedef int ek_list_fn(void *context, struct ek_list *q, uint64_t number, struct ek_error *e);

/* Decode `path` (a capture or bare messages; "-" for standard input) and call `process` for each
 * list. Return 0, or the first error, also of `process`, which names the file and the message, from
 * 1; EK_EUSAGE for item messages (message.layout). Warn on standard error if the configuration
 * expects scores and no list has any. */
int ek_message_for_each(const struct ek_manifest *m, const struct ek_field_mapping *field_mapping,
                        const char *path, ek_list_fn *process, void *context, struct ek_error *e);

/* Check for upstream scores in lists.
 *
 * A wrong `message.score` otherwise stays unnoticed until a route needs scores. Scores are expected
 * if the configuration has a model or sets the name of the score. Starts as zeros. Threads: any.
 */
struct ek_score_check {
    atomic_bool some;     /* an item had a score */
    atomic_ulong without; /* lists without any score, while no list has had one */
};

/* Return whether the configuration names the field of the time. */
bool ek_time_expected(const struct ek_config *c);
/* Return whether the configuration expects upstream scores. */
bool ek_score_check_expected(const struct ek_config *c);
/* Count a decoded list. Return the number of lists so far if none has had a score, else 0. Any
 * thread. */
unsigned long ek_score_check_missing(struct ek_score_check *s, const struct ek_list *q);
/* Write the problem, that `lists` lists had no score, and the keys to check to `text`, cut to fit.
 */
void ek_score_check_text(const struct ek_config *c, unsigned long lists, char *text, size_t size);

/* Print a warning on standard error if scores are expected, lists were read and none had a score. c
 * NULL: no warning. */
void ek_score_check_add(const struct ek_score_check *s, const struct ek_config *c);

#endif
