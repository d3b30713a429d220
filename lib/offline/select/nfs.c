#include "offline/select/nfs.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/portable.h"
#include "offline/select/greedy_select.h"
#include "offline/select/nfs_saliency.h"
#include "offline/train/evaluate.h"
#include "offline/train/train_check.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void ek_nfs_defaults(struct ek_nfs_options *o)
{
    *o = (struct ek_nfs_options){
        .threshold = 0.95, .chance = 0.02, .epochs = 15, .batch_lists = 64, .learning_rate = 1e-3};
}

/* State of one run, without its result. */
struct work {
    struct ek_model *model; /* transform statistics only */
    struct ek_nfs_data train, vali;
    double *mean, *scale; /* [F, EK_NFS_PARTS] */
    int *copy_of;         /* [F] */
    bool *constant;       /* [F] */
    bool *live;           /* [F], neither a copy nor constant */
    struct ek_nfs_ranker ranker;
    struct ek_nfs_saliency look;
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

/* Determine constant and live features; set the scale of all others to 0. */
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

static int standardize(struct work *w, const struct ek_dataset *train, struct ek_error *e)
{
    size_t features = w->train.features;
    w->mean = ek_calloc(features, EK_NFS_PARTS * sizeof *w->mean);
    w->scale = ek_calloc(features, EK_NFS_PARTS * sizeof *w->scale);
    w->copy_of = ek_calloc(features, sizeof *w->copy_of);
    w->constant = ek_calloc(features, sizeof *w->constant);
    w->live = ek_calloc(features, sizeof *w->live);
    if (!w->mean || !w->scale || !w->copy_of || !w->constant || !w->live)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int code = ek_nfs_duplicates(train, w->copy_of, e);
    if (code)
        return code;
    ek_nfs_data_measure(&w->train, w->mean, w->scale);
    sort_out(w);
    ek_nfs_data_standardize(&w->train, w->mean, w->scale);
    ek_nfs_data_standardize(&w->vali, w->mean, w->scale);
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
    return code ? code : standardize(w, train, e);
}

static size_t count_live(const struct work *w)
{
    size_t live = 0;
    for (size_t f = 0; f < w->train.features; f++)
        live += w->live[f];
    return live;
}

/* Add a kept group to the frequencies and similarities; similarity contains weights until
 * normalized. */
static void select_group(struct ek_nfs *out, const struct ek_nfs_groups *g, size_t group)
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

/* Keep the groups that the null model does not explain. */
static void retain_groups(struct ek_nfs *out, const struct work *w, const struct ek_nfs_options *o)
{
    const struct ek_nfs_groups *g = &w->look.groups;
    size_t features = g->features, live = count_live(w);
    out->groups = g->count;
    for (size_t i = 0; i < g->count; i++) {
        double chance =
            ek_nfs_null_model(live, ek_nfs_group_size(g, i), o->threshold, g->maps, g->seen[i]);
        if (chance > o->chance)
            continue;
        select_group(out, g, i);
        out->kept++;
    }
    for (size_t i = 0; i < features * features; i++)
        if (out->frequency[i / features] > 0)
            out->similarity[i] /= out->frequency[i / features];
}

/* Copy the results of the original to a copy. */
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
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    memcpy(out->saliency, w->look.saliency, features * sizeof *out->saliency);
    retain_groups(out, w, o);
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
    ek_nfs_saliency_release(&w->look);
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
        code = ek_nfs_saliency(&w.look, &w.ranker, &w.train, w.live, o, e);
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

/* Return the rank class of a feature: kept groups, others, copies, constants. */
static int class_of(const struct ek_nfs *n, int i)
{
    if (n->constant[i])
        return 3;
    if (n->copy_of[i] >= 0)
        return 2;
    return n->frequency[i] > 0 ? 0 : 1;
}

/* Return true if feature i precedes j: by class, frequency, saliency, then number. */
static bool before(const struct ek_nfs *n, int i, int j)
{
    int a = class_of(n, i), b = class_of(n, j);
    if (a != b)
        return a < b;
    if (n->frequency[i] != n->frequency[j])
        return n->frequency[i] > n->frequency[j];
    if (n->saliency[i] != n->saliency[j])
        return n->saliency[i] > n->saliency[j];
    return i < j;
}

static int by_rank(const void *a, const void *b, void *n)
{
    int i = *(const int *)a, j = *(const int *)b;
    return before(n, i, j) ? -1 : before(n, j, i);
}

/* Compute the distances of features of [count]: 1 - the mean of both similarities. */
static void fill_distances(const struct ek_nfs *n, const int *of, size_t count, double *distance)
{
    size_t features = (size_t)n->features;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            size_t a = (size_t)of[i], b = (size_t)of[j];
            distance[i * count + j] =
                1 - (n->similarity[a * features + b] + n->similarity[b * features + a]) / 2;
        }
}

