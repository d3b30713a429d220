#include "text/features/summary_stats.h"

#include <math.h>

struct ek_summary_stats ek_summary_stats_compute(const double *x, size_t n)
{
    struct ek_summary_stats s = {NAN, NAN, NAN, NAN, NAN};
    if (!n)
        return s;
    s.sum = 0;
    s.min = s.max = x[0];
    for (size_t i = 0; i < n; i++) {
        s.sum += x[i];
        s.min = fmin(s.min, x[i]);
        s.max = fmax(s.max, x[i]);
    }
    s.mean = s.sum / (double)n;
    s.variance = 0;
    for (size_t i = 0; i < n; i++)
        s.variance += (x[i] - s.mean) * (x[i] - s.mean) / (double)n;
    return s;
}

static void swap(double *a, double *b)
{
    double kept = *a;
    *a = *b;
    *b = kept;
}

/* Return the median of three, which avoids the worst case on sorted input. */
static double pivot_of(const double *x, size_t low, size_t high)
{
    double a = x[low], b = x[low + (high - low) / 2], c = x[high];
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

/* Hoare partition of low..high. Values up to the returned index are at most those after it. Equal
 * values stop both scans, so duplicates are cheap, and neither side is empty. */
static size_t part(double *x, size_t low, size_t high)
{
    double pivot = pivot_of(x, low, high);
    for (;; low++, high--) {
        while (x[low] < pivot)
            low++;
        while (x[high] > pivot)
            high--;
        if (low >= high)
            return high;
        swap(x + low, x + high);
        if (low + 1 == high)
            return low;
    }
}

/* Quickselect: move the k-th smallest value to x[k], with no smaller value after it. */
static void select_at(double *x, size_t n, size_t k)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        size_t end = part(x, low, high);
        if (end == high)
            end--;
        if (k <= end)
            high = end;
        else
            low = end + 1;
    }
}

static double quantile(double *x, size_t n, double share)
{
    double place = share * (double)(n - 1);
    size_t k = (size_t)place;
    select_at(x, n, k);
    double next = x[k];
    if (k + 1 < n)
        next = ek_summary_stats_compute(x + k + 1, n - k - 1).min;
    return x[k] + (place - (double)k) * (next - x[k]);
}

struct ek_quartiles ek_quartiles_compute(double *x, size_t n)
{
    struct ek_quartiles q = {NAN, NAN, NAN};
    if (n) {
        q.q1 = quantile(x, n, 0.25);
        q.median = quantile(x, n, 0.5);
        q.q3 = quantile(x, n, 0.75);
    }
    return q;
}

double ek_harmonic_mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (x[i] == 0 || (x[i] > 0) != (x[0] > 0))
            return NAN;
        sum += 1 / x[i];
    }
    return n ? (double)n / sum : NAN;
}

double ek_geometric_mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(x[i] > 0))
            return NAN;
        sum += log(x[i]);
    }
    return n ? exp(sum / (double)n) : NAN;
}
