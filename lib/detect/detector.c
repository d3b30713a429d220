#include "detect/detector.h"

#include "base/alloc.h"
#include "detect/detector_internal.h"
#include "detect/evidence_export.h"
#include "num/bet_steps.h"

#include <math.h>
#include <string.h>

const char *ek_trace_state_name(enum ek_trace_state s)
{
    static const char *const names[] = {"ok", "suspected", "confirmed"};
    return names[s];
}

double ek_detector_alarm_ln(const struct ek_detector *d)
{
    return log((double)d->level.alarm);
}

static void fill_point(const struct ek_episode *e, struct ek_trace_point *out)
{
    bool confirmed = e->phase == EK_PHASE_CONFIRMED;
    out->state = confirmed ? EK_TRACE_CONFIRMED : e->unreported ? EK_TRACE_OK : EK_TRACE_SUSPECTED;
    if (!confirmed || !ek_episode_has_level(e))
        return;
    out->factor_ln = (float)e->diagnosis.level.shift_ln;
    out->low_ln = (float)e->diagnosis.level.low_ln;
    out->high_ln = (float)e->diagnosis.level.high_ln;
}

bool ek_detector_get_point(const struct ek_detector *d, int feature, int cell,
                           struct ek_trace_point *out)
{
    uint64_t lists = ek_history_count(d->history);
    if (!lists || cell >= d->cell_capacity)
        return false;
    const float *r = ek_evidence_r(d->evidence, cell, feature);
    const struct ek_episode *e = ek_episode_at(d, cell, feature);
    *out = (struct ek_trace_point){
        .query = ek_history_row(d->history, lists - 1)->query,
        .time_ms = ek_history_row(d->history, lists - 1)->time_ms,
        .evidence_ln = logf(ek_bet_total(r, d->reader->tables->weight).all),
        .factor_ln = (float)NAN,
        .low_ln = (float)NAN,
        .high_ln = (float)NAN,
    };
    if (e)
        fill_point(e, out);
    return true;
}

enum {
    UNUSED_LISTS = 128, /* lists that count for unknown strata, items and repeats */
    EXPIRY_LISTS = 1024 /* lists between two searches for episodes without lists */
};
/* Fraction of lists that are no evidence, above which they are counted. */
static const float MOST = .5F, MOST_REPEATS = .9F;

static int out_of_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

int ek_detector_reserve_cells(struct ek_detector *d, int cells)
{
    int capacity = d->cell_capacity ? d->cell_capacity : EK_CELLS_INITIAL;
    size_t features = (size_t)d->features;
    while (capacity < cells)
        capacity *= 2;
    if (capacity == d->cell_capacity)
        return EK_OK;
    size_t before = (size_t)d->cell_capacity * features, after = (size_t)capacity * features;
    uint16_t *episode_of = ek_realloc(d->episode_of, after, sizeof *episode_of);
    if (!episode_of)
        return EK_ENOMEM;
    d->episode_of = episode_of;
    uint8_t *retained = ek_realloc(d->retained, (size_t)capacity, sizeof *retained);
    if (!retained)
        return EK_ENOMEM;
    d->retained = retained;
    if (d->foreign) {
        uint8_t *foreign = ek_realloc(d->foreign, after, sizeof *foreign);
        if (!foreign)
            return EK_ENOMEM;
        d->foreign = foreign;
        memset(foreign + before, 0, after - before);
    }
    memset(retained + d->cell_capacity, 0, (size_t)(capacity - d->cell_capacity));
    if (d->segment_scale) {
        size_t added = (size_t)(capacity - d->cell_capacity);
        struct ek_segment_rows *rows = ek_realloc(d->segment_rows, (size_t)capacity, sizeof *rows);
        if (!rows)
            return EK_ENOMEM;
        d->segment_rows = rows;
        memset(rows + d->cell_capacity, 0, added * sizeof *rows);
    }
    if (ek_evidence_cells_reserve(d->evidence, capacity) ||
        ek_categories_reserve(d->categories, capacity) ||
        (d->evidence_sum && ek_evidence_sum_reserve(d->evidence_sum, capacity)) ||
        (d->calibrations && ek_cell_calibration_reserve(d->calibrations, capacity)))
        return EK_ENOMEM;
    memset(episode_of + before, 0, (after - before) * sizeof *episode_of);
    d->cell_capacity = capacity;
    return EK_OK;
}

