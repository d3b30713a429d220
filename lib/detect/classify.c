#include "detect/classify.h"

#include "detect/fit_transform.h"
#include "num/ln.h"

#include <math.h>
#include <string.h>

/* Differences below these, or below ERRORS standard errors, are equal. */
static const double ERRORS = 3, LEVEL = .1, SPREAD = .04, SHARE = .02, PART = .05;

static int is_near(double a, double b, double error, double least)
{
    return fabs(a - b) <= fmax(ERRORS * error, least);
}

/* Compare mean spreads by test value or by ratio, and the fractions of incoherent lists. */
static int spreads_alike(const struct ek_diagnosis *then, const struct ek_diagnosis *now)
{
    double a = then->lists, b = now->lists;
    if (!(a > 0 && b > 0))
        return a == b;
    double p = (then->incoherent * a + now->incoherent * b) / (a + b), both = 1 / a + 1 / b;
    return (is_near(then->spread_test / sqrt(a), now->spread_test / sqrt(b), sqrt(both), 0) ||
            is_near(log(then->spread_ratio), log(now->spread_ratio), 0, SPREAD)) &&
           is_near(then->incoherent, now->incoherent, sqrt(p * (1 - p) * both), SHARE);
}

/* Compare levels by shift, share and gain per list: the square of a standard error has 1 / lists.
 * ln of a normal density has variance 1/2, so the gains of equally good fits differ by about
 * sqrt(measured). */
static int levels_alike(const struct ek_diagnosis *then, const struct ek_diagnosis *now,
                        int measured)
{
    const struct ek_alignment *a = &then->level, *b = &now->level;
    double part = pow(then->mean_error_ln / now->mean_error_ln, 2); /* lists now, per list then */
    return is_near(a->shift_ln, b->shift_ln, hypot(a->error_ln, b->error_ln), LEVEL) &&
           is_near(a->share, b->share, 0, PART) &&
           is_near(a->gain_ln * part, b->gain_ln, sqrt(measured * (1 + part)), 0);
}

int ek_diagnosis_is_same(const struct ek_diagnosis *then, const struct ek_diagnosis *now,
                         int measured)
{
    int alike = (now->class == EK_CLASS_NONE || now->class == then->class) &&
                is_near(then->mean_ln, now->mean_ln, hypot(then->mean_error_ln, now->mean_error_ln),
                        LEVEL) &&
                spreads_alike(then, now);
    for (int i = 0; alike && i < EK_SHARES; i++)
        alike = is_near(then->share[i], now->share[i],
                        hypot(then->share_error[i], now->share_error[i]), SHARE);
    return alike && (then->class != EK_SCALE || levels_alike(then, now, measured));
}

enum { LISTS_FOR_MIX = 16, USUAL_LISTS = 128 };
static const double LARGEST_RESIDUAL = 12;
/* How far a share must move: absolute, relative to the rarer side, and in standard errors. */
static const double MISSING_MOVE = .05, MISSING_RATIO = .2, ZERO_MOVE = .05, ZERO_RATIO = .25,
                    SIGN_MOVE = .02, SIGN_RATIO = .4, CLIP_MOVE = .03, CLIP_RATIO = .2,
                    SHARE_ERRORS = 3;
static const double NEARLY_ALL = .9, MOST = .5;
static const double STUCK_TIED = .9, STUCK_USUAL = .7;
/* A larger shift of the level is not explained by a changed sign alone. */
static const double SIGN_LEVEL = .15, LEVEL_ERRORS = 4;
static const double POSITIVE = .005; /* fraction of negative values up to which a feature counts
                                      * as positive */
/* How far the spread must move: test value and size. */
static const double SPREAD_TEST = 4, SPREAD_MOVE = .04;
/* Spreads of segments differ by less (ln). */
static const double SPREAD_SLIGHT = .25;
/* Smaller differences between a segment and training are noise of its few lists (ln, fraction). */
static const double USUAL_SPREAD = .1, USUAL_SHARE = .04;
/* Spread around the levels of the items: move (ln), standard errors, and fraction of the items that
 * moved if not all did. */
