#include "daemon/tools/select/select_choose.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "offline/select/greedy_select.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ek_select_progress_start(struct ek_select_progress *p, struct ek_pool *pool)
{
    *p = (struct ek_select_progress){.pool = pool, .lock = PTHREAD_MUTEX_INITIALIZER};
}

void ek_select_run(void *context, void (*task)(void *arg, int i), void *arg, int count)
{
    ek_pool_run(((struct ek_select_progress *)context)->pool, task, arg, count);
}

void ek_select_progress_add(void *context, int count)
{
    struct ek_select_progress *p = context;
    pthread_mutex_lock(&p->lock);
    ek_progress_update(&p->progress, (uint64_t)++p->done, (uint64_t)count, "features");
    pthread_mutex_unlock(&p->lock);
}

void ek_selection_release(struct ek_selection *s)
{
    for (int i = 0; i < s->set_count; i++)
        ek_free(s->set[i].item);
    if (s->nfs.features)
        ek_nfs_release(&s->nfs);
    ek_free(s->relevance);
    ek_free(s->likeness);
    ek_free(s->candidate);
    ek_free(s->importance);
    ek_free(s->merge);
    ek_free(s->leaf);
    ek_free(s->cluster);
    memset(s, 0, sizeof *s);
}

int ek_feature_set_rank(const struct ek_feature_set *set, int item)
{
    for (int i = 0; i < set->count; i++)
        if (set->item[i] == item)
            return i + 1;
    return 0;
}

double ek_selection_redundancy(const struct ek_selection *s, int item,
                               const struct ek_feature_set *set)
{
    double most = 0;
    for (int i = 0; i < set->count; i++)
        if (set->item[i] != item)
            most =
                fmax(most, s->likeness[(size_t)item * (size_t)s->features + (size_t)set->item[i]]);
    return most;
}

static int allocate(struct ek_selection *s, int features, struct ek_error *e)
{
    size_t n = (size_t)features;
    s->features = features;
    s->relevance = ek_calloc(n, sizeof *s->relevance);
    s->likeness = ek_calloc(n, n * sizeof *s->likeness);
    s->candidate = ek_calloc(n, sizeof *s->candidate);
    s->merge = ek_calloc(n, sizeof *s->merge);
    s->leaf = ek_calloc(n, sizeof *s->leaf);
    return s->relevance && s->likeness && s->candidate && s->merge && s->leaf
               ? EK_OK
               : ek_fail(e, EK_ENOMEM, "out of memory");
}

static int measure(struct ek_selection *s, const struct ek_select_args *a,
                   const struct ek_select_data *d, struct ek_error *e)
{
    int rc = ek_relevance_measure(d->train, a->cutoff, s->relevance, e);
    if (!rc && isnan(s->relevance[0].ndcg))
        rc =
            ek_fail(e, EK_EUSAGE,
                    "no list of the --train files has a positive label, which the selection needs");
    if (!rc)
        rc = ek_similarity_measure(d->train, a->likeness, s->likeness, e);
    for (int i = 0; i < s->features && !rc; i++) {
        s->candidate[i] = !s->relevance[i].constant;
        if (s->candidate[i])
            s->leaf[s->candidates++] = i;
    }
    if (!rc && !s->candidates)
        rc = ek_fail(e, EK_EUSAGE, "all %d item features are constant in the --train files",
                     s->features);
    return rc;
}

static int show_epoch(void *context, int epoch, int epochs, double vali)
{
    struct ek_select_progress *w = context;
    char note[80];
    snprintf(note, sizeof note, "epoch %d of %d, validation NDCG@10 %.4f", epoch, epochs, vali);
    ek_progress_update(&w->progress, (uint64_t)epoch, (uint64_t)epochs, note);
    return 0;
}

static int importance(struct ek_selection *s, const struct ek_select_args *a,
                      const struct ek_select_data *d, struct ek_select_progress *w,
                      struct ek_error *e)
{
    struct ek_importance_options o;
    ek_importance_defaults(&o);
    o.metric.cutoff = a->cutoff;
    o.repeats = a->repeats;
    o.seed = a->seed;
    o.run = ek_select_run;
    o.done = ek_select_progress_add;
    o.context = w;
    s->importance = ek_calloc((size_t)s->features, sizeof *s->importance);
    if (!s->importance)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_progress_start(&w->progress, "shuffling");
    int rc = ek_importance_measure(d->model, d->vali, &o, &s->whole, s->importance, e);
    if (!rc)
        ek_progress_finish(&w->progress, "all features shuffled");
    return rc;
}

