/* Lifecycle of a finding: suspected, confirmed, updated, dismissed or recovered. */
#include "detect/detector_internal.h"
#include "detect/localize_segment.h"

#include <math.h>
#include <string.h>

/* Recovery: threshold of the statistic, and bounds of the bet of one list. */
static const double RECOVERY_LEVEL = 1e6, RECOVERY_MOST = 148.4, RECOVERY_LEAST = 1e-3;
/* A segment value with at least this fraction of the lists must look normal before a change of all
 * traffic recovers. Required ln likelihood ratio: CERTAINTY_PER_SHIFT per ln of the shift, at most
 * CERTAINTY. */
static const double FRACTION_LEAST = 1.0 / 32, CERTAINTY = 1.5, CERTAINTY_PER_SHIFT = 2;
/* Fraction of lists with a spread above training's 99.5% quantile: usual, and bounds for a
 * mixture. */
static const double INCOHERENT_USUALLY = .005, MIXTURE_LEAST = .02, MIXTURE_MOST = .99;
static const double MOST_LISTS = .9; /* fraction from which a level counts as that of all lists */
static const double FAULTY = 7;      /* ln likelihood ratio of a value that is still faulty */
/* Ln odds (10,000) of the lists since the alarm alone for an early confirmation, and of those since
 * the recovery began against a change of shares. */
static const double SURE_ODDS = 9.21;
enum {
    VALUE_TIMEOUT = 128, /* lists after which an absent segment value no longer delays recovery */
    RECOVERY_TIMEOUT = 1024, /* lists after which an unfinished recovery is reset */
};

/* Return the shift that the lists must contradict: the end of the interval that is closer to
 * normal, at least half of the shift. A factor that was measured too large makes faulty lists look
 * normal. */
static double shift_to_leave(const struct ek_alignment *level)
{
    return level->shift_ln > 0 ? fmax(level->low_ln, level->shift_ln / 2)
                               : fmin(level->high_ln, level->shift_ln / 2);
}

/* Return the fraction of lists that a recovery must contradict: all, or half of a part. With a
 * factor per list, those far from the diagnosed one look normal, and the diagnosed part is too
 * large. */
static double share_to_leave(const struct ek_alignment *level)
{
    return level->share > MOST_LISTS ? level->share : level->share / 2;
}

/* Return the bet of one list on recovery of the level: the density in training over the density of
 * the finding. */
static double level_recovery_bet(const struct ek_detector *d, const struct ek_episode *e,
                                 const struct ek_list_stats *record, float r, const float *query)
{
    const float *density = ek_profile_density(d->profile, e->feature);
    double normal = ek_density_at(density, r), moved;
    if (!record->usable)
        return 1;
    if (ek_episode_is_by_list(e)) {
        double factor_ln = ek_query_factor_ln(query[e->query_feature]);
        moved = ek_density_at(density, r - factor_ln);
    } else {
        double q = share_to_leave(&e->diagnosis.level);
        moved =
            (1 - q) * normal + q * ek_density_at(density, r - shift_to_leave(&e->diagnosis.level));
    }
    return fmin(fmax(normal / moved, RECOVERY_LEAST), RECOVERY_MOST);
}

/* Return whether only the fraction of incoherent lists distinguishes the change. */
static int is_mixture(const struct ek_diagnosis *g)
{
    return g->class == EK_ITEMS && g->incoherent > MIXTURE_LEAST;
}

/* Return the bet of one list on recovery of the spread. */
static double spread_recovery_bet(const struct ek_detector *d, const struct ek_episode *e,
                                  const struct ek_list_stats *record)
{
    struct ek_baseline own;
    const struct ek_baseline *b = ek_episode_baseline(d, e, &own);
    double q = fmin(e->diagnosis.incoherent, MIXTURE_MOST);
    if (!ek_spread_known(b, record->usable))
        return 1;
    return record->spread > b->spread_hi[ek_size_class(record->usable)]
               ? INCOHERENT_USUALLY / q
               : (1 - INCOHERENT_USUALLY) / (1 - q);
}

/* Return the ln odds of the lists of the window against a change of shares, 0 for other classes. */
static double compute_odds_against(struct ek_detector *d, const struct ek_episode *e,
                                   const struct ek_window *w)
{
    double evidence = 0;
    if (ek_change_share(e->diagnosis.class) < 0)
        return 0;
    struct ek_change c = ek_change_of_share(d, e);
    for (int i = 0; i < w->count; i++)
        evidence -= ek_change_evidence(d, e, &c, w, i);
    return evidence;
}

/* For classes without a level: return the number of last lists if they look like training in every
 * respect, else 0. *row: the first of them, *odds_ln: against the change. A level below
 * report_threshold counts as normal, because traffic may have drifted since. */
