/* Neural feature selection on lists with known relevant features. */
#include "tests/check.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "offline/select/nfs.h"
#include "offline/select/nfs_train.h"
#include "daemon/training/train_args.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { F = 8, M = 1, ITEMS_MAX = 9 };

/* Roles of the features of planted lists; the rest is noise. */
struct plan {
    int lists;
    double weight[F];   /* of a feature in the utility */
    int twin;           /* a copy of feature 0; 0: none */
    int constant, gone; /* a feature that is always 3, one that is always missing; 0: none */
    double missing;     /* fraction of the values of all features */
};

static struct ek_manifest *manifest(int features)
{
    char text[4000] = "features:\n";
    struct ek_manifest *m;
    struct ek_error e;
    for (int f = 1; f <= features; f++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "  - {name: f%d, index: %d, role: item}\n", f, f);
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "  - {name: q, index: %d, role: query}\n", features + 1);
    ck_assert_int_eq(ek_manifest_parse(&m, "m", text, strlen(text), &e), EK_OK);
    return m;
}

static double draw_item(const struct plan *p, struct ek_rng *r, float *x)
{
    double utility = 0.1 * ek_rng_gumbel(r);
    for (int f = 0; f < F; f++) {
        double z = ek_rng_normal(r);
        x[f] = (float)(f % 2 ? exp(3 + z) : 20 * z); /* units differ */
        utility += p->weight[f] * z;
    }
    if (p->twin)
        x[p->twin] = x[0];
    if (p->constant)
        x[p->constant] = 3;
    for (int f = 0; f < F; f++)
        if (ek_rng_uniform(r) < p->missing || (p->gone && f == p->gone))
            x[f] = NAN;
    return utility;
}

/* Every fifth list has one item, every seventh no positive label. */
static void draw_list(const struct plan *p, struct ek_rng *r, int number, struct ek_list *q)
{
    int n = number % 5 ? 4 + (int)ek_rng_uniform_int(r, ITEMS_MAX - 3) : 1, best = 0;
    double high = -INFINITY;
    ck_assert_int_eq(ek_list_resize(q, n, F, M), EK_OK);
    q->has_label = true;
    q->query[0] = (float)ek_rng_uniform_int(r, 5);
    for (int i = 0; i < n; i++) {
        double utility = draw_item(p, r, q->x + i * F);
        q->label[i] = 0;
        if (utility > high) {
            high = utility;
            best = i;
        }
    }
    q->label[best] = number % 7 ? 1 : 0;
}

static void draw(struct ek_dataset *d, const struct plan *p, uint64_t seed, int lists)
{
    struct ek_rng r;
    struct ek_list q;
    struct ek_error e;
    ek_rng_seed(&r, seed);
    ek_list_init(&q);
    q.id = (struct ek_text){"q", 1};
    ek_dataset_init(d, F, M);
    for (int i = 0; i < lists; i++) {
        draw_list(p, &r, i, &q);
        ck_assert_int_eq(ek_dataset_add(d, &q, &e), EK_OK);
    }
    ek_list_release(&q);
}

static struct ek_nfs_options options(void)
{
    struct ek_nfs_options o;
    ek_nfs_defaults(&o);
    o.epochs = 5;
    o.batch_lists = 32;
    return o;
}

static void select_with(struct ek_nfs *out, const struct plan *p, const struct ek_nfs_options *o)
{
    struct ek_manifest *m = manifest(F);
    struct ek_dataset train, vali;
    struct ek_error e = {0};
    draw(&train, p, 1, p->lists);
    draw(&vali, p, 2, 100);
    int code = ek_nfs_run(out, m, &train, &vali, o, &e);
    ck_assert_msg(code == EK_OK, "%s", e.message);
    ek_dataset_release(&train);
    ek_dataset_release(&vali);
    ek_manifest_free(m);
}

static void choose(const struct ek_nfs *n, int k, int *chosen)
{
    struct ek_error e;
    ck_assert_int_eq(ek_nfs_choose(n, k, chosen, &e), EK_OK);
}

static bool among(const int *chosen, int k, int feature)
{
    for (int i = 0; i < k; i++)
        if (chosen[i] == feature)
            return true;
    return false;
}

START_TEST(one_informative_feature_among_noise_is_chosen_first)
{
    for (int feature = 2; feature <= 3; feature++) {
        struct plan p = {.lists = 400};
        struct ek_nfs n;
        struct ek_nfs_options o = options();
        int chosen[1];
        p.weight[feature] = 1;
        select_with(&n, &p, &o);
        choose(&n, 1, chosen);
        ck_assert_int_eq(chosen[0], feature);
        ck_assert_double_gt(n.vali_ndcg10, .9);
        for (int f = 0; f < F; f++)
            ck_assert(f == feature || n.saliency[f] < .5 * n.saliency[feature]);
        ek_nfs_release(&n);
    }
}
END_TEST

