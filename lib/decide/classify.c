#include "decide/classify.h"

#include <math.h>
#include <string.h>

enum { LISTS_FOR_MIX = 16 };
static const double LARGEST_RESIDUAL = 12;
/* How far a share must move to be the story, absolute and relative. */
static const double MISSING_MOVE = .05, MISSING_RATIO = .5, ZERO_MOVE = .05, ZERO_RATIO = .25,
                    SIGN_MOVE = .2, STUCK_TIED = .9, STUCK_USUAL = .7, CLIP_MOVE = .03,
                    CLIP_RATIO = .2;
/* How far the spread must move: test value and size. */
static const double SPREAD_TEST = 4, SPREAD_MOVE = .04;
static const double MIX_INCOHERENT = .04, MIX_MOVE = .05, MIX_SHARE = .97;
static const double SHAPE_LEVEL = .06, SHAPE_ERRORS = 3;
static const double SCALE_GAIN = 6, SCALE_SHIFT = .04;
/* A power explains the level when it predicts the shift to this part of it. */
static const double POWER_FIT = .2, POWER_SPREAD = .25;

static double mean_share(const struct ek_window *w, int which)
{
    double sum = 0, known = 0;
    for (int i = 0; i < w->count; i++)
        if (w->record[i].share[which] != EK_SHARE_UNKNOWN) {
            sum += w->record[i].share[which];
            known++;
        }
    return known ? sum / known / EK_SHARE_WHOLE : 0;
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
    double move = 0, score = 0, incoherent = 0, whole = 0;
    for (int i = 0; i < w->count; i++) {
        const struct ek_list_stats *o = &w->record[i];
        if (!ek_spread_known(b, o->usable))
            continue;
        int c = ek_size_class(o->usable);
        double away = o->spread - b->spread_mean[c];
        double around = fmin(fmax(away, -1), 1);
        whole += away;
        move += around;
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

static enum ek_class by_shares(const struct ek_baseline *b, const struct ek_diagnosis *d)
{
    double missing = d->share[EK_SHARE_MISSING] - b->share[EK_SHARE_MISSING];
    double zero = d->share[EK_SHARE_ZERO] - b->share[EK_SHARE_ZERO];
    double tied = d->share[EK_SHARE_TIED] - b->share[EK_SHARE_TIED];
    if (missing > fmax(MISSING_RATIO * b->share[EK_SHARE_MISSING], MISSING_MOVE))
        return EK_MISSING;
    if (zero > fmax(ZERO_RATIO * b->share[EK_SHARE_ZERO], ZERO_MOVE))
        return EK_ZERO;
    if (fabs(d->share[EK_SHARE_NEGATIVE] - b->share[EK_SHARE_NEGATIVE]) > SIGN_MOVE)
        return EK_SIGN;
    if (d->share[EK_SHARE_TIED] > STUCK_TIED && b->share[EK_SHARE_TIED] < STUCK_USUAL)
        return EK_STUCK;
    if (tied > fmax(CLIP_MOVE, CLIP_RATIO * b->share[EK_SHARE_TIED]))
        return EK_CLIP;
    return EK_CLASS_NONE;
}

/* x -> x^a multiplies the spread and the absolute level by the same a. */
static int is_power(const struct ek_baseline *b, const struct ek_diagnosis *d)
{
    double predicted = (d->spread_ratio - 1) * b->level;
    return fabs(log(d->spread_ratio)) > POWER_SPREAD && fabs(predicted) > SHAPE_LEVEL * 5 &&
           fabs(d->mean_ln - predicted) < POWER_FIT * fabs(predicted);
}

static enum ek_class by_spread(const struct ek_baseline *b, const struct ek_diagnosis *d)
{
    double move = log(d->spread_ratio);
    int moved = fabs(d->spread_test) > SPREAD_TEST && fabs(move) > SPREAD_MOVE;
    int mixed = d->incoherent > MIX_INCOHERENT && move > MIX_MOVE && d->lists >= LISTS_FOR_MIX &&
                d->level.share < MIX_SHARE;
    if (!moved && !mixed)
        return EK_CLASS_NONE;
    if (moved && is_power(b, d))
        return EK_POWER;
    if (fabs(d->mean_ln) < fmax(SHAPE_LEVEL, SHAPE_ERRORS * d->mean_error_ln))
        return EK_SHAPE;
    return move > 0 ? EK_ITEMS : EK_OFFSET;
}

void ek_classify(const struct ek_baseline *b, const float *density, const struct ek_window *w,
                 struct ek_diagnosis *out)
{
    struct ek_diagnosis d;
    memset(&d, 0, sizeof d);
    int n = residuals(w, &d.mean_ln);
    d.mean_error_ln = b->sd / sqrt(n ? n : 1);
    struct ek_residuals h;
    ek_residuals_of(&h, w->scratch, n);
    d.level = ek_align(density, &h, &w->known);
    spreads(b, w, &d);
    for (int i = 0; i < EK_SHARES; i++)
        d.share[i] = mean_share(w, i);
    d.class = by_shares(b, &d);
    if (d.class == EK_CLASS_NONE)
        d.class = by_spread(b, &d);
    if (d.class == EK_CLASS_NONE && d.level.gain_ln > SCALE_GAIN &&
        fabs(d.level.shift_ln) > SCALE_SHIFT)
        d.class = EK_SCALE;
    d.exponent = d.class == EK_POWER ? d.spread_ratio : 0;
    *out = d;
}
