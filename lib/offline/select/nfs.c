#include "offline/select/nfs.h"

#include "base/alloc.h"
#include "offline/select/nfs_chance.h"
#include "offline/select/nfs_copies.h"
#include "offline/select/nfs_look.h"
#include "offline/train/statistics.h"
#include "offline/train/train_check.h"

#include <math.h>
#include <string.h>

void ek_nfs_defaults(struct ek_nfs_options *o)
{
    *o = (struct ek_nfs_options){
        .threshold = 0.95, .chance = 0.02, .epochs = 15, .batch_lists = 64, .learning_rate = 1e-3};
}

/* All that a run needs besides its result. */
struct work {
    struct ek_model *model; /* statistics of the transforms only */
    struct ek_nfs_data train, vali;
    double *mean, *scale; /* [F, EK_NFS_PARTS] */
    int *copy_of;         /* [F] */
    bool *constant;       /* [F] */
    bool *live;           /* [F] neither a copy nor constant */
    struct ek_nfs_ranker ranker;
    struct ek_nfs_look look;
};

static int check_options(const struct ek_nfs_options *o, struct ek_error *e)
{
    if (!(o->threshold > 0 && o->threshold < 1))
        return ek_fail(e, EK_EUSAGE, "the threshold of a group is above 0 and below 1, not %g",
                       o->threshold);
    if (!(o->chance > 0 && o->chance <= 1))
        return ek_fail(e, EK_EUSAGE, "the chance of a group is above 0 and at most 1, not %g",
                       o->chance);
    if (o->epochs < 1 || o->batch_lists < 1 || o->patience < 0)
        return ek_fail(e, EK_EUSAGE,
                       "epochs and lists of a batch are at least 1, the patience at least 0");
    if (!(o->learning_rate > 0) || !isfinite(o->learning_rate))
        return ek_fail(e, EK_EUSAGE, "the learning rate must be positive");
    return EK_OK;
}

static int check_data(const struct ek_manifest *m, const struct ek_dataset *train,
                      const struct ek_dataset *vali, struct ek_error *e)
{
    struct ek_train_options quiet;
    ek_train_defaults(&quiet);
    int code = ek_train_check_data("training", m, train, true, &quiet, e);
    return code ? code : ek_train_check_data("validation", m, vali, false, &quiet, e);
}

/* Which features take part. */
static void sort_out(struct work *w)
{
    for (size_t f = 0; f < w->train.features; f++) {
        double *scale = w->scale + f * EK_NFS_PARTS;
        w->constant[f] = true;
        for (size_t k = 0; k < EK_NFS_PARTS; k++)
            w->constant[f] = w->constant[f] && !(scale[k] > 0);
        w->live[f] = !w->constant[f] && w->copy_of[f] < 0;
        for (size_t k = 0; k < EK_NFS_PARTS && !w->live[f]; k++)
            scale[k] = 0;
    }
}

static int standardise(struct work *w, const struct ek_dataset *train, struct ek_error *e)
{
    size_t features = w->train.features;
    w->mean = ek_calloc(features, EK_NFS_PARTS * sizeof *w->mean);
    w->scale = ek_calloc(features, EK_NFS_PARTS * sizeof *w->scale);
    w->copy_of = ek_calloc(features, sizeof *w->copy_of);
    w->constant = ek_calloc(features, sizeof *w->constant);
    w->live = ek_calloc(features, sizeof *w->live);
    if (!w->mean || !w->scale || !w->copy_of || !w->constant || !w->live)
        return ek_fail(e, EK_ENOMEM, "no memory to select from %zu features", features);
    int code = ek_nfs_copies(train, w->copy_of, e);
    if (code)
        return code;
    ek_nfs_data_measure(&w->train, w->mean, w->scale);
    sort_out(w);
    ek_nfs_data_standardise(&w->train, w->mean, w->scale);
    ek_nfs_data_standardise(&w->vali, w->mean, w->scale);
    return EK_OK;
}

static int encode(struct work *w, const struct ek_manifest *m, const struct ek_dataset *train,
                  const struct ek_dataset *vali, struct ek_error *e)
{
    const struct ek_model_shape shape = {
        .gate_size = 1, .log_input = EK_LOG_NONE, .transform = EK_TRANSFORM_MIXTURE};
    int code = ek_model_new(&w->model, m, &shape, e);
    if (!code)
        code = ek_statistics_fit(w->model, train, e);
    if (!code)
        code = ek_nfs_data_init(&w->train, w->model, train, e);
    if (!code)
        code = ek_nfs_data_init(&w->vali, w->model, vali, e);
    return code ? code : standardise(w, train, e);
}

