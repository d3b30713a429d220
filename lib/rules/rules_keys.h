/* The table of the keys of rules: what each takes, what is built in, what it is for.
 *
 * The reader, the built-in rules, docs/rules.md and the schema come from it. A key that may stand
 * under a feature as well is there once, with `also`; so are the keys below it. Read-only; any
 * thread.
 */
#ifndef EK_RULES_RULES_KEYS_H
#define EK_RULES_RULES_KEYS_H

#include "yaml/keys.h"

/* No duration is longer: the times that come of it stay far below what records of a fleet carry. */
enum { EK_RULES_DAYS_MAX = 3650 };

const struct ek_key_table *ek_rules_keys(void);

#endif
