/* Tests within rules: passing results, and the actual result of failures. */
#include "offline/world/rules_test.h"

#include "offline/world/synthetic_lists.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static const char MANIFEST[] =
    "features:\n"
    "  - {name: price, index: 1, role: item, routable: true, positive: true, unit: currency}\n"
    "  - {name: rating, index: 2, role: item, routable: true, positive: true}\n"
    "  - {name: age, index: 3, role: item, positive: true}\n"
    "  - {name: nights, index: 4, role: query}\n";

struct scene {
    struct ek_manifest *m;
    struct ek_rules *rules;
    struct ek_error_list faults;
};

/* `rules` precede one test with that injection and expectation, on line 4. */
static void start(struct scene *s, const char *rules, const char *test)
{
    char text[2000];
    struct ek_error e;
    snprintf(text, sizeof text, "version: 1\n%s\ntests:\n  - {name: it, %s}\n", rules, test);
    ck_assert_int_eq(ek_manifest_parse(&s->m, "m", MANIFEST, strlen(MANIFEST), &e), EK_OK);
    ck_assert_msg(!ek_rules_parse(&s->rules, s->m, "rules.yaml", text, strlen(text), &e), "%s: %s",
                  e.message, text);
    ek_error_list_init(&s->faults);
}

static void end(struct scene *s)
{
    ek_error_list_release(&s->faults);
    ek_rules_free(s->rules);
    ek_manifest_free(s->m);
}

static const char NORMAL[] = "segments: [arm]";

/* Return its failure, or "" if it passes. */
static const char *said_with(const char *rules, const char *test)
{
    static char text[700];
    struct scene s;
    struct ek_error e;
    start(&s, rules, test);
    ck_assert_int_eq(ek_rules_tests_run(s.rules, s.m, "rules.yaml", NULL, &s.faults, &e), EK_OK);
    ck_assert_uint_le(s.faults.count, 1);
    text[0] = 0;
    if (s.faults.count)
        ek_error_text(&s.faults.errors[0], text, sizeof text);
    end(&s);
    return text;
}

static const char *said(const char *test)
{
    return said_with(NORMAL, test);
}

#define ck_passes(test) ck_assert_str_eq(said(test), "")
#define ck_says(text, part)                                                                        \
    ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in '%s'", part, text)

START_TEST(a_test_that_is_so_passes)
{
    ck_passes("inject: {feature: price, scale: 100}, expect: {class: scale, factor: 100, "
              "within_percent: 3, action: route, after_lists: 200}");
    ck_passes("inject: {feature: age, scale: 100}, expect: {class: scale, action: alert}");
    ck_passes("inject: {feature: price, scale: 100, segment: {arm: B}}, expect: {class: scale, "
              "segment: {arm: B}}");
    ck_passes("inject: {feature: price, power: 2}, expect: {class: power, exponent: 2, action: "
              "route_normalized}");
    ck_passes("inject: {feature: rating, missing: true, fraction: 0.5}, expect: {class: missing}");
    ck_passes("inject: {feature: rating, zero: true}, expect: {class: zero}");
    ck_passes("inject: {feature: rating, negative: true}, expect: {class: sign, action: blank}");
    ck_passes("inject: {feature: price, scale: 1.05}, expect: none, lists: 500");
    ck_passes("inject: none, expect: none, lists: 500");
}
END_TEST

START_TEST(a_test_says_what_came_and_what_was_wanted)
{
    static const char cents[] = "inject: {feature: price, scale: 100}, expect: ";
    char test[300];
    static const struct {
        const char *expect, *said;
    } wrong[] = {
        {"{class: power}", "class 'scale', wanted 'power'"},
        {"{factor: 200, within_percent: 3}", ", wanted 200 within 3%"},
        {"{action: alert}", "action 'route', wanted 'alert'"},
        {"{mode: enforce}", "mode 'observe', wanted 'enforce'"},
        {"{segment: {arm: B}}", "found in all traffic, wanted in arm=B"},
        {"none", "'scale' was confirmed on 'price' in all traffic after "},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(test, sizeof test, "%s%s", cents, wrong[i].expect);
        ck_says(said(test), wrong[i].said);
    }
    ck_says(said("inject: {feature: price, scale: 1.01}, expect: {class: scale, after_lists: 50}"),
            "nothing found on 'price' in 600 lists, wanted within 50");
}
END_TEST

