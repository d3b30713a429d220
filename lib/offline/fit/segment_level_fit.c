#include "offline/fit/segment_level_fit.h"

#include "base/alloc.h"
#include "offline/fit/profile_fit_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)EK_FIT_DIMENSIONS == EK_SEGMENT_LEVEL_DIMENSIONS_MAX &&
                   (int)EK_FIT_VALUES_MAX == EK_SEGMENT_LEVEL_VALUES_MAX,
               "a table has all dimensions of a fit");

enum { SWEEPS = 30 };
static const double SETTLED = 1e-4;      /* ln, largest change of a sweep */
static const double DIFFER_ERRORS = 4;   /* standard errors */
static const double HALVES_AGREE = .5;   /* part of the variance between values */
static const double COVERED_MIN = .9;    /* part of the lists with a value that has a level */
static const double VARIANCE_MIN = 1e-9; /* of a feature that is constant by segment */

/* Terms of one dimension and one feature, by number of the value in the fit. */
struct terms {
    double lists[EK_FIT_VALUES_MAX], sum[EK_FIT_VALUES_MAX], squares[EK_FIT_VALUES_MAX];
    double early_lists[EK_FIT_VALUES_MAX],
        early_sum[EK_FIT_VALUES_MAX]; /* first half of training */
    double level[EK_FIT_VALUES_MAX];  /* NaN: too few lists */
    bool has;                         /* terms are fitted */
};

struct fitting {
    const struct ek_profile_fit *fit;
    const struct ek_profile *p;
    int order[EK_FIT_DIMENSIONS], count; /* dimensions that can differ, by number of values */
    bool differs[EK_FIT_DIMENSIONS];     /* by number of the dimension, for any feature */
    struct terms *term;                  /* [EK_FIT_DIMENSIONS] of the current feature */
    double *y;                           /* [queries] level less the season; NaN: none */
    double *rest;                        /* [queries] y less all terms and the stratum */
    double *stratum, *lists;             /* [strata] */
    float *level; /* [EK_FIT_DIMENSIONS, EK_FIT_VALUES_MAX, features] NaN: none */
};

static float *level_of(const struct fitting *s, int dimension, int value)
{
    return s->level + (size_t)(dimension * EK_FIT_VALUES_MAX + value) * (size_t)s->fit->features;
}

/* Return whether the values of a dimension that have enough lists and a name cover the lists. */
static bool is_covering(const struct ek_profile_fit *fit, const struct ek_segment_values *d)
{
    size_t lists[EK_FIT_VALUES_MAX] = {0}, covered = 0;
    int values = 0;
    for (size_t q = 0; q < fit->queries; q++)
        if (d->of[q] >= 0)
            lists[d->of[q]]++;
    for (int v = 0; v < d->values; v++)
        if (lists[v] >= EK_SEGMENT_LISTS_MIN &&
            ek_profile_fit_is_storable(ek_text_from(d->value[v]))) {
            covered += lists[v];
            values++;
        }
    return values > 1 && (double)covered >= COVERED_MIN * (double)fit->queries;
}

static void order_dimensions(struct fitting *s)
{
    const struct ek_profile_fit *fit = s->fit;
    for (int d = 0; d < fit->dimensions; d++) {
        const struct ek_segment_values *of = &fit->dimension[d];
        if ((fit->field.name && !strcmp(of->name, fit->field.name)) ||
            !ek_profile_fit_is_storable(ek_text_from(of->name)) || !is_covering(fit, of))
            continue;
        int at = s->count++;
        for (; at && fit->dimension[s->order[at - 1]].values > of->values; at--)
            s->order[at] = s->order[at - 1];
        s->order[at] = d;
    }
}

static void read_levels(struct fitting *s, int f)
{
    const struct ek_profile_fit *fit = s->fit;
    const struct ek_baseline *b = &s->p->baseline[f];
    double season[EK_DAY_BINS];
    for (int bin = 0; bin < EK_DAY_BINS; bin++)
        season[bin] = (double)ek_season_at(b->season, (bin + .5) / EK_DAY_BINS);
    for (size_t q = 0; q < fit->queries; q++) {
        const struct ek_list_stats *o = &fit->record[q * (size_t)fit->features + (size_t)f];
        int bin = ek_day_bin(fit->time_ms[q]);
        s->y[q] = o->usable ? (double)o->r - (bin < 0 ? 0 : season[bin]) : (double)NAN;
    }
}