/* Use the mean of i with j and j with i for measures that depend on the direction. */
static void read_similarity(struct ek_selection *s)
{
    size_t n = (size_t)s->features;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            s->likeness[i * n + j] =
                i == j ? 1 : (s->nfs.similarity[i * n + j] + s->nfs.similarity[j * n + i]) / 2;
}

static int neural(struct ek_selection *s, const struct ek_select_args *a,
                  const struct ek_select_data *d, struct ek_select_progress *w, struct ek_error *e)
{
    struct ek_nfs_options o;
    ek_nfs_defaults(&o);
    if (a->epochs)
        o.epochs = a->epochs;
    o.seed = a->seed;
    o.progress = show_epoch;
    o.run = ek_select_run;
    o.context = w;
    ek_progress_start(&w->progress, "re-ranker");
    int rc = ek_nfs_run(&s->nfs, d->m, d->train, d->vali, &o, e);
    if (rc) {
        s->nfs.features = 0;
        return rc;
    }
    ek_progress_finish(&w->progress, NULL);
    read_similarity(s);
    return EK_OK;
}

/* Select candidates by a statistic, highest first; ties by index. */
static int by_figure(const struct ek_selection *s, const double *figure, int k, int *chosen)
{
    int count = 0;
    for (int i = 0; i < s->candidates; i++) {
        int item = s->leaf[i], at = count < k ? count++ : k;
        while (at > 0 && figure[item] > figure[chosen[at - 1]]) {
            if (at < k)
                chosen[at] = chosen[at - 1];
            at--;
        }
        if (at < k)
            chosen[at] = item;
    }
    return EK_OK;
}

static int sort_important(const struct ek_selection *s, int k, int *chosen, struct ek_error *e)
{
    double *lost = ek_calloc((size_t)s->features, sizeof *lost);
    if (!lost)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (int i = 0; i < s->features; i++)
        lost[i] = s->importance[i].lost;
    int rc = by_figure(s, lost, k, chosen);
    ek_free(lost);
    return rc;
}

/* One random order serves all sizes. */
static int by_random(const struct ek_selection *s, uint64_t seed, int k, int *chosen,
                     struct ek_error *e)
{
    struct ek_rng random;
    int *order = ek_calloc((size_t)s->candidates, sizeof *order);
    if (!order)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    memcpy(order, s->leaf, (size_t)s->candidates * sizeof *order);
    ek_rng_seed(&random, seed);
    ek_rng_shuffle(&random, order, (size_t)s->candidates);
    memcpy(chosen, order, (size_t)k * sizeof *chosen);
    ek_free(order);
    return EK_OK;
}

/* Cluster the features in groups, as ek_nfs_choose does; others are alone and have no number. */
static int neural_clusters(struct ek_selection *s, int k, struct ek_error *e)
{
    size_t n = (size_t)s->features;
    bool *grouped = ek_calloc(n, sizeof *grouped);
    int *chosen = ek_calloc(n, sizeof *chosen), count = 0, least = 1;
    struct ek_merge *merge = ek_calloc(n, sizeof *merge);
    struct ek_greedy_select g = {s->features, s->nfs.frequency, s->likeness, grouped};
    int rc = grouped && chosen && merge ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
    for (size_t i = 0; i < n && !rc; i++) {
        grouped[i] = s->candidate[i] && s->nfs.frequency[i] > 0;
        count += grouped[i];
        s->cluster[i] = -1;
    }
    if (!rc && count) {
        rc = ek_hcas(&g, 1, chosen, merge, NULL, e);
        for (int i = 0; i < count - 1; i++)
            least += merge[i].distance >= 1;
        k = k < least ? least : k > count ? count : k;
        if (!rc)
            rc = ek_hcas(&g, k, chosen, NULL, s->cluster, e);
    }
    s->clusters = (count ? k : 0) + s->candidates - count;
    ek_free(grouped);
    ek_free(chosen);
    ek_free(merge);
    return rc;
}

