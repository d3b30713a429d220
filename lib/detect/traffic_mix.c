#include "detect/traffic_mix.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { AFTER_MIN = 8, PREDICTORS = 8 };
/* Standard errors of a shift; difference of equal shifts, relative to them; fraction of the usual
 * lists with the level after the change; explained part of a shift; standard errors of the rest
 * by which a shift may look larger. */
static const double ERRORS = 3, ALIKE = .1, REACHED = .01, EXPLAINED_MIN = .5, EXPLAINED_MAX = 2,
                    OWN_ERRORS = 2;
static const double FUNCTION = .9; /* squared correlation */
static const double FAR = 3.5;     /* standard deviations of training: a recent fault widens no
                                    * reach beyond them */
static const double RIDGE = .01;   /* of the variance, for features that are functions of others */

struct shift {
    int feature;
    double shift, error; /* of the mean level, and its standard error */
    double usual;        /* mean level of the usual lists */
};

/* Add up the levels of a feature and return their number. */
static int sum_levels(const struct ek_list_stats *const *row, int count, int feature, double *mean,
                      double *variance)
{
    double sum = 0, squares = 0;
    int n = 0;
    for (int i = 0; i < count; i++) {
        const struct ek_list_stats *o = &row[i][feature];
        if (!o->usable)
            continue;
        n++;
        sum += (double)o->r;
        squares += (double)o->r * (double)o->r;
    }
    *mean = n ? sum / n : 0;
    *variance = n ? fmax(squares / n - *mean * *mean, 0) : 0;
    return n;
}

/* Return whether the levels of a feature are known. */
static bool measure_shift(const struct ek_mix_rows *rows, int feature, struct shift *s)
{
    double before, after, variance, ignored;
    int u = sum_levels(rows->usual, rows->usual_count, feature, &s->usual, &variance);
    int b = sum_levels(rows->before, rows->before_count, feature, &before, &ignored);
    int a = sum_levels(rows->after, rows->after_count, feature, &after, &ignored);
    if (u < EK_MIX_USUAL_MIN || b < EK_MIX_BEFORE_MIN || a < AFTER_MIN)
        return false;
    s->feature = feature;
    s->shift = after - before;
    s->error = sqrt(variance * rows->repetition * (1. / a + 1. / b));
    return s->error > 0;
}

/* Return whether enough usual lists are as far from their mean as the lists moved. */
static bool is_within_reach(const struct ek_mix_rows *rows, const struct shift *s)
{
    int beyond = 0, usable = 0;
    for (int i = 0; i < rows->usual_count; i++) {
        const struct ek_list_stats *o = &rows->usual[i][s->feature];
        usable += o->usable > 0;
        beyond += o->usable && ((double)o->r - s->usual) / s->shift >= 1;
    }
    return beyond >= REACHED * usable;
}

/* Return whether two features moved by one factor or its inverse, as all prices do with another
 * currency. */
static bool moved_alike(const struct shift *a, const struct shift *b)
{
    double apart = fabs(fabs(a->shift) - fabs(b->shift));
    return apart <= fmax(ALIKE * fabs(a->shift), ERRORS * fmin(a->error, b->error));
}

static double deviation(const struct ek_list_stats *row, const struct shift *s)
{
    return row[s->feature].usable ? (double)row[s->feature].r - s->usual : 0;
}

/* Return whether the levels of two features are nearly one function. */
static bool are_one_function(const struct ek_mix_rows *rows, const struct shift *a,
                             const struct shift *b)
{
    double aa = 0, ab = 0, bb = 0;
    for (int r = 0; r < rows->usual_count; r++) {
        const struct ek_list_stats *row = rows->usual[r];
        if (!row[a->feature].usable || !row[b->feature].usable)
            continue;
        double x = deviation(row, a), y = deviation(row, b);
        aa += x * x;
        ab += x * y;
        bb += y * y;
    }
    return ab * ab > FUNCTION * aa * bb;
}

/* Find the features that moved most, in standard errors, within reach and not by the factor of
 * `of`. */
