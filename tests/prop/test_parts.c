/* Partial lists: with the whole list's mean logarithms, or a list-free model, an item scores as in
 * the whole list, bit for bit; with means that a sender computed in double, to rounding. */
#include "base/rng.h"
#include "score/encode.h"
#include "score/scorer.h"
#include "tests/check.h"
#include "tests/random_model.h"

#include <math.h>
#include <string.h>

enum { CASES = 300, ITEMS_MAX = 60 };

struct world {
    struct ek_rng r;
    struct ek_manifest *features;
    struct ek_model *model;
    struct ek_scorer *scorer;
    struct ek_list whole, part;
    struct ek_treatment treatment[EK_RANDOM_FEATURES];
    double mean[EK_RANDOM_FEATURES]; /* of the whole list, as its sender computes it */
    double want[ITEMS_MAX];          /* scores of the whole list */
};

static void open_world(struct world *w, int number)
{
    ek_rng_seed_stream(&w->r, 31, (uint64_t)number);
    ek_list_init(&w->whole);
    ek_list_init(&w->part);
    ek_random_scorer(&w->features, &w->model, &w->scorer, &w->r);
}

static void close_world(struct world *w)
{
    ek_scorer_free(w->scorer);
    ek_model_free(w->model);
    ek_manifest_free(w->features);
    ek_list_release(&w->whole);
    ek_list_release(&w->part);
}

/* Return any treatment but `repair`, which divides before the logarithm is rounded. */
static struct ek_treatment random_treatment(struct ek_rng *r)
{
    static const enum ek_action actions[] = {EK_ACT_NONE, EK_ACT_ROUTE, EK_ACT_ROUTE_NORMALIZED,
                                             EK_ACT_BLANK};
    return (struct ek_treatment){actions[ek_rng_uniform_int(r, 4)], 0.5 + ek_rng_uniform(r)};
}

/* Compute the means that the scorer computes from the whole list. */
static void find_means(struct world *w)
{
    struct ek_encoder c;
    ck_assert_int_eq(ek_encoder_init(&c, w->model), EK_OK);
    ck_assert_int_eq(ek_encode(&c, w->whole.x, w->whole.items, w->whole.query, NULL), EK_OK);
    for (int k = 0; k < w->model->routable_count; k++)
        w->mean[k] = ek_ln_from_octaves(c.mean[k]);
    ek_encoder_release(&c);
}

static void random_list(struct world *w)
{
    struct ek_error e;
    ek_random_list(&w->whole, 2 + (int)ek_rng_uniform_int(&w->r, ITEMS_MAX - 1), w->model, &w->r);
    for (int k = 0; k < w->model->routable_count; k++)
        w->treatment[k] = random_treatment(&w->r);
    ck_assert_int_eq(ek_scorer_score(w->scorer, &w->whole, w->treatment, w->want, &e), EK_OK);
}

/* Set the partial list to items [from, from + count). */
static void cut(struct world *w, int from, int count)
{
    size_t f = (size_t)w->model->item_features;
    ck_assert_int_eq(ek_list_resize(&w->part, count, (int)f, w->model->query_features), EK_OK);
    memcpy(w->part.x, w->whole.x + (size_t)from * f, (size_t)count * f * sizeof(float));
    memcpy(w->part.query, w->whole.query, (size_t)w->model->query_features * sizeof(float));
    w->part.list_items = w->whole.items;
    w->part.has_log_means = false;
}

static void give_means(struct world *w)
{
    int count = w->model->routable_count;
    ck_assert_int_eq(ek_list_reserve_means(&w->part, count), EK_OK);
    memcpy(w->part.log_mean, w->mean, (size_t)count * sizeof *w->mean);
    w->part.has_log_means = true;
}

/* Score the list in random parts, sometimes without the last one. error: largest difference of a
 * score, relative to scores beyond 1. */
static void check_parts(struct world *w, bool with_means, double error, int number)
{
    for (int from = 0; from < w->whole.items && (from == 0 || ek_rng_uniform_int(&w->r, 8));) {
        double got[ITEMS_MAX];
        struct ek_error e;
        int count = 1 + (int)ek_rng_uniform_int(&w->r, (uint64_t)(w->whole.items - from));
        cut(w, from, count);
        if (with_means)
            give_means(w);
        int code = ek_scorer_score(w->scorer, &w->part, w->treatment, got, &e);
        ck_assert_msg(code == EK_OK, "%s", e.message);
        for (int i = 0; i < count; i++)
            ck_assert_msg(fabs(got[i] - w->want[from + i]) <= error * (1 + fabs(got[i])),
                          "case %d: item %d, %d of a part: %a, not %a", number, from + i, i, got[i],
                          w->want[from + i]);
        from += count;
    }
}

START_TEST(parts_with_the_means_of_the_whole_score_as_the_whole)
{
    for (int number = 0; number < CASES; number++) {
        struct world w;
        open_world(&w, number);
        for (int list = 0; list < 5; list++) {
            random_list(&w);
            find_means(&w);
            check_parts(&w, true, 0, number);
        }
        close_world(&w);
    }
}
END_TEST

START_TEST(a_list_free_model_scores_parts_as_the_whole_without_means)
{
    int tried = 0;
    for (int number = 0; number < 2 * CASES; number++) {
        struct world w;
        open_world(&w, number);
        for (int list = 0; w.model->list_free && list < 5; list++, tried++) {
            random_list(&w);
            check_parts(&w, false, 0, number);
        }
        close_world(&w);
    }
    ck_assert_int_gt(tried, 100);
}
END_TEST

/* Computed in double with the library logarithm. */
static double plain_mean(const struct world *w, int k)
{
    double sum = 0, count = 0;
    for (int i = 0; i < w->whole.items; i++) {
        double x = (double)w->whole.x[i * w->model->item_features + w->model->routable[k]];
        sum += isfinite(x) && x != 0 ? log(fabs(x)) : 0;
        count += isfinite(x) && x != 0;
    }
    return count > 0 ? sum / count : NAN;
}

START_TEST(means_that_a_sender_computed_in_double_are_as_good)
{
    for (int number = 0; number < CASES; number++) {
        struct world w;
        open_world(&w, number);
        for (int list = 0; list < 5; list++) {
            random_list(&w);
            for (int k = 0; k < w.model->routable_count; k++)
                w.mean[k] = plain_mean(&w, k);
            check_parts(&w, true, 2e-5, number);
        }
        close_world(&w);
    }
}
END_TEST

START_TEST(a_part_without_means_is_refused_by_a_model_of_lists)
{
    for (int number = 0; number < 50; number++) {
        struct world w;
        struct ek_error e = {0};
        double got[ITEMS_MAX] = {7};
        char want[200];
        open_world(&w, number);
        random_list(&w);
        cut(&w, 0, 1);
        int code = ek_scorer_score(w.scorer, &w.part, w.treatment, got, &e);
        snprintf(want, sizeof want,
                 "1 of the list's %d items and no 'log_means': this model needs the whole list, "
                 "its mean logarithms, or training with --list-free",
                 w.whole.items);
        ck_assert_int_eq(code, w.model->list_free ? EK_OK : EK_EFORMAT);
        if (code) {
            ck_assert_str_eq(e.message, want);
            ck_assert(got[0] == 7);
        }
        close_world(&w);
    }
}
END_TEST

Suite *suite_parts(void)
{
    return ek_suite("parts", parts_with_the_means_of_the_whole_score_as_the_whole,
                    a_list_free_model_scores_parts_as_the_whole_without_means,
                    means_that_a_sender_computed_in_double_are_as_good,
                    a_part_without_means_is_refused_by_a_model_of_lists);
}
