#include "offline/select/linkage.h"

#include "base/alloc.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* An edge of the spanning tree between things. */
struct edge {
    int a, b;
    double distance;
};

static int by_distance(const void *x, const void *y)
{
    const struct edge *a = x, *b = y;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    if (a->a != b->a)
        return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

static double length(const double *distance, int n, int i, int j)
{
    double d = distance[(size_t)i * (size_t)n + (size_t)j];
    return isnan(d) ? INFINITY : d;
}

static struct edge edge_of(int i, int j, double distance)
{
    return i < j ? (struct edge){i, j, distance} : (struct edge){j, i, distance};
}

/* Prim's algorithm; near[i] is the best edge from i into the tree. */
static void span(const double *distance, int n, struct edge *near, bool *in, struct edge *tree)
{
    in[0] = true;
    for (int i = 1; i < n; i++) {
        in[i] = false;
        near[i] = edge_of(0, i, length(distance, n, 0, i));
    }
    for (int made = 0; made < n - 1; made++) {
        int next = -1;
        for (int i = 1; i < n; i++)
            if (!in[i] && (next < 0 || by_distance(&near[i], &near[next]) < 0))
                next = i;
        in[next] = true;
        tree[made] = near[next];
        for (int i = 1; i < n; i++) {
            struct edge other = edge_of(next, i, length(distance, n, next, i));
            if (!in[i] && by_distance(&other, &near[i]) < 0)
                near[i] = other;
        }
    }
}

static int root(const int *parent, int i)
{
    while (parent[i] != i)
        i = parent[i];
    return i;
}

/* The cluster that a thing, or a cluster, is in now; clusters are numbered as they are made. */
static void merge_edges(const struct edge *tree, int n, int *parent, int *size,
                        struct ek_merge *merge)
{
    for (int i = 0; i < 2 * n - 1; i++) {
        parent[i] = i;
        size[i] = 1;
    }
    for (int i = 0; i < n - 1; i++) {
        int a = root(parent, tree[i].a), b = root(parent, tree[i].b);
        int made = n + i;
        size[made] = size[a] + size[b];
        parent[a] = parent[b] = made;
        merge[i] = (struct ek_merge){a < b ? a : b, a < b ? b : a, tree[i].distance, size[made]};
    }
}

int ek_single_linkage(const double *distance, int n, struct ek_merge *merge, struct ek_error *e)
{
    size_t count = (size_t)n;
    struct edge *near = ek_calloc(2 * count, sizeof *near);
    int *numbers = ek_calloc(4 * count, sizeof *numbers);
    bool *in = ek_calloc(count, sizeof *in);
    int rc = EK_OK;
    if (!near || !numbers || !in) {
        rc = ek_fail(e, EK_ENOMEM, "no memory for the clusters of %d features", n);
    } else {
        span(distance, n, near, in, near + count);
        qsort(near + count, count - 1, sizeof *near, by_distance);
        merge_edges(near + count, n, numbers, numbers + 2 * count, merge);
    }
    ek_free(near);
    ek_free(numbers);
    ek_free(in);
    return rc;
}

int ek_linkage_cut(const struct ek_merge *merge, int n, int clusters, int *cluster_of,
                   struct ek_error *e)
{
    int *parent = ek_calloc(2 * (size_t)n, sizeof *parent), found = 0;
    if (!parent)
        return ek_fail(e, EK_ENOMEM, "no memory for the clusters of %d features", n);
    for (int i = 0; i < 2 * n - 1; i++)
        parent[i] = i;
    for (int i = 0; i < n - clusters; i++)
        parent[merge[i].a] = parent[merge[i].b] = n + i;
    for (int i = 0; i < n; i++) {
        int mine = root(parent, i), before = 0;
        while (before < i && root(parent, before) != mine)
            before++;
        cluster_of[i] = before < i ? cluster_of[before] : found++;
    }
    ek_free(parent);
    return EK_OK;
}
