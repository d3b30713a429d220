/* Synthetic lists of rules tests are healthy for any manifest, and deterministic. */
#include "offline/world/synthetic_lists.h"

#include "base/rng.h"
#include "detect/detector.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANIFESTS = 3, LISTS = 20000, FEATURES = 12, TEXT = 4096 };

/* Return a manifest with random features of every kind; the first is a plain number. */
static struct ek_manifest *random_manifest(struct ek_rng *r)
{
    static const char *const kinds[] = {"routable: true", "routable: true, positive: true",
                                        "unit: flag", "type: category",
                                        "routable: true, missing: expected"};
    char text[TEXT];
    struct ek_manifest *m;
    struct ek_error e;
    int items = 1 + (int)ek_rng_uniform_int(r, FEATURES), index = 1;
    int n = snprintf(text, sizeof text, "features:\n");
    for (int i = 0; i < items; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  - {name: x%d, index: %d, role: item, %s}\n", i, index++,
                      kinds[i ? ek_rng_uniform_int(r, 5) : 0]);
    for (uint64_t i = ek_rng_uniform_int(r, 5); i > 0; i--)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  - {name: q%d, index: %d, role: query%s}\n", (int)i, index++,
                      i == 1 ? ", unit: flag" : "");
    ck_assert_msg(!ek_manifest_parse(&m, "m", text, (size_t)n, &e), "%s: %s", e.message, text);
    return m;
}

static struct ek_rules *rules_of(const struct ek_manifest *m, const char *text)
{
    struct ek_rules *rules;
    struct ek_error e;
    ck_assert_msg(!ek_rules_parse(&rules, m, "rules", text, strlen(text), &e), "%s", e.message);
    return rules;
}

/* No stratification, by a separate segment, by a segment of the rules. */
static const char *const RULES[] = {"segments: [arm]\n",
                                    "defaults: {stratify_by: market}\nsegments: [arm, app]\n",
                                    "defaults: {stratify_by: arm}\nsegments: [arm]\n"};

static void no_finding_in(uint64_t seed, int lists)
{
    struct ek_rng r;
    struct ek_synthetic_lists *w;
    struct ek_profile *p;
    struct ek_detector *d;
    struct ek_finding f;
    struct ek_list q;
    struct ek_error e;
    ek_rng_seed(&r, seed);
    struct ek_manifest *m = random_manifest(&r);
    struct ek_rules *rules = rules_of(m, RULES[seed % 3]);
    ck_assert_int_eq(ek_synthetic_lists_new(&w, m, rules, seed, &e), EK_OK);
    ck_assert_msg(!ek_synthetic_lists_profile(w, &p, &e), "%s", e.message);
    ck_assert_msg(!ek_detector_new(&d, m, p, rules, &e), "%s", e.message);
    ek_list_init(&q);
    for (int i = 0; i < lists; i++) {
        ck_assert_int_eq(ek_synthetic_lists_list(w, (uint64_t)i, &q, &e), EK_OK);
        ck_assert_int_eq(ek_detector_observe(d, &q, q.time_ms, &e), EK_OK);
        while (ek_detector_next(d, &f))
            ck_assert_msg(f.state != EK_CONFIRMED, "seed %d, list %d: %s on %s", (int)seed, i,
                          ek_class_name(f.class), m->item[f.feature]->name);
    }
    ek_list_release(&q);
    ek_detector_free(d);
    ek_profile_free(p);
    ek_synthetic_lists_free(w);
    ek_rules_free(rules);
    ek_manifest_free(m);
}

/* EK_SYNTHETIC_LISTS=200000 EK_SYNTHETIC_MANIFESTS=20 is the long form. */
static int asked(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? (int)strtol(text, NULL, 10) : otherwise;
}

START_TEST(a_made_up_world_has_no_finding)
{
    int manifests = asked("EK_SYNTHETIC_MANIFESTS", MANIFESTS),
        lists = asked("EK_SYNTHETIC_LISTS", LISTS);
    for (int i = 0; i < manifests; i++)
        no_finding_in((uint64_t)i + 1, lists);
}
END_TEST

static uint64_t bits(const struct ek_list *q)
{
    uint64_t sum = (uint64_t)q->items;
    for (int i = 0; i < q->items * q->item_features; i++) {
        uint32_t b;
        memcpy(&b, &q->x[i], sizeof b);
        sum = sum * 31 + b;
    }
    for (int i = 0; i < q->query_features; i++)
        sum = sum * 31 + (uint64_t)q->query[i];
    return sum * 31 + (unsigned char)q->segments[0].value.text[0];
}

START_TEST(a_list_follows_from_the_seed_and_its_number)
{
    struct ek_rng r;
    struct ek_synthetic_lists *a, *b;
    struct ek_list q;
    struct ek_error e;
    ek_rng_seed(&r, 5);
    struct ek_manifest *m = random_manifest(&r);
    struct ek_rules *rules = rules_of(m, RULES[1]);
    ck_assert_int_eq(ek_synthetic_lists_new(&a, m, rules, 7, &e), EK_OK);
    ck_assert_int_eq(ek_synthetic_lists_new(&b, m, rules, 7, &e), EK_OK);
    ek_list_init(&q);
    uint64_t first[20];
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(ek_synthetic_lists_list(a, (uint64_t)i, &q, &e), EK_OK);
        first[i] = bits(&q);
    }
    for (int i = 19; i >= 0; i--) {
        ck_assert_int_eq(ek_synthetic_lists_list(b, (uint64_t)i, &q, &e), EK_OK);
        ck_assert_uint_eq(bits(&q), first[i]);
        ck_assert(i == 0 || first[i] != first[i - 1]);
    }
    ek_list_release(&q);
    ek_synthetic_lists_free(a);
    ek_synthetic_lists_free(b);
    ek_rules_free(rules);
    ek_manifest_free(m);
}
END_TEST

START_TEST(a_value_that_a_test_names_has_its_lists)
{
    static const char text[] = "segments: [arm]\n"
                               "tests: [{name: b, inject: {feature: x, scale: 100, segment: {arm: "
                               "treated}}, expect: {class: scale}}]\n";
    static const char manifest[] = "features: [{name: x, index: 1, role: item}]\n";
    struct ek_manifest *m;
    struct ek_synthetic_lists *w;
    struct ek_list q;
    struct ek_error e;
    int hit = 0;
    ck_assert_int_eq(ek_manifest_parse(&m, "m", manifest, strlen(manifest), &e), EK_OK);
    struct ek_rules *rules = rules_of(m, text);
    ck_assert_int_eq(ek_synthetic_lists_new(&w, m, rules, 7, &e), EK_OK);
    ek_list_init(&q);
    for (int i = 0; i < 300; i++) {
        ck_assert_int_eq(ek_synthetic_lists_list(w, (uint64_t)i, &q, &e), EK_OK);
        hit += !ek_text_compare(ek_list_segment(&q, "arm"), "treated");
    }
    ck_assert_int_gt(hit, 70);
    ck_assert_int_lt(hit, 130);
    ek_list_release(&q);
    ek_synthetic_lists_free(w);
    ek_rules_free(rules);
    ek_manifest_free(m);
}
END_TEST

Suite *suite_world(void)
{
    return ek_suite("world", a_made_up_world_has_no_finding,
                    a_list_follows_from_the_seed_and_its_number,
                    a_value_that_a_test_names_has_its_lists);
}
