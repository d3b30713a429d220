#include "score/agreement.h"

#include "base/alloc.h"
#include "score/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 10 }; /* of NDCG */

struct ek_comparer {
    size_t capacity;
    int *student, *teacher;  /* orders, best first */
    double *gain, *discount; /* of each item */
    double *row, *merged; /* the student's scores in the teacher's order, while they are sorted */
};

int ek_comparer_new(struct ek_comparer **out, struct ek_error *e)
{
    *out = ek_calloc(1, sizeof **out);
    return *out ? EK_OK : ek_fail(e, EK_ENOMEM, "no memory to compare lists");
}

static void release(struct ek_comparer *c)
{
    void *const arrays[] = {c->student, c->teacher, c->gain, c->discount, c->row, c->merged};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ek_free(arrays[i]);
    memset(c, 0, sizeof *c);
}

void ek_comparer_free(struct ek_comparer *c)
{
    if (!c)
        return;
    release(c);
    ek_free(c);
}

static int room_for(struct ek_comparer *c, size_t n)
{
    if (n <= c->capacity)
        return EK_OK;
    size_t want = n + n / 2;
    release(c);
    c->student = ek_calloc(want, sizeof *c->student);
    c->teacher = ek_calloc(want, sizeof *c->teacher);
    c->gain = ek_calloc(want, sizeof *c->gain);
    c->discount = ek_calloc(want, sizeof *c->discount);
    c->row = ek_calloc(want, sizeof *c->row);
    c->merged = ek_calloc(want, sizeof *c->merged);
    if (!c->student || !c->teacher || !c->gain || !c->discount || !c->row || !c->merged) {
        release(c);
        return EK_ENOMEM;
    }
    c->capacity = want;
    return EK_OK;
}

static double key_of(double score)
{
    return isnan(score) ? -INFINITY : score;
}

/* Behind the last place of the tie that begins at place `from`. */
static int tie_end(const double *score, const int *order, int from, int n)
{
    int to = from + 1;
    while (to < n && key_of(score[order[to]]) == key_of(score[order[from]]))
        to++;
    return to;
}

static double gain_of_place(int place)
{
    return 1 / (double)(place + 1);
}

static double discount_of_place(int place)
{
    return place < DEPTH ? 1 / log2(place + 2) : 0;
}

/* Gives each item the mean worth of the places that its tie takes. */
static void share(const double *score, const int *order, int n, double worth_of_place(int place),
                  double *worth)
{
    for (int from = 0, to; from < n; from = to) {
        double sum = 0;
        to = tie_end(score, order, from, n);
        for (int r = from; r < to; r++)
            sum += worth_of_place(r);
        for (int r = from; r < to; r++)
            worth[order[r]] = sum / (to - from);
    }
}

static double ndcg(const struct ek_comparer *c, int n)
{
    double reached = 0, ideal = 0;
    for (int i = 0; i < n; i++)
        reached += c->gain[i] * c->discount[i];
    for (int r = 0; r < n && r < DEPTH; r++)
        ideal += c->gain[c->teacher[r]] * discount_of_place(r);
    /* Added in two orders, equal sums may differ by a rounding. */
    return fmin(reached / ideal, 1);
}

static double top1(const struct ek_comparer *c, const double *student, const double *teacher, int n)
{
    int best = tie_end(student, c->student, 0, n), both = 0;
    for (int r = 0; r < best; r++)
        both += teacher[c->student[r]] == teacher[c->teacher[0]];
    return (double)both / best;
}

static double pairs(double n)
{
    return n * (n - 1) / 2;
}

/* Merges the falling rows [from, middle) and [middle, to) into one; returns how many pairs stood in
 * rising order. */
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

/* Sorts the row, falling. Returns how many pairs stood in rising order. */
static double sort_row(struct ek_comparer *c, size_t n)
{
    double rising = 0;
    for (size_t width = 1; width < n; width *= 2)
        for (size_t from = 0; from + width < n; from += 2 * width) {
            size_t to = from + 2 * width < n ? from + 2 * width : n;
            rising += merge(c->row, c->merged, from, from + width, to);
        }
    return rising;
}

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Of the ties in a row that is sorted. */
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

/* Knight: the teacher's order, in it ties by the student; what is then to be swapped to sort by the
 * student are the pairs in opposite order. */
static double tau(struct ek_comparer *c, const double *student, const double *teacher, int n)
{
    double tied_teacher = 0, tied_both = 0;
    for (int r = 0; r < n; r++)
        c->row[r] = key_of(student[c->teacher[r]]);
    for (int from = 0, to; from < n; from = to) {
        to = tie_end(teacher, c->teacher, from, n);
        if (to - from > 1) {
            qsort(c->row + from, (size_t)(to - from), sizeof *c->row, falling);
            tied_teacher += pairs(to - from);
            tied_both += tied_pairs(c->row + from, to - from);
        }
    }
    double opposite = sort_row(c, (size_t)n), tied_student = tied_pairs(c->row, n);
    double same = pairs(n) - tied_teacher - tied_student + tied_both - opposite;
    double weight = sqrt((pairs(n) - tied_teacher) * (pairs(n) - tied_student));
    return weight > 0 ? (same - opposite) / weight : 0;
}

static bool says_something(const double *teacher, int n)
{
    bool differs = false;
    for (int i = 0; i < n; i++) {
        if (!isfinite(teacher[i]))
            return false;
        differs |= teacher[i] != teacher[0];
    }
    return differs;
}

int ek_compare(struct ek_comparer *c, const double *student, const double *teacher, int n,
               struct ek_agreement *out, bool *says, struct ek_error *e)
{
    *says = says_something(teacher, n);
    if (!*says)
        return EK_OK;
    if (room_for(c, (size_t)n))
        return ek_fail(e, EK_ENOMEM, "no memory to compare lists");
    ek_rank(student, n, c->student);
    ek_rank(teacher, n, c->teacher);
    share(teacher, c->teacher, n, gain_of_place, c->gain);
    share(student, c->student, n, discount_of_place, c->discount);
    out->figure[EK_FIGURE_TAU] = tau(c, student, teacher, n);
    out->figure[EK_FIGURE_NDCG10] = ndcg(c, n);
    out->figure[EK_FIGURE_TOP1] = top1(c, student, teacher, n);
    return EK_OK;
}

void ek_agreement_add(struct ek_agreement_sums *s, const struct ek_agreement *a)
{
    s->lists++;
    for (int i = 0; i < EK_FIGURES; i++) {
        double off = a->figure[i] - s->mean[i];
        s->mean[i] += off / (double)s->lists;
        s->square[i] += off * (a->figure[i] - s->mean[i]);
    }
}

struct ek_fidelity ek_agreement_result(const struct ek_agreement_sums *s)
{
    struct ek_fidelity f = {.lists = s->lists};
    for (int i = 0; i < EK_FIGURES && s->lists; i++) {
        f.mean[i] = s->mean[i];
        f.sd[i] = sqrt(s->square[i] / (double)s->lists);
    }
    return f;
}