static int count_normal_lists(struct ek_detector *d, struct ek_episode *e, uint64_t *row,
                              double *odds_ln)
{
    struct ek_window w;
    struct ek_baseline own;
    struct ek_category_diagnosis category;
    int count = ek_detector_window_for(d, e->feature, e->cell, e->since_row, EK_RECOVERY_LISTS, &w);
    *row = count ? d->window_row[0] : e->since_row;
    *odds_ln = compute_odds_against(d, e, &w);
    w.known = (struct ek_align_known){e->level_error, 1, 0};
    int usual = ek_window_is_normal(ek_episode_baseline(d, e, &own),
                                    ek_profile_density(d->profile, e->feature), &w,
                                    ek_detector_rule(d, e->feature)->report_threshold) &&
                !ek_categories_diagnose(d->categories, e->feature, e->cell, d->window_row, count,
                                        &category);
    return usual ? count : 0;
}

static const struct ek_value *find_value(const struct ek_split *s, int cell)
{
    for (int i = 0; i < s->count; i++)
        if (s->value[i].cell == cell)
            return &s->value[i];
    return NULL;
}

static bool is_late(const struct ek_episode *e)
{
    return e->lists - e->recovering_at >= VALUE_TIMEOUT;
}

/* Return whether a segment value is surely faulty since the recovery began. */
static bool is_faulty(const struct ek_episode *e, const struct ek_value *now)
{
    return now->evidence > (is_late(e) ? EK_SPLIT_CLEAR : FAULTY);
}

/* Return whether a segment value with this fraction of the lists may be faulty or healthy. now: its
 * evidence since the recovery began, NULL without lists. */
static bool is_awaited(const struct ek_episode *e, const struct ek_value *now, double part)
{
    double harm = ek_episode_has_level(e) && e->query_feature < 0
                      ? CERTAINTY_PER_SHIFT * fabs(e->diagnosis.level.shift_ln)
                      : CERTAINTY;
    if (part < FRACTION_LEAST)
        return false;
    if (!now)
        return !is_late(e);
    return !is_faulty(e, now) && now->evidence >= (is_late(e) ? 0 : -fmin(harm, CERTAINTY));
}

/* Return whether a change stays one of all traffic until it has ended in each segment. Small
 * changes of these classes return, and would pass from one segment to another and back. */
static bool stays_in_all_traffic(const struct ek_detector *d, const struct ek_episode *e)
{
    enum ek_class class = e->diagnosis.class;
    return (class == EK_ITEMS || class == EK_SHAPE) && ek_incident_has_ended(d, e);
}

/* End a recovery that the lists contradict: the next one has lists of its own. */
static void restart_recovery(struct ek_episode *e)
{
    e->recovering = 0;
    e->recovery = e->recovery_ln = 0;
}

/* Check one dimension since the recovery began. Return EK_RECOVERY_PARTIAL if the change was handed
 * over to all faulty values, EK_RECOVERY_NONE while some may be faulty. Lists without a value have
 * no segment, so nothing is handed over while they are faulty. Set *goes_on to whether the change
 * goes on in all values, or in some that cannot take it. */
static enum ek_recovery check_dimension(struct ek_detector *d, struct ek_episode *e, int dimension,
                                        bool *goes_on)
{
    struct ek_split all, now;
    struct ek_window w;
    int faulty = 0, unnamed = 0, better = 0, fine = 0, awaited = 0;
    int lists = ek_detector_window(d, e->feature, e->cell, e->since_row, &w);
    struct ek_change c = ek_change_compute(d, e, &w);
    ek_split_lists(d, &w, dimension, &all);
    ek_detector_window(d, e->feature, e->cell, e->recovery_row, &w);
    ek_split_values(d, e, &c, &w, dimension, &now);
    for (int i = 0; i < all.count; i++)
        awaited +=
            is_awaited(e, find_value(&now, all.value[i].cell), (double)all.value[i].lists / lists);
    for (int i = 0; i < now.count; i++) {
        better += now.value[i].evidence < 0;
        fine += now.value[i].evidence < -EK_SPLIT_CLEAR;
        if (is_faulty(e, &now.value[i])) {
            faulty++;
            unnamed += now.value[i].cell < 0;
        } else {
            now.value[i].evidence = 0; /* excludes the value from the handover */
        }
    }
    if (!awaited && !faulty)
        return EK_RECOVERY_FULL;
    bool stays = unnamed || stays_in_all_traffic(d, e), known = faulty && !awaited;
    if (known && fine && !stays)
        return ek_localize_to(d, e, &now) ? EK_RECOVERY_PARTIAL : EK_RECOVERY_NONE;
    *goes_on = (faulty && !better) || (known && stays);
    return EK_RECOVERY_NONE;
}

/* Check the segments of a change of all traffic: it ends when it has ended in each, and continues
 * in faulty ones. A change of a segment has no such check, because segments of other dimensions
 * contain unrelated lists. */
