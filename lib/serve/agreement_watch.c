#include "serve/agreement_watch.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "score/agreement.h"

#include <math.h>

/* Stakes relative to the largest, 1 / bound. The larger the change and the smaller the variance,
 * the better a large stake. */
static const double STAKE[EK_MEAN_EVALUES] = {1. / 16, 1. / 8, 1. / 4, 1. / 2, 7. / 8};

void ek_mean_evalues_start(struct ek_mean_evalues *b, double bound)
{
    *b = (struct ek_mean_evalues){.bound = bound};
}

static double gain(int bet, double bound, double x)
{
    return 1 + STAKE[bet] * (x / bound - 1);
}

void ek_mean_evalues_add(struct ek_mean_evalues *b, double x, uint64_t number)
{
    for (int i = 0; i < EK_MEAN_EVALUES; i++) {
        double e = gain(i, b->bound, x);
        if (b->run[i] <= 1) {
            b->run[i] = 1;
            b->since[i] = number;
        }
        b->run[i] *= e;
        b->r[i] = (b->r[i] + 1) * e;
    }
}

void ek_mean_evalues_sum(int64_t *sum, double bound, double x)
{
    for (int i = 0; i < EK_MEAN_EVALUES; i++)
        sum[i] += (int64_t)floor(ldexp(log(gain(i, bound, x)), EK_MEAN_UNITS));
}

void ek_mean_evalues_add_sums(struct ek_mean_evalues *b, const int64_t *sum, uint64_t n)
{
    for (int i = 0; i < EK_MEAN_EVALUES; i++)
        b->r[i] = (b->r[i] + (double)n) * exp(ldexp((double)sum[i], -EK_MEAN_UNITS));
}

double ek_mean_evalues_evidence(const struct ek_mean_evalues *b)
{
    double sum = 0;
    for (int i = 0; i < EK_MEAN_EVALUES; i++)
        sum += b->r[i];
    return sum / EK_MEAN_EVALUES;
}

uint64_t ek_mean_evalues_since(const struct ek_mean_evalues *b, double *most)
{
    int best = 0;
    for (int i = 1; i < EK_MEAN_EVALUES; i++)
        if (b->r[i] > b->r[best])
            best = i;
    *most = b->r[best];
    return b->since[best];
}

/* Bound of a statistic in 0 to 1, 0 the best: mean of the model + a quarter of it + SLACK + SURE
 * standard errors. Healthy traffic moves too, and 0.01 on this scale needs no action. */
static const double WIDER = .25, SLACK = .01, SURE = 3;
/* A larger bound leaves no range to detect. */
static const double BOUND_MAX = .9;
/* Minimum evidence for an alarm, and minimum number of lists between comparisons. */
static const double ALARM_MIN = 1000;
enum { SEED = 5, TURNS_MIN = 64 };

struct compared {
    uint64_t query;
    struct ek_agreement list;
};

struct ek_agreement_watch {
    struct ek_model_agreement trained; /* lists 0: no reference */
    struct ek_ranker *comparer;
    struct ek_rng rng;
    uint64_t turns, every, chosen; /* per block of `every` lists, the index to compare */
    double alarm;                  /* evidence */
    struct ek_mean_evalues bets[EK_AGREEMENT_STATISTICS];
    bool tested[EK_AGREEMENT_STATISTICS];
    bool is_upstream; /* the model is the upstream scorer */
    bool drifted;
    uint64_t lists, from; /* number of compared lists; first of them for `now` */
    struct compared ring[EK_AGREEMENT_WINDOW];
};

const char *ek_agreement_state_name(enum ek_agreement_state s)
{
    static const char *const names[] = {"unknown", "holds", "drifted"};
    return names[s];
}

/* Range of a statistic: 1 or 2. */
static double range(int figure)
{
    return 1 - ek_agreement_statistic_low((enum ek_agreement_statistic)figure);
}

/* Return the distance from perfect agreement, 0 to 1. */
static double distance(int figure, double value)
{
    double x = (1 - value) / range(figure);
    return x > 0 ? x : 0;
}

static double bound_of(const struct ek_model_agreement *f, int figure)
{
    double usual = distance(figure, f->mean[figure]);
    double error = f->sd[figure] / range(figure) / sqrt((double)f->lists);
    return usual + WIDER * usual + SLACK + SURE * error;
}

static void start_bets(struct ek_agreement_watch *w)
{
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++) {
        double bound = w->trained.lists ? bound_of(&w->trained, i) : 1;
        w->tested[i] = bound < BOUND_MAX;
        ek_mean_evalues_start(&w->bets[i], bound);
    }
}

