#include "detect/explain.h"

#include "num/exp.h"
#include "num/ln.h"

#include <math.h>

enum {
    SHARE_STEPS = 6, /* of Newton's method */
    GRID = 24,       /* values tried of a number, before the search in between */
    SECTIONS = 10,   /* golden sections */
    NODES = 5
};
static const double GOLDEN = .61803398875;
static const double SHARE_MIN = .02;
static const double SCALE_REACH = .3;    /* ln, around a first estimate */
static const double POWER_MOST_LN = 1.6; /* exponents of 1/5 to 5 */
/* Offsets tried, as parts of the usual level; a value below what was added cannot be. */
static const double OFFSET_MOST = 20, OFFSET_LEAST = .03, OFFSET_DOWN_MOST = 3, REST_LEAST = .02;
/* Five equally likely values of a normal law, scaled to a standard deviation of 1. */
static const double NODE[NODES] = {-1.4187, -.5316, 0, .5316, 1.4187};

/* out[i]: density in training of a list with that level and move of the spread. */
static void densities_of(const struct ek_told *t, const double *level, const double *move,
                         double *out)
{
    double law[EK_EXPLAIN_LISTS];
    for (int i = 0; i < t->lists; i++) {
        double z = move[i] * t->inv_sd[i];
        law[i] = t->peak[i] * ek_exp(-.5 * z * z) + EK_UNEXPLAINED / EK_SPREAD_RANGE;
    }
    for (int i = 0; i < t->lists; i++)
        out[i] = t->density[ek_residual_bin((float)(level[i] - t->usual[i]))] *
                 (isnan(t->move[i]) ? 1 : law[i]);
}

void ek_told_settle(struct ek_told *t)
{
    for (int i = 0; i < t->lists; i++) {
        t->inv_sd[i] = 1 / t->sd[i];
        t->peak[i] = EK_SPREAD_PEAK * t->inv_sd[i];
    }
    densities_of(t, t->level, t->move, t->normal);
}

double ek_explain_penalty(const struct ek_told *t, int numbers)
{
    return .5 * numbers * log(t->lists > 1 ? t->lists : 1);
}

/* An explanation being tried. */
struct trial {
    const struct ek_told *t;
    /* out[i]: density in training of list i as it would have been, per unit of what it is. */
    void (*undo)(const struct trial *trial, double value, double *out);
    double node[NODES][EK_EXPLAIN_LISTS]; /* of an offset: five values for the items of a list */
};

static void undo_power(const struct trial *trial, double exponent, double *out)
{
    const struct ek_told *t = trial->t;
    double level[EK_EXPLAIN_LISTS] = {0}, move[EK_EXPLAIN_LISTS] = {0}, ln = log(exponent);
    for (int i = 0; i < t->lists; i++) {
        level[i] = t->level[i] / exponent;
        move[i] = t->move[i] - ln;
    }
    densities_of(t, level, move, out);
    for (int i = 0; i < t->lists; i++)
        out[i] /= exponent;
}

static void undo_shape(const struct trial *trial, double ratio, double *out)
{
    const struct ek_told *t = trial->t;
    double move[EK_EXPLAIN_LISTS] = {0}, ln = log(ratio);
    for (int i = 0; i < t->lists; i++)
        move[i] = t->move[i] - ln;
    densities_of(t, t->level, move, out);
}

static void undo_scale(const struct trial *trial, double factor, double *out)
{
    const struct ek_told *t = trial->t;
    double level[EK_EXPLAIN_LISTS] = {0}, ln = log(factor);
    for (int i = 0; i < t->lists; i++)
        level[i] = t->level[i] - ln;
    densities_of(t, level, t->move, out);
}

/* Items of a list as a normal law of their ln, at five places. */
static void undo_offset(const struct trial *trial, double added, double *out)
{
    const struct ek_told *t = trial->t;
    double before[NODES][EK_EXPLAIN_LISTS], growth[EK_EXPLAIN_LISTS] = {0};
    double level[EK_EXPLAIN_LISTS] = {0}, squares[EK_EXPLAIN_LISTS] = {0};
    double move[EK_EXPLAIN_LISTS] = {0};
    for (int j = 0; j < NODES; j++) {
        const double *value = trial->node[j];
        for (int i = 0; i < t->lists; i++) {
            double least = REST_LEAST * value[i], rest = value[i] - added;
            before[j][i] = rest > least ? rest : least;
            growth[i] += value[i] / before[j][i] / NODES;
        }
        ek_ln_of(before[j], before[j], (size_t)t->lists);
        for (int i = 0; i < t->lists; i++) {
            level[i] += before[j][i] / NODES;
            squares[i] += before[j][i] * before[j][i] / NODES;
        }
    }
    for (int i = 0; i < t->lists; i++) {
        double variance = squares[i] - level[i] * level[i];
        move[i] = (variance > 1e-6 ? variance : 1e-6) / (t->spread[i] * t->spread[i]);
    }
    ek_ln_of(move, move, (size_t)t->lists);
    for (int i = 0; i < t->lists; i++)
        move[i] = t->move[i] + .5 * move[i];
    densities_of(t, level, move, out);
    for (int i = 0; i < t->lists; i++)
        out[i] *= growth[i];
}

