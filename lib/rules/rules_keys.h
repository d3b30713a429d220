/* Key table of rules: types, defaults and help of all keys.
 *
 * The parser, the default rules, docs/rules.md and the schema use it. A key allowed in `defaults`
 * and under a feature occurs once, with `also`; so do its subkeys. Read-only and thread-safe.
 */
#ifndef EK_RULES_RULES_KEYS_H
#define EK_RULES_RULES_KEYS_H

#include "yaml/keys.h"

/* Maximum of all durations. Times computed from them stay within the range of fleet records. */
enum { EK_RULES_DAYS_MAX = 3650 };

/* Return the table; constant. */
const struct ek_key_table *ek_rules_keys(void);

#endif