START_TEST(a_feature_of_which_less_is_better_is_found_as_well)
{
    struct plan p = {.lists = 400, .weight = {[5] = -1}};
    struct ek_nfs n;
    struct ek_nfs_options o = options();
    int chosen[1];
    select_with(&n, &p, &o);
    choose(&n, 1, chosen);
    ck_assert_int_eq(chosen[0], 5);
    ek_nfs_release(&n);
}
END_TEST

START_TEST(a_copy_is_not_chosen_beside_its_twin_while_another_informative_feature_is_left)
{
    for (double weight = .9; weight > .2; weight -= .6) {
        struct plan p = {.lists = 500, .weight = {[0] = 1, [3] = weight}, .twin = 6};
        struct ek_nfs n;
        struct ek_nfs_options o = options();
        int chosen[F];
        select_with(&n, &p, &o);
        ck_assert_int_eq(n.copy_of[6], 0);
        ck_assert_double_eq(n.saliency[0], n.saliency[6]);
        ck_assert_double_eq(n.similarity[6], 1);
        choose(&n, 2, chosen);
        ck_assert(among(chosen, 2, 0) && among(chosen, 2, 3));
        choose(&n, F, chosen);
        ck_assert_int_eq(chosen[F - 1], 6);
        ek_nfs_release(&n);
    }
}
END_TEST

START_TEST(groups_that_chance_explains_are_not_kept)
{
    struct plan p = {.lists = 60, .weight = {[0] = 1, [3] = 1}, .missing = .5};
    struct ek_nfs n;
    struct ek_nfs_options o = options();
    select_with(&n, &p, &o);
    ck_assert_uint_gt(n.kept, 0);
    ck_assert_uint_lt(n.kept, n.groups);
    ek_nfs_release(&n);
}
END_TEST

/* List f has values of feature f only. */
static void draw_apart(struct ek_dataset *d)
{
    struct ek_rng r;
    struct ek_list q;
    struct ek_error e;
    ek_rng_seed(&r, 1);
    ek_list_init(&q);
    ek_dataset_init(d, F, M);
    for (int f = 0; f < F; f++) {
        ck_assert_int_eq(ek_list_resize(&q, 6, F, M), EK_OK);
        q.has_label = true;
        q.query[0] = 0;
        for (int i = 0; i < 6; i++) {
            for (int g = 0; g < F; g++)
                q.x[i * F + g] = g == f ? (float)ek_rng_normal(&r) : NAN;
            q.label[i] = q.x[i * F + f] > 0;
        }
        ck_assert_int_eq(ek_dataset_add(d, &q, &e), EK_OK);
    }
    ek_list_release(&q);
}

START_TEST(every_list_of_a_batch_teaches)
{
    struct ek_manifest *m = manifest(F);
    struct ek_nfs_options o = options();
    struct ek_dataset d;
    struct ek_nfs n;
    struct ek_error e;
    o.epochs = 1;
    draw_apart(&d);
    ck_assert_int_eq(ek_nfs_run(&n, m, &d, &d, &o, &e), EK_OK);
    for (int f = 0; f < F; f++)
        ck_assert_double_gt(n.saliency[f], 0);
    ek_nfs_release(&n);
    ek_dataset_release(&d);
    ek_manifest_free(m);
}
END_TEST

START_TEST(features_that_never_vary_come_last)
{
    struct plan p = {.lists = 200, .weight = {[2] = 1}, .constant = 1, .gone = 4};
    struct ek_nfs n;
    struct ek_nfs_options o = options();
    int chosen[F];
    o.epochs = 2;
    select_with(&n, &p, &o);
    choose(&n, F, chosen);
    ck_assert(among(chosen + F - 2, 2, 1) && among(chosen + F - 2, 2, 4));
    ck_assert_double_eq(n.saliency[1], 0);
    ck_assert_double_eq(n.saliency[4], 0);
    ek_nfs_release(&n);
}
END_TEST

START_TEST(missing_values_do_not_hide_what_matters)
{
    struct plan p = {.lists = 600, .weight = {[3] = 1}, .missing = .3};
    struct ek_nfs n;
    struct ek_nfs_options o = options();
    int chosen[1];
    select_with(&n, &p, &o);
    choose(&n, 1, chosen);
    ck_assert_int_eq(chosen[0], 3);
    for (int f = 0; f < F; f++)
        ck_assert(isfinite(n.saliency[f]));
    ek_nfs_release(&n);
}
END_TEST

