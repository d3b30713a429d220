/* Training network: batch normalization, dropout, and equality with the scorer's network. */
#include "base/alloc.h"
#include "offline/train/encoded_dataset.h"
#include "offline/world/hotel.h"
#include "offline/train/network_norm.h"
#include "offline/train/evaluate.h"
#include "offline/train/training.h"
#include "score/scorer.h"
#include "tests/check.h"
#include "tests/train_set.h"

#include <math.h>
#include <string.h>

enum { LISTS = 3, PASSES = 2, LONGEST = EK_HOTEL_ITEMS_MAX };

static struct ek_manifest *hotel_manifest(void)
{
    struct ek_manifest *m;
    struct ek_error e;
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&m, "hotel", text, strlen(text), &e), EK_OK);
    return m;
}

static void fill_lists(struct ek_dataset *d, const struct ek_manifest *m, uint64_t from, int count)
{
    struct ek_hotel *h;
    struct ek_list q;
    struct ek_error e;
    ek_list_init(&q);
    ek_dataset_init(d, m->item_count, m->query_count);
    ck_assert_int_eq(ek_hotel_new(&h, 7, &e), EK_OK);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq(ek_hotel_list(h, from + (uint64_t)i, &q, &e), EK_OK);
        ck_assert_int_eq(ek_dataset_add(d, &q, &e), EK_OK);
    }
    ek_hotel_free(h);
    ek_list_release(&q);
}

/* A network with weights of a fixed seed. List 0 and 1 are in one pass, list 2 in another; the
 * first feature of list 0 and the second of list 1 are routed. */
struct bench {
    struct ek_manifest *features;
    struct ek_model *model;
    struct ek_dataset data;
    struct ek_encoded encoded;
    struct ek_network n;
    struct ek_norm norm;
    struct ek_pass pass[PASSES];
    size_t rows[PASSES];
    float *mask[LISTS], *parameter, *turned, *folded, *gradient;
    double *blame; /* [items]: weights of the scores in the test loss */
};

static void draw_parameters(struct bench *b, struct ek_rng *r)
{
    ek_network_start(&b->n, b->parameter, r);
    for (size_t i = 0; i < (b->n.gate + 1) * b->n.routable; i++) {
        b->parameter[b->n.slope + i] = (float)ek_rng_normal(r);
        b->parameter[b->n.zero + i] = (float)ek_rng_normal(r);
    }
}

static void draw_keeps(struct bench *b, struct ek_rng *r)
{
    for (int p = 0; p < PASSES; p++)
        for (int i = 1; i < b->n.layers && b->n.dropout > 0; i++)
            for (size_t j = 0; j < b->pass[p].rows * b->n.layer[i].stride; j++)
                b->pass[p].keep[i][j] = ek_rng_uniform_int(r, 4) ? 4.0f / 3 : 0;
}

static void bench_init(struct bench *b, const struct ek_network_options *o,
                       enum ek_transform transform)
{
    struct ek_model_shape shape = {.hidden_count = 2,
                                   .hidden = {7, 5},
                                   .gate_size = 2,
                                   .mask_input = true,
                                   .log_input = EK_LOG_ALWAYS,
                                   .transform = transform};
    struct ek_rng r;
    struct ek_error e;
    memset(b, 0, sizeof *b);
    ek_rng_seed(&r, 11);
    b->features = hotel_manifest();
    fill_lists(&b->data, b->features, 0, LISTS);
    ck_assert_int_eq(ek_model_new(&b->model, b->features, &shape, &e), EK_OK);
    ck_assert_int_eq(ek_statistics_fit(b->model, &b->data, &e), EK_OK);
    ck_assert_int_eq(ek_encoded_init(&b->encoded, b->model, &b->data, &e), EK_OK);
    ek_network_init(&b->n, b->model, o);
    ck_assert_int_eq(ek_norm_init(&b->norm, &b->n), EK_OK);
    for (int p = 0; p < PASSES; p++)
        ck_assert_int_eq(ek_pass_init(&b->pass[p], &b->n, 2 * LONGEST), EK_OK);
    for (int q = 0; q < LISTS; q++)
        b->mask[q] = ek_calloc(b->n.routable, sizeof(float));
    b->mask[0][0] = b->mask[1][1] = 1;
    b->parameter = ek_calloc_aligned(b->n.parameters, sizeof(float));
    b->folded = ek_calloc_aligned(b->n.parameters, sizeof(float));
    b->gradient = ek_calloc_aligned(b->n.parameters, sizeof(float));
    b->turned = ek_calloc_aligned(b->n.turned, sizeof(float));
    b->blame = ek_calloc(b->data.items, sizeof *b->blame);
    for (size_t i = 0; i < b->data.items; i++)
        b->blame[i] = ek_rng_normal(&r);
    draw_parameters(b, &r);
    draw_keeps(b, &r);
}

