/* Invariance: a routed feature may be multiplied by any factor, and score differences stay equal up
 * to rounding.
 *
 * A factor c rounds x to the float nearest to c x, so ln|x| minus the mean moves by up to u =
 * 2^-24, plus u of the mean; the list-free form has a fixed mean. tests/exact_score.h derives the
 * effect on a score and the error of float arithmetic. A power of two rounds nothing: then every
 * score is equal bit for bit.
 */
#include "base/alloc.h"
#include "base/rng.h"
#include "score/scorer.h"
#include "tests/check.h"
#include "tests/exact_score.h"
#include "tests/random_model.h"

#include <math.h>
#include <string.h>

enum { CASES = 400, ITEMS_MAX = 70 };

struct world {
    struct ek_rng r;
    struct ek_manifest *features;
    struct ek_model *model;
    struct ek_scorer *scorer;
    struct ek_list clean, faulty;
    struct ek_treatment treatment[EK_RANDOM_FEATURES];
    double factor[EK_RANDOM_FEATURES];          /* of each routable feature, 1 where not routed */
    double before[ITEMS_MAX], after[ITEMS_MAX]; /* the scores */
};

/* Some features are equal in the whole list. */
static void random_list(struct world *w)
{
    int n = 1 + (int)ek_rng_uniform_int(&w->r, ITEMS_MAX), f = w->model->item_features;
    size_t queries = (size_t)w->model->query_features;
    ek_random_list(&w->clean, n, w->model, &w->r);
    ck_assert_int_eq(ek_list_resize(&w->faulty, n, f, w->model->query_features), EK_OK);
    for (int j = 0; j < f; j++)
        for (int i = 1; ek_rng_uniform_int(&w->r, 8) == 0 && i < n; i++)
            w->clean.x[i * f + j] = w->clean.x[j];
    memcpy(w->faulty.x, w->clean.x, (size_t)(n * f) * sizeof(float));
    memcpy(w->faulty.query, w->clean.query, queries * sizeof(float));
}

static struct ek_treatment random_treatment(struct ek_rng *r)
{
    if (ek_rng_uniform_int(r, 2))
        return (struct ek_treatment){EK_ACT_NONE, 0};
    if (ek_rng_uniform_int(r, 4) == 0)
        return (struct ek_treatment){EK_ACT_ROUTE_NORMALIZED, 0.5 + 2 * ek_rng_uniform(r)};
    return (struct ek_treatment){EK_ACT_ROUTE, 0};
}

/* 1e-6 to 1e6, or a power of two in that range. */
static double random_factor(struct ek_rng *r, bool of_two)
{
    return of_two ? ldexp(1, (int)ek_rng_uniform_int(r, 41) - 20)
                  : pow(10, 12 * ek_rng_uniform(r) - 6);
}

/* Route a random subset and multiply each of its features by a separate factor. */
static void random_fault(struct world *w, bool of_two)
{
    for (int k = 0; k < w->model->routable_count; k++) {
        w->treatment[k] = random_treatment(&w->r);
        w->factor[k] = exact_routes(w->treatment[k]) ? random_factor(&w->r, of_two) : 1;
        for (int i = 0; i < w->faulty.items; i++) {
            float *x = w->faulty.x + i * w->model->item_features + w->model->routable[k];
            *x = (float)((double)*x * w->factor[k]);
        }
    }
}

static void score_both(struct world *w)
{
    struct ek_error e;
    ck_assert_int_eq(ek_scorer_score(w->scorer, &w->clean, w->treatment, w->before, &e), EK_OK);
    ck_assert_int_eq(ek_scorer_score(w->scorer, &w->faulty, w->treatment, w->after, &e), EK_OK);
}

/* Return the rounding bound of an item's score, and compare both scores with the exact ones. */
static double bound_of(const struct world *w, int item, bool of_two)
{
    double ln_move[EK_RANDOM_FEATURES];
    for (int k = 0; k < w->model->routable_count; k++)
        ln_move[k] = of_two || w->factor[k] == 1 ? 0 : (w->model->list_free ? 1 : 2) * EXACT_U;
    struct exact a = exact_score(w->model, &w->clean, item, w->treatment, ln_move);
    struct exact b = exact_score(w->model, &w->faulty, item, w->treatment, ln_move);
    ck_assert_msg(fabs(w->before[item] - a.value) <= EXACT_SLACK * a.error,
                  "item %d: %.9g, exactly %.9g +- %g", item, w->before[item], a.value, a.error);
    ck_assert(fabs(w->after[item] - b.value) <= EXACT_SLACK * b.error);
    return EXACT_SLACK * (a.error + b.error + fmax(a.move, b.move));
}

/* Return the shift of a score by the factors: 0 in the list form; sgn(x) ln c / log_sd times the
 * slope in the list-free form. */
static double shift_of(const struct world *w, int item)
{
    const struct ek_model *m = w->model;
    struct exact v[EK_RANDOM_QUERIES];
    double shift = 0;
    for (int j = 0; j < m->query_features; j++)
        v[j] = exact_signed_ln(w->clean.query[j], m->query_mean[j], m->query_sd[j]);
    for (int k = 0; m->list_free && k < m->routable_count; k++)
        shift += exact_sign(exact_x(m, &w->clean, item, k)) * log(w->factor[k]) *
                 exact_scale(m, w->treatment[k], k) * exact_slope(m, v, m->slope, k).value;
    return shift;
}

/* Return whether the factors shift both items equally: always in the list form; in the list-free
 * form only if the signs of all scaled features agree. */