/* Cost of an item in multiplications of the network. A node of a tree costs as much as some
 * hundreds; an ONNX model is taken for a network of its bytes. */
static double multiplications(const struct ek_model *m)
{
    static const double PER_NODE = 100, PER_RUN = 1e4;
    double sum = 0, inputs = m->deep_inputs;
    if (m->trees)
        return PER_NODE * ek_trees_cost(m->trees);
    if (m->onnx)
        return PER_RUN + (double)m->onnx->bytes / sizeof(float);
    for (int i = 0; i < m->hidden_count; i++) {
        sum += inputs * m->hidden[i];
        inputs = m->hidden[i];
    }
    return sum + inputs;
}

/* Return the number of lists per comparison, so that comparisons cost 1% of the guard. Costs per
 * item are CPU times in one unit (`make bench BENCH=agreement`). The limit is 2%, because the ratio
 * differs by machine. */
static uint64_t is_diverging(const struct ek_model *m)
{
    double features = m->item_features;
    double compared = 400 + features + .018 * multiplications(m), guard = 96 + 3 * features;
    double apart = ceil(compared / guard / .01);
    return apart > TURNS_MIN ? (uint64_t)apart : TURNS_MIN;
}

int ek_agreement_watch_new(struct ek_agreement_watch **out, const struct ek_model *m,
                           uint64_t false_alarms, struct ek_error *e)
{
    struct ek_agreement_watch *w = ek_calloc(1, sizeof *w);
    if (!w)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_ranker_new(&w->comparer, e);
    if (rc) {
        ek_agreement_watch_free(w);
        return rc;
    }
    ek_rng_seed(&w->rng, SEED);
    w->every = is_diverging(m);
    w->alarm = fmax(ALARM_MIN, (double)false_alarms / (double)w->every);
    w->is_upstream = ek_model_library(m);
    if (w->is_upstream)
        w->trained =
            (struct ek_model_agreement){.lists = EK_AGREEMENT_REFERENCE_MIN, .mean = {1, 1, 1}};
    else if (m->agreement.lists >= EK_AGREEMENT_REFERENCE_MIN)
        w->trained = m->agreement;
    start_bets(w);
    *out = w;
    return EK_OK;
}

void ek_agreement_watch_free(struct ek_agreement_watch *w)
{
    if (!w)
        return;
    ek_ranker_free(w->comparer);
    ek_free(w);
}

bool ek_agreement_watch_is_due(struct ek_agreement_watch *w)
{
    uint64_t place = w->turns++ % w->every;
    if (!place)
        w->chosen = ek_rng_uniform_int(&w->rng, w->every);
    return place == w->chosen;
}

/* Statistics of the retained lists from number `from`. */
static struct ek_model_agreement figures_since(const struct ek_agreement_watch *w, uint64_t from)
{
    struct ek_agreement_sums sums = {0};
    uint64_t oldest = w->lists > EK_AGREEMENT_WINDOW ? w->lists - EK_AGREEMENT_WINDOW : 0;
    for (uint64_t i = from > oldest ? from : oldest; i < w->lists; i++)
        ek_agreement_add(&sums, &w->ring[i % EK_AGREEMENT_WINDOW].list);
    return ek_agreement_result(&sums);
}

/* Set the means. Return the number of lists. */
static int mean_since(const struct ek_agreement_watch *w, uint64_t from,
                      double mean[EK_AGREEMENT_STATISTICS])
{
    struct ek_model_agreement f = figures_since(w, from);
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++)
        mean[i] = f.lists ? f.mean[i] : NAN;
    return (int)f.lists;
}

static void bet(struct ek_agreement_watch *w, const struct ek_agreement *a)
{
    double evidence = 0, best = 0, most;
    uint64_t from = w->lists;
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++) {
        if (!w->tested[i])
            continue;
        ek_mean_evalues_add(&w->bets[i], distance(i, a->figure[i]), w->lists);
        evidence += ek_mean_evalues_evidence(&w->bets[i]) / EK_AGREEMENT_STATISTICS;
        uint64_t since = ek_mean_evalues_since(&w->bets[i], &most);
        if (most > best) {
            best = most;
            from = since;
        }
    }
    if (evidence < w->alarm)
        return;
    w->drifted = true;
    w->from = from;
}

/* End the drift if all statistics of a full window are closer to training than to the bound. */
static void check_end(struct ek_agreement_watch *w)
{
    double mean[EK_AGREEMENT_STATISTICS];
    if (w->lists < w->from + EK_AGREEMENT_WINDOW)
        return;
    mean_since(w, w->from, mean);
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++) {
        double usual = distance(i, w->trained.mean[i]);
        if (w->tested[i] && distance(i, mean[i]) > (usual + w->bets[i].bound) / 2)
            return;
    }
    w->drifted = false;
    w->from = 0;
    start_bets(w);
}

