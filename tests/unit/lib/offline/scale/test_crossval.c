/* Cross-validation on lists with a known best scaling. */
#include "tests/check.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "offline/scale/crossval.h"

#include <math.h>
#include <string.h>

enum { LISTS = 50, LENGTH = 8, FEATURES = 2, EMPTY_EACH = 10 };

/* Labels by the sum of the logs of two features over many powers of ten, so a linear model of the
 * logs is right and one of the values is not. Each tenth list has no relevant item. */
static void plant(struct ek_dataset *d)
{
    struct ek_list q;
    struct ek_error e;
    struct ek_rng r;
    ek_rng_seed(&r, 3);
    ek_dataset_init(d, FEATURES, 0);
    ek_list_init(&q);
    for (int i = 0; i < LISTS; i++) {
        ck_assert_int_eq(ek_list_resize(&q, LENGTH, FEATURES, 0), EK_OK);
        q.has_label = true;
        for (int k = 0; k < LENGTH; k++) {
            double a = 3 * ek_rng_normal(&r), b = 3 * ek_rng_normal(&r);
            q.x[2 * k] = (float)exp(a);
            q.x[2 * k + 1] = (float)exp(b);
            q.label[k] = i % EMPTY_EACH ? (float)((a + b > -2) + (a + b > 2)) : 0;
        }
        ck_assert_int_eq(ek_dataset_add(d, &q, &e), EK_OK);
    }
    ek_list_release(&q);
}

static float as_is(float x)
{
    return x;
}

static float shrunk(float x)
{
    return x * 1e-6f;
}

static float nothing(float x)
{
    (void)x;
    return 0;
}

struct scaling {
    float (*of)(float);
    int fails_at; /* the first test list of the fold that fails; -1: none */
};

static float *rows(const struct ek_dataset *d, float (*of)(float))
{
    float *x = ek_calloc(d->items * FEATURES, sizeof *x);
    ck_assert_ptr_nonnull(x);
    for (size_t i = 0; i < d->items * FEATURES; i++)
        x[i] = of(d->x[i]);
    return x;
}

static int scale(void *context, const struct ek_fold *fold, struct ek_crossval_rows *out,
                 struct ek_error *e)
{
    const struct scaling *s = context;
    out->columns = FEATURES;
    out->train = rows(&fold->train, s->of);
    if (s->fails_at == (int)fold->first_tested)
        return ek_fail(e, EK_EUSAGE, "no luck");
    out->vali = rows(&fold->vali, s->of);
    out->test = rows(&fold->test, s->of);
    return EK_OK;
}

struct scene {
    struct ek_dataset d;
    struct ek_folds folds;
    struct scaling scaling[2];
    struct ek_crossval_result of[2];
    struct ek_crossval_options o;
    struct ek_crossval_scores out[2];
    struct ek_error e;
};

/* The logs against the values. */
static void begin(struct scene *s)
{
    plant(&s->d);
    ck_assert_int_eq(ek_folds_split(&s->folds, LISTS, 5, &s->e), EK_OK);
    s->scaling[0] = (struct scaling){logf, -1};
    s->scaling[1] = (struct scaling){shrunk, -1};
    s->of[0] = (struct ek_crossval_result){"logs", scale, &s->scaling[0]};
    s->of[1] = (struct ek_crossval_result){"values", scale, &s->scaling[1]};
    ek_crossval_defaults(&s->o);
}

static int judge(struct scene *s, int count)
{
    return ek_crossval(&s->d, &s->folds, s->of, count, &s->o, s->out, &s->e);
}

static void end(struct scene *s, int count)
{
    for (int i = 0; i < count; i++)
        ek_crossval_scores_release(&s->out[i]);
    ek_dataset_release(&s->d);
}

START_TEST(the_right_scaling_ranks_best_and_the_test_says_so)
{
    struct scene s;
    struct ek_paired_test t;
    begin(&s);
    ck_assert_int_eq(judge(&s, 2), EK_OK);
    ck_assert_double_gt(ek_metric_result(&s.out[0].mean[EK_CROSSVAL_MAP]), .98);
    ck_assert_double_gt(ek_metric_result(&s.out[0].mean[EK_CROSSVAL_NDCG + 9]), .99);
    for (int i = EK_CROSSVAL_NDCG; i < EK_CROSSVAL_METRICS; i++)
        ck_assert_double_gt(ek_metric_result(&s.out[0].mean[i]),
                            ek_metric_result(&s.out[1].mean[i]));
    ek_paired_test(s.out[0].first, s.out[1].first, LISTS, &t);
    ck_assert_double_lt(t.p, .01);
    ck_assert_double_gt(t.t, 0);
    ck_assert_uint_eq(t.pairs, LISTS - LISTS / EMPTY_EACH);
    end(&s, 2);
}
END_TEST

