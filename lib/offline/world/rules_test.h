/* What pins and limits of the rules make of a decision, for their tests: what would act, where the
 * finding is the only one there is.
 *
 * A pin of the place, or of all traffic, is what acts there, whatever the mode is, and `none` and
 * `alert` let nothing act. Of the limits those count that one finding alone goes beyond: how much
 * of the traffic a segment value has is not known here.
 */
#ifndef EK_OFFLINE_WORLD_RULES_TEST_H
#define EK_OFFLINE_WORLD_RULES_TEST_H

#include "assets/profile.h"
#include "detect/finding.h"
#include "lists/list.h"
#include "plan/policy.h"
#include "rules/rules.h"

#include <stdbool.h>
#include <stdint.h>

enum { EK_SETTLED_BYTES = 60 };

/* Whether it was found there; NULL, NULL: in all traffic. */
bool ek_finding_is_in(const struct ek_finding *f, const char *dimension, const char *value);
/* Changes action and mode of what ek_decide said. feature: its number in the manifest. now_ms: by
 * the times of the stream. by [EK_SETTLED_BYTES]: " by the pin at 9:5", or "" where nothing is
 * changed. */
void ek_rules_resolve(const struct ek_rules *rules, int feature, const struct ek_finding *f,
                      int64_t now_ms, struct ek_decision *d, char *by);

/* The `tests` of a rules file, run: a fault is put into healthy lists, and what the detector and
 * the rules make of it is held against what the test expects.
 *
 * Each test has a detector of its own, sees EK_RULES_TEST_HEALTHY healthy lists, and then the
 * faulty ones. It passes when within `queries` of these a confirmed finding on its feature is all
 * that it expects at once, and with `nothing` when none is confirmed at all. An action is what the
 * rules would take with a model. Deterministic. Threads: one for each call.
 */
enum {
    EK_RULES_TEST_HEALTHY = 600,
    EK_RULES_TEST_WITHIN = 5 /* percent, where it says a factor or exponent and no more */
};

/* Where healthy lists come from: `next` gives number i, in rising order from 0 for each test. */
struct ek_healthy_lists {
    int (*next)(void *context, uint64_t i, struct ek_list *q, struct ek_error *e);
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

/* Runs all of a file, in a made-up world (hotel.h) or, where `from` is not NULL, on those
 * lists. What fails goes to `faults`, as `test 'NAME': WHAT` at its place in `file`. Returns EK_OK
 * when they could be run. */
int ek_rules_tests_run(const struct ek_rules *rules, const struct ek_manifest *m, const char *file,
                       const struct ek_healthy_lists *from, struct ek_error_list *faults,
                       struct ek_error *e);

#endif