struct watched {
    struct ek_synthetic_lists *from;
    int sorted, unsorted; /* lists before this one by price */
};

static int next_watched(void *context, uint64_t i, struct ek_list *q, struct ek_error *e)
{
    struct watched *w = context;
    bool rises = false;
    for (int k = 1; i > EK_RULES_TEST_HEALTHY && k < q->items; k++)
        rises |= q->x[k * q->item_features] > q->x[(k - 1) * q->item_features];
    w->sorted += i > EK_RULES_TEST_HEALTHY && !rises;
    w->unsorted += rises;
    return ek_synthetic_lists_list(w->from, i, q, e);
}

/* The upstream ranker scores the faulty values. */
START_TEST(items_of_faulty_lists_are_in_another_order)
{
    static const char test[] = "inject: {feature: price, scale: 24}, expect: {class: scale, "
                               "factor: 24, within_percent: 5, after_lists: 300}";
    struct scene s;
    struct watched w = {0};
    struct ek_rules_outcome outcome;
    struct ek_profile *profile;
    start(&s, NORMAL, test);
    ck_assert_int_eq(ek_synthetic_lists_new(&w.from, s.m, s.rules, 3, NULL), EK_OK);
    ck_assert_int_eq(ek_synthetic_lists_profile(w.from, &profile, NULL), EK_OK);
    const struct ek_healthy_lists from = {next_watched, &w, profile};
    ck_assert_int_eq(ek_rules_test_run(s.rules, s.m, s.rules->test, &from, &outcome, NULL), EK_OK);
    ck_assert_msg(outcome.passed, "%s", outcome.text);
    ck_assert_int_gt(w.sorted, 0);
    ck_assert_int_eq(w.unsorted, 0);
    ek_profile_free(profile);
    ek_synthetic_lists_free(w.from);
    end(&s);
}
END_TEST

START_TEST(what_comes_too_late_is_a_fault_at_the_place_of_the_test)
{
    const char *text =
        said("inject: {feature: price, scale: 100}, expect: {class: scale, after_lists: 2}");
    int after;
    ck_says(text, "rules.yaml:4:5: test 'it': confirmed after ");
    ck_says(text, " lists, wanted within 2");
    ck_assert_int_eq(sscanf(strstr(text, "after "), "after %d", &after), 1);
    ck_assert_int_gt(after, 2);
    ck_assert_int_le(after, 64); /* confirmation_lists is the most */
}
END_TEST

START_TEST(rules_that_are_changed_fail_their_test)
{
    static const char cents[] =
        "inject: {feature: price, scale: 2}, expect: {class: scale, action: "
        "route, after_lists: 300}";
    ck_assert_str_eq(said_with(NORMAL, cents), "");
    ck_says(said_with("defaults: {action_threshold: 3}", cents), "action 'alert', wanted 'route'");
    ck_says(said_with("defaults: {actions: {scale: blank}}", cents),
            "action 'blank', wanted 'route'");
    ck_says(said_with("features: {price: {watch: false}}", cents), "nothing found on 'price'");
}
END_TEST

#define IN_CENTS "inject: {feature: price, scale: 100}, expect: {class: scale, "

