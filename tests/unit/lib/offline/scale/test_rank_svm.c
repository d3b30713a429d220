/* RankSVM on lists with known weights, and against scikit-learn's LinearSVC over explicit pair
 * differences (file from tests/golden/rank_svm.py). */
#include "tests/golden.h"

#include "base/rng.h"
#include "offline/scale/rank_svm.h"

#include <string.h>

enum { LISTS = 60, LENGTH = 12, ITEMS = LISTS * LENGTH, WIDEST = 8 };

/* Lists of equal length, in selected columns. */
struct scene {
    size_t offset[LISTS + 1];
    float label[ITEMS], x[ITEMS * WIDEST];
    size_t columns;
    struct ek_dataset d;
    struct ek_rank_svm_options o;
    struct ek_rank_svm_result r;
    double w[WIDEST];
    struct ek_error e;
};

static void begin(struct scene *s, size_t columns, size_t lists, size_t length)
{
    memset(s, 0, sizeof *s);
    s->columns = columns;
    for (size_t q = 0; q <= lists; q++)
        s->offset[q] = q * length;
    s->d = (struct ek_dataset){
        .lists = lists, .items = lists * length, .offset = s->offset, .label = s->label};
    ek_rank_svm_defaults(&s->o);
}

static int solve(struct scene *s)
{
    return ek_rank_svm(&s->d, s->x, s->columns, &s->o, s->w, &s->r, &s->e);
}

/* Normal values with labels 0 .. 4 by their weighted sum, so that all pairs are separable. */
static void plant(struct scene *s, const double *weight, uint64_t seed)
{
    struct ek_rng r;
    ek_rng_seed(&r, seed);
    for (size_t i = 0; i < s->d.items; i++) {
        double sum = 0;
        for (size_t c = 0; c < s->columns; c++) {
            s->x[i * s->columns + c] = (float)ek_rng_normal(&r);
            sum += weight[c] * (double)s->x[i * s->columns + c];
        }
        s->label[i] = (float)fmin(4, fmax(0, floor(sum) + 2));
    }
}

static double cosine(const double *a, const double *b, size_t n)
{
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < n; i++) {
        ab += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return ab / sqrt(aa * bb);
}

/* Return the objective, pair by pair. */
static double by_pairs(const struct scene *s, const double *w)
{
    double loss = 0, square = 0;
    uint64_t pairs = 0;
    for (size_t q = 0; q < s->d.lists; q++)
        for (size_t i = s->offset[q]; i < s->offset[q + 1]; i++)
            for (size_t j = s->offset[q]; j < s->offset[q + 1]; j++) {
                double apart = 0;
                for (size_t c = 0; c < s->columns; c++)
                    apart += w[c] * (double)(s->x[i * s->columns + c] - s->x[j * s->columns + c]);
                if (s->label[i] > s->label[j]) {
                    loss += fmax(0, 1 - apart);
                    pairs++;
                }
            }
    for (size_t c = 0; c < s->columns; c++)
        square += w[c] * w[c];
    ck_assert_uint_eq(pairs, s->r.pairs);
    return square / 2 + s->o.c * loss / (double)pairs;
}

START_TEST(planted_weights_are_found)
{
    struct scene s;
    const double weight[] = {1, -2, .5, 0, 1.5};
    begin(&s, 5, LISTS, LENGTH);
    plant(&s, weight, 1);
    s.o.c = 1000;
    ck_assert_int_eq(solve(&s), EK_OK);
    ck_assert_double_gt(cosine(s.w, weight, 5), .999);
    ck_assert_double_lt(fabs(s.w[3]), .05 * fabs(s.w[1]));
}
END_TEST

START_TEST(a_reversed_feature_gets_the_negated_weight)
{
    struct scene s;
    const double weight[] = {1, -2, .5, 2};
    double before[4];
    begin(&s, 4, LISTS, LENGTH);
    plant(&s, weight, 2);
    ck_assert_int_eq(solve(&s), EK_OK);
    memcpy(before, s.w, sizeof before);
    for (size_t i = 0; i < s.d.items; i++)
        s.x[i * 4 + 3] *= -1;
    ck_assert_int_eq(solve(&s), EK_OK);
    ck_assert_double_eq_tol(s.w[3], -before[3], 1e-12);
    ck_assert_double_eq_tol(s.w[0], before[0], 1e-12);
}
END_TEST

START_TEST(a_feature_given_twice_shares_its_weight)
{
    struct scene s;
    const double weight[] = {1, 0, -1};
    begin(&s, 3, LISTS, LENGTH);
    plant(&s, weight, 3);
    for (size_t i = 0; i < s.d.items; i++)
        s.x[i * 3 + 1] = s.x[i * 3];
    ck_assert_int_eq(solve(&s), EK_OK);
    ck_assert_double_gt(s.w[0], 0);
    ck_assert_double_eq_tol(s.w[0], s.w[1], 1e-12);
}
END_TEST

