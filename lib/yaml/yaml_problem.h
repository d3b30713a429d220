/* What libyaml says about a text that it cannot read, in our words, with what to do about it.
 * Internal to lib/data. */
#ifndef EK_DATA_YAML_PROBLEM_H
#define EK_DATA_YAML_PROBLEM_H

#include <stdbool.h>

struct ek_yaml_problem {
    const char *theirs;
    const char *ours;
    bool at_begin; /* the place to look at is where it begins, not where it was noticed */
};

/* Never NULL: what is not known is no valid YAML. */
const struct ek_yaml_problem *ek_yaml_problem_of(const char *theirs);

#endif