/* Remove the means of the strata from `rest`. */
static void fit_strata(struct fitting *s)
{
    memset(s->stratum, 0, (size_t)s->p->strata * sizeof *s->stratum);
    memset(s->lists, 0, (size_t)s->p->strata * sizeof *s->lists);
    for (size_t q = 0; q < s->fit->queries; q++)
        if (!isnan(s->rest[q])) {
            s->stratum[s->fit->stratum[q]] += s->rest[q];
            s->lists[s->fit->stratum[q]]++;
        }
    for (int i = 0; i < s->p->strata; i++)
        s->stratum[i] /= fmax(s->lists[i], 1);
    for (size_t q = 0; q < s->fit->queries; q++)
        s->rest[q] -= s->stratum[s->fit->stratum[q]];
}

static void sum_values(const struct fitting *s, int dimension, struct terms *t)
{
    const int16_t *of = s->fit->dimension[dimension].of;
    memset(t->lists, 0, sizeof t->lists);
    memset(t->sum, 0, sizeof t->sum);
    memset(t->squares, 0, sizeof t->squares);
    memset(t->early_lists, 0, sizeof t->early_lists);
    memset(t->early_sum, 0, sizeof t->early_sum);
    for (size_t q = 0; q < s->fit->queries; q++) {
        if (of[q] < 0 || isnan(s->rest[q]))
            continue;
        double x = s->rest[q] + (isnan(t->level[of[q]]) ? 0 : t->level[of[q]]);
        t->lists[of[q]]++;
        t->sum[of[q]] += x;
        t->squares[of[q]] += x * x;
        if (q < s->fit->queries / 2) {
            t->early_lists[of[q]]++;
            t->early_sum[of[q]] += x;
        }
    }
}

/* Return the variance of the mean of a value: that of its lists, at least that of most. */
static double error_of(const struct terms *t, int value, double within, double deff)
{
    double n = t->lists[value], mean = t->sum[value] / n;
    double own = (t->squares[value] - n * mean * mean) / (n - 1);
    return fmax(fmax(own, within), VARIANCE_MIN) * deff / n;
}

/* Set `within` to the variance around the means of the values, and return how much these vary more
 * than by chance. */
static double variance_between(const struct terms *t, int values, double deff, double *within)
{
    double squares = 0, freedom = 0, excess = 0, count = 0;
    for (int v = 0; v < values; v++)
        if (t->lists[v] >= EK_SEGMENT_LISTS_MIN) {
            squares += t->squares[v] - t->sum[v] * t->sum[v] / t->lists[v];
            freedom += t->lists[v] - 1;
        }
    *within = squares / fmax(freedom, 1);
    for (int v = 0; v < values; v++)
        if (t->lists[v] >= EK_SEGMENT_LISTS_MIN) {
            double mean = t->sum[v] / t->lists[v];
            excess += mean * mean - error_of(t, v, *within, deff);
            count++;
        }
    return fmax(excess / fmax(count, 1), VARIANCE_MIN);
}

/* Refit the terms of a dimension, and return the largest change. */
static double fit_dimension(struct fitting *s, int dimension, double deff)
{
    const struct ek_segment_values *d = &s->fit->dimension[dimension];
    struct terms *t = &s->term[dimension];
    double within, moved = 0, change[EK_FIT_VALUES_MAX] = {0};
    sum_values(s, dimension, t);
    double between = variance_between(t, d->values, deff, &within);
    for (int v = 0; v < d->values; v++) {
        double before = isnan(t->level[v]) ? 0 : t->level[v];
        t->level[v] = (double)NAN;
        if (t->lists[v] >= EK_SEGMENT_LISTS_MIN &&
            ek_profile_fit_is_storable(ek_text_from(d->value[v]))) {
            double part = between / (between + error_of(t, v, within, deff));
            t->level[v] = part * t->sum[v] / t->lists[v];
        }
        change[v] = (isnan(t->level[v]) ? 0 : t->level[v]) - before;
        moved = fmax(moved, fabs(change[v]));
    }
    for (size_t q = 0; q < s->fit->queries; q++)
        if (d->of[q] >= 0)
            s->rest[q] -= change[d->of[q]];
    return moved;
}

