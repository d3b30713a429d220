/* The `tests` of a rules file, run: a fault is put into healthy lists, and what the detector and
 * the rules make of it is held against what the test expects.
 *
 * Each test has a detector of its own, sees EK_RULES_TEST_HEALTHY healthy lists, and then the
 * faulty ones. It passes when within `queries` of these a confirmed finding on its feature is all
 * that it expects at once, and with `nothing` when none is confirmed at all. An action is what the
 * rules would take with a model. Deterministic. Threads: one for each call.
 */
#ifndef EK_OFFLINE_RULES_TEST_H
#define EK_OFFLINE_RULES_TEST_H

#include "assets/profile.h"
#include "lists/query.h"
#include "rules/rules.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    EK_RULES_TEST_HEALTHY = 600,
    EK_RULES_TEST_WITHIN = 5 /* percent, where it says a factor or exponent and no more */
};

/* Where healthy lists come from: `next` gives number i, in rising order from 0 for each test. */
struct ek_healthy_lists {
    int (*next)(void *context, uint64_t i, struct ek_query *q, struct ek_error *e);
    void *context;
    const struct ek_profile *profile; /* theirs */
};

struct ek_rules_outcome {
    bool passed;
    char said[300];   /* what came, and what was wanted; "" when it passed */
    uint64_t queries; /* from the first faulty list to the finding; 0: there was none */
};

/* Runs one. EK_ENOMEM, errors of `next`: there is no outcome then. */
int ek_rules_test_run(const struct ek_rules *rules, const struct ek_manifest *m,
                      const struct ek_rules_test *t, const struct ek_healthy_lists *from,
                      struct ek_rules_outcome *out, struct ek_error *e);

/* Runs all of a file, in a made-up world (offline/world.h) or, where `from` is not NULL, on those
 * lists. What fails goes to `faults`, as `test 'NAME': WHAT` at its place in `file`. Returns EK_OK
 * when they could be run. */
int ek_rules_tests_run(const struct ek_rules *rules, const struct ek_manifest *m, const char *file,
                       const struct ek_healthy_lists *from, struct ek_error_list *faults,
                       struct ek_error *e);

#endif