static const double OWN_SPREAD_MOVE = .2, APART_ERRORS = 2.5, APART_ITEMS = .8;
/* Scatter between lists of one value: smallest move (ln), and smallest sum of squares. */
static const double SCATTER_MOVE = .1, SCATTER_MIN = 1e-6;
static const double MIX_INCOHERENT = .04, MIX_MOVE = .05, MIX_SHARE = .97;
static const double SCALE_GAIN = 6, SCALE_SHIFT = .04;
/* A shift that no bound explains: ln, and standard deviations of the level of a list. */
static const double FAR_LN = 1, FAR_SPREADS = 3;
/* Fraction of new negative values that were missing before. */
static const double SENTINEL = .5;
/* Without a shift of the level, a power must beat a change of shape by SHAPE_AHEAD ln
 * likelihood. */
static const double LEVEL_REPORTED = .1, SHAPE_ERRORS = 3, SHAPE_AHEAD = 6;
/* Prior in ln likelihood: exponents near 1 are implausible. */
static const double LIKELY = 3, FEW_LISTS = .5, POWER_LEAST_LN = .1, POWER_PLAIN_LN = .25;
/* Change of the spread (ln), relative to that of a power, from and up to which it can be one. The
 * logarithm of values near e^L divides the spread by L and is nearest to the power ln(L) / L, so
 * that its change is at most 1 / (1 - 1 / e) = 1.58 times that of the power. */
static const double POWER_SPREAD = .5, POWER_SPREAD_MOST = 1.65;
/* Without a change of spread, items must beat a scale by this ln likelihood. */
static const double ITEMS_OVER_SCALE = 4;

static double mean_share(const struct ek_window *w, int which, double *error)
{
    double sum = 0, squares = 0, known = 0;
    for (int i = 0; i < w->count; i++)
        if (w->record[i].share[which] != EK_SHARE_UNKNOWN) {
            double share = (double)w->record[i].share[which] / EK_SHARE_WHOLE;
            sum += share;
            squares += share * share;
            known++;
        }
    double mean = known ? sum / known : 0;
    *error = known ? sqrt(fmax(squares / known - mean * mean, 0) / known) : 0;
    return mean;
}

static int residuals(const struct ek_window *w, double *mean)
{
    int n = 0;
    double sum = 0;
    for (int i = 0; i < w->count; i++) {
        if (!w->record[i].usable)
            continue;
        w->scratch[n] = w->record[i].r - w->mu;
        sum += fmin(fmax(w->scratch[n], -LARGEST_RESIDUAL), LARGEST_RESIDUAL);
        n++;
    }
    *mean = n ? sum / n : 0;
    return n;
}

static void spreads(const struct ek_baseline *b, const struct ek_window *w, struct ek_diagnosis *d)
{
    double score = 0, incoherent = 0, whole = 0;
    for (int i = 0; i < w->count; i++) {
        const struct ek_list_stats *o = &w->record[i];
        if (!ek_spread_known(b, o->usable))
            continue;
        int c = ek_size_class(o->usable);
        double away = o->spread - b->spread_mean[c];
        double around = fmin(fmax(away, -1), 1);
        whole += away;
        score += around / b->spread_sd[c];
        incoherent += o->spread > b->spread_hi[c];
        d->lists++;
    }
    d->spread_ratio = 1;
    if (!d->lists)
        return;
    d->spread_ratio = exp(whole / d->lists);
    d->spread_test = score / sqrt(d->lists);
    d->incoherent = incoherent / d->lists;
}

void ek_usual_measure(const struct ek_baseline *b, const struct ek_window *w, struct ek_usual *out)
{
    struct ek_diagnosis d = {.class = EK_CLASS_NONE};
    double error;
    spreads(b, w, &d);
    out->known = d.lists >= USUAL_LISTS;
    out->spread_ln = fabs(log(d.spread_ratio)) > USUAL_SPREAD ? log(d.spread_ratio) : 0;
    for (int i = 0; i < EK_SHARES; i++) {
        double share = mean_share(w, i, &error), usual = (double)b->share[i];
        out->share[i] = fabs(share - usual) > USUAL_SHARE ? share : usual;
    }
}

void ek_usual_apply(const struct ek_usual *u, const struct ek_baseline *b, struct ek_baseline *out)
{
    *out = *b;
    for (int c = 0; c < EK_SIZE_CLASSES; c++) {
        out->spread_mean[c] += (float)u->spread_ln;
        if (b->spread_hi[c] < EK_SPREAD_UNKNOWN)
            out->spread_hi[c] += (float)u->spread_ln;
    }
    for (int i = 0; i < EK_SHARES; i++)
        out->share[i] = (float)u->share[i];
}

