/* Training: statistics, gradients of the whole network, and the quality of a trained model. */
#include "base/alloc.h"
#include "assets/tensors.h"
#include "offline/train/optimizer.h"
#include "offline/train/evaluate.h"
#include "offline/train/network.h"
#include "offline/train/training.h"
#include "tests/check.h"
#include "tests/train_set.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { F = EK_SMALL_FEATURES, M = EK_SMALL_QUERIES, LISTS = 240 };

/* Train on sets generated from seeds 1 and 2. */
static struct ek_model *trained(const struct ek_train_options *o, struct ek_train_progress *last)
{
    struct ek_dataset train, vali;
    ek_small_data(&train, 1, LISTS);
    ek_small_data(&vali, 2, 80);
    return ek_trained(ek_small_manifest(), &train, &vali, o, last);
}

static struct ek_model *trained_in_silence(const struct ek_train_options *o)
{
    return trained(o, NULL);
}

static double quality(const struct ek_model *m, const struct ek_dataset *d,
                      const struct ek_treatment *t)
{
    struct ek_evaluation v = {.metric = {{EK_NDCG, 10}}, .metric_count = 1, .treatment = t};
    struct ek_error e;
    ck_assert_int_eq(ek_evaluate(m, d, &v, &e), EK_OK);
    return ek_metric_result(&v.mean[0]);
}

START_TEST(statistics_are_those_of_the_data)
{
    struct ek_manifest *f = ek_small_manifest();
    struct ek_model_shape shape = {1, {4}, 4, true, false, EK_LOG_ALWAYS, EK_TRANSFORM_LOG1P};
    struct ek_model *m;
    struct ek_dataset d;
    struct ek_list q;
    struct ek_error e;
    static const float lists[2][2][F] = {{{1, 0, 5}, {-3, 0, NAN}}, {{8, 0, 5}, {0, 0, 5}}};
    ck_assert_int_eq(ek_model_new(&m, f, &shape, &e), EK_OK);
    ek_dataset_init(&d, F, M);
    ek_list_init(&q);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(ek_list_resize(&q, 2, F, M), EK_OK);
        memcpy(q.x, lists[i], sizeof lists[i]);
        q.query[0] = (float)i;
        ck_assert_int_eq(ek_dataset_add(&d, &q, &e), EK_OK);
    }
    ck_assert_int_eq(ek_statistics_fit(m, &d, &e), EK_OK);
    double l2 = log(2), l3 = log(3), mean = (log(2) - log(4) + log(9)) / 4;
    ck_assert_float_eq_tol(m->item_mean[0], (float)mean, 1e-6f);
    ck_assert_float_eq_tol(m->item_median[0], 0.5f, 1e-7f);
    ck_assert_float_eq_tol(m->item_mean[2], (float)log(6), 1e-6f);
    ck_assert(m->item_sd[2] == EK_SD_UNREAD);
    ck_assert_float_eq_tol(m->query_mean[0], (float)(l2 / 2), 1e-6f);
    ck_assert_float_eq_tol(m->query_sd[0], (float)(l2 / 2) + 1e-6f, 1e-6f);
    ck_assert_float_eq_tol(m->log_mean[0], (float)((l3 + log(8)) / 3), 1e-6f);
    ck_assert_float_eq_tol(m->log_sd[0], (float)(l3 / 2 * sqrt(2.0 / 3)), 1e-6f);
    ck_assert(m->log_mean[1] == 0 && m->log_sd[1] == EK_SD_UNREAD);
    ek_list_release(&q);
    ek_dataset_release(&d);
    ek_model_free(m);
    ek_manifest_free(f);
}
END_TEST

/* A network, one list, and weights of a fixed seed. */
struct bench {
    struct ek_manifest *features;
    struct ek_model *model;
    struct ek_network n;
    struct ek_pass pass;
    struct ek_network_list list;
    float *parameter, *turned, *gradient;
    float item[5 * (F + 4)], query[M], mask[2];
};

