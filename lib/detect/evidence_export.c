#include "detect/evidence_export.h"

#include "base/alloc.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

/* R is held where a float still tells it from infinity. */
static const double R_MOST = 1e37;
/* A list is rounded twice, by 2^-24 at most each: where its bet is multiplied to be fair, and where
 * the product takes it. The records allow for three (docs/format/fleet.md). Half a percent more
 * covers the powers of that, and what log2 rounds. */
static const double ROUNDED_LN = 3 * 0x1p-24 * 1.005;

enum { MANTISSA_BITS = 23, EXPONENT_OF_ONE = 127 };

struct ek_tick {
    int cells, features;
    struct ek_bet_product *product; /* [cells, features] */
};

void ek_tick_merge(struct ek_tick_sums *into, const struct ek_tick_sums *from)
{
    for (int i = 0; i < EK_BETS; i++)
        into->ln[i] += from->ln[i];
    into->lists += from->lists;
}

double ek_tick_apply(const struct ek_tick_sums *t, const float *weight, float *r)
{
    double total = 0;
    for (int i = 0; i < EK_BETS; i++) {
        double grown = ((double)r[i] + (double)t->lists) * exp((double)t->ln[i] * EK_TICK_UNIT);
        r[i] = (float)fmin(grown, R_MOST);
        total += (double)weight[i] * (double)r[i];
    }
    return total;
}

int ek_tick_new(struct ek_tick **out, int features)
{
    struct ek_tick *t = ek_calloc(1, sizeof *t);
    if (!t)
        return EK_ENOMEM;
    t->features = features;
    *out = t;
    return EK_OK;
}

void ek_tick_free(struct ek_tick *t)
{
    if (t)
        ek_free(t->product);
    ek_free(t);
}

static struct ek_bet_product *at(const struct ek_tick *t, int cell, int feature)
{
    return &t->product[(size_t)cell * (size_t)t->features + (size_t)feature];
}

int ek_tick_room(struct ek_tick *t, int cells)
{
    if (cells <= t->cells)
        return EK_OK;
    size_t before = (size_t)t->cells * (size_t)t->features;
    size_t after = (size_t)cells * (size_t)t->features;
    struct ek_bet_product *product = ek_realloc(t->product, after, sizeof *product);
    if (!product)
        return EK_ENOMEM;
    memset(product + before, 0, (after - before) * sizeof *product);
    t->product = product;
    t->cells = cells;
    return EK_OK;
}

void ek_tick_clear(struct ek_tick *t)
{
    for (int cell = 0; cell < t->cells; cell++)
        ek_tick_forget(t, cell);
}

void ek_tick_forget(struct ek_tick *t, int cell)
{
    for (int f = 0; f < t->features; f++)
        at(t, cell, f)->lists = 0;
}

int ek_tick_features(const struct ek_tick *t)
{
    return t->features;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void start(struct ek_bet_product *p)
{
    for (int i = 0; i < EK_BETS; i++) {
        p->mantissa[i] = EXPONENT_OF_ONE << MANTISSA_BITS;
        p->exponent[i] = 0;
    }
}

void ek_tick_add(struct ek_tick *t, int cell, int feature, const float *e)
{
    const uint32_t fraction = (1u << MANTISSA_BITS) - 1;
    struct ek_bet_product *p = at(t, cell, feature);
    if (!p->lists++)
        start(p);
    for (int i = 0; i < EK_BETS; i++) {
        float bet = e[i] > EK_BET_LEAST ? e[i] : EK_BET_LEAST;
        uint32_t bits = bits_of(float_of(p->mantissa[i]) * bet);
        p->exponent[i] += (int32_t)(bits >> MANTISSA_BITS) - EXPONENT_OF_ONE;
        p->mantissa[i] = (bits & fraction) | EXPONENT_OF_ONE << MANTISSA_BITS;
    }
}

struct ek_bet_product *ek_tick_products(struct ek_tick *t, int cell)
{
    return at(t, cell, 0);
}

uint32_t ek_tick_lists(const struct ek_tick *t, int cell, int feature)
{
    return at(t, cell, feature)->lists;
}

void ek_tick_sums(const struct ek_tick *t, int cell, int feature, struct ek_tick_sums *out)
{
    const struct ek_bet_product *p = at(t, cell, feature);
    double rounded = p->lists * ROUNDED_LN;
    memset(out, 0, sizeof *out);
    out->lists = p->lists;
    for (int i = 0; p->lists && i < EK_BETS; i++) {
        double ln = (p->exponent[i] + log2((double)float_of(p->mantissa[i]))) * M_LN2;
        out->ln[i] = (int64_t)floor((ln - rounded) / EK_TICK_UNIT);
    }
}