static enum ek_recovery check_segments(struct ek_detector *d, struct ek_episode *e)
{
    enum ek_recovery result = EK_RECOVERY_FULL;
    int count = e->cell ? 0 : ek_cells_dimensions(d->cells), going_on = 0;
    for (int i = 0; i < count && result != EK_RECOVERY_PARTIAL; i++) {
        bool goes_on = false;
        enum ek_recovery one = check_dimension(d, e, i, &goes_on);
        going_on += goes_on;
        if (one != EK_RECOVERY_FULL)
            result = one;
    }
    if (count && going_on == count && result == EK_RECOVERY_NONE &&
        (ek_episode_has_level(e) || is_mixture(&e->diagnosis)))
        restart_recovery(e);
    return result;
}

/* Update the CUSUM of the recovery bets. Its last start dates the recovery (Page 1954). */
static void track_recovery(const struct ek_detector *d, struct ek_episode *e, double bet_ln)
{
    if (e->recovering)
        return;
    if (e->recovery_ln <= 0) {
        e->recovery_ln = 0;
        e->recovery_row = ek_history_count(d->history) - 1;
    }
    e->recovery_ln += bet_ln;
}

/* Return whether all lists together have looked like training for RECOVERY_TIMEOUT lists. If the
 * change goes on in a segment, the evidence of the segment finds it again; usual differences
 * between segments must not keep it open forever. */
static bool has_looked_normal(const struct ek_episode *e)
{
    return !ek_episode_has_level(e) && !is_mixture(&e->diagnosis) &&
           e->recovery >= RECOVERY_TIMEOUT;
}

/* Return whether normal lists contradict the change. One of shares may affect a part of the lists,
 * so that a few normal ones in a row are chance. */
static bool is_contradicted(const struct ek_episode *e)
{
    return ek_change_share(e->diagnosis.class) < 0 || e->recovery_ln > SURE_ODDS;
}

/* Return whether the cell as a whole looks normal, including the current list. */
static int is_normal(struct ek_detector *d, struct ek_episode *e,
                     const struct ek_list_stats *record, float r, const float *query)
{
    if (ek_episode_has_level(e) || is_mixture(&e->diagnosis)) {
        double bet = is_mixture(&e->diagnosis) ? spread_recovery_bet(d, e, record)
                                               : level_recovery_bet(d, e, record, r, query);
        bet = pow(bet, 1 / ek_episode_design_effect(d, e));
        track_recovery(d, e, log(bet));
        e->recovery = (e->recovery + 1) * bet;
        return e->recovery > RECOVERY_LEVEL;
    }
    /* Offset by the number, so that simultaneous episodes use different lists. */
    if ((e->lists + e->number - 1) % EK_RECOVERY_LISTS)
        return 0;
    uint64_t row;
    double odds_ln;
    int normal = count_normal_lists(d, e, &row, &odds_ln);
    if (!(e->recovery > 0) && !e->recovering)
        e->recovery_row = row;
    e->recovery = normal ? e->recovery + normal : 0;
    e->recovery_ln = normal ? e->recovery_ln + odds_ln : 0;
    return e->recovery >= EK_RECOVERY_LISTS && (is_contradicted(e) || has_looked_normal(e));
}

/* Update the recovery of a confirmed episode with one list. */
static enum ek_recovery check_recovery(struct ek_detector *d, struct ek_episode *e,
                                       const struct ek_list_stats *record, float r,
                                       const float *query)
{
    if (is_normal(d, e, record, r, query) && !e->recovering) {
        e->recovering = 1;
        e->recovering_at = e->lists;
    }
    if (!e->recovering)
        return EK_RECOVERY_NONE;
    enum ek_recovery result = EK_RECOVERY_NONE;
    if (ek_scheduler_can_recover(d, e, e->recovering_at == e->lists))
        result = check_segments(d, e);
    if (result == EK_RECOVERY_NONE && e->lists - e->recovering_at >= RECOVERY_TIMEOUT) {
        if (has_looked_normal(e))
            return EK_RECOVERY_FULL;
        restart_recovery(e);
    }
    return result;
}

enum {
    LOOK_PART = 32, /* of `confirmation_lists`, the lists from the alarm to the first diagnosis */
    STEADY_LISTS = 16, /* minimum for classes without a level: a burst may be over by then */
    ATTEMPTS = 4,      /* diagnoses, each after twice as many lists, before an alarm is dropped */
    UNCERTAIN = 24, /* further diagnoses, every UNCERTAIN_LISTS, of a large but uncertain level */
    UNCERTAIN_LISTS = 128,
    LONG_LISTS = 1024,     /* a longer episode makes the tracked level outdated */
    INTERVAL_MOST = 16384, /* maximum number of lists between two full diagnoses */
    SILENT_LISTS = 64,     /* expected lists of a segment without one, after which it has ended */
    WAITS = 2 /* delays, each of confirmation_lists / 2, while a segment may explain a change */
};
static const double FEW_LISTS = .5;    /* fraction of lists */
static const double SHIFT_CHANGE = .3; /* tolerance of an unchanged shift, relative */

bool ek_finding_is_over(enum ek_finding_state s)
{
    return s == EK_DISMISSED || s == EK_RECOVERED;
}

