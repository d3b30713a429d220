#include "offline/train/evaluate.h"

#include "base/alloc.h"
#include "offline/train/statistics.h"
#include "score/scorer.h"

#include <string.h>

struct work {
    struct ek_scorer *scorer;
    double *scores, *scratch; /* [longest] */
    int *order;               /* [longest] */
};

static int prepare(struct work *w, const struct ek_model *m, const struct ek_dataset *d,
                   struct ek_error *e)
{
    size_t longest = 0;
    memset(w, 0, sizeof *w);
    for (size_t q = 0; q < d->lists; q++)
        if (d->offset[q + 1] - d->offset[q] > longest)
            longest = d->offset[q + 1] - d->offset[q];
    w->scores = ek_calloc(longest, sizeof *w->scores);
    w->scratch = ek_calloc(longest, sizeof *w->scratch);
    w->order = ek_calloc(longest, sizeof *w->order);
    if (!w->scores || !w->scratch || !w->order)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return ek_scorer_new(&w->scorer, m, e);
}

static double highest_label(const struct ek_dataset *d)
{
    float highest = 0;
    for (size_t i = 0; i < d->items; i++)
        if (d->label[i] > highest)
            highest = d->label[i];
    return (double)highest;
}

static void release(struct work *w)
{
    ek_scorer_free(w->scorer);
    ek_free(w->scores);
    ek_free(w->scratch);
    ek_free(w->order);
}

static int add_list(struct work *w, struct ek_list *q, size_t number, struct ek_evaluation *v,
                    struct ek_error *e)
{
    int code = ek_scorer_score(w->scorer, q, v->treatment, w->scores, e);
    if (code)
        return code;
    ek_rank(w->scores, q->items, w->order);
    for (int i = 0; i < v->metric_count; i++) {
        double x = ek_metric_compute(v->metric[i], v->gain, w->order, q->label, q->items,
                                     v->max_label, w->scratch);
        ek_metric_add(&v->mean[i], x, v->empty);
        if (!i && v->of_list)
            v->of_list[number] = x;
    }
    return EK_OK;
}

/* ERR always has the gain 2^y - 1. */
static bool needs_exp(const struct ek_evaluation *v)
{
    bool needs = false;
    for (int i = 0; i < v->metric_count; i++)
        needs |=
            v->metric[i].kind == EK_ERR || (v->metric[i].kind == EK_NDCG && v->gain == EK_GAIN_EXP);
    return needs;
}

int ek_evaluate(const struct ek_model *m, const struct ek_dataset *d, struct ek_evaluation *v,
                struct ek_error *e)
{
    struct work w;
    int code = prepare(&w, m, d, e);
    memset(v->mean, 0, sizeof v->mean);
    v->max_label = highest_label(d);
    if (!code && v->max_label > EK_LABEL_MAX && needs_exp(v))
        code =
            ek_fail(e, EK_EUSAGE,
                    "label %g is above %g, too large for a gain of 2^y - 1; take linear gain and "
                    "metrics other than ERR, or give grades",
                    v->max_label, (double)EK_LABEL_MAX);
    for (size_t i = 0; i < d->lists && !code; i++) {
        struct ek_list q;
        ek_dataset_view(d, i, &q);
        code = add_list(&w, &q, i, v, e);
    }
    release(&w);
    return code;
}

double ek_spread_ratio(const struct ek_model *m, const struct ek_dataset *d, int k)
{
    double mean, sd;
    if (!ek_log_statistics(d, (size_t)m->routable[k], &mean, &sd) || m->log_sd[k] >= EK_SD_UNREAD)
        return 1;
    return sd / (double)m->log_sd[k];
}