static void bench_init(struct bench *b, enum ek_log_input logs)
{
    struct ek_model_shape shape = {2, {7, 5}, 3, true, false, logs, EK_TRANSFORM_LOG1P};
    struct ek_rng r;
    struct ek_error e;
    ek_rng_seed(&r, 11);
    b->features = ek_small_manifest();
    ck_assert_int_eq(ek_model_new(&b->model, b->features, &shape, &e), EK_OK);
    ek_network_init(&b->n, b->model, &(struct ek_network_options){0});
    ck_assert_int_eq(ek_pass_init(&b->pass, &b->n, 8), EK_OK);
    b->parameter = ek_calloc_aligned(b->n.parameters, sizeof(float));
    b->gradient = ek_calloc_aligned(b->n.parameters, sizeof(float));
    b->turned = ek_calloc_aligned(b->n.turned, sizeof(float));
    ek_network_start(&b->n, b->parameter, &r);
    for (size_t i = 0; i < (b->n.gate + 1) * b->n.routable; i++) {
        b->parameter[b->n.slope + i] = (float)ek_rng_normal(&r);
        b->parameter[b->n.zero + i] = (float)ek_rng_normal(&r);
    }
    for (size_t i = 0; i < sizeof b->item / sizeof *b->item; i++)
        b->item[i] = i % (F + 4) < F + 2 ? (float)ek_rng_normal(&r) : i % 3 == 0;
    b->query[0] = 0.7f;
    b->mask[0] = 1;
    b->mask[1] = 0;
    b->list = (struct ek_network_list){5, b->item, b->query, b->mask, NULL};
}

static void bench_release(struct bench *b)
{
    ek_free(b->parameter);
    ek_free(b->gradient);
    ek_free(b->turned);
    ek_pass_release(&b->pass);
    ek_model_free(b->model);
    ek_manifest_free(b->features);
}

/* Test loss: sum of weights times scores; its gradient is the weights. */
static const double BLAME[5] = {0.5, -1, 0.25, 2, -0.75};

static double objective(struct bench *b)
{
    double score[5], sum = 0;
    ek_network_transpose(&b->n, b->parameter, b->turned, 0, 1);
    ek_network_load(&b->n, b->turned, &b->pass, 2, &b->list);
    ek_network_forward(&b->n, b->parameter, b->turned, &b->pass, 7);
    ek_network_score(&b->n, b->parameter, &b->pass, 2, &b->list, score);
    for (int i = 0; i < 5; i++)
        sum += BLAME[i] * score[i];
    return sum;
}

static void check_gradient(enum ek_log_input logs)
{
    struct bench b;
    double off = 0, size = 0;
    bench_init(&b, logs);
    objective(&b);
    ek_network_backward_list(&b.n, b.parameter, &b.pass, 2, &b.list, BLAME, b.gradient);
    for (int layer = b.n.layers - 1; layer >= 0; layer--) {
        ek_network_backward_layer(&b.n, b.parameter, &b.pass, 7, layer, b.gradient);
        ek_network_backward_relu(&b.n, &b.pass, 7, layer);
    }
    for (size_t i = 0; i < b.n.parameters; i++) {
        float held = b.parameter[i];
        b.parameter[i] = held + 1e-3f;
        double up = objective(&b);
        b.parameter[i] = held - 1e-3f;
        double slope = (up - objective(&b)) / 2e-3;
        b.parameter[i] = held;
        off += (slope - (double)b.gradient[i]) * (slope - (double)b.gradient[i]);
        size += slope * slope;
    }
    ck_assert_msg(off < 1e-4 * size, "logs %d: %g of %g", (int)logs, off, size);
    ck_assert(size > 1);
    bench_release(&b);
}

START_TEST(gradients_of_the_network_are_its_slopes)
{
    check_gradient(EK_LOG_ALWAYS);
    check_gradient(EK_LOG_ROUTED);
    check_gradient(EK_LOG_NONE);
}
END_TEST

START_TEST(first_weights_lie_within_their_bounds)
{
    struct bench b;
    bench_init(&b, EK_LOG_ALWAYS);
    struct ek_rng r;
    double largest = 0;
    ek_rng_seed(&r, 3);
    ek_network_start(&b.n, b.parameter, &r);
    const struct ek_network_layer *l = &b.n.layer[0];
    for (size_t o = 0; o < l->outputs; o++)
        for (size_t i = 0; i < l->stride; i++) {
            double w = fabs((double)b.parameter[l->weight + o * l->stride + i]);
            if (i >= l->inputs)
                ck_assert(w == 0);
            largest = fmax(largest, w);
        }
    ck_assert(largest <= 1 / sqrt((double)l->inputs) && largest > 0.9 / sqrt((double)l->inputs));
    bench_release(&b);
}
END_TEST

START_TEST(the_optimizer_by_hand)
{
    struct ek_optimizer a;
    float p = 1, g = 0.5f;
    ck_assert_int_eq(ek_optimizer_init(&a, EK_ADAMW, 1), EK_OK);
    ek_optimizer_step(&a, &p, &g, 0.1, 0.01); /* a first step is rate times the sign */
    ck_assert_float_eq_tol(p, 1 * (1 - 0.001f) - 0.1f, 1e-6f);
    g = -0.5f;
    ek_optimizer_step(&a, &p, &g, 0.1, 0);
    double m = 0.9 * 0.05 - 0.05, corrected = m / (1 - 0.81);
    ck_assert_float_eq_tol(p, (float)(0.899 - 0.1 * corrected / 0.5), 1e-5f);
    ek_optimizer_release(&a);
}
END_TEST

