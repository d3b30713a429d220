/* Levels and season of training lists. */
#include "base/rng.h"
#include "offline/fit/profile_fit.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

static const char MANIFEST[] = "features:\n  - {name: price, index: 1, role: item}\n";

enum { LISTS = 12000, ITEMS = 6, DAYS = 12 };
static const int64_t DAY_MS = 86400000;
static const double LEVEL = 4, AMPLITUDE = .5, BETWEEN = .2, WITHIN = .3;

/* Return the part of the day of the next list: nearly all lists come around its start. */
static double draw_day(struct ek_rng *rng)
{
    for (;;) {
        double day = ek_rng_uniform(rng);
        if (2 * ek_rng_uniform(rng) < 1 + .9 * cos(2 * M_PI * day))
            return day;
    }
}

/* Fit a profile to lists whose level follows the clock. */
static struct ek_profile *train(void)
{
    struct ek_manifest *m;
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    struct ek_list q;
    struct ek_rng rng;
    ek_rng_seed(&rng, 3);
    ek_list_init(&q);
    ck_assert_int_eq(ek_manifest_parse(&m, "m", MANIFEST, strlen(MANIFEST), NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_new(&fit, m, NULL, NULL), EK_OK);
    ck_assert_int_eq(ek_list_resize(&q, ITEMS, 1, 0), EK_OK);
    for (int n = 0; n < LISTS; n++) {
        double day = draw_day(&rng);
        double level = LEVEL + AMPLITUDE * cos(2 * M_PI * day) + BETWEEN * ek_rng_normal(&rng);
        q.time_ms = n / (LISTS / DAYS) * DAY_MS + (int64_t)(day * (double)DAY_MS);
        for (int i = 0; i < ITEMS; i++)
            q.x[i] = (float)exp(level + WITHIN * ek_rng_normal(&rng));
        ck_assert_int_eq(ek_profile_fit_add(fit, &q, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_profile_fit_finish(fit, &p, NULL), EK_OK);
    ek_profile_fit_free(fit);
    ek_list_release(&q);
    ek_manifest_free(m);
    return p;
}

START_TEST(the_level_is_that_without_the_season_though_most_lists_come_at_one_time)
{
    struct ek_profile *p = train();
    const struct ek_baseline *b = &p->baseline[0];
    ck_assert_double_eq_tol((double)b->season[0], AMPLITUDE, .03);
    ck_assert_double_eq_tol((double)b->level, LEVEL, .03);
    ck_assert_double_eq_tol((double)p->level[0], LEVEL, .03);
    ck_assert_double_eq_tol((double)b->sd, hypot(BETWEEN, WITHIN / sqrt(ITEMS)), .01);
    ek_profile_free(p);
}
END_TEST

Suite *suite_stratum_fit(void)
{
    return ek_suite("stratum_fit",
                    the_level_is_that_without_the_season_though_most_lists_come_at_one_time);
}
