/* Grouping of confirmed findings into incidents, and dismissal of findings that another
 * explains. */
#include "detect/localize_segment.h"

#include <math.h>

enum {
    SLACK = 16,           /* rows by which simultaneous changes may differ */
    RETURN_DURATIONS = 24 /* minimum durations within which a change that returns is the same */
};
/* Drop of the ln likelihood that bounds the span in which a change may have begun. */
static const double DROP = 4;
/* Tolerance for equal levels: standard errors plus an absolute term (ln). */
static const double SAME_ERRORS = 3, SAME_LN = .05;

/* Set the span of rows in which the change may have begun: around the best change point, while the
 * likelihood of a change loses less than DROP. Between two lists of a rare cell the stream has many
 * rows. */
static void set_span(struct ek_detector *d, struct ek_episode *e)
{
    struct ek_window w;
    double tail = 0, best = -INFINITY, *sum = d->tail;
    int at = -1, first, last;
    int n = ek_detector_window(d, e->feature, e->cell, d->recovered_row[e->feature], &w);
    struct ek_change c = ek_change_compute(d, e, &w);
    for (int i = n - 1; i >= 0; i--)
        sum[i] = tail += ek_change_evidence(d, e, &c, &w, i);
    for (int i = 0; i < n; i++)
        if (d->window_row[i] >= e->since_row && at < 0)
            at = i;
    e->span_first = e->span_last = e->since_row;
    if (at < 0)
        return;
    best = sum[at];
    for (first = at; first > 0 && sum[first - 1] > best - DROP; first--)
        continue;
    for (last = at; last + 1 < n && sum[last + 1] > best - DROP; last++)
        continue;
    e->span_first = first ? d->window_row[first - 1] + 1 : d->window_row[0];
    e->span_last = d->window_row[last];
}

static int overlap(const struct ek_episode *a, const struct ek_episode *b)
{
    return a->span_first <= b->span_last + SLACK && b->span_first <= a->span_last + SLACK;
}

/* Return whether one of two cells contains the other; cell 0 is all traffic. */
static bool nested(int a, int b)
{
    return a == b || a == 0 || b == 0;
}

int ek_incident_is_same_change(const struct ek_episode *a, const struct ek_episode *b)
{
    const struct ek_alignment *x = &a->diagnosis.level, *y = &b->diagnosis.level;
    if (a->feature != b->feature || a->diagnosis.class != b->diagnosis.class)
        return 0;
    if (!ek_episode_has_level(a) || a->query_feature >= 0 || b->query_feature >= 0)
        return a->query_feature == b->query_feature;
    return fabs(x->shift_ln - y->shift_ln) <
           SAME_ERRORS * hypot(x->error_ln, y->error_ln) + SAME_LN;
}

/* Return whether a class says only that values of a feature are no longer alike. Segments and
 * windows of one such change are often of different classes. */
static bool is_vague(enum ek_class class)
{
    return class == EK_ITEMS || class == EK_SHAPE || class == EK_POWER || class == EK_OFFSET;
}

static bool are_both_vague(int feature, enum ek_class class, int other_feature,
                           enum ek_class other_class)
{
    return feature == other_feature && is_vague(class) && is_vague(other_class);
}

/* Return whether both are levels that moved little by little: drift has no common start. */
static bool are_both_gradual(const struct ek_episode *a, const struct ek_episode *b)
{
    return a->gradual && b->gradual && ek_episode_has_level(a) && ek_episode_has_level(b);
}

/* Return whether two findings may have one start: in nested cells, or of one feature in values of
 * one dimension, such as prices that come in the currency of each market. */
static bool may_start_together(const struct ek_detector *d, const struct ek_episode *a,
                               const struct ek_episode *b)
{
    return nested(a->cell, b->cell) ||
           (a->feature == b->feature &&
            ek_cells_dimension(d->cells, a->cell) == ek_cells_dimension(d->cells, b->cell));
}

