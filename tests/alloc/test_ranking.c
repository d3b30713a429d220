/* Allocation failures while models are trained, evaluated, scored and exported. */
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include "offline/train/onnx.h"
#include "offline/train/evaluate.h"
#include "offline/world/faults.h"
#include "offline/world/hotel.h"
#include "offline/train/rescale.h"
#include "offline/train/training.h"
#include "score/scorer.h"

#include <stdio.h>
#include <string.h>

enum { LISTS = 12 };

static struct ek_manifest *manifest;
static struct ek_dataset lists;
static struct ek_model *model;

static struct ek_train_options small(void)
{
    struct ek_train_options o;
    ek_train_defaults(&o);
    o.epochs = 1;
    o.batch_lists = 5;
    o.shape.hidden_count = 1;
    o.shape.hidden[0] = 4;
    return o;
}

static void make_lists(void)
{
    struct ek_hotel *hotel;
    struct ek_list q;
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&manifest, "hotel", text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_hotel_new(&hotel, 1, NULL), EK_OK);
    ek_list_init(&q);
    ek_dataset_init(&lists, manifest->item_count, manifest->query_count);
    for (uint64_t i = 0; i < LISTS; i++) {
        ck_assert_int_eq(ek_hotel_list(hotel, i, &q, NULL), EK_OK);
        ck_assert_int_eq(ek_dataset_add(&lists, &q, NULL), EK_OK);
    }
    ek_list_release(&q);
    ek_hotel_free(hotel);
}

static int train_with(const struct ek_train_options *o, struct ek_error *e)
{
    struct ek_model *m;
    int rc = ek_train(&m, manifest, &lists, &lists, o, NULL, e);
    if (!rc)
        ek_model_free(m);
    return rc;
}

static int train_model(struct ek_error *e)
{
    struct ek_train_options o = small();
    return train_with(&o, e);
}

/* Learned transforms, and a batch that passes through the layers together. */
static struct ek_train_options seeds_network(void)
{
    struct ek_train_options o = small();
    o.shape.transform = EK_TRANSFORM_MIXTURE;
    o.network = (struct ek_network_options){.batch_norm = true, .dropout = 0.5};
    return o;
}

static int train_seeds_network(struct ek_error *e)
{
    struct ek_train_options o = seeds_network();
    return train_with(&o, e);
}

static int keep_state(struct ek_error *e)
{
    struct ek_train_options o = small();
    o.checkpoint = "/tmp/ek-alloc.ckpt";
    int rc = train_with(&o, e);
    o.resume = o.checkpoint;
    return rc ? rc : train_with(&o, e);
}

static int measure_model(struct ek_error *e)
{
    struct ek_evaluation v = {.metric = {{EK_NDCG, 10}}, .metric_count = 1};
    return ek_evaluate(model, &lists, &v, e);
}

static int score_growing_lists(struct ek_error *e)
{
    struct ek_scorer *s;
    double scores[64];
    int rc = ek_scorer_new(&s, model, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < LISTS && !rc; i++) {
        struct ek_list q;
        ek_dataset_view(&lists, i, &q);
        rc = ek_scorer_score(s, &q, NULL, scores, e);
    }
    ek_scorer_free(s);
    return rc;
}

static int recode(struct ek_error *e)
{
    struct ek_fault f;
    int rc = ek_fault_parse(&f, manifest, "chain,breakfast=recode", e);
    if (rc)
        return rc;
    rc = ek_fault_fit(&f, &lists, e);
    ek_fault_release(&f);
    return rc;
}

static int repair(struct ek_error *e)
{
    double median, factor;
    int rc = ek_ln_median(&lists, 0, &median, e);
    return rc ? rc : ek_rescale_fit(&lists, 0, median, NULL, 1, &factor, e);
}

static int export_model(struct ek_error *e)
{
    struct ek_buf bytes;
    ek_buf_init(&bytes, 0);
    int rc = ek_model_onnx(model, &bytes, e);
    ek_buf_release(&bytes);
    return rc;
}

START_TEST(training_and_scoring_without_memory_leave_nothing)
{
    struct ek_train_options o = small();
    make_lists();
    ck_assert_int_eq(ek_train(&model, manifest, &lists, &lists, &o, NULL, NULL), EK_OK);
    ek_sweep(train_model);
    ek_sweep(keep_state);
    remove("/tmp/ek-alloc.ckpt");
    ek_sweep(measure_model);
    ek_sweep(score_growing_lists);
    ek_sweep(export_model);
    ek_sweep(recode);
    ek_sweep(repair);
    ek_model_free(model);

    o = seeds_network();
    ck_assert_int_eq(ek_train(&model, manifest, &lists, &lists, &o, NULL, NULL), EK_OK);
    ek_sweep(train_seeds_network);
    ek_sweep(score_growing_lists);
    ek_sweep(export_model);
    ek_sweep(recode);
    ek_sweep(repair);
    ek_model_free(model);
    ek_dataset_release(&lists);
    ek_manifest_free(manifest);
}
END_TEST

Suite *suite_ranking(void)
{
    return ek_suite("ranking", training_and_scoring_without_memory_leave_nothing);
}
