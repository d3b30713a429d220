#include "score/tau.h"

#include "base/alloc.h"
#include "base/sort.h"
#include "score/metrics.h"

#include <math.h>
#include <string.h>

bool ek_scores_have_order(const double *score, int n)
{
    bool differs = false;
    for (int i = 0; i < n; i++) {
        if (!isfinite(score[i]))
            return false;
        differs |= score[i] != score[0];
    }
    return differs;
}

int ek_tie_end(const double *score, const int *order, int from, int n)
{
    int to = from + 1;
    while (to < n && ek_score_key(score[order[to]]) == ek_score_key(score[order[from]]))
        to++;
    return to;
}

static double pairs(double n)
{
    return n * (n - 1) / 2;
}

/* Merge the descending ranges [from, middle) and [middle, to). Return the number of ascending
 * pairs. */
static double merge(double *row, double *merged, size_t from, size_t middle, size_t to)
{
    double rising = 0;
    size_t a = from, b = middle;
    for (size_t i = from; i < to; i++) {
        bool second = a == middle || (b < to && row[b] > row[a]);
        if (second)
            rising += (double)(middle - a);
        merged[i] = second ? row[b++] : row[a++];
    }
    memcpy(row + from, merged + from, (to - from) * sizeof *row);
    return rising;
}

/* Sort the row in descending order. Return the number of ascending pairs. */
static double sort_row(double *row, double *merged, size_t n)
{
    double rising = 0;
    for (size_t width = 1; width < n; width *= 2)
        for (size_t from = 0; from + width < n; from += 2 * width) {
            size_t to = from + 2 * width < n ? from + 2 * width : n;
            rising += merge(row, merged, from, from + width, to);
        }
    return rising;
}

static double tied_pairs(const double *row, int n)
{
    double tied = 0;
    for (int from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && row[to] == row[from]; to++)
            ;
        tied += pairs(to - from);
    }
    return tied;
}

/* Sort by b, ties by a; the discordant pairs are then the inversions of a. */
double ek_tau_b(const double *a, const double *b, const int *order, int n, double *row,
                double *merged)
{
    double tied_b = 0, tied_both = 0;
    for (int r = 0; r < n; r++)
        row[r] = ek_score_key(a[order[r]]);
    for (int from = 0, to; from < n; from = to) {
        to = ek_tie_end(b, order, from, n);
        if (to - from > 1) {
            ek_sort_doubles_descending(row + from, (size_t)(to - from));
            tied_b += pairs(to - from);
            tied_both += tied_pairs(row + from, to - from);
        }
    }
    double opposite = sort_row(row, merged, (size_t)n), tied_a = tied_pairs(row, n);
    double same = pairs(n) - tied_b - tied_a + tied_both - opposite;
    double weight = sqrt((pairs(n) - tied_b) * (pairs(n) - tied_a));
    return weight > 0 ? (same - opposite) / weight : 0;
}

int ek_ranker_new(struct ek_ranker **out, struct ek_error *e)
{
    *out = ek_calloc(1, sizeof **out);
    return *out ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
}

static void release(struct ek_ranker *r)
{
    void *const arrays[] = {r->order[0], r->order[1], r->place, r->worth[0],
                            r->worth[1], r->row,      r->merged};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ek_free(arrays[i]);
    memset(r, 0, sizeof *r);
}

void ek_ranker_free(struct ek_ranker *r)
{
    if (!r)
        return;
    release(r);
    ek_free(r);
}

static int room_for(struct ek_ranker *r, size_t n)
{
    if (n <= r->capacity)
        return EK_OK;
    size_t want = n + n / 2;
    release(r);
    for (int i = 0; i < 2; i++) {
        r->order[i] = ek_calloc(want, sizeof *r->order[i]);
        r->worth[i] = ek_calloc(want, sizeof *r->worth[i]);
    }
    r->place = ek_calloc(want, sizeof *r->place);
    r->row = ek_calloc(want, sizeof *r->row);
    r->merged = ek_calloc(want, sizeof *r->merged);
    if (!r->order[0] || !r->order[1] || !r->worth[0] || !r->worth[1] || !r->place || !r->row ||
        !r->merged) {
        release(r);
        return EK_ENOMEM;
    }
    r->capacity = want;
    return EK_OK;
}

int ek_ranker_rank(struct ek_ranker *r, const double *first, const double *second, int n,
                   struct ek_error *e)
{
    if (room_for(r, (size_t)n))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_rank(first, n, r->order[0]);
    ek_rank(second, n, r->order[1]);
    return EK_OK;
}