static void bench_release(struct bench *b)
{
    for (int p = 0; p < PASSES; p++)
        ek_pass_release(&b->pass[p]);
    for (int q = 0; q < LISTS; q++)
        ek_free(b->mask[q]);
    ek_norm_release(&b->norm);
    ek_encoded_release(&b->encoded);
    ek_dataset_release(&b->data);
    ek_free(b->parameter);
    ek_free(b->folded);
    ek_free(b->gradient);
    ek_free(b->turned);
    ek_free(b->blame);
    ek_model_free(b->model);
    ek_manifest_free(b->features);
}

static struct ek_network_list list_of(const struct bench *b, size_t q)
{
    return ek_encoded_list(&b->encoded, q, b->mask[q]);
}

static int pass_of(size_t list)
{
    return list == LISTS - 1;
}

static void load(struct bench *b)
{
    ek_network_transpose(&b->n, b->parameter, b->turned, 0, 1);
    memset(b->rows, 0, sizeof b->rows);
    for (size_t q = 0; q < LISTS; q++) {
        struct ek_network_list l = list_of(b, q);
        int p = pass_of(q);
        ek_network_load(&b->n, b->turned, &b->pass[p], b->rows[p], &l);
        b->rows[p] += l.items;
    }
}

/* The whole forward pass of training; running statistics become `1 - old` of the batch's. */
static void forward(struct bench *b, double old)
{
    struct ek_pass *passes[PASSES] = {&b->pass[0], &b->pass[1]};
    load(b);
    for (int i = 0; i < b->n.layers; i++) {
        for (int p = 0; p < PASSES && b->n.norm; p++)
            ek_norm_measure(&b->n, &b->pass[p], b->rows[p], i);
        if (b->n.norm)
            ek_norm_merge(&b->n, &b->norm, passes, b->rows, PASSES, i, b->parameter, old);
        for (int p = 0; p < PASSES; p++) {
            ek_norm_forward(&b->n, &b->norm, &b->pass[p], b->rows[p], i);
            ek_network_forward_layer(&b->n, b->parameter, b->turned, &b->pass[p], b->rows[p], i,
                                     true);
        }
    }
}

/* Call `visit` for each list with its pass and row. */
static void each_list(struct bench *b,
                      void (*visit)(struct bench *, struct ek_pass *, size_t row, size_t list,
                                    double *sum),
                      double *sum)
{
    size_t row[PASSES] = {0};
    for (size_t q = 0; q < LISTS; q++) {
        int p = pass_of(q);
        visit(b, &b->pass[p], row[p], q, sum);
        row[p] += list_of(b, q).items;
    }
}

static void add_scores(struct bench *b, struct ek_pass *p, size_t row, size_t list, double *sum)
{
    struct ek_network_list l = list_of(b, list);
    double score[LONGEST];
    ek_network_score(&b->n, b->parameter, p, row, &l, score);
    for (size_t i = 0; i < l.items; i++)
        *sum += b->blame[b->data.offset[list] + i] * score[i];
}

static void blame(struct bench *b, struct ek_pass *p, size_t row, size_t list, double *sum)
{
    struct ek_network_list l = list_of(b, list);
    (void)sum;
    ek_network_backward_list(&b->n, b->parameter, p, row, &l, b->blame + b->data.offset[list],
                             b->gradient);
}

static void blame_mixture(struct bench *b, struct ek_pass *p, size_t row, size_t list, double *sum)
{
    struct ek_network_list l = list_of(b, list);
    (void)sum;
    ek_network_backward_mixture(&b->n, b->turned, p, row, &l, b->gradient);
}

static double objective(struct bench *b)
{
    double sum = 0;
    forward(b, 1);
    each_list(b, add_scores, &sum);
    return sum;
}

static void backward(struct bench *b)
{
    struct ek_pass *passes[PASSES] = {&b->pass[0], &b->pass[1]};
    each_list(b, blame, NULL);
    for (int i = b->n.layers - 1; i >= 0; i--) {
        for (int p = 0; p < PASSES; p++) {
            ek_network_backward_layer(&b->n, b->parameter, &b->pass[p], b->rows[p], i, b->gradient);
            ek_norm_backward(&b->n, &b->norm, &b->pass[p], b->rows[p], i);
        }
        if (b->n.norm)
            ek_norm_merge_backward(&b->n, &b->norm, passes, b->rows, PASSES, i);
        for (int p = 0; p < PASSES; p++) {
            ek_norm_finish(&b->n, &b->norm, &b->pass[p], b->rows[p], i);
            ek_network_backward_relu(&b->n, &b->pass[p], b->rows[p], i);
        }
    }
    if (b->n.mixes)
        each_list(b, blame_mixture, NULL);
}

