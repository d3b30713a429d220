/* Sentences of a finding. */
#include "guard/finding_text.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char FEATURES[] = "features:\n"
                               "  - {name: price, index: 1, role: item, unit: currency/night}\n"
                               "  - {name: way, index: 2, role: item, unit: normalized}\n"
                               "  - {name: nights, index: 3, role: query}\n";
static const struct ek_decision ROUTE = {
    .treatment = {EK_ACT_ROUTE, 0}, .mode = EK_MODE_ENFORCE, .desired = true};

static const char *say(const char *rules_text, struct ek_finding f, struct ek_decision decision)
{
    static char said[1000];
    struct ek_manifest *m;
    struct ek_rules *rules;
    struct ek_buf b;
    ek_buf_init(&b, 0);
    ck_assert_int_eq(ek_manifest_parse(&m, "m", FEATURES, strlen(FEATURES), NULL), EK_OK);
    ck_assert_int_eq(ek_rules_parse(&rules, m, "r", rules_text, strlen(rules_text), NULL), EK_OK);
    if (f.class == EK_SCALE && f.query_feature < 0)
        f.unit_count = ek_units_match(rules, m, f.feature, log(f.factor), log(f.factor_low),
                                      log(f.factor_high), f.unit);
    ck_assert_int_eq(ek_finding_text(&b, m, &f, &decision), EK_OK);
    snprintf(said, sizeof said, "%s", ek_buf_string(&b));
    ek_buf_release(&b);
    ek_rules_free(rules);
    ek_manifest_free(m);
    return said;
}

static struct ek_finding scale(int feature, double factor)
{
    return (struct ek_finding){.state = EK_CONFIRMED,
                               .class = EK_SCALE,
                               .feature = feature,
                               .query_feature = -1,
                               .since_query = 17,
                               .factor = factor,
                               .factor_low = .99 * factor,
                               .factor_high = 1.01 * factor,
                               .share = 1};
}

START_TEST(a_factor_is_told_with_what_it_looks_like)
{
    struct ek_finding f = scale(0, 100);
    ck_assert_str_eq(say("version: 1", f, ROUTE),
                     "price: values are multiplied by 100 (99 to 101) since list 17; looks like "
                     "amounts in cents instead of whole units; action: route");
    f.dimension = "arm";
    f.value = "B";
    f.share = .52;
    struct ek_decision observed = ROUTE;
    observed.mode = EK_MODE_OBSERVE;
    ck_assert_str_eq(say("version: 1", f, observed),
                     "price, arm=B: values are multiplied by 100 (99 to 101) in 52% of the lists "
                     "since list 17; looks like amounts in cents instead of whole units; action: "
                     "route, not enforced in observe");
    observed.rolled_back = true;
    ck_assert_str_eq(strstr(say("version: 1", f, observed), "; action"),
                     "; action: route, rolled back by a guardrail");
    observed.rolled_back = false;
    observed.mode = EK_MODE_CANARY;
    ck_assert_ptr_nonnull(
        strstr(say("version: 1", f, observed), "; action: route, for a canary part of the lists"));
    observed.no_model = true;
    ck_assert_str_eq(strstr(say("version: 1", f, observed), "; action"),
                     "; action: alert, since there is no model for route");
    observed.treatment.action = EK_ACT_ALERT;
    ck_assert_str_eq(strstr(say("version: 1", f, observed), "; action"), "; action: alert");
    observed.mode = EK_MODE_OBSERVE;
    ck_assert_ptr_null(strstr(say("version: 1", f, observed), "; action"));
}
END_TEST

START_TEST(factors_of_their_own_have_no_unit)
{
    struct ek_finding f = scale(0, 100);
    f.varies = 1;
    ck_assert_str_eq(say("version: 1", f, ROUTE),
                     "price: values are multiplied by another factor in each list, often 100 since "
                     "list 17; action: route");
}
END_TEST

START_TEST(a_shift_of_the_mix_has_no_unit)
{
    struct ek_finding f = scale(0, 2);
    f.mix = 1;
    ck_assert_ptr_nonnull(strstr(say("version: 1", f, ROUTE),
                                 " since list 17; other features moved with it, as if the mix of "
                                 "lists changed; action"));
}
END_TEST