static void run_on_pool(void *context, void (*task)(void *arg, int i), void *arg, int count)
{
    ek_pool_run(context, task, arg, count);
}

static void check_same(const struct ek_nfs *a, const struct ek_nfs *b)
{
    ck_assert_double_eq(a->vali_ndcg10, b->vali_ndcg10);
    ck_assert_uint_eq(a->groups, b->groups);
    ck_assert_uint_eq(a->kept, b->kept);
    ck_assert_mem_eq(a->saliency, b->saliency, F * sizeof *a->saliency);
    ck_assert_mem_eq(a->frequency, b->frequency, F * sizeof *a->frequency);
    ck_assert_mem_eq(a->similarity, b->similarity, (size_t)F * F * sizeof *a->similarity);
}

START_TEST(the_number_of_threads_changes_no_bit)
{
    struct plan p = {.lists = 150, .weight = {[2] = 1, [5] = .7}};
    struct ek_nfs alone, other;
    struct ek_nfs_options o = options();
    o.epochs = 2;
    select_with(&alone, &p, &o);
    o.run = run_on_pool;
    for (int threads = 2; threads <= 5; threads += 3) {
        o.context = ek_pool_new(threads);
        select_with(&other, &p, &o);
        check_same(&alone, &other);
        ek_nfs_release(&other);
        ek_pool_free(o.context);
    }
    ek_nfs_release(&alone);
}
END_TEST

static int stop_after_two(void *context, int epoch, int epochs, double vali_ndcg10)
{
    int *calls = context;
    ck_assert_int_eq(epoch, ++*calls);
    ck_assert_int_eq(epochs, 5);
    ck_assert(vali_ndcg10 >= 0 && vali_ndcg10 <= 1);
    return epoch == 2;
}

START_TEST(a_stop_looks_at_what_was_learned_so_far)
{
    struct plan p = {.lists = 200, .weight = {[2] = 1}};
    struct ek_nfs n;
    struct ek_nfs_options o = options();
    int calls = 0, chosen[1];
    o.progress = stop_after_two;
    o.context = &calls;
    select_with(&n, &p, &o);
    ck_assert_int_eq(calls, 2);
    choose(&n, 1, chosen);
    ck_assert_int_eq(chosen[0], 2);
    ek_nfs_release(&n);
}
END_TEST

/* Run, and expect an error that contains `word`. */
static void expect_error(const struct ek_dataset *train, const struct ek_dataset *vali,
                         const struct ek_nfs_options *o, const char *word)
{
    struct ek_manifest *m = manifest(F);
    struct ek_nfs n;
    struct ek_error e = {0};
    ck_assert_int_eq(ek_nfs_run(&n, m, train, vali, o, &e), EK_EUSAGE);
    ck_assert_msg(strstr(e.message, word) != NULL, "%s", e.message);
    ek_manifest_free(m);
}

START_TEST(options_out_of_range_and_lists_without_order_are_errors)
{
    struct plan p = {.lists = 20, .weight = {1}};
    struct ek_nfs_options o = options(), bad;
    struct ek_dataset d, none;
    draw(&d, &p, 1, 20);
    draw(&none, &p, 1, 20);
    memset(none.label, 0, none.items * sizeof *none.label);
    expect_error(&none, &d, &o, "training data has no list");
    expect_error(&d, &none, &o, "validation data has no list");
    bad = o;
    bad.threshold = 1;
    expect_error(&d, &d, &bad, "threshold");
    bad = o;
    bad.chance = 0;
    expect_error(&d, &d, &bad, "chance");
    bad = o;
    bad.epochs = 0;
    expect_error(&d, &d, &bad, "epochs");
    bad = o;
    bad.learning_rate = NAN;
    expect_error(&d, &d, &bad, "learning rate");
    ek_dataset_release(&d);
    ek_dataset_release(&none);
}
END_TEST

Suite *suite_nfs(void)
{
    return ek_suite("nfs", one_informative_feature_among_noise_is_chosen_first,
                    a_feature_of_which_less_is_better_is_found_as_well,
                    a_copy_is_not_chosen_beside_its_twin_while_another_informative_feature_is_left,
                    groups_that_chance_explains_are_not_kept, every_list_of_a_batch_teaches,
                    features_that_never_vary_come_last, missing_values_do_not_hide_what_matters,
                    the_number_of_threads_changes_no_bit, a_stop_looks_at_what_was_learned_so_far,
                    options_out_of_range_and_lists_without_order_are_errors);
}
