/* Tests of rules for `evenkeel check`, run on synthetic or recorded lists. */
#ifndef EK_DAEMON_FILES_RULES_TESTS_H
#define EK_DAEMON_FILES_RULES_TESTS_H

#include "daemon/files/field_mapping.h"
#include "rules/rules.h"

#include <stdbool.h>

struct ek_check_tests {
    bool off;             /* only check their syntax */
    const char *messages; /* capture of healthy lists; NULL: synthetic lists */
    const char *profile;  /* of the messages; required with them */
    const struct ek_field_mapping *field_mapping; /* of all checked messages */
};

/* Run the tests. Failed tests are added to `faults`, with their position in `file`. Returns 0 if
 * all could run, or an error of the messages or the profile. */
int ek_check_tests_run(const struct ek_check_tests *how, const struct ek_rules *rules,
                       const struct ek_manifest *m, const char *file, struct ek_error_list *faults,
                       struct ek_error *e);

#endif
