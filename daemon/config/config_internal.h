/* Between the files of the configuration: values by option. */
#ifndef EK_DAEMON_CONFIG_INTERNAL_H
#define EK_DAEMON_CONFIG_INTERNAL_H

#include "daemon/config/config.h"
#include "daemon/config/options.h"

/* Stores `text` as the value of an option (for lists: one more element, for properties
 * "name=value"). `folder` (with its slash) is where relative paths start, NULL: the working
 * directory. The error has no place; `text` must outlive nothing. */
int ek_config_store(struct ek_config *c, const struct ek_option *o, const char *text,
                    const char *folder, struct ek_error *e);
/* Adds a copy; its name may make it a secret. */
int ek_config_store_property(struct ek_config *c, const struct ek_option *o,
                             const struct ek_property *p, struct ek_error *e);
/* Says that a key is not known, with the nearest one of its section. */
int ek_config_unknown(const char *section, const char *word, struct ek_error *e);
/* Takes back all elements of a list or mapping option. */
void ek_config_clear(struct ek_config *c, const struct ek_option *o);

/* Writes a number as people write it, in the largest unit that leaves it whole: "4MiB", "10s". */
const char *ek_config_quantity(const struct ek_option *o, int64_t value, char *out, size_t size);
/* Where the value of an option is. */
void *ek_config_value(const struct ek_config *c, const struct ek_option *o);

#endif
