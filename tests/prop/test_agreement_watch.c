/* The agreement watch keeps its false-alarm budget: on traffic at the bounds of the model, and on
 * traffic like that of its statistics, however few lists they come from. */
#include "base/rng.h"
#include "serve/agreement_watch.h"
#include "score/agreement.h"
#include "tests/check.h"
#include "tests/plain_model.h"
#include "tests/stream.h"

#include <stdlib.h>
#include <unistd.h>

enum { ITEMS_MAX = 12, LEVEL = 1000 }; /* LEVEL: evidence threshold of an event */

struct scene {
    struct ek_manifest *manifest;
    struct ek_model *model;
    struct ek_ranker *comparer;
    struct ek_list query;
    struct ek_rng rng;
    double student[ITEMS_MAX];
};

static void begin(struct scene *s)
{
    char path[] = "/tmp/ek-watch-XXXXXX";
    close(mkstemp(path));
    s->manifest = stream_manifest();
    s->model = ek_save_plain_model(s->manifest, path);
    unlink(path);
    ck_assert_int_eq(ek_ranker_new(&s->comparer, NULL), EK_OK);
    ek_list_init(&s->query);
}

static void end(struct scene *s)
{
    ek_list_release(&s->query);
    ek_ranker_free(s->comparer);
    ek_model_free(s->model);
    ek_manifest_free(s->manifest);
}

/* Add two items, in opposite order with probability p. */
static void draw_pair(struct scene *s, double p)
{
    ck_assert_int_eq(ek_list_resize(&s->query, 2, 3, 1), EK_OK);
    s->student[0] = 1;
    s->student[1] = 0;
    s->query.score[0] = ek_rng_uniform(&s->rng) < p ? -1 : 1;
    s->query.score[1] = 0;
}

/* Draw 3 to 12 items; the upstream scores are the model's plus noise. */
static void draw_list(struct scene *s, double noise)
{
    int n = 3 + (int)ek_rng_uniform_int(&s->rng, ITEMS_MAX - 2);
    ck_assert_int_eq(ek_list_resize(&s->query, n, 3, 1), EK_OK);
    for (int i = 0; i < n; i++) {
        s->student[i] = ek_rng_normal(&s->rng);
        s->query.score[i] = s->student[i] + noise * ek_rng_normal(&s->rng);
    }
}

/* Return whether the watch reports within that many lists. */
static bool speaks(struct scene *s, void (*draw)(struct scene *, double), double how, int lists)
{
    struct ek_agreement_watch *w;
    bool changed = false;
    ck_assert_int_eq(ek_agreement_watch_new(&w, s->model, 1, NULL), EK_OK);
    for (int i = 0; i < lists && !changed; i++) {
        draw(s, how);
        ck_assert_int_eq(
            ek_agreement_watch_list(w, &s->query, s->student, (uint64_t)i, &changed, NULL), EK_OK);
    }
    ek_agreement_watch_free(w);
    return changed;
}

/* Set the bounds of every statistic to its mean for pairs with that p. */
static void put_at_bounds(struct scene *s, double p)
{
    struct ek_agreement swapped;
    struct ek_agreement_view v;
    struct ek_agreement_watch *w;
    bool valid;
    draw_pair(s, 1);
    ck_assert_int_eq(ek_compare(s->comparer, s->student, s->query.score, 2, &swapped, &valid, NULL),
                     EK_OK);
    s->model->agreement = (struct ek_model_agreement){.lists = 1000000};
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++) {
        double range = 1 - ek_agreement_statistic_low((enum ek_agreement_statistic)i);
        double at = p * (1 - swapped.figure[i]) / range; /* distance from perfect, 0 .. 1 */
        s->model->agreement.mean[i] = 1 - range * (at - .01) / 1.25;
    }
    ck_assert_int_eq(ek_agreement_watch_new(&w, s->model, 1, NULL), EK_OK);
    ek_agreement_watch_view(w, &v);
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++)
        ck_assert_double_eq_tol(v.least[i], 1 - p * (1 - swapped.figure[i]), 1e-9);
    ek_agreement_watch_free(w);
}

/* P(report within n lists) <= n / A, here a tenth, plus three standard errors of the count. */
START_TEST(traffic_at_the_bounds_is_told_no_more_often_than_the_budget_says)
{
    enum { STREAMS = 3000, LENGTH = LEVEL / 10 };
    static const double shares[] = {.1, .2, .4};
    double most = STREAMS * .1 + 3 * sqrt(STREAMS * .1 * .9);
    struct scene s;
    begin(&s);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        int told = 0;
        put_at_bounds(&s, shares[i]);
        for (int k = 0; k < STREAMS; k++) {
            ek_rng_seed_stream(&s.rng, 30 + i, (uint64_t)k);
            told += speaks(&s, draw_pair, shares[i], LENGTH);
        }
        ck_assert_msg(told <= most, "share %g: told %d times, at most %.0f", shares[i], told, most);
    }
    end(&s);
}
END_TEST

/* The statistics of the model are estimates; 3 standard errors and the slack cover that. */
START_TEST(traffic_like_that_of_the_figures_is_hardly_ever_told)
{
    enum { MODELS = 150, LENGTH = 3000 };
    int told = 0;
    struct scene s;
    begin(&s);
    for (int k = 0; k < MODELS; k++) {
        struct ek_agreement_sums sums = {0};
        ek_rng_seed_stream(&s.rng, 50, (uint64_t)k);
        double noise = .1 + .9 * ek_rng_uniform(&s.rng);
        for (int i = 0, lists = 50 + 4 * k; i < lists; i++) {
            struct ek_agreement a;
            bool valid;
            draw_list(&s, noise);
            ck_assert_int_eq(
                ek_compare(s.comparer, s.student, s.query.score, s.query.items, &a, &valid, NULL),
                EK_OK);
            ek_agreement_add(&sums, &a);
        }
        s.model->agreement = ek_agreement_result(&sums);
        told += speaks(&s, draw_list, noise, LENGTH);
    }
    ck_assert_int_le(told, 2);
    end(&s);
}
END_TEST

Suite *suite_agreement_watch(void)
{
    return ek_suite("agreement watch",
                    traffic_at_the_bounds_is_told_no_more_often_than_the_budget_says,
                    traffic_like_that_of_the_figures_is_hardly_ever_told);
}
