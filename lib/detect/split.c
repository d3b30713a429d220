#include "detect/split.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 3 };
static const double SHARE_MOST = .99; /* a single list may be an exception */
static const double VARIANCE_LEAST = 1e-3;

int ek_change_share(enum ek_class class)
{
    switch (class) {
    case EK_MISSING:
        return EK_SHARE_MISSING;
    case EK_ZERO:
        return EK_SHARE_ZERO;
    case EK_SIGN:
        return EK_SHARE_NEGATIVE;
    case EK_STUCK:
    case EK_CLIP:
        return EK_SHARE_TIED;
    default:
        return -1;
    }
}

double ek_change_in_share(const struct ek_detector *d, const struct ek_episode *e,
                          const struct ek_list_stats *o)
{
    int which = ek_change_share(e->diagnosis.class);
    return o->share[which] == EK_SHARE_UNKNOWN ? (double)NAN
                                               : (double)o->share[which] / EK_SHARE_WHOLE -
                                                     d->profile->baseline[e->feature].share[which];
}

double ek_change_spread(const struct ek_detector *d, int feature, const struct ek_list_stats *o)
{
    const struct ek_baseline *b = &d->profile->baseline[feature];
    return ek_spread_known(b, o->usable) ? o->spread - b->spread_mean[ek_size_class(o->usable)]
                                         : (double)NAN;
}

/* What the class of the episode is about, of list i of the window, less what it is in training.
 * NaN: unknown. */
static double statistic(const struct ek_detector *d, const struct ek_episode *e,
                        const struct ek_window *w, int i)
{
    const struct ek_list_stats *o = &w->record[i];
    switch (e->diagnosis.class) {
    case EK_SHAPE:
    case EK_ITEMS:
        return ek_change_spread(d, e->feature, o);
    case EK_NEW_CATEGORY:
        return ek_categories_moved(d->categories, e->feature, &e->category, d->window_row[i]);
    default:
        break;
    }
    if (ek_change_share(e->diagnosis.class) >= 0)
        return ek_change_in_share(d, e, o);
    return o->usable ? o->r - w->mu : (double)NAN;
}

/* A list whose factor is a query feature's value moved by the ln of that. */
static double level_evidence(const struct ek_detector *d, const struct ek_episode *e,
                             const struct ek_change *c, const struct ek_window *w, int i)
{
    const float *density = ek_profile_density(d->profile, e->feature);
    double r = w->record[i].r - w->mu, shift = c->shift_ln, q = fmin(c->share, SHARE_MOST);
    if (!w->record[i].usable)
        return 0;
    if (e->query_feature >= 0) {
        float value = ek_history_query(d->history, d->window_row[i])[e->query_feature];
        shift = value > 0 && isfinite(value) ? logf(value) : 0;
        q = SHARE_MOST;
    }
    return log(1 - q + q * ek_density_at(density, r - shift) / ek_density_at(density, r));
}

double ek_change_evidence(const struct ek_detector *d, const struct ek_episode *e,
                          const struct ek_change *c, const struct ek_window *w, int i)
{
    if (ek_episode_has_level(e))
        return level_evidence(d, e, c, w, i);
    double x = statistic(d, e, w, i);
    return isnan(x) ? 0 : (x * c->mean - c->mean * c->mean / 2) / c->variance;
}

/* Fits the change on the lists of which `value` (by list, NULL: of all) has positive evidence. */
static int fit_level(struct ek_detector *d, const struct ek_episode *e, const struct ek_window *w,
                     const struct ek_split *s, const int16_t *of, struct ek_change *c)
{
    struct ek_residuals h;
    int n = 0;
    for (int i = 0; i < w->count; i++)
        if (w->record[i].usable && (!s || s->value[of[i]].evidence > 0))
            w->scratch[n++] = w->record[i].r - w->mu;
    ek_residuals_of(&h, w->scratch, n);
    struct ek_alignment a = ek_align(ek_profile_density(d->profile, e->feature), &h, &w->known);
    if (!(a.gain_ln > 0))
        return 0;
    c->shift_ln = a.shift_ln;
    c->share = a.share;
    return 1;
}

