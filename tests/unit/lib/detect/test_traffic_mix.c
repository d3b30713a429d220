/* A mix of lists moves the levels of several features along their covariance; a unit does not. */
#include "base/rng.h"
#include "detect/detector.h"
#include "detect/traffic_mix.h"
#include "offline/fit/profile_fit.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    FEATURES = 7,
    LOG_PRICE = 6,
    SEEDS = 40,
    ITEMS = 6,
    TRAINING = 8000,
    LISTS = 1500,
    RARELY = 12
};

/* Price, total and taxes of dear lists, stars, distance, a feature of its own, and the logarithm of
 * the price, with a level that moves by a fifth of that of the price. */
static const double LOADING[FEATURES] = {.5, .5, .45, .15, -.4, 0, .1};
static const double NOISE[FEATURES] = {.25, .26, .1, .1, .3, .5, .002};
static const double SD[FEATURES] = {.56, .56, .5, .18, .5, .5, .11}; /* of the levels */
static const double LOG_SLOPE = .2;

struct lists {
    struct ek_rng rng;
    struct ek_mix_rows rows;
    struct ek_list_stats row[EK_MIX_BEFORE + EK_MIX_AFTER][FEATURES];
};

/* Set the levels of a list. Total and taxes are functions of the price, but for a little. */
static void draw(struct ek_rng *rng, double dear, double level[FEATURES])
{
    double price = LOADING[0] * dear + NOISE[0] * ek_rng_normal(rng);
    for (int f = 0; f < FEATURES; f++)
        level[f] = LOADING[f] * dear + NOISE[f] * ek_rng_normal(rng);
    level[0] = price;
    level[1] = price + .05 * ek_rng_normal(rng);
    level[2] = .9 * price + .05 * ek_rng_normal(rng);
    level[LOG_PRICE] = LOG_SLOPE * price + NOISE[LOG_PRICE] * ek_rng_normal(rng);
}

/* Draw lists, of which those after the change are dearer and have factors [FEATURES]. */
static void setup(struct lists *l, uint64_t seed, int after, double dearer,
                  const double factor[FEATURES])
{
    memset(l, 0, sizeof *l);
    ek_rng_seed(&l->rng, seed);
    l->rows.features = FEATURES;
    l->rows.repetition = 1;
    for (int i = 0; i < EK_MIX_BEFORE + after; i++) {
        bool late = i >= EK_MIX_BEFORE;
        double level[FEATURES];
        draw(&l->rng, ek_rng_normal(&l->rng) + (late ? dearer : 0), level);
        if (late)
            level[LOG_PRICE] += LOG_SLOPE * log(factor[0]);
        for (int f = 0; f < FEATURES; f++)
            l->row[i][f] = (struct ek_list_stats){
                .r = (float)(level[f] + (late ? log(factor[f]) : 0)), .usable = 5};
        if (late)
            l->rows.after[l->rows.after_count++] = l->row[i];
        else
            l->rows.before[l->rows.before_count++] = l->rows.usual[l->rows.usual_count++] =
                l->row[i];
    }
}

static int count_explained(int feature, int after, double dearer, const double factor[FEATURES])
{
    int explained = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct lists l;
        setup(&l, seed, after, dearer, factor);
        explained += ek_mix_explain(&l.rows, feature, SD[feature]) == EK_MIX_EXPLAINED;
    }
    return explained;
}

START_TEST(a_shift_of_the_mix_is_explained)
{
    static const double NO_FACTOR[FEATURES] = {1, 1, 1, 1, 1, 1, 1};
    for (int f = 0; f < 5; f++) {
        ck_assert_int_ge(count_explained(f, 64, 1, NO_FACTOR), SEEDS * 3 / 4);
        ck_assert_int_ge(count_explained(f, EK_MIX_AFTER, .7, NO_FACTOR), SEEDS * 3 / 4);
    }
}
END_TEST