/* Return the mean of a residual in training. */
static double density_mean(const float *density)
{
    double sum = 0, mass = 0;
    for (int i = 0; i < EK_DENSITY_BINS; i++) {
        sum += (double)density[i] * (i + .5);
        mass += (double)density[i];
    }
    return (sum / mass - EK_DENSITY_BINS / 2.) * EK_RESIDUAL_BIN;
}

/* Return the ln likelihood of residuals r [n] that scatter `ratio` times as much as in training,
 * against no change. */
static double scatter_gain(const float *density, const float *r, int n, double mean, double ratio)
{
    double usual = density_mean(density), gain = 0;
    for (int i = 0; i < n; i++) {
        double back = (r[i] - mean) / ratio + usual;
        gain += log((double)density[ek_residual_bin((float)back)] / ratio /
                    (double)density[ek_residual_bin(r[i])]);
    }
    return gain;
}

/* Measure the scatter between lists of one value each, r [n], which a power or an offset changes
 * and a factor does not. It has changed if that explains the lists better than the fitted level. */
static void scatter(const struct ek_baseline *b, const float *density, const struct ek_window *w,
                    int n, struct ek_diagnosis *d)
{
    double squares = 0;
    d->spread_ratio = 1;
    for (int i = 0; i < n; i++)
        squares += (w->scratch[i] - d->mean_ln) * (w->scratch[i] - d->mean_ln);
    double move = log(fmax(squares, SCATTER_MIN) / fmax(n, 1)) / 2 - log((double)b->sd);
    if (n < LISTS_FOR_MIX)
        return;
    d->lists = n;
    if (fabs(move) < SCATTER_MOVE)
        return;
    double ahead = scatter_gain(density, w->scratch, n, d->mean_ln, exp(move)) - d->level.gain_ln;
    d->spread_test = copysign(sqrt(2 * fmax(ahead / w->known.repetition, 0)), move);
    if (ahead > 0)
        d->spread_ratio = exp(move);
}

/* Return whether the spread moved, or the lists are a mixture. */
static int spread_moved(const struct ek_diagnosis *d)
{
    double move = log(d->spread_ratio);
    return (fabs(d->spread_test) > SPREAD_TEST && fabs(move) > SPREAD_MOVE) ||
           (d->incoherent > MIX_INCOHERENT && move > MIX_MOVE && d->lists >= LISTS_FOR_MIX &&
            d->level.share < MIX_SHARE);
}

/* Return the move of a share if it exceeds noise and usual variation, else 0. */
static double share_moved(const struct ek_baseline *b, const struct ek_diagnosis *d, int which,
                          double least, double ratio)
{
    double usual = b->share[which], move = d->share[which] - usual;
    double habit = fmax(least, ratio * fmin(usual, 1 - usual));
    return fabs(move) > fmax(habit, SHARE_ERRORS * d->share_error[which]) ? move : 0;
}

static int sign_moved(const struct ek_baseline *b, const struct ek_diagnosis *d)
{
    return share_moved(b, d, EK_SHARE_NEGATIVE, SIGN_MOVE, SIGN_RATIO) != 0;
}

/* A changed sign keeps magnitudes; a subtraction does not. */
static int sizes_moved(const struct ek_diagnosis *d)
{
    return spread_moved(d) && fabs(d->mean_ln) > fmax(SIGN_LEVEL, LEVEL_ERRORS * d->mean_error_ln);
}

int ek_diagnosis_is_sentinel(const struct ek_baseline *b, const struct ek_diagnosis *d)
{
    double fewer = b->share[EK_SHARE_MISSING] - d->share[EK_SHARE_MISSING];
    return b->share[EK_SHARE_NEGATIVE] < POSITIVE &&
           fewer > SENTINEL * (d->share[EK_SHARE_NEGATIVE] - b->share[EK_SHARE_NEGATIVE]);
}

/* Return whether the level of most lists moved further than a bound or rounding moves it. */
static int is_far(const struct ek_baseline *b, const struct ek_diagnosis *d)
{
    return d->level.share > MOST && d->level.gain_ln > SCALE_GAIN &&
           fabs(d->level.shift_ln) > fmax(FAR_LN, FAR_SPREADS * b->sd);
}

