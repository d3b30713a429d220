/* Selection of the segment that explains a change: all traffic, or some values of a dimension. */
#include "detect/localize_segment.h"

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

double ek_change_excess_share(const struct ek_baseline *b, int which, const struct ek_list_stats *o)
{
    return o->share[which] == EK_SHARE_UNKNOWN
               ? (double)NAN
               : (double)o->share[which] / EK_SHARE_WHOLE - b->share[which];
}

double ek_change_spread(const struct ek_baseline *b, const struct ek_list_stats *o)
{
    return ek_spread_known(b, o->usable) ? o->spread - b->spread_mean[ek_size_class(o->usable)]
                                         : (double)NAN;
}

/* Return the statistic of the episode's class for list i, minus its training value, or NAN if
 * unknown. */
static double statistic(const struct ek_detector *d, const struct ek_episode *e,
                        const struct ek_window *w, int i)
{
    const struct ek_list_stats *o = &w->record[i];
    const struct ek_baseline *b = &d->profile->baseline[e->feature];
    int which = ek_change_share(e->diagnosis.class);
    switch (e->diagnosis.class) {
    case EK_SHAPE:
    case EK_ITEMS:
        if (w->single)
            break;
        return ek_change_spread(b, o);
    case EK_NEW_CATEGORY:
        return ek_categories_shift_probability(d->categories, e->feature, &e->category,
                                               d->window_row[i]);
    default:
        break;
    }
    if (which >= 0)
        return ek_change_excess_share(b, which, o);
    return o->usable ? o->r - w->mu : (double)NAN;
}

/* If the factor is a query feature, each list moved by the ln of its value. */
static double level_evidence(const struct ek_detector *d, const struct ek_episode *e,
                             const struct ek_change *c, const struct ek_window *w, int i)
{
    const float *density = ek_profile_density(d->profile, e->feature);
    double r = w->record[i].r - w->mu, shift = c->shift_ln, q = fmin(c->share, SHARE_MOST);
    if (!w->record[i].usable)
        return 0;
    if (ek_episode_is_by_list(e)) {
        float value = ek_history_query(d->history, d->window_row[i])[e->query_feature];
        shift = ek_query_factor_ln(value);
        q = SHARE_MOST;
    }
    return log(1 - q + q * ek_density_at(density, r - shift) / ek_density_at(density, r));
}

double ek_change_evidence(const struct ek_detector *d, const struct ek_episode *e,
                          const struct ek_change *c, const struct ek_window *w, int i)
{
    if (ek_episode_has_level(e))
        return level_evidence(d, e, c, w, i) / ek_episode_design_effect(d, e);
    double x = statistic(d, e, w, i);
    return isnan(x) ? 0 : (x * c->mean - c->mean * c->mean / 2) / c->variance;
}

/* Fit the change to the lists of values with positive evidence, or to all lists if s is NULL. `of`
 * maps lists to values. */
static int fit_level(struct ek_detector *d, const struct ek_episode *e, const struct ek_window *w,
                     const struct ek_split *s, const int16_t *of, struct ek_change *c)
{
    struct ek_residuals h;
    int n = 0;
    for (int i = 0; i < w->count; i++)
        if (w->record[i].usable && (!s || s->value[of[i]].evidence > 0))
            w->scratch[n++] = w->record[i].r - w->mu;
    ek_residuals_get(&h, w->scratch, n);
    struct ek_alignment a = ek_align(ek_profile_density(d->profile, e->feature), &h, &w->known);
    if (!(a.gain_ln > 0))
        return 0;
    c->shift_ln = a.shift_ln;
    c->share = a.share;
    return 1;
}

/* The variance is pooled: clean values vary around 0, hit values around their mean. */
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

static int fit_change(struct ek_detector *d, const struct ek_episode *e, const struct ek_window *w,
                      const struct ek_split *s, const int16_t *of, struct ek_change *c)
{
    if (ek_episode_has_level(e))
        return ek_episode_is_by_list(e) || fit_level(d, e, w, s, of, c);
    return fit_mean(d, e, w, s, of, c);
}

struct ek_change ek_change_compute(struct ek_detector *d, const struct ek_episode *e,
                                   const struct ek_window *w)
{
    struct ek_change c = {e->diagnosis.level.shift_ln, e->diagnosis.level.share, 0, 1};
    if (!ek_episode_has_level(e))
        fit_change(d, e, w, NULL, NULL, &c);
    return c;
}