/* Fit the terms of the dimensions that have some. */
static void fit_terms(struct fitting *s, double deff)
{
    memcpy(s->rest, s->y, s->fit->queries * sizeof *s->rest);
    for (int i = 0; i < s->count; i++)
        memset(s->term[s->order[i]].level, 0, sizeof s->term->level);
    double moved = 1;
    for (int sweep = 0; sweep < SWEEPS && moved > SETTLED; sweep++) {
        moved = 0;
        fit_strata(s);
        for (int i = 0; i < s->count; i++)
            if (s->term[s->order[i]].has)
                moved = fmax(moved, fit_dimension(s, s->order[i], deff));
    }
}

/* Return whether both halves of training show the terms: their covariance is most of the variance.
 * Lists that depend on each other over longer than a design effect covers differ between the
 * halves. */
static bool are_steady(const struct terms *t, int values)
{
    double shared = 0, squares = 0;
    for (int v = 0; v < values; v++) {
        double n = t->lists[v], early = t->early_lists[v];
        if (isnan(t->level[v]) || early < 1 || early > n - 1)
            continue;
        shared += n * t->early_sum[v] / early * (t->sum[v] - t->early_sum[v]) / (n - early);
        squares += t->sum[v] * t->sum[v] / n;
    }
    return shared > HALVES_AGREE * squares;
}

/* Return by how much a term exceeds the dead band and the noise, relative to these; above 1: it
 * differs. */
static double excess_of(const struct fitting *s, int dimension, double band, double deff)
{
    const struct terms *t = &s->term[dimension];
    double within, most = 0;
    int values = s->fit->dimension[dimension].values;
    variance_between(t, values, deff, &within);
    for (int v = 0; v < values; v++) {
        if (isnan(t->level[v]) || t->lists[v] < EK_SEGMENT_LISTS_DIFFER)
            continue;
        double noise = DIFFER_ERRORS * sqrt(error_of(t, v, within, deff));
        most = fmax(most, fabs(t->level[v]) / fmax(band, noise));
    }
    return are_steady(t, values) ? most : 0;
}

/* Leave the terms of the dimensions that differ by themselves. Return their number. */
static int find_differing(struct fitting *s, double band, double deff)
{
    bool differs[EK_FIT_DIMENSIONS] = {false};
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        for (int j = 0; j < s->count; j++)
            s->term[s->order[j]].has = j == i;
        fit_terms(s, deff);
        differs[i] = excess_of(s, s->order[i], band, deff) > 1;
        count += differs[i];
    }
    for (int i = 0; i < s->count; i++) {
        s->term[s->order[i]].has = differs[i];
        s->differs[s->order[i]] |= differs[i];
    }
    return count;
}

/* Drop dimensions whose differences the others explain, the least first. */
static void drop_explained(struct fitting *s, double band, double deff)
{
    for (;;) {
        double least = 1;
        int drop = -1;
        fit_terms(s, deff);
        for (int i = 0; i < s->count; i++) {
            double excess = excess_of(s, s->order[i], band, deff);
            if (s->term[s->order[i]].has && excess <= least) {
                least = excess;
                drop = s->order[i];
            }
        }
        if (drop < 0)
            return;
        s->term[drop].has = false;
    }
}

static void fit_feature(struct fitting *s, int f)
{
    const struct ek_baseline *b = &s->p->baseline[f];
    double band = (double)ek_baseline_band(b), deff = fmax((double)b->deff[EK_RESPECT_LEVEL], 1);
    if (s->p->category[f].strata || b->queries <= EK_LISTS_FOR_LEVEL)
        return;
    read_levels(s, f);
    if (!find_differing(s, band, deff))
        return;
    drop_explained(s, band, deff);
    for (int i = 0; i < s->count; i++)
        for (int v = 0; s->term[s->order[i]].has && v < s->fit->dimension[s->order[i]].values; v++)
            level_of(s, s->order[i], v)[f] = (float)s->term[s->order[i]].level[v];
}

/* The values of a dimension with a level, in the order of their names. */
struct named_value {
    const char *name;
    int number;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named_value *)a)->name, ((const struct named_value *)b)->name);
}