static bool same_signs(const struct world *w, int a, int b)
{
    for (int k = 0; w->model->list_free && k < w->model->routable_count; k++)
        if (w->factor[k] != 1 && exact_sign(exact_x(w->model, &w->clean, a, k)) !=
                                     exact_sign(exact_x(w->model, &w->clean, b, k)))
            return false;
    return true;
}

/* Return the largest ratio of a moved difference to its bound. */
static double check_list(struct world *w, bool of_two)
{
    double bound[ITEMS_MAX], worst = 0;
    score_both(w);
    for (int i = 0; i < w->clean.items; i++) {
        double moved = w->after[i] - w->before[i] - shift_of(w, i);
        bound[i] = bound_of(w, i, of_two);
        ck_assert_msg(fabs(moved) <= bound[i], "item %d: moved by %g, bound %g", i, moved,
                      bound[i]);
        for (int j = 0; j < i; j++) {
            double change = (w->after[i] - w->after[j]) - (w->before[i] - w->before[j]);
            double most = bound[i] + bound[j];
            if (!same_signs(w, i, j))
                continue;
            ck_assert_msg(fabs(change) <= most, "items %d, %d: moved apart by %g, bound %g", i, j,
                          change, most);
            worst = most > 0 ? fmax(worst, fabs(change) / most) : worst;
        }
    }
    return worst;
}

static void open_world(struct world *w, uint64_t seed, int number)
{
    ek_rng_seed_stream(&w->r, seed, (uint64_t)number);
    ek_list_init(&w->clean);
    ek_list_init(&w->faulty);
    ek_random_scorer(&w->features, &w->model, &w->scorer, &w->r);
}

static void close_world(struct world *w)
{
    ek_scorer_free(w->scorer);
    ek_model_free(w->model);
    ek_manifest_free(w->features);
    ek_list_release(&w->clean);
    ek_list_release(&w->faulty);
}

START_TEST(routed_scores_keep_their_distances_to_rounding_under_any_factor)
{
    double worst = 0;
    for (int number = 0; number < CASES; number++) {
        struct world w;
        open_world(&w, 2024, number);
        for (int list = 0; list < 5; list++) {
            random_list(&w);
            random_fault(&w, false);
            worst = fmax(worst, check_list(&w, false));
        }
        close_world(&w);
    }
    ck_assert_msg(worst > 0.05, "the bound is idle: at most %g of it is used", worst);
}
END_TEST

static void check_same_bits(struct world *w, int number)
{
    score_both(w);
    for (int i = 0; i < w->clean.items; i++)
        ck_assert_msg(w->before[i] == w->after[i], "case %d, item %d: %a became %a", number, i,
                      w->before[i], w->after[i]);
}

START_TEST(a_power_of_two_changes_no_bit_of_a_routed_score)
{
    for (int number = 0; number < CASES; number++) {
        struct world w;
        open_world(&w, 2026, number);
        for (int list = 0; list < 5; list++) {
            random_list(&w);
            random_fault(&w, true);
            if (w.model->list_free) {
                check_list(&w, true);
                continue;
            }
            check_same_bits(&w, number);
        }
        close_world(&w);
    }
}
END_TEST

/* Multiply each feature routed by source by one factor per source. */
static void random_sources(struct world *w)
{
    int sources = 1 + (int)ek_rng_uniform_int(&w->r, EK_SOURCES_MAX);
    w->clean.sources = w->faulty.sources = sources;
    for (int i = 0; i < w->clean.items; i++)
        w->clean.source[i] = w->faulty.source[i] =
            (uint8_t)ek_rng_uniform_int(&w->r, (uint64_t)sources);
    for (int k = 0; k < w->model->routable_count; k++) {
        double factor[EK_SOURCES_MAX];
        w->treatment[k] = (struct ek_treatment){EK_ACT_NONE, 0};
        if (ek_rng_uniform_int(&w->r, 2))
            continue;
        w->treatment[k].action = EK_ACT_ROUTE_PER_SOURCE;
        for (int i = 0; i < sources; i++)
            factor[i] = random_factor(&w->r, true);
        for (int i = 0; i < w->faulty.items; i++)
            w->faulty.x[i * w->model->item_features + w->model->routable[k]] *=
                (float)factor[w->faulty.source[i]];
    }
}

START_TEST(routed_by_source_each_source_may_have_a_power_of_two_of_its_own)
{
    for (int number = 0; number < CASES; number++) {
        struct world w;
        open_world(&w, 2027, number);
        for (int list = 0; !w.model->list_free && list < 5; list++) {
            random_list(&w);
            random_sources(&w);
            check_same_bits(&w, number);
        }
        close_world(&w);
    }
}
END_TEST

/* The tests above must not pass with constant scores. */
START_TEST(unrouted_scores_do_move)
{
    int moved = 0;
    for (int number = 0; number < 50; number++) {
        struct world w;
        open_world(&w, 2025, number);
        random_list(&w);
        random_fault(&w, false);
        memset(w.treatment, 0, sizeof w.treatment);
        score_both(&w);
        moved += fabs(w.before[0] - w.after[0]) > 1e-3;
        close_world(&w);
    }
    ck_assert_int_gt(moved, 20);
}
END_TEST

Suite *suite_invariance(void)
{
    return ek_suite("invariance", routed_scores_keep_their_distances_to_rounding_under_any_factor,
                    a_power_of_two_changes_no_bit_of_a_routed_score,
                    routed_by_source_each_source_may_have_a_power_of_two_of_its_own,
                    unrouted_scores_do_move);
}
