#include "detect/align.h"

#include <math.h>
#include <string.h>

enum {
    COARSE_STEP = 4, /* bins */
    TRIES_MOST = 2 * EK_DENSITY_BINS / COARSE_STEP,
    SHARE_STEPS = 4, /* Newton steps for the fraction at one coarse shift */
    CLIMB_STEPS = 30,
    HALVINGS = 8,
    BOUND_STEPS = 8,
    FEW = 4, /* counts up to this are multiplied: 3e4^4 cannot overflow */
};
/* Parameters of a fit, and the bit mask of the free ones. */
enum { SHIFT, SHARE, LEVEL, PARAMETERS };
enum { FREE_SHIFT = 1 << SHIFT, FREE_SHARE = 1 << SHARE, FREE_LEVEL = 1 << LEVEL };

static const double LARGEST_LN = 14; /* a factor of 10^6 */
static const double SHARE_AHEAD = 6; /* ln likelihood by which a fraction must beat all lists */
static const double SHARE_MIN = 1e-4;
static const double NO_ERROR = 9;
static const double NORMAL_95 = 1.959964;
static const double CONVERGED = 1e-4; /* stop when a step gains less ln likelihood */
static const double BOUND_TOLERANCE = .01;
static const double EXPECTED_MIN = .25; /* least fraction of the expected information */
static const double WIDEN_MOST = 3;     /* largest factor by which one step moves a bound */
/* Fraction of lists that a known per-list factor need not explain. */
static const double KNOWN_MISSES = .02;

static double density_at(const float *density, int bin)
{
    return density[bin < 0 ? 0 : bin >= EK_DENSITY_BINS ? EK_DENSITY_BINS - 1 : bin];
}

void ek_residuals_get(struct ek_residuals *h, const float *r, int count)
{
    int lists[EK_DENSITY_BINS] = {0};
    for (int i = 0; i < count; i++)
        lists[ek_residual_bin(r[i])]++;
    h->lists = count;
    h->bins = 0;
    for (int i = 0; i < EK_DENSITY_BINS; i++)
        if (lists[i]) {
            h->at[h->bins] = i;
            h->count[h->bins++] = lists[i];
        }
}

/* Sum of count * ln x. Multiplies small counts, because a logarithm costs more. */
struct ln_sum {
    double total, product;
};

static void ln_add(struct ln_sum *s, double x, double count)
{
    if (count > FEW) {
        s->total += count * log(x);
        return;
    }
    for (; count > 0; count--)
        s->product *= x;
    if (s->product < 1e-150 || s->product > 1e150) {
        s->total += log(s->product);
        s->product = 1;
    }
}

static double ln_total(const struct ln_sum *s)
{
    return s->total + log(s->product);
}

/* A density shifted by `by`, interpolated linearly between bins. */
struct moved {
    const float *density;
    int bins;
    double part;
};

static struct moved shift_density(const float *density, double by)
{
    double bins = -by / EK_RESIDUAL_BIN, whole = floor(bins);
    return (struct moved){density, (int)whole, bins - whole};
}

static double shifted_density_at(const struct moved *m, int bin, double *slope)
{
    double low = density_at(m->density, bin + m->bins),
           high = density_at(m->density, bin + m->bins + 1);
    *slope = (high - low) / EK_RESIDUAL_BIN;
    return low + m->part * (high - low);
}

struct fit {
    const float *density;
    const struct ek_residuals *h;
    double level_error;
};

struct place {
    double p[PARAMETERS];
    double value; /* ln likelihood ratio against training */
    double gradient[PARAMETERS], information[PARAMETERS][PARAMETERS];
};

/* Compute the value, the gradient and the information matrix at x->p. The information is the sum of
 * squared scores (Berndt et al. 1974). */
