#include "offline/scale/rank_svm.h"

#include "base/alloc.h"
#include "base/portable.h"
#include "offline/scale/cutting_planes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHORT_LIST = 48 }; /* insertion sort is faster up to here, because lists are nearly sorted */

struct ek_rank_pairs {
    const struct ek_dataset *lists;
    uint64_t count;
    int *level;  /* [N], index of the label among the distinct labels of its list, from 0 */
    int *levels; /* [Q] */
    int *order;  /* [N], items of each list in the order of the last scores */
    double *key; /* [longest] */
    int *tree;   /* [longest + 1], Fenwick tree of counts by level */
};

static int rising(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Set `levels` and `level` of one list, and return its pairs; sorted [n] is scratch. */
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
        return ek_fail(e, EK_ENOMEM, "out of memory");
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
        return ek_fail(e, EK_ENOMEM, "out of memory");
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
                 : ek_fail(e, EK_ENOMEM, "out of memory");
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

/* Sort in ascending order; the order of ties changes no count. */
static void sort(int *order, int n, const double *key)
{
    if (n > SHORT_LIST) {
        ek_sort_with(order, (size_t)n, sizeof *order, by_key, (void *)(uintptr_t)key);
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

/* Return the count of levels below `level`. */
static int counted_below(const int *tree, int level)
{
    int sum = 0;
    for (int i = level; i > 0; i -= i & -i)
        sum += tree[i];
    return sum;
}

/* From the best score down, count for each item the worse labels with a score above its score - 1.
 */
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

/* From the lowest score up, count for each item the better labels with score - 1 below its score.
 */
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

/* Fraction of the required accuracy available to the inner problem. */
static const double SMALL_SHARE = 0.5;

struct work {
    const struct ek_dataset *lists;
    const float *x;
    size_t columns;
    struct ek_rank_pairs *pairs;
    struct ek_cutting_planes *planes;
    double *w, *best, *a; /* [columns] */
    double *scores, *net; /* [N] */
};

void ek_rank_svm_defaults(struct ek_rank_svm_options *o)
{
    *o = (struct ek_rank_svm_options){.c = 1, .epsilon = 1e-3, .rounds_max = 1000};
}

static int check(const struct ek_rank_svm_options *o, struct ek_error *e)
{
    if (!(o->c > 0) || !isfinite(o->c))
        return ek_fail(e, EK_EUSAGE, "C of %g is not a positive number", o->c);
    if (!(o->epsilon > 0) || !(o->epsilon < 1))
        return ek_fail(e, EK_EUSAGE, "epsilon of %g is not between 0 and 1", o->epsilon);
    if (o->rounds_max < 1)
        return ek_fail(e, EK_EUSAGE, "%d rounds are none", o->rounds_max);
    return EK_OK;
}

static int prepare(struct work *k, const struct ek_rank_svm_options *o, struct ek_error *e)
{
    size_t items = k->lists->items;
    k->w = ek_calloc(k->columns, sizeof *k->w);
    k->best = ek_calloc(k->columns, sizeof *k->best);
    k->a = ek_calloc(k->columns, sizeof *k->a);
    k->scores = ek_calloc(items, sizeof *k->scores);
    k->net = ek_calloc(items, sizeof *k->net);
    if (!k->w || !k->best || !k->a || !k->scores || !k->net)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_rank_pairs_new(&k->pairs, k->lists, e);
    if (!rc && !ek_rank_pairs_count(k->pairs))
        rc = ek_fail(e, EK_EUSAGE, "no list has items with different labels: nothing to learn");
    return rc ? rc : ek_cutting_planes_new(&k->planes, k->columns, o->c, e);
}

static void release(struct work *k)
{
    ek_rank_pairs_free(k->pairs);
    ek_cutting_planes_free(k->planes);
    ek_free(k->w);
    ek_free(k->best);
    ek_free(k->a);
    ek_free(k->scores);
    ek_free(k->net);
}

/* Compute the tangent plane of the loss at w, and return the loss, b - w . a. Sums are whole
 * numbers times floats, so a column that is constant within its lists cancels exactly. */
static double touch(struct work *k, double *b)
{
    size_t items = k->lists->items;
    for (size_t i = 0; i < items; i++) {
        const float *x = k->x + i * k->columns;
        double sum = 0;
        for (size_t c = 0; c < k->columns; c++)
            sum += k->w[c] * (double)x[c];
        k->scores[i] = sum;
    }
    double pairs = (double)ek_rank_pairs_count(k->pairs), sum = 0;
    *b = (double)ek_rank_pairs_violated(k->pairs, k->scores, k->net) / pairs;
    memset(k->a, 0, k->columns * sizeof *k->a);
    for (size_t i = 0; i < items; i++) {
        const float *x = k->x + i * k->columns;
        if (k->net[i] != 0)
            for (size_t c = 0; c < k->columns; c++)
                k->a[c] += k->net[i] * (double)x[c];
    }
    for (size_t c = 0; c < k->columns; c++) {
        k->a[c] /= pairs;
        sum += k->w[c] * k->a[c];
    }
    return *b - sum;
}

static double half_square(const double *w, size_t columns)
{
    double sum = 0;
    for (size_t c = 0; c < columns; c++)
        sum += w[c] * w[c];
    return sum / 2;
}

/* Add the plane at w and solve for the best w under all planes. The result keeps the best of both
 * objectives. */
static int round_of(struct work *k, const struct ek_rank_svm_options *o,
                    struct ek_rank_svm_result *r, struct ek_error *e)
{
    double b, loss = touch(k, &b);
    double objective = half_square(k->w, k->columns) + o->c * loss;
    if (!isfinite(objective))
        return ek_fail(e, EK_EUSAGE, "a value of the data is no finite number, or far too large");
    if (objective < r->objective) {
        r->objective = objective;
        memcpy(k->best, k->w, k->columns * sizeof *k->best);
    }
    if (r->objective - r->bound <= o->epsilon * o->c)
        return EK_OK;
    int rc = ek_cutting_planes_add(k->planes, k->a, b, e);
    if (!rc)
        r->bound = fmax(r->bound,
                        ek_cutting_planes_solve(k->planes, SMALL_SHARE * o->epsilon * o->c, k->w));
    return rc;
}

static int run(struct work *k, const struct ek_rank_svm_options *o, struct ek_rank_svm_result *r,
               struct ek_error *e)
{
    while (r->rounds < o->rounds_max) {
        r->rounds++;
        int rc = round_of(k, o, r, e);
        if (rc || r->objective - r->bound <= o->epsilon * o->c)
            return rc;
    }
    return ek_fail(e, EK_ESTATE, "C %g: after %d rounds the objective is %g, and may be %g", o->c,
                   r->rounds, r->objective, r->bound);
}

int ek_rank_svm(const struct ek_dataset *lists, const float *x, size_t columns,
                const struct ek_rank_svm_options *o, double *w, struct ek_rank_svm_result *result,
                struct ek_error *e)
{
    struct work k = {.lists = lists, .x = x, .columns = columns};
    struct ek_rank_svm_result r = {.objective = INFINITY};
    int rc = check(o, e);
    if (!rc)
        rc = prepare(&k, o, e);
    if (!rc) {
        r.pairs = ek_rank_pairs_count(k.pairs);
        rc = run(&k, o, &r, e);
    }
    if (!rc) {
        memcpy(w, k.best, columns * sizeof *w);
        if (result)
            *result = r;
    }
    release(&k);
    return rc;
}
