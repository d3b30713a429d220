/* Tests of a rules file: faults injected into healthy lists, and the expected findings and
 * decisions. */
#ifndef EK_OFFLINE_WORLD_RULES_TEST_H
#define EK_OFFLINE_WORLD_RULES_TEST_H

#include "assets/profile.h"
#include "detect/finding.h"
#include "lists/list.h"
#include "plan/policy.h"
#include "rules/rules.h"

#include <stdbool.h>
#include <stdint.h>

/* Effect of pins and limits on a decision, for tests of rules with a single finding.
 *
 * A pin of the segment, or of all traffic, is active in any mode; `none` and `alert` disable the
 * action. Only limits that one finding alone can exceed count, because the traffic of a segment is
 * unknown.
 */
enum { EK_SETTLED_BYTES = 60 };

/* Tests of a rules file: a fault is injected into healthy lists, and findings and decisions are
 * compared with the expectation. Each test has its own detector, processes EK_RULES_TEST_HEALTHY
 * healthy lists, then faulty ones. A test passes if one confirmed finding on its feature meets all
 * expectations within `queries` faulty lists. With `nothing`, it passes if no finding is confirmed.
 * Actions are those with a model. Deterministic. */
enum {
    EK_RULES_TEST_HEALTHY = 600,
    EK_RULES_TEST_WITHIN = 5 /* default tolerance in percent for a factor or exponent */
};

/* Source of healthy lists: `next` returns list i, in ascending order from 0 for each test. */
struct ek_healthy_lists {
    int (*next)(void *context, uint64_t i, struct ek_list *q, struct ek_error *e);
    void *context;
    const struct ek_profile *profile; /* of the healthy lists */
};

struct ek_rules_outcome {
    bool passed;
    char text[300];   /* actual and expected result; "" if passed */
    uint64_t queries; /* from the first faulty list to the finding; 0: none */
};

/* Run one test and set *out to its findings and decisions. Return 0, EK_ENOMEM or an error of
 * `next`; on error `out` is undefined. */
int ek_rules_test_run(const struct ek_rules *rules, const struct ek_manifest *m,
                      const struct ek_rules_test *t, const struct ek_healthy_lists *from,
                      struct ek_rules_outcome *out, struct ek_error *e);

/* Run all tests of a file on the lists of `from`, or on synthetic lists if NULL. Failures are
 * appended to `faults` as `test 'NAME': REASON` with their position in `file`. Return 0 if all
 * tests could run, else the error that prevented one. */
int ek_rules_tests_run(const struct ek_rules *rules, const struct ek_manifest *m, const char *file,
                       const struct ek_healthy_lists *from, struct ek_error_list *faults,
                       struct ek_error *e);

#endif