static void evaluate(const struct fit *f, struct place *x)
{
    double q = x->p[SHARE],
           precision = f->level_error > 0 ? 1 / f->level_error / f->level_error : 0;
    struct moved normal = shift_density(f->density, x->p[LEVEL]);
    struct moved shifted = shift_density(f->density, x->p[LEVEL] + x->p[SHIFT]);
    struct ln_sum sum = {-.5 * precision * x->p[LEVEL] * x->p[LEVEL], 1};
    memset(x->gradient, 0, sizeof x->gradient);
    memset(x->information, 0, sizeof x->information);
    for (int i = 0; i < f->h->bins; i++) {
        double count = f->h->count[i], slope[2];
        double before = shifted_density_at(&normal, f->h->at[i], &slope[0]);
        double after = shifted_density_at(&shifted, f->h->at[i], &slope[1]);
        double density = (1 - q) * before + q * after;
        double score[PARAMETERS] = {-q * slope[1] / density, (after - before) / density,
                                    -((1 - q) * slope[0] + q * slope[1]) / density};
        ln_add(&sum, density / density_at(f->density, f->h->at[i]), count);
        for (int a = 0; a < PARAMETERS; a++) {
            x->gradient[a] += count * score[a];
            for (int b = 0; b <= a; b++)
                x->information[a][b] += count * score[a] * score[b];
        }
    }
    x->value = ln_total(&sum);
    x->gradient[LEVEL] -= precision * x->p[LEVEL];
    x->information[LEVEL][LEVEL] += precision;
}

double ek_align_gain(const float *density, const struct ek_residuals *h, double shift_ln,
                     double share, double level_ln, double level_error)
{
    struct fit f = {density, h, level_error};
    struct place x = {.p = {shift_ln, share, level_ln}};
    evaluate(&f, &x);
    return x.value;
}

/* Compute the Cholesky factor of the information of the free parameters. Fixed parameters get 1 on
 * the diagonal. */
static void factorize(const struct place *x, unsigned free, double l[PARAMETERS][PARAMETERS])
{
    for (int a = 0; a < PARAMETERS; a++)
        for (int b = 0; b <= a; b++) {
            unsigned both = free >> a & free >> b & 1;
            double sum = both ? x->information[a][b] * (a == b ? 1 + 1e-9 : 1) : a == b;
            for (int c = 0; c < b; c++)
                sum -= l[a][c] * l[b][c];
            l[a][b] = a == b ? sqrt(fmax(sum, 1e-12)) : sum / l[b][b];
        }
}

static void solve(const struct place *x, unsigned free, const double *right, double *out)
{
    double l[PARAMETERS][PARAMETERS];
    factorize(x, free, l);
    for (int a = 0; a < PARAMETERS; a++) {
        out[a] = free >> a & 1 ? right[a] : 0;
        for (int b = 0; b < a; b++)
            out[a] -= l[a][b] * out[b];
        out[a] /= l[a][a];
    }
    for (int a = PARAMETERS - 1; a >= 0; a--) {
        for (int b = a + 1; b < PARAMETERS; b++)
            out[a] -= l[b][a] * out[b];
        out[a] /= l[a][a];
    }
}

/* Return the free parameters without a fraction at its bound that the gradient pushes outward. */
static unsigned free_parameters(const struct place *x, unsigned free)
{
    double push = x->gradient[SHARE];
    int stuck = push > 0 ? x->p[SHARE] >= 1 : x->p[SHARE] <= SHARE_MIN;
    return stuck ? free & ~(unsigned)FREE_SHARE : free;
}

static struct place add_step(const struct place *from, const double *step, double part)
{
    struct place to = *from;
    for (int a = 0; a < PARAMETERS; a++)
        to.p[a] += part * step[a];
    to.p[SHARE] = fmin(fmax(to.p[SHARE], SHARE_MIN), 1);
    to.p[SHIFT] = fmin(fmax(to.p[SHIFT], -LARGEST_LN), LARGEST_LN);
    return to;
}

static void climb(const struct fit *f, struct place *x, unsigned free)
{
    for (int round = 0; round < CLIMB_STEPS; round++) {
        double step[PARAMETERS], part = 1, before = x->value;
        solve(x, free_parameters(x, free), x->gradient, step);
        struct place next = *x;
        for (int i = 0; i < HALVINGS; i++, part /= 2) {
            next = add_step(x, step, part);
            evaluate(f, &next);
            if (next.value > before)
                break;
        }
        if (!(next.value > before))
            return;
        *x = next;
        if (x->value < before + CONVERGED)
            return;
    }
}

/* Return the fraction that maximizes the likelihood, which is concave in it. excess [h->bins]:
 * density ratio minus 1 per occupied bin. */
static double best_share(const struct ek_residuals *h, const double *excess)
{
    double q = .5;
    for (int round = 0; round < SHARE_STEPS; round++) {
        double slope = 0, curve = 1e-9;
        for (int i = 0; i < h->bins; i++) {
            double score = excess[i] / (1 + q * excess[i]);
            slope += h->count[i] * score;
            curve += h->count[i] * score * score;
        }
        double next = q + slope / curve;
        q = next > 1 ? .5 * (1 + q) : next < SHARE_MIN ? .5 * q : next;
    }
    return q;
}

