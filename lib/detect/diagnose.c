/* Diagnosis of a change: start, class and level, and a query feature that equals the factor, such
 * as a price per stay instead of per night times the number of nights.
 */
#include "assets/feature_columns.h"
#include "detect/classify.h"
#include "detect/detector_internal.h"
#include "num/ln.h"

#include <math.h>

enum {
    MOVING_LISTS =
        24, /* minimum number of lists with a factor other than 1 to name a query feature */
    LISTS_BEFORE = 64 /* minimum number of lists before the change to know the healthy slope */
};
/* Gain in ln likelihood over a constant factor that a query feature needs. */
static const double GAIN = 8;
/* Accepted growth of the slope of ln x on ln v, which is 1 under x -> x v. */
static const double SLOPE_LOW = .5, SLOPE_HIGH = 1.5;
/* Standard deviations beyond which a residual counts no more, and the minimum variance. */
static const double FAR = 4, VARIANCE_MIN = 1e-3;
/* Difference of the levels of two diagnoses with the same factor 1 over a query feature. */
static const double SAME_SHIFT_LN = .2;
/* A scale that few lists settle: largest standard error of the factor (ln 1.2, or as a fraction of
 * a large shift), and the largest test value of a spread that has not changed. */
static const double SURE_ERROR_LN = .182, SURE_FRACTION = 1. / 12, SURE_SPREAD = 2.5;

/* Collect residuals and ln values (d->offset) of the lists with a positive value of query feature
 * m. Return their number; *moving: those with a value clearly different from 1. */
static int collect_offsets(struct ek_detector *d, const struct ek_window *w, int m, int *moving)
{
    int n = 0;
    *moving = 0;
    for (int i = 0; i < w->count; i++) {
        float value = ek_history_query(d->history, d->window_row[i])[m];
        if (!w->record[i].usable || !(value > 0) || !isfinite(value))
            continue;
        d->offset[n] = logf(value);
        *moving += fabsf(d->offset[n]) > EK_DEAD_BAND_LEVEL_LN;
        w->scratch[n++] = w->record[i].r - w->mu;
    }
    return n;
}

/* Return the least squares slope of y on x, 0 if x is constant. */
static double fit_slope(const float *x, const float *y, int n)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (int i = 0; i < n; i++) {
        sx += x[i];
        sy += y[i];
        sxx += (double)x[i] * x[i];
        sxy += (double)x[i] * y[i];
    }
    double variance = n ? sxx - sx * sx / n : 0;
    return variance > 1e-6 * n ? (sxy - sx * sy / n) / variance : 0;
}

/* Line through the residuals before the change, over the ln of a query feature. */
struct line {
    double slope, intercept, variance; /* NaN if too few lists are in the history */
};

static double square_error(const struct line *l, double slope, double shift, const float *x,
                           const float *y, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double away = y[i] - l->intercept - shift - slope * x[i];
        sum += fmin(away * away, FAR * FAR * l->variance);
    }
    return sum;
}

static struct line fit_line(const float *x, const float *y, int n)
{
    struct line l = {fit_slope(x, y, n), 0, INFINITY};
    double sum = 0;
    if (n < LISTS_BEFORE)
        return (struct line){NAN, NAN, NAN};
    for (int i = 0; i < n; i++)
        sum += y[i] - l.slope * x[i];
    l.intercept = sum / n;
    l.variance = fmax(square_error(&l, l.slope, 0, x, y, n) / n, VARIANCE_MIN);
    return l;
}

/* Return the row after the lists of an earlier finding of the feature, 0 without one. */
static uint64_t first_healthy_row(const struct ek_detector *d, const struct ek_episode *e)
{
    uint64_t recovered_row = d->recovered_row[e->feature];
    return recovered_row <= e->since_row ? recovered_row : 0;
}

/* Set *w to the lists from row `from` until the change. Return their number with those since the
 * change, which follow them in the arrays of *w. */
static int set_window_before(struct ek_detector *d, const struct ek_episode *e, uint64_t from,
                             struct ek_window *w)
{
    int all = ek_detector_window(d, e->feature, e->cell, from, w);
    while (w->count && d->window_row[w->count - 1] >= e->since_row)
        w->count--;
    return all;
}

