/* Walk, quantiles and moments of a sketch, and its translation by a factor. */
#include "num/sketch_stats.h"

#include <float.h>
#include <math.h>
#include <string.h>

static uint16_t key_at(int place)
{
    return (uint16_t)(place <= EK_SKETCH_INF ? EK_SKETCH_NEG_INF - place
                                             : place - EK_SKETCH_INF - 1);
}

int ek_sketch_place(uint16_t key)
{
    return key >= EK_SKETCH_NEG_ZERO ? EK_SKETCH_NEG_INF - key : key + EK_SKETCH_INF + 1;
}

struct ek_sketch_walk ek_sketch_walk_init(const struct ek_sketch *s)
{
    return (struct ek_sketch_walk){.counts = s->count, .s = s};
}

int ek_sketch_walk_block(struct ek_sketch_walk *w)
{
    while (w->next < EK_SKETCH_PLACES) {
        uint16_t key = key_at(w->next);
        int negative = key >= EK_SKETCH_NEG_ZERO, inside = key % EK_SKETCH_BLOCK;
        int left = negative ? inside + 1 : EK_SKETCH_BLOCK - inside;
        if (ek_sketch_touches(w->s, key / EK_SKETCH_BLOCK)) {
            int places = EK_SKETCH_PLACES - w->next;
            w->left = left < places ? left : places;
            w->step = negative ? -1 : 1;
            w->key = (uint16_t)(key - w->step);
            return 1;
        }
        w->next += left;
    }
    return 0;
}

static uint64_t present(const struct ek_sketch *s)
{
    return s->total - ek_sketch_count(s, EK_SKETCH_NAN);
}

static int is_finite(uint16_t key)
{
    return (key & (EK_SKETCH_NEG_ZERO - 1)) != EK_SKETCH_INF;
}

double ek_sketch_quantile(const struct ek_sketch *s, double share)
{
    double desired = share * (double)present(s), value = (double)NAN;
    uint64_t below = 0;
    struct ek_sketch_walk w = ek_sketch_walk_init(s);
    while (ek_sketch_walk_next(&w)) {
        below += w.count;
        value = ek_sketch_value(w.key);
        if ((double)below >= desired)
            break;
    }
    return value;
}

/* Constants per octave, so that a key needs no logarithm and no division. */
enum { PER_OCTAVE = 64, EXPONENT_BIAS = 127 };

struct octave {
    double ln[PER_OCTAVE];   /* ln of the middles in [1, 2) */
    double bend[PER_OCTAVE]; /* ln of a key's middle minus the mean ln within the key */
};

struct moments {
    double weight, sum, squares, about;
    int first, last; /* finite keys; -1: none */
};

/* Values are uniform within a key: bend is w^2 / 24, with w the width relative to the middle. */
static void octave_init(struct octave *o)
{
    for (int i = 0; i < PER_OCTAVE; i++) {
        double w = 1 / (PER_OCTAVE + i + 0.5);
        o->ln[i] = log(1 + (i + 0.5) / PER_OCTAVE);
        o->bend[i] = w * w / 24;
    }
}

/* Return the mean of ln|x| within a key. */
static double mean_ln(const struct octave *o, uint16_t magnitude)
{
    int exponent = magnitude / PER_OCTAVE, part = magnitude % PER_OCTAVE;
    if (exponent == 0)
        return log(ek_sketch_value(magnitude));
    return (exponent - EXPONENT_BIAS) * M_LN2 + o->ln[part] - o->bend[part];
}

/* Sums are relative to the first value, against cancellation. */
static void add_moment(struct moments *m, double x, double weight)
{
    if (m->weight == 0)
        m->about = x;
    x -= m->about;
    m->weight += weight;
    m->sum += x * weight;
    m->squares += x * x * weight;
}

/* Add one key to counts and moments. */
static void summarize_key(struct ek_sketch_summary *out, struct moments *m, const struct octave *o,
                          uint16_t key, uint64_t count)
{
    uint16_t magnitude = key & (EK_SKETCH_NEG_ZERO - 1);
    if (magnitude == EK_SKETCH_INF) {
        out->infinite += count;
        return;
    }
    m->first = m->first < 0 ? key : m->first;
    m->last = key;
    if (magnitude == 0) {
        out->zero += count;
        return;
    }
    out->negative += key >= EK_SKETCH_NEG_ZERO ? count : 0;
    add_moment(m, mean_ln(o, magnitude), (double)count);
}