START_TEST(a_feature_that_is_the_same_within_each_list_gets_no_weight)
{
    struct scene s;
    const double weight[] = {1, 0, 2};
    begin(&s, 3, LISTS, LENGTH);
    plant(&s, weight, 4);
    for (size_t i = 0; i < s.d.items; i++)
        s.x[i * 3 + 1] = 1e6f * (float)(i / LENGTH) + .1f;
    ck_assert_int_eq(solve(&s), EK_OK);
    ck_assert(s.w[1] == 0);
    ck_assert_double_gt(s.w[2], s.w[0]);
}
END_TEST

START_TEST(one_pair_is_solved_as_by_hand)
{
    struct scene s;
    begin(&s, 1, 1, 2);
    s.label[0] = 1;
    s.x[0] = 2;
    s.x[1] = 0;
    s.o.epsilon = 1e-9;
    s.o.c = .1; /* w^2/2 + C (1 - 2w) is minimal at w = 2C while a violation remains */
    ck_assert_int_eq(solve(&s), EK_OK);
    ck_assert_double_eq_tol(s.w[0], .2, 1e-6);
    ck_assert_double_eq_tol(s.r.objective, .02 + .1 * .6, 1e-9);
    s.o.c = 10; /* beyond: the pair has its margin, 2w = 1 */
    ck_assert_int_eq(solve(&s), EK_OK);
    ck_assert_double_eq_tol(s.w[0], .5, 1e-6);
    ck_assert_double_eq_tol(s.r.objective, .125, 1e-8);
    ck_assert_uint_eq(s.r.pairs, 1);
}
END_TEST

START_TEST(the_best_objective_lies_between_its_bounds)
{
    struct scene s;
    const double weight[] = {1, -1, .3, 0, 0, 2}, cs[] = {.1, 10, 1000};
    begin(&s, 6, LISTS, LENGTH);
    plant(&s, weight, 5);
    for (size_t i = 0; i < s.d.items; i += 5)
        s.label[i] = (float)(i % 4);
    for (int k = 0; k < 3; k++) {
        s.o.c = cs[k];
        s.o.epsilon = 1e-7;
        ck_assert_int_eq(solve(&s), EK_OK);
        double best = s.r.objective, bound = s.r.bound;
        ck_assert_double_eq_tol(best, by_pairs(&s, s.w), 1e-6 * best);
        ck_assert_double_le(best - bound, 1e-7 * s.o.c);
        for (double epsilon = 1e-4; epsilon < 1; epsilon *= 10) {
            s.o.epsilon = epsilon;
            ck_assert_int_eq(solve(&s), EK_OK);
            ck_assert_double_le(s.r.bound, best * (1 + 1e-12));
            ck_assert_double_ge(s.r.objective, bound * (1 - 1e-12));
            ck_assert_double_le(s.r.objective - s.r.bound, epsilon * s.o.c);
            ck_assert_double_eq_tol(s.r.objective, by_pairs(&s, s.w), 1e-6 * best);
        }
    }
}
END_TEST

START_TEST(features_ten_times_as_large_want_a_hundredth_of_c)
{
    struct scene s;
    const double weight[] = {1, -2, 1};
    double before[3];
    begin(&s, 3, LISTS, LENGTH);
    plant(&s, weight, 6);
    s.o.c = 50;
    s.o.epsilon = 1e-8;
    ck_assert_int_eq(solve(&s), EK_OK);
    memcpy(before, s.w, sizeof before);
    for (size_t i = 0; i < s.d.items * 3; i++)
        s.x[i] *= 10;
    s.o.c /= 100;
    ck_assert_int_eq(solve(&s), EK_OK);
    for (int c = 0; c < 3; c++)
        ck_assert_double_eq_tol(10 * s.w[c], before[c], 1e-3 * fabs(before[1]));
}
END_TEST

START_TEST(labels_count_by_their_order_and_only_within_a_list)
{
    struct scene s;
    const double weight[] = {1, -2, 1};
    double before[3];
    begin(&s, 3, LISTS, LENGTH);
    plant(&s, weight, 7);
    ck_assert_int_eq(solve(&s), EK_OK);
    memcpy(before, s.w, sizeof before);
    for (size_t i = 0; i < s.d.items; i++)
        s.label[i] = expf(s.label[i]) + 10 * (float)(i / LENGTH);
    ck_assert_int_eq(solve(&s), EK_OK);
    ck_assert_mem_eq(s.w, before, sizeof before);
}
END_TEST