/* Set *line to the line of query feature m before the change. A healthy price already correlates
 * with the usual price of the destination, which is no factor. Lists before an earlier finding are
 * used only if too few came after it. Changes the current window. */
static void fit_line_before(struct ek_detector *d, const struct ek_episode *e, int m,
                            struct line *line)
{
    uint64_t from = first_healthy_row(d, e);
    struct ek_window w;
    int moving;
    set_window_before(d, e, from, &w);
    if (from && w.count < LISTS_BEFORE)
        set_window_before(d, e, 0, &w);
    int n = collect_offsets(d, &w, m, &moving);
    *line = fit_line(d->offset, w.scratch, n);
}

/* A query feature as the factor of each list. */
struct query_factor {
    int feature;     /* -1: the factor is one number */
    double sign;     /* 1: the feature, -1: 1 over it */
    double shift_ln; /* of the level at the last diagnosis */
};

static void change_sign(float *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] = -x[i];
}

/* Return the ln likelihood by which x -> x v^sign explains the collected residuals better than one
 * factor, given the line before the change; 0 if the slope has not grown accordingly. The density
 * of all residuals cannot decide: under x -> x / v the residuals may become narrower. */
static double factor_gain(const struct ek_detector *d, const struct line *l, double sign,
                          const float *r, int n)
{
    double grown = sign * (fit_slope(d->offset, r, n) - l->slope), shift = 0;
    if (!(grown > SLOPE_LOW && grown < SLOPE_HIGH))
        return 0;
    for (int i = 0; i < n; i++)
        shift += (r[i] - l->intercept - l->slope * d->offset[i]) / n;
    return (square_error(l, l->slope, shift, d->offset, r, n) -
            square_error(l, l->slope + sign, 0, d->offset, r, n)) /
           (2 * l->variance);
}

/* Return the factor of each list, given that of the last diagnosis, which remains while it explains
 * the lists and no list before the change is known any more. A query feature has none: it would
 * explain itself. *w is the window of the episode, also afterwards. */
static struct query_factor find_query_factor(struct ek_detector *d, const struct ek_episode *e,
                                             const struct query_factor *was, struct ek_window *w)
{
    const float *density = ek_profile_density(d->profile, e->feature);
    const struct ek_alignment *level = &e->diagnosis.level;
    struct query_factor found = {-1, 1, 0};
    double best = GAIN;
    for (int m = 0; m < d->query_features && !w->single; m++) {
        struct line line;
        int moving;
        if (d->manifest->query[m]->type == EK_TYPE_CATEGORY)
            continue; /* a code is not a factor */
        collect_offsets(d, w, m, &moving);
        if (moving < MOVING_LISTS)
            continue;
        fit_line_before(d, e, m, &line);
        const struct ek_own_spread own = w->own;
        ek_detector_window(d, e->feature, e->cell, e->since_row, w);
        w->own = own;
        int n = collect_offsets(d, w, m, &moving);
        for (double sign = 1; sign >= -1; sign -= 2) {
            double line_gain = factor_gain(d, &line, sign, w->scratch, n);
            if (sign < 0)
                change_sign(d->offset, n);
            double gain = ek_align_by_list(density, w->scratch, d->offset, n) - level->gain_ln;
            if (sign < 0 && level->share > EK_WHOLE_SHARE)
                gain = fmax(gain, line_gain);
            if (line_gain > GAIN && gain > best) {
                best = gain;
                found = (struct query_factor){m, sign, 0};
            }
        }
        change_sign(d->offset, n);
        if (!isnan(line.slope) || was->feature != m)
            continue;
        if (was->sign < 0 ? fabs(e->diagnosis.level.shift_ln - was->shift_ln) < SAME_SHIFT_LN
                          : ek_align_by_list(density, w->scratch, d->offset, n) > GAIN)
            return *was;
    }
    return found;
}

/* Return whether one number explains the lists clearly better than any query feature, which few
 * lists do not tell from it. */