/* Small enough that hardly any ReLU unit changes sides. */
static const float STEP = 1e-4f;

static void check_gradient(const struct ek_network_options *o, enum ek_transform transform)
{
    struct bench b;
    double off = 0, size = 0;
    bench_init(&b, o, transform);
    objective(&b);
    backward(&b);
    for (size_t i = 0; i < b.n.parameters; i++) {
        float held = b.parameter[i];
        b.parameter[i] = held + STEP;
        double up = objective(&b);
        b.parameter[i] = held - STEP;
        double slope = (up - objective(&b)) / (2 * (double)STEP);
        b.parameter[i] = held;
        off += (slope - (double)b.gradient[i]) * (slope - (double)b.gradient[i]);
        size += slope * slope;
        if (i >= b.n.learned)
            ck_assert(b.gradient[i] == 0);
    }
    ck_assert_msg(off < 1e-5 * size, "%s, norm %d, dropout %g: %g of %g",
                  ek_transform_name(transform), o->batch_norm, o->dropout, off, size);
    ck_assert(size > 1);
    bench_release(&b);
}

START_TEST(gradients_go_through_batch_norm_dropout_and_mixture)
{
    check_gradient(&(struct ek_network_options){false, 0}, EK_TRANSFORM_MIXTURE);
    check_gradient(&(struct ek_network_options){false, 0}, EK_TRANSFORM_LOG1P);
    check_gradient(&(struct ek_network_options){true, 0}, EK_TRANSFORM_LOG1P);
    check_gradient(&(struct ek_network_options){false, 0.25}, EK_TRANSFORM_LOG1P);
    check_gradient(&(struct ek_network_options){true, 0.25}, EK_TRANSFORM_MIXTURE);
}
END_TEST

START_TEST(what_a_layer_reads_has_mean_0_and_deviation_1_over_the_whole_batch)
{
    struct bench b;
    bench_init(&b, &(struct ek_network_options){true, 0}, EK_TRANSFORM_LOG1P);
    forward(&b, 0);
    for (int i = 0; i < b.n.layers; i++)
        for (size_t j = 0; j < b.n.layer[i].inputs; j++) {
            double sum = 0, square = 0, size = (double)(b.rows[0] + b.rows[1]);
            for (int p = 0; p < PASSES; p++)
                for (size_t row = 0; row < b.rows[p]; row++) {
                    double x = (double)b.pass[p].fed[i][row * b.n.layer[i].stride + j];
                    sum += x;
                    square += x * x;
                }
            double v = (double)b.parameter[b.n.layer[i].variance + j];
            ck_assert_double_eq_tol(sum / size, 0, 1e-5);
            ck_assert_double_eq_tol(square / size, v / (v + 1e-3), 1e-4);
        }
    bench_release(&b);
}
END_TEST

/* Scores of a list by the network without the training-only parts. */
static void plain_scores(struct bench *b, size_t list, double *score)
{
    struct ek_network_list l = list_of(b, list);
    ek_norm_fold(&b->n, b->parameter, b->folded);
    ek_network_transpose(&b->n, b->folded, b->turned, 0, 1);
    ek_network_load(&b->n, b->turned, &b->pass[0], 0, &l);
    ek_network_forward(&b->n, b->folded, b->turned, &b->pass[0], l.items);
    ek_network_score(&b->n, b->folded, &b->pass[0], 0, &l, score);
}

START_TEST(folded_weights_score_as_the_normalized_network)
{
    struct bench b;
    double in_training[2 * LONGEST], folded[LONGEST];
    bench_init(&b, &(struct ek_network_options){true, 0}, EK_TRANSFORM_LOG1P);
    forward(&b, 0);
    size_t row = 0;
    for (size_t q = 0; q < 2; q++) {
        struct ek_network_list l = list_of(&b, q);
        ek_network_score(&b.n, b.parameter, &b.pass[0], row, &l, in_training + row);
        row += l.items;
    }
    row = 0;
    for (size_t q = 0; q < 2; q++) {
        plain_scores(&b, q, folded);
        for (size_t i = 0; i < list_of(&b, q).items; i++)
            ck_assert_double_eq_tol(folded[i], in_training[row++], 1e-5);
    }
    bench_release(&b);
}
END_TEST