const char *ek_finding_state_name(enum ek_finding_state s)
{
    static const char *const names[] = {"suspected", "confirmed", "updated", "dismissed",
                                        "recovered"};
    return names[s];
}

const char *ek_reason_text(int reason)
{
    static const char *const texts[EK_REASONS] = {
        [EK_REASON_SEGMENT] = "explained by a segment",
        [EK_REASON_OTHER_CELL] = "explained by another segment",
        [EK_REASON_ALL_TRAFFIC] = "all traffic has it now",
        [EK_REASON_NO_LISTS] = "no such lists any more",
        [EK_REASON_CONTINUES] = "goes on in a segment",
        [EK_REASON_TOO_SMALL] = "smaller than report_threshold",
        [EK_REASON_UNSUPPORTED] = "not borne out",
        [EK_REASON_OTHER_FINDING] = "one with another finding",
        [EK_REASON_ACCEPTED] = "accepted as normal",
        [EK_REASON_OTHER_NORMAL] = "another level is normal now",
        [EK_REASON_NOT_WATCHED] = "not watched any more",
    };
    return texts[reason];
}

const char *ek_finding_accepted(void)
{
    return ek_reason_text(EK_REASON_ACCEPTED);
}

/* Return whether the mix of the traffic explains the shift of the level. */
static bool is_mix(const struct ek_episode *e)
{
    enum ek_class class = e->diagnosis.class;
    bool moved = class == EK_SCALE || class == EK_OFFSET || class == EK_POWER;
    return moved && e->query_feature < 0 && (e->mix == EK_MIX_EXPLAINED || e->mix == EK_MIX_SHARED);
}

/* Return whether the fraction of lists is within a standard error of action_min_fraction or below:
 * a route affects all lists. */
static int is_few(const struct ek_detector *d, const struct ek_episode *e)
{
    double share = e->diagnosis.level.share;
    double lists = fmax(e->diagnosis.lists, e->lists);
    return ek_episode_has_level(e) && e->query_feature < 0 &&
           share - sqrt(share * (1 - share) / fmax(lists, 1)) <
               ek_detector_rule(d, e->feature)->action_min_fraction;
}

static void fill_diagnosis(const struct ek_detector *d, const struct ek_episode *e,
                           struct ek_finding *f)
{
    const struct ek_diagnosis *g = &e->diagnosis;
    struct ek_baseline own;
    f->class = g->class;
    f->share = ek_episode_has_level(e) ? g->level.share : g->class == EK_ITEMS ? g->incoherent : 1;
    if (g->class == EK_NEW_CATEGORY) {
        f->share = e->category.lists;
        f->category_count = e->category.count;
        memcpy(f->category, e->category.change, sizeof f->category);
    }
    if (ek_class_counts_values(g->class)) {
        int which = ek_change_share(g->class);
        f->value_share = g->share[which];
        f->trained_share = d->profile->baseline[e->feature].share[which];
        f->fewer = g->class == EK_SIGN
                       ? ek_diagnosis_is_sentinel(ek_episode_baseline(d, e, &own), g)
                       : f->value_share < f->trained_share;
    }
    f->passing = !ek_episode_is_lasting(d, e);
    f->weak =
        is_few(d, e) || ek_is_small_offset(&d->profile->baseline[e->feature], g,
                                           log(ek_detector_rule(d, e->feature)->action_threshold));
    f->gradual = ek_episode_has_level(e) && e->query_feature < 0 && e->gradual;
    f->varies = ek_episode_has_level(e) && e->query_feature < 0 && e->varies;
    f->mix = is_mix(e);
    f->spread_ratio = g->spread_ratio;
    f->exponent = g->exponent;
    if (!ek_episode_has_level(e))
        return;
    f->error_ln = g->level.error_ln;
    f->factor = exp(g->level.shift_ln);
    f->factor_low = exp(g->level.low_ln);
    f->factor_high = exp(g->level.high_ln);
    f->query_feature = e->query_feature;
    if (e->query_feature < 0 && !f->varies)
        f->unit_count = ek_units_match(d->rules, d->manifest, e->feature, g->level.shift_ln,
                                       g->level.low_ln, g->level.high_ln, f->unit);
}

void ek_episode_finding(const struct ek_detector *d, const struct ek_episode *e,
                        enum ek_finding_state state, const char *reason, struct ek_finding *f)
{
    uint64_t last = ek_history_count(d->history) - 1;
    memset(f, 0, sizeof *f);
    f->state = state;
    f->episode = e->number;
    f->cause = e->cause;
    f->query = ek_history_row(d->history, last)->query;
    f->time_ms = ek_history_row(d->history, last)->time_ms;
    f->since_query = e->since_query;
    f->since_ms = e->since_ms;
    f->feature = e->feature;
    f->cell = e->cell;
    f->dimension = ek_cells_dimension_name(d->cells, e->cell);
    f->value = ek_cells_value(d->cells, e->cell);
    f->signal = e->bet < EK_BETS ? ek_bet_name(e->bet) : ek_category_bet_name(e->bet);
    f->reason = reason;
    f->factor = f->factor_low = f->factor_high = f->error_ln = NAN;
    f->share = f->spread_ratio = 1;
    f->query_feature = -1;
    if (e->phase == EK_PHASE_CONFIRMED)
        fill_diagnosis(d, e, f);
}