static bool is_one_number(struct ek_detector *d, const struct ek_episode *e,
                          const struct ek_window *w)
{
    const float *density = ek_profile_density(d->profile, e->feature);
    int moving;
    for (int m = 0; m < d->query_features && !w->single; m++) {
        if (d->manifest->query[m]->type == EK_TYPE_CATEGORY)
            continue;
        int n = collect_offsets(d, w, m, &moving);
        double gain = ek_align_by_list(density, w->scratch, d->offset, n);
        change_sign(d->offset, n);
        gain = fmax(gain, ek_align_by_list(density, w->scratch, d->offset, n));
        if (moving && gain + GAIN > e->diagnosis.level.gain_ln)
            return false;
    }
    return true;
}

bool ek_diagnosis_is_plain_scale(struct ek_detector *d, const struct ek_episode *e,
                                 const struct ek_window *w)
{
    const struct ek_diagnosis *g = &e->diagnosis;
    double error = fmax(SURE_ERROR_LN, SURE_FRACTION * fabs(g->level.shift_ln));
    double act = log(ek_detector_rule(d, e->feature)->action_threshold);
    if (fabs(g->level.shift_ln) > act && !ek_window_shows_items(w, g->level.shift_ln))
        return false;
    if (w->single && !g->lists) /* their scatter is not known yet */
        return false;
    return g->class == EK_SCALE && e->query_feature < 0 && g->level.error_ln < error &&
           fabs(g->spread_test) < SURE_SPREAD && is_one_number(d, e, w);
}

enum {
    SINCE_REACH = 64,     /* rows before the first estimate of the change point that are searched */
    BEFORE = 2048,        /* maximum number of lists for the level before the change */
    OWN_VALUES_MIN = 256, /* before a change that show the spread around the levels of the items */
    MEASURED = 320,       /* newest moved lists that must agree with all of them */
    MIX_KEPT = 256,       /* rows before a change that the history must still have */
    FEW_BEFORE = 24,      /* lists of a new segment before a change that begins with it */
    FROZEN = 1024         /* moved lists after which the factor no longer follows the traffic */
};
/* Agreement of the newest lists with all: standard errors, and difference of the fractions. Drift
 * of healthy traffic that moves no frozen factor (ln). */
static const double STEADY_ERRORS = 2, STEADY_SHARE = .1, DRIFT_LN = .1;
static const double SINCE_SHARE = .99; /* a single list may be an exception */
/* Beyond, the newest lists have another factor: ln, and fraction of the shift. */
static const double SWING_LN = .5, SWING = .25;
static const double STILL_WHOLE = .8; /* fraction of moved lists of a frozen factor of all */
/* Standard deviations (ln): error of the tracked level, and drift of healthy traffic over a full
 * history. */
static const double TRACKED_ERROR = .05, WANDER = .01;
static const double BEFORE_LOST = -1; /* own spread of lists that the history lost */
static const double BEFORE_SD =
    .5; /* of levels before a change, relative to the tracked one (ln) */
static const double BEFORE_ERRORS = 1.64, STEP_ERRORS = 3; /* standard errors */
static const double SMALL_LN = EK_LN_2;                    /* traffic does not drift further */

void ek_episode_begin(struct ek_detector *d, struct ek_episode *e, uint64_t row)
{
    e->since_row = row;
    e->since_query = ek_history_row(d->history, row)->query;
    e->since_ms = ek_history_row(d->history, row)->time_ms;
}

static double compute_bet(const struct ek_detector *d, int feature, int cell, int bet,
                          const struct ek_window *w, int i)
{
    float bets[EK_BETS];
    if (bet >= EK_BETS)
        return ek_categories_bet(d->categories, feature, cell, bet, d->window_row[i]);
    int stratum = ek_history_row(d->history, d->window_row[i])->stratum;
    float band = ek_detector_band(d, cell, stratum)[feature];
    ek_bets_compute(&d->reader->bets[feature], &d->profile->baseline[feature], band, &w->record[i],
                    w->record[i].r - w->mu, bets);
    return (double)bets[bet];
}

uint64_t ek_change_point(struct ek_detector *d, int feature, int cell, int bet)
{
    struct ek_window w;
    int n = ek_detector_window(d, feature, cell, d->recovered_row[feature], &w), best = n - 1;
    double tail = 0, largest = -INFINITY;
    for (int i = n - 1; i >= 0; i--) {
        tail += log(fmax(compute_bet(d, feature, cell, bet, &w, i), 1e-6));
        if (tail > largest) {
            largest = tail;
            best = i;
        }
    }
    return n ? d->window_row[best] : ek_history_count(d->history) - 1;
}