START_TEST(each_list_counts_once_by_the_rule_for_empty_ones)
{
    for (enum ek_empty empty = EK_EMPTY_SKIP; empty <= EK_EMPTY_1; empty++) {
        struct scene s;
        double sum = 0;
        size_t counted = 0;
        begin(&s);
        s.o.empty = empty;
        ck_assert_int_eq(judge(&s, 1), EK_OK);
        for (size_t q = 0; q < LISTS; q++) {
            bool is_empty = q % EMPTY_EACH == 0;
            ck_assert(isnan(s.out[0].first[q]) == (is_empty && empty == EK_EMPTY_SKIP));
            if (is_empty && empty != EK_EMPTY_SKIP)
                ck_assert_double_eq(s.out[0].first[q], empty == EK_EMPTY_1);
            if (isnan(s.out[0].first[q]))
                continue;
            sum += s.out[0].first[q];
            counted++;
        }
        const struct ek_metric_mean *mean = &s.out[0].mean[EK_CROSSVAL_NDCG];
        ck_assert_uint_eq(mean->lists, LISTS);
        ck_assert_uint_eq(mean->count, counted);
        ck_assert_double_eq_tol(ek_metric_result(mean), sum / (double)counted, 1e-12);
        end(&s, 1);
    }
}
END_TEST

START_TEST(the_figures_are_those_of_the_ranking)
{
    struct scene s;
    begin(&s);
    s.scaling[0].of = nothing; /* then the lists stay unchanged */
    ck_assert_int_eq(judge(&s, 1), EK_OK);
    for (int i = 0; i < EK_CROSSVAL_METRICS; i++) {
        struct ek_metric_mean mean = {0};
        for (size_t q = 0; q < LISTS; q++) {
            int order[LENGTH];
            double scratch[LENGTH];
            for (int k = 0; k < LENGTH; k++)
                order[k] = k;
            double v = ek_metric_compute(ek_crossval_metric(i), EK_GAIN_EXP, order,
                                         s.d.label + q * LENGTH, LENGTH, 2, scratch);
            ck_assert(i != EK_CROSSVAL_NDCG || isnan(v) || v == s.out[0].first[q]);
            ek_metric_add(&mean, v, EK_EMPTY_SKIP);
        }
        ck_assert_double_eq_tol(ek_metric_result(&s.out[0].mean[i]), ek_metric_result(&mean),
                                1e-12);
    }
    end(&s, 1);
}
END_TEST

START_TEST(metrics_have_names)
{
    const char *expected[] = {"p@1", "p@10", "ndcg@1", "ndcg@10", "map", "err"};
    const int number[] = {0, 9, 10, 19, 20, 21};
    char text[16];
    for (int i = 0; i < 6; i++) {
        struct ek_metric parsed, m = ek_crossval_metric(number[i]);
        struct ek_error e;
        ck_assert_str_eq(ek_crossval_metric_name(number[i], text, sizeof text), expected[i]);
        ck_assert_int_eq(ek_metric_parse(text, &parsed, &e), EK_OK);
        ck_assert(parsed.kind == m.kind && parsed.cutoff == m.cutoff);
    }
}
END_TEST

static void backwards(void *context, void (*task)(void *arg, int i), void *arg, int count)
{
    ++*(int *)context;
    for (int i = count - 1; i >= 0; i--)
        task(arg, i);
}

START_TEST(the_order_in_which_folds_are_run_changes_no_bit)
{
    struct scene a, b;
    int runs = 0;
    begin(&a);
    begin(&b);
    b.o.run = backwards;
    b.o.context = &runs;
    ck_assert_int_eq(judge(&a, 2), EK_OK);
    ck_assert_int_eq(judge(&b, 2), EK_OK);
    ck_assert_int_eq(runs, 2);
    for (int i = 0; i < 2; i++) {
        ck_assert_mem_eq(a.out[i].mean, b.out[i].mean, sizeof a.out[i].mean);
        ck_assert_mem_eq(a.out[i].fold, b.out[i].fold, 5 * sizeof *a.out[i].fold);
        ck_assert_mem_eq(a.out[i].first, b.out[i].first, LISTS * sizeof *a.out[i].first);
    }
    end(&a, 2);
    end(&b, 2);
}
END_TEST

