#include "score/rank_change.h"

#include "score/metrics.h"
#include "score/tau.h"

#include <math.h>
#include <stdlib.h>

enum { TOP = 10 };
static const double UNIT = 1 << 20;

/* Return the sum of rank differences. *both: items in both top lists. */
static double footrule(const struct ek_ranker *r, int n, int top, int *both)
{
    double sum = 0;
    *both = 0;
    for (int here = 0; here < n; here++) {
        int there = r->place[r->order[1][here]];
        sum += abs(there - here);
        *both += here < top && there < top;
    }
    return sum;
}

int ek_rank_change_compute(struct ek_ranker *r, const double *before, const double *after, int n,
                           struct ek_rank_change *out, bool *valid, struct ek_error *e)
{
    int top = n < TOP ? n : TOP, both;
    *valid = ek_scores_have_order(before, n);
    if (!*valid)
        return EK_OK;
    int rc = ek_ranker_rank(r, before, after, n, e);
    if (rc)
        return rc;
    for (int place = 0; place < n; place++)
        r->place[r->order[0][place]] = place;
    double sum = footrule(r, n, top, &both);
    *out = (struct ek_rank_change){ek_tau_b(after, before, r->order[0], n, r->row, r->merged),
                                   (double)both / top, sum / n, sum / floor((double)n * n / 2)};
    return EK_OK;
}

/* The product may be rounded, so compare with the edge of the bin. */
static int bin_of(double change)
{
    int bin = (int)(change * (EK_CHANGE_BINS - 1));
    return bin + (bin / (double)(EK_CHANGE_BINS - 1) < change);
}

void ek_rank_sums_add(struct ek_rank_sums *s, const struct ek_rank_change *c)
{
    s->lists++;
    s->tau += llrint(c->tau * UNIT);
    s->top10 += llrint(c->top10 * UNIT);
    s->places += llrint(c->places * UNIT);
    s->change += llrint(c->change * UNIT);
    s->bin[bin_of(c->change)]++;
}

void ek_rank_sums_merge(struct ek_rank_sums *into, const struct ek_rank_sums *from)
{
    into->lists += from->lists;
    into->tau += from->tau;
    into->top10 += from->top10;
    into->places += from->places;
    into->change += from->change;
    for (int i = 0; i < EK_CHANGE_BINS; i++)
        into->bin[i] += from->bin[i];
}

struct ek_rank_change ek_rank_sums_mean(const struct ek_rank_sums *s)
{
    double lists = s->lists ? UNIT * (double)s->lists : NAN;
    return (struct ek_rank_change){(double)s->tau / lists, (double)s->top10 / lists,
                                   (double)s->places / lists, (double)s->change / lists};
}

double ek_rank_sums_quantile(const struct ek_rank_sums *s, double share)
{
    uint64_t so_far = s->bin[0];
    int bin = 0;
    if (!s->lists)
        return NAN;
    while ((double)so_far < share * (double)s->lists && bin < EK_CHANGE_BINS - 1)
        so_far += s->bin[++bin];
    return bin / (double)(EK_CHANGE_BINS - 1);
}