/* Set the first and last bin with training data. */
static void find_body(const float *density, int *first, int *last)
{
    const double floor = 1.5 * EK_DENSITY_FLOOR / EK_RESIDUAL_RANGE;
    *first = 0;
    *last = EK_DENSITY_BINS - 1;
    while (*first < *last && density[*first] < floor)
        ++*first;
    while (*last > *first && density[*last] < floor)
        --*last;
}

/* Candidate shifts: every fourth bin that moves some list into the range of the training data. */
struct candidates {
    int first, count;
    double slope[TRIES_MOST]; /* of the ln likelihood at fraction 0 */
};

static int shift_of(const struct candidates *t, int number)
{
    return t->first + number * COARSE_STEP;
}

/* Set excess [h->bins], the density ratio of a shift minus 1. Return its sum over the lists. */
static double compute_excess(const struct fit *f, const double *normal, int shift, double *excess)
{
    const struct ek_residuals *h = f->h;
    double slope = 0;
    for (int i = 0; i < h->bins; i++) {
        excess[i] = density_at(f->density, h->at[i] - shift) * normal[i] - 1;
        slope += h->count[i] * excess[i];
    }
    return slope;
}

static void list_candidates(const struct fit *f, const double *normal, struct candidates *t)
{
    const struct ek_residuals *h = f->h;
    double excess[EK_DENSITY_BINS];
    int reach = (int)(LARGEST_LN / EK_RESIDUAL_BIN), low, high;
    find_body(f->density, &low, &high);
    int first = h->bins ? h->at[0] - high : 0, last = h->bins ? h->at[h->bins - 1] - low : -1;
    t->first = first > -reach ? first : -reach;
    t->count = 0;
    for (int shift = t->first; shift <= last && shift <= reach; shift += COARSE_STEP)
        t->slope[t->count++] = compute_excess(f, normal, shift, excess);
}

/* Remove and return the remaining shift with the steepest slope. */
static int next_candidate(struct candidates *t, double *slope)
{
    int top = 0;
    for (int i = 1; i < t->count; i++)
        if (t->slope[i] > t->slope[top])
            top = i;
    *slope = t->count ? t->slope[top] : 0;
    t->slope[top] = 0;
    return shift_of(t, top);
}

/* Return an approximate maximum: the best fraction of each shift with a positive slope. By Jensen's
 * inequality the slope bounds the gain, so the steepest shifts run first and most are skipped. */
static struct place find_maximum(const struct fit *f)
{
    struct place best = {.p = {0, 0, 0}, .value = 0};
    const struct ek_residuals *h = f->h;
    double normal[EK_DENSITY_BINS], excess[EK_DENSITY_BINS], slope;
    struct candidates tries;
    for (int i = 0; i < h->bins; i++)
        normal[i] = 1 / density_at(f->density, h->at[i]);
    list_candidates(f, normal, &tries);
    for (int shift; shift = next_candidate(&tries, &slope), slope > 0;) {
        if (h->lists * log(1 + slope / h->lists) < best.value)
            break;
        compute_excess(f, normal, shift, excess);
        double q = best_share(h, excess);
        struct ln_sum gain = {0, 1};
        for (int i = 0; i < h->bins; i++)
            ln_add(&gain, 1 + q * excess[i], h->count[i]);
        if (ln_total(&gain) > best.value)
            best = (struct place){.p = {shift * EK_RESIDUAL_BIN, q, 0}, .value = ln_total(&gain)};
    }
    return best;
}

/* Return the root of twice the ln likelihood that a shift by `away` from the maximum loses.
 * A free level starts unchanged or moved by as much the other way, whichever is likelier. */
static double get_loss(const struct fit *f, const struct place *top, double away, unsigned nuisance)
{
    struct place x = *top, y = *top;
    x.p[SHIFT] += away;
    evaluate(f, &x);
    y.p[SHIFT] = x.p[SHIFT];
    y.p[LEVEL] -= away;
    if (nuisance & FREE_LEVEL) {
        evaluate(f, &y);
        x = y.value > x.value ? y : x;
    }
    climb(f, &x, nuisance);
    return sqrt(2 * fmax(top->value - x.value, 0));
}

/* Return the distance from the maximum to one end of the profile likelihood interval. The loss has
 * steps where a climb ends early, so the search stays between the distances that lost too little
 * and too much. */