/* Return by how much missing or zero values became rarer, if nearly all values were so in
 * training. */
static double is_unfrozen(const struct ek_baseline *b, const struct ek_diagnosis *d, int which,
                          double least, double ratio)
{
    return b->share[which] > NEARLY_ALL ? -share_moved(b, d, which, least, ratio) : 0;
}

static enum ek_class by_shares(const struct ek_baseline *b, const struct ek_diagnosis *d)
{
    if (share_moved(b, d, EK_SHARE_MISSING, MISSING_MOVE, MISSING_RATIO) > 0 ||
        is_unfrozen(b, d, EK_SHARE_MISSING, MISSING_MOVE, MISSING_RATIO) > 0)
        return EK_MISSING;
    if (share_moved(b, d, EK_SHARE_ZERO, ZERO_MOVE, ZERO_RATIO) > 0 ||
        is_unfrozen(b, d, EK_SHARE_ZERO, ZERO_MOVE, ZERO_RATIO) > 0)
        return EK_ZERO;
    if (sign_moved(b, d) && (!sizes_moved(d) || ek_diagnosis_is_sentinel(b, d)))
        return EK_SIGN;
    if (d->share[EK_SHARE_TIED] > STUCK_TIED && b->share[EK_SHARE_TIED] < STUCK_USUAL)
        return EK_STUCK;
    if (share_moved(b, d, EK_SHARE_TIED, CLIP_MOVE, CLIP_RATIO) > 0 && !is_far(b, d))
        return EK_CLIP;
    return EK_CLASS_NONE;
}

static void make_target(const struct ek_baseline *b, const float *density,
                        const struct ek_window *w, struct ek_fit_target *t)
{
    int first = w->count > EK_EXPLAIN_LISTS ? w->count - EK_EXPLAIN_LISTS : 0;
    t->density = density;
    t->lists = 0;
    for (int i = first; i < w->count; i++) {
        const struct ek_list_stats *o = &w->record[i];
        if (!o->usable)
            continue;
        int n = t->lists++, c = ek_size_class(o->usable), known = ek_spread_known(b, o->usable);
        t->usual[n] = w->level[i] + w->mu;
        t->level[n] = w->level[i] + o->r;
        t->sd[n] = b->spread_sd[c];
        t->move[n] = known ? o->spread - b->spread_mean[c] : NAN;
        t->items[n] = o->usable;
        t->typical[n] = exp(b->spread_mean[c]);
        t->spread[n] = known ? exp(o->spread) : o->usable > 1 ? t->typical[n] : 0;
    }
    ek_fit_target_prepare(t);
}

/* Return whether an offset is visible in the levels. With both signs it moves values across zero
 * instead. */
static int one_sign(const struct ek_baseline *b)
{
    return fmin(b->share[EK_SHARE_NEGATIVE], 1 - b->share[EK_SHARE_NEGATIVE]) < POSITIVE;
}

/* Return whether the level shifted by more than normal traffic does. */
static int level_reported(const struct ek_diagnosis *d)
{
    return fabs(d->mean_ln) > fmax(LEVEL_REPORTED, SHAPE_ERRORS * d->mean_error_ln);
}

/* A transformation that widens few lists resembles a factor on few items, which is much more
 * common. */
static int is_likely(const struct ek_diagnosis *d, const struct ek_explanation *e)
{
    return d->spread_ratio < 1 || e->share > FEW_LISTS;
}

/* A power a multiplies the spread by a. Lists of nearer or newer items only have a lower level and
 * another spread, too. */
static int is_like_power(const struct ek_diagnosis *d, const struct ek_explanation *power)
{
    double part = log(d->spread_ratio) / (power->share * log(power->value));
    return part > POWER_SPREAD && part < POWER_SPREAD_MOST;
}

/* An offset away from zero moves small values more than large ones, which narrows the ln values;
 * one towards zero widens them. */
static int is_like_offset(const struct ek_diagnosis *d)
{
    return (d->mean_ln > 0) == (d->spread_ratio < 1);
}

/* Choose the transformation of all values that explains the lists best, or a factor on some items.
 * A mixture is never narrower than its parts. A segment may always have had a slightly different
 * spread than all lists of training, so a far shift with such a spread can be one factor. */
