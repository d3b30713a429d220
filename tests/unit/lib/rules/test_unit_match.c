/* Unit catalog: default units, matches of a finding, user-defined units. */
#include "base/file.h"
#include "rules/rules.h"
#include "rules/unit_match.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Features of several units, in index order. */
enum { PRICE, TAXES, DISTANCE, STAY, SHARE, PLAIN };
static const char FEATURES[] = "currency_features: [taxes]\n"
                               "features:\n"
                               "  - {name: price, index: 1, role: item, unit: currency/night}\n"
                               "  - {name: taxes, index: 2, role: item}\n"
                               "  - {name: distance, index: 3, role: item, unit: Miles}\n"
                               "  - {name: stay, index: 4, role: item, unit: minutes}\n"
                               "  - {name: share, index: 5, role: item, unit: percent of all}\n"
                               "  - {name: plain, index: 6, role: item, unit: normalized}\n"
                               "  - {name: nights, index: 7, role: query}\n";

struct with {
    struct ek_manifest *manifest;
    struct ek_rules *rules;
};

static struct with rules_from(const char *features, const char *name, const char *text)
{
    struct with w;
    struct ek_error e;
    ck_assert_int_eq(ek_manifest_parse(&w.manifest, "m", features, strlen(features), NULL), EK_OK);
    int rc = ek_rules_parse(&w.rules, w.manifest, name, text, strlen(text), &e);
    ck_assert_msg(!rc, "%s:%ld:%ld: %s", e.file, e.line, e.column, e.message);
    return w;
}

static struct with rules_of(const char *name, const char *text)
{
    return rules_from(FEATURES, name, text);
}

static void release(struct with *w)
{
    ek_rules_free(w->rules);
    ek_manifest_free(w->manifest);
}

/* Return the matching ids, separated by spaces. */
static const char *fits(const struct with *w, int feature, double factor, double error_ln)
{
    static char text[EK_UNIT_MATCHES * (EK_UNIT_ID_BYTES_MAX + 1) + 1];
    struct ek_unit_match match[EK_UNIT_MATCHES];
    int count = ek_units_match(w->rules, w->manifest, feature, log(factor),
                               log(factor) - 2 * error_ln, log(factor) + 2 * error_ln, match);
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "",
                                 match[i].unit->id);
    return text;
}

static void begins(const char *got, const char *want)
{
    ck_assert_msg(!strncmp(got, want, strlen(want)), "'%s' does not begin with '%s'", got, want);
}

/* Return a feature with the first word of u->from as unit. */
static const struct ek_unit *first_for(const struct ek_unit *u)
{
    static struct ek_unit_match match[EK_UNIT_MATCHES];
    char word[EK_UNIT_NAME_BYTES_MAX + 1] = "", text[200];
    struct with w = rules_of("r", "version: 1");
    struct ek_manifest *m;
    if (u->from)
        sscanf(u->from, "%31s", word);
    snprintf(text, sizeof text, "features: [{name: x, index: 1, role: item, unit: '%s'}]", word);
    ck_assert_int_eq(ek_manifest_parse(&m, "m", text, strlen(text), NULL), EK_OK);
    ck_assert_int_ge(
        ek_units_match(w.rules, m, 0, log(u->factor), log(u->factor), log(u->factor), match), 1);
    ek_manifest_free(m);
    release(&w);
    return match[0].unit;
}

START_TEST(every_built_in_unit_is_found_by_its_factor_and_so_is_its_inverse)
{
    const struct ek_unit *u;
    size_t count;
    ek_units_built_in(&count);
    ck_assert_int_ge(count, 100);
    for (size_t i = 0; (u = ek_units_at(NULL, i)); i++) {
        const struct ek_unit *back = ek_units_find(NULL, u->inverse);
        ck_assert_msg(back && !strcmp(back->inverse, u->id), "%s has no way back", u->id);
        ck_assert_double_eq_tol(u->factor * back->factor, 1, 1e-12);
        if (u->from)
            ck_assert_str_eq(first_for(u)->id, u->id);
    }
}
END_TEST

START_TEST(units_that_rules_and_tests_rely_on_keep_their_names)
{
    static const struct {
        const char *id;
        double factor;
    } known[] = {{"cents", 100},
                 {"from_cents", .01},
                 {"thousandfold", 1000},
                 {"tenfold", 10},
                 {"tenth", .1},
                 {"double", 2},
                 {"half", .5},
                 {"mi_to_km", 1.609344},
                 {"km_to_mi", 1 / 1.609344},
                 {"ft_to_m", .3048},
                 {"m_to_ft", 1 / .3048},
                 {"lb_to_kg", .45359237},
                 {"hours_to_minutes", 60},
                 {"hours_to_seconds", 3600},
                 {"days_to_hours", 24},
                 {"weeks_to_days", 7},
                 {"seconds_to_hours", 1 / 3600.}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct ek_unit *u = ek_units_find(NULL, known[i].id);
        ck_assert_msg(u != NULL, "%s is gone", known[i].id);
        ck_assert_double_eq_tol(u->factor / known[i].factor, 1, 1e-15);
    }
}
END_TEST

