#include "decide/explain.h"

#include <math.h>

enum {
    SHARE_STEPS = 6, /* of Newton's method */
    GRID = 24,       /* values tried of a number, before the search in between */
    SECTIONS = 10,   /* golden sections */
    NODES = 5,
    HIT_STEPS = 8,
    ITEMS_NUMBERS = 2 /* share of items and factor */
};
static const double GOLDEN = .61803398875;
static const double UNEXPLAINED = .02; /* of the lists follow no law */
static const double SPREAD_RANGE = 8;  /* ln, over which those are spread evenly */
static const double SHARE_MIN = .02;
static const double SCALE_REACH = .3;    /* ln, around a first estimate */
static const double POWER_MOST_LN = 1.6; /* exponents of 1/5 to 5 */
/* Offsets tried, as parts of the usual level; a value below what was added cannot be. */
static const double OFFSET_MOST = 20, OFFSET_LEAST = .03, OFFSET_DOWN_MOST = 3, REST_LEAST = .02;
static const double ITEMS_LEAST = .005, ITEMS_MOST = .99, ITEMS_STEP = 1.4, CHANCE_LEAST = 1e-5,
                    FACTOR_MOST_LN = 14, SQUARE_LEAST = 1e-3;
/* Five equally likely values of a normal law, scaled to a standard deviation of 1. */
static const double NODE[NODES] = {-1.4187, -.5316, 0, .5316, 1.4187};

static double spread_density(double move, double sd)
{
    double z = move / sd;
    return (1 - UNEXPLAINED) * exp(-.5 * z * z) / (sd * sqrt(2 * M_PI)) +
           UNEXPLAINED / SPREAD_RANGE;
}

static double density_of(const struct ek_told *t, int i, double level, double move)
{
    double g = t->density[ek_residual_bin((float)(level - t->usual[i]))];
    return isnan(move) ? g : g * spread_density(move, t->sd[i]);
}

void ek_told_settle(struct ek_told *t)
{
    for (int i = 0; i < t->lists; i++)
        t->normal[i] = density_of(t, i, t->level[i], t->move[i]);
}

static double penalty(const struct ek_told *t, int numbers)
{
    return .5 * numbers * log(t->lists > 1 ? t->lists : 1);
}

/* Density in training of list i as it would have been, per unit of what it is. */
typedef double undo(const struct ek_told *t, int i, double value);

static double undo_power(const struct ek_told *t, int i, double exponent)
{
    double level = t->level[i] / exponent;
    return density_of(t, i, level, t->move[i] - log(exponent)) / exponent;
}

static double undo_shape(const struct ek_told *t, int i, double ratio)
{
    return density_of(t, i, t->level[i], t->move[i] - log(ratio));
}

static double undo_scale(const struct ek_told *t, int i, double factor)
{
    return density_of(t, i, t->level[i] - log(factor), t->move[i]);
}

/* Items of a list as a normal law of their ln, at five places. */
static double undo_offset(const struct ek_told *t, int i, double added)
{
    double sum = 0, squares = 0, growth = 0, here = t->spread[i];
    for (int j = 0; j < NODES; j++) {
        double value = exp(t->level[i] + here * NODE[j]);
        double before = fmax(value - added, REST_LEAST * value), ln = log(before);
        sum += ln / NODES;
        squares += ln * ln / NODES;
        growth += value / before / NODES;
    }
    double spread = sqrt(fmax(squares - sum * sum, 1e-6));
    return density_of(t, i, sum, t->move[i] + log(spread / here)) * growth;
}

