#include "num/sketch_walk.h"

#include <math.h>
#include <string.h>

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
    double wanted = share * (double)present(s), value = (double)NAN;
    uint64_t below = 0;
    struct ek_sketch_walk w = ek_sketch_walk_of(s);
    while (ek_sketch_walk_on(&w)) {
        below += w.count;
        value = ek_sketch_value(w.key);
        if ((double)below >= wanted)
            break;
    }
    return value;
}

/* What the keys of an octave have in common, so that a key costs no logarithm and no division. */
enum { PER_OCTAVE = 64, EXPONENT_BIAS = 127 };

struct moments {
    double ln[PER_OCTAVE];   /* of the middles in [1, 2) */
    double bend[PER_OCTAVE]; /* how much the mean logarithm of a key is below that of its middle */
    double weight, sum, squares, about;
    int first, last; /* finite keys; -1: none */
};

/* Within a key values are spread evenly: bend is w^2 / 24, w the width relative to the middle. */
static void moments_init(struct moments *m)
{
    m->weight = m->sum = m->squares = m->about = 0;
    m->first = m->last = -1;
    for (int i = 0; i < PER_OCTAVE; i++) {
        double w = 1 / (PER_OCTAVE + i + 0.5);
        m->ln[i] = log(1 + (i + 0.5) / PER_OCTAVE);
        m->bend[i] = w * w / 24;
    }
}

/* Mean of ln|x| over a key. */
static double mean_ln(const struct moments *m, uint16_t magnitude)
{
    int exponent = magnitude / PER_OCTAVE, part = magnitude % PER_OCTAVE;
    if (exponent == 0)
        return log(ek_sketch_value(magnitude));
    return (exponent - EXPONENT_BIAS) * M_LN2 + m->ln[part] - m->bend[part];
}

/* About the first value, against cancellation. */
static void add_moment(struct moments *m, double x, double weight)
{
    if (m->weight == 0)
        m->about = x;
    x -= m->about;
    m->weight += weight;
    m->sum += x * weight;
    m->squares += x * x * weight;
}

/* Counts and moments of one key. */
static void summarize_key(struct ek_sketch_summary *out, struct moments *m, uint16_t key,
                          uint64_t count)
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
    add_moment(m, mean_ln(m, magnitude), (double)count);
}

/* Values up to a quantile, at least one: an integer, for comparisons without a conversion. */
static uint64_t values_below(double share, uint64_t finite)
{
    double wanted = ceil(share * (double)finite);
    return wanted > 1 ? (uint64_t)wanted : 1;
}

void ek_sketch_quantiles(const struct ek_sketch *s, const double *shares, int count, double *out)
{
    uint64_t below = 0, finite = present(s) - ek_sketch_count(s, EK_SKETCH_INF) -
                                 ek_sketch_count(s, EK_SKETCH_NEG_INF);
    int next = 0;
    uint64_t wanted = count ? values_below(shares[0], finite) : 0;
    struct ek_sketch_walk w = ek_sketch_walk_of(s);
    while (next < count && ek_sketch_walk_on(&w)) {
        below += is_finite(w.key) ? w.count : 0;
        while (next < count && below >= wanted) {
            out[next++] = ek_sketch_value(w.key);
            wanted = next < count ? values_below(shares[next], finite) : 0;
        }
    }
    for (; next < count; next++)
        out[next] = (double)NAN;
}

void ek_sketch_summarize(const struct ek_sketch *s, struct ek_sketch_summary *out)
{
    static const double shares[] = {0.01, 0.5, 0.99, 0.999};
    const double none = (double)NAN;
    double quantile[4];
    struct moments m;
    moments_init(&m);
    *out = (struct ek_sketch_summary){.total = s->total,
                                      .missing = ek_sketch_count(s, EK_SKETCH_NAN),
                                      .log_mean = none,
                                      .log_sd = none,
                                      .low = none,
                                      .high = none};
    struct ek_sketch_walk w = ek_sketch_walk_of(s);
    while (ek_sketch_walk_on(&w))
        summarize_key(out, &m, w.key, w.count);
    if (m.first >= 0) {
        out->low = ek_sketch_value((uint16_t)m.first);
        out->high = ek_sketch_value((uint16_t)m.last);
    }
    if (m.weight > 0) {
        double mean = m.sum / m.weight, variance = m.squares / m.weight - mean * mean;
        out->log_mean = m.about + mean;
        out->log_sd = variance > 0 ? sqrt(variance) : 0;
    }
    ek_sketch_quantiles(s, shares, 4, quantile);
    out->p01 = quantile[0];
    out->p50 = quantile[1];
    out->p99 = quantile[2];
    out->p999 = quantile[3];
}
