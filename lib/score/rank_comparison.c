#include "score/rank_comparison.h"

#include "base/alloc.h"
#include "score/tau.h"

#include <math.h>

struct ek_rank_comparison {
    struct ek_ranker *ranker;
    double *is, *other; /* scores of the model */
    const double *last; /* of the last list */
    size_t capacity;
};

int ek_rank_comparison_new(struct ek_rank_comparison **out, struct ek_error *e)
{
    struct ek_rank_comparison *b = ek_calloc(1, sizeof *b);
    if (!b)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_ranker_new(&b->ranker, e);
    if (rc)
        ek_free(b);
    else
        *out = b;
    return rc;
}

void ek_rank_comparison_free(struct ek_rank_comparison *b)
{
    if (!b)
        return;
    ek_ranker_free(b->ranker);
    ek_free(b->is);
    ek_free(b->other);
    ek_free(b);
}

static int reserve_for(struct ek_rank_comparison *b, size_t n, struct ek_error *e)
{
    if (n <= b->capacity)
        return EK_OK;
    size_t want = n + n / 2;
    ek_free(b->is);
    ek_free(b->other);
    b->capacity = 0;
    b->is = ek_calloc(want, sizeof *b->is);
    b->other = ek_calloc(want, sizeof *b->other);
    if (!b->is || !b->other)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    b->capacity = want;
    return EK_OK;
}

static int try_plain(struct ek_rank_comparison *b, struct ek_scorer *s, const struct ek_list *q,
                     struct ek_comparison_result *out, struct ek_error *e)
{
    int rc = ek_scorer_score(s, q, NULL, b->other, e);
    return rc ? rc
              : ek_rank_change_compute(b->ranker, q->score, b->other, q->items, &out->plain,
                                       &out->has_plain, e);
}

/* Compute d(from, to)^2. The scores `from` must define an order. */
static int square(struct ek_rank_comparison *b, const double *from, const double *to, int n,
                  double *out, struct ek_error *e)
{
    struct ek_rank_change c;
    bool valid;
    int rc = ek_rank_change_compute(b->ranker, from, to, n, &c, &valid, e);
    if (!rc)
        *out = (1 - c.tau) * (1 - c.tau) / 4;
    return rc;
}

static int try_harm(struct ek_rank_comparison *b, struct ek_scorer *s,
                    const struct ek_comparison_input *t, const double *is,
                    struct ek_comparison_result *out, struct ek_error *e)
{
    const struct ek_list *q = t->list;
    double of_treatment, of_fault;
    int rc = ek_scorer_score(s, q, t->repaired, b->other, e);
    if (rc || !ek_scores_have_order(b->other, q->items))
        return rc;
    rc = square(b, b->other, is, q->items, &of_treatment, e);
    if (!rc)
        rc = square(b, b->other, q->score, q->items, &of_fault, e);
    if (rc)
        return rc;
    out->has_harm = true;
    out->harm = fmax(fmin(4 * (2 * t->gap * t->gap + of_treatment - of_fault), 1), -1);
    return EK_OK;
}

int ek_rank_comparison_run(struct ek_rank_comparison *b, struct ek_scorer *scorer,
                           const struct ek_comparison_input *t, struct ek_comparison_result *out,
                           bool *valid, struct ek_error *e)
{
    const struct ek_list *q = t->list;
    const double *is = t->scores;
    struct ek_comparison_result made = {.harm = NAN};
    *valid = ek_scores_have_order(q->score, q->items);
    if (!*valid)
        return EK_OK;
    int rc = reserve_for(b, (size_t)q->items, e);
    if (!rc && !is) {
        is = b->is;
        rc = ek_scorer_score_finite(scorer, q, t->treatment, b->is, e);
    }
    if (!rc)
        rc = ek_rank_change_compute(b->ranker, q->score, is, q->items, &made.moved, valid, e);
    made.out = made.moved;
    if (!rc && t->out)
        rc = ek_rank_change_compute(b->ranker, q->score, t->out, q->items, &made.out, valid, e);
    if (!rc && t->plain)
        rc = try_plain(b, scorer, q, &made, e);
    if (!rc && t->repaired)
        rc = try_harm(b, scorer, t, is, &made, e);
    b->last = is;
    if (!rc)
        *out = made;
    return rc;
}

const double *ek_rank_comparison_scores(const struct ek_rank_comparison *b)
{
    return b->last;
}