static void report_finding(struct ek_detector *d, const struct ek_episode *e,
                           enum ek_finding_state state, const char *reason)
{
    struct ek_finding f;
    if (e->unreported)
        return;
    ek_episode_finding(d, e, state, reason, &f);
    if (d->findings - d->fetched == EK_FINDINGS_MAX) {
        d->fetched++;
        d->exceeded.count[EK_BOUND_FINDINGS]++;
    }
    d->finding[d->findings++ % EK_FINDINGS_MAX] = f;
}

struct ek_episode *ek_episode_place(struct ek_detector *d)
{
    for (int i = 0; i < d->episodes; i++)
        if (d->episode[i].phase == EK_PHASE_NONE)
            return &d->episode[i];
    if (d->episodes < EK_EPISODES_MAX)
        return &d->episode[d->episodes++];
    d->exceeded.count[EK_BOUND_CHANGES]++;
    return NULL;
}

void ek_episode_enter(struct ek_detector *d, const struct ek_episode *e)
{
    d->episode_of[ek_detector_cell_slot(d, e->cell, e->feature)] = (uint16_t)(e - d->episode + 1);
    d->open[e->feature] += e->claimed;
    ek_cells_retain(d->cells, e->cell);
}

int ek_episodes_available(const struct ek_detector *d)
{
    int open = 0;
    for (int i = 0; i < d->episodes; i++)
        open += d->episode[i].phase != EK_PHASE_NONE;
    return EK_EPISODES_MAX - open;
}

/* Return when a suspected change is diagnosed next: at a 32nd of `confirmation_lists`, after each
 * doubling of its lists, and at `confirmation_lists`. */
static uint32_t next_look(const struct ek_detector *d, uint32_t lists)
{
    uint32_t most = (uint32_t)d->rules->confirmation_lists;
    uint32_t next = most > LOOK_PART ? most / LOOK_PART : 1;
    while (next <= lists)
        next *= 2;
    return next < most ? next : most;
}

struct ek_episode *ek_episode_open(struct ek_detector *d, int feature, int cell, int bet)
{
    struct ek_episode *e = ek_episode_place(d);
    if (!e)
        return NULL;
    uint64_t since = ek_change_point(d, feature, cell, bet);
    memset(e, 0, sizeof *e);
    e->number = ++d->episodes_ever;
    e->phase = EK_PHASE_SUSPECTED;
    e->feature = feature;
    e->cell = cell;
    e->bet = bet;
    e->query_feature = -1;
    ek_episode_begin(d, e, since);
    e->alarm_row = ek_history_count(d->history) - 1;
    e->due = next_look(d, 0);
    ek_episode_enter(d, e);
    e->unreported = ek_episode_is_small_at_alarm(d, e);
    report_finding(d, e, EK_SUSPECTED, NULL);
    return e;
}

void ek_episode_mark_lists(struct ek_detector *d, struct ek_episode *e)
{
    d->open[e->feature] += !e->claimed;
    d->claims++;
    e->claimed = 1;
}

static void close_episode(struct ek_detector *d, struct ek_episode *e)
{
    size_t at = ek_detector_cell_slot(d, e->cell, e->feature);
    d->open[e->feature] -= e->claimed;
    d->claims++;
    d->episode_of[at] = 0;
    ek_cells_release(d->cells, e->cell);
    e->phase = EK_PHASE_NONE;
    ek_evidence_restart(d->evidence, e->cell, e->feature);
    if (e->lists > LONG_LISTS)
        *ek_evidence_list_count(d->evidence, e->cell, e->feature) = 0;
    ek_categories_restart(d->categories, e->feature, e->cell);
}

void ek_episode_report_updated(struct ek_detector *d, const struct ek_episode *e)
{
    report_finding(d, e, EK_UPDATED, NULL);
}

void ek_episode_report_dismissed(struct ek_detector *d, const struct ek_episode *e,
                                 enum ek_reason why)
{
    report_finding(d, e, EK_DISMISSED, ek_reason_text(why));
}

void ek_episode_dismiss(struct ek_detector *d, struct ek_episode *e, enum ek_reason why)
{
    report_finding(d, e, EK_DISMISSED, ek_reason_text(why));
    close_episode(d, e);
}

/* Report a suspected episode that looked too small before. */
static void report_suspected(struct ek_detector *d, struct ek_episode *e)
{
    if (!e->unreported)
        return;
    e->unreported = 0;
    report_finding(d, e, EK_SUSPECTED, NULL);
}

/* Share an explanation by the mix of the traffic within the incident: few features have enough
 * others to predict them. */