START_TEST(the_unit_of_a_feature_says_what_is_likely)
{
    struct with w = rules_of("r", "version: 1");
    ck_assert_str_eq(fits(&w, PRICE, 100, .001), "cents");
    ck_assert_str_eq(fits(&w, TAXES, 1000, .001), "thousandfold");
    ck_assert_str_eq(fits(&w, PRICE, 2.01, .001), "double");
    ck_assert_str_eq(fits(&w, DISTANCE, 1.609, .001), "mi_to_km");
    ck_assert_str_eq(fits(&w, DISTANCE, 1.83, .03), "nmi_to_km");
    ck_assert_str_eq(fits(&w, STAY, 60, .001), "minutes_to_seconds hours_to_minutes");
    ck_assert_str_eq(fits(&w, STAY, 1 / 60., .001), "minutes_to_hours seconds_to_minutes");
    begins(fits(&w, SHARE, .01, .001), "percent_to_fraction ");
    release(&w);
}
END_TEST

START_TEST(a_currency_feature_is_money_with_any_unit)
{
    static const char features[] = "currency_features: [price]\n"
                                   "features: [{name: price, index: 1, role: item, unit: per "
                                   "night}]\n";
    struct with w = rules_from(features, "r", "version: 1");
    ck_assert_str_eq(fits(&w, PRICE, 100, .001), "cents");
    ck_assert_str_eq(fits(&w, PRICE, 7, .001), "night_to_week");
    release(&w);
}
END_TEST

START_TEST(without_a_known_unit_only_powers_of_ten_are_named)
{
    struct with w = rules_of("r", "version: 1");
    begins(fits(&w, PLAIN, 100, .001), "cents ");
    begins(fits(&w, PLAIN, .01, .001), "from_cents ");
    begins(fits(&w, PLAIN, 10, .001), "tenfold ");
    begins(fits(&w, PLAIN, 2, .001), "double");
    ck_assert_str_eq(fits(&w, PLAIN, 1.609, .001), "");
    ck_assert_str_eq(fits(&w, PLAIN, .6214, .001), "");
    begins(fits(&w, PLAIN, 1023, .001), "thousandfold ");
    ck_assert_str_eq(fits(&w, PLAIN, 65, .05), "");
    release(&w);
}
END_TEST

START_TEST(what_another_quantity_has_is_not_named)
{
    struct with w = rules_of("r", "version: 1");
    ck_assert_str_eq(fits(&w, PRICE, 1.609, .001), "");
    begins(fits(&w, PRICE, 1.19, .001), "vat_19");
    ck_assert_str_eq(fits(&w, PRICE, 2.2, .05), "double");
    release(&w);
}
END_TEST

START_TEST(only_what_the_interval_allows_is_named)
{
    struct with w = rules_of("r", "features: {plain: {units: [double, mi_to_km, nmi_to_km, cents, "
                                  "from_cents, tenfold, thousandfold]}}");
    struct ek_unit_match match[EK_UNIT_MATCHES];
    ck_assert_str_eq(fits(&w, PRICE, 37, .001), "");
    ck_assert_str_eq(fits(&w, PRICE, 104, .001), "");
    begins(fits(&w, PRICE, 104, .02), "cents");
    ck_assert_int_eq(ek_units_match(w.rules, w.manifest, PLAIN, 0, -50, 50, match),
                     EK_UNIT_MATCHES);
    release(&w);
}
END_TEST

START_TEST(what_the_rules_list_for_a_feature_comes_first)
{
    struct with w = rules_of("r", "features: {price: {units: [double, mi_to_km]}}");
    struct ek_unit_match match[EK_UNIT_MATCHES];
    begins(fits(&w, PRICE, 1.6, .001), "mi_to_km");
    begins(fits(&w, PRICE, 1.8, .1), "double mi_to_km");
    ck_assert_int_eq(ek_units_match(w.rules, w.manifest, PRICE, 0, -50, 50, match), 2);
    ck_assert(match[0].listed && match[1].listed);
    release(&w);
}
END_TEST

START_TEST(a_small_factor_is_named_only_by_a_narrow_interval)
{
    struct with w = rules_of("r", "version: 1");
    begins(fits(&w, DISTANCE, 1.0936, .002), "m_to_yd");
    ck_assert_str_eq(fits(&w, DISTANCE, 1.2, .06), "");
    ck_assert_str_eq(fits(&w, DISTANCE, 1.1, .03), "");
    begins(fits(&w, PRICE, 1.18, .02), "vat_1");
    ck_assert_str_eq(fits(&w, PRICE, 1.18, .06), "");
    ck_assert_str_eq(fits(&w, PRICE, 1.716, .109), "");
    begins(fits(&w, PRICE, 110, .125), "cents");
    release(&w);
}
END_TEST