void ek_detector_reset_reused(struct ek_detector *d)
{
    int count;
    const int16_t *taken = ek_cells_reused(d->cells, &count);
    for (int i = 0; i < count; i++) {
        ek_evidence_cells_reset(d->evidence, taken[i]);
        if (d->calibrations)
            ek_cell_calibration_reset(d->calibrations, taken[i]);
        if (d->segment_rows)
            d->segment_rows[taken[i]].known = false;
        ek_history_reset_cell(d->history, taken[i]);
        ek_categories_reset_cell(d->categories, taken[i]);
        ek_incidents_reset_cell(d, taken[i]);
        if (d->evidence_sum)
            ek_evidence_sum_reset(d->evidence_sum, taken[i]);
    }
}

/* Set d->cell_of. No cell is reassigned while a queued finding may name its value. */
static int find_cells(struct ek_detector *d, const struct ek_list *q)
{
    int rc = ek_cells_lookup(d->cells, q, d->fetched == d->findings, d->cell_of);
    ek_detector_reset_reused(d);
    return rc ? rc : ek_detector_reserve_cells(d, ek_cells_count(d->cells));
}

/* Distance of a value from the level of its item that no usual value has: spreads of the values of
 * one item, or ln if that is unknown. */
static const float FAR_SPREADS = 6, FAR_LN = 1;

/* Allocate what learns the levels of new items. Return 0 or EK_ENOMEM. */
static int allocate_learned(struct ek_detector *d)
{
    const struct ek_item_levels *t = d->profile->item_levels;
    if (!t)
        return EK_OK;
    d->common = ek_calloc((size_t)t->features, sizeof *d->common);
    d->value_ln = ek_calloc((size_t)t->features, sizeof *d->value_ln);
    if (!d->common || !d->value_ln)
        return EK_ENOMEM;
    for (int a = 0; a < t->features; a++)
        d->common[a] = t->spread[a].sd > 0 ? FAR_SPREADS * expf(t->spread[a].mean) : FAR_LN;
    if (ek_learned_levels_new(&d->learned, d->common, t->features))
        return EK_ENOMEM;
    d->reader->learned = d->learned;
    return EK_OK;
}

static int allocate(struct ek_detector *d, int cells)
{
    size_t features = (size_t)d->features;
    if (allocate_learned(d) ||
        ek_history_new(&d->history, d->features, d->query_features, 1 + d->rules->segment_count) ||
        ek_cells_new(&d->cells, d->rules->segment, d->rules->segment_count, cells) ||
        ek_categories_new(&d->categories, d->profile) ||
        ek_evidence_cells_new(&d->evidence, d->features) ||
        ((d->baseline >= 0 || d->profile->segment_calibration) &&
         ek_cell_calibration_new(&d->calibrations, d->features)))
        return EK_ENOMEM;
    d->watched = ek_calloc(features, sizeof *d->watched);
    d->bet_scale = ek_calloc(features * (size_t)d->profile->strata, sizeof *d->bet_scale);
    if (d->profile->segment_calibration &&
        !(d->segment_scale = ek_calloc(features, sizeof *d->segment_scale)))
        return EK_ENOMEM;
    size_t blocks = (features + EK_BET_BLOCK - 1) / EK_BET_BLOCK;
    d->padded = (int)blocks * EK_BET_BLOCK;
    d->band = ek_calloc_aligned((size_t)d->padded * (size_t)d->profile->strata, sizeof *d->band);
    d->evident = ek_calloc(blocks, sizeof *d->evident);
    d->evident_default = ek_calloc(blocks, sizeof *d->evident_default);
    d->alarm = ek_calloc(features, sizeof *d->alarm);
    d->open = ek_calloc(features, sizeof *d->open);
    d->recovered_row = ek_calloc(features, sizeof *d->recovered_row);
    d->repeats = ek_calloc(1, sizeof *d->repeats);
    d->episode = ek_calloc(EK_EPISODES_MAX, sizeof *d->episode);
    d->finding = ek_calloc(EK_FINDINGS_MAX, sizeof *d->finding);
    d->window = ek_calloc(EK_HISTORY, sizeof *d->window);
    d->window_level = ek_calloc(EK_HISTORY, sizeof *d->window_level);
    d->rows = ek_calloc(EK_HISTORY, sizeof *d->rows);
    d->residual = ek_calloc(EK_HISTORY, sizeof *d->residual);
    d->offset = ek_calloc(EK_HISTORY, sizeof *d->offset);
    d->tail = ek_calloc(EK_HISTORY, sizeof *d->tail);
    if (!d->watched || !d->bet_scale || !d->band || !d->evident || !d->evident_default ||
        !d->alarm || !d->open || !d->recovered_row || !d->repeats || !d->episode || !d->finding ||
        !d->window || !d->window_level || !d->rows || !d->residual || !d->offset || !d->tail)
        return EK_ENOMEM;
    return ek_detector_reserve_cells(d, 1);
}

