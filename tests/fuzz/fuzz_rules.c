/* Rules with their tests: both parsers agree, accepted rules satisfy the limits, and a detector
 * runs with them. A sample of the tests runs on synthetic lists, as in `check`. */
#include "base/hash.h"
#include "rules/rules.h"
#include "rules/rules_keys.h"
#include "offline/world/rules_test.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

#include <math.h>
#include <string.h>

static const char FEATURES[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: nights, index: 2, role: query}\n"
                               "  - {name: rating, index: 3, role: item}\n"
                               "  - {name: kind, index: 4, role: item, type: category}\n";

enum { RUN_ONE_OF = 512, QUERIES_RUN = 400 };

/* Uses the key table as dictionary, so that new keys are covered. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static const char values[] = "price nights rating kind arm app B 7.1 none query_feature:nights "
                                 "cents km_to_mi route 2027-01-31 [arm,app] {arm:B} [cents] 50 200";
    static struct ek_fuzz_words w;
    if (!w.keys) {
        ek_fuzz_keys(&w, "price nights rating kind arm B scale power offset missing zero negative");
        for (size_t i = 0; i < ek_rules_keys()->count; i++) {
            const struct ek_key_row *k = &ek_rules_keys()->keys[i];
            ek_fuzz_key(&w, ek_key_name(k));
            ek_fuzz_values(&w, k->type == EK_KEY_CHOICE ? k->choices : NULL);
        }
        ek_fuzz_values(&w, values);
    }
    return ek_fuzz_mutate_lines(data, size, most, seed, &w);
}

static void check_rule(const struct ek_feature_rule *f)
{
    ek_fuzz_require(f->report_threshold > 1 && f->action_threshold >= 1 &&
                        isfinite(f->report_threshold),
                    "an effect that is none");
    ek_fuzz_require(f->action_min_fraction >= 0 && f->action_min_fraction <= 1,
                    "a share that is none");
}

static void check(const struct ek_rules *r, const struct ek_manifest *m)
{
    ek_fuzz_require(r->feature_count == m->feature_count, "rules for other features");
    ek_fuzz_require(r->segment_count <= EK_DIMENSIONS_MAX && r->min_duration_ms > 0 &&
                        r->max_duration_ms >= r->min_duration_ms && r->false_alarms > 0,
                    "a value out of its range");
    check_rule(&r->defaults);
    for (int i = 0; i < r->feature_count; i++) {
        check_rule(&r->feature[i]);
        for (int d = 0; d < r->segment_count; d++)
            ek_fuzz_require(ek_rules_mode(r, i, r->segment[d], "B") <= EK_MODE_ENFORCE, "no mode");
    }
    for (int i = 0; i < r->test_count; i++) {
        const struct ek_rules_test *t = &r->test[i];
        ek_fuzz_require(t->name && t->line > 0 && t->feature < m->feature_count && t->share >= 0 &&
                            t->share <= 1 && t->queries >= 0,
                        "a test out of its range");
    }
}

/* Each costs a tenth of a second, so only a sample of small ones runs. */
static void run(const struct ek_rules *r, const struct ek_manifest *m, const uint8_t *data,
                size_t size)
{
    struct ek_error_list faults;
    struct ek_error e = {0};
    if (r->test_count != 1 || r->test[0].queries > QUERIES_RUN || ek_crc32(data, size) % RUN_ONE_OF)
        return;
    ek_error_list_init(&faults);
    int rc = ek_rules_tests_run(r, m, "input", NULL, &faults, &e);
    ek_fuzz_require(!rc || e.message[0], "not run, without a word");
    for (size_t i = 0; i < faults.count; i++)
        ek_fuzz_require(faults.errors[i].message[0] && faults.errors[i].line > 0,
                        "a test that fails without a word");
    ek_error_list_release(&faults);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ek_manifest *known;
    struct ek_manifest *named;
    struct ek_rules *rules, *again;
    struct ek_error_list faults;
    struct ek_error e = {0};
    const char *text = (const char *)data;
    if (!known)
        ek_fuzz_require(!ek_manifest_parse(&known, "m", FEATURES, strlen(FEATURES), NULL),
                        "the manifest cannot be read");
    ek_error_list_init(&faults);
    int all = ek_rules_parse_all(&again, known, "input", text, size, &faults, &e);
    ek_fuzz_require(!all || e.message[0], "refused without a word");
    if (!all)
        ek_rules_free(again);
    for (size_t i = 1; i < faults.count; i++)
        ek_fuzz_require(faults.errors[i - 1].line <= faults.errors[i].line, "faults out of order");
    int first = ek_rules_parse(&rules, known, "input", text, size, NULL);
    ek_fuzz_require(!first == !all, "taken by one reading and refused by the other");
    if (!first) {
        ek_fuzz_take();
        check(rules, known);
        run(rules, known, data, size);
        ek_rules_free(rules);
    }
    if (!ek_rules_manifest(&named, "input", text, size, NULL))
        ek_manifest_free(named);
    if (!ek_rules_parse(&rules, NULL, "input", text, size, NULL))
        ek_rules_free(rules);
    ek_error_list_release(&faults);
    return 0;
}