static int is_same_incident(const struct ek_detector *d, const struct ek_episode *a,
                            const struct ek_episode *b)
{
    return (a->handed_from && a->handed_from == b->handed_from) ||
           ek_incident_is_same_change(a, b) || (may_start_together(d, a, b) && overlap(a, b)) ||
           are_both_gradual(a, b) ||
           are_both_vague(a->feature, a->diagnosis.class, b->feature, b->diagnosis.class);
}

static int64_t now_ms(const struct ek_detector *d)
{
    return ek_history_row(d->history, ek_history_count(d->history) - 1)->time_ms;
}

/* Return whether a finding began within RETURN_DURATIONS after the end of a past one, or within
 * the length of the history where lists are rare. Event time may jump. */
static bool is_recent(const struct ek_detector *d, const struct ek_past_finding *p,
                      const struct ek_episode *e)
{
    int64_t gap_ms = e->since_ms - p->ended_ms;
    return (gap_ms >= 0 && gap_ms / RETURN_DURATIONS <= d->rules->min_duration_ms) ||
           e->since_row <= p->ended_row + EK_HISTORY;
}

/* Return whether an incident still has a confirmed finding. */
static bool is_open(const struct ek_detector *d, uint32_t cause)
{
    for (int i = 0; i < d->episodes; i++)
        if (d->episode[i].phase == EK_PHASE_CONFIRMED && d->episode[i].cause == cause)
            return true;
    return false;
}

/* Return whether a finding is the return of a past one. */
static bool has_returned(const struct ek_detector *d, const struct ek_past_finding *p,
                         const struct ek_episode *e)
{
    const struct ek_alignment *level = &e->diagnosis.level;
    if (!p->cause || !(is_recent(d, p, e) || is_open(d, p->cause)))
        return false;
    if (are_both_vague(p->feature, p->class, e->feature, e->diagnosis.class))
        return true;
    if (p->feature != e->feature || !nested(p->cell, e->cell) || p->class != e->diagnosis.class ||
        p->query_feature != e->query_feature)
        return false;
    return !ek_episode_has_level(e) || e->query_feature >= 0 ||
           fabs(p->shift_ln - level->shift_ln) <
               SAME_ERRORS * hypot(p->error_ln, level->error_ln) + SAME_LN;
}

/* Return the incident that a finding reopens, the last one first; 0: none. */
static uint32_t find_past_incident(const struct ek_detector *d, const struct ek_episode *e)
{
    for (uint64_t i = d->past_ever; i > 0 && i + EK_PAST_INCIDENTS > d->past_ever; i--) {
        const struct ek_past_finding *p = &d->past[(i - 1) % EK_PAST_INCIDENTS];
        if (has_returned(d, p, e))
            return p->cause;
    }
    return 0;
}

/* Return the slot of the past findings for one that ended: that of an earlier time of the same
 * finding, else the oldest. */
static struct ek_past_finding *get_past_slot(struct ek_detector *d, const struct ek_episode *e)
{
    for (int i = 0; i < EK_PAST_INCIDENTS; i++) {
        struct ek_past_finding *p = &d->past[i];
        if (p->cause == e->cause && p->feature == e->feature && p->cell == e->cell &&
            p->class == e->diagnosis.class && p->query_feature == e->query_feature)
            return p;
    }
    return &d->past[d->past_ever++ % EK_PAST_INCIDENTS];
}

void ek_incident_remember(struct ek_detector *d, const struct ek_episode *e)
{
    *get_past_slot(d, e) = (struct ek_past_finding){
        .feature = e->feature,
        .cell = e->cell,
        .query_feature = e->query_feature,
        .class = e->diagnosis.class,
        .cause = e->cause,
        .shift_ln = e->diagnosis.level.shift_ln,
        .error_ln = e->diagnosis.level.error_ln,
        .ended_ms = now_ms(d),
        .ended_row = ek_history_count(d->history) - 1,
    };
}

bool ek_incident_has_ended(const struct ek_detector *d, const struct ek_episode *e)
{
    for (int i = 0; i < EK_PAST_INCIDENTS; i++)
        if (d->past[i].cause == e->cause && d->past[i].feature == e->feature)
            return true;
    return false;
}