START_TEST(adagrad_by_hand)
{
    struct ek_optimizer a;
    float p = 1, g = 0.5f;
    ck_assert_int_eq(ek_optimizer_init(&a, EK_ADAGRAD, 1), EK_OK);
    ek_optimizer_step(&a, &p, &g, 0.1, 0.01); /* a first step is rate times the sign */
    ck_assert_float_eq_tol(p, 1 * (1 - 0.001f) - 0.1f, 1e-6f);
    g = -0.5f;
    ek_optimizer_step(&a, &p, &g, 0.1, 0);
    ck_assert_float_eq_tol(p, (float)(0.899 + 0.1 / sqrt(2)), 1e-6f);
    ek_optimizer_release(&a);
}
END_TEST

START_TEST(a_seed_gives_the_same_model_whatever_runs_it)
{
    struct ek_train_options o = ek_small_options();
    struct ek_model *alone = trained(&o, NULL);
    ek_check_threads(alone, o, trained_in_silence);
    o.seed = 1;
    struct ek_model *other = trained(&o, NULL);
    ck_assert(memcmp(alone->weight[0], other->weight[0], 12 * sizeof(float)) != 0);
    ek_model_free(alone);
    ek_model_free(other);
}
END_TEST

START_TEST(every_form_learns_the_ranking)
{
    struct ek_dataset test;
    int routed[] = {0};
    ek_small_data(&test, 3, 200);
    for (int form = 0; form < 9; form++) {
        struct ek_train_options o = ek_small_options();
        struct ek_treatment t[2] = {{EK_ACT_NONE, 0}};
        o.loss = form < 3 ? (enum ek_loss)form : EK_LISTMLE;
        o.shape.log_input = form == 3 ? EK_LOG_ROUTED : form > 3 ? EK_LOG_NONE : EK_LOG_ALWAYS;
        o.shape.list_free = form == 4;
        if (form == 5) {
            o.routing = EK_ROUTING_STATIC;
            o.shape.mask_input = false;
            o.static_routed = routed;
            o.static_count = 1;
            t[0].action = EK_ACT_ROUTE;
        }
        if (form == 6)
            o.routing = EK_ROUTING_NONE;
        if (form == 7) { /* linear: fewer weights, larger steps */
            o.shape.hidden_count = 0;
            o.learning_rate = 0.1;
        }
        if (form == 8) {
            o.optimizer = EK_ADAGRAD;
            o.learning_rate = 0.1;
        }
        struct ek_train_progress last;
        struct ek_model *m = trained(&o, &last);
        double ndcg = quality(m, &test, t);
        ck_assert_msg(ndcg > 0.85, "form %d: %g", form, ndcg);
        ck_assert(last.best_epoch >= 1 && last.best_epoch <= 4 && last.best_ndcg10 > 0.85);
        ek_model_free(m);
    }
    ek_dataset_release(&test);
}
END_TEST

START_TEST(a_routed_fault_costs_nothing)
{
    struct ek_train_options o = ek_small_options();
    struct ek_model *m = trained(&o, NULL);
    struct ek_dataset test;
    struct ek_treatment route[2] = {{EK_ACT_ROUTE, 0}, {EK_ACT_NONE, 0}};
    ek_small_data(&test, 3, 200);
    double clean = quality(m, &test, route);
    for (size_t q = 0; q < test.lists; q++)
        for (size_t i = test.offset[q]; i < test.offset[q + 1]; i++)
            test.x[i * F] *= q % 2 ? 128 : 0.25f;
    ck_assert_double_eq_tol(quality(m, &test, route), clean, 1e-9);
    ck_assert_double_eq_tol(ek_spread_ratio(m, &test, 0), 1, 0.1);
    ek_dataset_release(&test);
    ek_model_free(m);
}
END_TEST

/* Return the NDCG lost when the price of every list is multiplied by 100, unmitigated. */
static double loss_under_a_fault(const struct ek_train_options *o)
{
    struct ek_dataset test;
    struct ek_model *m = trained(o, NULL);
    ek_small_data(&test, 3, 200);
    double clean = quality(m, &test, NULL);
    for (size_t i = 0; i < test.items; i++)
        test.x[i * F] *= 100;
    double lost = clean - quality(m, &test, NULL);
    ek_dataset_release(&test);
    ek_model_free(m);
    return lost;
}

