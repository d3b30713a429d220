/* Windows of lists for a diagnosis, and the schedule of diagnoses. */
#include "detect/detector_internal.h"

enum { AHEAD = 8 }; /* rows prefetched, because each is far from the next in memory */

bool ek_detector_is_explained(const struct ek_detector *d, const int16_t *cells, int feature,
                              int cell)
{
    const struct ek_episode *own = ek_episode_at(d, cell, feature);
    int claims = own && own->claimed;
    if (d->open[feature] == claims)
        return false;
    for (int i = 0; i <= ek_cells_dimensions(d->cells); i++) {
        int other = ek_row_cell(cells[i]);
        if (other < 0 || other == cell)
            continue;
        const struct ek_episode *e = ek_episode_at(d, other, feature);
        bool foreign = ek_detector_is_foreign(d, other, feature);
        if (!foreign && !(e && e->claimed))
            continue;
        if (!claims || cell == 0 || (other != 0 && (foreign || e->number < own->number)))
            return true;
    }
    return false;
}

static void start_walk(struct ek_detector *d, int feature, int cell)
{
    struct ek_walk *k = &d->walk;
    uint64_t end = ek_history_count(d->history);
    if (k->feature != feature || k->cell != cell || k->end != end || k->claims != d->claims)
        *k = (struct ek_walk){feature, cell, d->claims, end, end, EK_HISTORY};
}

/* Collect lists from newest to oldest, down to row `first` or until `most` lists are found. */
static void collect_lists(struct ek_detector *d, uint64_t first, int most)
{
    struct ek_walk *k = &d->walk;
    const float *level = d->profile->level + (size_t)k->feature * (size_t)d->profile->strata;
    float mean = ek_item_levels_mean(d->profile->item_levels, k->feature);
    int place = 1 + ek_cells_dimension(d->cells, k->cell);
    while (k->row > first && EK_HISTORY - k->at < most) {
        const struct ek_history_row *row = ek_history_row(d->history, --k->row);
        if (k->row >= first + AHEAD)
            __builtin_prefetch(ek_history_records(d->history, k->row - AHEAD) + k->feature);
        if (row->cell[place] != k->cell ||
            (d->open[k->feature] && ek_detector_is_explained(d, row->cell, k->feature, k->cell)))
            continue;
        d->window[--k->at] = ek_history_records(d->history, k->row)[k->feature];
        d->window_level[k->at] = mean + level[row->stratum];
        d->rows[k->at] = k->row;
    }
}

/* Return the index of the first collected list at row `first` or later. */
static int find_first(const struct ek_detector *d, uint64_t first)
{
    int low = d->walk.at, high = EK_HISTORY;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (d->rows[middle] < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int ek_detector_window_for(struct ek_detector *d, int feature, int cell, uint64_t since, int most,
                           struct ek_window *w)
{
    uint64_t first = ek_history_first(d->history);
    first = since > first ? since : first;
    start_walk(d, feature, cell);
    collect_lists(d, first, most);
    int at = find_first(d, first), count = EK_HISTORY - at;
    if (count > most) {
        at += count - most;
        count = most;
    }
    d->window_row = d->rows + at;
    *w = (struct ek_window){.record = d->window + at,
                            .level = d->window_level + at,
                            .count = count,
                            .mu = ek_detector_level(d, cell, feature),
                            .scratch = d->residual,
                            .known = {0, 1, 0},
                            .single = d->manifest->item[feature]->role == EK_ROLE_QUERY};
    return count;
}

int ek_detector_window(struct ek_detector *d, int feature, int cell, uint64_t since,
                       struct ek_window *w)
{
    return ek_detector_window_for(d, feature, cell, since, EK_HISTORY, w);
}

enum { SUSPECTED_MANY = 8, SUSPECTED_MOST = 4 };

static bool is_in_last_list(const struct ek_detector *d, const struct ek_episode *e)
{
    for (int i = 0; i <= ek_cells_dimensions(d->cells); i++)
        if (d->cell_of[i] == e->cell)
            return d->observed >> i & 1;
    return false;
}

/* Return the number of lists since the diagnosis became due, including this one; negative: not
 * due. */
static int64_t lists_overdue(const struct ek_episode *e)
{
    return (int64_t)e->lists + 1 - (int64_t)e->due;
}

/* Return one of the recovering episodes, in rotation. */
static const struct ek_episode *find_recovering(const struct ek_detector *d, int recovering)
{
    uint64_t skip = recovering ? ek_history_count(d->history) % (uint64_t)recovering : 0;
    for (int i = 0; i < d->episodes && recovering; i++) {
        const struct ek_episode *e = &d->episode[i];
        if (e->phase == EK_PHASE_CONFIRMED && e->recovering && is_in_last_list(d, e) && skip-- == 0)
            return e;
    }
    return NULL;
}

void ek_scheduler_refill(struct ek_detector *d)
{
    int suspected_left = 0, recovering = 0;
    const struct ek_episode *update = NULL;
    for (int i = 0; i < d->episodes; i++) {
        const struct ek_episode *e = &d->episode[i];
        if (e->phase == EK_PHASE_NONE || !is_in_last_list(d, e))
            continue;
        recovering += e->phase == EK_PHASE_CONFIRMED && e->recovering;
        if (lists_overdue(e) < 0)
            continue;
        if (e->phase == EK_PHASE_SUSPECTED)
            suspected_left += !(d->open[e->feature] &&
                                ek_detector_is_explained(d, d->cell_of, e->feature, e->cell));
        else if (!update || lists_overdue(e) > lists_overdue(update))
            update = e;
    }
    d->scheduler = (struct ek_scheduler){.update = suspected_left ? NULL : update,
                                         .recovering = find_recovering(d, recovering),
                                         .suspected_left =
                                             suspected_left > SUSPECTED_MANY ? SUSPECTED_MOST : 1,
                                         .recovering_left = 1};
}

bool ek_scheduler_can_diagnose(struct ek_detector *d, const struct ek_episode *e)
{
    struct ek_scheduler *t = &d->scheduler;
    if (e->phase == EK_PHASE_SUSPECTED ? t->suspected_left-- <= 0 : e != t->update)
        return false;
    t->diagnoses++;
    return true;
}

bool ek_scheduler_can_recover(struct ek_detector *d, const struct ek_episode *e, bool new)
{
    struct ek_scheduler *t = &d->scheduler;
    if (t->recovering_left <= 0 || !(new || !t->recovering || e == t->recovering))
        return false;
    t->recovering_left--;
    return true;
}