struct ek_change ek_change_of_share(const struct ek_detector *d, const struct ek_episode *e)
{
    int which = ek_change_share(e->diagnosis.class);
    double trained = (double)d->profile->baseline[e->feature].share[which];
    double now = e->diagnosis.share[which];
    double variance = fmax(now * (1 - now), trained * (1 - trained));
    return (struct ek_change){0, 1, now - trained, fmax(variance, VARIANCE_LEAST)};
}

double ek_change_evidence_since_alarm(struct ek_detector *d, const struct ek_episode *e,
                                      const struct ek_window *w)
{
    struct ek_change c = ek_change_compute(d, e, w);
    double sum = 0;
    for (int i = 0; i < w->count; i++)
        if (d->window_row[i] > e->alarm_row)
            sum += ek_change_evidence(d, e, &c, w, i);
    return sum / w->known.repetition;
}

/* Number the values of a dimension and set of [w->count] to the value of each list. Lists without a
 * value form a value with cell -1. */
static void number_values(const struct ek_detector *d, const struct ek_window *w, int dimension,
                          struct ek_split *s, int16_t *of)
{
    s->count = 0;
    s->gain = 0;
    for (int i = 0; i < w->count; i++) {
        const struct ek_history_row *row = ek_history_row(d->history, d->window_row[i]);
        int cell = ek_row_cell(row->cell[1 + dimension]), at = 0;
        while (at < s->count && s->value[at].cell != cell)
            at++;
        if (at == EK_SPLIT_VALUES)
            at = 0; /* unreachable: the number of cells is smaller */
        else if (at == s->count)
            s->value[s->count++] = (struct ek_value){.cell = cell};
        s->value[at].lists++;
        of[i] = (int16_t)at;
    }
}

static double sum_evidence(const struct ek_detector *d, const struct ek_episode *e,
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
    sum_evidence(d, e, c, w, of, out);
}

static double sum_hits(const struct ek_split *s, int *hits)
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

/* Compute the best split by one dimension. */
static void split_by(struct ek_detector *d, const struct ek_episode *e, const struct ek_window *w,
                     int dimension, struct ek_split *out)
{
    int16_t of[EK_HISTORY];
    int hits;
    struct ek_change c = ek_change_compute(d, e, w);
    number_values(d, w, dimension, out, of);
    fit_change(d, e, w, NULL, of, &c);
    double all = sum_evidence(d, e, &c, w, of, out);
    for (int round = 0; round < ROUNDS; round++) {
        sum_hits(out, &hits);
        if (!hits || hits == out->count || !fit_change(d, e, w, out, of, &c))
            break;
        sum_evidence(d, e, &c, w, of, out);
    }
    out->gain = sum_hits(out, &hits) - all;
    out->gain -= subsets_ln(out->count, hits);
}

enum {
    JOINED_ROWS = 256,
    HITS_MOST = 4 /* hit values reported one by one even if fewer values are clean */
};
static const double GAIN = 6.9;         /* odds of 1,000 for some values against all */
static const double GAIN_TO_WAIT = 1;   /* a split cannot be ruled out yet */
static const double SHARE_TO_WAIT = .2; /* fraction of lists of an undecided value that delays
                                         * the decision */
static const double FEW = 3;            /* lists */
static const double UNSEEN = .1;        /* fraction of the cell's recent lists */
static const double JOINED = .95;       /* fraction of recent lists with the same change that
                                         * makes it one of all traffic */

/* Return the evidence of a cell's lists outside the episode's cell. Set *lists to their number. */
static double evidence_outside(struct ek_detector *d, const struct ek_episode *e,
                               const struct ek_change *c, int cell, int *lists)
{
    struct ek_window w;
    double evidence = 0;
    *lists = 0;
    ek_detector_window(d, e->feature, cell, e->since_row, &w);
    for (int i = 0; i < w.count; i++)
        if (!ek_history_row_in_cell(d->history, d->window_row[i], e->cell)) {
            ++*lists;
            evidence += ek_change_evidence(d, e, c, &w, i);
        }
    return evidence;
}

/* Return whether a value of another dimension explains more than the episode's cell. Its lists
 * elsewhere must have moved too, or not exist. A change at the intersection of two segments
 * stays. */
static int explains_more(struct ek_detector *d, const struct ek_episode *e, int cell)
{
    int lists;
    struct ek_change c = {e->diagnosis.level.shift_ln, 1, 0, 1};
    if (e->cell == 0)
        return 1;
    struct ek_window w;
    ek_detector_window(d, e->feature, e->cell, e->since_row, &w);
    if (!ek_episode_has_level(e))
        c = ek_change_compute(d, e, &w);
    double evidence = evidence_outside(d, e, &c, cell, &lists);
    return lists < FEW || evidence > EK_SPLIT_CLEAR;
}

