/* Detection with levels by segment: markets that differ in training are no evidence, whatever their
 * mix, and a fault in one of them is found. */
#include "base/rng.h"
#include "detect/detector.h"
#include "offline/fit/profile_fit.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char MANIFEST[] = "features:\n"
                               "  - {name: price, index: 1, role: item}\n"
                               "  - {name: match, index: 2, role: item}\n";
static const char RULES[] = "version: 1\nsegments: [market, arm]\n";

enum { MARKETS = 5, ITEMS = 6, FEATURES = 2, TRAINING = 6000, LISTS = 20000, TEXT = 16 };

struct world {
    struct ek_manifest *m;
    struct ek_rng rng;
    struct ek_list q;
    char market[TEXT];
    double level[MARKETS], part[MARKETS]; /* ln; cumulative part of the lists */
    int faulty;                           /* market of a factor 2; -1: none */
};

/* One market is three times as dear as usual, the others are near to each other. */
static void begin(struct world *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    ck_assert_int_eq(ek_manifest_parse(&w->m, "m", MANIFEST, strlen(MANIFEST), NULL), EK_OK);
    ek_rng_seed(&w->rng, seed);
    ek_list_init(&w->q);
    for (int i = 0; i < MARKETS; i++) {
        w->level[i] = 4 + (i ? .2 * ek_rng_normal(&w->rng) : log(3));
        w->part[i] = (i ? w->part[i - 1] : 0) + .1 + ek_rng_uniform(&w->rng);
    }
    w->faulty = -1;
}

static void end(struct world *w)
{
    ek_list_release(&w->q);
    ek_manifest_free(w->m);
}

static struct ek_list *next(struct world *w)
{
    struct ek_list *q = &w->q;
    int market = 0;
    double at = w->part[MARKETS - 1] * ek_rng_uniform(&w->rng);
    while (w->part[market] < at)
        market++;
    double level = w->level[market] + .2 * ek_rng_normal(&w->rng), match = ek_rng_normal(&w->rng);
    level += market == w->faulty ? log(2) : 0;
    ck_assert_int_eq(ek_list_resize(q, ITEMS, FEATURES, 0), EK_OK);
    for (int i = 0; i < ITEMS; i++) {
        q->x[i * FEATURES] = (float)exp(level + .2 * ek_rng_normal(&w->rng));
        q->x[i * FEATURES + 1] = (float)exp(match + .1 * ek_rng_normal(&w->rng));
    }
    snprintf(w->market, TEXT, "m%d", market);
    q->segment_count = 2;
    q->segments[0] = (struct ek_segment){ek_text_from("market"), ek_text_from(w->market)};
    q->segments[1] = (struct ek_segment){ek_text_from("arm"),
                                         ek_text_from(ek_rng_uniform_int(&w->rng, 2) ? "A" : "B")};
    return q;
}

static struct ek_profile *train(struct world *w, const struct ek_rules *rules)
{
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    ck_assert_int_eq(ek_profile_fit_new(&fit, w->m, NULL, NULL), EK_OK);
    for (int i = 0; i < TRAINING; i++)
        ck_assert_int_eq(ek_profile_fit_add(fit, next(w), NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_finish(fit, &p, NULL), EK_OK);
    ek_profile_fit_free(fit);
    ck_assert_ptr_nonnull(p->segment_levels);
    ek_profile_choose_segments(p, rules->segment, rules->segment_count);
    return p;
}

/* Return the number of lists until a finding is confirmed, 0 without one; *found is it. */
static int lists_until_confirmed(struct world *w, struct ek_detector *d, int lists,
                                 struct ek_finding *found)
{
    for (int i = 0; i < lists; i++) {
        ck_assert_int_eq(ek_detector_observe(d, next(w), i, NULL), EK_OK);
        while (ek_detector_next(d, found))
            if (found->state == EK_CONFIRMED)
                return i + 1;
    }
    return 0;
}

static void try_world(uint64_t seed)
{
    struct world w;
    struct ek_rules *rules = NULL;
    struct ek_detector *d = NULL;
    struct ek_finding found;
    begin(&w, seed);
    ck_assert_int_eq(ek_rules_parse(&rules, w.m, "rules", RULES, strlen(RULES), NULL), EK_OK);
    struct ek_profile *p = train(&w, rules);
    ck_assert_int_eq(ek_detector_new(&d, w.m, p, rules, NULL), EK_OK);
    ck_assert_int_eq(lists_until_confirmed(&w, d, LISTS / 2, &found), 0);
    for (int i = 0; i < MARKETS; i++) /* a half of the lists becomes dear */
        w.part[i] = .5 + .5 * (i + 1.) / MARKETS;
    ck_assert_int_eq(lists_until_confirmed(&w, d, LISTS / 2, &found), 0);
    w.faulty = (int)ek_rng_uniform_int(&w.rng, MARKETS);
    int lists = lists_until_confirmed(&w, d, 4000, &found);
    ck_assert_int_gt(lists, 0);
    snprintf(w.market, TEXT, "m%d", w.faulty);
    ck_assert_str_eq(found.value, w.market);
    ck_assert_double_eq_tol(found.factor, 2, .2);
    ek_detector_free(d);
    ek_profile_free(p);
    ek_rules_free(rules);
    end(&w);
}

START_TEST(a_dear_market_is_no_evidence_and_a_fault_in_one_market_is_found)
{
    for (uint64_t seed = 1; seed <= 5; seed++)
        try_world(seed);
}
END_TEST

Suite *suite_segment_levels(void)
{
    return ek_suite("segment_levels",
                    a_dear_market_is_no_evidence_and_a_fault_in_one_market_is_found);
}