START_TEST(c_is_chosen_per_fold_and_its_edges_are_told)
{
    struct scene s;
    begin(&s);
    ck_assert_int_eq(judge(&s, 2), EK_OK);
    for (int f = 0; f < 5; f++) {
        const struct ek_crossval_fold *k = &s.out[0].fold[f];
        ck_assert_int_eq(k->edge,
                         k->c == ek_crossval_c(0) ? -1 : k->c == ek_crossval_c(EK_CROSSVAL_CS - 1));
        ck_assert_double_gt(k->vali_map, .9);
        ck_assert_uint_eq(k->columns, FEATURES);
        ck_assert_uint_eq(k->mean[0].lists, LISTS / 5);
    }
    end(&s, 2);
    begin(&s);
    s.scaling[0].of = nothing; /* all C are equal, so the smallest is selected */
    ck_assert_int_eq(judge(&s, 1), EK_OK);
    ck_assert(s.out[0].fold[2].c == ek_crossval_c(0) && s.out[0].fold[2].edge == -1);
    end(&s, 1);
}
END_TEST

START_TEST(a_c_that_does_not_settle_is_passed_over_and_counted)
{
    struct scene s;
    begin(&s);
    s.o.svm.rounds_max = 2;
    ck_assert_int_eq(judge(&s, 1), EK_OK);
    ck_assert_int_gt(s.out[0].fold[0].unsettled, 0);
    ck_assert_int_lt(s.out[0].fold[0].unsettled, EK_CROSSVAL_CS);
    end(&s, 1);
    begin(&s);
    s.scaling[0].of = as_is; /* over powers of ten it never converges */
    s.o.svm.rounds_max = 1;
    ck_assert_int_eq(judge(&s, 1), EK_ESTATE);
    end(&s, 0);
}
END_TEST

START_TEST(what_fails_says_for_which_method_and_fold)
{
    struct scene s;
    begin(&s);
    s.scaling[1].fails_at = 20; /* fold 4 tests part 3 */
    ck_assert_int_eq(judge(&s, 2), EK_EUSAGE);
    ck_assert_str_eq(s.e.message, "'values', fold 4: no luck");
    end(&s, 0);
    begin(&s);
    memset(s.d.label, 0, s.d.items * sizeof *s.d.label);
    ck_assert_int_eq(judge(&s, 1), EK_EUSAGE);
    ck_assert_msg(strstr(s.e.message, "nothing to learn") != NULL, "%s", s.e.message);
    end(&s, 0);
    begin(&s); /* the validation part of fold 1 */
    memset(s.d.label + 30 * LENGTH, 0, 10 * LENGTH * sizeof *s.d.label);
    ck_assert_int_eq(judge(&s, 1), EK_EUSAGE);
    ck_assert_str_eq(s.e.message,
                     "'logs', fold 1: no list of the validation part has a relevant item");
    end(&s, 0);
    begin(&s);
    s.d.label[3] = 1e6f;
    ck_assert_int_eq(judge(&s, 1), EK_EUSAGE);
    ck_assert_msg(strstr(s.e.message, "give grades") != NULL, "%s", s.e.message);
    end(&s, 0);
}
END_TEST

static int stop(void *context, int done, int of, const char *name)
{
    (void)context;
    ck_assert_int_eq(of, 2);
    ck_assert_str_eq(name, done ? "values" : "logs");
    return done == 1;
}

START_TEST(progress_may_stop_it)
{
    struct scene s;
    begin(&s);
    s.o.progress = stop;
    ck_assert_int_eq(judge(&s, 2), EK_ESTATE);
    ck_assert_str_eq(s.e.message, "stopped");
    end(&s, 0);
}
END_TEST

Suite *suite_crossval(void)
{
    return ek_suite("judge", the_right_scaling_ranks_best_and_the_test_says_so,
                    each_list_counts_once_by_the_rule_for_empty_ones,
                    the_figures_are_those_of_the_ranking, metrics_have_names,
                    the_order_in_which_folds_are_run_changes_no_bit,
                    c_is_chosen_per_fold_and_its_edges_are_told,
                    a_c_that_does_not_settle_is_passed_over_and_counted,
                    what_fails_says_for_which_method_and_fold, progress_may_stop_it);
}