static bool is_watched(const struct ek_detector *d, int feature)
{
    const struct ek_feature *f = d->manifest->item[feature];
    return d->rules->feature[f - d->manifest->features].watch;
}

/* Transpose the calibration: the profile is ordered by feature, a list needs all features of its
 * stratum. */
static void transpose_calibration(struct ek_detector *d)
{
    const struct ek_profile *p = d->profile;
    for (int f = 0; f < d->features; f++)
        for (int s = 0; s < p->strata; s++) {
            float band = p->band[f * p->strata + s], all = ek_baseline_band(&p->baseline[f]);
            d->band[s * d->padded + f] = s && band > all ? band : all;
            size_t from = (size_t)f * (size_t)p->strata + (size_t)s;
            size_t to = (size_t)s * (size_t)d->features + (size_t)f;
            for (int i = 0; i < EK_BETS; i++)
                d->bet_scale[to][i] = 1 / p->calibration[from * EK_CALIBRATED + (size_t)i];
        }
}

/* Return the segment dimension with this name, or -1. */
static int find_segment(const struct ek_rules *rules, const char *field)
{
    for (int i = 0; field && i < rules->segment_count; i++)
        if (!strcmp(rules->segment[i], field))
            return i;
    return -1;
}

static void load_profile(struct ek_detector *d)
{
    for (int f = 0; f < d->features; f++) {
        d->watched[f] = is_watched(d, f);
        if (d->watched[f])
            ek_make_evident(d->evident_default, f);
        ek_evidence_set_range(d->evidence, f, d->profile->baseline[f].range);
    }
    transpose_calibration(d);
}

/* A category is tested twice: for missing items and for its values. */
int ek_detector_watch_count(const struct ek_detector *d)
{
    int count = 0;
    for (int f = 0; f < d->features; f++)
        count += d->watched[f] * (d->manifest->item[f]->type == EK_TYPE_CATEGORY ? 2 : 1);
    return count;
}

int ek_detector_new(struct ek_detector **out, const struct ek_manifest *m,
                    const struct ek_profile *p, const struct ek_rules *rules, struct ek_error *e)
{
    return ek_detector_new_with(out, m, p, rules, EK_CELLS_DEFAULT_MAX, e);
}

int ek_detector_new_with(struct ek_detector **out, const struct ek_manifest *m,
                         const struct ek_profile *p, const struct ek_rules *rules, int cells,
                         struct ek_error *e)
{
    struct ek_detector *d = ek_calloc(1, sizeof *d);
    if (!d)
        return out_of_memory(e);
    int rc = ek_list_stats_builder_new(&d->reader, m, p, rules, e);
    if (rc) {
        ek_detector_free(d);
        return rc;
    }
    d->manifest = m;
    d->profile = p;
    d->profile_hash = ek_profile_hash(p);
    d->rules = rules;
    d->features = m->watched_count;
    d->query_features = m->query_count;
    d->baseline = find_segment(rules, p->field);
    d->walk.cell = d->outside_query = -1;
    if (allocate(d, cells)) {
        ek_detector_free(d);
        return out_of_memory(e);
    }
    load_profile(d);
    d->level = ek_alarm_level_compute((double)rules->false_alarms, ek_detector_watch_count(d),
                                      rules->segment_count);
    *out = d;
    return EK_OK;
}

