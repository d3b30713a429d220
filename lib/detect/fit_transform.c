/* Fit of each transformation. A factor on some items of a list is the most expensive one.
 *
 * The number of affected items of a list is unknown, so its likelihood is a sum over all plausible
 * numbers. The effect of a number depends only on the size of the list and is computed once per
 * size. A search point is dropped once its upper bound falls below the best value, which does not
 * change the result.
 */
#include "detect/fit_transform.h"

#include "num/exp.h"
#include "num/ln.h"

#include <math.h>

enum {
    SHARE_STEPS = 6, /* of Newton's method */
    GRID = 24,       /* grid points before golden-section search */
    SECTIONS = 10,   /* golden-section steps */
    NODES = 5
};
static const double GOLDEN = .61803398875;
static const double SHARE_MIN = .02;
static const double SCALE_REACH = .3;    /* ln, around the first estimate */
static const double POWER_MOST_LN = 1.6; /* exponents of 1/5 to 5 */
/* Offsets tried, as multiples of the usual level. A value cannot be smaller than the offset that
 * was added to it. */
static const double OFFSET_MOST = 20, OFFSET_LEAST = .03, OFFSET_DOWN_MOST = 3, REST_LEAST = .02;
/* Five equally likely values of a normal distribution, scaled to standard deviation 1. */
static const double NODE[NODES] = {-1.4187, -.5316, 0, .5316, 1.4187};

/* Set out[i] to the training density of a list with this level and change of spread. */
static void densities_of(const struct ek_fit_target *t, const double *level, const double *move,
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

void ek_fit_target_prepare(struct ek_fit_target *t)
{
    for (int i = 0; i < t->lists; i++) {
        t->inv_sd[i] = 1 / t->sd[i];
        t->peak[i] = EK_SPREAD_PEAK * t->inv_sd[i];
    }
    densities_of(t, t->level, t->move, t->normal);
}

static double explain_penalty(const struct ek_fit_target *t, int numbers)
{
    return .5 * numbers * log(t->lists > 1 ? t->lists : 1);
}

struct trial {
    const struct ek_fit_target *t;
    double shift_ln; /* of all levels, for a change of shape */
    /* Set out[i] to the training density of list i with the transformation undone, including the
     * Jacobian. */
    void (*undo)(const struct trial *trial, double value, double *out);
    double node[NODES][EK_EXPLAIN_LISTS]; /* for an offset: five values that represent the items of
                                           * a list */
};

static void undo_power(const struct trial *trial, double exponent, double *out)
{
    const struct ek_fit_target *t = trial->t;
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
    const struct ek_fit_target *t = trial->t;
    double level[EK_EXPLAIN_LISTS] = {0}, move[EK_EXPLAIN_LISTS] = {0}, ln = log(ratio);
    for (int i = 0; i < t->lists; i++) {
        level[i] = t->level[i] - trial->shift_ln;
        move[i] = t->move[i] - ln;
    }
    densities_of(t, level, move, out);
}

static void undo_scale(const struct trial *trial, double factor, double *out)
{
    const struct ek_fit_target *t = trial->t;
    double level[EK_EXPLAIN_LISTS] = {0}, ln = log(factor);
    for (int i = 0; i < t->lists; i++)
        level[i] = t->level[i] - ln;
    densities_of(t, level, t->move, out);
}

/* Undo an offset. The ln values of the items are approximated by a normal distribution at five
 * points. */
static void undo_offset(const struct trial *trial, double added, double *out)
{
    const struct ek_fit_target *t = trial->t;
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
        ek_ln_compute(before[j], before[j], (size_t)t->lists);
        for (int i = 0; i < t->lists; i++) {
            level[i] += before[j][i] / NODES;
            squares[i] += before[j][i] * before[j][i] / NODES;
        }
    }
    for (int i = 0; i < t->lists; i++) {
        double variance = squares[i] - level[i] * level[i];
        move[i] = (variance > 1e-6 ? variance : 1e-6) / (t->spread[i] * t->spread[i]);
    }
    ek_ln_compute(move, move, (size_t)t->lists);
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
            break;
    }
    return q;
}

/* Return the ln likelihood of a value at its best fraction of lists, in which it is concave. */
static double worth_of(const struct trial *trial, double value, double *share)
{
    const struct ek_fit_target *t = trial->t;
    double excess[EK_EXPLAIN_LISTS], worth = 0;
    trial->undo(trial, value, excess);
    for (int i = 0; i < t->lists; i++)
        excess[i] = excess[i] / t->normal[i] - 1;
    double q = *share = best_share(excess, t->lists);
    for (int i = 0; i < t->lists; i++) {
        double ratio = 1 + q * excess[i];
        excess[i] = ratio > 1e-12 ? ratio : 1e-12;
    }
    ek_ln_compute(excess, excess, (size_t)t->lists);
    for (int i = 0; i < t->lists; i++)
        worth += excess[i];
    return worth;
}