static double best_share(const double *excess, int lists)
{
    double q = .5;
    for (int round = 0; round < SHARE_STEPS; round++) {
        double slope = 0, curve = 1e-9, from = q;
        for (int i = 0; i < lists; i++) {
            double score = excess[i] / (1 + q * excess[i]);
            slope += score;
            curve += score * score;
        }
        double next = q + slope / curve;
        q = next >= 1 ? 1 : next < SHARE_MIN ? SHARE_MIN : next;
        if (q == from)
            break; /* it would stay there */
    }
    return q;
}

/* Worth of a value with the share of lists that suits it best: concave in the share. */
static double worth_of(const struct trial *trial, double value, double *share)
{
    const struct ek_told *t = trial->t;
    double excess[EK_EXPLAIN_LISTS], worth = 0;
    trial->undo(trial, value, excess);
    for (int i = 0; i < t->lists; i++)
        excess[i] = excess[i] / t->normal[i] - 1;
    double q = *share = best_share(excess, t->lists);
    for (int i = 0; i < t->lists; i++) {
        double ratio = 1 + q * excess[i];
        excess[i] = ratio > 1e-12 ? ratio : 1e-12;
    }
    ek_ln_of(excess, excess, (size_t)t->lists);
    for (int i = 0; i < t->lists; i++)
        worth += excess[i];
    return worth;
}

struct range {
    double low, high; /* of the ln of the value's size */
    double sign;
};

static double at(const struct range *r, double ln)
{
    return r->sign * exp(ln);
}

/* Golden sections between a and b (Kiefer 1953): of two places inside, one is one of the next two.
 */
static double sections(const struct trial *t, const struct range *r, double a, double b)
{
    double x[2] = {b - GOLDEN * (b - a), a + GOLDEN * (b - a)}, worth[2], share;
    worth[0] = worth_of(t, at(r, x[0]), &share);
    worth[1] = worth_of(t, at(r, x[1]), &share);
    for (int i = 0; i < SECTIONS; i++) {
        int left = worth[0] > worth[1]; /* the top lies left of x[1] */
        *(left ? &b : &a) = x[left];
        x[left] = x[!left];
        worth[left] = worth[!left];
        if (i + 1 == SECTIONS)
            break;
        x[!left] = left ? b - GOLDEN * (b - a) : a + GOLDEN * (b - a);
        worth[!left] = worth_of(t, at(r, x[!left]), &share);
    }
    return .5 * (a + b);
}

/* The best value: a grid of logarithms, then golden sections around its best. */
static struct ek_explanation best_of(const struct trial *t, const struct range *r)
{
    double step = (r->high - r->low) / GRID, share, top = -INFINITY, middle = r->low;
    for (int i = 0; i <= GRID; i++) {
        double worth = worth_of(t, at(r, r->low + i * step), &share);
        if (worth > top) {
            top = worth;
            middle = r->low + i * step;
        }
    }
    struct ek_explanation best = {.value = at(r, sections(t, r, middle - step, middle + step))};
    best.worth = worth_of(t, best.value, &best.share) - ek_explain_penalty(t->t, 1);
    return best;
}

struct ek_explanation ek_explain_scale(const struct ek_told *t, double about_ln)
{
    struct trial trial = {.t = t, .undo = undo_scale};
    return best_of(&trial, &(struct range){about_ln - SCALE_REACH, about_ln + SCALE_REACH, 1});
}

struct ek_explanation ek_explain_power(const struct ek_told *t)
{
    struct trial trial = {.t = t, .undo = undo_power};
    return best_of(&trial, &(struct range){-POWER_MOST_LN, POWER_MOST_LN, 1});
}

struct ek_explanation ek_explain_shape(const struct ek_told *t)
{
    struct trial trial = {.t = t, .undo = undo_shape};
    return best_of(&trial, &(struct range){-POWER_MOST_LN, POWER_MOST_LN, 1});
}

struct ek_explanation ek_explain_offset(const struct ek_told *t)
{
    struct trial trial = {.t = t, .undo = undo_offset};
    double usual = 0;
    for (int i = 0; i < t->lists; i++)
        usual += t->usual[i] / t->lists;
    for (int j = 0; j < NODES; j++)
        for (int i = 0; i < t->lists; i++)
            trial.node[j][i] = ek_exp(t->level[i] + t->spread[i] * NODE[j]);
    struct range up = {usual + log(OFFSET_LEAST), usual + log(OFFSET_MOST), 1};
    struct range down = {usual + log(OFFSET_LEAST), usual + log(OFFSET_DOWN_MOST), -1};
    struct ek_explanation added = best_of(&trial, &up), taken = best_of(&trial, &down);
    return added.worth > taken.worth ? added : taken;
}