void ek_detector_free(struct ek_detector *d)
{
    if (!d)
        return;
    ek_list_stats_builder_free(d->reader);
    ek_learned_levels_free(d->learned);
    ek_free(d->common);
    ek_free(d->value_ln);
    ek_history_free(d->history);
    ek_cells_free(d->cells);
    ek_categories_free(d->categories);
    ek_free(d->watched);
    ek_free(d->bet_scale);
    ek_free(d->segment_scale);
    ek_free(d->segment_rows);
    ek_free(d->band);
    ek_free(d->evident);
    ek_free(d->evident_default);
    ek_free(d->alarm);
    ek_free(d->open);
    ek_free(d->recovered_row);
    ek_free(d->repeats);
    ek_free(d->episode);
    ek_free(d->finding);
    ek_free(d->window);
    ek_free(d->window_level);
    ek_free(d->rows);
    ek_free(d->residual);
    ek_free(d->offset);
    ek_free(d->tail);
    ek_evidence_cells_free(d->evidence);
    ek_evidence_sum_free(d->evidence_sum);
    ek_free(d->foreign_claim);
    ek_free(d->foreign);
    ek_free(d->episode_of);
    ek_free(d->retained);
    ek_cell_calibration_free(d->calibrations);
    ek_free(d);
}

/* Return whether a feature of the last list is watched and not explained by another cell. */
static bool is_relevant(struct ek_detector *d, int feature, int cell)
{
    return d->watched[feature] &&
           !(d->open[feature] && ek_detector_is_explained(d, d->cell_of, feature, cell));
}

/* Return whether no feature has an episode in the cell or a claim in any cell. */
static bool is_idle(const struct ek_detector *d, int cell)
{
    const uint16_t *episode_of = d->episode_of + ek_detector_cell_slot(d, cell, 0);
    int any = 0;
    for (int f = 0; f < d->features; f++)
        any |= episode_of[f] | d->open[f];
    return !any;
}

/* Update the open episodes of a cell. Return the features for which the list is evidence. */
static const uint16_t *update_cell(struct ek_detector *d, int cell,
                                   const struct ek_list_stats_builder *list, const float *query)
{
    const struct ek_list_stats *record = list->record;
    if (is_idle(d, cell))
        return d->evident_default;
    const uint16_t *episode_of = d->episode_of + ek_detector_cell_slot(d, cell, 0);
    size_t blocks = (size_t)list->list_bets->padded / EK_BET_BLOCK;
    memcpy(d->evident, d->evident_default, blocks * sizeof *d->evident);
    for (int f = 0; f < d->features; f++) {
        if (!(episode_of[f] | d->open[f]))
            continue;
        struct ek_episode *e = ek_episode_at(d, cell, f);
        bool relevant = is_relevant(d, f, cell);
        if (e || !relevant || ek_detector_is_foreign(d, cell, f))
            ek_make_unevident(d->evident, f);
        if (e && relevant)
            ek_episode_list(d, e, &record[f], record[f].r - ek_detector_level(d, cell, f), query);
    }
    return d->evident;
}

static struct ek_segment_rows find_rows(const struct ek_detector *d, int cell)
{
    const char *name = ek_cells_dimension_name(d->cells, cell),
               *value = ek_cells_value(d->cells, cell);
    size_t first = 0, count = 0;
    if (name && value)
        count = ek_segment_calibration_find(d->profile->segment_calibration,
                                            ek_segment_key((struct ek_text){name, strlen(name)},
                                                           (struct ek_text){value, strlen(value)}),
                                            &first);
    return (struct ek_segment_rows){true, (uint32_t)first, (uint32_t)count};
}

