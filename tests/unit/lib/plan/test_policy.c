/* Actions on a finding: each requires its effect and fraction thresholds. */
#include "plan/policy.h"
#include "tests/check.h"
#include "tests/stream.h"

struct bench {
    struct ek_manifest *manifest;
    struct ek_rules *rules;
};

static void setup(struct bench *b, const char *rules)
{
    memset(b, 0, sizeof *b);
    b->manifest = stream_manifest();
    ck_assert_int_eq(ek_rules_parse(&b->rules, b->manifest, "rules", rules, strlen(rules), NULL),
                     EK_OK);
}

static void teardown(struct bench *b)
{
    ek_rules_free(b->rules);
    ek_manifest_free(b->manifest);
}

/* Return the action on a price change by a factor in a fraction of the lists. */
static enum ek_action done_about_gradual(struct bench *b, double factor, double share, int gradual)
{
    struct ek_finding f = {.state = EK_CONFIRMED,
                           .class = EK_SCALE,
                           .factor = factor,
                           .factor_low = factor / 1.05,
                           .factor_high = factor * 1.05,
                           .share = share,
                           .gradual = gradual,
                           .query_feature = -1};
    static const struct ek_means means = {.model = true};
    return ek_decide(b->rules, b->manifest, &means, &f).treatment.action;
}

static enum ek_action done_about(struct bench *b, double factor, double share)
{
    return done_about_gradual(b, factor, share, 0);
}

START_TEST(a_gradual_factor_is_not_acted_on)
{
    struct bench b;
    setup(&b, "version: 1\n");
    ck_assert_int_eq(done_about_gradual(&b, 1.4, 1, 1), EK_ACT_ALERT);
    ck_assert_int_eq(done_about_gradual(&b, 1.4, 1, 0), EK_ACT_ROUTE);
    teardown(&b);
}
END_TEST

/* Neither is a shift that the mix of the traffic explains, also if a listed unit fits. */
START_TEST(a_shift_of_the_mix_is_not_acted_on)
{
    static const struct ek_means means = {.model = true};
    struct bench b;
    setup(&b, "version: 1\n");
    for (int mix = 0; mix < 2; mix++) {
        struct ek_finding f = {.state = EK_CONFIRMED,
                               .class = EK_SCALE,
                               .factor = 2,
                               .factor_low = 1.9,
                               .factor_high = 2.1,
                               .share = 1,
                               .unit_count = 1,
                               .unit[0].listed = true,
                               .mix = mix,
                               .query_feature = -1};
        enum ek_action action = ek_decide(b.rules, b.manifest, &means, &f).treatment.action;
        ck_assert_int_eq(action, mix ? EK_ACT_ALERT : EK_ACT_ROUTE);
    }
    teardown(&b);
}
END_TEST

START_TEST(a_factor_without_a_narrow_interval_is_not_acted_on)
{
    static const struct ek_means means = {.model = true};
    struct bench b;
    setup(&b, "version: 1\n");
    for (int wide = 0; wide < 2; wide++) {
        struct ek_finding f = {.state = EK_UPDATED,
                               .class = EK_SCALE,
                               .factor = .44,
                               .factor_low = wide ? .2 : .4,
                               .factor_high = wide ? .64 : .48,
                               .share = .09,
                               .query_feature = -1};
        ck_assert_int_eq(ek_decide(b.rules, b.manifest, &means, &f).treatment.action,
                         wide ? EK_ACT_ALERT : EK_ACT_ROUTE);
    }
    teardown(&b);
}
END_TEST

/* One factor repairs, many do not. */
START_TEST(lists_with_factors_of_their_own_are_routed_by_a_network)
{
    static const struct ek_means means = {.model = true};
    struct bench b;
    setup(&b, "version: 1\ndefaults: {actions: {scale: repair}}\n");
    for (int varies = 0; varies < 2; varies++) {
        struct ek_finding f = {.state = EK_CONFIRMED,
                               .class = EK_SCALE,
                               .factor = 100,
                               .factor_low = 95,
                               .factor_high = 105,
                               .share = 1,
                               .varies = varies,
                               .query_feature = -1};
        ck_assert_int_eq(ek_decide(b.rules, b.manifest, &means, &f).treatment.action,
                         varies ? EK_ACT_ROUTE : EK_ACT_REPAIR);
    }
    teardown(&b);
}
END_TEST

