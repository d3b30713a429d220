#include "daemon/tools/select/select_crossval.h"

#include "base/alloc.h"
#include "daemon/base/command.h"
#include "daemon/tools/select/select_reduce.h"
#include "daemon/training/train_args.h"
#include "offline/train/evaluate.h"

#include <stdio.h>
#include <string.h>

/* Copy a data set with only the kept features. */
static int columns(struct ek_dataset *out, const struct ek_dataset *d, const bool *keep, int kept,
                   struct ek_error *e)
{
    struct ek_list q;
    int rc = EK_OK;
    ek_list_init(&q);
    ek_dataset_init(out, kept, d->query_features);
    for (size_t i = 0; i < d->lists && !rc; i++) {
        struct ek_list from;
        ek_dataset_view(d, i, &from);
        rc = ek_list_resize(&q, from.items, kept, from.query_features)
                 ? ek_fail(e, EK_ENOMEM, "out of memory")
                 : EK_OK;
        if (rc)
            break;
        float *x = q.x;
        for (int item = 0; item < from.items; item++)
            for (int f = 0; f < d->item_features; f++)
                if (keep[f])
                    *x++ = from.x[(size_t)item * (size_t)d->item_features + (size_t)f];
        memcpy(q.query, from.query, (size_t)from.query_features * sizeof *q.query);
        memcpy(q.label, from.label, (size_t)from.items * sizeof *q.label);
        q.has_label = true;
        rc = ek_dataset_add(out, &q, e);
    }
    ek_list_release(&q);
    return rc;
}

struct cross_validate {
    struct ek_progress progress;
    struct ek_pool *pool;
    struct ek_select_args *args;
    const struct ek_select_data *data;
    const struct ek_dataset *lists;
    /* current training; number of trainings; features of the current one */
    int number, count, features;
};

static int show(void *context, const struct ek_train_progress *p)
{
    struct cross_validate *j = context;
    char note[80];
    snprintf(note, sizeof note, "%d feature%s, epoch %d of %d", j->features,
             j->features > 1 ? "s" : "", p->epoch, p->epochs);
    ek_progress_update(&j->progress, (uint64_t)j->number * p->steps + p->step,
                       (uint64_t)j->count * p->steps, note);
    return 0;
}

static void run_parts(void *context, void (*task)(void *arg, int i), void *arg, int count)
{
    ek_pool_run(((struct cross_validate *)context)->pool, task, arg, count);
}

static int train(struct cross_validate *j, struct ek_model **model, const struct ek_manifest *m,
                 const struct ek_dataset *learn, const struct ek_dataset *vali)
{
    struct ek_train_args t = {.routing = "random"};
    ek_train_defaults(&t.options);
    int rc = ek_train_args_apply_manifest(&t, m, NULL);
    if (rc) {
        j->args->e = t.e;
        return rc;
    }
    if (j->args->epochs)
        t.options.epochs = j->args->epochs;
    t.options.seed = j->args->seed;
    t.options.progress = show;
    t.options.run = run_parts;
    t.options.context = j;
    return ek_train(model, m, learn, vali, &t.options, NULL, &j->args->e);
}

static int measure(struct cross_validate *j, const struct ek_manifest *m,
                   const struct ek_dataset set[3], double *ndcg3, double *ndcg10)
{
    struct ek_evaluation v = {.metric = {{EK_NDCG, 3}, {EK_NDCG, 10}},
                              .metric_count = 2,
                              .gain = EK_GAIN_EXP,
                              .empty = EK_EMPTY_SKIP};
    struct ek_model *model = NULL;
    int rc = train(j, &model, m, &set[0], &set[1]);
    if (!rc)
        rc = ek_evaluate(model, &set[2], &v, &j->args->e);
    if (!rc) {
        *ndcg3 = ek_metric_result(&v.mean[0]);
        *ndcg10 = ek_metric_result(&v.mean[1]);
    }
    ek_model_free(model);
    return rc;
}

/* Train and measure one set of features, given the text of its manifest. */
static int measure_set(struct cross_validate *j, const struct ek_buf *text, const bool *keep,
                       double *ndcg3, double *ndcg10)
{
    const struct ek_dataset *const whole[3] = {j->data->train, j->data->vali, j->lists};
    struct ek_dataset set[3];
    struct ek_manifest *m = NULL;
    struct ek_buf reduced;
    const char *reason;
    ek_buf_init(&reduced, 0);
    int rc = ek_manifest_reduce(j->data->m, text, keep, &reduced, &reason, &j->args->e);
    if (!rc)
        rc = ek_manifest_parse(&m, "the reduced manifest", (const char *)reduced.data,
                               reduced.length, &j->args->e);
    memset(set, 0, sizeof set);
    for (int i = 0; i < 3 && !rc; i++)
        rc = columns(&set[i], whole[i], keep, m->item_count, &j->args->e);
    if (!rc) {
        j->features = m->item_count;
        rc = measure(j, m, set, ndcg3, ndcg10);
    }
    for (int i = 0; i < 3; i++)
        ek_dataset_release(&set[i]);
    ek_manifest_free(m);
    ek_buf_release(&reduced);
    return rc;
}

int ek_selection_crossval(struct ek_crossval_result *out, const struct ek_selection *s,
                          struct ek_select_args *a, const struct ek_select_data *d,
                          const struct ek_buf *text, const struct ek_dataset *lists)
{
    struct cross_validate j = {
        .pool = d->pool, .args = a, .data = d, .lists = lists, .count = s->set_count + 1};
    bool *keep = ek_calloc((size_t)s->features, sizeof *keep);
    int rc = keep ? EK_OK : ek_fail(&a->e, EK_ENOMEM, "out of memory");
    char note[60];
    ek_progress_start(&j.progress, "training");
    for (j.number = 0; j.number < j.count && !rc; j.number++) {
        const struct ek_feature_set *set = j.number < s->set_count ? &s->set[j.number] : NULL;
        if (set && j.number && set->count == set[-1].count) { /* equal to the previous set */
            out->ndcg3[j.number] = out->ndcg3[j.number - 1];
            out->ndcg10[j.number] = out->ndcg10[j.number - 1];
            continue;
        }
        for (int i = 0; i < s->features; i++)
            keep[i] = !set || ek_feature_set_rank(set, i);
        rc = measure_set(&j, text, keep, &out->ndcg3[j.number], &out->ndcg10[j.number]);
    }
    snprintf(note, sizeof note, "%d networks", j.count);
    if (!rc)
        ek_progress_finish(&j.progress, note);
    ek_free(keep);
    return rc;
}
