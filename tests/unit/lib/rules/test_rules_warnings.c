/* Warnings of `check` on well-formed but suspicious rules. */
#include "base/date.h"
#include "rules/rules_warnings.h"
#include "tests/check.h"
#include "tests/must.h"

#include <stdio.h>
#include <string.h>

enum { SAID_BYTES = 900 };

static const char MANIFEST[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: rating, index: 2, role: item, routable: true}\n"
                               "  - {name: taxes, index: 3, role: item, routable: true}\n";

static int64_t at(const char *date)
{
    int64_t ms = 0;
    must(ek_parse_until_ms(date, &ms));
    return ms;
}

/* Return all warnings on these rules at that time, one per line; equal with and without a manifest.
 */
static const char *notes_at(const char *text, int64_t now_ms)
{
    static char said[2][SAID_BYTES];
    struct ek_manifest *m = NULL;
    must(ek_manifest_parse(&m, "m", MANIFEST, strlen(MANIFEST), NULL));
    for (int held = 0; held < 2; held++) {
        struct ek_error_list notes;
        struct ek_rules *r = NULL;
        struct ek_yaml *y = NULL;
        size_t used = 0;
        said[held][0] = 0;
        ek_error_list_init(&notes);
        must(ek_yaml_parse(&y, "r", text, strlen(text), NULL));
        must(ek_rules_from_tree(&r, held ? m : NULL, y, NULL, NULL));
        must(ek_rules_warnings(r, y, now_ms, &notes));
        for (size_t i = 0; i < notes.count; i++) {
            const struct ek_error *e = &notes.errors[i];
            used += (size_t)snprintf(said[held] + used, SAID_BYTES - used, "%ld:%ld: %s\n", e->line,
                                     e->column, e->message);
        }
        ek_error_list_release(&notes);
        ek_rules_free(r);
        ek_yaml_free(y);
    }
    ek_manifest_free(m);
    ck_assert_str_eq(said[0], said[1]);
    return said[0];
}

START_TEST(a_pin_that_has_run_out_is_told)
{
    static const char rules[] = "pins:\n"
                                "  - {feature: price, action: route, until: 2027-01-31}\n"
                                "  - {feature: rating, action: none, until: 2027-02-01T12:00:00Z}\n"
                                "  - {feature: taxes, action: none}\n";
    ck_assert_str_eq(notes_at(rules, at("2027-01-31") - 1), "");
    ck_assert_str_eq(notes_at(rules, at("2027-01-31")),
                     "2:44: the pin of 'price' expired on 2027-01-31; remove it\n");
    ck_assert_str_eq(notes_at(rules, at("2027-02-01T12:00:00Z")),
                     "2:44: the pin of 'price' expired on 2027-01-31; remove it\n"
                     "3:44: the pin of 'rating' expired on 2027-02-01T12:00:00Z; remove it\n");
}
END_TEST

START_TEST(what_is_said_of_a_feature_that_is_not_watched_is_told)
{
    ck_assert_str_eq(
        notes_at("segments: [arm]\n"
                 "features:\n"
                 "  price: {watch: false, mode: enforce, mode_in: {arm: {B: shadow}},\n"
                 "          actions: {scale: alert}, canary: {initial_percent: 1}, "
                 "report_threshold: 2}\n"
                 "  rating: {watch: true, mode: enforce, actions: {scale: alert}}\n"
                 "  taxes: {watch: false}\n",
                 0),
        "3:31: 'mode' has no effect, because 'price' is not watched\n"
        "3:49: 'mode_in' has no effect, because 'price' is not watched\n"
        "4:20: 'actions' has no effect, because 'price' is not watched\n"
        "4:44: 'canary' has no effect, because 'price' is not watched\n");
}
END_TEST

#define NO_ROUTES "segments: [arm]\nlimits: {max_routed_features: 0}\n"

START_TEST(a_limit_that_lets_nothing_act_is_told_beside_what_should)
{
    static const struct {
        const char *rules, *said;
    } cases[] = {
        {NO_ROUTES, ""},
        {NO_ROUTES "defaults: {mode: shadow}\n", ""},
        {NO_ROUTES "features: {price: {watch: false, mode: enforce}}\n",
         "3:40: 'mode' has no effect, because 'price' is not watched\n"},
        {"segments: [arm]\nlimits: {max_routed_features: 1}\ndefaults: {mode: enforce}\n", ""},
        {NO_ROUTES "defaults: {mode: enforce}\n",
         "2:31: 'max_routed_features' is 0, so 'enforce' at 3:18 has no effect\n"},
        {NO_ROUTES "features: {price: {mode: canary}}\n",
         "2:31: 'max_routed_features' is 0, so 'canary' at 3:26 has no effect\n"},
        {NO_ROUTES "defaults: {mode_in: {arm: {A: shadow, B: enforce}}}\n",
         "2:31: 'max_routed_features' is 0, so 'enforce' at 3:42 has no effect\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(notes_at(cases[i].rules, 0), cases[i].said);
}
END_TEST

/* Return the error of these rules without an output topic, "" if they only observe. */
static const char *acting_of(const char *text)
{
    static char said[SAID_BYTES];
    struct ek_error e;
    struct ek_yaml *y = NULL;
    said[0] = 0;
    must(ek_yaml_parse(&y, "r", text, strlen(text), NULL));
    if (ek_rules_check_observing(y, &e))
        snprintf(said, sizeof said, "%ld:%ld: %s", e.line, e.column, e.message);
    ek_yaml_free(y);
    return said;
}

START_TEST(without_an_output_the_first_mode_or_pin_that_changes_lists_is_an_error)
{
    static const struct {
        const char *rules, *said;
    } cases[] = {
        {"version: 1\n", ""},
        {"defaults: {mode: shadow}\nfeatures: {price: {mode: observe}}\n", ""},
        {"features: {price: {watch: false, mode: enforce}}\n", ""},
        {"pins: [{feature: price, action: none}, {feature: taxes, action: alert}]\n", ""},
        {"defaults: {mode: enforce}\n",
         "1:18: mode 'enforce' changes lists, but there is no 'output.topic'; set it, or use "
         "'observe' or 'shadow'"},
        {"segments: [arm]\nfeatures: {price: {mode_in: {arm: {A: shadow, B: canary}}}}\n",
         "2:50: mode 'canary' changes lists, but there is no 'output.topic'; set it, or use "
         "'observe' or 'shadow'"},
        {"pins:\n  - {feature: price, action: none}\n  - {feature: taxes, action: blank}\n",
         "3:30: a pin to 'blank' changes lists, but there is no 'output.topic'; set it, or use "
         "'none' or 'alert'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(acting_of(cases[i].rules), cases[i].said);
}
END_TEST

Suite *suite_rules_warnings(void)
{
    return ek_suite("rules_notes", a_pin_that_has_run_out_is_told,
                    what_is_said_of_a_feature_that_is_not_watched_is_told,
                    a_limit_that_lets_nothing_act_is_told_beside_what_should,
                    without_an_output_the_first_mode_or_pin_that_changes_lists_is_an_error);
}