START_TEST(a_price_is_never_told_to_be_in_kilometers_unless_the_rules_say_so)
{
    ck_assert_ptr_nonnull(strstr(say("version: 1", scale(0, 1.609), ROUTE),
                                 "; no known conversion of its unit fits; action"));
    ck_assert_ptr_nonnull(
        strstr(say("version: 1", scale(1, 1.609), ROUTE), "; no known conversion"));
    ck_assert_ptr_nonnull(
        strstr(say("features: {price: {units: [mi_to_km]}}", scale(0, 1.609), ROUTE),
               "; looks like kilometers instead of miles"));
    ck_assert_ptr_nonnull(strstr(say("version: 1", scale(1, 2), ROUTE), "; looks like twice"));
    ck_assert_ptr_nonnull(strstr(say("version: 1", scale(1, 37), ROUTE), "; no known conversion"));
}
END_TEST

START_TEST(a_wide_interval_has_no_unit)
{
    struct ek_finding f = scale(0, 1.609);
    f.factor_low = 1.2;
    f.factor_high = 2.2;
    ck_assert_ptr_nonnull(
        strstr(say("version: 1", f, ROUTE), "; too uncertain to name a conversion; action"));
}
END_TEST

START_TEST(a_factor_that_is_a_query_feature_is_told_by_its_name)
{
    struct ek_finding f = scale(0, 3);
    f.query_feature = 0;
    ck_assert_str_eq(
        say("version: 1", f, ROUTE),
        "price: values are multiplied by nights, list by list, since list 17; action: route");
}
END_TEST

START_TEST(fractions_of_values_are_those_of_now_and_of_training)
{
    struct ek_finding f = {.state = EK_CONFIRMED,
                           .class = EK_MISSING,
                           .query_feature = -1,
                           .since_query = 17,
                           .share = 1,
                           .value_share = 1,
                           .trained_share = .0213};
    struct ek_decision alert = {.treatment = {EK_ACT_ALERT, 0}};
    ck_assert_str_eq(say("version: 1", f, alert), "price: missing in 100% of the values, 2.1% in "
                                                  "training, since list 17; action: alert");
    f.value_share = .0213;
    f.trained_share = .997;
    ck_assert_ptr_nonnull(strstr(say("version: 1", f, alert),
                                 ": missing in 2.1% of the values, 100% in training, since"));
    f.class = EK_ZERO;
    f.trained_share = 0;
    ck_assert_ptr_nonnull(
        strstr(say("version: 1", f, alert), ": zero in 2.1% of the values, 0% in training, since"));
    f.class = EK_SIGN;
    f.value_share = .5;
    ck_assert_ptr_nonnull(strstr(say("version: 1", f, alert),
                                 ": negative in 50% of the values, 0% in training, since"));
}
END_TEST

START_TEST(every_class_and_state_has_its_words)
{
    struct ek_finding f = scale(0, 3);
    for (int c = 0; c < EK_CLASS_COUNT; c++) {
        f.class = (enum ek_class)c;
        ck_assert_ptr_null(strstr(say("version: 1", f, ROUTE), "null"));
        ck_assert_ptr_nonnull(strstr(say("version: 1", f, ROUTE), " since list 17"));
    }
    f.class = EK_CLASS_NONE;
    f.signal = "level up";
    f.reason = "smaller than report_threshold";
    f.state = EK_SUSPECTED;
    ck_assert_str_eq(say("version: 1", f, ROUTE),
                     "price: something has changed since list 17 (level up); not confirmed yet");
    f.state = EK_DISMISSED;
    ck_assert_str_eq(say("version: 1", f, ROUTE),
                     "price: no finding after all, smaller than report_threshold");
    f.reason = ek_finding_accepted();
    ck_assert_str_eq(say("version: 1", f, ROUTE), "price: accepted as normal by an operator");
    f.state = EK_RECOVERED;
    f.reason = "no such lists any more";
    ck_assert_str_eq(say("version: 1", f, ROUTE), "price: over, no such lists any more");
    f.reason = NULL;
    ck_assert_str_eq(say("version: 1", f, ROUTE), "price: back to normal");
}
END_TEST

Suite *suite_finding_text(void)
{
    return ek_suite(
        "sentence", a_factor_is_told_with_what_it_looks_like, factors_of_their_own_have_no_unit,
        a_shift_of_the_mix_has_no_unit,
        a_price_is_never_told_to_be_in_kilometers_unless_the_rules_say_so,
        a_wide_interval_has_no_unit, a_factor_that_is_a_query_feature_is_told_by_its_name,
        fractions_of_values_are_those_of_now_and_of_training, every_class_and_state_has_its_words);
}