static void share_mix(struct ek_detector *d, struct ek_episode *e)
{
    for (int i = 0; i < d->episodes; i++) {
        struct ek_episode *o = &d->episode[i];
        if (o == e || o->phase != EK_PHASE_CONFIRMED || o->cause != e->cause)
            continue;
        if (e->mix == EK_MIX_POSSIBLE && o->mix == EK_MIX_EXPLAINED)
            e->mix = EK_MIX_SHARED;
        if (e->mix == EK_MIX_EXPLAINED && o->mix == EK_MIX_POSSIBLE) {
            o->mix = EK_MIX_SHARED;
            report_finding(d, o, EK_UPDATED, NULL);
        }
    }
}

/* Return the list count of the next diagnosis of a confirmed episode. It comes sooner while the
 * change is not lasting, because no route starts until then. */
static uint32_t next_check(const struct ek_detector *d, const struct ek_episode *e)
{
    uint32_t half = (uint32_t)(d->rules->confirmation_lists + 1) / 2;
    if (e->lists < (uint32_t)d->rules->confirmation_lists) /* confirmed early */
        return next_look(d, e->lists);
    bool soon =
        e->lists < EK_UPDATE_LISTS && half < EK_UPDATE_LISTS && !ek_episode_is_lasting(d, e);
    return e->lists + (soon ? half : EK_UPDATE_LISTS);
}

static void confirm_episode(struct ek_detector *d, struct ek_episode *e)
{
    if (ek_episode_has_level(e) && e->query_feature < 0) {
        struct ek_window w;
        ek_episode_bound_level(d, e);
        ek_refine_since(d, e);
        struct ek_episode first = *e;
        if (ek_diagnose(d, e, &w) <= 0)
            *e = first;
    }
    report_suspected(d, e);
    e->phase = EK_PHASE_CONFIRMED;
    e->recovery = 0;
    e->due = next_check(d, e);
    ek_incident_assign(d, e);
    share_mix(d, e);
    ek_episode_mark_lists(d, e);
    report_finding(d, e, EK_CONFIRMED, NULL);
    ek_incident_dismiss_others(d, e);
}

/* Track a level within report_threshold, or it would raise the same alarm again. */
static void follow_small_shift(struct ek_detector *d, const struct ek_episode *e)
{
    if (ek_bet_is_level(e->bet) && e->diagnosis.level.share > EK_WHOLE_SHARE)
        ek_episode_follow(d, e, e->diagnosis.level.shift_ln);
}

/* Take the level before the change from another episode of it. */
static void inherit_level(struct ek_episode *e, const struct ek_episode *from)
{
    e->level_error = from->level_error;
    e->before_ln = from->before_ln;
    e->wider = from->wider;
    e->usual.known = 0;
}

void ek_episode_inherit(struct ek_detector *d, struct ek_episode *e, const struct ek_episode *from)
{
    struct ek_window w;
    if (ek_episode_has_returned(d, e))
        inherit_level(e, from);
    if (ek_diagnose(d, e, &w) <= 0) {
        e->diagnosis = from->diagnosis;
        e->category = from->category;
        e->query_feature = from->query_feature;
        inherit_level(e, from);
    }
    e->gradual = from->gradual;
    e->varies = from->varies;
    e->mix = from->mix;
    e->cause = from->cause;
    confirm_episode(d, e);
}

/* Return whether the episode can be confirmed now. Otherwise delay it, because more lists may
 * assign the change to a segment. */
static int can_confirm(struct ek_detector *d, struct ek_episode *e, enum ek_localization where)
{
    if (where != EK_LOCALIZE_UNDECIDED || e->waits == WAITS)
        return 1;
    e->waits++;
    e->due = e->lists + (uint32_t)(d->rules->confirmation_lists + 1) / 2;
    return 0;
}

static void confirm_or_wait(struct ek_detector *d, struct ek_episode *e, enum ek_localization where)
{
    enum ek_localization up = ek_localize_to_all(d, e);
    if (up == EK_LOCALIZE_MOVED)
        ek_episode_dismiss(d, e, EK_REASON_ALL_TRAFFIC);
    else if (can_confirm(d, e, up == EK_LOCALIZE_UNDECIDED ? up : where)) {
        confirm_episode(d, e);
        ek_localize_joined(d, e);
    }
}

/* Return whether the estimated level exceeds report_threshold, regardless of its error. The level
 * may still be moving. */
static int is_large(const struct ek_detector *d, const struct ek_episode *e)
{
    double effect = log(ek_detector_rule(d, e->feature)->report_threshold);
    return e->diagnosis.class == EK_SCALE && fabs(e->diagnosis.level.shift_ln) > effect;
}

/* Return whether the lists since the alarm alone show the change beyond doubt, with its class and a
 * narrow interval. The lists before raised the alarm because they were far off. */
static bool is_sure(struct ek_detector *d, const struct ek_episode *e, const struct ek_window *w)
{
    bool settled = e->diagnosis.class == EK_SCALE && e->query_feature < 0
                       ? ek_diagnosis_is_plain_scale(d, e, w)
                       : e->lists >= STEADY_LISTS;
    return settled && ek_change_evidence_since_alarm(d, e, w) > SURE_ODDS &&
           ek_episode_is_lasting(d, e);
}