/* Return the rows of a cell in the calibration of segments. */
static struct ek_segment_rows rows_of(struct ek_detector *d, int cell)
{
    if (!d->segment_rows)
        return (struct ek_segment_rows){0};
    if (!d->segment_rows[cell].known)
        d->segment_rows[cell] = find_rows(d, cell);
    return d->segment_rows[cell];
}

bool ek_detector_calibrates(struct ek_detector *d, int cell)
{
    return d->calibrations && cell &&
           (ek_cells_dimension(d->cells, cell) == d->baseline || rows_of(d, cell).count);
}

/* Return the factors of the bets [features] in a cell: `scale` of the stratum, divided by the
 * calibration of the segment. Valid until the next call. */
static const float (*scale_segment(struct ek_detector *d, int cell,
                                   const float (*scale)[EK_BETS]))[EK_BETS]
{
    const struct ek_segment_calibration *t = d->profile->segment_calibration;
    struct ek_segment_rows rows = rows_of(d, cell);
    if (!rows.count)
        return scale;
    memcpy(d->segment_scale, scale, (size_t)d->features * sizeof *scale);
    for (size_t i = rows.first; i < (size_t)rows.first + rows.count; i++) {
        float *to = d->segment_scale[t->feature[i]];
        for (int k = 0; k < EK_BETS; k++)
            to[k] /= t->divisor[i * EK_CALIBRATED + (size_t)k];
    }
    return (const float(*)[EK_BETS])d->segment_scale;
}

/* Add the list to the evidence of one cell. Cells of strata and segments have their own
 * calibration.
 */
static void update_evidence(struct ek_detector *d, int cell,
                            const struct ek_list_stats_builder *read, const float *query)
{
    size_t stratum = (size_t)read->stratum * (size_t)d->features;
    struct ek_evidence_list list = {
        .bets = read->list_bets,
        .bet_scale = (const float(*)[EK_BETS])(d->bet_scale + stratum),
        .weight = d->reader->tables->weight,
        .cells = d->evidence,
        .cell = cell,
        .band = ek_detector_band(d, cell, read->stratum),
        .track_lists = cell ? EK_TRACK_LISTS : d->track_lists,
        .evident = update_cell(d, cell, read, query),
        .sum = d->evidence_sum,
    };
    list.bet_scale = scale_segment(d, cell, list.bet_scale);
    bool own = ek_detector_calibrates(d, cell);
    if (own)
        list.bet_scale = ek_cell_calibration_get(d->calibrations, cell, &list);
    int alarms = ek_evidence_update(&list, &d->level, d->alarm);
    if (own)
        ek_cell_calibration_update(d->calibrations, cell, &list);
    for (int i = 0; i < alarms; i++)
        ek_episode_open(d, d->alarm[i].feature, cell, d->alarm[i].bet);
}

/* Return whether cell i of the list observes it. */
static bool is_observed(const struct ek_detector *d, int i)
{
    return d->cell_of[i] >= 0 && d->observed >> i & 1;
}

static void add_evidence(struct ek_detector *d, const struct ek_list_stats_builder *read,
                         const float *query)
{
    for (int i = 0; i <= ek_cells_dimensions(d->cells); i++)
        if (is_observed(d, i))
            update_evidence(d, d->cell_of[i], read, query);
}

static void update_categories(struct ek_detector *d, int cell)
{
    for (int i = 0; i < ek_categories_count(d->categories); i++) {
        int f = ek_categories_feature(d->categories, i);
        if (ek_episode_at(d, cell, f) || ek_detector_is_foreign(d, cell, f) ||
            !is_relevant(d, f, cell))
            continue;
        int bet = ek_categories_add(d->categories, i, cell, &d->level);
        if (bet >= 0)
            ek_episode_open(d, f, cell, bet);
    }
}

static void add_category_evidence(struct ek_detector *d)
{
    for (int i = 0; i <= ek_cells_dimensions(d->cells); i++)
        if (is_observed(d, i))
            update_categories(d, d->cell_of[i]);
}