/* Tolerance (ln) that reports a factor equal to report_threshold. */
static const double THRESHOLD_LN = .01;

static int compare_with_threshold(const struct ek_detector *d, const struct ek_episode *e)
{
    const struct ek_diagnosis *g = &e->diagnosis;
    if (g->class == EK_CLASS_NONE)
        return 0;
    double effect = log(ek_detector_rule(d, e->feature)->report_threshold) - THRESHOLD_LN;
    if (g->class == EK_SHAPE || g->class == EK_ITEMS)
        return ek_diagnosis_is_small(g, effect) ? -1 : 1;
    if (g->class != EK_SCALE || e->query_feature >= 0)
        return 1;
    double low = g->level.shift_ln > 0 ? g->level.low_ln : -g->level.high_ln;
    double high = g->level.shift_ln > 0 ? g->level.high_ln : -g->level.low_ln;
    return low > effect ? 1 : high < effect ? -1 : 0;
}

static int collect_residuals(const struct ek_window *w, int first)
{
    int n = 0;
    for (int i = first; i < w->count; i++)
        if (w->record[i].usable)
            w->scratch[n++] = w->record[i].r - w->mu;
    return n;
}

void ek_episode_follow(struct ek_detector *d, const struct ek_episode *e, double shift_ln)
{
    ek_evidence_shift(d->evidence, e->cell, e->feature, (float)shift_ln);
    for (int i = 0; e->cell == 0 && i < d->episodes; i++) {
        const struct ek_episode *o = &d->episode[i];
        if (o->phase != EK_PHASE_NONE && o->feature == e->feature && o->cell != 0)
            ek_evidence_shift(d->evidence, o->cell, o->feature, -(float)shift_ln);
    }
}

double ek_episode_design_effect(const struct ek_detector *d, const struct ek_episode *e)
{
    return fmax((double)d->profile->baseline[e->feature].deff[EK_RESPECT_LEVEL], 1);
}

const struct ek_baseline *ek_episode_baseline(const struct ek_detector *d,
                                              const struct ek_episode *e, struct ek_baseline *own)
{
    const struct ek_baseline *b = &d->profile->baseline[e->feature];
    if (!e->usual.known)
        return b;
    ek_usual_apply(&e->usual, b, own);
    return own;
}

/* Return how far the level may be from the tracked one (ln). */
static double wander(const struct ek_detector *d, const struct ek_episode *e)
{
    double band = (double)ek_baseline_band(&d->profile->baseline[e->feature]);
    return e->cell ? 2 * TRACKED_ERROR : fmin(band, 2 * TRACKED_ERROR);
}

/* Return the own spread of the lists beyond that of training, as single items move away from their
 * levels in time; 0 for few lists. */
static double own_spread_beyond(const struct ek_window *w, struct ek_own_spread usual)
{
    double values, wider = ek_window_get_wider(w, (double)usual.mean, &values);
    return values >= OWN_VALUES_MIN ? fmax(wider, 0) : 0;
}

/* Return the mean residual of the lists of the window after its first `before`. */
static double mean_after(const struct ek_window *w, int before, int count)
{
    double sum = 0;
    int n = 0;
    for (int i = before; i < count; i++)
        if (w->record[i].usable) {
            sum += (double)(w->record[i].r - w->mu);
            n++;
        }
    return n ? sum / n : 0;
}

/* Return the level before a change in the direction of `change`, as near to the change as its error
 * allows (95%), so that no rise looks sudden because few lists before it are known. This makes only
 * small changes gradual. */
static double bound_before(double level, double change, double error)
{
    double sign = copysign(1, change), moved = sign * level;
    return sign * fmin(moved + BEFORE_ERRORS * error, fmax(moved, SMALL_LN / 2));
}

/* Set the cell's level to its value just before the change. The tracked level lags behind slow
 * drift and has absorbed part of a small shift. */
