/* Warnings about valid rules without effect, which must not be errors: a file may become so by an
 * edit or by the date; and the check of rules that may only observe. */
#ifndef EK_RULES_RULES_WARNINGS_H
#define EK_RULES_RULES_WARNINGS_H

#include "rules/rules.h"
#include "yaml/yaml.h"

/* Append warnings to `notes`, sorted by position: pins expired at `now_ms`; keys of features that
 * are not watched; a limit that prevents every action. `r` is built from `y`, with or without a
 * manifest. Return 0 or EK_ENOMEM; warnings beyond EK_ERRORS_MAX are dropped. */
int ek_rules_warnings(const struct ek_rules *r, const struct ek_yaml *y, int64_t now_ms,
                      struct ek_error_list *notes);
/* Check that no mode and no pin of valid rules changes lists, for a configuration without output.
 * Return 0, or EK_ECONFIG at the first one that does. */
int ek_rules_check_observing(const struct ek_yaml *y, struct ek_error *e);

#endif
