/* Valid rules files; invalid ones are in tests/bad. */
#include "base/buf.h"
#include "base/date.h"
#include "rules/rules.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

static const char MANIFEST[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: rating, index: 2, role: item, routable: true}\n"
                               "  - {name: user_age, index: 3, role: item}\n"
                               "  - {name: distance, index: 4, role: item, routable: true}\n"
                               "  - {name: stay_nights, index: 5, role: query}\n";

/* The example of the design, with every key. */
static const char EXAMPLE[] =
    "version: 1\n"
    "defaults:\n"
    "  mode: shadow\n"
    "  report_threshold: 1.20\n"
    "  action_threshold: 1.5\n"
    "  false_alarms: 1 per 5000 lists\n"
    "  dedup_key: [items.id]\n"
    "  stratify_by: market\n"
    "  actions: {scale: repair, missing: none}\n"
    "  mode_in: {arm: {B: enforce, C: canary}, app: {\"7.1\": observe}}\n"
    "  confirmation_lists: 32\n"
    "  min_duration: 90s\n"
    "  max_duration: 1h\n"
    "  recover: manual\n"
    "limits: {max_routed_features: 3, max_routed_share: 0.5, on_limit: keep}\n"
    "segments: [arm, currency, app]\n"
    "windows: {length: 10s, retention: 6, max_segments: 40}\n"
    "features:\n"
    "  price:  {mode: canary, canary: {initial_percent: 5, step_percent: 10, step_interval: 10m, "
    "max_percent: 50, min_lists: 30, "
    "abort_if: {rank_change_p95: 0.5, error_rate: 0.02, dead_letter_rate: 0.03, latency_p99: 50ms, "
    "worse_than_unmitigated: false, model_drift: true}}, units: [cents, "
    "\"query_feature:stay_nights\", "
    "EUR/USD]}\n"
    "  rating: {mode: enforce, mode_in: {arm: {B: shadow}}, report_threshold: 1.05, actions: "
    "{scale: route}}\n"
    "  user_age: {watch: false}\n"
    "pins:\n"
    "  - {feature: distance, segment: {app: \"7.1\"}, action: route, until: 2027-01-31, actor: "
    "ana, reason: \"miles in 7.1\"}\n"
    "  - {feature: price, action: none}\n"
    "tests:\n"
    "  - {name: \"cents\", inject: {feature: price, scale: 100, fraction: 1.0}, expect: {class: "
    "scale, "
    "factor: 100, within_percent: 3, action: route, after_lists: 200}}\n"
    "  - {name: quiet, inject: none, expect: none, lists: 300}\n"
    "  - {name: some, inject: {feature: rating, zero: true, fraction: 0.5, items: 0.25, segment: "
    "{arm: B}}, expect: {class: zero, exponent: 2, mode: shadow, segment: {arm: B}}}\n"
    "  - {name: all, inject: {feature: rating, power: 2}, expect: {segment: none}}\n";

static struct ek_manifest *manifest(void)
{
    struct ek_manifest *m = NULL;
    ck_assert_int_eq(ek_manifest_parse(&m, "m", MANIFEST, strlen(MANIFEST), NULL), EK_OK);
    return m;
}

static struct ek_rules *parse(const struct ek_manifest *m, const char *text)
{
    struct ek_rules *r = NULL;
    struct ek_error e;
    char told[700];
    int rc = ek_rules_parse(&r, m, "rules.yaml", text, strlen(text), &e);
    ck_assert_msg(!rc, "%s", rc ? ek_error_text(&e, told, sizeof told) : "");
    return r;
}

static void check_canary(const struct ek_canary *c)
{
    const struct ek_guardrails *g = &c->abort_if;
    ck_assert(c->initial_percent == 5 && c->step_percent == 5 && c->max_percent == 100 &&
              c->step_interval_ms == 600000);
    ck_assert_int_eq(c->min_lists, 200);
    ck_assert(g->rank_change_p95 == 0 && g->error_rate == .01 && g->dead_letter_rate == 0);
    ck_assert(g->latency_p99_ms == 0 && !g->model_drift && g->worse_than_unmitigated);
}