static void check_against_scorer(const struct ek_network_options *o, enum ek_transform transform)
{
    struct bench b;
    struct ek_scorer *scorer;
    struct ek_list view;
    struct ek_error e;
    bench_init(&b, o, transform);
    forward(&b, 0);
    ek_norm_fold(&b.n, b.parameter, b.folded);
    ek_network_export(&b.n, b.folded, b.model);
    ck_assert_int_eq(ek_scorer_new(&scorer, b.model, &e), EK_OK);
    ek_list_init(&view);
    for (size_t q = 0; q < LISTS; q++) {
        double ours[LONGEST], theirs[LONGEST];
        struct ek_treatment *t = ek_calloc(b.n.routable, sizeof *t);
        for (size_t k = 0; k < b.n.routable; k++)
            t[k].action = b.mask[q][k] > 0 ? EK_ACT_ROUTE : EK_ACT_NONE;
        ek_dataset_view(&b.data, q, &view);
        ck_assert_int_eq(ek_scorer_score(scorer, &view, t, theirs, &e), EK_OK);
        plain_scores(&b, q, ours);
        for (size_t i = 0; i < list_of(&b, q).items; i++)
            ck_assert_msg(fabs(ours[i] - theirs[i]) < 1e-5 * fmax(1, fabs(theirs[i])),
                          "%s, norm %d: %g, %g", ek_transform_name(transform), o->batch_norm,
                          ours[i], theirs[i]);
        ek_free(t);
    }
    ek_scorer_free(scorer);
    bench_release(&b);
}

START_TEST(the_scorer_computes_what_was_trained_for_every_transform)
{
    for (int t = 0; t <= EK_TRANSFORM_MIXTURE; t++) {
        check_against_scorer(&(struct ek_network_options){false, 0}, (enum ek_transform)t);
        check_against_scorer(&(struct ek_network_options){true, 0.25}, (enum ek_transform)t);
    }
}
END_TEST

static struct ek_model *trained(const struct ek_train_options *o)
{
    struct ek_manifest *m = hotel_manifest();
    struct ek_dataset train, vali;
    fill_lists(&train, m, 0, 150);
    fill_lists(&vali, m, 150, 40);
    return ek_trained(m, &train, &vali, o, NULL);
}

static struct ek_train_options quick(void)
{
    struct ek_train_options o;
    ek_train_defaults(&o);
    o.epochs = 2;
    o.batch_lists = 30;
    o.shape.hidden[0] = 20;
    o.shape.hidden[1] = 9;
    o.network = (struct ek_network_options){true, 0.2};
    return o;
}

START_TEST(threads_change_no_bit_under_batch_norm_and_dropout)
{
    struct ek_train_options o = quick();
    struct ek_model *alone = trained(&o);
    ek_check_threads(alone, o, trained);
    ek_model_free(alone);
}
END_TEST

START_TEST(batches_of_any_size_are_normalized)
{
    struct ek_train_options o = quick();
    for (int lists = 1; lists <= 1000; lists *= 10) { /* fewer than shards, and all in one */
        o.batch_lists = lists;
        o.epochs = 1;
        ek_model_free(trained(&o));
    }
}
END_TEST

START_TEST(a_share_that_cannot_be_dropped_is_refused)
{
    struct ek_manifest *m = hotel_manifest();
    struct ek_train_options o = quick();
    struct ek_dataset d;
    struct ek_model *model = NULL;
    struct ek_error e;
    fill_lists(&d, m, 0, 5);
    o.network.dropout = 1;
    ck_assert_int_eq(ek_train(&model, m, &d, &d, &o, NULL, &e), EK_EUSAGE);
    ck_assert_str_eq(e.message, "dropout is a share of at least 0 and below 1");
    o.network.dropout = NAN;
    ck_assert_int_eq(ek_train(&model, m, &d, &d, &o, NULL, &e), EK_EUSAGE);
    ek_dataset_release(&d);
    ek_manifest_free(m);
}
END_TEST

Suite *suite_network(void)
{
    return ek_suite("network", gradients_go_through_batch_norm_dropout_and_mixture,
                    what_a_layer_reads_has_mean_0_and_deviation_1_over_the_whole_batch,
                    folded_weights_score_as_the_normalized_network,
                    the_scorer_computes_what_was_trained_for_every_transform,
                    threads_change_no_bit_under_batch_norm_and_dropout,
                    batches_of_any_size_are_normalized, a_share_that_cannot_be_dropped_is_refused);
}
