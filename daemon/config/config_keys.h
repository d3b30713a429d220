/* Table of configuration keys.
 *
 * The reader, the defaults, `check`, `run --print-config`, docs/config.md and the JSON schema use
 * it. Keys below "alerts", except Kafka's, belong to one sink of the list. Read-only, any thread.
 */
#ifndef EK_DAEMON_CONFIG_CONFIG_KEYS_H
#define EK_DAEMON_CONFIG_CONFIG_KEYS_H

#include "yaml/keys.h"

/* Base structs of the offsets: struct ek_config, struct ek_alert_sink. */
enum { EK_IN_CONFIG, EK_IN_SINK };

/* Return the table; constant. */
const struct ek_key_table *ek_config_keys(void);
/* Return the row of a path, a constant, or NULL. */
const struct ek_key_row *ek_config_key(const char *path);

#endif
