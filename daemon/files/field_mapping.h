/* How the messages of a file name their fields: as the configuration of a stage says under
 * `message`, or in the usual way. So what was captured from a topic is read as the stage reads it.
 *
 * Owner: the caller; ek_field_mapping_load, ek_field_mapping_release. Read-only in between.
 */
#ifndef EK_DAEMON_FILES_FIELD_MAPPING_H
#define EK_DAEMON_FILES_FIELD_MAPPING_H

#include "base/error.h"
#include "daemon/config/config.h"
#include "lists/codec.h"
#include "lists/list.h"
#include "schema/manifest.h"

#include <stdatomic.h>
#include <stdbool.h>

struct ek_field_mapping {
    struct ek_config *config; /* NULL: the usual names */
    struct ek_mapping mapping;
    struct ek_codec_limits limits;
};

/* The option of every command that reads such files, a row of its argp table. */
#define EK_FIELD_MAPPING_OPTION                                                                    \
    {                                                                                              \
        "config", 'c', "FILE", 0,                                                                  \
            "Configuration of run, which says under message how they are written and what their "  \
            "fields are called",                                                                   \
            0                                                                                      \
    }

/* config: path of a configuration, or NULL; without one, the encoding is left open: files tell it
 * themselves. With one it is held to, so that nothing is read here that a stage could not. Errors
 * of ek_config_load; then there is nothing to release. */
int ek_field_mapping_load(struct ek_field_mapping *d, const char *config, struct ek_error *e);
void ek_field_mapping_release(struct ek_field_mapping *d);
/* EK_EUSAGE with that path where each message is an item. */
int ek_field_mapping_needs_lists(const struct ek_field_mapping *d, const char *path,
                                 struct ek_error *e);
/* Adds to an error what has to be changed: with EK_ERR_FIELD that a configuration can say what
 * fields are called, where none did; with EK_ERR_ENCODING the place that says which encoding it is.
 * Returns the code. */
int ek_field_mapping_hint(const struct ek_field_mapping *d, struct ek_error *e);

/* Every list of a message file or capture, one after the other. */
/* Takes a list; `number` counts from 0, the list dies with the call. */
typedef int ek_list_fn(void *context, struct ek_list *q, uint64_t number, struct ek_error *e);

/* Decodes `path` (a capture or bare messages, "-" for standard input) and hands over each list.
 * Ends at the first failure; the error carries file and number of the message, from 1. Messages of
 * an item each (message.layout) are not put together to lists: EK_EUSAGE. Where a configuration
 * expects scores (daemon/files/field_mapping.h) and no list has any, a note on standard error says
 * so. */
int ek_message_for_each(const struct ek_manifest *m, const struct ek_field_mapping *dialect,
                        const char *path, ek_list_fn *take, void *context, struct ek_error *e);

/* Whether lists have the scores that a configuration says they have.
 *
 * A wrong `message.score` is not seen while nothing is routed, and then no list can get new scores.
 * So it is told when lists come, not when they are to be routed. Scores are expected where the
 * configuration has a model or says what the score is called; who only watches may have none.
 * Owner: the caller; all zero at first. Threads: any.
 */
struct ek_score_check {
    atomic_bool some;     /* an item had one */
    atomic_ulong without; /* lists none of whose items had one, while there was none at all */
};

bool ek_score_check_expected(const struct ek_config *c);
/* Looks at a list that was decoded. Returns how many there were, this one among them, if none has
 * ever had a score; else 0. */
unsigned long ek_score_check_missing(struct ek_score_check *s, const struct ek_list *q);
/* What is wrong then, and where to look. */
void ek_score_check_text(const struct ek_config *c, unsigned long lists, char *text, size_t size);

/* Says so on standard error where lists came, none has had a score, and they are expected. c may be
 * NULL: then nothing is. */
void ek_score_check_add(const struct ek_score_check *s, const struct ek_config *c);

#endif
