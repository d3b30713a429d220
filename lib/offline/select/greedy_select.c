#include "offline/select/greedy_select.h"

#include "base/alloc.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static bool may(const struct ek_greedy_select *g, int i)
{
    return !g->candidate || g->candidate[i];
}

int ek_greedy_candidates(const struct ek_greedy_select *g)
{
    int count = 0;
    for (int i = 0; i < g->features; i++)
        count += may(g, i);
    return count;
}

static int check_count(const struct ek_greedy_select *g, int k, struct ek_error *e)
{
    int candidates = ek_greedy_candidates(g);
    if (k < 1 || k > candidates)
        return ek_fail(e, EK_EUSAGE, "there are %d features to choose from, so %d cannot be chosen",
                       candidates, k);
    return EK_OK;
}

static double worth(const struct ek_greedy_select *g, int i)
{
    return isnan(g->relevance[i]) ? -INFINITY : g->relevance[i];
}

/* Return true if a precedes b. */
static bool better(const struct ek_greedy_select *g, int a, int b)
{
    return worth(g, a) > worth(g, b) || (worth(g, a) == worth(g, b) && a < b);
}

/* Remaining feature with its similarity to the last selected one. */
struct left {
    double likeness;
    int feature;
};

static int by_likeness(const void *a, const void *b)
{
    const struct left *x = a, *y = b;
    if (x->likeness != y->likeness)
        return x->likeness < y->likeness ? -1 : 1;
    return (x->feature > y->feature) - (x->feature < y->feature);
}

static int first_of(const struct ek_greedy_select *g, const struct left *left, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++)
        if (better(g, left[i].feature, left[best].feature))
            best = i;
    return best;
}

int ek_xgas(const struct ek_greedy_select *g, double p, int k, int *chosen, struct ek_error *e)
{
    int rc = check_count(g, k, e), count = 0;
    if (!rc && !(p > 0 && p <= 1))
        rc = ek_fail(e, EK_EUSAGE, "the share of XGAS must be above 0 and at most 1, not %g", p);
    if (rc)
        return rc;
    struct left *left = ek_calloc((size_t)g->features, sizeof *left);
    if (!left)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (int i = 0; i < g->features; i++)
        if (may(g, i))
            left[count++] = (struct left){0, i};
    for (int taken = 0; taken < k; taken++) {
        int near = taken ? (int)ceil(p * count) : count;
        int best = first_of(g, left, near);
        int last = chosen[taken] = left[best].feature;
        left[best] = left[--count];
        for (int i = 0; i < count; i++)
            left[i].likeness =
                g->likeness[(size_t)last * (size_t)g->features + (size_t)left[i].feature];
        qsort(left, (size_t)count, sizeof *left, by_likeness);
    }
    ek_free(left);
    return EK_OK;
}

struct clusters {
    int *number;            /* [candidates] features */
    double *distance;       /* [candidates, candidates] */
    int *of;                /* [candidates] */
    struct ek_merge *merge; /* [candidates - 1] */
};

static void fill(const struct ek_greedy_select *g, struct clusters *c, int count)
{
    for (int i = 0, n = 0; i < g->features; i++)
        if (may(g, i))
            c->number[n++] = i;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            c->distance[(size_t)i * (size_t)count + (size_t)j] =
                1 - g->likeness[(size_t)c->number[i] * (size_t)g->features + (size_t)c->number[j]];
}

/* Select the best feature of each cluster and sort them by relevance; insertion sort, as k is
 * small. */
static void select_best(const struct ek_greedy_select *g, const struct clusters *c, int count,
                        int k, int *chosen)
{
    for (int i = 0; i < k; i++)
        chosen[i] = -1;
    for (int i = 0; i < count; i++) {
        int *best = &chosen[c->of[i]];
        if (*best < 0 || better(g, c->number[i], *best))
            *best = c->number[i];
    }
    for (int i = 1; i < k; i++)
        for (int j = i; j > 0 && better(g, chosen[j], chosen[j - 1]); j--) {
            int other = chosen[j];
            chosen[j] = chosen[j - 1];
            chosen[j - 1] = other;
        }
}

static void hand_out(const struct ek_greedy_select *g, const struct clusters *c, int count,
                     struct ek_merge *merge, int *cluster_of)
{
    for (int i = 0; merge && i < count - 1; i++)
        merge[i] = c->merge[i];
    for (int i = 0; cluster_of && i < g->features; i++)
        cluster_of[i] = -1;
    for (int i = 0; cluster_of && i < count; i++)
        cluster_of[c->number[i]] = c->of[i];
}

int ek_hcas(const struct ek_greedy_select *g, int k, int *chosen, struct ek_merge *merge,
            int *cluster_of, struct ek_error *e)
{
    int rc = check_count(g, k, e), count = ek_greedy_candidates(g);
    if (rc)
        return rc;
    size_t n = (size_t)count;
    struct clusters c = {ek_calloc(n, sizeof *c.number), ek_calloc(n * n, sizeof *c.distance),
                         ek_calloc(n, sizeof *c.of), ek_calloc(n, sizeof *c.merge)};
    if (!c.number || !c.distance || !c.of || !c.merge)
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc) {
        fill(g, &c, count);
        rc = ek_single_linkage(c.distance, count, c.merge, e);
    }
    if (!rc)
        rc = ek_linkage_cut(c.merge, count, k, c.of, e);
    if (!rc) {
        select_best(g, &c, count, k, chosen);
        hand_out(g, &c, count, merge, cluster_of);
    }
    ek_free(c.number);
    ek_free(c.distance);
    ek_free(c.of);
    ek_free(c.merge);
    return rc;
}

/* Edge of the spanning tree. */
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

/* Build the spanning tree with Prim's algorithm; near[i] is the shortest edge from i to the tree.
 */
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

/* Merge clusters along the edges; new clusters are numbered in order of creation. */
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
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
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
        return ek_fail(e, EK_ENOMEM, "out of memory");
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
