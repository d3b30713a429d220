/* The table of the keys of the configuration.
 *
 * Reading, built-in values, `check`, `run --print-config`, docs/config.md and the schema come from
 * it. Keys below "alerts" but for Kafka are those of one sink, an element of the list. Read-only;
 * any thread.
 */
#ifndef EK_DAEMON_CONFIG_CONFIG_KEYS_H
#define EK_DAEMON_CONFIG_CONFIG_KEYS_H

#include "yaml/keys.h"

/* Bases of the table: struct ek_config, struct ek_alert_sink. */
enum { EK_IN_CONFIG, EK_IN_SINK };

const struct ek_key_table *ek_config_keys(void);
/* NULL when there is none. */
const struct ek_key_row *ek_config_key(const char *path);

#endif
