#include "decide/align.h"

#include <math.h>

enum {
    COARSE_LISTS = 512, /* the coarse search looks at no more, evenly picked */
    COARSE_STEP = 4,    /* bins */
    NEAR = 6,           /* bins searched on either side in the fine step */
    ROUNDS = 3,
    CURVE = 3, /* bins on either side for the curvature */
    BATCH = 24 /* terms multiplied before a logarithm: 1e-7^24 and 1e6^24 stay in range */
};
static const double LARGEST_LN = 9.3;
static const double SHARES[] = {.01, .02, .05, .1, .2, .35, .5, .75, 1.};
static const double NO_ERROR = 9;
/* Share of lists that a known per-list factor need not explain. */
static const double KNOWN_MISSES = .02;

static double at(const float *density, int bin)
{
    return density[bin < 0 ? 0 : bin >= EK_DENSITY_BINS ? EK_DENSITY_BINS - 1 : bin];
}

/* sum over lists of ln(1 - q + q g(r - s) / g(r)). */
static double gain(const float *density, const float *r, int count, int stride, int shift, double q)
{
    double total = 0, product = 1;
    int batched = 0;
    for (int i = 0; i < count; i += stride) {
        int bin = ek_residual_bin(r[i]);
        double ratio = at(density, bin - shift) / at(density, bin);
        product *= fmax(1 - q + q * ratio, 1e-7);
        if (++batched == BATCH) {
            total += log(product);
            product = 1;
            batched = 0;
        }
    }
    return total + log(product);
}

static double share_at(const float *density, const float *r, int count, int shift, double q)
{
    double moved = 0;
    for (int i = 0; i < count; i++) {
        int bin = ek_residual_bin(r[i]);
        double ratio = at(density, bin - shift) / at(density, bin);
        moved += q * ratio / (1 - q + q * ratio);
    }
    return fmin(fmax(moved / count, 1e-4), 1);
}

struct place {
    int shift;
    double q, gain;
};

static struct place search(const float *density, const float *r, int count)
{
    struct place best = {0, 0, 0};
    int reach = (int)(LARGEST_LN / EK_RESIDUAL_BIN);
    int stride = (count + COARSE_LISTS - 1) / COARSE_LISTS;
    for (int shift = -reach; shift <= reach; shift += COARSE_STEP)
        for (unsigned i = 0; i < sizeof SHARES / sizeof *SHARES; i++) {
            double g = gain(density, r, count, stride, shift, SHARES[i]);
            if (g > best.gain)
                best = (struct place){shift, SHARES[i], g};
        }
    return best;
}

static void refine(const float *density, const float *r, int count, struct place *best)
{
    for (int round = 0; round < ROUNDS; round++) {
        int middle = best->shift;
        best->q = share_at(density, r, count, middle, best->q);
        best->gain = -INFINITY;
        for (int shift = middle - NEAR; shift <= middle + NEAR; shift++) {
            double g = gain(density, r, count, 1, shift, best->q);
            if (g > best->gain) {
                best->gain = g;
                best->shift = shift;
            }
        }
    }
}

struct ek_alignment ek_align(const float *density, const float *r, int count)
{
    struct ek_alignment none = {0, 0, 0, NO_ERROR};
    if (count < 1)
        return none;
    struct place best = search(density, r, count);
    if (best.gain <= 0)
        return none;
    refine(density, r, count, &best);
    double here = gain(density, r, count, 1, best.shift, best.q);
    double up = gain(density, r, count, 1, best.shift + CURVE, best.q);
    double down = gain(density, r, count, 1, best.shift - CURVE, best.q);
    double step = CURVE * EK_RESIDUAL_BIN, curvature = (2 * here - up - down) / (step * step);
    struct ek_alignment found = {best.shift * EK_RESIDUAL_BIN, best.q, best.gain, NO_ERROR};
    if (curvature > 0) {
        found.shift_ln += (up - down) / (2 * step) / curvature;
        found.error_ln = 1 / sqrt(curvature);
    }
    return found;
}

double ek_align_known(const float *density, const float *r, const float *offset, int count)
{
    double total = 0;
    for (int i = 0; i < count; i++) {
        double before = at(density, ek_residual_bin(r[i]));
        double after = at(density, ek_residual_bin(r[i] - offset[i]));
        total += log(KNOWN_MISSES + (1 - KNOWN_MISSES) * after / before);
    }
    return total;
}

double ek_align_share(const float *density, const float *r, int count, double shift_ln)
{
    int shift = (int)lround(shift_ln / EK_RESIDUAL_BIN);
    double q = .5;
    for (int round = 0; round < 20 && count > 0; round++)
        q = share_at(density, r, count, shift, q);
    return q;
}