static bool has_level(const struct fitting *s, int dimension, int value)
{
    for (int f = 0; f < s->fit->features; f++)
        if (!isnan(level_of(s, dimension, value)[f]))
            return true;
    return false;
}

static int sort_values(const struct fitting *s, int dimension, struct named_value *named)
{
    const struct ek_segment_values *d = &s->fit->dimension[dimension];
    int count = 0;
    for (int v = 0; v < d->values; v++)
        if (has_level(s, dimension, v))
            named[count++] = (struct named_value){d->value[v], v};
    qsort(named, (size_t)count, sizeof *named, by_name);
    return count;
}

/* Return whether a feature has levels in any dimension. */
static bool is_leveled(const struct fitting *s, int feature)
{
    for (int i = 0; i < EK_FIT_DIMENSIONS * EK_FIT_VALUES_MAX; i++)
        if (!isnan(level_of(s, 0, i)[feature]))
            return true;
    return false;
}

/* Copy the names and levels of one dimension to dimension `to` of the table. */
static int fill_dimension(const struct fitting *s, int dimension, struct ek_segment_levels *t,
                          int to)
{
    struct named_value named[EK_FIT_VALUES_MAX];
    int count = sort_values(s, dimension, named), first = t->first[to];
    if (!(t->dimension[to] = ek_strdup(s->fit->dimension[dimension].name)))
        return EK_ENOMEM;
    for (int i = 0; i < count; i++) {
        const float *from = level_of(s, dimension, named[i].number);
        if (!(t->value[first + i] = ek_strdup(named[i].name)))
            return EK_ENOMEM;
        for (int a = 0; a < t->features; a++)
            t->level[(first + i) * t->features + a] = from[t->feature[a]];
    }
    t->first[to + 1] = first + count;
    return EK_OK;
}

static int make_table(const struct fitting *s, struct ek_segment_levels **out)
{
    struct named_value named[EK_FIT_VALUES_MAX];
    int dimensions = 0, values = 0, features = 0, to = 0;
    for (int i = 0; i < s->count; i++)
        if (s->differs[s->order[i]]) {
            dimensions++;
            values += sort_values(s, s->order[i], named);
        }
    for (int f = 0; f < s->fit->features; f++)
        features += is_leveled(s, f);
    if (!features)
        return EK_OK;
    struct ek_segment_levels *t = NULL;
    int rc = ek_segment_levels_new(&t, dimensions, values, features);
    for (int f = 0, a = 0; !rc && f < s->fit->features; f++)
        if (is_leveled(s, f))
            t->feature[a++] = f;
    for (int i = 0; !rc && i < s->count; i++)
        if (s->differs[s->order[i]])
            rc = fill_dimension(s, s->order[i], t, to++);
    if (rc) {
        ek_segment_levels_free(t);
        return rc;
    }
    ek_segment_levels_index(t);
    *out = t;
    return EK_OK;
}

int ek_segment_level_fit(const struct ek_profile_fit *fit, const struct ek_profile *p,
                         struct ek_segment_levels **out)
{
    enum { ROWS = EK_FIT_DIMENSIONS * EK_FIT_VALUES_MAX };
    struct fitting s = {.fit = fit, .p = p};
    *out = NULL;
    order_dimensions(&s);
    if (!s.count)
        return EK_OK;
    s.term = ek_calloc(EK_FIT_DIMENSIONS, sizeof *s.term);
    s.y = ek_calloc(2 * fit->queries, sizeof *s.y);
    s.stratum = ek_calloc(2 * (size_t)p->strata, sizeof *s.stratum);
    s.level = ek_calloc((size_t)ROWS * (size_t)fit->features, sizeof *s.level);
    int rc = s.term && s.y && s.stratum && s.level ? EK_OK : EK_ENOMEM;
    if (!rc) {
        s.rest = s.y + fit->queries;
        s.lists = s.stratum + p->strata;
        for (size_t i = 0; i < (size_t)ROWS * (size_t)fit->features; i++)
            s.level[i] = NAN;
        for (int f = 0; f < fit->features; f++)
            fit_feature(&s, f);
        rc = make_table(&s, out);
    }
    ek_free(s.term);
    ek_free(s.y);
    ek_free(s.stratum);
    ek_free(s.level);
    return rc;
}
