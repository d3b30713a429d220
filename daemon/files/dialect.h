/* How the messages of a file name their fields: as the configuration of a stage says under
 * `message`, or in the usual way. So what was captured from a topic is read as the stage reads it.
 *
 * Owner: the caller; ek_dialect_load, ek_dialect_release. Read-only in between.
 */
#ifndef EK_DAEMON_DIALECT_H
#define EK_DAEMON_DIALECT_H

#include "daemon/config/config.h"
#include "lists/codec.h"

struct ek_dialect {
    struct ek_config *config; /* NULL: the usual names */
    struct ek_mapping mapping;
    struct ek_codec_limits limits;
};

/* The option of every command that reads such files, a row of its argp table. */
#define EK_DIALECT_OPTION                                                                          \
    {                                                                                              \
        "config", 'c', "FILE", 0,                                                                  \
            "Configuration of run, which says under message how they are written and what their "  \
            "fields are called",                                                                   \
            0                                                                                      \
    }

/* config: path of a configuration, or NULL; without one, the encoding is left open: files tell it
 * themselves. With one it is held to, so that nothing is read here that a stage could not. Errors
 * of ek_config_load; then there is nothing to release. */
int ek_dialect_load(struct ek_dialect *d, const char *config, struct ek_error *e);
void ek_dialect_release(struct ek_dialect *d);
/* EK_EUSAGE with that path where each message is an item. */
int ek_dialect_needs_lists(const struct ek_dialect *d, const char *path, struct ek_error *e);
/* Adds to an error what has to be changed: with EK_ERR_FIELD that a configuration can say what
 * fields are called, where none did; with EK_ERR_ENCODING the place that says which encoding it is.
 * Returns the code. */
int ek_dialect_hint(const struct ek_dialect *d, struct ek_error *e);

#endif
