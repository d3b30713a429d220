#include "offline/select/nfs.h"

#include "base/alloc.h"
#include "offline/select/linkage.h"

#include <stdbool.h>
#include <stdlib.h>

/* What is chosen first: features in kept groups, others, copies, those that never vary. */
static int class_of(const struct ek_nfs *n, int i)
{
    if (n->constant[i])
        return 3;
    if (n->copy_of[i] >= 0)
        return 2;
    return n->frequency[i] > 0 ? 0 : 1;
}

/* Whether feature i comes before j: of one class the more frequent, then the more salient, then
 * the lower number. */
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

/* Distances of the `count` features `of`: 1 - the mean of both similarities. */
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

/* As many clusters as asked, but never one of features that share no group. */
static int clusters_of(const struct ek_merge *merge, int count, int k)
{
    int least = count;
    for (int i = 0; i < count - 1 && merge[i].distance < 1; i++)
        least--;
    return k > least ? k : least;
}

/* Sorts the features in kept groups, the best first, and puts the best of each cluster to the
 * front. `of` has them in their order of rank, so the first of a cluster is its best. */
static int best_of_clusters(const struct ek_nfs *n, int *of, int count, int k, struct ek_error *e)
{
    size_t size = (size_t)count;
    double *distance = ek_calloc(size, size * sizeof *distance);
    struct ek_merge *merge = ek_calloc(size, sizeof *merge);
    int *cluster = ek_calloc(size, sizeof *cluster);
    bool *taken = ek_calloc(size, sizeof *taken);
    int code = EK_OK;
    if (!distance || !merge || !cluster || !taken)
        code = ek_fail(e, EK_ENOMEM, "no memory to choose from %d features", count);
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
        return ek_fail(e, EK_ENOMEM, "no memory to choose from %d features", n->features);
    for (int f = 0; f < n->features; f++) {
        of[f] = f;
        grouped += !class_of(n, f);
    }
    qsort_r(of, (size_t)n->features, sizeof *of, by_rank, (void *)n);
    if (k < grouped)
        code = best_of_clusters(n, of, grouped, k, e);
    for (int i = 0; i < k && !code; i++)
        chosen[i] = of[i];
    ek_free(of);
    return code;
}