static void check_built_in(const struct ek_rules *r)
{
    static const enum ek_action on[EK_CLASS_COUNT] = {
        [EK_SCALE] = EK_ACT_AUTO,  [EK_POWER] = EK_ACT_AUTO,        [EK_OFFSET] = EK_ACT_AUTO,
        [EK_ITEMS] = EK_ACT_ALERT, [EK_MISSING] = EK_ACT_ALERT,     [EK_ZERO] = EK_ACT_ALERT,
        [EK_SIGN] = EK_ACT_AUTO,   [EK_STUCK] = EK_ACT_ALERT,       [EK_CLIP] = EK_ACT_ALERT,
        [EK_SHAPE] = EK_ACT_ALERT, [EK_NEW_CATEGORY] = EK_ACT_ALERT};
    ck_assert_int_eq(r->feature_count, 5);
    for (int i = 0; i < r->feature_count; i++) {
        ck_assert(r->feature[i].watch && r->feature[i].mode == EK_MODE_OBSERVE);
        ck_assert(r->feature[i].report_threshold == 1.10 &&
                  r->feature[i].action_threshold == 1.25 &&
                  r->feature[i].action_min_fraction == .05);
        ck_assert(!memcmp(r->feature[i].actions, on, sizeof on));
        ck_assert_int_eq(r->feature[i].unit_count, 0);
        ck_assert(!r->feature[i].has_mode && !r->feature[i].mode_in_count);
        ck_assert_int_eq(ek_rules_mode(r, i, NULL, NULL), EK_MODE_OBSERVE);
        check_canary(&r->feature[i].canary);
    }
    ck_assert_uint_eq(r->false_alarms, 10000000);
    ck_assert_uint_eq(r->dedup_key, EK_SAME_QUERY_FEATURES | EK_SAME_ITEM_IDS);
    ck_assert_ptr_null(r->stratify_by);
    ck_assert_int_eq(r->confirmation_lists, 64);
    ck_assert(r->min_duration_ms == 600000 && r->max_duration_ms == 6 * 3600000);
    ck_assert(r->recover_auto && r->on_limit == EK_LIMIT_OBSERVE && r->max_routed_share == 1);
    ck_assert_int_eq(r->max_routed_features, 10);
    ck_assert(r->windows.length_ms == 300000 && r->windows.retention == 12 &&
              r->windows.max_segments == 100);
    ck_assert_int_eq(r->segment_count, 0);
    ck_assert_int_eq(r->pin_count, 0);
}

START_TEST(a_file_that_says_nothing_means_the_built_in_rules)
{
    struct ek_manifest *m = manifest();
    struct ek_rules *r = NULL;
    ck_assert_int_eq(ek_rules_default(&r, m, NULL), EK_OK);
    check_built_in(r);
    ek_rules_free(r);
    r = parse(m, "version: 1");
    check_built_in(r);
    ek_rules_free(r);
    ek_manifest_free(m);
}
END_TEST

START_TEST(every_key_of_the_example_is_taken)
{
    struct ek_manifest *m = manifest();
    struct ek_rules *r = parse(m, EXAMPLE);
    ck_assert_uint_eq(r->false_alarms, 5000);
    ck_assert_uint_eq(r->dedup_key, EK_SAME_ITEM_IDS);
    ck_assert_str_eq(r->stratify_by, "market");
    ck_assert_int_eq(r->confirmation_lists, 32);
    ck_assert(r->min_duration_ms == 90000 && r->max_duration_ms == 3600000);
    ck_assert(!r->recover_auto && r->on_limit == EK_LIMIT_KEEP && r->max_routed_share == 0.5);
    ck_assert_int_eq(r->max_routed_features, 3);
    ck_assert(r->windows.length_ms == 10000 && r->windows.retention == 6 &&
              r->windows.max_segments == 40);
    ck_assert_int_eq(r->segment_count, 3);
    ck_assert_str_eq(r->segment[2], "app");
    const struct ek_feature_rule *price = &r->feature[0];
    ck_assert_int_eq(price->mode, EK_MODE_CANARY);
    ck_assert(price->canary.step_percent == 10 && price->canary.max_percent == 50);
    ck_assert(price->canary.step_interval_ms == 600000 && price->canary.min_lists == 30);
    const struct ek_guardrails *g = &price->canary.abort_if;
    ck_assert(g->rank_change_p95 == .5 && g->error_rate == .02 && g->dead_letter_rate == .03);
    ck_assert(g->latency_p99_ms == 50 && !g->worse_than_unmitigated && g->model_drift);
    ck_assert_int_eq(price->unit_count, 3);
    ck_assert_str_eq(price->unit[1], "query_feature:stay_nights");
    ck_assert_int_eq(r->pin_count, 2);
    ck_assert_int_eq(r->pin[0].feature, 3);
    ck_assert_str_eq(r->pin[0].dimension, "app");
    ck_assert_str_eq(r->pin[0].value, "7.1");
    ck_assert_str_eq(r->pin[0].reason, "miles in 7.1");
    ck_assert_str_eq(r->pin[0].author, "ana");
    ck_assert_int_eq(r->pin[0].line, 23);
    ck_assert_int_eq(r->pin[0].column, 5);
    ck_assert_ptr_null(r->pin[1].author);
    ck_assert_int_eq(r->pin[0].until_ms, 1801440000000);
    ck_assert_ptr_null(r->pin[1].dimension);
    ck_assert_int_eq(r->pin[1].until_ms, 0);
    ck_assert_int_eq(r->test_count, 4);
    ek_rules_free(r);
    ek_manifest_free(m);
}
END_TEST

