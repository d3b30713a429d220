/* Construction of a configuration: values from code and files, alert sinks and librdkafka
 * properties. Internal to daemon/config. */
#ifndef EK_DAEMON_CONFIG_CONFIG_INTERNAL_H
#define EK_DAEMON_CONFIG_CONFIG_INTERNAL_H

#include "daemon/config/config.h"
#include "daemon/config/config_keys.h"

/* Return a key source without a file that stores into `c`. */
struct ek_key_source ek_config_source(struct ek_config *c, struct ek_error *e);
/* Check URLs and secrets, then call ek_key_store. */
ek_key_read ek_config_store;
/* Append a copy of a property; its name decides if it is secret. Return 0 or EK_ENOMEM. */
int ek_config_add_property(struct ek_property_list *list, const struct ek_property *p,
                           struct ek_error *e);
/* Return the kind of sink with this key, or EK_SINK_KINDS if unknown. */
enum ek_sink_kind ek_sink_get_kind(const char *word);
/* Write the section of a kind of sink, such as "alerts.webhook". */
void ek_sink_section(enum ek_sink_kind kind, char section[EK_SINK_SECTION_BYTES]);
/* Check a sink against the others, set its label and append it; the configuration then owns its
 * strings. Return 0, EK_ECONFIG or EK_ENOMEM; on error the caller keeps them. */
int ek_config_add_sink(struct ek_config *c, struct ek_alert_sink *s, struct ek_error *e);
/* Append the path of a name. Return 0 or EK_ENOMEM. */
int ek_config_add_path(struct ek_config_paths *paths, const char *name, const char *path,
                       struct ek_error *e);
void ek_config_paths_release(struct ek_config_paths *paths);
/* Readers used in the table. */
ek_key_read ek_config_read_properties, ek_config_read_alerts, ek_config_read_kafka,
    ek_config_read_paths;

/* Return whether a required key may not be missing: all keys are used, or c->uses names this one.
 */
bool ek_config_needs(const struct ek_config *c, const char *key);
/* Reject properties that could lose acknowledged outputs; add warnings to `c` for those that weaken
 * a guarantee. Return 0, EK_ECONFIG or EK_ENOMEM. */
int ek_config_warn_properties(struct ek_config *c, struct ek_error *e);

#endif
