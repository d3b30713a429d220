#include "score/agreement.h"

#include "base/alloc.h"
#include "score/metrics.h"
#include "score/tau.h"

#include <math.h>
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
        to = ek_tie_end(score, order, from, n);
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
    int best = ek_tie_end(student, c->student, 0, n), both = 0;
    for (int r = 0; r < best; r++)
        both += teacher[c->student[r]] == teacher[c->teacher[0]];
    return (double)both / best;
}

int ek_compare(struct ek_comparer *c, const double *student, const double *teacher, int n,
               struct ek_agreement *out, bool *says, struct ek_error *e)
{
    *says = ek_scores_tell(teacher, n);
    if (!*says)
        return EK_OK;
    if (room_for(c, (size_t)n))
        return ek_fail(e, EK_ENOMEM, "no memory to compare lists");
    ek_rank(student, n, c->student);
    ek_rank(teacher, n, c->teacher);
    share(teacher, c->teacher, n, gain_of_place, c->gain);
    share(student, c->student, n, discount_of_place, c->discount);
    out->figure[EK_FIGURE_TAU] = ek_tau_b(student, teacher, c->teacher, n, c->row, c->merged);
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