START_TEST(a_unit_is_not_explained)
{
    static const double FACTOR[][FEATURES] = {
        {1.3, 1, 1, 1, 1, 1, 1},          {2, 1, 1, 1, 1, 1, 1},      {100, 1, 1, 1, 1, 1, 1},
        {1.609, 1.609, 1, 1, 1, 1, 1},    {.3, .3, .3, 1, 1, 1, 1},   {100, 100, 100, 1, 1, 1, 1},
        {1.5, 1.5, 1.5, 1, 1.609, 10, 1}, {1.3, 1, 1, 2, 1, 1.609, 1}};
    for (size_t c = 0; c < sizeof FACTOR / sizeof *FACTOR; c++)
        for (int f = 0; f < FEATURES; f++)
            if (FACTOR[c][f] != 1)
                for (int after = 16; after <= EK_MIX_AFTER; after *= 4) {
                    int wrong = count_explained(f, after, 0, FACTOR[c]);
                    ck_assert_msg(wrong <= 1, "case %zu, feature %d, %d lists: %d", c, f, after,
                                  wrong);
                }
}
END_TEST

/* A function of the price is no evidence, also if some lists lack it. */
START_TEST(a_function_with_missing_values_explains_nothing)
{
    static const double TWICE[FEATURES] = {2, 1, 1, 1, 1, 1, 1};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct lists l;
        setup(&l, seed, 64, 0, TWICE);
        for (int i = 0; i < EK_MIX_BEFORE + 64; i++)
            l.row[i][LOG_PRICE].usable = ek_rng_uniform(&l.rng) < .8 ? 5 : 0;
        ck_assert_int_eq(ek_mix_explain(&l.rows, 0, SD[0]), EK_MIX_POSSIBLE);
    }
}
END_TEST

/* Lists of a fault that came and went make its factor no part of the usual traffic. */
START_TEST(a_fault_that_was_there_before_is_out_of_reach)
{
    static const double TEN[FEATURES] = {10, 10, 10, 1, 1, 1, 1};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct lists l;
        setup(&l, seed, 64, 0, TEN);
        for (int i = 0; i < 50; i++)
            for (int f = 0; f < FEATURES; f++)
                l.row[i][f].r += (float)log(f == LOG_PRICE ? pow(10, LOG_SLOPE) : TEN[f]);
        ck_assert_int_eq(ek_mix_explain(&l.rows, 0, SD[0]), EK_MIX_EXCLUDED);
    }
}
END_TEST

START_TEST(too_few_lists_explain_nothing)
{
    static const double TWICE[FEATURES] = {2, 1, 1, 1, 1, 1, 1};
    struct lists l;
    setup(&l, 1, 7, 0, TWICE);
    ck_assert_int_eq(ek_mix_explain(&l.rows, 0, SD[0]), EK_MIX_UNKNOWN);
    setup(&l, 1, 8, 0, TWICE);
    ck_assert_int_eq(ek_mix_explain(&l.rows, 0, SD[0]), EK_MIX_POSSIBLE);
    l.rows.before_count = 15;
    ck_assert_int_eq(ek_mix_explain(&l.rows, 0, SD[0]), EK_MIX_UNKNOWN);
}
END_TEST

static struct ek_list *next_list(struct ek_rng *rng, struct ek_list *q, double dear)
{
    static char id[ITEMS][24];
    double level[FEATURES];
    draw(rng, dear, level);
    ek_list_resize(q, ITEMS, FEATURES, 0);
    for (int i = 0; i < ITEMS; i++) {
        for (int f = 0; f < FEATURES; f++)
            q->x[i * FEATURES + f] = (float)exp(3 + level[f] + .2 * ek_rng_normal(rng));
        q->x[i * FEATURES + LOG_PRICE] = powf(q->x[i * FEATURES], (float)LOG_SLOPE);
        int length = snprintf(id[i], sizeof id[i], "%llx", (unsigned long long)ek_rng_u64(rng));
        q->item_id[i] = (struct ek_text){id[i], (size_t)length};
    }
    q->id = q->item_id[0];
    return q;
}

/* Where a change is: everywhere, in a platform that begins with it, or in a rare and dear one. */
enum place { EVERYWHERE, NEW, RARE };

/* Return how much dearer list i always is. */
static double usual_of(enum place place, int i)
{
    return place == RARE && i % RARELY == 0 ? 1.5 : 0;
}