/* Return k, or more clusters if features without a common group would be merged. */
static int clusters_of(const struct ek_merge *merge, int count, int k)
{
    int least = count;
    for (int i = 0; i < count - 1 && merge[i].distance < 1; i++)
        least--;
    return k > least ? k : least;
}

/* Move the best feature of each cluster to the front. `of` is sorted by rank, so the first feature
 * of a cluster is its best. */
static int best_of_clusters(const struct ek_nfs *n, int *of, int count, int k, struct ek_error *e)
{
    size_t size = (size_t)count;
    double *distance = ek_calloc(size, size * sizeof *distance);
    struct ek_merge *merge = ek_calloc(size, sizeof *merge);
    int *cluster = ek_calloc(size, sizeof *cluster);
    bool *taken = ek_calloc(size, sizeof *taken);
    int code = EK_OK;
    if (!distance || !merge || !cluster || !taken)
        code = ek_fail(e, EK_ENOMEM, "out of memory");
    if (!code) {
        fill_distances(n, of, size, distance);
        code = ek_single_linkage(distance, count, merge, e);
    }
    if (!code)
        code = ek_linkage_cut(merge, count, clusters_of(merge, count, k), cluster, e);
    for (int i = 0, first = 0; i < count && !code; i++)
        if (!taken[cluster[i]]) {
            taken[cluster[i]] = true;
            of[first++] = of[i];
        }
    ek_free(distance);
    ek_free(merge);
    ek_free(cluster);
    ek_free(taken);
    return code;
}

int ek_nfs_choose(const struct ek_nfs *n, int k, int *chosen, struct ek_error *e)
{
    int *of = ek_calloc((size_t)n->features, sizeof *of), code = EK_OK, grouped = 0;
    if (!of)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (int f = 0; f < n->features; f++) {
        of[f] = f;
        grouped += !class_of(n, f);
    }
    ek_sort_with(of, (size_t)n->features, sizeof *of, by_rank, (void *)n);
    if (k < grouped)
        code = best_of_clusters(n, of, grouped, k, e);
    for (int i = 0; i < k && !code; i++)
        chosen[i] = of[i];
    ek_free(of);
    return code;
}

/* Value of an item. */
struct value {
    float x;
    uint32_t item;
};

/* Hashes of the item order and of its reverse; both 0 for a constant feature. */
struct order {
    uint64_t rising, falling;
};

enum { MISSING = 0 }; /* ranks start at 1 */

static int ascending(const void *a, const void *b)
{
    float x = ((const struct value *)a)->x, y = ((const struct value *)b)->x;
    return (x > y) - (x < y);
}

/* Rank the values densely: equal values share a rank. Return the highest rank. */
static uint32_t rank_values(const struct value *sorted, size_t count, uint32_t *rank)
{
    uint32_t at = 0;
    for (size_t i = 0; i < count; i++) {
        at += !i || sorted[i].x > sorted[i - 1].x;
        rank[sorted[i].item] = at;
    }
    return at;
}

