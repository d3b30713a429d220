#include "num/sketch_internal.h"

#include <math.h>
#include <string.h>

/* Walks the touched keys in the order of their values: -inf, negative, zeros, positive, inf. */
struct walk {
    const struct ek_sketch *s;
    int position; /* 0 .. 2 * EK_SKETCH_INF + 1: the place in that order */
    uint16_t key;
    uint64_t count;
};

enum { PLACES = 2 * (EK_SKETCH_INF + 1) };

static uint16_t key_at(int position)
{
    return (uint16_t)(position <= EK_SKETCH_INF ? EK_SKETCH_NEG_INF - position
                                                : position - EK_SKETCH_INF - 1);
}

static struct walk walk_of(const struct ek_sketch *s)
{
    return (struct walk){.s = s};
}

/* The next key with a count; 0 at the end. */
static int walk_on(struct walk *w)
{
    for (; w->position < PLACES; w->position++) {
        uint16_t key = key_at(w->position);
        int block = key / EK_SKETCH_BLOCK;
        if (!ek_sketch_touches(w->s, block)) {
            /* to the last key of the block; the loop steps over it */
            int inside = key % EK_SKETCH_BLOCK;
            int left = key >= EK_SKETCH_NEG_ZERO ? inside : EK_SKETCH_BLOCK - 1 - inside;
            w->position += left;
            continue;
        }
        w->count = w->s->count[key];
        if (w->count) {
            w->key = key;
            w->position++;
            return 1;
        }
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
    double wanted = share * (double)present(s), value = (double)NAN;
    uint64_t below = 0;
    struct walk w = walk_of(s);
    while (walk_on(&w)) {
        below += w.count;
        value = ek_sketch_value(w.key);
        if ((double)below >= wanted)
            break;
    }
    return value;
}

/* Logarithms of the middles of one octave's keys, so that a key costs no logarithm. */
enum { PER_OCTAVE = 64, EXPONENT_BIAS = 127 };

struct moments {
    double ln[PER_OCTAVE]; /* of the middles in [1, 2) */
    double weight, sum, squares, about;
};

static void moments_init(struct moments *m)
{
    *m = (struct moments){.weight = 0};
    for (int i = 0; i < PER_OCTAVE; i++)
        m->ln[i] = log(1 + (i + 0.5) / PER_OCTAVE);
}

/* Mean of ln|x| over a key whose values are spread evenly: below the logarithm of the middle by
 * w^2 / 24, w the width relative to the middle. */
static double mean_ln(const struct moments *m, uint16_t magnitude)
{
    int exponent = magnitude / PER_OCTAVE, part = magnitude % PER_OCTAVE;
    double w = 1 / (PER_OCTAVE + part + 0.5);
    if (exponent == 0)
        return log(ek_sketch_value(magnitude));
    return (exponent - EXPONENT_BIAS) * M_LN2 + m->ln[part] - w * w / 24;
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
    double v = ek_sketch_value(key);
    out->low = isnan(out->low) ? v : out->low;
    out->high = v;
    if (magnitude == 0) {
        out->zero += count;
        return;
    }
    out->negative += key >= EK_SKETCH_NEG_ZERO ? count : 0;
    add_moment(m, mean_ln(m, magnitude), (double)count);
}

static void finite_quantiles(const struct ek_sketch *s, uint64_t finite,
                             struct ek_sketch_summary *out)
{
    static const double shares[] = {0.01, 0.5, 0.99, 0.999};
    double *const values[] = {&out->p01, &out->p50, &out->p99, &out->p999};
    size_t next = 0;
    uint64_t below = 0;
    struct walk w = walk_of(s);
    while (next < 4 && walk_on(&w)) {
        below += is_finite(w.key) ? w.count : 0;
        for (; next < 4 && below > 0 && (double)below >= shares[next] * (double)finite; next++)
            *values[next] = ek_sketch_value(w.key);
    }
}

void ek_sketch_summarize(const struct ek_sketch *s, struct ek_sketch_summary *out)
{
    const double none = (double)NAN;
    struct moments m;
    moments_init(&m);
    *out = (struct ek_sketch_summary){.total = s->total,
                                      .missing = ek_sketch_count(s, EK_SKETCH_NAN),
                                      .log_mean = none,
                                      .log_sd = none,
                                      .p01 = none,
                                      .p50 = none,
                                      .p99 = none,
                                      .p999 = none,
                                      .low = none,
                                      .high = none};
    struct walk w = walk_of(s);
    while (walk_on(&w))
        summarize_key(out, &m, w.key, w.count);
    if (m.weight > 0) {
        double mean = m.sum / m.weight, variance = m.squares / m.weight - mean * mean;
        out->log_mean = m.about + mean;
        out->log_sd = variance > 0 ? sqrt(variance) : 0;
    }
    finite_quantiles(s, out->total - out->missing - out->infinite, out);
}

/* One bin's term; half a count is added to every bin, so that an empty one gives a finite term. */
static double psi_term(uint64_t expected, double expected_total, uint64_t seen, double seen_total)
{
    double p = ((double)expected + 0.5) / expected_total, q = ((double)seen + 0.5) / seen_total;
    return (q - p) * log(q / p);
}

double ek_sketch_psi(const struct ek_sketch *reference, const struct ek_sketch *s, int bins)
{
    if (!reference->total || !s->total || bins < 1)
        return (double)NAN;
    double smooth = 0.5 * (bins + 1); /* the missing have a bin of their own */
    double all = (double)reference->total + smooth, all_seen = (double)s->total + smooth;
    double psi = psi_term(ek_sketch_count(reference, EK_SKETCH_NAN), all,
                          ek_sketch_count(s, EK_SKETCH_NAN), all_seen);
    double share = (double)present(reference) / bins;
    uint64_t below = 0, from = 0, seen = 0;
    struct walk w = walk_of(reference), v = walk_of(s);
    int more = walk_on(&v);
    for (int bin = 1; bin <= bins; bin++) {
        while ((double)below < share * bin && walk_on(&w))
            below += w.count;
        /* the bin ends behind the reference's key; the last one takes all that is left */
        for (; more && (bin == bins || v.position <= w.position); more = walk_on(&v))
            seen += v.count;
        psi += psi_term(below - from, all, seen, all_seen);
        from = below;
        seen = 0;
    }
    return psi;
}