/* Confirm, or hand over, a change that needs no `confirmation_lists`. */
static void look_early(struct ek_detector *d, struct ek_episode *e)
{
    struct ek_window w;
    e->due = next_look(d, e->lists);
    if (ek_diagnose(d, e, &w) <= 0 || !is_sure(d, e, &w) || ek_episode_follows_query(d, e))
        return;
    enum ek_localization where = ek_localize(d, e, e->since_row);
    if (where == EK_LOCALIZE_MOVED) {
        ek_episode_dismiss(d, e, EK_REASON_SEGMENT);
        return;
    }
    enum ek_localization up = ek_localize_to_all(d, e);
    if (up == EK_LOCALIZE_MOVED)
        ek_episode_dismiss(d, e, EK_REASON_ALL_TRAFFIC);
    else if (where == EK_LOCALIZE_SAME && up == EK_LOCALIZE_SAME) {
        confirm_episode(d, e);
        ek_localize_joined(d, e);
    }
}

static void update_suspected(struct ek_detector *d, struct ek_episode *e)
{
    struct ek_window w;
    int worth = ek_diagnose(d, e, &w);
    if (worth > 0 && ek_episode_follows_query(d, e)) {
        e->due = e->lists + UNCERTAIN_LISTS;
        return;
    }
    enum ek_localization where = worth >= 0 ? ek_localize(d, e, e->since_row) : EK_LOCALIZE_SAME;
    if (where == EK_LOCALIZE_MOVED) {
        ek_episode_dismiss(d, e, EK_REASON_SEGMENT);
        return;
    }
    if (worth > 0) {
        confirm_or_wait(d, e, where);
        return;
    }
    if (worth == 0 && !ek_episode_is_small_shift(d, e, &e->diagnosis.level))
        report_suspected(d, e);
    if (worth == 0 && is_large(d, e) && ++e->uncertain < UNCERTAIN) {
        e->due = e->lists + UNCERTAIN_LISTS;
        return;
    }
    if (worth == 0 && ++e->attempts < ATTEMPTS) {
        e->due = e->lists + (e->lists < EK_UPDATE_LISTS ? e->lists : EK_UPDATE_LISTS);
        return;
    }
    follow_small_shift(d, e);
    ek_episode_dismiss(d, e, worth < 0 ? EK_REASON_TOO_SMALL : EK_REASON_UNSUPPORTED);
}

static int is_loss(enum ek_class class)
{
    return class == EK_MISSING || class == EK_ZERO || class == EK_SIGN;
}

/* Return whether most lists still have the reported shift. */
static int is_same_shift(const struct ek_diagnosis *before, const struct ek_diagnosis *now)
{
    double was = before->level.shift_ln, is = now->level.shift_ln;
    return before->level.share > FEW_LISTS && now->level.share > FEW_LISTS &&
           fabs(is - was) < SHIFT_CHANGE * fabs(was);
}

/* Return whether a diagnosis may replace the previous one. A new class needs two diagnoses in a
 * row. EK_ITEMS stays, because scaled lists of one or two items look like a scale of few lists.
 * EK_SCALE of most lists stays when some lists lose values or signs, because ending its route would
 * harm the others. */
static int can_replace(const struct ek_episode *before, const struct ek_diagnosis *now)
{
    enum ek_class was = before->diagnosis.class;
    if (was == EK_ITEMS && now->class == EK_SCALE && now->level.share < FEW_LISTS)
        return 0;
    if (was == EK_SCALE && is_loss(now->class) && is_same_shift(&before->diagnosis, now))
        return 0;
    return now->class == was || now->class == before->last_class;
}

/* Diagnose a confirmed episode again. Return whether the class is unchanged. */
static int repeat_diagnosis(struct ek_detector *d, struct ek_episode *e)
{
    struct ek_episode before = *e;
    struct ek_window w;
    int worth = ek_diagnose(d, e, &w);
    e->last_class = worth > 0 ? e->diagnosis.class : before.diagnosis.class;
    if (worth <= 0 || !can_replace(&before, &e->diagnosis)) {
        before.last_class = e->last_class;
        *e = before;
    }
    return e->last_class == before.diagnosis.class;
}

/* Return whether a full diagnosis is due: every EK_UPDATE_LISTS at first, then at intervals that
 * double with the number of lists, up to INTERVAL_MOST. */
static int is_full_diagnosis_due(const struct ek_episode *e)
{
    uint32_t before = e->due - EK_UPDATE_LISTS, step = EK_UPDATE_LISTS;
    if (e->due < EK_UPDATE_LISTS)
        return 1;
    while (step < INTERVAL_MOST && step <= before / 4)
        step *= 2;
    return e->lists / step != before / step;
}