START_TEST(a_feature_overrides_the_defaults_and_nothing_else)
{
    struct ek_manifest *m = manifest();
    struct ek_rules *r = parse(m, EXAMPLE);
    const struct ek_feature_rule *rating = &r->feature[1], *age = &r->feature[2];
    ck_assert(rating->mode == EK_MODE_ENFORCE && age->mode == EK_MODE_SHADOW);
    ck_assert(rating->report_threshold == 1.05 && age->report_threshold == 1.20);
    ck_assert(rating->action_threshold == 1.5);
    ck_assert(rating->actions[EK_SCALE] == EK_ACT_ROUTE && age->actions[EK_SCALE] == EK_ACT_REPAIR);
    ck_assert(rating->actions[EK_MISSING] == EK_ACT_NONE &&
              rating->actions[EK_CLIP] == EK_ACT_ALERT);
    ck_assert(!age->watch && rating->watch);
    ek_rules_free(r);
    ek_manifest_free(m);
}
END_TEST

START_TEST(tests_of_rules_are_kept_as_they_stand)
{
    struct ek_manifest *m = manifest();
    struct ek_rules *r = parse(m, EXAMPLE);
    const struct ek_rules_test *t = r->test;
    ck_assert_str_eq(t[0].name, "cents");
    ck_assert(t[0].line == 26 && t[0].column == 5);
    ck_assert(t[0].inject == EK_INJECT_SCALE && t[0].feature == 0 && t[0].by == 100);
    ck_assert(t[0].share == 1 && t[0].items == 1 && !t[0].dimension && !t[0].nothing);
    ck_assert(t[0].class == EK_SCALE && t[0].factor == 100 && t[0].within_percent == 3);
    ck_assert(t[0].action == EK_ACT_ROUTE && t[0].mode == -1 && isnan(t[0].exponent));
    ck_assert(t[0].queries == 200 && !t[0].has_segment);
    ck_assert(t[1].inject == EK_INJECT_NONE && t[1].feature == -1 && t[1].nothing);
    ck_assert_int_eq(t[1].queries, 300);
    ck_assert(t[2].inject == EK_INJECT_ZERO && t[2].share == .5 && t[2].items == .25);
    ck_assert(!strcmp(t[2].dimension, "arm") && !strcmp(t[2].value, "B"));
    ck_assert(t[2].mode == EK_MODE_SHADOW && t[2].action == -1 && t[2].queries == 500);
    ck_assert(t[2].has_segment && !strcmp(t[2].found_dimension, "arm"));
    ck_assert(t[3].has_segment && !t[3].found_dimension && t[3].class == EK_CLASS_NONE);
    ck_assert(t[3].inject == EK_INJECT_POWER && t[3].by == 2);
    ek_rules_free(r);
    ek_manifest_free(m);
}
END_TEST