static void set_level_before(struct ek_detector *d, struct ek_episode *e)
{
    uint64_t from = first_healthy_row(d, e);
    struct ek_residuals h;
    struct ek_window w;
    int all = set_window_before(d, e, from, &w);
    e->usual.known = 0;
    if (e->cell && !w.single)
        ek_usual_measure(&d->profile->baseline[e->feature], &w, &e->usual);
    bool lost = e->since_row > 0 && e->since_row <= ek_history_first(d->history);
    e->wider =
        lost ? BEFORE_LOST
             : own_spread_beyond(&w, ek_item_levels_spread(d->profile->item_levels, e->feature));
    int n = collect_residuals(&w, w.count > BEFORE ? w.count - BEFORE : 0);
    ek_residuals_get(&h, w.scratch, n);
    double far = wander(d, e), known = far / 2;
    const float *density = ek_profile_density(d->profile, e->feature);
    double effect = ek_episode_design_effect(d, e);
    e->before_ln = w.mu + ek_align_level(density, &h, BEFORE_SD, &e->level_error);
    /* A change soon after the start is no rise, unless the lists depend on one another. */
    double repeated = from < ek_history_first(d->history) ? effect : effect - 1;
    if (n)
        e->before_ln = bound_before(e->before_ln, mean_after(&w, w.count, all),
                                    e->level_error * sqrt(repeated));
    double level = ek_align_level(density, &h, known, &e->level_error);
    e->level_error = fmin(e->level_error * sqrt(effect), known);
    ek_episode_follow(d, e, e->cell ? level : fmin(fmax(level, -far), far));
}

/* Remove the mean of the levels of a dimension's segments, which are relative to all traffic: they
 * have followed a part of a ramp of all traffic. */
static void center_segments(struct ek_detector *d, const struct ek_episode *e, int dimension)
{
    double sum = 0, lists = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int cell = 1; cell < ek_cells_count(d->cells); cell++) {
            if (ek_cells_dimension(d->cells, cell) != dimension ||
                ek_episode_at(d, cell, e->feature))
                continue;
            double weight = *ek_evidence_list_count(d->evidence, cell, e->feature);
            if (pass && lists > 0)
                ek_evidence_shift(d->evidence, cell, e->feature, (float)(-sum / lists));
            sum += pass ? 0 : weight * (double)ek_evidence_mu(d->evidence, cell, e->feature);
            lists += pass ? 0 : weight;
        }
}

void ek_episode_bound_level(struct ek_detector *d, const struct ek_episode *e)
{
    double range = (double)d->profile->baseline[e->feature].range;
    double mu = (double)ek_evidence_mu(d->evidence, 0, e->feature);
    for (int i = 0; !e->cell && i < ek_cells_dimensions(d->cells); i++)
        center_segments(d, e, i);
    double act = log(ek_detector_rule(d, e->feature)->action_threshold);
    bool fault = ek_episode_has_level(e) && fabs(e->diagnosis.level.shift_ln) > act;
    if (fault && !e->cell && range > 0 && fabs(mu) > range)
        ek_episode_follow(d, e, copysign(range, mu) - mu);
}

/* Return the prior of a level. Lists that depend on one another count as fewer (Kish 1965). */
static struct ek_align_known get_prior(const struct ek_detector *d, const struct ek_episode *e)
{
    double since = (double)(ek_history_count(d->history) - e->since_row) / EK_HISTORY;
    double whole = log(ek_detector_rule(d, e->feature)->action_threshold);
    return (struct ek_align_known){hypot(e->level_error, WANDER * since),
                                   ek_episode_design_effect(d, e), whole};
}

/* Return whether the newest lists show the level of all lists since the change, give or take the
 * drift of healthy traffic. */
static bool is_steady(const struct ek_alignment *all, const struct ek_alignment *newest)
{
    double error = STEADY_ERRORS * hypot(all->error_ln, newest->error_ln);
    return fabs(all->shift_ln - newest->shift_ln) < fmax(error, DRIFT_LN) &&
           fabs(all->share - newest->share) < STEADY_SHARE;
}

/* Return whether the history, which has lost the start of the change, measured the factor on enough
 * moved lists at the last diagnosis. */
static bool is_frozen(const struct ek_detector *d, const struct ek_episode *e,
                      const struct ek_diagnosis *was)
{
    return e->phase == EK_PHASE_CONFIRMED && was->class == EK_SCALE &&
           e->since_row < ek_history_first(d->history) &&
           was->level.share * ((double)e->lists - EK_UPDATE_LISTS) >= FROZEN;
}