/* Report a confirmed episode if its diagnosis was repeated, or if it became lasting. */
static void report_update(struct ek_detector *d, struct ek_episode *e, bool repeated)
{
    int lasting = ek_episode_is_lasting(d, e);
    if (repeated || !lasting || !e->reported_lasting)
        report_finding(d, e, EK_UPDATED, NULL);
    e->reported_lasting = lasting;
}

/* Let later changes of the feature begin after the last list, and drop the evidence that segments
 * with lists of this one collected before its end. The change explains it, and the next list would
 * raise an alarm with it. */
static void restart_segments(struct ek_detector *d, const struct ek_episode *e)
{
    d->recovered_row[e->feature] = ek_history_count(d->history);
    for (int cell = 1; cell < ek_cells_count(d->cells); cell++)
        if (ek_cells_share_lists(d->cells, cell, e->cell) && !ek_episode_at(d, cell, e->feature))
            ek_evidence_restart(d->evidence, cell, e->feature);
}

/* End a confirmed episode whose change goes on in another one. */
static void hand_over(struct ek_detector *d, struct ek_episode *e, enum ek_reason reason)
{
    restart_segments(d, e);
    ek_episode_dismiss(d, e, reason);
}

/* Only the last EK_UPDATE_LISTS lists are localized: they reveal a change that ended in part of the
 * traffic. */
static void update_confirmed(struct ek_detector *d, struct ek_episode *e)
{
    struct ek_window w;
    ek_episode_bound_level(d, e);
    bool current = !is_full_diagnosis_due(e) && ek_diagnosis_is_current(d, e);
    int same = current || repeat_diagnosis(d, e);
    if (same && ek_detector_window_for(d, e->feature, e->cell, e->since_row, EK_UPDATE_LISTS, &w) &&
        ek_localize(d, e, d->window_row[0]) == EK_LOCALIZE_MOVED) {
        hand_over(d, e, EK_REASON_SEGMENT);
        return;
    }
    e->due = next_check(d, e);
    share_mix(d, e);
    report_update(d, e, !current);
}

/* End a confirmed episode; reason: NULL if its lists look like training. */
static void recover(struct ek_detector *d, struct ek_episode *e, const char *reason)
{
    report_finding(d, e, EK_RECOVERED, reason);
    ek_incident_remember(d, e);
    restart_segments(d, e);
    close_episode(d, e);
}

void ek_episode_list(struct ek_detector *d, struct ek_episode *e,
                     const struct ek_list_stats *record, float r, const float *query)
{
    e->lists++;
    ++*ek_evidence_list_count(d->evidence, e->cell, e->feature);
    enum ek_recovery over = EK_RECOVERY_NONE;
    if (e->phase == EK_PHASE_CONFIRMED)
        over = check_recovery(d, e, record, r, query);
    if (over == EK_RECOVERY_FULL)
        recover(d, e, NULL);
    else if (over == EK_RECOVERY_PARTIAL)
        hand_over(d, e, EK_REASON_CONTINUES);
    if (over != EK_RECOVERY_NONE)
        return;
    if (e->lists < e->due || !ek_scheduler_can_diagnose(d, e))
        return;
    if (e->phase == EK_PHASE_CONFIRMED)
        update_confirmed(d, e);
    else if (e->lists < (uint32_t)d->rules->confirmation_lists)
        look_early(d, e);
    else
        update_suspected(d, e);
}

/* Return whether lists of the cell have stopped: none is in the history, or a confirmed episode has
 * missed SILENT_LISTS at the rate since its alarm. */
static bool is_silent(const struct ek_detector *d, const struct ek_episode *e)
{
    uint64_t end = ek_history_count(d->history), row = end;
    while (row > ek_history_first(d->history) &&
           !ek_history_row_in_cell(d->history, row - 1, e->cell))
        row--;
    if (row == ek_history_first(d->history))
        return true;
    double rate = e->lists / (double)(row > e->alarm_row ? row - e->alarm_row : 1);
    return e->phase == EK_PHASE_CONFIRMED && (double)(end - row) * rate >= SILENT_LISTS;
}

void ek_episodes_remove_expired(struct ek_detector *d)
{
    for (int i = 0; i < d->episodes; i++) {
        struct ek_episode *e = &d->episode[i];
        if (e->phase == EK_PHASE_NONE || !e->cell || !is_silent(d, e))
            continue;
        if (e->phase == EK_PHASE_CONFIRMED)
            recover(d, e, ek_reason_text(EK_REASON_NO_LISTS));
        else
            ek_episode_dismiss(d, e, EK_REASON_NO_LISTS);
    }
}

bool ek_detector_dismiss_unwatched(struct ek_detector *d)
{
    bool some = false;
    for (int i = 0; i < d->episodes; i++) {
        struct ek_episode *e = &d->episode[i];
        if (e->phase == EK_PHASE_NONE || d->watched[e->feature])
            continue;
        ek_episode_dismiss(d, e, EK_REASON_NOT_WATCHED);
        some = true;
    }
    return some;
}