static struct order order_of(const struct ek_dataset *d, size_t feature, struct value *values,
                             uint32_t *rank)
{
    size_t count = 0, bytes = d->items * sizeof *rank;
    struct order o = {0, 0};
    for (size_t i = 0; i < d->items; i++) {
        float x = d->x[i * (size_t)d->item_features + feature];
        rank[i] = MISSING;
        if (isfinite(x))
            values[count++] = (struct value){x, (uint32_t)i};
    }
    qsort(values, count, sizeof *values, ascending);
    uint32_t highest = rank_values(values, count, rank);
    if (highest < 2)
        return o;
    o.rising = ek_hash(rank, bytes, 0);
    for (size_t i = 0; i < d->items; i++)
        rank[i] = rank[i] == MISSING ? MISSING : highest + 1 - rank[i];
    o.falling = ek_hash(rank, bytes, 0);
    return o;
}

static int first_alike(const struct order *order, int feature)
{
    const struct order *o = &order[feature];
    if (!o->rising && !o->falling)
        return -1;
    for (int f = 0; f < feature; f++)
        if (order[f].rising == o->rising || order[f].rising == o->falling)
            return f;
    return -1;
}

int ek_nfs_duplicates(const struct ek_dataset *d, int *copy_of, struct ek_error *e)
{
    struct order *order = ek_calloc((size_t)d->item_features, sizeof *order);
    struct value *values = ek_calloc(d->items, sizeof *values);
    uint32_t *rank = ek_calloc(d->items, sizeof *rank);
    int code = EK_OK;
    if (!order || !values || !rank)
        code = ek_fail(e, EK_ENOMEM, "out of memory");
    for (int f = 0; f < d->item_features && !code; f++) {
        order[f] = order_of(d, (size_t)f, values, rank);
        copy_of[f] = first_alike(order, f);
    }
    ek_free(order);
    ek_free(values);
    ek_free(rank);
    return code;
}

/* Return ln C(n, k), 0 <= k <= n. */
static double ln_choose(uint64_t n, uint64_t k)
{
    int sign;
    return lgamma_r((double)n + 1, &sign) - lgamma_r((double)k + 1, &sign) -
           lgamma_r((double)(n - k) + 1, &sign);
}

double ek_nfs_ln_probability(uint64_t features, uint64_t size, double threshold)
{
    if (size < 1 || size >= features)
        return -INFINITY;
    return ln_choose(features - 2, size - 1) + (double)(size - 1) * log1p(-threshold) +
           (double)(features - 1 - size) * log(threshold) - ln_choose(features, size);
}

/* Return the sum of binomial terms from k away from the mode, relative to the first. */
static double sum_up(double n, double k, double odds)
{
    double term = 1, sum = 1;
    for (; k < n && term > 1e-18 * sum; k++) {
        term *= (n - k) / (k + 1) * odds;
        sum += term;
    }
    return sum;
}

static double sum_down(double n, double k, double odds)
{
    double term = 1, sum = 1;
    for (; k > 0 && term > 1e-18 * sum; k--) {
        term *= k / (n - k + 1) / odds;
        sum += term;
    }
    return sum;
}

static double ln_term(uint64_t n, uint64_t k, double ln_p, double ln_q)
{
    return ln_choose(n, k) + (double)k * ln_p + (double)(n - k) * ln_q;
}

double ek_ln_binomial_tail(uint64_t n, double ln_p, uint64_t c)
{
    if (!c)
        return 0;
    if (c > n || ln_p == -INFINITY)
        return -INFINITY;
    double p = exp(ln_p), ln_q = log1p(-p), odds = p / (1 - p);
    if (p >= 1)
        return 0;
    if ((double)c > (double)n * p)
        return ln_term(n, c, ln_p, ln_q) + log(sum_up((double)n, (double)c, odds));
    double below = exp(ln_term(n, c - 1, ln_p, ln_q)) * sum_down((double)n, (double)(c - 1), odds);
    return log1p(-fmin(below, 1));
}

double ek_nfs_null_model(uint64_t features, uint64_t size, double threshold, uint64_t maps,
                         uint64_t seen)
{
    double ln_p = ek_nfs_ln_probability(features, size, threshold);
    if (ln_p == -INFINITY)
        return seen ? 0 : 1;
    return exp(fmin(690, ln_choose(features, size) + ek_ln_binomial_tail(maps, ln_p, seen)));
}