static void classify_spread(const struct ek_baseline *b, const struct ek_fit_target *t,
                            struct ek_diagnosis *d)
{
    d->class = EK_OFFSET;
    if (sign_moved(b, d)) /* no factor makes a value negative */
        return;
    struct ek_explanation best = ek_explain_shape(t, 0), power = ek_explain_power(t);
    d->class = EK_SHAPE;
    double size = fabs(log(power.value)), ahead = level_reported(d) ? 0 : SHAPE_AHEAD;
    power.worth += size > POWER_PLAIN_LN ? LIKELY : -LIKELY;
    bool possible = one_sign(b) && size > POWER_LEAST_LN && is_like_power(d, &power);
    if (possible && power.worth > best.worth + ahead && is_likely(d, &power)) {
        best = power;
        d->class = EK_POWER;
    }
    if (one_sign(b) && level_reported(d) && is_like_offset(d)) {
        struct ek_explanation offset = ek_explain_offset(t);
        if (offset.worth > best.worth && is_likely(d, &offset)) {
            best = offset;
            d->class = EK_OFFSET;
        }
    }
    if (d->spread_ratio > 1) {
        struct ek_explanation items = ek_explain_items(t);
        if (items.worth > best.worth) {
            best = items;
            d->class = EK_ITEMS;
        }
    }
    bool could_scale = is_far(b, d) && fabs(log(d->spread_ratio)) < SPREAD_SLIGHT;
    if (could_scale && ek_explain_shape(t, d->level.shift_ln).worth > best.worth + SHAPE_AHEAD)
        d->class = EK_SCALE;
    d->exponent = d->class == EK_POWER ? power.value : 0;
}

/* A factor on some items shifts a list by its number of affected items, and a large one would widen
 * the lists with a known spread. EK_CLASS_NONE: undecided. */
static enum ek_class classify_level(const struct ek_fit_target *t, const struct ek_window *w,
                                    const struct ek_diagnosis *d)
{
    bool would_show = fabs(d->level.shift_ln) > FAR_LN && d->lists > w->count / 2;
    if (d->spread_ratio < 1 || would_show)
        return EK_SCALE;
    double scale = ek_explain_scale(t, d->level.shift_ln).worth;
    double over = ek_explain_items(t).worth - scale;
    return over > ITEMS_OVER_SCALE ? EK_ITEMS : over > 0 ? EK_CLASS_NONE : EK_SCALE;
}

void ek_describe(const struct ek_baseline *b, const float *density, const struct ek_window *w,
                 struct ek_diagnosis *d)
{
    struct ek_residuals h;
    memset(d, 0, sizeof *d);
    int n = residuals(w, &d->mean_ln);
    d->mean_error_ln = b->sd / sqrt(n ? n : 1);
    ek_residuals_get(&h, w->scratch, n);
    d->level = ek_align(density, &h, &w->known);
    if (w->single)
        scatter(b, density, w, n, d);
    else
        spreads(b, w, d);
    for (int i = 0; i < EK_SHARES; i++)
        d->share[i] = mean_share(w, i, &d->share_error[i]);
    d->class = by_shares(b, d);
}

/* Most values were missing or zero in training and fewer are now. */
static enum ek_class classify_fewer(const struct ek_baseline *b, const struct ek_diagnosis *d)
{
    if (b->share[EK_SHARE_MISSING] > MOST &&
        share_moved(b, d, EK_SHARE_MISSING, MISSING_MOVE, MISSING_RATIO) < 0)
        return EK_MISSING;
    if (b->share[EK_SHARE_ZERO] > MOST &&
        share_moved(b, d, EK_SHARE_ZERO, ZERO_MOVE, ZERO_RATIO) < 0)
        return EK_ZERO;
    return EK_CLASS_NONE;
}

/* Spread of the values around the levels of their items, beyond the usual one (ln). */
struct own_spread {
    double wider, error;
    double expected; /* if the shift of the lists is that of APART_ITEMS of their items */
};

