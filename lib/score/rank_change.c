#include "score/rank_change.h"

#include "base/alloc.h"
#include "score/metrics.h"
#include "score/tau.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 10 };
static const double UNIT = 1 << 20;

struct ek_ranker {
    size_t capacity;
    int *before, *after;  /* orders, best first */
    int *place;           /* of each item, before */
    double *row, *merged; /* of tau */
};

int ek_ranker_new(struct ek_ranker **out, struct ek_error *e)
{
    *out = ek_calloc(1, sizeof **out);
    return *out ? EK_OK : ek_fail(e, EK_ENOMEM, "no memory to compare orders");
}

static void release(struct ek_ranker *r)
{
    void *const arrays[] = {r->before, r->after, r->place, r->row, r->merged};
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
    r->before = ek_calloc(want, sizeof *r->before);
    r->after = ek_calloc(want, sizeof *r->after);
    r->place = ek_calloc(want, sizeof *r->place);
    r->row = ek_calloc(want, sizeof *r->row);
    r->merged = ek_calloc(want, sizeof *r->merged);
    if (!r->before || !r->after || !r->place || !r->row || !r->merged) {
        release(r);
        return EK_ENOMEM;
    }
    r->capacity = want;
    return EK_OK;
}

/* The sum of |place there - place here|; *both: how many of the first `top` were among them. */
static double footrule(const struct ek_ranker *r, int n, int top, int *both)
{
    double sum = 0;
    *both = 0;
    for (int here = 0; here < n; here++) {
        int there = r->place[r->after[here]];
        sum += abs(there - here);
        *both += here < top && there < top;
    }
    return sum;
}

int ek_rank_change_of(struct ek_ranker *r, const double *before, const double *after, int n,
                      struct ek_rank_change *out, bool *says, struct ek_error *e)
{
    int top = n < TOP ? n : TOP, both;
    *says = ek_scores_tell(before, n);
    if (!*says)
        return EK_OK;
    if (room_for(r, (size_t)n))
        return ek_fail(e, EK_ENOMEM, "no memory to compare orders");
    ek_rank(before, n, r->before);
    ek_rank(after, n, r->after);
    for (int place = 0; place < n; place++)
        r->place[r->before[place]] = place;
    double sum = footrule(r, n, top, &both);
    *out = (struct ek_rank_change){ek_tau_b(after, before, r->before, n, r->row, r->merged),
                                   (double)both / top, sum / n, sum / floor((double)n * n / 2)};
    return EK_OK;
}

/* The product rounds, so the bin is held against its own edge. */
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
