/* Allocation failures while a model is compared with upstream, in training and in the guard. */
#include "base/alloc.h"
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include "base/rng.h"
#include "serve/agreement_watch.h"
#include "guard/event_json.h"
#include "offline/train/distillation.h"
#include "tests/stream.h"

enum { LISTS = 8, COMPARED = 60 };

static struct ek_manifest *manifest;
static struct ek_model *model;
static struct ek_list query[LISTS];
static double opposite[64];

static void set_up(void)
{
    static const struct ek_model_shape shape = {.gate_size = 1};
    struct stream s;
    manifest = stream_manifest();
    ck_assert_int_eq(ek_model_new(&model, manifest, &shape, NULL), EK_OK);
    for (int i = 0; i < model->item_features; i++)
        model->item_sd[i] = 1;
    model->query_sd[0] = 1;
    model->log_sd[0] = model->log_sd[1] = 1;
    model->agreement = (struct ek_model_agreement){1000, {.9, .9, .9}, {.1, .1, .1}};
    stream_start(&s, 3);
    for (int i = 0; i < LISTS; i++) { /* growing lists */
        struct ek_list *q = stream_next(&s);
        int n = 3 + 7 * i;
        ek_list_init(&query[i]);
        ck_assert_int_eq(ek_list_resize(&query[i], n, 3, 1), EK_OK);
        query[i].query[0] = q->query[0];
        for (int k = 0; k < n; k++) {
            for (int f = 0; f < 3; f++)
                query[i].x[3 * k + f] = q->x[f];
            query[i].score[k] = k;
            opposite[k] = -k;
        }
    }
    stream_end(&s);
}

static void tear_down(void)
{
    for (int i = 0; i < LISTS; i++)
        ek_list_release(&query[i]);
    ek_model_free(model);
    ek_manifest_free(manifest);
}

static int measure(struct ek_error *e)
{
    struct ek_dataset d;
    struct ek_upstream_scores scores = {0};
    struct ek_model_agreement f;
    int rc = EK_OK;
    ek_dataset_init(&d, 3, 1);
    for (int i = 0; i < LISTS && !rc; i++) {
        rc = ek_dataset_add(&d, &query[i], e);
        if (!rc && ek_upstream_scores_add(&scores, &query[i]))
            rc = ek_fail(e, EK_ENOMEM, "no memory for scores");
    }
    if (!rc)
        rc = ek_model_agreement_measure(model, &d, &scores, NULL, &f, e);
    ek_upstream_scores_release(&scores);
    ek_dataset_release(&d);
    return rc;
}

static int tell(struct ek_agreement_watch *w, struct ek_error *e)
{
    struct ek_buf text;
    struct ek_agreement_view v;
    ek_buf_init(&text, 0);
    ek_agreement_watch_view(w, &v);
    struct ek_event *event = ek_event_from_model_drift(&v, 1, 1);
    int rc = event ? ek_event_json(event, &text) : EK_ENOMEM;
    ek_buf_release(&text);
    ek_free(event);
    return rc ? ek_fail(e, EK_ENOMEM, "no memory for an event") : EK_OK;
}

static int watch(struct ek_error *e)
{
    struct ek_agreement_watch *w;
    bool told = false, changed;
    int rc = ek_agreement_watch_new(&w, model, 1000, e);
    if (rc)
        return rc;
    for (int i = 0; i < COMPARED && !rc; i++) {
        rc =
            ek_agreement_watch_list(w, &query[i < LISTS ? i : LISTS - 1], opposite, 0, &changed, e);
        if (!rc && changed)
            rc = tell(w, e);
        told |= !rc && changed;
    }
    ek_agreement_watch_free(w);
    return rc || told ? rc : ek_fail(e, EK_ESTATE, "nothing was told, so telling was not tried");
}

/* A list rejected for lack of memory leaves no trace: a retry gives the same result. */
START_TEST(a_list_that_could_not_be_compared_was_not_counted)
{
    set_up();
    struct ek_agreement_watch *w;
    struct ek_agreement_view v;
    bool changed;
    ck_assert_int_eq(ek_agreement_watch_new(&w, model, 1000, NULL), EK_OK);
    ek_sweep_fail(3);
    int rc = ek_agreement_watch_list(w, &query[0], opposite, 0, &changed, NULL);
    ek_sweep_fail(0);
    ck_assert_int_eq(rc, EK_ENOMEM);
    ek_agreement_watch_view(w, &v);
    ck_assert_uint_eq(v.lists, 0);
    ck_assert_int_eq(ek_agreement_watch_list(w, &query[0], opposite, 0, &changed, NULL), EK_OK);
    ek_agreement_watch_view(w, &v);
    ck_assert_uint_eq(v.lists, 1);
    ek_agreement_watch_free(w);
    tear_down();
}
END_TEST

START_TEST(comparing_without_memory_leaves_nothing)
{
    set_up();
    ek_sweep(measure);
    ek_sweep(watch);
    tear_down();
}
END_TEST

Suite *suite_agreement(void)
{
    return ek_suite("agreement without memory", a_list_that_could_not_be_compared_was_not_counted,
                    comparing_without_memory_leaves_nothing);
}