START_TEST(the_most_specific_word_about_a_mode_counts)
{
    struct ek_manifest *m = manifest();
    struct ek_rules *r = parse(m, EXAMPLE);
    enum { PRICE, RATING, AGE };
    static const struct {
        int feature;
        const char *dimension, *value;
        enum ek_mode mode;
    } cases[] = {{AGE, NULL, NULL, EK_MODE_SHADOW},     {AGE, "arm", "B", EK_MODE_ENFORCE},
                 {AGE, "arm", "C", EK_MODE_CANARY},     {AGE, "arm", "A", EK_MODE_SHADOW},
                 {AGE, "app", "7.1", EK_MODE_OBSERVE},  {PRICE, NULL, NULL, EK_MODE_CANARY},
                 {PRICE, "app", "7.1", EK_MODE_CANARY}, {RATING, "arm", "B", EK_MODE_SHADOW},
                 {RATING, "arm", "C", EK_MODE_ENFORCE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_int_eq(ek_rules_mode(r, cases[i].feature, cases[i].dimension, cases[i].value),
                         cases[i].mode);
    ck_assert_int_eq(r->defaults.mode_in_count, 3);
    ck_assert_int_eq(r->feature[PRICE].mode_in_count, 0);
    ek_rules_free(r);
    ek_manifest_free(m);
}
END_TEST

START_TEST(a_hold_never_grows_to_less_than_it_is)
{
    struct ek_rules *r = parse(NULL, "defaults: {min_duration: 12h}");
    ck_assert(r->min_duration_ms == 12 * 3600000 && r->max_duration_ms == r->min_duration_ms);
    ek_rules_free(r);
}
END_TEST

/* Return whether that many entries are rejected as too many, the first error. */
static bool many_are_too_many(const char *head, const char *entry, int count)
{
    struct ek_buf text;
    struct ek_rules *r = NULL;
    struct ek_error e = {0};
    ek_buf_init(&text, 0);
    ck_assert_int_eq(ek_buf_text(&text, head), 0);
    for (int k = 0; k < count; k++)
        ck_assert_int_eq(ek_buf_text(&text, entry), 0);
    int rc = ek_rules_parse(&r, NULL, "r", (const char *)text.data, text.length, &e);
    ek_rules_free(r);
    ek_buf_release(&text);
    return rc == EK_ECONFIG && strstr(e.message, "at most 1000") != NULL;
}

START_TEST(more_pins_or_tests_than_there_may_be_are_told_at_once)
{
    static const int MOST[] = {EK_PINS_MAX, EK_TESTS_MAX};
    static const char *const heads[] = {"pins:\n", "tests:\n"};
    static const char *const entries[] = {"- {feature: a, action: none}\n",
                                          "- {name: a, inject: none, expect: none}\n"};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(many_are_too_many(heads[i], entries[i], MOST[i] - 1), false);
        ck_assert_int_eq(many_are_too_many(heads[i], entries[i], MOST[i]), false);
        ck_assert_int_eq(many_are_too_many(heads[i], entries[i], MOST[i] + 1), true);
    }
}
END_TEST

START_TEST(a_key_that_is_there_again_hides_no_other_fault)
{
    static const char bad[] = "features:\n"
                              "  price: {mode: observe, mode: shadow, watch: 1}\n"
                              "  price: {watch: maybe}\n"
                              "limits: {on_limit: stop}\n";
    static const long lines[] = {2, 2, 3, 4};
    struct ek_rules *r = NULL;
    struct ek_error_list faults;
    struct ek_error e;
    ek_error_list_init(&faults);
    ck_assert_int_eq(ek_rules_parse_all(&r, NULL, "r", bad, strlen(bad), &faults, &e), EK_ECONFIG);
    ck_assert_uint_eq(faults.count, 4);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(faults.errors[i].line, lines[i]);
    ck_assert_str_eq(faults.errors[2].message, "duplicate key 'price', first at 2:3");
    ek_error_list_release(&faults);
    static const char torn[] = "limits: {on_limit: keep, on_limit: keep}\nunits: [a\n";
    ek_error_list_init(&faults);
    ck_assert_int_eq(ek_rules_parse_all(&r, NULL, "r", torn, strlen(torn), &faults, &e),
                     EK_ECONFIG);
    ck_assert_uint_eq(faults.count, 2);
    ck_assert(e.line == 1 && faults.errors[1].line > 1);
    ek_error_list_release(&faults);
}
END_TEST

START_TEST(a_file_with_a_byte_order_mark_is_read)
{
    struct ek_rules *r = parse(NULL, "\xef\xbb\xbf"
                                     "version: 1\ndefaults: {min_duration: 1s}\n");
    ck_assert_int_eq(r->min_duration_ms, 1000);
    ek_rules_free(r);
}
END_TEST

START_TEST(nothing_is_acted_on_below_what_is_spoken_of)
{
    struct ek_manifest *m = manifest();
    struct ek_rules *r =
        parse(m, "defaults: {report_threshold: 2}\nfeatures: {price: {report_threshold: 3}}");
    ck_assert(r->feature[0].action_threshold == 3 && r->feature[1].action_threshold == 2);
    ek_rules_free(r);
    ek_manifest_free(m);
}
END_TEST

START_TEST(without_a_manifest_the_form_is_still_checked)
{
    struct ek_rules *r = parse(NULL, EXAMPLE);
    ck_assert_int_eq(r->feature_count, 0);
    ck_assert_int_eq(r->pin[0].feature, -1);
    ck_assert_int_eq(r->defaults.mode, EK_MODE_SHADOW);
    ek_rules_free(r);
    static const char bad[] = "features: {anything: {mod: enforce}}";
    struct ek_error e;
    ck_assert_int_eq(ek_rules_parse(&r, NULL, "r", bad, strlen(bad), &e), EK_ECONFIG);
    ck_assert_str_eq(e.message, "unknown key 'mod', did you mean 'mode'?");
}
END_TEST

START_TEST(a_check_tells_all_faults_by_their_place_and_gives_no_rules)
{
    static const char bad[] = "limits: {max_routed_share: 2}\n"
                              "defaults: {min_duration: 1, mode: x}\n";
    struct ek_manifest *m = manifest();
    struct ek_rules *r = NULL;
    struct ek_error_list faults;
    struct ek_error e;
    ek_error_list_init(&faults);
    ck_assert_int_eq(ek_rules_parse_all(&r, m, "r", bad, strlen(bad), &faults, &e), EK_ECONFIG);
    ck_assert_ptr_null(r);
    ck_assert_uint_eq(faults.count, 3);
    ck_assert_int_eq(faults.errors[0].line, 1);
    ck_assert_int_eq(faults.errors[1].column, 26);
    ck_assert_int_eq(faults.errors[2].column, 35);
    ck_assert_str_eq(e.message, faults.errors[0].message);
    ek_error_list_release(&faults);
    ek_manifest_free(m);
}
END_TEST

START_TEST(reading_ends_after_a_hundred_faults)
{
    struct ek_buf text;
    struct ek_rules *r = NULL;
    struct ek_error_list faults;
    ek_buf_init(&text, 0);
    ek_error_list_init(&faults);
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(ek_buf_printf(&text, "wrong%d: 1\n", i), EK_OK);
    ck_assert_int_eq(
        ek_rules_parse_all(&r, NULL, "r", (const char *)text.data, text.length, &faults, NULL),
        EK_ECONFIG);
    ck_assert_uint_eq(faults.count, EK_ERRORS_MAX);
    ck_assert_int_eq(faults.errors[EK_ERRORS_MAX - 1].line, EK_ERRORS_MAX);
    ek_error_list_release(&faults);
    ek_buf_release(&text);
}
END_TEST

static struct ek_manifest *named_by(const char *rules, struct ek_error *e)
{
    struct ek_manifest *m = NULL;
    return ek_rules_manifest(&m, "rules.yaml", rules, strlen(rules), e) ? NULL : m;
}

START_TEST(who_has_no_manifest_gets_one_of_the_features_that_the_rules_name)
{
    struct ek_manifest *m = named_by(EXAMPLE, NULL);
    ck_assert_ptr_nonnull(m);
    ck_assert_int_eq(m->item_count, 4);
    ck_assert_int_eq(m->routable_count, 4);
    ck_assert_int_eq(m->query_count, 2);
    ck_assert(ek_manifest_item(m, "price") == 0 && ek_manifest_item(m, "distance") == 3);
    ck_assert(ek_manifest_query(m, "market") >= 0 && ek_manifest_query(m, "stay_nights") >= 0);
    struct ek_rules *r = parse(m, EXAMPLE);
    ck_assert_int_eq(r->pin[0].feature, ek_manifest_feature(m, "distance"));
    ek_rules_free(r);
    ek_manifest_free(m);
    m = named_by("defaults: {stratify_by: arm}\nsegments: [arm]\n"
                 "tests: [{name: a, inject: {feature: price, scale: 2}, expect: {}}]\n",
                 NULL);
    ck_assert(m && m->feature_count == 1 && !strcmp(m->item[0]->name, "price"));
    ek_manifest_free(m);
}
END_TEST

START_TEST(a_name_that_no_manifest_takes_is_told_where_the_rules_have_it)
{
    struct ek_error e = {0};
    ck_assert_ptr_null(named_by("features:\n  a: {}\n  'b c': {}\n", &e));
    ck_assert(e.line == 3 && e.column == 3 && !strcmp(e.file, "rules.yaml"));
    ck_assert_ptr_null(named_by("limits: {}\n", &e));
    ck_assert(e.line == 1 && strstr(e.message, "name no feature; add one under") != NULL);
}
END_TEST

START_TEST(dates_are_days_and_seconds_in_utc)
{
    static const char *const bad[] = {
        "",         "2027-02-29",           "2027-13-01", "2027-00-01",
        "27-01-01", "2027-01-01T24:00:00Z", "1969-12-31", "2027-01-01T00:00:00",
        "2027-1-1"};
    int64_t ms = 7;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(ek_parse_until_ms(bad[i], &ms) == EK_EFORMAT, "'%s' was taken", bad[i]);
    ck_assert_int_eq(ms, 7);
    ck_assert_int_eq(ek_parse_until_ms("1970-01-01", &ms), EK_OK);
    ck_assert_int_eq(ms, 86400000);
    ck_assert_int_eq(ek_parse_until_ms("2028-02-29T12:34:56Z", &ms), EK_OK);
    ck_assert_int_eq(ms, 1835440496000);
}
END_TEST

START_TEST(times_are_written_as_they_are_read)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {{0, "1970-01-01T00:00:00.000Z"},
                 {1835440496007, "2028-02-29T12:34:56.007Z"},
                 {1830297599999, "2027-12-31T23:59:59.999Z"},
                 {253402300799999, "9999-12-31T23:59:59.999Z"},
                 {253402300800000, "none"},
                 {INT64_MAX, "none"},
                 {-1, "none"}};
    char text[EK_DATE_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_str_eq(ek_date_text(cases[i].ms, text), cases[i].text);
}
END_TEST

START_TEST(pins_that_contradict_each_other_are_refused_without_a_manifest_too)
{
    static const char twice[] = "segments: [arm]\n"
                                "pins:\n"
                                "  - {feature: price, action: none}\n"
                                "  - {feature: taxes, action: none}\n"
                                "  - {feature: price, segment: {arm: B}, action: none}\n"
                                "  - {feature: price, action: route}\n";
    struct ek_rules *r;
    struct ek_error e;
    char text[300];
    ck_assert_int_eq(ek_rules_parse(&r, NULL, "r.yaml", twice, strlen(twice), &e), EK_ECONFIG);
    ck_assert_str_eq(
        ek_error_text(&e, text, sizeof text),
        "r.yaml:6:5: duplicate pin of feature 'price' in the same segment, first at 3:5");
}
END_TEST

Suite *suite_rules(void)
{
    return ek_suite(
        "rules", a_file_that_says_nothing_means_the_built_in_rules,
        every_key_of_the_example_is_taken, a_feature_overrides_the_defaults_and_nothing_else,
        tests_of_rules_are_kept_as_they_stand, the_most_specific_word_about_a_mode_counts,
        a_hold_never_grows_to_less_than_it_is,
        more_pins_or_tests_than_there_may_be_are_told_at_once,
        a_key_that_is_there_again_hides_no_other_fault, a_file_with_a_byte_order_mark_is_read,
        nothing_is_acted_on_below_what_is_spoken_of, without_a_manifest_the_form_is_still_checked,
        a_check_tells_all_faults_by_their_place_and_gives_no_rules,
        reading_ends_after_a_hundred_faults,
        who_has_no_manifest_gets_one_of_the_features_that_the_rules_name,
        a_name_that_no_manifest_takes_is_told_where_the_rules_have_it,
        pins_that_contradict_each_other_are_refused_without_a_manifest_too,
        dates_are_days_and_seconds_in_utc, times_are_written_as_they_are_read);
}