START_TEST(a_weak_finding_of_any_class_is_not_acted_on)
{
    static const struct ek_means means = {.model = true};
    struct bench b;
    setup(&b, "version: 1\n");
    for (int weak = 0; weak < 2; weak++) {
        struct ek_finding f = {
            .state = EK_CONFIRMED, .class = EK_OFFSET, .weak = weak, .query_feature = -1};
        ck_assert_int_eq(ek_decide(b.rules, b.manifest, &means, &f).treatment.action,
                         weak ? EK_ACT_ALERT : EK_ACT_ROUTE_NORMALIZED);
    }
    teardown(&b);
}
END_TEST

START_TEST(a_large_factor_of_many_lists_is_routed)
{
    struct bench b;
    setup(&b, "version: 1\n");
    ck_assert_int_eq(done_about(&b, 100, 1), EK_ACT_ROUTE);
    ck_assert_int_eq(done_about(&b, .01, .1), EK_ACT_ROUTE);
    teardown(&b);
}
END_TEST

START_TEST(a_small_factor_without_a_listed_unit_is_told_only)
{
    struct bench b;
    setup(&b, "version: 1\n");
    ck_assert_int_eq(done_about(&b, 1.28, 1), EK_ACT_ALERT);
    ck_assert_int_eq(done_about(&b, 1.4, 1), EK_ACT_ROUTE);
    ck_assert_int_eq(done_about(&b, 1 / 1.28, 1), EK_ACT_ALERT);
    teardown(&b);
}
END_TEST

START_TEST(for_a_few_lists_all_are_not_routed)
{
    struct bench b;
    setup(&b, "version: 1\n");
    ck_assert_int_eq(done_about(&b, 100, .04), EK_ACT_ALERT);
    teardown(&b);
    setup(&b, "version: 1\ndefaults: {action_min_fraction: 0.01}\n");
    ck_assert_int_eq(done_about(&b, 100, .04), EK_ACT_ROUTE);
    teardown(&b);
}
END_TEST

/* Surcharges and sales come in a part of the lists, too. */
/* Milliseconds in a third of the lists, and a filter of new items. */
START_TEST(a_wide_interval_of_a_part_of_the_lists_needs_a_unit)
{
    static const struct ek_means means = {.model = true};
    struct bench b;
    setup(&b, "version: 1\n");
    for (int part = 0; part < 2; part++)
        for (int units = 0; units < 2; units++) {
            struct ek_finding f = {.state = EK_UPDATED,
                                   .class = EK_SCALE,
                                   .factor = 1000,
                                   .factor_low = 500,
                                   .factor_high = 2000,
                                   .share = part ? .3 : 1,
                                   .unit_count = units,
                                   .query_feature = -1};
            ck_assert_int_eq(ek_decide(b.rules, b.manifest, &means, &f).treatment.action,
                             part && !units ? EK_ACT_ALERT : EK_ACT_ROUTE);
        }
    teardown(&b);
}
END_TEST

START_TEST(a_small_factor_in_a_part_of_the_lists_needs_a_unit)
{
    struct bench b;
    setup(&b, "version: 1\n");
    ck_assert_int_eq(done_about(&b, 1.45, .65), EK_ACT_ALERT);
    ck_assert_int_eq(done_about(&b, 1.45, .95), EK_ACT_ROUTE);
    ck_assert_int_eq(done_about(&b, 2.2, .65), EK_ACT_ROUTE);
    ck_assert_int_eq(done_about(&b, 1 / 2.2, .65), EK_ACT_ROUTE);
    teardown(&b);
}
END_TEST

Suite *suite_policy(void)
{
    return ek_suite("policy", a_large_factor_of_many_lists_is_routed,
                    a_small_factor_without_a_listed_unit_is_told_only,
                    for_a_few_lists_all_are_not_routed, a_weak_finding_of_any_class_is_not_acted_on,
                    a_gradual_factor_is_not_acted_on, a_shift_of_the_mix_is_not_acted_on,
                    a_factor_without_a_narrow_interval_is_not_acted_on,
                    a_small_factor_in_a_part_of_the_lists_needs_a_unit,
                    a_wide_interval_of_a_part_of_the_lists_needs_a_unit,
                    lists_with_factors_of_their_own_are_routed_by_a_network);
}