struct range {
    double low, high; /* of ln |value| */
    double sign;
};

static double value_at(const struct range *r, double ln)
{
    return r->sign * exp(ln);
}

/* Golden-section search between a and b (Kiefer 1953). Each step reuses one of the two inner
 * points. */
static double search_sections(const struct trial *t, const struct range *r, double a, double b)
{
    double x[2] = {b - GOLDEN * (b - a), a + GOLDEN * (b - a)}, worth[2], share;
    worth[0] = worth_of(t, value_at(r, x[0]), &share);
    worth[1] = worth_of(t, value_at(r, x[1]), &share);
    for (int i = 0; i < SECTIONS; i++) {
        int left = worth[0] > worth[1]; /* the maximum is left of x[1] */
        *(left ? &b : &a) = x[left];
        x[left] = x[!left];
        worth[left] = worth[!left];
        if (i + 1 == SECTIONS)
            break;
        x[!left] = left ? b - GOLDEN * (b - a) : a + GOLDEN * (b - a);
        worth[!left] = worth_of(t, value_at(r, x[!left]), &share);
    }
    return .5 * (a + b);
}

/* Return the best value: a grid over the logarithm, then golden-section search around its
 * maximum. */
static struct ek_explanation best_of(const struct trial *t, const struct range *r)
{
    double step = (r->high - r->low) / GRID, share, top = -INFINITY, middle = r->low;
    for (int i = 0; i <= GRID; i++) {
        double worth = worth_of(t, value_at(r, r->low + i * step), &share);
        if (worth > top) {
            top = worth;
            middle = r->low + i * step;
        }
    }
    struct ek_explanation best = {
        .value = value_at(r, search_sections(t, r, middle - step, middle + step))};
    best.worth = worth_of(t, best.value, &best.share) - explain_penalty(t->t, 1);
    return best;
}

struct ek_explanation ek_explain_scale(const struct ek_fit_target *t, double about_ln)
{
    struct trial trial = {.t = t, .undo = undo_scale};
    return best_of(&trial, &(struct range){about_ln - SCALE_REACH, about_ln + SCALE_REACH, 1});
}

struct ek_explanation ek_explain_power(const struct ek_fit_target *t)
{
    struct trial trial = {.t = t, .undo = undo_power};
    return best_of(&trial, &(struct range){-POWER_MOST_LN, POWER_MOST_LN, 1});
}

struct ek_explanation ek_explain_shape(const struct ek_fit_target *t, double shift_ln)
{
    struct trial trial = {.t = t, .shift_ln = shift_ln, .undo = undo_shape};
    return best_of(&trial, &(struct range){-POWER_MOST_LN, POWER_MOST_LN, 1});
}

struct ek_explanation ek_explain_offset(const struct ek_fit_target *t)
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

enum {
    CLIMB_STEPS = 8,
    ITEMS_NUMBERS = 2, /* parameters: fraction of items and factor */
    HITS_MOST = 160,   /* capacity; the distributions below need 116 numbers of hits */
    GRID_MOST = 40,
    TASTE = 16, /* lists used to order the grid points */
    CHUNK = 16  /* lists between two bound checks; 1e-12^16 does not underflow */
};
static const double ITEMS_LEAST = .005, ITEMS_MOST = .99, ITEMS_STEP = 1.4, CHANCE_LEAST = 1e-5,
                    FACTOR_MOST_LN = 14, SQUARE_LEAST = 1e-3, RATIO_LEAST = 1e-12;
static const double EVENLY = EK_UNEXPLAINED / EK_SPREAD_RANGE;
/* Standard deviations beyond which the normal density is negligible next to the uniform part. */
static const double FAR = 9;
/* Numbers of hits further from the mean, or rarer relative to the most likely number, are
 * skipped. */
static const double REACH = 6.5, CHANCE_TAIL = 1e-9;
/* From this variance on, the number of hits is approximated as normal (de Moivre), with this step
 * in standard deviations. */
static const double NORMAL_VARIANCE = 64, NORMAL_STEP = .25;
static const double ROUNDING = 1e-6; /* tolerance of a bound */

/* A number of affected items and its effect on a list: the level shifts and the spread grows. */
struct hit {
    double number, chance, bins, spread, inv_sd,
        peak; /* bins: shift of the level, in density bins */
};

/* Distribution of the number of affected items for lists of one size. */
struct hits {
    int count;
    struct hit hit[HITS_MOST];
};

struct sorted {
    const struct ek_fit_target *t;
    int list[EK_EXPLAIN_LISTS];
    int sizes, end[EK_EXPLAIN_LISTS]; /* end of each size in `list` */
    double normal_ln[EK_EXPLAIN_LISTS], density_most, sign;
};

