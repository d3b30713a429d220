#include "score/agreement.h"

#include "score/metrics.h"
#include "score/tau.h"

#include <math.h>

enum { DEPTH = 10 }; /* of NDCG */

static double gain_of_place(int place)
{
    return 1 / (double)(place + 1);
}

static double discount_of_place(int place)
{
    return place < DEPTH ? 1 / log2(place + 2) : 0;
}

/* Set the worth of each item to the mean worth of the ranks of its tie. */
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

/* Return NDCG from worth[0], the gains, and worth[1], the discounts. */
static double ndcg(const struct ek_ranker *c, int n)
{
    double reached = 0, ideal = 0;
    for (int i = 0; i < n; i++)
        reached += c->worth[0][i] * c->worth[1][i];
    for (int r = 0; r < n && r < DEPTH; r++)
        ideal += c->worth[0][c->order[1][r]] * discount_of_place(r);
    /* Equal sums in different order may differ by a rounding. */
    return fmin(reached / ideal, 1);
}

static double top1(const struct ek_ranker *c, const double *student, const double *teacher, int n)
{
    int best = ek_tie_end(student, c->order[0], 0, n), both = 0;
    for (int r = 0; r < best; r++)
        both += teacher[c->order[0][r]] == teacher[c->order[1][0]];
    return (double)both / best;
}

int ek_compare(struct ek_ranker *c, const double *student, const double *teacher, int n,
               struct ek_agreement *out, bool *valid, struct ek_error *e)
{
    *valid = ek_scores_have_order(teacher, n);
    if (!*valid)
        return EK_OK;
    int rc = ek_ranker_rank(c, student, teacher, n, e);
    if (rc)
        return rc;
    share(teacher, c->order[1], n, gain_of_place, c->worth[0]);
    share(student, c->order[0], n, discount_of_place, c->worth[1]);
    out->figure[EK_AGREEMENT_TAU] = ek_tau_b(student, teacher, c->order[1], n, c->row, c->merged);
    out->figure[EK_AGREEMENT_NDCG10] = ndcg(c, n);
    out->figure[EK_AGREEMENT_TOP1] = top1(c, student, teacher, n);
    return EK_OK;
}

void ek_agreement_add(struct ek_agreement_sums *s, const struct ek_agreement *a)
{
    s->lists++;
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++) {
        double off = a->figure[i] - s->mean[i];
        s->mean[i] += off / (double)s->lists;
        s->square[i] += off * (a->figure[i] - s->mean[i]);
    }
}

struct ek_model_agreement ek_agreement_result(const struct ek_agreement_sums *s)
{
    struct ek_model_agreement f = {.lists = s->lists};
    for (int i = 0; i < EK_AGREEMENT_STATISTICS && s->lists; i++) {
        f.mean[i] = s->mean[i];
        f.sd[i] = sqrt(s->square[i] / (double)s->lists);
    }
    return f;
}