static double find_bound(const struct fit *f, const struct place *top, double side, double first,
                         unsigned nuisance, double reach)
{
    double away = first, inside = 0, outside = INFINITY;
    for (int round = 0; round < BOUND_STEPS; round++) {
        double more = reach / fmax(get_loss(f, top, side * away, nuisance), 1e-3);
        if (fabs(more - 1) < BOUND_TOLERANCE)
            break;
        *(more > 1 ? &inside : &outside) = away;
        away *= fmin(fmax(more, 1 / WIDEN_MOST), WIDEN_MOST);
        if (away <= inside || away >= outside)
            away = (inside + outside) / 2;
    }
    return fmin(away, NO_ERROR);
}

static void find_interval(const struct fit *f, const struct place *top, unsigned nuisance,
                          double repetition, struct ek_alignment *out)
{
    double unit[PARAMETERS] = {[SHIFT] = 1}, inverse[PARAMETERS];
    double reach = NORMAL_95 * sqrt(fmax(repetition, 1));
    solve(top, free_parameters(top, FREE_SHIFT | nuisance), unit, inverse);
    double first = fmin(reach * sqrt(fmax(inverse[SHIFT], 1e-8)), NO_ERROR);
    out->low_ln = out->shift_ln - find_bound(f, top, -1, first, nuisance, reach);
    out->high_ln = out->shift_ln + find_bound(f, top, 1, first, nuisance, reach);
    out->error_ln = (out->high_ln - out->low_ln) / (2 * NORMAL_95);
}

/* Replace the fraction by a shift of all lists if that shift is preferred (align.h). Return whether
 * it was replaced. */
static int is_whole(const struct fit *f, double whole_ln, struct place *top)
{
    struct place all = {.p = {top->p[SHIFT] * top->p[SHARE], 1, 0}};
    if (!(whole_ln > 0))
        return 0;
    evaluate(f, &all);
    climb(f, &all, FREE_SHIFT);
    if (fabs(all.p[SHIFT]) > whole_ln || all.value < top->value - SHARE_AHEAD)
        return 0;
    *top = all;
    return 1;
}

struct ek_alignment ek_align(const float *density, const struct ek_residuals *h,
                             const struct ek_align_known *known)
{
    struct ek_alignment found = {0, 0, 0, -NO_ERROR, NO_ERROR, NO_ERROR};
    struct fit f = {density, h, known->level_error};
    unsigned nuisance = FREE_SHARE | (known->level_error > 0 ? FREE_LEVEL : 0);
    struct place top = find_maximum(&f);
    if (top.value <= 0)
        return found;
    evaluate(&f, &top);
    climb(&f, &top, FREE_SHIFT | nuisance);
    if (top.p[SHARE] < 1 && is_whole(&f, known->whole_ln, &top))
        nuisance &= ~(unsigned)FREE_SHARE;
    found.shift_ln = top.p[SHIFT];
    found.share = top.p[SHARE];
    found.gain_ln = top.value;
    find_interval(&f, &top, nuisance, known->repetition, &found);
    return found;
}

/* Return the Fisher information of one list on its level. */
static double get_expected_information(const float *density)
{
    double sum = 0;
    for (int i = 1; i < EK_DENSITY_BINS; i++) {
        double slope = (double)(density[i] - density[i - 1]) / EK_RESIDUAL_BIN;
        sum += slope * slope / (.5 * (double)(density[i] + density[i - 1])) * EK_RESIDUAL_BIN;
    }
    return sum;
}

double ek_align_level(const float *density, const struct ek_residuals *h, double level_error,
                      double *error)
{
    struct fit f = {density, h, level_error};
    struct place x = {.p = {0, 0, 0}};
    evaluate(&f, &x);
    climb(&f, &x, FREE_LEVEL);
    /* Lists that all lie at the mode have no squared scores. */
    double least = EXPECTED_MIN * h->lists * get_expected_information(density);
    *error = 1 / sqrt(fmax(x.information[LEVEL][LEVEL], least));
    return x.p[LEVEL];
}

double ek_align_by_list(const float *density, const float *r, const float *offset, int count)
{
    double total = 0;
    for (int i = 0; i < count; i++) {
        double before = density_at(density, ek_residual_bin(r[i]));
        double after = density_at(density, ek_residual_bin(r[i] - offset[i]));
        total += log(KNOWN_MISSES + (1 - KNOWN_MISSES) * after / before);
    }
    return total;
}