/* Extend the interval of the newest lists to the last one if the shift moved little for its size:
 * lists that are cheaper for an hour do not exclude the unit. */
static void join_interval(struct ek_alignment *newest, const struct ek_diagnosis *was)
{
    double moved = fabs(newest->shift_ln - was->level.shift_ln);
    if (was->class != EK_SCALE || moved > fmin(SWING_LN, SWING * fabs(was->level.shift_ln)))
        return;
    newest->low_ln = fmin(newest->low_ln, was->level.low_ln);
    newest->high_ln = fmax(newest->high_ln, was->level.high_ln);
}

/* Fit the level to all lists since the change while the newest MEASURED moved ones agree, else to
 * these: a moving shift is reported at its present level. A frozen factor stays while the lists
 * differ by no more than traffic drifts. */
static void fit_level(const struct ek_detector *d, const struct ek_episode *e,
                      const struct ek_window *w, const struct ek_diagnosis *was,
                      struct ek_alignment *level)
{
    double needed = MEASURED / level->share;
    if (needed < w->count) {
        struct ek_residuals h;
        ek_residuals_get(&h, w->scratch, collect_residuals(w, w->count - (int)needed));
        struct ek_alignment newest =
            ek_align(ek_profile_density(d->profile, e->feature), &h, &w->known);
        if (!is_steady(level, &newest)) {
            join_interval(&newest, was);
            *level = newest;
        }
    }
    if (!is_frozen(d, e, was) || fabs(level->shift_ln - was->level.shift_ln) > DRIFT_LN)
        return;
    /* Drift makes a part of the lists look healthy, so the fraction of a small factor falls. */
    if (was->level.share > EK_WHOLE_SHARE && level->share > STILL_WHOLE)
        level->share = was->level.share;
    level->shift_ln = was->level.shift_ln;
    level->low_ln = was->level.low_ln;
    level->high_ln = was->level.high_ln;
    level->error_ln = was->level.error_ln;
}

static void classify(const struct ek_detector *d, struct ek_episode *e, const struct ek_window *w)
{
    struct ek_baseline own;
    ek_classify(ek_episode_baseline(d, e, &own), ek_profile_density(d->profile, e->feature), w,
                &e->diagnosis);
    if (e->diagnosis.class == EK_CLASS_NONE &&
        ek_categories_diagnose(d->categories, e->feature, e->cell, d->window_row, w->count,
                               &e->category))
        e->diagnosis.class = EK_NEW_CATEGORY;
}

/* Return the mean shift of all lists: few lists that moved far look like all that moved little. */
static double mean_shift(const struct ek_alignment *level)
{
    return level->share * level->shift_ln;
}

/* Update whether the change is gradual: the lists before it had moved already, and no shift since,
 * from one diagnosis to the next, exceeded the action threshold by more than the errors of both. */
static void update_gradual(const struct ek_detector *d, struct ek_episode *e,
                           const struct ek_diagnosis *was)
{
    double act = log(ek_detector_rule(d, e->feature)->action_threshold);
    double least = log(ek_detector_rule(d, e->feature)->report_threshold);
    const struct ek_alignment *now = &e->diagnosis.level, *then = &was->level;
    double shift = mean_shift(now), step = fabs(shift - mean_shift(then));
    double noise = STEP_ERRORS * hypot(now->share * now->error_ln, then->share * then->error_ln);
    double all = shift + (double)ek_detector_level(d, e->cell, e->feature);
    if (e->phase != EK_PHASE_CONFIRMED || was->class != EK_SCALE)
        e->gradual = e->wider == BEFORE_LOST
                         ? fabs(all) < SMALL_LN
                         : copysign(1, all) * e->before_ln > fmax(fabs(all), least) / 2;
    else if (step - noise >= act)
        e->gradual = 0;
}

/* Collect the newest lists of a cell before row `end`, down to `first`. Return their number. */
static int collect_rows(const struct ek_detector *d, int cell, uint64_t first, uint64_t end,
                        const struct ek_list_stats **row, int most)
{
    int count = 0;
    for (uint64_t i = end; i > first && count < most; i--)
        if (ek_history_is_observed(d->history, i - 1, cell))
            row[count++] = ek_history_records(d->history, i - 1);
    return count;
}

