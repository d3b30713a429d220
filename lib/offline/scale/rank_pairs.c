#include "offline/scale/rank_pairs.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_LIST = 48 }; /* up to here insertion beats qsort, the order being nearly right */

struct ek_rank_pairs {
    const struct ek_dataset *lists;
    uint64_t count;
    int *level;  /* [N] number of the label among those of its list, from 0 */
    int *levels; /* [Q] */
    int *order;  /* [N] items of each list by score, kept: the next scores order them much alike */
    double *key; /* [longest] */
    int *tree;   /* [longest + 1] Fenwick's tree: counts by level */
};

static int rising(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* levels, level and the pairs of one list; `sorted` [n] is scratch. */
static uint64_t grade(const float *label, int n, float *sorted, int *level, int *levels)
{
    uint64_t pairs = 0;
    memcpy(sorted, label, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, rising);
    int kept = 0, lower = 0;
    for (int i = 0; i < n; i++) {
        if (i && sorted[i] != sorted[i - 1])
            lower = i;
        pairs += (uint64_t)lower;
        if (!i || sorted[i] != sorted[kept - 1])
            sorted[kept++] = sorted[i];
    }
    for (int i = 0; i < n; i++) {
        float *found = bsearch(&label[i], sorted, (size_t)kept, sizeof *sorted, rising);
        level[i] = found ? (int)(found - sorted) : 0;
    }
    *levels = kept;
    return pairs;
}

static int fill(struct ek_rank_pairs *p, size_t longest, struct ek_error *e)
{
    const struct ek_dataset *d = p->lists;
    float *sorted = ek_calloc(longest, sizeof *sorted);
    if (!sorted)
        return ek_fail(e, EK_ENOMEM, "no memory for lists of %zu items", longest);
    for (size_t q = 0; q < d->lists; q++) {
        size_t from = d->offset[q];
        int n = (int)(d->offset[q + 1] - from);
        p->count += grade(d->label + from, n, sorted, p->level + from, p->levels + q);
        for (int i = 0; i < n; i++)
            p->order[from + (size_t)i] = i;
    }
    ek_free(sorted);
    return EK_OK;
}

int ek_rank_pairs_new(struct ek_rank_pairs **out, const struct ek_dataset *lists,
                      struct ek_error *e)
{
    struct ek_rank_pairs *p = ek_calloc(1, sizeof *p);
    if (!p)
        return ek_fail(e, EK_ENOMEM, "no memory for pairs");
    size_t longest = 0;
    for (size_t q = 0; q < lists->lists; q++)
        if (lists->offset[q + 1] - lists->offset[q] > longest)
            longest = lists->offset[q + 1] - lists->offset[q];
    p->lists = lists;
    p->level = ek_calloc(lists->items, sizeof *p->level);
    p->levels = ek_calloc(lists->lists, sizeof *p->levels);
    p->order = ek_calloc(lists->items, sizeof *p->order);
    p->key = ek_calloc(longest, sizeof *p->key);
    p->tree = ek_calloc(longest + 1, sizeof *p->tree);
    int rc = p->level && p->levels && p->order && p->key && p->tree
                 ? fill(p, longest, e)
                 : ek_fail(e, EK_ENOMEM, "no memory for the pairs of %zu items", lists->items);
    if (rc)
        ek_rank_pairs_free(p);
    else
        *out = p;
    return rc;
}

void ek_rank_pairs_free(struct ek_rank_pairs *p)
{
    if (!p)
        return;
    ek_free(p->level);
    ek_free(p->levels);
    ek_free(p->order);
    ek_free(p->key);
    ek_free(p->tree);
    ek_free(p);
}

uint64_t ek_rank_pairs_count(const struct ek_rank_pairs *p)
{
    return p->count;
}

static int by_key(const void *a, const void *b, void *context)
{
    const double *key = context;
    double x = key[*(const int *)a], y = key[*(const int *)b];
    return (x > y) - (x < y);
}

/* Rising; how equal scores lie changes no count. */
static void sort(int *order, int n, const double *key)
{
    if (n > SHORT_LIST) {
        qsort_r(order, (size_t)n, sizeof *order, by_key, (void *)(uintptr_t)key);
        return;
    }
    for (int i = 1; i < n; i++) {
        int item = order[i], at = i;
        for (; at > 0 && key[order[at - 1]] > key[item]; at--)
            order[at] = order[at - 1];
        order[at] = item;
    }
}

static void count_one(int *tree, int levels, int level)
{
    for (int i = level + 1; i <= levels; i += i & -i)
        tree[i]++;
}

/* How many were counted at levels below that one. */
static int counted_below(const int *tree, int level)
{
    int sum = 0;
    for (int i = level; i > 0; i -= i & -i)
        sum += tree[i];
    return sum;
}

/* From the best score down, as the better one: the worse labels above its score - 1. */
static uint64_t as_better(struct ek_rank_pairs *p, const int *order, const int *level, int n,
                          int levels, double *net)
{
    uint64_t violated = 0;
    int taken = n;
    memset(p->tree, 0, ((size_t)levels + 1) * sizeof *p->tree);
    for (int k = n - 1; k >= 0; k--) {
        int i = order[k];
        while (taken > 0 && p->key[i] - 1 < p->key[order[taken - 1]])
            count_one(p->tree, levels, level[order[--taken]]);
        int worse = counted_below(p->tree, level[i]);
        net[i] = worse;
        violated += (uint64_t)worse;
    }
    return violated;
}

/* From the lowest score up, as the worse one: the better labels whose score - 1 is below. */
static void as_worse(struct ek_rank_pairs *p, const int *order, const int *level, int n, int levels,
                     double *net)
{
    int taken = 0;
    memset(p->tree, 0, ((size_t)levels + 1) * sizeof *p->tree);
    for (int k = 0; k < n; k++) {
        int j = order[k];
        while (taken < n && p->key[order[taken]] - 1 < p->key[j])
            count_one(p->tree, levels, level[order[taken++]]);
        net[j] -= taken - counted_below(p->tree, level[j] + 1);
    }
}

uint64_t ek_rank_pairs_violated(struct ek_rank_pairs *p, const double *scores, double *net)
{
    const struct ek_dataset *d = p->lists;
    uint64_t violated = 0;
    for (size_t q = 0; q < d->lists; q++) {
        size_t from = d->offset[q];
        int n = (int)(d->offset[q + 1] - from), levels = p->levels[q];
        memset(net + from, 0, (size_t)n * sizeof *net);
        if (levels < 2)
            continue;
        memcpy(p->key, scores + from, (size_t)n * sizeof *p->key);
        sort(p->order + from, n, p->key);
        violated += as_better(p, p->order + from, p->level + from, n, levels, net + from);
        as_worse(p, p->order + from, p->level + from, n, levels, net + from);
    }
    return violated;
}