START_TEST(lists_with_another_scale_harden_a_model_against_faults)
{
    struct ek_train_options o = ek_small_options();
    double hardened = 0, without = 0;
    o.keep_clean = 1; /* random masks increase robustness too */
    o.epochs = 12;
    for (o.seed = 1; o.seed <= 5; o.seed++) {
        o.shift = 0.5;
        hardened += loss_under_a_fault(&o);
        o.shift = 0;
        without += loss_under_a_fault(&o);
    }
    ck_assert_msg(hardened < 0.8 * without, "%g, %g", hardened, without);
}
END_TEST

START_TEST(the_average_of_a_high_power_is_the_last_step)
{
    struct ek_train_options o = ek_small_options();
    float weight[3][5];
    const double power[3] = {0, 1e12, 3};
    o.epochs = 1;
    for (int i = 0; i < 3; i++) {
        o.average = power[i];
        struct ek_model *m = trained(&o, NULL);
        memcpy(weight[i], m->bias[1], sizeof weight[i]);
        ek_model_free(m);
    }
    for (int j = 0; j < 5; j++)
        ck_assert_float_eq_tol(weight[1][j], weight[0][j], 1e-6f);
    ck_assert(memcmp(weight[2], weight[0], sizeof weight[0]) != 0);
}
END_TEST

START_TEST(patience_ends_training)
{
    struct ek_train_options o = ek_small_options();
    struct ek_train_progress last;
    o.epochs = 200;
    o.patience = 2;
    ek_model_free(trained(&o, &last));
    ck_assert_int_lt(last.epoch, 200);
    ck_assert_int_eq(last.epoch, last.best_epoch + 2);
    o.patience = -1;
    struct ek_error e;
    struct ek_model *m;
    struct ek_manifest *f = ek_small_manifest();
    struct ek_dataset d;
    ek_small_data(&d, 1, 10);
    ck_assert_int_eq(ek_train(&m, f, &d, &d, &o, NULL, &e), EK_EUSAGE);
    ek_dataset_release(&d);
    ek_manifest_free(f);
}
END_TEST

/* The context is the step to stop at. */
static int stop_at(void *context, const struct ek_train_progress *p)
{
    return p->step == *(const size_t *)context;
}

START_TEST(a_run_that_goes_on_ends_with_the_same_bits)
{
    static const size_t stops[] = {24, 29, 36}; /* of 48 steps in 4 epochs */
    struct ek_train_options whole = ek_small_options();
    struct ek_model *all = trained(&whole, NULL);
    char path[] = "/tmp/ek-train-XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
    for (int i = 0; i < 3; i++) {
        struct ek_train_options o = ek_small_options();
        struct ek_train_progress last;
        size_t stop = stops[i];
        o.checkpoint = path;
        o.progress = stop_at;
        o.context = &stop;
        ek_model_free(trained(&o, &last));
        ck_assert_uint_eq(last.step, stop);
        o.checkpoint = NULL;
        o.progress = NULL;
        o.resume = path;
        struct ek_model *m = trained(&o, &last);
        ck_assert_uint_eq(last.step, 48);
        ek_check_same_weights(all, m);
        ek_model_free(m);
    }
    remove(path);
    ek_model_free(all);
}
END_TEST

START_TEST(an_interrupted_epoch_does_not_count_against_the_patience)
{
    struct ek_train_options whole = ek_small_options();
    struct ek_train_progress all, last;
    char path[] = "/tmp/ek-train-XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
    whole.epochs = 200;
    whole.patience = 2;
    ek_model_free(trained(&whole, &all));
    size_t batches = all.step / (size_t)all.epoch, stop = all.step - batches / 2;
    struct ek_train_options o = whole;
    o.checkpoint = path;
    o.progress = stop_at;
    o.context = &stop;
    ek_model_free(trained(&o, &last));
    ck_assert_uint_eq(last.step, stop);
    o = whole;
    o.resume = path;
    ek_model_free(trained(&o, &last));
    ck_assert_uint_eq(last.step, all.step);
    remove(path);
}
END_TEST

/* Resume from the file with `bits` over the first ones of the tensor. Return the code. */
static int going_on(const char *path, const char *tensor, const void *bits, size_t length)
{
    struct ek_train_options o = ek_small_options();
    struct ek_manifest *f = ek_small_manifest();
    struct ek_dataset train, vali;
    struct ek_tensors *t;
    struct ek_model *m = NULL;
    struct ek_error e;
    ck_assert_int_eq(ek_tensors_read(&t, path, NULL), EK_OK);
    memcpy(ek_tensors_find(t, tensor)->data, bits, length);
    ck_assert_int_eq(ek_tensors_write(t, path, NULL), EK_OK);
    ek_tensors_free(t);
    ek_small_data(&train, 1, LISTS);
    ek_small_data(&vali, 2, 80);
    o.resume = path;
    int code = ek_train(&m, f, &train, &vali, &o, NULL, &e);
    ek_model_free(m);
    ek_dataset_release(&train);
    ek_dataset_release(&vali);
    ek_manifest_free(f);
    return code;
}