double ek_window_get_wider(const struct ek_window *w, double usual, double *values)
{
    double wider = 0;
    *values = 0;
    for (int i = 0; i < w->count; i++) {
        const struct ek_list_stats *o = &w->record[i];
        double weight = ek_item_levels_spread_weight(o->own_spread, o->usable);
        *values += weight;
        wider += weight * (ek_item_levels_decode_spread(o->own_spread) - usual);
    }
    return *values > 0 ? wider / *values : 0;
}

static struct own_spread measure_own_spread(const struct ek_window *w, double shift_ln)
{
    double usual = exp(2 * (double)w->own.mean), values;
    double apart = shift_ln * shift_ln * (1 - APART_ITEMS) / APART_ITEMS;
    double wider = ek_window_get_wider(w, (double)w->own.mean, &values);
    return (struct own_spread){
        .wider = wider,
        .error = values > 0 ? (double)w->own.sd * sqrt(w->known.repetition / values) : INFINITY,
        .expected = log(1 + apart / usual) / 2,
    };
}

bool ek_window_shows_items(const struct ek_window *w, double shift_ln)
{
    struct own_spread s = measure_own_spread(w, shift_ln);
    return w->own.sd <= 0 || s.expected > 2 * APART_ERRORS * s.error;
}

bool ek_diagnosis_is_small(const struct ek_diagnosis *d, double effect_ln)
{
    static const double FAR_ITEMS = .01;
    return fabs(d->mean_ln) < effect_ln && fabs(log(d->spread_ratio)) < effect_ln &&
           d->incoherent < FAR_ITEMS;
}

/* Return whether the values spread more around the levels of their items than usual: a change of
 * unit moves all items alike. */
static int items_moved_apart(const struct ek_window *w, double shift_ln)
{
    struct own_spread s = measure_own_spread(w, shift_ln);
    return w->own.sd > 0 &&
           s.wider > fmax(APART_ERRORS * s.error, fmax(s.expected / 2, OWN_SPREAD_MOVE));
}

static int level_moved(const struct ek_diagnosis *d)
{
    return d->level.gain_ln > SCALE_GAIN && fabs(d->level.shift_ln) > SCALE_SHIFT;
}

void ek_classify(const struct ek_baseline *b, const float *density, const struct ek_window *w,
                 struct ek_diagnosis *d)
{
    struct ek_fit_target target;
    ek_describe(b, density, w, d);
    if (d->class == EK_CLASS_NONE && !spread_moved(d) && !level_moved(d))
        d->class = classify_fewer(b, d);
    if (d->class != EK_CLASS_NONE || (!spread_moved(d) && !level_moved(d)))
        return;
    if (w->single) {
        d->class = spread_moved(d) ? EK_SHAPE : EK_SCALE;
        return;
    }
    make_target(b, density, w, &target);
    if (spread_moved(d))
        classify_spread(b, &target, d);
    else
        d->class =
            items_moved_apart(w, d->level.shift_ln) ? EK_ITEMS : classify_level(&target, w, d);
}

int ek_window_is_normal(const struct ek_baseline *b, const float *density,
                        const struct ek_window *w, double report_threshold)
{
    struct ek_diagnosis d;
    ek_describe(b, density, w, &d);
    return d.class == EK_CLASS_NONE && classify_fewer(b, &d) == EK_CLASS_NONE &&
           !spread_moved(&d) &&
           (!level_moved(&d) || fabs(d.level.shift_ln) < log(report_threshold));
}

bool ek_is_small_offset(const struct ek_baseline *b, const struct ek_diagnosis *d, double least_ln)
{
    return d->class == EK_OFFSET && !sign_moved(b, d) &&
           fabs(d->level.shift_ln) - LEVEL_ERRORS * d->level.error_ln < 2 * least_ln;
}

bool ek_window_varies(const struct ek_baseline *b, const struct ek_window *w, double shift_ln)
{
    enum { LISTS_LEAST = 16, PARTS = 4 }; /* a quarter of the lists that moved */
    static const double APART = 4;        /* standard deviations */
    double far = fmax(APART * (double)b->sd, EK_LN_2);
    int moved = 0, apart = 0;
    for (int i = 0; i < w->count; i++) {
        double r = (double)(w->record[i].r - w->mu);
        if (!w->record[i].usable || !(fabs(r) > far))
            continue;
        moved++;
        apart += fabs(r - shift_ln) > far;
    }
    return moved >= LISTS_LEAST && PARTS * apart > moved;
}