/* Append the list to the history. Return its query features in the history. */
static const float *add_history(struct ek_detector *d, const struct ek_list *q,
                                const struct ek_list_stats_builder *read, int64_t time_ms)
{
    struct ek_list_stats *records;
    float *query;
    struct ek_history_row *row = ek_history_push(d->history, &records, &query);
    row->query = d->queries;
    row->time_ms = time_ms;
    row->stratum = read->stratum;
    memcpy(row->cell, d->cell_of, sizeof row->cell);
    for (int i = 0; i <= ek_cells_dimensions(d->cells); i++)
        if (row->cell[i] >= 0 && !is_observed(d, i))
            row->cell[i] = ek_row_skipped(row->cell[i]);
    memcpy(query, q->query, (size_t)d->query_features * sizeof *query);
    memcpy(records, read->record, (size_t)d->features * sizeof *records);
    d->track_lists = ek_profile_has_days(d->profile)
                         ? EK_TRACK_LISTS
                         : ek_track_lists(ek_history_lists_per_day(d->history));
    ek_categories_add_row(d->categories, read->stratum, ek_history_count(d->history) - 1);
    return query;
}

static int is_repeat(struct ek_detector *d, const struct ek_list_stats_builder *read)
{
    return d->rules->dedup_key && ek_dedup_count(d->repeats, read->repeat_key, d->queries) > 0;
}

/* Count lists that are no evidence while most are none. */
static void count_unused(struct ek_detector *d, enum ek_unused why, bool unused)
{
    float most = why == EK_UNUSED_REPEAT ? MOST_REPEATS : MOST;
    d->unused[why] += ((float)unused - d->unused[why]) / UNUSED_LISTS;
    d->exceeded.count[ek_unused_bound(why)] += unused && d->unused[why] > most;
}

/* Set d->common to the ln that the items of a list have in common in each feature with levels: what
 * training expects, and by how much the list differs, which its items with levels show. Without
 * them it is the tracked level, unless that may be wrong during a change: NAN. */
static void compute_common(struct ek_detector *d, const struct ek_list *q,
                           const struct ek_list_stats_builder *read)
{
    const struct ek_item_levels *t = d->profile->item_levels;
    for (int a = 0; a < t->features; a++) {
        int f = t->feature[a];
        double expected = ek_list_stats_builder_expected(read, q, f);
        double differs = (double)read->record[f].r;
        if (!read->record[f].usable)
            differs = d->open[f] || ek_episode_at(d, 0, f)
                          ? (double)NAN
                          : (double)ek_evidence_mu(d->evidence, 0, f) +
                                ek_level_offset_find(&d->level_offsets, f, d->cell_of,
                                                     1 + ek_cells_dimensions(d->cells));
        d->common[a] = (float)(expected + differs);
    }
}

/* Learn the levels of the items of a list that training did not contain. */
static void learn_levels(struct ek_detector *d, const struct ek_list *q,
                         const struct ek_list_stats_builder *read)
{
    const struct ek_item_levels *t = d->profile->item_levels;
    compute_common(d, q, read);
    for (int i = 0; q->item_id && i < q->items; i++) {
        const float *x = q->x + (size_t)i * (size_t)q->item_features;
        if (ek_item_levels_find(t, q->item_id[i]))
            continue;
        for (int a = 0; a < t->features; a++) {
            float value = x[t->feature[a]];
            d->value_ln[a] = isnormal(value) ? logf(fabsf(value)) - d->common[a] : NAN;
        }
        ek_learned_levels_add(d->learned, q->item_id[i], d->value_ln, d->queries);
    }
}