static int find_predictors(const struct ek_mix_rows *rows, const struct shift *of,
                           struct shift best[PREDICTORS])
{
    int count = 0;
    for (int f = 0; f < rows->features; f++) {
        struct shift s;
        if (f == of->feature || !measure_shift(rows, f, &s))
            continue;
        double z = fabs(s.shift) / s.error;
        if (z < ERRORS || moved_alike(of, &s) || !is_within_reach(rows, &s) ||
            are_one_function(rows, of, &s))
            continue;
        int at = count < PREDICTORS ? count++ : PREDICTORS;
        for (; at > 0 && z > fabs(best[at - 1].shift) / best[at - 1].error; at--)
            if (at < PREDICTORS)
                best[at] = best[at - 1];
        if (at < PREDICTORS)
            best[at] = s;
    }
    return count;
}

/* Replace the lower triangle of a [n, n] by its Cholesky factor. */
static void factorize(double a[PREDICTORS][PREDICTORS], int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = a[i][j];
            for (int k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
        }
}

/* Replace b [n] by the solution of a x = b, where `a` is a Cholesky factor. */
static void solve(double a[PREDICTORS][PREDICTORS], double b[PREDICTORS], int n)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            b[i] -= a[k][i] * b[k];
        b[i] /= a[i][i];
    }
}

struct prediction {
    double shift, variance; /* predicted shift; variance of the prediction between lists */
    double slope_error;     /* standard error of the shift, for the errors of the slopes */
};

/* Set the lower triangle of the covariance of the predictors, and their covariance with the levels
 * of `of`. */
static void compute_covariance(const struct ek_mix_rows *rows, const struct shift *of,
                               const struct shift *predictor, int n,
                               double cov[PREDICTORS][PREDICTORS], double with[PREDICTORS])
{
    for (int r = 0; r < rows->usual_count; r++) {
        double x[PREDICTORS], y = deviation(rows->usual[r], of);
        for (int i = 0; i < n; i++) {
            x[i] = deviation(rows->usual[r], &predictor[i]);
            with[i] += x[i] * y / rows->usual_count;
            for (int j = 0; j <= i; j++)
                cov[i][j] += x[i] * x[j] / rows->usual_count;
        }
    }
    for (int i = 0; i < n; i++)
        cov[i][i] *= 1 + RIDGE;
}

/* Predict the shift of `of`, with a variance of `total` between lists, from those of n others. */
static struct prediction predict(const struct ek_mix_rows *rows, const struct shift *of,
                                 double total, const struct shift *predictor, int n)
{
    double cov[PREDICTORS][PREDICTORS] = {{0}}, with[PREDICTORS] = {0}, slope[PREDICTORS];
    double far[PREDICTORS] = {0}, distance = 0; /* squared, of Mahalanobis */
    struct prediction p = {0};
    compute_covariance(rows, of, predictor, n, cov, with);
    memcpy(slope, with, sizeof slope);
    for (int i = 0; i < n; i++)
        far[i] = predictor[i].shift;
    factorize(cov, n);
    solve(cov, slope, n);
    solve(cov, far, n);
    for (int i = 0; i < n; i++) {
        p.shift += slope[i] * predictor[i].shift;
        p.variance += slope[i] * with[i];
        distance += far[i] * predictor[i].shift;
    }
    p.variance = fmin(fmax(p.variance, 0), total);
    p.slope_error = sqrt(distance * (total - p.variance) * rows->repetition / rows->usual_count);
    return p;
}

enum ek_mix ek_mix_explain(const struct ek_mix_rows *rows, int feature, double sd)
{
    struct shift of, predictor[PREDICTORS];
    if (!measure_shift(rows, feature, &of))
        return EK_MIX_UNKNOWN;
    if (fabs(of.shift) > FAR * sd || !is_within_reach(rows, &of))
        return EK_MIX_EXCLUDED;
    int n = find_predictors(rows, &of, predictor);
    double independent = rows->repetition * (1. / rows->before_count + 1. / rows->after_count);
    double total = of.error * of.error / independent;
    struct prediction p = predict(rows, &of, total, predictor, n);
    double noise = hypot(sqrt(p.variance * independent), p.slope_error);
    double own = sqrt((total - p.variance) * independent);
    double size = fabs(of.shift), explained = p.shift * copysign(1, of.shift);
    bool is_explained = n > 0 && explained > ERRORS * noise && explained <= EXPLAINED_MAX * size &&
                        explained >= EXPLAINED_MIN * (size - OWN_ERRORS * own);
    return is_explained ? EK_MIX_EXPLAINED : EK_MIX_POSSIBLE;
}
