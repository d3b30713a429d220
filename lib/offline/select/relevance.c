#include "offline/select/relevance.h"

#include "base/alloc.h"
#include "base/sort.h"
#include "score/metrics.h"

#include <math.h>
#include <stdlib.h>

/* Value with its item index. */
struct value {
    float x;
    size_t at;
};

/* Compare in ascending order, missing values last. */
static int by_value(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    if (isnan(x->x) || isnan(y->x))
        return isnan(x->x) - isnan(y->x);
    return (x->x > y->x) - (x->x < y->x);
}

static bool same(const struct value *a, const struct value *b)
{
    return !by_value(a, b);
}

/* Return the end of the values equal to value `i`. */
static size_t tied(const struct value *v, size_t i, size_t n)
{
    size_t end = i + 1;
    while (end < n && same(&v[i], &v[end]))
        end++;
    return end;
}

struct work {
    struct value *value; /* [longest] */
    double *gain, *best; /* [longest] */
    double *discounts;   /* [longest + 1], prefix sums */
};

static size_t longest_list(const struct ek_dataset *d)
{
    size_t longest = 0;
    for (size_t q = 0; q < d->lists; q++)
        if (d->offset[q + 1] - d->offset[q] > longest)
            longest = d->offset[q + 1] - d->offset[q];
    return longest;
}

static void release(struct work *w)
{
    ek_free(w->value);
    ek_free(w->gain);
    ek_free(w->best);
    ek_free(w->discounts);
}