/* Return the lists of a cell since the alarm. They count toward confirmation in that cell. */
static uint32_t count_lists_since_alarm(const struct ek_detector *d, const struct ek_episode *e,
                                        int cell)
{
    uint32_t lists = 0;
    uint64_t first = ek_history_first(d->history);
    uint64_t from = e->alarm_row + 1 > first ? e->alarm_row + 1 : first;
    for (uint64_t i = from; i < ek_history_count(d->history); i++)
        lists += (uint32_t)ek_history_is_observed(d->history, i, cell);
    return lists;
}

static void hand_over(struct ek_detector *d, const struct ek_episode *from, int cell)
{
    struct ek_episode *e = ek_episode_at(d, cell, from->feature);
    if (!e)
        e = ek_episode_open(d, from->feature, cell, from->bet);
    if (!e)
        return;
    uint32_t lists = count_lists_since_alarm(d, from, cell);
    if (e->lists < lists) {
        e->lists = lists;
        e->alarm_row = from->alarm_row;
    }
    if (e->phase == EK_PHASE_SUSPECTED && e->since_row > from->since_row)
        ek_episode_begin(d, e, from->since_row);
    int own = ek_cells_dimension(d->cells, from->cell);
    e->from_dimensions |= from->from_dimensions | (own < 0 ? 0 : 1u << own);
    e->handed_from = from->number;
    ek_episode_mark_lists(d, e);
    if (from->phase == EK_PHASE_CONFIRMED && e->phase == EK_PHASE_SUSPECTED)
        ek_episode_inherit(d, e, from);
}

static int is_hit(const struct ek_value *v)
{
    return v->evidence > EK_SPLIT_CLEAR;
}

/* Return whether a split is significant: some values moved, others surely did not, and the gain is
 * large. */
static int is_apart(const struct ek_split *s)
{
    int hits = 0, clean = 0;
    for (int i = 0; i < s->count; i++) {
        if (is_hit(&s->value[i]) && s->value[i].cell < 0)
            return 0; /* lists without a value have moved */
        hits += is_hit(&s->value[i]);
        clean += s->value[i].evidence < -EK_SPLIT_CLEAR;
    }
    return s->gain > GAIN && hits && clean && (hits <= clean || hits <= HITS_MOST);
}

/* Return whether more lists may reveal a split. */
static int is_open(const struct ek_split *s, int lists)
{
    if (s->count < 2)
        return 0;
    if (s->gain > GAIN_TO_WAIT)
        return 1;
    for (int i = 0; i < s->count; i++)
        if (fabs(s->value[i].evidence) <= EK_SPLIT_CLEAR &&
            s->value[i].lists > SHARE_TO_WAIT * lists)
            return 1;
    return 0;
}

static const struct ek_value *value_of_cell(const struct ek_split *s, int cell)
{
    for (int i = 0; i < s->count; i++)
        if (s->value[i].cell == cell)
            return &s->value[i];
    return NULL;
}

/* Return whether a part of the cell's traffic is in values that have not been seen with the change,
 * as after a few lists of one value. More than a few values are unlikely to be all of the hit
 * ones. */
static int is_unseen(struct ek_detector *d, const struct ek_episode *e, int dimension,
                     const struct ek_split *s)
{
    struct ek_split all;
    struct ek_window w;
    int hits = 0, unseen = 0;
    for (int i = 0; i < s->count; i++)
        hits += is_hit(&s->value[i]);
    if (hits >= HITS_MOST)
        return 0;
    int lists = ek_detector_window_for(d, e->feature, e->cell, 0, JOINED_ROWS, &w);
    ek_split_lists(d, &w, dimension, &all);
    for (int i = 0; i < all.count; i++) {
        const struct ek_value *v = value_of_cell(s, all.value[i].cell);
        unseen += v && is_hit(v) ? 0 : all.value[i].lists;
    }
    return unseen > UNSEEN * lists;
}

int ek_localize_to(struct ek_detector *d, struct ek_episode *e, const struct ek_split *s)
{
    int hits = 0;
    for (int i = 0; i < s->count; i++)
        hits += is_hit(&s->value[i]) && s->value[i].cell >= 0 &&
                !ek_episode_at(d, s->value[i].cell, e->feature);
    if (hits > ek_episodes_available(d))
        return 0;
    for (int i = 0; i < s->count; i++)
        if (is_hit(&s->value[i]) && s->value[i].cell >= 0)
            hand_over(d, e, s->value[i].cell);
    return 1;
}