START_TEST(a_checkpoint_with_impossible_numbers_is_refused)
{
    static const uint64_t twice[] = {0, 0}, at_rest[9] = {2, 24, 1, 24};
    const float nan = NAN;
    struct ek_train_options o = ek_small_options();
    size_t stop = 24;
    char path[] = "/tmp/ek-train-XXXXXX";
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
    o.checkpoint = path;
    o.progress = stop_at;
    o.context = &stop;
    ek_model_free(trained(&o, NULL));
    ck_assert_int_eq(going_on(path, "best", &(float){0}, sizeof(float)), EK_OK);
    ck_assert_int_eq(going_on(path, "best", &nan, sizeof nan), EK_EFORMAT);
    ck_assert_int_eq(going_on(path, "best", &(float){0}, sizeof(float)), EK_OK);
    ck_assert_int_eq(going_on(path, "order", twice, sizeof twice), EK_EFORMAT);
    ck_assert_int_eq(going_on(path, "whole", at_rest, 8 * sizeof *at_rest), EK_EFORMAT);
    remove(path);
}
END_TEST

static int stop_at_once(void *context, const struct ek_train_progress *p)
{
    (void)context;
    return p->step >= 3;
}

START_TEST(training_can_be_stopped)
{
    struct ek_train_options o = ek_small_options();
    struct ek_train_progress last;
    o.progress = stop_at_once;
    struct ek_model *m = trained(&o, &last);
    ck_assert_uint_eq(last.step, 3);
    ck_assert_int_eq(last.best_epoch, 0);
    ck_assert_int_eq(last.epoch, 1);
    ek_model_free(m);
}
END_TEST

START_TEST(what_cannot_be_trained_is_refused)
{
    struct ek_manifest *f = ek_small_manifest();
    struct ek_dataset d, flat;
    struct ek_model *m = NULL;
    struct ek_error e;
    ek_small_data(&d, 1, 10);
    ek_small_data(&flat, 1, 10);
    memset(flat.label, 0, flat.items * sizeof *flat.label);
    struct ek_train_options o = ek_small_options();
    ck_assert_int_eq(ek_train(&m, f, &flat, &d, &o, NULL, &e), EK_EUSAGE);
    ck_assert_str_eq(e.message, "the training data has no list with a positive label");
    ck_assert_int_eq(ek_train(&m, f, &d, &flat, &o, NULL, &e), EK_EUSAGE);
    for (size_t i = 0; i < flat.items; i++)
        flat.label[i] = 1;
    ck_assert_int_eq(ek_train(&m, f, &d, &flat, &o, NULL, &e), EK_EUSAGE);
    ck_assert_str_eq(e.message, "the validation data has no list with two items of different "
                                "labels, so there is no order to judge by");
    o.shape.list_free = true;
    ck_assert_int_eq(ek_train(&m, f, &d, &d, &o, NULL, &e), EK_EUSAGE);
    o = ek_small_options();
    o.learning_rate = 1e30;
    ck_assert_int_eq(ek_train(&m, f, &d, &d, &o, NULL, &e), EK_ESTATE);
    o.learning_rate = NAN;
    ck_assert_int_eq(ek_train(&m, f, &d, &d, &o, NULL, &e), EK_EUSAGE);
    ck_assert_ptr_null(m);
    ek_dataset_release(&d);
    ek_dataset_release(&flat);
    ek_manifest_free(f);
}
END_TEST

Suite *suite_train(void)
{
    return ek_suite(
        "train", statistics_are_those_of_the_data, gradients_of_the_network_are_its_slopes,
        first_weights_lie_within_their_bounds, the_optimizer_by_hand, adagrad_by_hand,
        a_seed_gives_the_same_model_whatever_runs_it, every_form_learns_the_ranking,
        a_routed_fault_costs_nothing, lists_with_another_scale_harden_a_model_against_faults,
        a_run_that_goes_on_ends_with_the_same_bits,
        an_interrupted_epoch_does_not_count_against_the_patience,
        a_checkpoint_with_impossible_numbers_is_refused,
        the_average_of_a_high_power_is_the_last_step, patience_ends_training,
        training_can_be_stopped, what_cannot_be_trained_is_refused);
}
