#include "num/divergence.h"

#include "num/sketch_stats.h"

#include <math.h>

enum { MISSING, ZERO, VALUES, LAST_NEGATIVE = EK_SKETCH_INF - 1 };

static int is_zero(uint16_t key)
{
    return key == 0 || key == EK_SKETCH_NEG_ZERO;
}

static uint64_t zeros(const struct ek_sketch *s)
{
    return ek_sketch_count(s, 0) + ek_sketch_count(s, EK_SKETCH_NEG_ZERO);
}

/* Value bins under construction. */
struct filling {
    struct ek_bins *b;
    double step; /* mass per bin */
    double mass; /* mass of the open bin */
};

static void close_bin(struct filling *f, int last)
{
    f->b->last[f->b->count] = last;
    f->b->share[f->b->count++] = f->mass / (double)f->b->total;
    f->mass = 0;
}

static void fill_key(struct filling *f, uint16_t key, uint64_t count)
{
    int place = ek_sketch_place(key);
    double mass = (double)count;
    if (mass >= f->step && f->mass > 0)
        close_bin(f, place - 1);
    f->mass += mass;
    if (f->mass >= f->step)
        close_bin(f, place);
}

/* Close the bins of one sign; `first` is its first bin. The remaining mass is added to the last bin
 * of the sign, or becomes its only bin. */
static void end_sign(struct filling *f, int first, int last)
{
    struct ek_bins *b = f->b;
    if (b->count == first) {
        close_bin(f, last);
        return;
    }
    b->share[b->count - 1] += f->mass / (double)b->total;
    b->last[b->count - 1] = last;
    f->mass = 0;
}

void ek_bins_fill(struct ek_bins *b, const struct ek_sketch *reference)
{
    uint64_t missing = ek_sketch_count(reference, EK_SKETCH_NAN), zero = zeros(reference);
    *b = (struct ek_bins){.count = VALUES, .total = ek_sketch_total(reference)};
    struct filling f = {b, (double)(b->total - missing - zero) / EK_BINS, 0};
    double total = b->total ? (double)b->total : 1;
    b->share[MISSING] = (double)missing / total;
    b->share[ZERO] = (double)zero / total;
    int positive = 0;
    struct ek_sketch_walk w = ek_sketch_walk_init(reference);
    while (ek_sketch_walk_next(&w)) {
        if (is_zero(w.key))
            continue;
        if (w.key < EK_SKETCH_NEG_ZERO && !positive) {
            end_sign(&f, VALUES, LAST_NEGATIVE);
            positive = b->count;
        }
        fill_key(&f, w.key, w.count);
    }
    if (!positive) {
        end_sign(&f, VALUES, LAST_NEGATIVE);
        positive = b->count;
    }
    end_sign(&f, positive, EK_SKETCH_PLACES - 1);
}

/* Count the items of `s` in each bin. */
static void count_bins(const struct ek_bins *b, const struct ek_sketch *s, uint64_t *seen)
{
    for (int i = 0; i < b->count; i++)
        seen[i] = 0;
    seen[MISSING] = ek_sketch_count(s, EK_SKETCH_NAN);
    seen[ZERO] = zeros(s);
    int bin = VALUES;
    struct ek_sketch_walk w = ek_sketch_walk_init(s);
    while (ek_sketch_walk_next(&w)) {
        if (is_zero(w.key))
            continue;
        int place = w.next - 1;
        while (bin < b->count - 1 && place > b->last[bin])
            bin++;
        seen[bin] += w.count;
    }
}

/* Return a fraction with the floors of psi applied. `other` is the fraction on the other side,
 * `total` the number of items on this side. */
static double floored(double share, double other, double total)
{
    double least = fmax(EK_PSI_FLOOR, 0.5 / total);
    return share > 0 ? fmax(share, EK_PSI_FLOOR) : fmin(least, fmax(other, EK_PSI_FLOOR));
}

static double psi_term(double p, double q, double p_total, double q_total)
{
    double from = floored(p, q, p_total), to = floored(q, p, q_total);
    return (to - from) * log(to / from);
}

/* Return share * log2(share / middle), or 0 for a share of 0. */
static double information(double share, double middle)
{
    return share > 0 ? share * log2(share / middle) : 0;
}

static double root(double x)
{
    return x > 0 ? sqrt(x) : 0;
}

static void compare_bins(const struct ek_bins *b, const struct ek_sketch *s,
                         struct ek_divergence *out)
{
    uint64_t seen[EK_BINS_MAX];
    double reference = (double)b->total, total = (double)ek_sketch_total(s);
    double psi = 0, bits = 0, overlap = 0;
    int bins = 0;
    count_bins(b, s, seen);
    for (int i = 0; i < b->count; i++) {
        double p = b->share[i], q = (double)seen[i] / total, middle = (p + q) / 2;
        psi += psi_term(p, q, reference, total);
        bits += (information(p, middle) + information(q, middle)) / 2;
        overlap += sqrt(p * q);
        bins += p > 0;
    }
    out->psi = psi;
    out->psi_expected = (bins - 1) * (1 / total + 1 / reference);
    out->jensenshannon = root(bits);
    out->hellinger = root(1 - overlap);
}

/* Simultaneous walk over two sketches: cumulative counts up to the key before the current one. */
struct pair {
    struct ek_sketch_walk w[2];
    int more[2];
    uint16_t key, before;
    double count[2], at[2], total[2];
};