/* Update the state with a list that is not a repeat. */
static void update_list(struct ek_detector *d, const struct ek_list *q,
                        struct ek_list_stats_builder *read, int64_t time_ms)
{
    if (d->learned && read->lacks_levels)
        learn_levels(d, q, read);
    if (d->level_offsets.count)
        ek_level_offset_list(&d->level_offsets, d->cell_of, 1 + ek_cells_dimensions(d->cells),
                             read);
    const float *query = add_history(d, q, read, time_ms);
    count_unused(d, EK_UNUSED_STRATUM, read->unknown_stratum);
    count_unused(d, EK_UNUSED_ITEMS, read->unknown_items);
    int outside = ek_query_ranges_find_outside(&d->profile->query_ranges, q->query);
    count_unused(d, EK_UNUSED_QUERY, outside >= 0);
    if (outside >= 0)
        d->outside_query = outside;
    ek_scheduler_refill(d);
    add_evidence(d, read, query);
    add_category_evidence(d);
    if (ek_history_count(d->history) % EXPIRY_LISTS == 0)
        ek_episodes_remove_expired(d);
}

static int observe_list(struct ek_detector *d, const struct ek_list *q,
                        struct ek_list_stats_builder *read, int64_t time_ms, struct ek_error *e)
{
    /* Threads that read lists in parallel know the levels of training alone. */
    if (read->lacks_levels && !read->learned && ek_learned_levels_has_items(d->learned)) {
        if (ek_list_stats_builder_read(d->reader, q, e))
            return EK_ENOMEM;
        read = d->reader;
    }
    bool repeat = is_repeat(d, read);
    if (q->items > 0)
        count_unused(d, EK_UNUSED_REPEAT, repeat);
    if (!repeat && q->items > 0)
        update_list(d, q, read, time_ms);
    return EK_OK;
}

int ek_detector_update(struct ek_detector *d, const struct ek_list *q,
                       struct ek_list_stats_builder *read, int64_t time_ms, uint32_t observed,
                       struct ek_error *e)
{
    d->observed = observed;
    if ((observed && ek_categories_read(d->categories, q)) || find_cells(d, q))
        return out_of_memory(e);
    int rc = observed ? observe_list(d, q, read, time_ms, e) : EK_OK;
    if (!rc)
        d->queries++;
    return rc;
}

int ek_detector_observe(struct ek_detector *d, const struct ek_list *q, int64_t time_ms,
                        struct ek_error *e)
{
    int rc = ek_list_stats_builder_read(d->reader, q, e);
    return rc ? rc : ek_detector_update(d, q, d->reader, time_ms, EK_CELLS_ALL, e);
}

struct ek_list_stats_builder *ek_detector_reader(struct ek_detector *d)
{
    return d->reader;
}

int ek_detector_next(struct ek_detector *d, struct ek_finding *out)
{
    if (d->fetched == d->findings)
        return 0;
    *out = d->finding[d->fetched++ % EK_FINDINGS_MAX];
    return 1;
}

const int16_t *ek_detector_cells(const struct ek_detector *d, int *count)
{
    *count = 1 + ek_cells_dimensions(d->cells);
    return d->cell_of;
}

void ek_detector_retain_cells(struct ek_detector *d, const uint8_t *held, int cells)
{
    for (int cell = 0; cell < d->cell_capacity; cell++) {
        uint8_t hold = cell < cells && held[cell];
        if (hold && !d->retained[cell])
            ek_cells_retain(d->cells, cell);
        else if (!hold && d->retained[cell])
            ek_cells_release(d->cells, cell);
        d->retained[cell] = hold;
    }
}

const struct ek_cells *ek_detector_registry(const struct ek_detector *d)
{
    return d->cells;
}

struct ek_limit_counters ek_detector_limit_counters(const struct ek_detector *d)
{
    struct ek_limit_counters b = d->exceeded;
    for (int i = 0; i < ek_cells_dimensions(d->cells); i++)
        b.count[EK_BOUND_CELLS] += ek_cells_get_share(d->cells, i).pooled;
    return b;
}

int ek_detector_get_outside_query(const struct ek_detector *d)
{
    return d->outside_query;
}

int ek_detector_diagnosis_count(const struct ek_detector *d)
{
    return d->scheduler.diagnoses;
}

uint64_t ek_detector_list_count(const struct ek_detector *d)
{
    return d->queries;
}
