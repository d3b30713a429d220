/* Bets on a mean keep their budget for any distribution, and the model watch keeps the one in the
 * rules. */
#include "base/rng.h"
#include "serve/agreement_watch.h"
#include "tests/check.h"

#include <math.h>

enum { STREAMS = 4000, LENGTH = 300, LEVEL = 3000 };
static const double BOUND = .08;

/* A distribution on 0 .. 1 with the bound as conditional mean: the worst healthy case. */
typedef double law(struct ek_rng *r, double before);

static double constant(struct ek_rng *r, double before)
{
    (void)r, (void)before;
    return BOUND;
}

static double rare_and_large(struct ek_rng *r, double before)
{
    (void)before;
    return ek_rng_uniform(r) < BOUND;
}

static double two_sizes(struct ek_rng *r, double before)
{
    (void)before;
    return ek_rng_uniform(r) < .5 ? 0 : 2 * BOUND;
}

static double skew(struct ek_rng *r, double before)
{
    double u = ek_rng_uniform(r);
    (void)before;
    return pow(u, 1 / BOUND - 1); /* mean 1 / (power + 1) */
}

/* Wide after a large value, narrow after a small one. */
static double restless(struct ek_rng *r, double before)
{
    double width = before > BOUND ? 1 : 1.5 * BOUND;
    return ek_rng_uniform(r) < BOUND / width ? width : 0;
}

static int alarms(law *draw, uint64_t seed)
{
    int count = 0;
    for (int i = 0; i < STREAMS; i++) {
        struct ek_mean_evalues b;
        struct ek_rng r;
        double x = 0, most = 0;
        ek_rng_seed_stream(&r, seed, (uint64_t)i);
        ek_mean_evalues_start(&b, BOUND);
        for (uint64_t n = 0; n < LENGTH; n++) {
            x = draw(&r, x);
            ek_mean_evalues_add(&b, x, n);
            most = fmax(most, ek_mean_evalues_evidence(&b));
        }
        count += most >= LEVEL;
    }
    return count;
}

/* P(evidence reaches A within n values) <= n / A, here a tenth, counted over streams, plus three
 * standard errors. */
START_TEST(false_alarms_stay_within_their_budget_for_every_law_of_the_bound)
{
    static law *const laws[] = {constant, rare_and_large, two_sizes, skew, restless};
    double p = (double)LENGTH / LEVEL;
    double most = STREAMS * p + 3 * sqrt(STREAMS * p * (1 - p));
    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        int count = alarms(laws[i], 40 + i);
        ck_assert_msg(count <= most, "law %zu: %d alarms, at most %.0f", i, count, most);
    }
}
END_TEST

/* The same bets detect a mean half as large again in most streams of that length. */
START_TEST(a_mean_above_the_bound_is_found)
{
    int found = 0;
    for (int i = 0; i < 200; i++) {
        struct ek_mean_evalues b;
        struct ek_rng r;
        ek_rng_seed_stream(&r, 9, (uint64_t)i);
        ek_mean_evalues_start(&b, BOUND);
        for (uint64_t n = 0; n < LENGTH && ek_mean_evalues_evidence(&b) < LEVEL; n++)
            ek_mean_evalues_add(&b, 3 * BOUND * ek_rng_uniform(&r), n);
        found += ek_mean_evalues_evidence(&b) >= LEVEL;
    }
    ck_assert_int_ge(found, 190);
}
END_TEST

START_TEST(the_begin_of_the_evidence_is_that_of_the_change)
{
    double late = 0;
    for (int i = 0; i < 200; i++) {
        struct ek_mean_evalues b;
        struct ek_rng r;
        uint64_t n = 0;
        double most;
        ek_rng_seed_stream(&r, 10, (uint64_t)i);
        ek_mean_evalues_start(&b, BOUND);
        for (; ek_mean_evalues_evidence(&b) < LEVEL && n < 10000; n++)
            ek_mean_evalues_add(&b, (n < 500 ? 1 : 6) * BOUND * ek_rng_uniform(&r), n);
        late += fabs((double)ek_mean_evalues_since(&b, &most) - 500) / 200;
        ck_assert(most >= LEVEL);
    }
    ck_assert(late < 1.5);
}
END_TEST

Suite *suite_mean_evalues(void)
{
    return ek_suite(
        "bets on a mean", false_alarms_stay_within_their_budget_for_every_law_of_the_bound,
        a_mean_above_the_bound_is_found, the_begin_of_the_evidence_is_that_of_the_change);
}