static int explains_all(struct ek_detector *d, const struct ek_episode *e, const struct ek_split *s)
{
    for (int i = 0; i < s->count; i++)
        if (is_hit(&s->value[i]) && !explains_more(d, e, s->value[i].cell))
            return 0;
    return 1;
}

/* Either dimension explains a change of arm B in app 7.1 alone, so a dimension gets no change back,
 * unless it has spread to all traffic since and has now ended in some values. */
enum ek_localization ek_localize(struct ek_detector *d, struct ek_episode *e, uint64_t since)
{
    struct ek_split best, s;
    bool early =
        e->phase == EK_PHASE_SUSPECTED && e->lists < (uint32_t)d->rules->confirmation_lists;
    bool spread = e->cell == 0 && e->phase == EK_PHASE_CONFIRMED;
    unsigned from = spread ? 0 : e->from_dimensions;
    int own = ek_cells_dimension(d->cells, e->cell), found = 0, open = 0;
    if (e->diagnosis.class == EK_CLASS_NONE)
        return EK_LOCALIZE_SAME;
    for (int i = 0; i < ek_cells_dimensions(d->cells); i++) {
        struct ek_window w;
        if (i == own || (from >> i & 1))
            continue;
        ek_detector_window(d, e->feature, e->cell, since, &w);
        w.known = (struct ek_align_known){e->level_error, 1, 0};
        split_by(d, e, &w, i, &s);
        open |= is_open(&s, w.count) || (early && is_unseen(d, e, i, &s));
        if (is_apart(&s) && (!found || s.gain > best.gain) && explains_all(d, e, &s)) {
            best = s;
            found = 1;
        }
    }
    if (found && ek_localize_to(d, e, &best))
        return EK_LOCALIZE_MOVED;
    return open ? EK_LOCALIZE_UNDECIDED : EK_LOCALIZE_SAME;
}

/* A change of all traffic may reach its first alarm in one segment. */
enum ek_localization ek_localize_to_all(struct ek_detector *d, struct ek_episode *e)
{
    struct ek_window w;
    int lists;
    if (e->cell == 0 || e->claimed)
        return EK_LOCALIZE_SAME;
    ek_detector_window(d, e->feature, e->cell, e->since_row, &w);
    struct ek_change c = ek_change_compute(d, e, &w);
    double evidence = evidence_outside(d, e, &c, 0, &lists);
    if (lists < FEW && e->lists < (uint32_t)d->rules->confirmation_lists)
        return EK_LOCALIZE_UNDECIDED;
    if (lists < FEW || evidence < -EK_SPLIT_CLEAR)
        return EK_LOCALIZE_SAME;
    if (evidence <= EK_SPLIT_CLEAR)
        return EK_LOCALIZE_UNDECIDED;
    if (!ek_episode_at(d, 0, e->feature) && !ek_episodes_available(d))
        return EK_LOCALIZE_SAME;
    hand_over(d, e, 0);
    return EK_LOCALIZE_MOVED;
}

/* Return whether a confirmed episode in the row's cells has the same change as e. */
static int has_same(struct ek_detector *d, const struct ek_episode *e, uint64_t row)
{
    const int16_t *cells = ek_history_row(d->history, row)->cell;
    for (int i = 0; i <= ek_cells_dimensions(d->cells); i++) {
        const struct ek_episode *o = cells[i] < 0 ? NULL : ek_episode_at(d, cells[i], e->feature);
        if (o && o->phase == EK_PHASE_CONFIRMED && ek_incident_is_same_change(o, e))
            return 1;
    }
    return 0;
}

void ek_localize_joined(struct ek_detector *d, struct ek_episode *e)
{
    uint64_t count = ek_history_count(d->history), same = 0, rows = 0;
    uint64_t recent = count < JOINED_ROWS ? count : JOINED_ROWS;
    if (e->cell == 0 || !ek_episodes_available(d) || ek_episode_at(d, 0, e->feature))
        return;
    for (uint64_t i = count - recent; i < count; i++) {
        if (!ek_history_is_observed(d->history, i, 0))
            continue;
        rows++;
        same += (uint64_t)has_same(d, e, i);
    }
    if (rows && (double)same > JOINED * (double)rows)
        hand_over(d, e, 0);
}