/* Return whether the history has all lists of the cell, and hardly any of the `before` ones that
 * precede the change. */
static bool is_new_segment(const struct ek_detector *d, const struct ek_episode *e, int before)
{
    uint32_t ever = *ek_evidence_list_count(d->evidence, e->cell, e->feature), lists = 0;
    if (!e->cell || before >= FEW_BEFORE)
        return false;
    for (uint64_t i = ek_history_first(d->history); i < ek_history_count(d->history); i++)
        lists += (uint32_t)ek_history_is_observed(d->history, i, e->cell);
    return ever <= lists;
}

/* Update whether the mix of the traffic explains the shift. It stays as it was when the history has
 * lost most of the lists before the change. A new segment is compared with all traffic; the lists
 * of an older finding are no usual mix. */
static void update_mix(const struct ek_detector *d, struct ek_episode *e)
{
    struct ek_mix_rows rows = {.features = d->features,
                               .repetition = ek_episode_design_effect(d, e)};
    uint64_t kept = ek_history_first(d->history), end = ek_history_count(d->history);
    uint64_t since = e->since_row > kept ? e->since_row : kept;
    uint64_t healthy = first_healthy_row(d, e), first = healthy > kept ? healthy : kept;
    if (kept > 0 && since - first < MIX_KEPT)
        return;
    rows.after_count = collect_rows(d, e->cell, since, end, rows.after, EK_MIX_AFTER);
    rows.before_count = collect_rows(d, e->cell, first, since, rows.before, EK_MIX_BEFORE);
    int own = rows.before_count, cell = own < MIX_KEPT ? 0 : e->cell;
    rows.usual_count = collect_rows(d, cell, first, since, rows.usual, EK_MIX_BEFORE);
    if (is_new_segment(d, e, own))
        rows.before_count = collect_rows(d, 0, first, since, rows.before, EK_MIX_BEFORE);
    enum ek_mix mix =
        ek_mix_explain(&rows, e->feature, (double)d->profile->baseline[e->feature].sd);
    bool shared = mix == EK_MIX_POSSIBLE && e->mix == EK_MIX_SHARED;
    if (mix != EK_MIX_UNKNOWN && !shared)
        e->mix = mix;
}

int ek_diagnose(struct ek_detector *d, struct ek_episode *e, struct ek_window *w)
{
    const struct ek_diagnosis before = e->diagnosis;
    const struct query_factor was = {e->query_feature, before.exponent < 0 ? -1 : 1,
                                     before.level.shift_ln};
    bool early = e->lists < (uint32_t)d->rules->confirmation_lists;
    bool looked = e->attempts + e->uncertain + e->waits > 0 || (early && e->level_error > 0);
    if (e->phase == EK_PHASE_SUSPECTED && !looked && !ek_episode_has_returned(d, e))
        set_level_before(d, e);
    if (!ek_detector_window(d, e->feature, e->cell, e->since_row, w))
        return -1;
    w->known = get_prior(d, e);
    w->own = ek_item_levels_spread(d->profile->item_levels, e->feature);
    w->own.mean += (float)e->wider;
    w->own.sd = e->wider == BEFORE_LOST ? 0 : w->own.sd;
    classify(d, e, w);
    e->query_feature = -1;
    e->varies = 0;
    if (e->diagnosis.class == EK_SCALE) {
        struct query_factor found = find_query_factor(d, e, &was, w);
        e->query_feature = found.feature;
        e->diagnosis.exponent = found.feature >= 0 ? found.sign : 0;
        w->known = get_prior(d, e);
        fit_level(d, e, w, &before, &e->diagnosis.level);
        update_gradual(d, e, &before);
        e->varies = found.feature < 0 && ek_window_varies(&d->profile->baseline[e->feature], w,
                                                          e->diagnosis.level.shift_ln);
    }
    update_mix(d, e);
    return compare_with_threshold(d, e);
}

