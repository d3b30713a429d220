/* Which cell explains a change: all traffic, or some values of a segment dimension. */
#include "detect/split.h"

#include <math.h>

enum {
    JOINED_ROWS = 256,
    HITS_MOST = 4 /* values told one by one where fewer are clean than hit */
};
static const double GAIN = 6.9;         /* odds of 1,000: some values only, against all */
static const double GAIN_TO_WAIT = 1;   /* some values only cannot be ruled out */
static const double SHARE_TO_WAIT = .2; /* of the lists, of a value that says neither */
static const double FEW = 3;            /* lists */
static const double JOINED = .95;       /* of the last lists have it, part by part: all have */

/* Lists of a cell outside that of the episode: how many, and what they say. */
static double outside(struct ek_detector *d, const struct ek_episode *e, const struct ek_change *c,
                      int cell, int *lists)
{
    struct ek_window w;
    double evidence = 0;
    *lists = 0;
    ek_detector_window(d, e->feature, cell, e->since_row, &w);
    for (int i = 0; i < w.count; i++)
        if (!ek_history_in(d->history, d->window_row[i], e->cell)) {
            ++*lists;
            evidence += ek_change_evidence(d, e, c, &w, i);
        }
    return evidence;
}

/* A value of another dimension than the episode's own explains more only when its lists elsewhere
 * have moved too, or when it has none: a change where two segments meet stays where it is. */
static int explains_more(struct ek_detector *d, const struct ek_episode *e, int cell)
{
    int lists;
    struct ek_change c = {e->diagnosis.level.shift_ln, 1, 0, 1};
    if (e->cell == 0)
        return 1;
    struct ek_window w;
    ek_detector_window(d, e->feature, e->cell, e->since_row, &w);
    if (!ek_episode_has_level(e))
        c = ek_change_of(d, e, &w);
    double evidence = outside(d, e, &c, cell, &lists);
    return lists < FEW || evidence > EK_SPLIT_CLEAR;
}

/* Lists of a cell since the alarm of an episode: they count for the confirmation of whoever takes
 * the change over. */
static uint32_t lists_since_alarm(const struct ek_detector *d, const struct ek_episode *e, int cell)
{
    uint32_t lists = 0;
    uint64_t first = ek_history_first(d->history);
    uint64_t from = e->alarm_row + 1 > first ? e->alarm_row + 1 : first;
    for (uint64_t i = from; i < ek_history_count(d->history); i++)
        lists += (uint32_t)ek_history_in(d->history, i, cell);
    return lists;
}

static void hand_over(struct ek_detector *d, const struct ek_episode *from, int cell)
{
    struct ek_episode *e = ek_episode_at(d, cell, from->feature);
    if (!e)
        e = ek_episode_open(d, from->feature, cell, from->bet);
    if (!e)
        return;
    uint32_t lists = lists_since_alarm(d, from, cell);
    if (e->lists < lists)
        e->lists = lists;
    if (e->phase == EK_PHASE_SUSPECTED && e->since_row > from->since_row)
        ek_episode_begin(d, e, from->since_row);
    int own = ek_cells_dimension(d->cells, from->cell);
    e->through |= from->through | (own < 0 ? 0 : 1u << own);
    e->kin = from->number;
    ek_episode_claim(d, e);
    if (from->phase == EK_PHASE_CONFIRMED && e->phase == EK_PHASE_SUSPECTED)
        ek_episode_inherit(d, e, from);
}

static int is_hit(const struct ek_value *v)
{
    return v->evidence > EK_SPLIT_CLEAR;
}

/* Whether a split is one: some moved, others surely did not, and it pays to say so. */
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

/* Whether more lists may show a split. */
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

int ek_attribute_to(struct ek_detector *d, struct ek_episode *e, const struct ek_split *s)
{
    int hits = 0;
    for (int i = 0; i < s->count; i++)
        hits += is_hit(&s->value[i]) && !ek_episode_at(d, s->value[i].cell, e->feature);
    if (hits > ek_episodes_room(d))
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

/* A change of arm B in app 7.1 alone is explained by either: no dimension gets it back. */
enum ek_attribution ek_attribute(struct ek_detector *d, struct ek_episode *e, uint64_t since)
{
    struct ek_split best, s;
    int own = ek_cells_dimension(d->cells, e->cell), found = 0, open = 0;
    if (e->diagnosis.class == EK_CLASS_NONE)
        return EK_STAYS;
    for (int i = 0; i < ek_cells_dimensions(d->cells); i++) {
        struct ek_window w;
        if (i == own || e->through >> i & 1)
            continue;
        ek_detector_window(d, e->feature, e->cell, since, &w);
        w.known = (struct ek_align_known){e->level_error, 1, 0};
        ek_split_by(d, e, &w, i, &s);
        open |= is_open(&s, w.count);
        if (is_apart(&s) && (!found || s.gain > best.gain) && explains_all(d, e, &s)) {
            best = s;
            found = 1;
        }
    }
    if (found && ek_attribute_to(d, e, &best))
        return EK_HANDED_OVER;
    return open ? EK_UNDECIDED : EK_STAYS;
}

/* A change that the rest of the traffic has too is not the segment's, which was only the first to
 * reach the alarm. */
enum ek_attribution ek_attribute_up(struct ek_detector *d, struct ek_episode *e)
{
    struct ek_window w;
    int lists;
    if (e->cell == 0 || e->claimed)
        return EK_STAYS;
    ek_detector_window(d, e->feature, e->cell, e->since_row, &w);
    struct ek_change c = ek_change_of(d, e, &w);
    double evidence = outside(d, e, &c, 0, &lists);
    if (lists < FEW || evidence < -EK_SPLIT_CLEAR)
        return EK_STAYS;
    if (evidence <= EK_SPLIT_CLEAR)
        return EK_UNDECIDED;
    if (!ek_episode_at(d, 0, e->feature) && !ek_episodes_room(d))
        return EK_STAYS;
    hand_over(d, e, 0);
    return EK_HANDED_OVER;
}

/* Whether some episode of the row's cells is confirmed for the same change as e. */
static int has_same(struct ek_detector *d, const struct ek_episode *e, uint64_t row)
{
    const int16_t *cells = ek_history_row(d->history, row)->cell;
    for (int i = 0; i <= ek_cells_dimensions(d->cells); i++) {
        const struct ek_episode *o = cells[i] < 0 ? NULL : ek_episode_at(d, cells[i], e->feature);
        if (o && o->phase == EK_PHASE_CONFIRMED && ek_cause_same_change(o, e))
            return 1;
    }
    return 0;
}

void ek_attribute_joined(struct ek_detector *d, struct ek_episode *e)
{
    uint64_t count = ek_history_count(d->history), same = 0;
    uint64_t rows = count < JOINED_ROWS ? count : JOINED_ROWS;
    if (e->cell == 0 || !ek_episodes_room(d) || ek_episode_at(d, 0, e->feature))
        return;
    for (uint64_t i = count - rows; i < count; i++)
        same += (uint64_t)has_same(d, e, i);
    if ((double)same > JOINED * (double)rows)
        hand_over(d, e, 0);
}