static int prepare(struct work *w, const struct ek_dataset *d, int cutoff, struct ek_error *e)
{
    size_t longest = longest_list(d);
    *w = (struct work){ek_calloc(longest, sizeof *w->value), ek_calloc(longest, sizeof *w->gain),
                       ek_calloc(longest, sizeof *w->best),
                       ek_calloc(longest + 1, sizeof *w->discounts)};
    if (!w->value || !w->gain || !w->best || !w->discounts) {
        release(w);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    for (size_t r = 0; r < longest; r++)
        w->discounts[r + 1] =
            w->discounts[r] + (cutoff && r >= (size_t)cutoff ? 0 : 1 / log2((double)r + 2));
    return EK_OK;
}

/* Write the gains of a list to w->gain. Return the ideal DCG. */
static double ideal(struct work *w, const float *label, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        w->best[i] = w->gain[i] = exp2((double)label[i]) - 1;
    ek_sort_doubles_descending(w->best, n);
    for (size_t r = 0; r < n; r++)
        sum += w->best[r] * (w->discounts[r + 1] - w->discounts[r]);
    return sum;
}

/* Return the expected DCG of a group of equal values with ranks from `rank` on. Each item has the
 * mean discount of these ranks. */
static double group_gain(const struct work *w, size_t from, size_t to, size_t rank)
{
    double gains = 0;
    for (size_t i = from; i < to; i++)
        gains += w->gain[w->value[i].at];
    return gains * (w->discounts[rank + to - from] - w->discounts[rank]) / (double)(to - from);
}

/* Compute the DCG by ascending and by descending values; missing values are last in both. */
static void pair_similarity(struct work *w, size_t n, double *rising, double *falling)
{
    size_t present = 0;
    qsort(w->value, n, sizeof *w->value, by_value);
    while (present < n && !isnan(w->value[present].x))
        present++;
    *rising = *falling = present < n ? group_gain(w, present, n, present) : 0;
    for (size_t i = 0, end; i < present; i = end) {
        end = tied(w->value, i, present);
        *rising += group_gain(w, i, end, i);
        *falling += group_gain(w, i, end, present - end);
    }
}

/* Compute the mean NDCG of one feature over the lists; `rising` ranks the lowest value first. */
static void feature_means(struct work *w, const struct ek_dataset *d, size_t feature,
                          double *rising, double *falling)
{
    size_t counted = 0;
    double up = 0, down = 0;
    for (size_t q = 0; q < d->lists; q++) {
        size_t first = d->offset[q], n = d->offset[q + 1] - first;
        double best = ideal(w, d->label + first, n), rise, fall;
        if (!(best > 0))
            continue;
        for (size_t i = 0; i < n; i++)
            w->value[i] = (struct value){d->x[(first + i) * (size_t)d->item_features + feature], i};
        pair_similarity(w, n, &rise, &fall);
        up += rise / best;
        down += fall / best;
        counted++;
    }
    *rising = counted ? up / (double)counted : NAN;
    *falling = counted ? down / (double)counted : NAN;
}

static bool is_constant(const struct ek_dataset *d, size_t feature)
{
    float first = NAN;
    for (size_t i = 0; i < d->items; i++) {
        float x = d->x[i * (size_t)d->item_features + feature];
        if (isnan(x))
            continue;
        if (isnan(first))
            first = x;
        else if (x != first)
            return false;
    }
    return true;
}

static int check_labels(const struct ek_dataset *d, struct ek_error *e)
{
    for (size_t i = 0; i < d->items; i++)
        if (d->label[i] > EK_LABEL_MAX)
            return ek_fail(e, EK_EUSAGE, "label %g is above %g, too large for a gain of 2^y - 1",
                           (double)d->label[i], (double)EK_LABEL_MAX);
    return EK_OK;
}

int ek_relevance_measure(const struct ek_dataset *d, int cutoff, struct ek_relevance *out,
                         struct ek_error *e)
{
    struct work w;
    int rc = check_labels(d, e);
    if (!rc)
        rc = prepare(&w, d, cutoff, e);
    if (rc)
        return rc;
    for (int f = 0; f < d->item_features; f++) {
        double rising, falling;
        feature_means(&w, d, (size_t)f, &rising, &falling);
        /* a feature that falls with relevance ranks the lowest value first */
        out[f] = (struct ek_relevance){fmax(rising, falling), rising > falling,
                                       is_constant(d, (size_t)f)};
    }
    release(&w);
    return EK_OK;
}

/* Write the centered midranks of items [first, end), scaled to length 1, to `rank` (from its
 * start). Missing items get 0, the center. All are 0, and the result false, without two distinct
 * values. */
static bool unit_ranks(const struct ek_dataset *d, size_t feature, size_t first, size_t end,
                       struct value *value, float *rank)
{
    size_t n = 0;
    double sum = 0;
    for (size_t i = first; i < end; i++) {
        float x = d->x[i * (size_t)d->item_features + feature];
        rank[i - first] = 0;
        if (!isnan(x))
            value[n++] = (struct value){x, i - first};
    }
    qsort(value, n, sizeof *value, by_value);
    double middle = ((double)n - 1) / 2;
    for (size_t i = 0, to; i < n; i = to) {
        to = tied(value, i, n);
        double r = ((double)i + (double)to - 1) / 2 - middle;
        sum += r * r * (double)(to - i);
        for (size_t k = i; k < to; k++)
            rank[value[k].at] = (float)r;
    }
    double scale = sum > 0 ? 1 / sqrt(sum) : 0;
    for (size_t i = 0; i < end - first; i++)
        rank[i] = (float)((double)rank[i] * scale);
    return sum > 0;
}

static double product(const float *a, const float *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

struct sums {
    float *rank;         /* [F, items in a range] */
    struct value *value; /* [items in a range] */
    double *rho;         /* [F, F] sums, then means */
    size_t *count;       /* [F, F], lists in which both vary */
    bool *varies;        /* [F] */
};

static void add_range(struct sums *s, const struct ek_dataset *d, size_t first, size_t end)
{
    size_t features = (size_t)d->item_features, n = end - first;
    for (size_t f = 0; f < features; f++)
        s->varies[f] = unit_ranks(d, f, first, end, s->value, s->rank + f * n);
    for (size_t i = 0; i < features; i++)
        for (size_t j = 0; j < i && s->varies[i]; j++)
            if (s->varies[j]) {
                s->rho[i * features + j] += product(s->rank + i * n, s->rank + j * n, n);
                s->count[i * features + j]++;
            }
}

static void finish(const struct sums *s, size_t features, double *likeness)
{
    for (size_t i = 0; i < features; i++) {
        likeness[i * features + i] = 1;
        for (size_t j = 0; j < i; j++) {
            size_t at = i * features + j;
            double rho = s->count[at] ? fabs(s->rho[at]) / (double)s->count[at] : 0;
            likeness[at] = likeness[j * features + i] = fmin(rho, 1);
        }
    }
}

int ek_similarity_measure(const struct ek_dataset *d, enum ek_spearman how, double *likeness,
                          struct ek_error *e)
{
    size_t features = (size_t)d->item_features,
           n = how == EK_SPEARMAN_ITEMS ? d->items : longest_list(d);
    struct sums s = {ek_calloc(n, features * sizeof *s.rank), ek_calloc(n, sizeof *s.value),
                     ek_calloc(features * features, sizeof *s.rho),
                     ek_calloc(features * features, sizeof *s.count),
                     ek_calloc(features, sizeof *s.varies)};
    int rc = EK_OK;
    if (!s.rank || !s.value || !s.rho || !s.count || !s.varies)
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    else if (how == EK_SPEARMAN_ITEMS)
        add_range(&s, d, 0, d->items);
    else
        for (size_t q = 0; q < d->lists; q++)
            add_range(&s, d, d->offset[q], d->offset[q + 1]);
    if (!rc)
        finish(&s, features, likeness);
    ek_free(s.rank);
    ek_free(s.value);
    ek_free(s.rho);
    ek_free(s.count);
    ek_free(s.varies);
    return rc;
}