static size_t count_live(const struct work *w)
{
    size_t live = 0;
    for (size_t f = 0; f < w->train.features; f++)
        live += w->live[f];
    return live;
}

/* Adds a kept group to what is told of its features; similarity holds weights at first. */
static void take_group(struct ek_nfs *out, const struct ek_nfs_groups *g, size_t group)
{
    size_t features = g->features;
    for (size_t i = 0; i < features; i++) {
        if (!ek_nfs_group_has(g, group, i))
            continue;
        out->frequency[i] += (double)g->seen[group];
        for (size_t j = 0; j < features; j++)
            if (ek_nfs_group_has(g, group, j))
                out->similarity[i * features + j] += (double)g->seen[group];
    }
}

/* Keeps the groups that chance does not explain. */
static void keep_groups(struct ek_nfs *out, const struct work *w, const struct ek_nfs_options *o)
{
    const struct ek_nfs_groups *g = &w->look.groups;
    size_t features = g->features, live = count_live(w);
    out->groups = g->count;
    for (size_t i = 0; i < g->count; i++) {
        double chance =
            ek_nfs_chance(live, ek_nfs_group_size(g, i), o->threshold, g->maps, g->seen[i]);
        if (chance > o->chance)
            continue;
        take_group(out, g, i);
        out->kept++;
    }
    for (size_t i = 0; i < features * features; i++)
        if (out->frequency[i / features] > 0)
            out->similarity[i] /= out->frequency[i / features];
}

/* A copy has what its original has. */
static void fill_copy(struct ek_nfs *n, size_t copy, size_t original)
{
    size_t features = (size_t)n->features;
    n->saliency[copy] = n->saliency[original];
    n->frequency[copy] = n->frequency[original];
    memcpy(n->similarity + copy * features, n->similarity + original * features,
           features * sizeof *n->similarity);
    for (size_t i = 0; i < features; i++)
        n->similarity[i * features + copy] = n->similarity[i * features + original];
}

static int report(struct ek_nfs *out, struct work *w, const struct ek_nfs_options *o,
                  struct ek_error *e)
{
    size_t features = w->train.features;
    *out = (struct ek_nfs){.features = (int)features, .vali_ndcg10 = w->ranker.vali_ndcg10};
    out->saliency = ek_calloc(features, sizeof *out->saliency);
    out->frequency = ek_calloc(features, sizeof *out->frequency);
    out->similarity = ek_calloc(features, features * sizeof *out->similarity);
    if (!out->saliency || !out->frequency || !out->similarity) {
        ek_nfs_release(out);
        return ek_fail(e, EK_ENOMEM, "no memory to select from %zu features", features);
    }
    memcpy(out->saliency, w->look.saliency, features * sizeof *out->saliency);
    keep_groups(out, w, o);
    for (size_t f = 0; f < features; f++)
        if (w->copy_of[f] >= 0)
            fill_copy(out, f, (size_t)w->copy_of[f]);
    out->copy_of = w->copy_of;
    out->constant = w->constant;
    w->copy_of = NULL;
    w->constant = NULL;
    return EK_OK;
}

static void release(struct work *w)
{
    ek_nfs_data_release(&w->train);
    ek_nfs_data_release(&w->vali);
    ek_nfs_ranker_release(&w->ranker);
    ek_nfs_look_release(&w->look);
    ek_model_free(w->model);
    ek_free(w->mean);
    ek_free(w->scale);
    ek_free(w->copy_of);
    ek_free(w->constant);
    ek_free(w->live);
}

int ek_nfs_run(struct ek_nfs *out, const struct ek_manifest *m, const struct ek_dataset *train,
               const struct ek_dataset *vali, const struct ek_nfs_options *o, struct ek_error *e)
{
    struct work w = {0};
    int code = check_options(o, e);
    if (!code)
        code = check_data(m, train, vali, e);
    if (!code)
        code = encode(&w, m, train, vali, e);
    if (!code)
        code = ek_nfs_train(&w.ranker, &w.train, &w.vali, o, e);
    if (!code)
        code = ek_nfs_look(&w.look, &w.ranker, &w.train, w.live, o, e);
    if (!code)
        code = report(out, &w, o, e);
    release(&w);
    return code;
}

void ek_nfs_release(struct ek_nfs *n)
{
    ek_free(n->saliency);
    ek_free(n->frequency);
    ek_free(n->similarity);
    ek_free(n->copy_of);
    ek_free(n->constant);
    memset(n, 0, sizeof *n);
}
