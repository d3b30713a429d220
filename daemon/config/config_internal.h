/* Shared by the files of the configuration. */
#ifndef EK_DAEMON_CONFIG_CONFIG_INTERNAL_H
#define EK_DAEMON_CONFIG_CONFIG_INTERNAL_H

#include "daemon/config/config.h"
#include "daemon/config/config_keys.h"

/* Return a source for values that stand in no file. */
struct ek_key_source ek_config_source(struct ek_config *c, struct ek_error *e);
/* Check web addresses and secrets, then ek_key_store. */
ek_key_read ek_config_store;
/* Append a copy of a property; its name may make it a secret. */
int ek_config_add_property(struct ek_property_list *list, const struct ek_property *p,
                           struct ek_error *e);
/* Readers that the table names. */
ek_key_read ek_config_read_properties, ek_config_read_alerts, ek_config_read_kafka;

/* Refuse the property that could lose acknowledged outputs; note those that weaken a promise. */
int ek_config_warn_properties(struct ek_config *c, struct ek_error *e);

#endif