START_TEST(a_test_is_told_what_a_pin_makes_of_its_finding)
{
    static const char none[] = "defaults: {mode: enforce}\npins: [{feature: price, action: none}]",
                      other[] = "defaults: {mode: enforce}\n"
                                "pins: [{feature: price, action: none, until: 1970-01-02},"
                                " {feature: rating, action: none}]",
                      route[] = "defaults: {actions: {scale: alert}}\n"
                                "pins: [{feature: price, action: route}]",
                      in_b[] = "defaults: {mode: enforce}\nsegments: [arm]\n"
                               "pins: [{feature: price, segment: {arm: B}, action: none}]";
    ck_says(said_with(none, IN_CENTS "action: route, mode: enforce}"),
            "action 'none' by the pin at 3:8, wanted 'route'");
    ck_says(said_with(none, IN_CENTS "mode: enforce}"),
            "mode 'observe' by the pin at 3:8, wanted 'enforce'");
    ck_assert_str_eq(said_with(none, IN_CENTS "action: none}"), "");
    ck_assert_str_eq(said_with(other, IN_CENTS "action: route, mode: enforce}"), "");
    ck_assert_str_eq(said_with(route, IN_CENTS "action: route, mode: enforce}"), "");
    ck_assert_str_eq(said_with(in_b, IN_CENTS "action: route, mode: enforce}"), "");
    ck_says(said_with(in_b, "inject: {feature: price, scale: 100, segment: {arm: B}}, expect: "
                            "{class: scale, action: route}"),
            "action 'none' by the pin at 4:8, wanted 'route'");
}
END_TEST

START_TEST(a_test_is_told_of_a_limit_that_its_finding_alone_goes_beyond)
{
    static const char enforced[] = IN_CENTS "action: route, mode: enforce}";
    ck_says(said_with("defaults: {mode: enforce}\nlimits: {max_routed_features: 0}", enforced),
            "mode 'observe' by 'max_routed_features', wanted 'enforce'");
    ck_says(said_with("defaults: {mode: enforce}\nlimits: {max_routed_share: 0.5}", enforced),
            "mode 'observe' by 'max_routed_share', wanted 'enforce'");
    ck_assert_str_eq(
        said_with("defaults: {mode: enforce}\nlimits: {max_routed_features: 1}", enforced), "");
    ck_assert_str_eq(said_with("defaults: {mode: canary}\nlimits: {max_routed_share: 0.5}",
                               IN_CENTS "action: route, mode: canary}"),
                     "");
}
END_TEST

struct lists {
    struct ek_synthetic_lists *world;
    uint64_t asked;
    int fail_at;
};

static int next_list(void *context, uint64_t i, struct ek_list *q, struct ek_error *e)
{
    struct lists *l = context;
    ck_assert_uint_eq(i, l->asked++);
    if (l->fail_at && (int)i == l->fail_at)
        return ek_fail(e, EK_ESTATE, "no more");
    return ek_synthetic_lists_list(l->world, i, q, e);
}

START_TEST(the_same_test_runs_on_lists_that_are_given)
{
    struct scene s;
    struct ek_error e;
    struct lists lists = {0};
    struct ek_profile *p;
    struct ek_rules_outcome out;
    start(&s, NORMAL, "inject: {feature: price, scale: 100}, expect: {class: scale}");
    ck_assert_int_eq(ek_synthetic_lists_new(&lists.world, s.m, s.rules, 99, &e), EK_OK);
    ck_assert_int_eq(ek_synthetic_lists_profile(lists.world, &p, &e), EK_OK);
    const struct ek_healthy_lists from = {next_list, &lists, p};
    ck_assert_int_eq(ek_rules_test_run(s.rules, s.m, s.rules->test, &from, &out, &e), EK_OK);
    ck_assert_msg(out.passed, "%s", out.text);
    ck_assert_uint_eq(lists.asked, EK_RULES_TEST_HEALTHY + out.queries);
    lists.asked = 0;
    lists.fail_at = EK_RULES_TEST_HEALTHY + 2;
    ck_assert_int_eq(ek_rules_test_run(s.rules, s.m, s.rules->test, &from, &out, &e), EK_ESTATE);
    ck_assert_str_eq(e.message, "no more");
    ek_profile_free(p);
    ek_synthetic_lists_free(lists.world);
    end(&s);
}
END_TEST

Suite *suite_rules_test(void)
{
    return ek_suite(
        "rules_test", a_test_that_is_so_passes, a_test_says_what_came_and_what_was_wanted,
        items_of_faulty_lists_are_in_another_order,
        what_comes_too_late_is_a_fault_at_the_place_of_the_test,
        a_test_is_told_what_a_pin_makes_of_its_finding,
        a_test_is_told_of_a_limit_that_its_finding_alone_goes_beyond,
        rules_that_are_changed_fail_their_test, the_same_test_runs_on_lists_that_are_given);
}