/* A search point: ln of the probability and ln of |ln factor|. */
struct place {
    double p_ln, f_ln, worth;
};

static void sort_lists(struct sorted *s, const struct ek_fit_target *t)
{
    s->t = t;
    s->sizes = 0;
    s->density_most = 0;
    for (int i = 0; i < t->lists; i++) {
        int at = i;
        for (; at > 0 && t->items[s->list[at - 1]] < t->items[i]; at--)
            s->list[at] = s->list[at - 1];
        s->list[at] = i;
    }
    for (int n = 0; n < t->lists; n++) {
        s->normal_ln[n] = t->normal[s->list[n]];
        if (n + 1 == t->lists || t->items[s->list[n]] != t->items[s->list[n + 1]])
            s->end[s->sizes++] = n + 1;
    }
    ek_ln_compute(s->normal_ln, s->normal_ln, (size_t)t->lists);
    for (int i = 0; i < EK_DENSITY_BINS; i++)
        s->density_most = fmax(s->density_most, (double)t->density[i]);
}

/* Append a number of hits; `chance` is not yet normalized. */
static void add_hit(struct hits *h, double number, double chance)
{
    if (h->count < HITS_MOST)
        h->hit[h->count++] = (struct hit){.number = number, .chance = chance};
}

/* Set the distribution of hits among k items, each with probability p. */
static void numbers_of(struct hits *h, int k, double p)
{
    double mean = k * p, sd = sqrt(mean * (1 - p)), chance = 1, largest = 1;
    h->count = 0;
    if (sd * sd > NORMAL_VARIANCE) {
        for (double z = -REACH; z <= REACH; z += NORMAL_STEP)
            add_hit(h, fmin(fmax(mean + z * sd, 0), k), ek_exp(-.5 * z * z));
        return;
    }
    for (int hit = (int)fmax(mean - REACH * sd - 1, 0); hit <= k; hit++) {
        if (hit > mean && chance < CHANCE_TAIL * largest)
            break;
        largest = fmax(largest, chance);
        add_hit(h, hit, chance);
        chance *= (k - hit) / (hit + 1.) * p / (1 - p);
    }
}

/* Return the variance added to the items of a list when a fraction of them is multiplied by e^f. */
static double apart_by(double part, double f, double k)
{
    return k > 1 ? part * (1 - part) * f * f * k / (k - 1) : 0;
}

/* Compute the effect of h->number hits: the level shifts by a fraction of f and the spread
 * grows. */
static void finish_hit(struct hit *h, const struct ek_fit_target *t, int list, double f)
{
    double k = t->items[list], part = h->number / k, typical = t->typical[list];
    double own = typical * typical, apart = apart_by(part, f, k);
    double both = own + apart, kept = t->sd[list] * own / both;
    h->bins = part * f / EK_RESIDUAL_BIN;
    h->spread = .5 * log(both / own);
    h->inv_sd = 1 / sqrt(kept * kept + own * apart / k / (both * both));
    h->peak = EK_SPREAD_PEAK * h->inv_sd;
}

static void hits_of(struct hits *h, const struct ek_fit_target *t, int list, double p, double f)
{
    double sum = 0;
    int kept = 0;
    numbers_of(h, t->items[list], p);
    for (int i = 0; i < h->count; i++)
        sum += h->hit[i].chance;
    for (int i = 0; i < h->count; i++) {
        struct hit x = h->hit[i];
        x.chance /= sum;
        if (!(x.chance > CHANCE_LEAST))
            continue;
        finish_hit(&x, t, list, f);
        h->hit[kept++] = x;
    }
    h->count = kept;
}

/* Return an upper bound of the density of lists of one size. The spread distribution is narrowest
 * at the smallest or the largest added variance (finish_hit). */
static double density_bound(const struct sorted *s, int list, double f)
{
    const struct ek_fit_target *t = s->t;
    double k = t->items[list], sd = t->sd[list];
    double apart = apart_by(.5, f, k) / (t->typical[list] * t->typical[list]), both = 1 + apart;
    double narrowest = sqrt(fmin(sd * sd, (sd * sd + apart / k) / (both * both)));
    return s->density_most * fmax(EK_SPREAD_PEAK / narrowest + EVENLY, 1);
}

static double density_of(const struct ek_fit_target *t, int list, const struct hits *h)
{
    double total = 0, move = t->move[list];
    double from = (t->level[list] - t->usual[list] - EK_RESIDUAL_LOW) / EK_RESIDUAL_BIN;
    for (int i = 0; i < h->count; i++) {
        const struct hit *x = &h->hit[i];
        double z = (move - x->spread) * x->inv_sd, law = isnan(move) ? 1 : EVENLY;
        double bin = from - x->bins, last = EK_DENSITY_BINS - 1;
        bin = bin > 0 ? bin : 0;
        if (fabs(z) < FAR)
            law += x->peak * ek_exp(-.5 * z * z);
        total += x->chance * t->density[(int)(bin < last ? bin : last)] * law;
    }
    return total;
}