void ek_incidents_reset_cell(struct ek_detector *d, int cell)
{
    for (int i = 0; i < EK_PAST_INCIDENTS; i++)
        if (d->past[i].cell == cell)
            d->past[i].cause = 0;
}

static void past_serialize(struct ek_detector *d, struct ek_past_finding *p, struct ek_serialize *s,
                           int cells)
{
    int class = (int)p->class;
    ek_serialize_int(s, &p->feature, 0, d->features - 1);
    ek_serialize_int(s, &p->cell, 0, cells - 1);
    ek_serialize_int(s, &p->query_feature, -1, d->query_features - 1);
    ek_serialize_int(s, &class, EK_CLASS_NONE, EK_CLASS_COUNT - 1);
    p->class = (enum ek_class) class;
    ek_serialize_u32(s, &p->cause);
    ek_serialize_f64(s, &p->shift_ln);
    ek_serialize_f64(s, &p->error_ln);
    ek_serialize_i64(s, &p->ended_ms);
    ek_serialize_u64(s, &p->ended_row);
    ek_serialize_require(s, p->cause <= d->causes_ever);
}

void ek_incidents_serialize(struct ek_detector *d, struct ek_serialize *s, int cells)
{
    if (ek_serialize_is_reading(s) && s->at == s->end)
        return;
    ek_serialize_u64(s, &d->past_ever);
    uint64_t count = d->past_ever < EK_PAST_INCIDENTS ? d->past_ever : EK_PAST_INCIDENTS;
    for (uint64_t i = 0; i < count && !s->rc; i++)
        past_serialize(d, &d->past[i], s, cells);
}

void ek_incident_assign(struct ek_detector *d, struct ek_episode *e)
{
    set_span(d, e);
    for (int i = 0; i < d->episodes && !e->cause; i++) {
        const struct ek_episode *o = &d->episode[i];
        if (o != e && o->phase == EK_PHASE_CONFIRMED && is_same_incident(d, o, e))
            e->cause = o->cause;
    }
    if (!e->cause)
        e->cause = find_past_incident(d, e);
    if (!e->cause)
        e->cause = ++d->causes_ever;
}

static int explains(const struct ek_detector *d, const struct ek_episode *e,
                    const struct ek_episode *o)
{
    return o->phase == EK_PHASE_SUSPECTED && !o->claimed &&
           ek_cells_dimension(d->cells, o->cell) != ek_cells_dimension(d->cells, e->cell);
}

/* Return whether o is the same change in a segment, which now affects all traffic. It is not handed
 * back to the dimension of o. */
static int absorbs(const struct ek_episode *e, const struct ek_episode *o)
{
    return e->cell == 0 && o->claimed && ek_incident_is_same_change(e, o);
}

void ek_incident_dismiss_others(struct ek_detector *d, struct ek_episode *e)
{
    for (int i = 0; i < d->episodes; i++) {
        struct ek_episode *o = &d->episode[i];
        if (o == e || o->phase == EK_PHASE_NONE || o->feature != e->feature)
            continue;
        if (explains(d, e, o))
            ek_episode_dismiss(d, o, EK_REASON_OTHER_CELL);
        else if (absorbs(e, o)) {
            e->from_dimensions |= 1u << ek_cells_dimension(d->cells, o->cell);
            ek_episode_dismiss(d, o, EK_REASON_ALL_TRAFFIC);
        }
    }
}

int ek_detector_members(const struct ek_detector *d, uint32_t cause, int *features, int most)
{
    int count = 0;
    for (int i = 0; i < d->episodes; i++) {
        const struct ek_episode *e = &d->episode[i];
        int at = 0;
        if (e->phase != EK_PHASE_CONFIRMED || e->cause != cause)
            continue;
        while (at < count && features[at] < e->feature)
            at++;
        if ((at < count && features[at] == e->feature) || count == most)
            continue;
        for (int j = count++; j > at; j--)
            features[j] = features[j - 1];
        features[at] = e->feature;
    }
    return count;
}