int ek_diagnosis_is_current(struct ek_detector *d, struct ek_episode *e)
{
    struct ek_diagnosis now;
    struct ek_baseline own;
    struct ek_episode after = *e;
    struct ek_window w;
    double needed = MEASURED / (ek_episode_has_level(e) ? e->diagnosis.level.share : 1);
    int most = needed < EK_HISTORY ? (int)needed : EK_HISTORY;
    if (e->query_feature >= 0 || e->last_class != e->diagnosis.class ||
        e->last_class == EK_NEW_CATEGORY)
        return 0;
    if (!ek_detector_window_for(d, e->feature, e->cell, e->since_row, most, &w))
        return 0;
    w.known = get_prior(d, e);
    ek_describe(ek_episode_baseline(d, e, &own), ek_profile_density(d->profile, e->feature), &w,
                &now);
    if (!ek_diagnosis_is_same(&e->diagnosis, &now, w.count))
        return 0;
    if (ek_episode_has_level(e))
        after.diagnosis.level = now.level;
    return compare_with_threshold(d, &after) > 0;
}

/* Return the ln likelihood that the values of a query feature moved by shift_ln in the lists since
 * the change, in the same fraction of them. Uses the window. */
static double query_gain(struct ek_detector *d, const struct ek_episode *e, int feature,
                         double shift_ln)
{
    const float *density = ek_profile_density(d->profile, feature);
    double q = fmin(e->diagnosis.level.share, SINCE_SHARE), gain = 0;
    struct ek_window w;
    ek_detector_window(d, feature, e->cell, e->since_row, &w);
    for (int i = 0; i < w.count; i++) {
        double r = w.record[i].r - w.mu, normal = ek_density_at(density, r);
        if (w.record[i].usable)
            gain += log(1 - q + q * ek_density_at(density, r - shift_ln) / normal);
    }
    return gain;
}

bool ek_episode_follows_query(struct ek_detector *d, const struct ek_episode *e)
{
    const struct ek_query_slopes *t = d->profile->query_slopes;
    int a = t && ek_episode_has_level(e)
                ? ek_feature_columns_find(t->feature, t->features, e->feature)
                : -1;
    for (int c = 0; a >= 0 && c < t->queries; c++) {
        int feature = d->manifest->watched_of_query[t->query[c]];
        double slope = (double)t->slope[a][c];
        if (feature < 0 || feature >= d->features || !d->watched[feature] || slope == 0)
            continue;
        if (query_gain(d, e, feature, -e->diagnosis.level.shift_ln / slope) > 0)
            return true;
    }
    return false;
}

void ek_refine_since(struct ek_detector *d, struct ek_episode *e)
{
    const float *density = ek_profile_density(d->profile, e->feature);
    uint64_t from = e->since_row > SINCE_REACH ? e->since_row - SINCE_REACH : 0;
    uint64_t healthy = first_healthy_row(d, e);
    double q = fmin(e->diagnosis.level.share, SINCE_SHARE), tail = 0, largest = 0;
    struct ek_window w;
    int best = 0;
    if (from < healthy)
        from = healthy;
    for (int i = ek_detector_window(d, e->feature, e->cell, from, &w) - 1; i >= 0; i--) {
        double r = w.record[i].r - w.mu, normal = ek_density_at(density, r);
        if (!w.record[i].usable)
            continue;
        tail += log(1 - q + q * ek_density_at(density, r - e->diagnosis.level.shift_ln) / normal);
        if (tail > largest) {
            largest = tail;
            best = i;
        }
    }
    if (largest > 0) /* the lists of a joined change have findings of their own */
        ek_episode_begin(d, e, d->window_row[best]);
}

int ek_episode_is_small_shift(const struct ek_detector *d, const struct ek_episode *e,
                              const struct ek_alignment *level)
{
    return level->share > EK_WHOLE_SHARE &&
           fabs(level->shift_ln) - level->error_ln <
               log(ek_detector_rule(d, e->feature)->report_threshold);
}

int ek_episode_is_small_at_alarm(struct ek_detector *d, const struct ek_episode *e)
{
    struct ek_residuals h;
    struct ek_window w;
    if (!ek_bet_is_level(e->bet) || !ek_detector_window(d, e->feature, e->cell, e->since_row, &w))
        return 0;
    w.known = get_prior(d, e);
    ek_residuals_get(&h, w.scratch, collect_residuals(&w, 0));
    struct ek_alignment level = ek_align(ek_profile_density(d->profile, e->feature), &h, &w.known);
    return ek_episode_is_small_shift(d, e, &level);
}