/* Worth of a value with the share of lists that suits it best: concave in the share. */
static double worth_of(const struct ek_told *t, undo *undone, double value, double *share)
{
    double excess[EK_EXPLAIN_LISTS], q = .5, worth = 0;
    for (int i = 0; i < t->lists; i++)
        excess[i] = undone(t, i, value) / t->normal[i] - 1;
    for (int round = 0; round < SHARE_STEPS; round++) {
        double slope = 0, curve = 1e-9;
        for (int i = 0; i < t->lists; i++) {
            double score = excess[i] / (1 + q * excess[i]);
            slope += score;
            curve += score * score;
        }
        double next = q + slope / curve;
        q = next >= 1 ? 1 : next < SHARE_MIN ? SHARE_MIN : next;
    }
    for (int i = 0; i < t->lists; i++)
        worth += log(fmax(1 + q * excess[i], 1e-12));
    *share = q;
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

/* The best value: a grid of logarithms, then golden sections around its best (Kiefer 1953). */
static struct ek_explanation best_of(const struct ek_told *t, undo *undone, const struct range *r)
{
    double step = (r->high - r->low) / GRID, share, top = -INFINITY, middle = r->low;
    for (int i = 0; i <= GRID; i++) {
        double worth = worth_of(t, undone, at(r, r->low + i * step), &share);
        if (worth > top) {
            top = worth;
            middle = r->low + i * step;
        }
    }
    double a = middle - step, b = middle + step;
    for (int i = 0; i < SECTIONS; i++) {
        double left = b - GOLDEN * (b - a), right = a + GOLDEN * (b - a);
        if (worth_of(t, undone, at(r, left), &share) > worth_of(t, undone, at(r, right), &share))
            b = right;
        else
            a = left;
    }
    struct ek_explanation best = {.value = at(r, .5 * (a + b))};
    best.worth = worth_of(t, undone, best.value, &best.share) - penalty(t, 1);
    return best;
}

struct ek_explanation ek_explain_scale(const struct ek_told *t, double about_ln)
{
    return best_of(t, undo_scale,
                   &(struct range){about_ln - SCALE_REACH, about_ln + SCALE_REACH, 1});
}

struct ek_explanation ek_explain_power(const struct ek_told *t)
{
    return best_of(t, undo_power, &(struct range){-POWER_MOST_LN, POWER_MOST_LN, 1});
}

struct ek_explanation ek_explain_shape(const struct ek_told *t)
{
    return best_of(t, undo_shape, &(struct range){-POWER_MOST_LN, POWER_MOST_LN, 1});
}

struct ek_explanation ek_explain_offset(const struct ek_told *t)
{
    double usual = 0;
    for (int i = 0; i < t->lists; i++)
        usual += t->usual[i] / t->lists;
    struct range up = {usual + log(OFFSET_LEAST), usual + log(OFFSET_MOST), 1};
    struct range down = {usual + log(OFFSET_LEAST), usual + log(OFFSET_DOWN_MOST), -1};
    struct ek_explanation added = best_of(t, undo_offset, &up);
    struct ek_explanation taken = best_of(t, undo_offset, &down);
    return added.worth > taken.worth ? added : taken;
}

/* What a hit of `hit` of the k items of a list does, ln factor f: the level moves by a part of f,
 * and the spread grows by what the parts are apart. */
struct hits {
    double shift, spread, sd;
};

static struct hits hits_of(const struct ek_told *t, int i, int hit, double f)
{
    double k = t->items[i], part = hit / k, typical = t->typical[i];
    double own = typical * typical, apart = k > 1 ? part * (1 - part) * f * f * k / (k - 1) : 0;
    double both = own + apart, kept = t->sd[i] * own / both;
    return (struct hits){part * f, .5 * log(both / own),
                         sqrt(kept * kept + own * apart / k / (both * both))};
}

/* Density of a list when each of its items is hit with probability p: a sum over how many were. */
static double density_of_hits(const struct ek_told *t, int i, double p, double f)
{
    int k = t->items[i];
    double total = 0, chance = pow(1 - p, k);
    for (int hit = 0; hit <= k; hit++) {
        if (chance > CHANCE_LEAST) {
            struct hits h = hits_of(t, i, hit, f);
            double level = t->level[i] - h.shift, move = t->move[i];
            double g = t->density[ek_residual_bin((float)(level - t->usual[i]))];
            total += chance * g * (isnan(move) ? 1 : spread_density(move - h.spread, h.sd));
        }
        chance *= (k - hit) / (hit + 1.) * p / (1 - p);
    }
    return total;
}

/* A place of the search: ln of the probability, ln of the size of the ln factor. */
struct hit_place {
    double p_ln, f_ln, worth;
};

static double worth_of_hits(const struct ek_told *t, const struct hit_place *x, double sign)
{
    double worth = -penalty(t, ITEMS_NUMBERS), p = exp(x->p_ln), f = sign * exp(x->f_ln);
    if (p > ITEMS_MOST || p < ITEMS_LEAST || fabs(f) > FACTOR_MOST_LN)
        return -INFINITY;
    for (int i = 0; i < t->lists; i++)
        worth += log(fmax(density_of_hits(t, i, p, f) / t->normal[i], 1e-12));
    return worth;
}

/* Uphill in steps along either number, halved when none helps (Hooke and Jeeves 1961). */
static void climb_hits(const struct ek_told *t, struct hit_place *best, double sign)
{
    double step = log(ITEMS_STEP) / 2;
    for (int round = 0; round < HIT_STEPS; round++) {
        struct hit_place from = *best;
        for (int side = 0; side < 4; side++) {
            struct hit_place next = from;
            *(side < 2 ? &next.p_ln : &next.f_ln) += side % 2 ? step : -step;
            next.worth = worth_of_hits(t, &next, sign);
            if (next.worth > best->worth)
                *best = next;
        }
        if (!(best->worth > from.worth))
            step /= 2;
    }
}

/* How far the level moved on average, and what was added to the square of the spread. */
static void means_of(const struct ek_told *t, double *level, double *square)
{
    double known = 0;
    *level = *square = 0;
    for (int i = 0; i < t->lists; i++) {
        *level += (t->level[i] - t->usual[i]) / t->lists;
        if (!isnan(t->move[i])) {
            *square += t->spread[i] * t->spread[i] - t->typical[i] * t->typical[i];
            known++;
        }
    }
    *square = fmax(*square / fmax(known, 1), SQUARE_LEAST);
}

/* For every probability there is a factor that moves the level as it moved, and one that spreads
 * the lists as they are spread. */
struct ek_explanation ek_explain_items(const struct ek_told *t)
{
    double level, square;
    means_of(t, &level, &square);
    double sign = level < 0 ? -1 : 1;
    struct hit_place best = {0, 0, -INFINITY};
    for (double p = ITEMS_LEAST; p < ITEMS_MOST; p *= ITEMS_STEP)
        for (int way = 0; way < 2; way++) {
            double f = way ? sqrt(square / (p * (1 - p))) : fabs(level) / p;
            struct hit_place next = {log(p), log(fmax(f, 1e-3)), 0};
            next.worth = worth_of_hits(t, &next, sign);
            if (next.worth > best.worth)
                best = next;
        }
    climb_hits(t, &best, sign);
    return (struct ek_explanation){best.worth, exp(best.p_ln), 1};
}
