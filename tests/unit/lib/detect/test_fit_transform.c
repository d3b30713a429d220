/* On constructed lists, the best-fitting transform is the injected one. */
#include "detect/fit_transform.h"
#include "tests/check.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

/* Training: residuals normal with sd 0.4, items of a list with sd 0.5. */
static const double BETWEEN = .4, WITHIN = .5;

static double density_at(int bin)
{
    double r = EK_RESIDUAL_LOW + (bin + .5) * EK_RESIDUAL_BIN, z = r / BETWEEN;
    return exp(-z * z / 2) / (BETWEEN * sqrt(2 * M_PI)) * (1 - EK_DENSITY_FLOOR) +
           EK_DENSITY_FLOOR / EK_RESIDUAL_RANGE;
}

/* Add lists of `items` values, each multiplied by e^f with probability p and raised to a power. */
static void tell(struct ek_fit_target *t, const float *density, int items, double p, double f,
                 double power)
{
    struct ek_rng rng;
    ek_rng_seed(&rng, 7);
    memset(t, 0, sizeof *t);
    t->density = density;
    t->lists = EK_EXPLAIN_LISTS;
    for (int i = 0; i < t->lists; i++) {
        double sum = 0, squares = 0, middle = 3 + BETWEEN * ek_rng_normal(&rng);
        for (int j = 0; j < items; j++) {
            double ln = middle + WITHIN * ek_rng_normal(&rng);
            ln = (ln + (ek_rng_uniform(&rng) < p ? f : 0)) * power;
            sum += ln / items;
            squares += ln * ln / items;
        }
        t->items[i] = items;
        t->usual[i] = 3;
        t->level[i] = sum;
        t->spread[i] = sqrt((squares - sum * sum) * items / (items - 1));
        t->typical[i] = WITHIN;
        t->move[i] = log(t->spread[i] / WITHIN);
        t->sd[i] = 1 / sqrt(2. * items);
    }
    ek_fit_target_prepare(t);
}

static void ck_items(int items, double p, double f)
{
    static float density[EK_DENSITY_BINS];
    static struct ek_fit_target t;
    for (int i = 0; i < EK_DENSITY_BINS; i++)
        density[i] = (float)density_at(i);
    tell(&t, density, items, p, f, 1);
    struct ek_explanation of_items = ek_explain_items(&t);
    ck_assert_msg(fabs(of_items.value - p) < .15 * p + .02, "%d items, %g: %g", items, p,
                  of_items.value);
    ck_assert(of_items.worth > ek_explain_scale(&t, p * f).worth);
    ck_assert(of_items.worth > ek_explain_shape(&t, 0).worth);
}

START_TEST(a_factor_on_some_items_is_found_in_lists_of_every_length)
{
    static const int items[] = {6, 20, 90, 400, 3000};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        ck_items(items[i], .3, 1.5);
        ck_items(items[i], .9, -1.5);
    }
}
END_TEST

START_TEST(a_power_is_found_with_its_exponent)
{
    static float density[EK_DENSITY_BINS];
    static struct ek_fit_target t;
    for (int i = 0; i < EK_DENSITY_BINS; i++)
        density[i] = (float)density_at(i);
    tell(&t, density, 20, 0, 0, 1.5);
    struct ek_explanation power = ek_explain_power(&t);
    ck_assert_double_eq_tol(power.value, 1.5, .03);
    ck_assert(power.worth > ek_explain_items(&t).worth);
    ck_assert(power.worth > ek_explain_shape(&t, 0).worth);
    ck_assert(power.worth > ek_explain_offset(&t).worth);
}
END_TEST

Suite *suite_fit_transform(void)
{
    return ek_suite("explain", a_factor_on_some_items_is_found_in_lists_of_every_length,
                    a_power_is_found_with_its_exponent);
}
