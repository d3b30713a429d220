/* The `tests` of rules, run by `evenkeel check`: in a made-up world, or on recorded lists. */
#ifndef EK_DAEMON_FILES_RULES_TESTS_H
#define EK_DAEMON_FILES_RULES_TESTS_H

#include "daemon/files/field_mapping.h"
#include "rules/rules.h"

#include <stdbool.h>

struct ek_check_tests {
    bool off;                               /* only their form counts */
    const char *messages;                   /* healthy lists, a capture; NULL: made up */
    const char *profile;                    /* theirs; with messages */
    const struct ek_field_mapping *dialect; /* of all messages that are checked */
};

/* Runs them by a manifest of these rules. Each that fails is in `faults`, at its place in `file`.
 * Returns EK_OK when they could be run; what is wrong with messages or profile is an error. */
int ek_check_tests_run(const struct ek_check_tests *how, const struct ek_rules *rules,
                       const struct ek_manifest *m, const char *file, struct ek_error_list *faults,
                       struct ek_error *e);

#endif
