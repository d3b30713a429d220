#include "offline/train/distillation.h"

#include "base/alloc.h"
#include "score/agreement.h"
#include "score/scorer.h"

#include <math.h>
#include <string.h>

int ek_distill(struct ek_list *q, struct ek_error *e)
{
    double high = -INFINITY;
    for (int i = 0; i < q->items; i++) {
        if (!isfinite(q->score[i]))
            return ek_fail(e, EK_EFORMAT, "items[%d] has no score to learn from", i);
        high = fmax(high, q->score[i]);
    }
    for (int i = 0; i < q->items; i++)
        q->label[i] = (float)(log1p(exp(q->score[i] - high)) / M_LN2);
    q->has_label = true;
    return EK_OK;
}

int ek_upstream_scores_add(struct ek_upstream_scores *s, const struct ek_list *q)
{
    size_t items = (size_t)q->items;
    if (!items)
        return EK_OK;
    if (s->count + items > s->capacity) {
        size_t want = 2 * (s->count + items);
        double *value = ek_realloc(s->value, want, sizeof *value);
        if (!value)
            return EK_ENOMEM;
        s->value = value;
        s->capacity = want;
    }
    memcpy(s->value + s->count, q->score, items * sizeof *q->score);
    s->count += items;
    return EK_OK;
}

void ek_upstream_scores_release(struct ek_upstream_scores *s)
{
    ek_free(s->value);
    *s = (struct ek_upstream_scores){0};
}

struct comparing {
    struct ek_scorer *scorer;
    struct ek_ranker *comparer;
    double *score;                /* [longest list] */
    struct ek_treatment *trained; /* [K] */
    const struct ek_treatment *treatment;
};

static size_t longest(const struct ek_dataset *d)
{
    size_t most = 0;
    for (size_t i = 0; i < d->lists; i++)
        if (d->offset[i + 1] - d->offset[i] > most)
            most = d->offset[i + 1] - d->offset[i];
    return most;
}

static int open_comparing(struct comparing *c, const struct ek_model *m, const struct ek_dataset *d,
                          struct ek_error *e)
{
    size_t k = (size_t)m->routable_count;
    c->score = ek_calloc(longest(d), sizeof *c->score);
    c->trained = ek_calloc(k, sizeof *c->trained);
    if (!c->score || !c->trained)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (size_t i = 0; m->trained.routed && i < k; i++)
        if (m->trained.routed[i])
            c->trained[i].action = EK_ACT_ROUTE;
    if (!c->treatment)
        c->treatment = c->trained;
    int rc = ek_scorer_new(&c->scorer, m, e);
    return rc ? rc : ek_ranker_new(&c->comparer, e);
}

static void close_comparing(struct comparing *c)
{
    ek_scorer_free(c->scorer);
    ek_ranker_free(c->comparer);
    ek_free(c->score);
    ek_free(c->trained);
}

static int compare_all(struct comparing *c, const struct ek_dataset *d, const double *upstream,
                       struct ek_agreement_sums *sums, struct ek_error *e)
{
    int rc = EK_OK;
    for (size_t i = 0; i < d->lists && !rc; i++) {
        struct ek_list q;
        struct ek_agreement a;
        bool valid = false;
        ek_list_init(&q);
        ek_dataset_view(d, i, &q);
        rc = ek_scorer_score(c->scorer, &q, c->treatment, c->score, e);
        if (!rc)
            rc = ek_compare(c->comparer, c->score, upstream + d->offset[i], q.items, &a, &valid, e);
        if (!rc && valid)
            ek_agreement_add(sums, &a);
    }
    return rc;
}

int ek_model_agreement_measure(const struct ek_model *m, const struct ek_dataset *d,
                               const struct ek_upstream_scores *upstream,
                               const struct ek_treatment *treatment, struct ek_model_agreement *out,
                               struct ek_error *e)
{
    struct comparing c = {.treatment = treatment};
    struct ek_agreement_sums sums = {0};
    int rc = open_comparing(&c, m, d, e);
    if (!rc)
        rc = compare_all(&c, d, upstream->value, &sums, e);
    close_comparing(&c);
    if (!rc)
        *out = ek_agreement_result(&sums);
    return rc;
}
