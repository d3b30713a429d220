/* What rules say that is no fault, and hardly what somebody meant: words without an effect. A file
 * becomes so by being changed by hand, or by the calendar, and must not stop working for it.
 */
#ifndef EK_RULES_RULES_WARNINGS_H
#define EK_RULES_RULES_WARNINGS_H

#include "rules/rules.h"
#include "yaml/yaml.h"

/* Adds them, by place: pins that have run out by `now_ms`; what is said of a feature that is not
 * watched; a limit that lets nothing act beside something that should. The rules are those of the
 * tree, with a manifest or without. EK_ENOMEM; what is beyond EK_ERRORS_MAX is left out. */
int ek_rules_warnings(const struct ek_rules *r, const struct ek_yaml *y, int64_t now_ms,
                      struct ek_error_list *notes);

#endif