static int choose(struct ek_selection *s, const struct ek_select_args *a, int k, int *chosen,
                  struct ek_error *e)
{
    double *worth = ek_calloc((size_t)s->features, sizeof *worth);
    if (!worth)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (int i = 0; i < s->features; i++)
        worth[i] = s->relevance[i].ndcg;
    struct ek_greedy_select g = {s->features, worth, s->likeness, s->candidate};
    int rc;
    switch (a->method) {
    case EK_SELECT_NFS:
        rc = ek_nfs_choose(&s->nfs, k, chosen, e);
        if (!rc)
            rc = neural_clusters(s, k, e);
        break;
    case EK_SELECT_HCAS:
        rc = ek_hcas(&g, k, chosen, NULL, s->cluster, e);
        s->clusters = k;
        break;
    case EK_SELECT_XGAS:
        rc = ek_xgas(&g, EK_XGAS_SHARE, k, chosen, e);
        break;
    case EK_SELECT_IMPORTANCE:
        rc = sort_important(s, k, chosen, e);
        break;
    default:
        rc = by_random(s, a->seed, k, chosen, e);
    }
    ek_free(worth);
    return rc;
}

static int add_set(struct ek_selection *s, const struct ek_select_args *a, double share,
                   int desired, struct ek_error *e)
{
    int count = desired > s->candidates ? s->candidates : desired;
    struct ek_feature_set *set = &s->set[s->set_count];
    *set =
        (struct ek_feature_set){share, count, desired, ek_calloc((size_t)count, sizeof *set->item)};
    if (!set->item)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    s->set_count++;
    return choose(s, a, count, set->item, e);
}

/* Check the size before hours of training. */
static int check_count(const struct ek_selection *s, const struct ek_select_args *a,
                       struct ek_error *e)
{
    if (a->count > s->candidates)
        return ek_fail(e, EK_EUSAGE,
                       "--count %d: %d of the %d item features are constant in the --train files, "
                       "which leaves %d",
                       a->count, s->features - s->candidates, s->features, s->candidates);
    return EK_OK;
}

static int choose_all(struct ek_selection *s, const struct ek_select_args *a, struct ek_error *e)
{
    int rc = EK_OK;
    if (a->count)
        return add_set(s, a, 0, a->count, e);
    for (int i = 0; i < a->share_count && !rc; i++) {
        int count = (int)floor(a->share[i] / 100 * s->features + 0.5);
        rc = add_set(s, a, a->share[i], count < 1 ? 1 : count, e);
    }
    return rc;
}

/* Build the whole tree, for the picture. */
static int link_all(struct ek_selection *s, struct ek_error *e)
{
    int *chosen = ek_calloc((size_t)s->candidates, sizeof *chosen);
    double *worth = ek_calloc((size_t)s->features, sizeof *worth);
    struct ek_greedy_select g = {s->features, worth, s->likeness, s->candidate};
    int rc = chosen && worth ? ek_hcas(&g, s->candidates, chosen, s->merge, NULL, e)
                             : ek_fail(e, EK_ENOMEM, "out of memory");
    ek_free(chosen);
    ek_free(worth);
    return rc;
}

int ek_selection_make(struct ek_selection *s, struct ek_select_args *a,
                      const struct ek_select_data *d)
{
    struct ek_select_progress w;
    ek_select_progress_start(&w, d->pool);
    bool clusters = a->method == EK_SELECT_NFS || a->method == EK_SELECT_HCAS;
    memset(s, 0, sizeof *s);
    int rc = allocate(s, d->m->item_count, &a->e);
    if (!rc)
        rc = measure(s, a, d, &a->e);
    if (!rc)
        rc = check_count(s, a, &a->e);
    if (!rc && clusters) {
        s->cluster = ek_calloc((size_t)s->features, sizeof *s->cluster);
        rc = s->cluster ? EK_OK : ek_fail(&a->e, EK_ENOMEM, "out of memory");
    }
    if (!rc && a->method == EK_SELECT_IMPORTANCE)
        rc = importance(s, a, d, &w, &a->e);
    if (!rc && a->method == EK_SELECT_NFS)
        rc = neural(s, a, d, &w, &a->e);
    if (!rc)
        rc = choose_all(s, a, &a->e);
    return rc ? rc : link_all(s, &a->e);
}