START_TEST(the_same_data_give_the_same_bits)
{
    struct scene a, b;
    const double weight[] = {1, -2, 1, 3, 0, 0, 0, 1};
    begin(&a, 8, LISTS, LENGTH);
    plant(&a, weight, 8);
    begin(&b, 8, LISTS, LENGTH);
    plant(&b, weight, 8);
    a.o.c = b.o.c = 100;
    ck_assert_int_eq(solve(&a), EK_OK);
    ck_assert_int_eq(solve(&b), EK_OK);
    ck_assert_mem_eq(a.w, b.w, sizeof a.w);
    ck_assert_mem_eq(&a.r, &b.r, sizeof a.r);
}
END_TEST

static void fails(struct scene *s, enum ek_code code, const char *part)
{
    s->w[0] = 42;
    ck_assert_int_eq(solve(s), code);
    ck_assert_msg(strstr(s->e.message, part) != NULL, "%s", s->e.message);
    ck_assert(s->w[0] == 42);
}

START_TEST(without_a_pair_there_is_nothing_to_learn)
{
    struct scene s;
    begin(&s, 2, 0, 0);
    fails(&s, EK_EUSAGE, "nothing to learn");
    begin(&s, 2, LISTS, 1);
    plant(&s, (const double[]){1, 1}, 9);
    fails(&s, EK_EUSAGE, "nothing to learn");
    begin(&s, 2, LISTS, LENGTH);
    fails(&s, EK_EUSAGE, "nothing to learn");
}
END_TEST

START_TEST(features_without_any_difference_get_no_weight_at_all)
{
    struct scene s;
    begin(&s, 2, 2, 3);
    s.label[1] = 1;
    for (int i = 0; i < 12; i++)
        s.x[i] = 3;
    ck_assert_int_eq(solve(&s), EK_OK);
    ck_assert(s.w[0] == 0 && s.w[1] == 0);
    ck_assert_double_eq_tol(s.r.objective, s.o.c, 1e-12);
}
END_TEST

START_TEST(options_and_values_out_of_range_are_told)
{
    struct scene s;
    begin(&s, 2, LISTS, LENGTH);
    plant(&s, (const double[]){1, 1}, 10);
    s.o.c = 0;
    fails(&s, EK_EUSAGE, "C of 0");
    s.o.c = 1e6;
    s.o.rounds_max = 3;
    fails(&s, EK_ESTATE, "after 3 rounds");
    s.o.epsilon = 0;
    fails(&s, EK_EUSAGE, "epsilon");
    ek_rank_svm_defaults(&s.o);
    s.x[5] = NAN;
    fails(&s, EK_EUSAGE, "no finite number");
}
END_TEST

START_TEST(lists_of_any_length_and_many_levels_agree_with_scikit_learn)
{
    static struct scene s;
    json_t *j = golden_load("tests/golden/rank_svm.json"), *solution;
    size_t at, q;
    begin(&s, (size_t)json_integer_value(json_object_get(j, "columns")), 0, 0);
    json_t *items = json_object_get(j, "items"), *length;
    json_array_foreach(items, q, length) s.offset[q + 1] =
        s.offset[q] + (size_t)json_integer_value(length);
    s.d.lists = q;
    s.d.items = golden_floats(json_object_get(j, "label"), s.label);
    golden_floats(json_object_get(j, "x"), s.x);
    json_array_foreach(json_object_get(j, "solutions"), at, solution)
    {
        double w[WIDEST];
        s.o.c = json_number_value(json_object_get(solution, "c"));
        s.o.epsilon = 1e-8;
        ck_assert_int_eq(solve(&s), EK_OK);
        ck_assert_uint_eq(s.r.pairs, (uint64_t)json_integer_value(json_object_get(j, "pairs")));
        double best = json_number_value(json_object_get(solution, "objective"));
        ck_assert_double_eq_tol(s.r.objective, best, 1e-6 * s.o.c);
        golden_doubles(json_object_get(solution, "w"), w);
        for (size_t c = 0; c < s.columns; c++)
            ck_assert_double_eq_tol(s.w[c], w[c], 3e-3);
    }
    ck_assert_uint_eq(at, 4);
    json_decref(j);
}
END_TEST

Suite *suite_rank_svm(void)
{
    return ek_suite("rank_svm", planted_weights_are_found,
                    a_reversed_feature_gets_the_negated_weight,
                    a_feature_given_twice_shares_its_weight,
                    a_feature_that_is_the_same_within_each_list_gets_no_weight,
                    one_pair_is_solved_as_by_hand, the_best_objective_lies_between_its_bounds,
                    features_ten_times_as_large_want_a_hundredth_of_c,
                    labels_count_by_their_order_and_only_within_a_list,
                    the_same_data_give_the_same_bits, without_a_pair_there_is_nothing_to_learn,
                    features_without_any_difference_get_no_weight_at_all,
                    options_and_values_out_of_range_are_told,
                    lists_of_any_length_and_many_levels_agree_with_scikit_learn);
}
