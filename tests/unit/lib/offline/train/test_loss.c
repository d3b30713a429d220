/* Losses and their gradients: against the reference, by differences, and at the extremes. */
#include "offline/train/loss.h"
#include "offline/train/distillation.h"
#include "tests/golden.h"

#include <string.h>

enum { LONGEST = 32 };

struct room {
    double score[LONGEST], noise[LONGEST], gradient[LONGEST], scratch[LONGEST];
    float label[LONGEST];
    int order[LONGEST];
    int n;
};

static double loss_of(enum ek_loss loss, struct room *r)
{
    struct ek_list_loss l = {r->n,        r->score,   r->label, r->noise,
                             r->gradient, r->scratch, r->order, 0};
    return ek_loss_compute(loss, &l);
}

static void load(struct room *r, const json_t *entry)
{
    r->n = (int)golden_doubles(json_object_get(entry, "scores"), r->score);
    golden_floats(json_object_get(entry, "labels"), r->label);
    golden_doubles(json_object_get(entry, "listmle_noise"), r->noise);
}

START_TEST(losses_and_gradients_agree_with_the_reference)
{
    static const char *const names[] = {"listnet", "listmle", "approx_ndcg"};
    static const double tolerance[] = {1e-9, 1e-9, 1e-7}; /* its discounts are float32 */
    json_t *golden = golden_load_reference("losses.json"), *entry;
    size_t i;
    if (!golden)
        return;
    json_array_foreach(json_object_get(golden, "cases"), i, entry)
    {
        struct room r;
        load(&r, entry);
        for (int loss = EK_LISTNET; loss <= EK_APPROX_NDCG; loss++) {
            double expected[LONGEST];
            json_t *row = json_object_get(entry, names[loss]);
            double value = loss_of((enum ek_loss)loss, &r);
            golden_doubles(json_object_get(row, "gradient"), expected);
            ck_assert_msg(fabs(value - json_number_value(json_object_get(row, "loss"))) <
                              tolerance[loss],
                          "%s, case %zu: %.12g", names[loss], i, value);
            for (int j = 0; j < r.n; j++)
                ck_assert_msg(fabs(r.gradient[j] - expected[j]) < tolerance[loss],
                              "%s, case %zu, item %d", names[loss], i, j);
        }
    }
    ck_assert_uint_gt(i, 5);
    json_decref(golden);
}
END_TEST

static const struct room SAMPLE = {
    .n = 6,
    .score = {0.3, -1.2, 0.7, 2.1, 0, -0.4},
    .label = {0, 2, 1, 0, 1, 0},
    .noise = {0.1, 0.2, 0.3, 0.15, 0.05, 0.4},
};

START_TEST(gradients_are_the_slopes_of_the_losses)
{
    for (int loss = EK_LISTNET; loss <= EK_APPROX_NDCG; loss++) {
        struct room r = SAMPLE, up, down;
        loss_of((enum ek_loss)loss, &r);
        for (int i = 0; i < r.n; i++) {
            up = down = SAMPLE;
            up.score[i] += 1e-5;
            down.score[i] -= 1e-5;
            double slope =
                (loss_of((enum ek_loss)loss, &up) - loss_of((enum ek_loss)loss, &down)) / 2e-5;
            ck_assert_msg(fabs(slope - r.gradient[i]) < 1e-7, "loss %d, item %d: %g, %g", loss, i,
                          slope, r.gradient[i]);
        }
    }
}
END_TEST

START_TEST(two_items_by_hand)
{
    struct room r = {.n = 2, .score = {1, 0}, .label = {0, 1}};
    double expected = log(exp(1) + 1);
    ck_assert_double_eq_tol(loss_of(EK_LISTNET, &r), expected, 1e-12);
    ck_assert_double_eq_tol(r.gradient[1], 1 / (exp(1) + 1) - 1, 1e-12);
    ck_assert_double_eq_tol(loss_of(EK_LISTMLE, &r), expected, 1e-12);
    ck_assert_double_eq_tol(loss_of(EK_APPROX_NDCG, &r), 1 - 1 / log2(2 + 1 / (1 + exp(-10))),
                            1e-12);
}
END_TEST

START_TEST(a_cut_off_counts_the_first_places_only)
{
    static const int cutoffs[] = {1, 3, 5};
    for (int c = 0; c < 3; c++) {
        struct room r = SAMPLE, up, down;
        struct ek_list_loss l = {.n = r.n,
                                 .score = r.score,
                                 .label = r.label,
                                 .gradient = r.gradient,
                                 .scratch = r.scratch,
                                 .order = r.order,
                                 .cutoff = cutoffs[c]};
        ek_loss_compute(EK_APPROX_NDCG, &l);
        for (int i = 0; i < r.n; i++) {
            struct ek_list_loss a = l, b = l;
            double other[LONGEST];
            up = down = SAMPLE;
            up.score[i] += 1e-5;
            down.score[i] -= 1e-5;
            a.score = up.score;
            b.score = down.score;
            a.gradient = b.gradient = other;
            double slope =
                (ek_loss_compute(EK_APPROX_NDCG, &a) - ek_loss_compute(EK_APPROX_NDCG, &b)) / 2e-5;
            ck_assert_msg(fabs(slope - r.gradient[i]) < 1e-7, "cut-off %d, item %d: %g, %g",
                          cutoffs[c], i, slope, r.gradient[i]);
        }
    }
    /* The best item is far ahead: its gain counts fully except for the width of the edge. */
    struct room best = {.n = 3, .score = {9, 0, -9}, .label = {2, 1, 0}};
    struct ek_list_loss l = {.n = 3,
                             .score = best.score,
                             .label = best.label,
                             .gradient = best.gradient,
                             .scratch = best.scratch,
                             .order = best.order,
                             .cutoff = 1};
    double edge = 1 / (1 + exp(-0.5)), beyond = 1 / (1 + exp(0.5));
    ck_assert_double_eq_tol(ek_loss_compute(EK_APPROX_NDCG, &l), 1 - edge - beyond / 3 / log2(3),
                            1e-9);
}
END_TEST