/* The lists of clean values vary around 0, the others around the mean of theirs. */
static int fit_mean(struct ek_detector *d, const struct ek_episode *e, const struct ek_window *w,
                    const struct ek_split *s, const int16_t *of, struct ek_change *c)
{
    double sum = 0, hit = 0, squares = 0, lists = 0;
    for (int i = 0; i < w->count; i++) {
        double x = statistic(d, e, w, i);
        if (isnan(x))
            continue;
        lists++;
        squares += x * x;
        if (s && s->value[of[i]].evidence <= 0)
            continue;
        hit++;
        sum += x;
    }
    if (!(hit > 0))
        return 0;
    c->mean = sum / hit;
    c->variance = fmax((squares - sum * sum / hit) / lists, VARIANCE_LEAST);
    return 1;
}

static int fit(struct ek_detector *d, const struct ek_episode *e, const struct ek_window *w,
               const struct ek_split *s, const int16_t *of, struct ek_change *c)
{
    if (ek_episode_has_level(e))
        return e->query_feature >= 0 || fit_level(d, e, w, s, of, c);
    return fit_mean(d, e, w, s, of, c);
}

struct ek_change ek_change_of(struct ek_detector *d, const struct ek_episode *e,
                              const struct ek_window *w)
{
    struct ek_change c = {e->diagnosis.level.shift_ln, e->diagnosis.level.share, 0, 1};
    if (!ek_episode_has_level(e))
        fit(d, e, w, NULL, NULL, &c);
    return c;
}

/* Numbers the values of a dimension; `of` [w->count] is that of each list. Lists without a value
 * are one too, of cell -1. */
static void number_values(const struct ek_detector *d, const struct ek_window *w, int dimension,
                          struct ek_split *s, int16_t *of)
{
    s->count = 0;
    s->gain = 0;
    for (int i = 0; i < w->count; i++) {
        int cell = ek_history_row(d->history, d->window_row[i])->cell[1 + dimension], at = 0;
        while (at < s->count && s->value[at].cell != cell)
            at++;
        if (at == EK_SPLIT_VALUES)
            at = 0; /* cannot be: there are fewer cells */
        else if (at == s->count)
            s->value[s->count++] = (struct ek_value){.cell = cell};
        s->value[at].lists++;
        of[i] = (int16_t)at;
    }
}

static double weigh(const struct ek_detector *d, const struct ek_episode *e,
                    const struct ek_change *c, const struct ek_window *w, const int16_t *of,
                    struct ek_split *s)
{
    double total = 0;
    for (int i = 0; i < s->count; i++)
        s->value[i].evidence = 0;
    for (int i = 0; i < w->count; i++)
        s->value[of[i]].evidence += ek_change_evidence(d, e, c, w, i);
    for (int i = 0; i < s->count; i++)
        total += s->value[i].evidence;
    return total;
}

void ek_split_lists(struct ek_detector *d, const struct ek_window *w, int dimension,
                    struct ek_split *out)
{
    int16_t of[EK_HISTORY];
    number_values(d, w, dimension, out, of);
}

void ek_split_values(struct ek_detector *d, const struct ek_episode *e, const struct ek_change *c,
                     const struct ek_window *w, int dimension, struct ek_split *out)
{
    int16_t of[EK_HISTORY];
    number_values(d, w, dimension, out, of);
    weigh(d, e, c, w, of, out);
}

static double of_the_hit(const struct ek_split *s, int *hits)
{
    double sum = 0;
    *hits = 0;
    for (int i = 0; i < s->count; i++)
        if (s->value[i].evidence > 0) {
            sum += s->value[i].evidence;
            ++*hits;
        }
    return sum;
}

static double subsets_ln(int values, int chosen)
{
    return lgamma(values + 1) - lgamma(chosen + 1) - lgamma(values - chosen + 1);
}

void ek_split_by(struct ek_detector *d, const struct ek_episode *e, const struct ek_window *w,
                 int dimension, struct ek_split *out)
{
    int16_t of[EK_HISTORY];
    int hits;
    struct ek_change c = ek_change_of(d, e, w);
    number_values(d, w, dimension, out, of);
    fit(d, e, w, NULL, of, &c);
    double all = weigh(d, e, &c, w, of, out);
    for (int round = 0; round < ROUNDS; round++) {
        of_the_hit(out, &hits);
        if (!hits || hits == out->count || !fit(d, e, w, out, of, &c))
            break;
        weigh(d, e, &c, w, of, out);
    }
    out->gain = of_the_hit(out, &hits) - all;
    out->gain -= subsets_ln(out->count, hits);
}