int ek_agreement_watch_list(struct ek_agreement_watch *w, const struct ek_list *q,
                            const double *student, uint64_t number, bool *changed,
                            struct ek_error *e)
{
    struct compared *at = &w->ring[w->lists % EK_AGREEMENT_WINDOW];
    struct ek_agreement a;
    bool valid, before = w->drifted;
    *changed = false;
    int rc = ek_compare(w->comparer, student, q->score, q->items, &a, &valid, e);
    if (rc || !valid)
        return rc;
    *at = (struct compared){number, a};
    if (!w->drifted)
        bet(w, &a);
    w->lists++;
    if (before)
        check_end(w);
    *changed = w->drifted != before;
    return EK_OK;
}

static double figure_at(int figure, double distance)
{
    return 1 - distance * range(figure);
}

void ek_agreement_watch_view(const struct ek_agreement_watch *w, struct ek_agreement_view *out)
{
    bool known = w->trained.lists > 0;
    *out = (struct ek_agreement_view){
        .every = (int)w->every, .lists = w->lists, .is_upstream = w->is_upstream};
    out->state = !known       ? EK_AGREEMENT_UNKNOWN
                 : w->drifted ? EK_AGREEMENT_DRIFTED
                              : EK_AGREEMENT_HOLDS;
    out->recent = mean_since(w, w->from, out->now);
    if (out->recent)
        out->since_query = w->ring[(w->lists - (uint64_t)out->recent) % EK_AGREEMENT_WINDOW].query;
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++) {
        out->trained[i] = known ? w->trained.mean[i] : NAN;
        out->least[i] = w->tested[i] ? figure_at(i, w->bets[i].bound) : NAN;
    }
}

double ek_agreement_gap(const struct ek_agreement_watch *w)
{
    struct ek_model_agreement now = figures_since(w, w->from), f = w->trained;
    if (!w->trained.lists)
        return 0;
    if (now.lists >= EK_AGREEMENT_REFERENCE_MIN || (w->drifted && now.lists))
        f = now;
    return hypot(1 - f.mean[EK_AGREEMENT_TAU], f.sd[EK_AGREEMENT_TAU]) / 2;
}

double ek_guard_gap(const struct ek_guard *g)
{
    const struct ek_agreement_watch *w = ek_guard_agreement(g);
    return w ? ek_agreement_gap(w) : NAN;
}

/* Read or write the parameters of the tests. Return whether they are equal. */
static bool same_watch(const struct ek_agreement_watch *w, struct ek_serialize *s)
{
    uint64_t every = w->every;
    double alarm = w->alarm, bound;
    ek_serialize_u64(s, &every);
    ek_serialize_f64(s, &alarm);
    bool same = every == w->every && alarm == w->alarm;
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++) {
        bound = w->bets[i].bound;
        ek_serialize_f64(s, &bound);
        same &= bound == w->bets[i].bound;
    }
    return same;
}

static void compared_serialize(struct ek_agreement_watch *w, struct ek_serialize *s)
{
    uint64_t first = w->lists > EK_AGREEMENT_WINDOW ? w->lists - EK_AGREEMENT_WINDOW : 0;
    for (uint64_t i = first; i < w->lists && !s->rc; i++) {
        struct compared *one = &w->ring[i % EK_AGREEMENT_WINDOW];
        ek_serialize_u64(s, &one->query);
        ek_serialize_raw(s, one->list.figure, sizeof one->list.figure);
    }
}

void ek_agreement_watch_serialize(struct ek_agreement_watch *w, struct ek_serialize *s)
{
    int drifted = w->drifted;
    if (!same_watch(w, s)) {
        s->at = s->end;
        return;
    }
    ek_serialize_raw(s, w->rng.s, sizeof w->rng.s);
    ek_serialize_u64(s, &w->turns);
    ek_serialize_u64(s, &w->chosen);
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++) {
        ek_serialize_raw(s, w->bets[i].r, sizeof w->bets[i].r);
        ek_serialize_raw(s, w->bets[i].run, sizeof w->bets[i].run);
        ek_serialize_raw(s, w->bets[i].since, sizeof w->bets[i].since);
    }
    ek_serialize_int(s, &drifted, 0, 1);
    w->drifted = drifted;
    ek_serialize_u64(s, &w->lists);
    ek_serialize_u64(s, &w->from);
    ek_serialize_require(s, w->from <= w->lists);
    compared_serialize(w, s);
}