/* Set ln [sizes] to the bound of each size. Return the sum over all lists, relative to no
 * change. */
static double bounds_of(const struct sorted *s, double f, double *ln)
{
    double total = 0;
    for (int j = 0; j < s->sizes; j++)
        ln[j] = density_bound(s, s->list[s->end[j] - 1], f);
    ek_ln_compute(ln, ln, (size_t)s->sizes);
    for (int j = 0, n = 0; j < s->sizes; j++)
        for (; n < s->end[j]; n++)
            total += ln[j] - s->normal_ln[n];
    return total;
}

/* Return the worth over the first `lists` lists, or -INFINITY if it is certainly below `least`. */
static double place_worth(const struct sorted *s, const struct place *x, int lists, double least)
{
    double worth = -explain_penalty(s->t, ITEMS_NUMBERS), ratios = 1;
    double p = exp(x->p_ln), f = s->sign * exp(x->f_ln), most_ln[EK_EXPLAIN_LISTS];
    struct hits h;
    if (p > ITEMS_MOST || p < ITEMS_LEAST || fabs(f) > FACTOR_MOST_LN)
        return -INFINITY;
    double rest = bounds_of(s, f, most_ln);
    for (int j = 0, n = 0; n < lists; j++) {
        hits_of(&h, s->t, s->list[n], p, f);
        for (; n < s->end[j] && n < lists; n++) {
            double ratio = density_of(s->t, s->list[n], &h) / s->t->normal[s->list[n]];
            ratios *= fmax(ratio, RATIO_LEAST);
            rest -= most_ln[j] - s->normal_ln[n];
            if (n % CHUNK != CHUNK - 1)
                continue;
            worth += log(ratios);
            ratios = 1;
            if (worth + rest < least - ROUNDING)
                return -INFINITY;
        }
    }
    return worth + log(ratios);
}

/* Climb in steps along either parameter, halved when no step improves (Hooke and Jeeves 1961). */
static void climb(const struct sorted *s, struct place *best)
{
    double step = log(ITEMS_STEP) / 2;
    for (int round = 0; round < CLIMB_STEPS; round++) {
        struct place from = *best;
        for (int side = 0; side < 4; side++) {
            struct place next = from;
            *(side < 2 ? &next.p_ln : &next.f_ln) += side % 2 ? step : -step;
            next.worth = place_worth(s, &next, s->t->lists, best->worth);
            if (next.worth > best->worth)
                *best = next;
        }
        if (!(best->worth > from.worth))
            step /= 2;
    }
}

static void means_of(const struct ek_fit_target *t, double *level, double *square)
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

/* Fill the grid. For each probability one factor explains the shift of the level and one explains
 * the increase of the spread. */
static int grid_of(const struct sorted *s, double level, double square, struct place *grid)
{
    int count = 0;
    for (double p = ITEMS_LEAST; p < ITEMS_MOST; p *= ITEMS_STEP)
        for (int way = 0; way < 2 && count < GRID_MOST; way++) {
            double f = way ? sqrt(square / (p * (1 - p))) : fabs(level) / p;
            grid[count++] = (struct place){log(p), log(fmax(f, 1e-3)), 0};
        }
    int taste = s->t->lists < TASTE ? s->t->lists : TASTE;
    for (int i = 0; i < count; i++)
        grid[i].worth = place_worth(s, &grid[i], taste, -INFINITY);
    return count;
}

/* Return the best grid point. The most promising points run first, so the others stop early. */
static struct place best_place(const struct sorted *s, struct place *grid, int count)
{
    struct place best = {0, 0, -INFINITY};
    for (; count > 0; count--) {
        int top = 0;
        for (int i = 1; i < count; i++)
            if (grid[i].worth > grid[top].worth)
                top = i;
        struct place next = grid[top];
        grid[top] = grid[count - 1];
        next.worth = place_worth(s, &next, s->t->lists, best.worth);
        if (next.worth > best.worth)
            best = next;
    }
    return best;
}

struct ek_explanation ek_explain_items(const struct ek_fit_target *t)
{
    double level, square;
    struct sorted s;
    struct place grid[GRID_MOST];
    means_of(t, &level, &square);
    sort_lists(&s, t);
    s.sign = level < 0 ? -1 : 1;
    struct place best = best_place(&s, grid, grid_of(&s, level, square, grid));
    climb(&s, &best);
    return (struct ek_explanation){best.worth, exp(best.p_ln), 1};
}