/* A local copy keeps the moments of the open block in registers. */
static void summarize_block(struct ek_sketch_summary *out, struct moments *m,
                            const struct octave *o, const struct ek_sketch_walk *w)
{
    struct moments local = *m;
    uint16_t key = w->key;
    for (int left = w->left; left > 0; left--) {
        key = (uint16_t)(key + w->step);
        if (w->counts[key])
            summarize_key(out, &local, o, key, w->counts[key]);
    }
    *m = local;
}

/* Return the number of values up to a quantile, at least 1. An integer avoids a conversion per
 * comparison. */
static uint64_t values_below(double share, uint64_t finite)
{
    double desired = ceil(share * (double)finite);
    return desired > 1 ? (uint64_t)desired : 1;
}

void ek_sketch_quantiles(const struct ek_sketch *s, const double *shares, int count, double *out)
{
    uint64_t below = 0, finite = present(s) - ek_sketch_count(s, EK_SKETCH_INF) -
                                 ek_sketch_count(s, EK_SKETCH_NEG_INF);
    int next = 0;
    uint64_t desired = count ? values_below(shares[0], finite) : 0;
    struct ek_sketch_walk w = ek_sketch_walk_init(s);
    for (; next < count && ek_sketch_walk_block(&w); ek_sketch_walk_over(&w)) {
        uint16_t key = w.key;
        for (int left = w.left; left > 0 && next < count; left--) {
            key = (uint16_t)(key + w.step);
            below += is_finite(key) ? w.counts[key] : 0;
            for (; next < count && below >= desired; next++) {
                out[next] = ek_sketch_value(key);
                desired = next + 1 < count ? values_below(shares[next + 1], finite) : 0;
            }
        }
    }
    for (; next < count; next++)
        out[next] = (double)NAN;
}

void ek_sketch_summarize(const struct ek_sketch *s, struct ek_sketch_summary *out)
{
    static const double shares[] = {0.01, 0.5, 0.99};
    const double none = (double)NAN;
    double quantile[3];
    struct octave octave;
    struct moments m = {.first = -1, .last = -1};
    octave_init(&octave);
    *out = (struct ek_sketch_summary){.total = s->total,
                                      .missing = ek_sketch_count(s, EK_SKETCH_NAN),
                                      .log_mean = none,
                                      .log_sd = none,
                                      .low = none,
                                      .high = none};
    struct ek_sketch_walk w = ek_sketch_walk_init(s);
    for (; ek_sketch_walk_block(&w); ek_sketch_walk_over(&w))
        summarize_block(out, &m, &octave, &w);
    if (m.first >= 0) {
        out->low = ek_sketch_value((uint16_t)m.first);
        out->high = ek_sketch_value((uint16_t)m.last);
    }
    if (m.weight > 0) {
        double mean = m.sum / m.weight, variance = m.squares / m.weight - mean * mean;
        out->log_mean = m.about + mean;
        out->log_sd = variance > 0 ? sqrt(variance) : 0;
    }
    ek_sketch_quantiles(s, shares, 3, quantile);
    out->p01 = quantile[0];
    out->p50 = quantile[1];
    out->p99 = quantile[2];
}

/* Return the key of a value times `factor`; zeros and infinities keep their key. */
static uint16_t key_times(uint16_t key, double factor)
{
    uint16_t sign = key & EK_SKETCH_NEG_ZERO, magnitude = key & (EK_SKETCH_NEG_ZERO - 1);
    if (magnitude == 0 || magnitude == EK_SKETCH_INF)
        return key;
    double x = ek_sketch_value(magnitude) * factor;
    return sign | (x > (double)FLT_MAX ? EK_SKETCH_INF : ek_sketch_key((float)x));
}

static void add_at(struct ek_sketch *s, uint16_t key, uint64_t count)
{
    ek_sketch_touch(s, key / EK_SKETCH_BLOCK);
    s->count[key] += count;
    s->total += count;
}

void ek_sketch_translate(const struct ek_sketch *from, double shift_ln, struct ek_sketch *out)
{
    double factor = exp(shift_ln);
    uint64_t missing = ek_sketch_count(from, EK_SKETCH_NAN);
    struct ek_sketch_walk w = ek_sketch_walk_init(from);
    while (ek_sketch_walk_next(&w))
        add_at(out, key_times(w.key, factor), w.count);
    if (missing)
        add_at(out, EK_SKETCH_NAN, missing);
}