static void name_platform(struct ek_list *q, bool tv)
{
    q->segment_count = 1;
    q->segments[0] = (struct ek_segment){{"platform", 8}, {tv ? "tv" : "web", tv ? 2 : 3}};
}

/* Count the confirmed findings that the mix explains, or not. */
static void count_findings(double dearer, float factor, enum place place, int count[2])
{
    static const char MANIFEST[] = "features:\n"
                                   "  - {name: price, index: 1, role: item}\n"
                                   "  - {name: total, index: 2, role: item}\n"
                                   "  - {name: taxes, index: 3, role: item}\n"
                                   "  - {name: stars, index: 4, role: item}\n"
                                   "  - {name: distance, index: 5, role: item}\n"
                                   "  - {name: lot, index: 6, role: item}\n"
                                   "  - {name: log_price, index: 7, role: item}\n";
    static const char RULES[] = "version: 1\nsegments: [platform]\n";
    struct ek_manifest *m;
    struct ek_profile_fit *fit;
    struct ek_profile *p;
    struct ek_rules *rules;
    struct ek_detector *d;
    struct ek_finding f;
    struct ek_rng rng;
    struct ek_list q;
    ek_list_init(&q);
    ek_rng_seed(&rng, 5);
    ck_assert_int_eq(ek_manifest_parse(&m, "m", MANIFEST, strlen(MANIFEST), NULL), EK_OK);
    ck_assert_int_eq(ek_rules_parse(&rules, m, "r", RULES, strlen(RULES), NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_new(&fit, m, NULL, NULL), EK_OK);
    for (int i = 0; i < TRAINING; i++) {
        next_list(&rng, &q, ek_rng_normal(&rng) + usual_of(place, i));
        name_platform(&q, place == RARE && i % RARELY == 0);
        ck_assert_int_eq(ek_profile_fit_add(fit, &q, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_profile_fit_finish(fit, &p, NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new(&d, m, p, rules, NULL), EK_OK);
    for (int i = 0; i < 2 * LISTS; i++) {
        bool tv = place == NEW ? i >= LISTS && i % 4 == 0 : place == RARE && i % RARELY == 0;
        bool late = i >= LISTS && (tv || place == EVERYWHERE);
        double dear = ek_rng_normal(&rng) + usual_of(place, i);
        next_list(&rng, &q, dear + (late ? dearer : 0));
        name_platform(&q, tv);
        for (int item = 0; item < ITEMS; item++) {
            float *x = &q.x[item * FEATURES];
            *x *= late ? factor : 1;
            x[LOG_PRICE] = powf(*x, (float)LOG_SLOPE);
        }
        ck_assert_int_eq(ek_detector_observe(d, &q, i * 1000, NULL), EK_OK);
        while (ek_detector_next(d, &f))
            if (f.state == EK_CONFIRMED)
                count[f.mix]++;
    }
    ek_detector_free(d);
    ek_profile_fit_free(fit);
    ek_profile_free(p);
    ek_rules_free(rules);
    ek_manifest_free(m);
    ek_list_release(&q);
}

START_TEST(findings_of_another_mix_are_marked_and_those_of_a_unit_are_not)
{
    for (enum place p = EVERYWHERE; p <= RARE; p++) {
        int mix[2] = {0}, unit[2] = {0};
        count_findings(p == NEW ? 1.5 : 1, 1, p, mix);
        ck_assert_msg(!mix[false] && (p == RARE || mix[true] >= 3), "%d: %d, %d", p, mix[false],
                      mix[true]);
        count_findings(0, 2, p, unit);
        ck_assert_msg(unit[false] >= 1 && !unit[true], "%d: %d, %d", p, unit[false], unit[true]);
    }
}
END_TEST

Suite *suite_traffic_mix(void)
{
    return ek_suite("traffic_mix", a_shift_of_the_mix_is_explained, a_unit_is_not_explained,
                    a_function_with_missing_values_explains_nothing,
                    a_fault_that_was_there_before_is_out_of_reach, too_few_lists_explain_nothing,
                    findings_of_another_mix_are_marked_and_those_of_a_unit_are_not);
}
