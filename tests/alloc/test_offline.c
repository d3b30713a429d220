/* Allocation failures in rules tests on synthetic lists, and in a comparison of two rule sets on
 * one traffic. */
#include "tests/alloc/sweep.h"
#include "tests/check.h"
#include "tests/state_world.h"

#include "offline/world/compare.h"
#include "offline/world/rules_test.h"
#include "offline/world/synthetic_lists.h"

#include <string.h>

static const char MANIFEST[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: nights, index: 2, role: query}\n";
/* The first test fails, the second passes. */
static const char RULES[] =
    "version: 1\n"
    "defaults: {stratify_by: market}\n"
    "segments: [arm]\n"
    "tests:\n"
    "  - {name: a, inject: {feature: price, scale: 9, segment: {arm: B}}, expect: {class: sign}}\n"
    "  - {name: b, inject: none, expect: none, lists: 1}\n";

static struct ek_manifest *manifest;
static struct ek_rules *rules;
static struct ek_profile *profile;

static int lists(struct ek_error *e)
{
    struct ek_synthetic_lists *w;
    struct ek_list q;
    int rc = ek_synthetic_lists_new(&w, manifest, rules, 3, e);
    if (rc)
        return rc;
    ek_list_init(&q);
    for (uint64_t i = 0; !rc && i < 20; i++)
        rc = ek_synthetic_lists_list(w, i, &q, e);
    ek_list_release(&q);
    ek_synthetic_lists_free(w);
    return rc;
}

static int world_profile(struct ek_error *e)
{
    struct ek_synthetic_lists *w;
    struct ek_profile *p = NULL;
    int rc = ek_synthetic_lists_new(&w, manifest, rules, 3, e);
    if (rc)
        return rc;
    rc = ek_synthetic_lists_profile(w, &p, e);
    ek_profile_free(p);
    ek_synthetic_lists_free(w);
    return rc;
}

static int next(void *world, uint64_t i, struct ek_list *q, struct ek_error *e)
{
    return ek_synthetic_lists_list(world, i, q, e);
}

static int rules_tests(struct ek_error *e)
{
    struct ek_synthetic_lists *w;
    struct ek_error_list faults;
    int rc = ek_synthetic_lists_new(&w, manifest, rules, 3, e);
    if (rc)
        return rc;
    const struct ek_healthy_lists from = {next, w, profile};
    ek_error_list_init(&faults);
    rc = ek_rules_tests_run(rules, manifest, "r", &from, &faults, e);
    size_t failed = faults.count;
    ek_error_list_release(&faults);
    ek_synthetic_lists_free(w);
    return rc || failed == 1 ? rc : ek_fail(e, EK_ESTATE, "%zu tests failed", failed);
}

START_TEST(tests_of_rules_without_memory_leave_nothing)
{
    struct ek_synthetic_lists *w;
    must(ek_manifest_parse(&manifest, "m", MANIFEST, sizeof MANIFEST - 1, NULL));
    must(ek_rules_parse(&rules, manifest, "r", RULES, sizeof RULES - 1, NULL));
    must(ek_synthetic_lists_new(&w, manifest, rules, 3, NULL));
    must(ek_synthetic_lists_profile(w, &profile, NULL));
    ek_synthetic_lists_free(w);
    ek_sweep(lists);
    ek_sweep(world_profile);
    ek_sweep(rules_tests);
    ek_profile_free(profile);
    ek_rules_free(rules);
    ek_manifest_free(manifest);
}
END_TEST

enum { TRAINING = 400, LISTS = 160, FAULT_FROM = 20 };

static struct ek_assets watching, acting;
static struct ek_buf message[LISTS];

static void cents(struct shop *s, struct ek_list *q)
{
    for (int i = 0; s->number > FAULT_FROM && i < q->items; i++)
        q->x[2 * i] *= 100;
}

static int take_all(struct ek_comparison_run *c, struct ek_error *e)
{
    const struct ek_compared *said;
    int rc = EK_OK;
    for (int i = 0; !rc && i < LISTS; i++)
        rc = ek_comparison_run_add(c, message[i].data, message[i].length, 1000 * i, (uint64_t)i, e);
    if (!rc)
        rc = ek_comparison_run_finish(c, &said, e);
    if (rc)
        return rc;
    bool found = said->pairs && said->touched[EK_SIDE_B] && said->differ;
    return found ? EK_OK : ek_fail(e, EK_ESTATE, "nothing was compared");
}

static int compare(struct ek_error *e)
{
    struct ek_comparison_run *c;
    int rc = ek_comparison_run_new(&c, &watching, &acting, e);
    if (rc)
        return rc;
    rc = take_all(c, e);
    ek_comparison_run_free(c);
    return rc;
}

START_TEST(a_comparison_without_memory_leaves_nothing)
{
    static const char observe[] = "segments: [arm, market]\n"
                                  "windows: {length: 60s, retention: 3, max_segments: 9}\n";
    struct shop shop;
    state_assets_open(&watching, observe, TRAINING);
    acting = watching;
    must(ek_rules_parse(&acting.rules, acting.manifest, "r", STATE_RULES, strlen(STATE_RULES),
                        NULL));
    shop_open(&shop, 8, STATE_MARKETS);
    for (int i = 0; i < LISTS; i++) {
        ek_buf_init(&message[i], 0);
        state_message(&shop, &watching, &message[i], cents);
    }
    ek_sweep(compare);
    for (int i = 0; i < LISTS; i++)
        ek_buf_release(&message[i]);
    shop_close(&shop);
    ek_rules_free(acting.rules);
    ek_assets_release(&watching);
}
END_TEST

Suite *suite_offline(void)
{
    return ek_suite("offline without memory", tests_of_rules_without_memory_leave_nothing,
                    a_comparison_without_memory_leaves_nothing);
}