START_TEST(rules_may_bring_units_of_their_own)
{
    struct with w =
        rules_of("r", "units:\n"
                      "  - {id: points, factor: 37, quantity: money, text: loyalty points,\n"
                      "     inverse: from_points, inverse_text: money}\n"
                      "  - {id: fathoms, factor: 1/0.00113636, quantity: length,\n"
                      "     text: fathoms, from: [Miles]}\n"
                      "features: {plain: {units: [points, from_points]}}\n");
    ck_assert_str_eq(fits(&w, PRICE, 37, .001), "points");
    begins(fits(&w, PLAIN, 1 / 37., .001), "from_points");
    begins(fits(&w, DISTANCE, 880, .001), "fathoms");
    release(&w);
}
END_TEST

START_TEST(rules_may_name_catalogs_beside_them)
{
    char folder[] = "/tmp/evenkeel-units-XXXXXX", path[100], rules[100];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/own.yaml", folder);
    snprintf(rules, sizeof rules, "%s/rules.yaml", folder);
    ck_assert_int_eq(ek_file_write(path, "units: [{id: points, factor: 37, text: points}]\n", NULL),
                     EK_OK);
    struct with w = rules_of(rules, "features: {price: {units: [points]}}\nunits: [own.yaml]\n");
    ck_assert_str_eq(fits(&w, PRICE, 37, .001), "points");
    release(&w);
    unlink(path);
    rmdir(folder);
}
END_TEST

START_TEST(a_copy_of_what_is_built_in_may_be_named_and_adds_nothing)
{
    struct ek_units own;
    struct ek_error e;
    char text[700];
    ek_units_init(&own);
    int rc = ek_units_load(&own, "rules/units.yaml", NULL, &e);
    ck_assert_msg(!rc, "%s", ek_error_text(&e, text, sizeof text));
    ck_assert_int_eq(own.count, 0);
    ek_units_release(&own);
}
END_TEST

START_TEST(all_faults_of_a_catalog_are_told_in_their_order)
{
    static const char bad[] = "version: 2\n"
                              "units:\n"
                              "  - {id: Points, factor: 1, text: '', form: [x]}\n"
                              "  - {id: cents, factor: 1000, text: mils}\n"
                              "  - {id: good, factor: 37, text: good}\n"
                              "  - {id: good, factor: 38, text: good}\n"
                              "  - {id: alone}\n";
    static const long lines[] = {1, 3, 3, 3, 3, 4, 6, 7, 7};
    struct ek_units own;
    struct ek_error_list faults;
    struct ek_error e;
    ek_units_init(&own);
    ek_error_list_init(&faults);
    ck_assert_int_eq(ek_units_parse(&own, "u", bad, sizeof bad - 1, &faults, &e), EK_ECONFIG);
    ck_assert_int_eq(faults.count, sizeof lines / sizeof *lines);
    for (size_t i = 0; i < faults.count; i++)
        ck_assert_int_eq(faults.errors[i].line, lines[i]);
    ck_assert_int_eq(own.count, 1);
    ek_error_list_release(&faults);
    ek_units_release(&own);
}
END_TEST

START_TEST(faults_of_a_named_catalog_are_told_where_it_is_named)
{
    static const char rules[] = "units: [there-twice.yaml, gone.yaml]\ndefaults: {mode: of}\n";
    struct ek_rules *r;
    struct ek_error_list faults;
    struct ek_error e;
    ek_error_list_init(&faults);
    ck_assert_int_eq(ek_rules_parse_all(&r, NULL, "tests/bad/units/rules.yaml", rules,
                                        sizeof rules - 1, &faults, &e),
                     EK_ECONFIG);
    ck_assert_int_eq(faults.count, 3);
    ck_assert_ptr_nonnull(strstr(faults.errors[0].message, "there-twice.yaml:5:10: unit 'points'"));
    ck_assert_int_eq(faults.errors[0].column, 9);
    ck_assert_ptr_nonnull(strstr(faults.errors[1].message, "gone.yaml: cannot open"));
    ck_assert_int_eq(faults.errors[1].column, 27);
    ck_assert_int_eq(faults.errors[2].line, 2);
    ek_error_list_release(&faults);
}
END_TEST

Suite *suite_unit_match(void)
{
    return ek_suite(
        "units", every_built_in_unit_is_found_by_its_factor_and_so_is_its_inverse,
        units_that_rules_and_tests_rely_on_keep_their_names,
        the_unit_of_a_feature_says_what_is_likely, a_currency_feature_is_money_with_any_unit,
        without_a_known_unit_only_powers_of_ten_are_named, what_another_quantity_has_is_not_named,
        only_what_the_interval_allows_is_named, what_the_rules_list_for_a_feature_comes_first,
        a_small_factor_is_named_only_by_a_narrow_interval,
        a_small_factor_is_named_only_by_a_narrow_interval, rules_may_bring_units_of_their_own,
        rules_may_name_catalogs_beside_them,
        a_copy_of_what_is_built_in_may_be_named_and_adds_nothing,
        all_faults_of_a_catalog_are_told_in_their_order,
        faults_of_a_named_catalog_are_told_where_it_is_named);
}