START_TEST(the_stochastic_loss_is_the_mean_over_noisy_scores)
{
    enum { SAMPLES = 5 };
    struct room r = SAMPLE, one;
    struct ek_rng numbers, again;
    double shifted[LONGEST], sum[LONGEST], loss = 0, gradient[LONGEST] = {0};
    struct ek_list_loss l = {r.n, r.score, r.label, NULL, r.gradient, r.scratch, r.order, 0};
    ek_rng_seed(&numbers, 4);
    ek_rng_seed(&again, 4);
    double value = ek_loss_stochastic(&l, SAMPLES, &numbers, shifted, sum);
    for (int s = 0; s < SAMPLES; s++) {
        one = SAMPLE;
        for (int i = 0; i < one.n; i++)
            one.score[i] += ek_rng_gumbel(&again);
        loss += loss_of(EK_APPROX_NDCG, &one) / SAMPLES;
        for (int i = 0; i < one.n; i++)
            gradient[i] += one.gradient[i] / SAMPLES;
    }
    ck_assert_double_eq_tol(value, loss, 1e-12);
    for (int i = 0; i < r.n; i++)
        ck_assert_double_eq_tol(r.gradient[i], gradient[i], 1e-12);
    double plain = loss_of(EK_APPROX_NDCG, &r);
    ck_assert(fabs(value - plain) > 1e-3);
}
END_TEST

START_TEST(noise_orders_equal_labels_only)
{
    struct room a = SAMPLE, b = SAMPLE;
    b.noise[2] = 0.01; /* after item 4, which has the same label */
    b.noise[4] = 0.49;
    ck_assert(fabs(loss_of(EK_LISTMLE, &a) - loss_of(EK_LISTMLE, &b)) > 1e-3);
    b = SAMPLE;
    b.noise[1] = 0.49; /* the only 2 stays first */
    ck_assert_double_eq(loss_of(EK_LISTMLE, &a), loss_of(EK_LISTMLE, &b));
}
END_TEST

START_TEST(a_list_without_a_positive_label_says_nothing)
{
    for (int loss = EK_LISTNET; loss <= EK_APPROX_NDCG; loss++) {
        struct room r = SAMPLE;
        memset(r.label, 0, sizeof r.label);
        ck_assert(loss_of((enum ek_loss)loss, &r) == 0);
        for (int i = 0; i < r.n; i++)
            ck_assert(r.gradient[i] == 0);
    }
}
END_TEST

START_TEST(huge_scores_give_finite_losses)
{
    for (int loss = EK_LISTNET; loss <= EK_APPROX_NDCG; loss++) {
        struct room r = SAMPLE;
        for (int i = 0; i < r.n; i++)
            r.score[i] *= 1e5;
        ck_assert(isfinite(loss_of((enum ek_loss)loss, &r)));
        for (int i = 0; i < r.n; i++)
            ck_assert(isfinite(r.gradient[i]));
    }
}
END_TEST

START_TEST(a_teachers_scores_become_the_target_of_listnet)
{
    double scores[] = {1.5, -0.5, 1.5, 0, -800}, sum = 0;
    struct ek_list q;
    struct room r = {.n = 5};
    ek_list_init(&q);
    ck_assert_int_eq(ek_list_resize(&q, 5, 1, 0), EK_OK);
    memcpy(q.score, scores, sizeof scores);
    ck_assert_int_eq(ek_distill(&q, NULL), EK_OK);
    ck_assert(q.has_label);
    memcpy(r.label, q.label, 5 * sizeof *q.label);
    loss_of(EK_LISTNET, &r); /* all scores 0: the gradient is 1/n minus the target */
    for (int i = 0; i < 5; i++)
        sum += exp(scores[i]);
    for (int i = 0; i < 5; i++)
        ck_assert_double_eq_tol(0.2 - r.gradient[i], exp(scores[i]) / sum, 1e-7);
    q.score[3] = NAN;
    q.label[3] = 7;
    struct ek_error e;
    ck_assert_int_eq(ek_distill(&q, &e), EK_EFORMAT);
    ck_assert_str_eq(e.message, "items[3] has no score to learn from");
    ck_assert(q.label[3] == 7);
    ek_list_release(&q);
}
END_TEST

Suite *suite_loss(void)
{
    return ek_suite("loss", losses_and_gradients_agree_with_the_reference,
                    gradients_are_the_slopes_of_the_losses, two_items_by_hand,
                    a_cut_off_counts_the_first_places_only,
                    the_stochastic_loss_is_the_mean_over_noisy_scores,
                    noise_orders_equal_labels_only, a_list_without_a_positive_label_says_nothing,
                    huge_scores_give_finite_losses, a_teachers_scores_become_the_target_of_listnet);
}