static void pair_start(struct pair *p, const struct ek_sketch *a, const struct ek_sketch *b)
{
    *p = (struct pair){.w = {ek_sketch_walk_init(a), ek_sketch_walk_init(b)}};
    for (int i = 0; i < 2; i++)
        p->more[i] = ek_sketch_walk_next(&p->w[i]);
}

static int pair_on(struct pair *p)
{
    if (!p->more[0] && !p->more[1])
        return 0;
    int ours = p->more[0] && (!p->more[1] || p->w[0].next <= p->w[1].next) ? 0 : 1;
    int place = p->w[ours].next;
    p->before = p->key;
    p->key = p->w[ours].key;
    for (int i = 0; i < 2; i++) {
        int has = p->more[i] && p->w[i].next == place;
        p->at[i] += p->count[i];
        p->count[i] = has ? (double)p->w[i].count : 0;
        if (has)
            p->more[i] = ek_sketch_walk_next(&p->w[i]);
    }
    return 1;
}

static double gap(const struct pair *p)
{
    return fabs(p->at[0] / p->total[0] - p->at[1] / p->total[1]);
}

static double largest_gap(const struct ek_sketch *a, const struct ek_sketch *b)
{
    double largest = 0;
    struct pair p;
    pair_start(&p, a, b);
    p.total[0] = (double)(ek_sketch_total(a) - ek_sketch_count(a, EK_SKETCH_NAN));
    p.total[1] = (double)(ek_sketch_total(b) - ek_sketch_count(b, EK_SKETCH_NAN));
    if (p.total[0] < 1 || p.total[1] < 1)
        return (double)NAN;
    while (pair_on(&p))
        if (p.key != 0 || p.before != EK_SKETCH_NEG_ZERO) /* -0 and +0 are one value */
            largest = fmax(largest, gap(&p));
    return largest;
}

static double finite_total(const struct ek_sketch *s)
{
    return (double)(ek_sketch_total(s) - ek_sketch_count(s, EK_SKETCH_NAN) -
                    ek_sketch_count(s, EK_SKETCH_INF) - ek_sketch_count(s, EK_SKETCH_NEG_INF));
}

static double area_of_values(const struct ek_sketch *a, const struct ek_sketch *b)
{
    double area = 0, before = 0;
    int first = 1;
    struct pair p;
    pair_start(&p, a, b);
    p.total[0] = finite_total(a);
    p.total[1] = finite_total(b);
    if (p.total[0] < 1 || p.total[1] < 1)
        return (double)NAN;
    while (pair_on(&p)) {
        double value = ek_sketch_value(p.key);
        if (isinf(value)) {
            p.count[0] = p.count[1] = 0;
            continue;
        }
        if (!first)
            area += gap(&p) * (value - before);
        before = value;
        first = 0;
    }
    return area;
}

/* Return the count of a magnitude, both signs together. */
static double magnitude_count(const struct ek_sketch *s, int key)
{
    return (double)(s->count[key] + s->count[key | EK_SKETCH_NEG_ZERO]);
}

static int touches_magnitudes(const struct ek_sketch *s, int block)
{
    return ek_sketch_touches(s, block) ||
           ek_sketch_touches(s, block + EK_SKETCH_NEG_ZERO / EK_SKETCH_BLOCK);
}

/* ek_sketch_ln for the keys of the octave [1, 2), because a logarithm per key would dominate the
 * cost. */
enum { PER_OCTAVE = 64, EXPONENT_BIAS = 127 };

static void fill_octave(double ln[PER_OCTAVE])
{
    for (int i = 0; i < PER_OCTAVE; i++)
        ln[i] = ek_sketch_ln((uint16_t)(EXPONENT_BIAS * PER_OCTAVE + i));
}

static double ln_of(const double octave[PER_OCTAVE], int key)
{
    int exponent = key / PER_OCTAVE;
    if (exponent == 0)
        return ek_sketch_ln((uint16_t)key);
    return (exponent - EXPONENT_BIAS) * M_LN2 + octave[key % PER_OCTAVE];
}

static double area_of_logarithms(const struct ek_sketch *a, const struct ek_sketch *b)
{
    struct pair p = {
        .total = {finite_total(a) - (double)zeros(a), finite_total(b) - (double)zeros(b)}};
    double area = 0, before = 0, octave[PER_OCTAVE];
    int first = 1;
    if (p.total[0] < 1 || p.total[1] < 1)
        return (double)NAN;
    fill_octave(octave);
    for (int key = 1; key < EK_SKETCH_INF; key++) {
        int block = key / EK_SKETCH_BLOCK;
        if (!touches_magnitudes(a, block) && !touches_magnitudes(b, block)) {
            key = (block + 1) * EK_SKETCH_BLOCK - 1;
            continue;
        }
        double count[2] = {magnitude_count(a, key), magnitude_count(b, key)};
        if (count[0] + count[1] < 1)
            continue;
        double ln = ln_of(octave, key);
        area += first ? 0 : gap(&p) * (ln - before);
        before = ln;
        first = 0;
        p.at[0] += count[0];
        p.at[1] += count[1];
    }
    return area;
}

void ek_divergence_compute(const struct ek_bins *b, const struct ek_sketch *reference,
                           const struct ek_sketch *s, struct ek_divergence *out)
{
    const double none = (double)NAN;
    *out = (struct ek_divergence){none, none, none, none, none, none, none};
    if (!b->total || !ek_sketch_total(s))
        return;
    compare_bins(b, s, out);
    out->ks = largest_gap(reference, s);
    out->wasserstein = area_of_values(reference, s);
    out->wasserstein_ln = area_of_logarithms(reference, s);
}
