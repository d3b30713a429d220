#include "decide/tick.h"

#include "base/alloc.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

/* A bet that is worth nothing counts as this much: a sum must stay finite to be taken back. */
static const double WORTH_LEAST = 1e-9;
/* R is held where a float still tells it from infinity. */
static const double R_MOST = 1e37;

struct sums {
    int64_t ln[EK_BETS];
    uint32_t lists;
};

struct ek_tick {
    int cells, features;
    struct sums *sums; /* [cells, features] */
};

int ek_tick_new(struct ek_tick **out, int cells, int features)
{
    struct ek_tick *t = ek_calloc(1, sizeof *t);
    if (!t)
        return EK_ENOMEM;
    t->cells = cells;
    t->features = features;
    t->sums = ek_calloc((size_t)cells * (size_t)features, sizeof *t->sums);
    if (!t->sums) {
        ek_free(t);
        return EK_ENOMEM;
    }
    *out = t;
    return EK_OK;
}

void ek_tick_free(struct ek_tick *t)
{
    if (t)
        ek_free(t->sums);
    ek_free(t);
}

void ek_tick_clear(struct ek_tick *t)
{
    memset(t->sums, 0, (size_t)t->cells * (size_t)t->features * sizeof *t->sums);
}

static struct sums *at(const struct ek_tick *t, int cell, int feature)
{
    return &t->sums[(size_t)cell * (size_t)t->features + (size_t)feature];
}

void ek_tick_add(struct ek_tick *t, int cell, int feature, const float *e)
{
    struct sums *s = at(t, cell, feature);
    for (int i = 0; i < EK_BETS; i++)
        s->ln[i] += llrint(log(fmax((double)e[i], WORTH_LEAST)) / EK_TICK_UNIT);
    s->lists++;
}

void ek_tick_merge(struct ek_tick *into, const struct ek_tick *from)
{
    size_t count = (size_t)into->cells * (size_t)into->features;
    for (size_t j = 0; j < count; j++) {
        for (int i = 0; i < EK_BETS; i++)
            into->sums[j].ln[i] += from->sums[j].ln[i];
        into->sums[j].lists += from->sums[j].lists;
    }
}

uint32_t ek_tick_lists(const struct ek_tick *t, int cell, int feature)
{
    return at(t, cell, feature)->lists;
}

const int64_t *ek_tick_sums(const struct ek_tick *t, int cell, int feature)
{
    return at(t, cell, feature)->ln;
}

double ek_tick_apply(const struct ek_tick *t, int cell, int feature, const float *weight,
                     struct ek_evidence *s)
{
    const struct sums *o = at(t, cell, feature);
    double total = 0;
    for (int i = 0; i < EK_BETS; i++) {
        double r = ((double)s->r[i] + o->lists) * exp((double)o->ln[i] * EK_TICK_UNIT);
        s->r[i] = (float)fmin(r, R_MOST);
        total += (double)weight[i] * s->r[i];
    }
    s->queries += o->lists;
    return total;
}
