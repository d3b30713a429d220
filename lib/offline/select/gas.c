#include "offline/select/gas.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>

static bool may(const struct ek_gas *g, int i)
{
    return !g->candidate || g->candidate[i];
}

int ek_gas_candidates(const struct ek_gas *g)
{
    int count = 0;
    for (int i = 0; i < g->features; i++)
        count += may(g, i);
    return count;
}

static int check_count(const struct ek_gas *g, int k, struct ek_error *e)
{
    int candidates = ek_gas_candidates(g);
    if (k < 1 || k > candidates)
        return ek_fail(e, EK_EUSAGE, "there are %d features to choose from, so %d cannot be chosen",
                       candidates, k);
    return EK_OK;
}

static double worth(const struct ek_gas *g, int i)
{
    return isnan(g->relevance[i]) ? -INFINITY : g->relevance[i];
}

/* Whether a comes before b. */
static bool better(const struct ek_gas *g, int a, int b)
{
    return worth(g, a) > worth(g, b) || (worth(g, a) == worth(g, b) && a < b);
}

/* A feature that is left, and how like the last one it is. */
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

static int first_of(const struct ek_gas *g, const struct left *left, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++)
        if (better(g, left[i].feature, left[best].feature))
            best = i;
    return best;
}

int ek_xgas(const struct ek_gas *g, double p, int k, int *chosen, struct ek_error *e)
{
    int rc = check_count(g, k, e), count = 0;
    if (!rc && !(p > 0 && p <= 1))
        rc = ek_fail(e, EK_EUSAGE, "the share of XGAS must be above 0 and at most 1, not %g", p);
    if (rc)
        return rc;
    struct left *left = ek_calloc((size_t)g->features, sizeof *left);
    if (!left)
        return ek_fail(e, EK_ENOMEM, "no memory for %d features", g->features);
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

static void fill(const struct ek_gas *g, struct clusters *c, int count)
{
    for (int i = 0, n = 0; i < g->features; i++)
        if (may(g, i))
            c->number[n++] = i;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            c->distance[(size_t)i * (size_t)count + (size_t)j] =
                1 - g->likeness[(size_t)c->number[i] * (size_t)g->features + (size_t)c->number[j]];
}

/* Of each cluster the best, then these by their worth: k is small. */
static void take_best(const struct ek_gas *g, const struct clusters *c, int count, int k,
                      int *chosen)
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

static void hand_out(const struct ek_gas *g, const struct clusters *c, int count,
                     struct ek_merge *merge, int *cluster_of)
{
    for (int i = 0; merge && i < count - 1; i++)
        merge[i] = c->merge[i];
    for (int i = 0; cluster_of && i < g->features; i++)
        cluster_of[i] = -1;
    for (int i = 0; cluster_of && i < count; i++)
        cluster_of[c->number[i]] = c->of[i];
}

int ek_hcas(const struct ek_gas *g, int k, int *chosen, struct ek_merge *merge, int *cluster_of,
            struct ek_error *e)
{
    int rc = check_count(g, k, e), count = ek_gas_candidates(g);
    if (rc)
        return rc;
    size_t n = (size_t)count;
    struct clusters c = {ek_calloc(n, sizeof *c.number), ek_calloc(n * n, sizeof *c.distance),
                         ek_calloc(n, sizeof *c.of), ek_calloc(n, sizeof *c.merge)};
    if (!c.number || !c.distance || !c.of || !c.merge)
        rc = ek_fail(e, EK_ENOMEM, "no memory for the clusters of %d features", count);
    if (!rc) {
        fill(g, &c, count);
        rc = ek_single_linkage(c.distance, count, c.merge, e);
    }
    if (!rc)
        rc = ek_linkage_cut(c.merge, count, k, c.of, e);
    if (!rc) {
        take_best(g, &c, count, k, chosen);
        hand_out(g, &c, count, merge, cluster_of);
    }
    ek_free(c.number);
    ek_free(c.distance);
    ek_free(c.of);
    ek_free(c.merge);
    return rc;
}
