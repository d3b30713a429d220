/* Serialization of the detector state by parts. */
#include "detect/detector_state.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "detect/category_internal.h"
#include "detect/detector_internal.h"
#include "detect/history.h"

#include <limits.h>
#include <math.h>

static void row_serialize(struct ek_category *k, struct ek_serialize *s, uint64_t number)
{
    struct ek_category_row *row = &k->row[number % EK_HISTORY];
    ek_serialize_raw(s, &row->unknown, sizeof row->unknown);
    ek_serialize_raw(s, &row->stratum, sizeof row->stratum);
    ek_serialize_raw(s, &row->count, sizeof row->count);
    ek_serialize_require(s, row->stratum < k->table->strata && row->count <= EK_CATEGORY_TOP);
    if (!s->rc)
        ek_serialize_raw(s, row->top, row->count * sizeof *row->top);
}

static void category_rows_serialize(struct ek_category *k, struct ek_serialize *s, uint64_t first,
                                    uint64_t end)
{
    for (uint64_t row = first; row < end && !s->rc; row++)
        row_serialize(k, s, row);
}

static void cell_serialize(struct ek_category *k, struct ek_serialize *s, int cell)
{
    struct ek_category_evidence *e = &k->evidence[cell];
    size_t values = (size_t)k->table->count;
    ek_serialize_raw(s, e->unknown, sizeof e->unknown);
    ek_serialize_raw(s, e->gone, sizeof e->gone);
    ek_serialize_raw(s, e->r, sizeof e->r);
    ek_serialize_raw(s, e->value, sizeof e->value);
    ek_serialize_raw(s, &e->scale, sizeof e->scale);
    ek_serialize_u32(s, &e->lists);
    ek_serialize_raw(s, k->mean + (size_t)cell * values, values * sizeof *k->mean);
}

/* Serialize the feature number and the number of values; reading requires equality. */
static void kind_serialize(struct ek_category *k, struct ek_serialize *s)
{
    int feature = k->feature, values = k->table->count;
    ek_serialize_int(s, &feature, feature, feature);
    ek_serialize_int(s, &values, values, values);
}

/* Read or write the number of category features and their tracked values; reading requires the same
 * features. Errors are in s->rc, also below. */
static void categories_kind_serialize(struct ek_categories *c, struct ek_serialize *s)
{
    int count = c->count;
    ek_serialize_int(s, &count, c->count, c->count);
    for (int i = 0; i < c->count; i++)
        kind_serialize(&c->of[i], s);
}

/* Read or write the rows first .. end - 1 of the history. Errors are in s->rc. */
static void categories_rows_serialize(struct ek_categories *c, struct ek_serialize *s,
                                      uint64_t first, uint64_t end)
{
    for (int i = 0; i < c->count; i++)
        category_rows_serialize(&c->of[i], s, first, end);
}

/* Read or write the evidence of one cell, which must be reserved. Errors are in s->rc. */
static void categories_cell_serialize(struct ek_categories *c, struct ek_serialize *s, int cell)
{
    for (int i = 0; i < c->count; i++)
        cell_serialize(&c->of[i], s, cell);
}

/* Return the slot of a value, else a free slot, else -1. */
static int place_of(const struct ek_category_evidence *e, float value)
{
    int free = -1;
    for (int i = 0; i < EK_CATEGORY_SLOTS; i++) {
        if (e->value[i] == value)
            return i;
        if (isnan(e->value[i]))
            free = i;
    }
    return free;
}

static void merge_evidence(struct ek_category_evidence *to, const struct ek_category_evidence *from)
{
    for (int i = 0; i < 2; i++)
        to->unknown[i] += from->unknown[i];
    for (int i = 0; i < EK_CATEGORY_HEAVY; i++)
        to->gone[i] += from->gone[i];
    for (int i = 0; i < EK_CATEGORY_SLOTS; i++) {
        int place = isnan(from->value[i]) ? -1 : place_of(to, from->value[i]);
        if (place < 0)
            continue;
        to->r[place] = (isnan(to->value[place]) ? 0 : to->r[place]) + from->r[i];
        to->value[place] = from->value[i];
    }
}

static void merge_cell(struct ek_category *k, int cell, const struct ek_category *others, int of)
{
    struct ek_category_evidence *to = &k->evidence[cell];
    const struct ek_category_evidence *from = &others->evidence[of];
    size_t values = (size_t)k->table->count;
    double lists = (double)to->lists + (double)from->lists;
    if (!from->lists)
        return;
    for (size_t v = 0; v < values; v++) {
        float *mean = &k->mean[(size_t)cell * values + v];
        double here = (double)(*mean * to->scale) * (double)to->lists;
        double there =
            (double)(others->mean[(size_t)of * values + v] * from->scale) * (double)from->lists;
        *mean = (float)((here + there) / lists);
    }
    merge_evidence(to, from);
    to->scale = 1;
    to->lists = lists < UINT32_MAX ? (uint32_t)lists : UINT32_MAX;
}

void ek_categories_merge(struct ek_categories *c, int cell, const struct ek_categories *others,
                         int of)
{
    for (int i = 0; i < c->count; i++)
        merge_cell(&c->of[i], cell, &others->of[i], of);
}

static int merge_rows(struct ek_category *k, const struct ek_category *others,
                      const struct ek_row_order *o)
{
    struct ek_category_row *rows = ek_calloc(EK_HISTORY, sizeof *rows);
    if (!rows)
        return EK_ENOMEM;
    for (uint64_t i = o->first; i < o->count; i++) {
        const struct ek_category *from = o->is_other[i - o->first] ? others : k;
        rows[i % EK_HISTORY] = from->row[o->place[i - o->first]];
    }
    ek_free(k->row);
    k->row = k->now = rows;
    return EK_OK;
}

int ek_categories_merge_rows(struct ek_categories *c, const struct ek_categories *others,
                             const struct ek_row_order *o)
{
    int rc = EK_OK;
    for (int i = 0; i < c->count && !rc; i++)
        rc = merge_rows(&c->of[i], &others->of[i], o);
    return rc;
}

static const char *signal_name(int i)
{
    return i < EK_BETS ? ek_bet_name(i) : ek_category_bet_name(i);
}

/* Serialize the conversions by name. Reading drops conversions that the current rules lack. */
static void units_serialize(struct ek_detector *d, struct ek_finding *f, struct ek_serialize *s)
{
    int count = f->unit_count, kept = 0;
    ek_serialize_int(s, &count, 0, EK_UNIT_MATCHES);
    for (int i = 0; i < count && !s->rc; i++) {
        struct ek_unit_match *match = &f->unit[kept];
        char *id = ek_serialize_is_reading(s) ? NULL : (char *)match->unit->id;
        int fit = (int)match->fit;
        ek_serialize_text(s, &id);
        ek_serialize_int(s, &match->listed, 0, 1);
        ek_serialize_int(s, &fit, EK_UNIT_SAME, EK_UNIT_OTHER);
        match->fit = (enum ek_unit_fit)fit;
        if (ek_serialize_is_reading(s)) {
            match->unit = id ? ek_units_find(&d->rules->units, id) : NULL;
            ek_free(id);
        }
        kept += match->unit != NULL;
    }
    f->unit_count = kept;
}

static void names_serialize(struct ek_finding *f, struct ek_serialize *s)
{
    int state = (int)f->state, class = (int)f->class;
    ek_serialize_int(s, &state, EK_SUSPECTED, EK_RECOVERED);
    ek_serialize_int(s, &class, EK_CLASS_NONE, EK_CLASS_COUNT - 1);
    f->state = (enum ek_finding_state)state;
    f->class = (enum ek_class) class;
    ek_serialize_name(s, &f->signal, signal_name, EK_BET_VALUE_GONE + 1);
    ek_serialize_require(s, f->signal != NULL);
    ek_serialize_name(s, &f->reason, ek_reason_text, EK_REASONS);
}

static void numbers_serialize(struct ek_finding *f, struct ek_serialize *s)
{
    ek_serialize_u32(s, &f->episode);
    ek_serialize_u32(s, &f->cause);
    ek_serialize_u64(s, &f->query);
    ek_serialize_u64(s, &f->since_query);
    ek_serialize_i64(s, &f->time_ms);
    ek_serialize_i64(s, &f->since_ms);
    ek_serialize_f64(s, &f->factor);
    ek_serialize_f64(s, &f->factor_low);
    ek_serialize_f64(s, &f->factor_high);
    ek_serialize_f64(s, &f->error_ln);
    ek_serialize_f64(s, &f->share);
    ek_serialize_f64(s, &f->spread_ratio);
    ek_serialize_f64(s, &f->exponent);
    ek_serialize_f64(s, &f->value_share);
    ek_serialize_f64(s, &f->trained_share);
    int flags = ek_finding_get_flags(f);
    ek_serialize_int(s, &flags, 0, EK_FINDING_FLAGS_ALL);
    ek_finding_set_flags(f, flags);
}

static void category_changes_serialize(struct ek_category_change *change, int *count,
                                       struct ek_serialize *s)
{
    ek_serialize_int(s, count, 0, EK_CATEGORY_CHANGES);
    for (int i = 0; i < *count; i++) {
        ek_serialize_raw(s, &change[i].value, sizeof change[i].value);
        ek_serialize_f64(s, &change[i].share);
        ek_serialize_f64(s, &change[i].trained);
    }
}

/* Serialize a queued finding. Its value is read from its cell, because no cell is reassigned while
 * findings are queued. */
static void finding_serialize(struct ek_detector *d, struct ek_finding *f, struct ek_serialize *s)
{
    names_serialize(f, s);
    numbers_serialize(f, s);
    ek_serialize_int(s, &f->feature, 0, d->features - 1);
    ek_serialize_int(s, &f->cell, 0, ek_cells_count(d->cells) - 1);
    ek_serialize_int(s, &f->query_feature, -1, d->query_features - 1);
    category_changes_serialize(f->category, &f->category_count, s);
    units_serialize(d, f, s);
    if (!ek_serialize_is_reading(s))
        return;
    f->dimension = ek_cells_dimension_name(d->cells, f->cell);
    f->value = ek_cells_value(d->cells, f->cell);
}

static void findings_serialize(struct ek_detector *d, struct ek_serialize *s)
{
    ek_serialize_u64(s, &d->findings);
    ek_serialize_u64(s, &d->fetched);
    ek_serialize_require(s,
                         d->fetched <= d->findings && d->findings - d->fetched <= EK_FINDINGS_MAX);
    for (uint64_t i = d->fetched; i < d->findings && !s->rc; i++)
        finding_serialize(d, &d->finding[i % EK_FINDINGS_MAX], s);
}

static void alignment_serialize(struct ek_alignment *a, struct ek_serialize *s)
{
    ek_serialize_f64(s, &a->shift_ln);
    ek_serialize_f64(s, &a->share);
    ek_serialize_f64(s, &a->gain_ln);
    ek_serialize_f64(s, &a->low_ln);
    ek_serialize_f64(s, &a->high_ln);
    ek_serialize_f64(s, &a->error_ln);
}

static void class_serialize(enum ek_class *class, struct ek_serialize *s)
{
    int number = (int)*class;
    ek_serialize_int(s, &number, EK_CLASS_NONE, EK_CLASS_COUNT - 1);
    *class = (enum ek_class)number;
}

static void diagnosis_serialize(struct ek_diagnosis *g, struct ek_serialize *s)
{
    int class = (int)g->class;
    ek_serialize_int(s, &class, EK_CLASS_NONE, EK_CLASS_COUNT - 1);
    g->class = (enum ek_class) class;
    alignment_serialize(&g->level, s);
    ek_serialize_f64(s, &g->mean_ln);
    ek_serialize_f64(s, &g->mean_error_ln);
    ek_serialize_f64(s, &g->spread_ratio);
    ek_serialize_f64(s, &g->spread_test);
    ek_serialize_f64(s, &g->incoherent);
    ek_serialize_raw(s, g->share, sizeof g->share);
    ek_serialize_raw(s, g->share_error, sizeof g->share_error);
    ek_serialize_f64(s, &g->exponent);
    ek_serialize_int(s, &g->lists, 0, EK_HISTORY);
}

static void progress_serialize(struct ek_episode *e, struct ek_serialize *s)
{
    ek_serialize_u64(s, &e->alarm_row);
    ek_serialize_u64(s, &e->since_row);
    ek_serialize_u64(s, &e->since_query);
    ek_serialize_i64(s, &e->since_ms);
    ek_serialize_u64(s, &e->span_first);
    ek_serialize_u64(s, &e->span_last);
    ek_serialize_u32(s, &e->lists);
    ek_serialize_u32(s, &e->due);
    ek_serialize_f64(s, &e->level_error);
    ek_serialize_f64(s, &e->before_ln);
    ek_serialize_f64(s, &e->wider);
    int flags = e->gradual | e->varies << 1 | e->reported_lasting << 2 | e->mix << 3;
    ek_serialize_int(s, &flags, 0, 8 * (EK_MIX_SHARED + 1) - 1);
    e->gradual = flags & 1;
    e->varies = flags >> 1 & 1;
    e->reported_lasting = flags >> 2 & 1;
    e->mix = flags >> 3;
    ek_serialize_f64(s, &e->recovery);
    ek_serialize_f64(s, &e->recovery_ln);
    ek_serialize_u64(s, &e->recovery_row);
    ek_serialize_int(s, &e->recovering, 0, 1);
    ek_serialize_u32(s, &e->recovering_at);
}

static void place_serialize(struct ek_episode *e, struct ek_serialize *s,
                            const struct ek_serialize_bounds *b)
{
    ek_serialize_u32(s, &e->number);
    ek_serialize_u32(s, &e->cause);
    ek_serialize_int(s, &e->feature, 0, b->features - 1);
    ek_serialize_int(s, &e->cell, 0, b->cells - 1);
    ek_serialize_int(s, &e->bet, 0, EK_BET_VALUE_GONE);
    ek_serialize_int(s, &e->claimed, 0, 1);
    ek_serialize_int(s, &e->unreported, 0, 1);
    ek_serialize_int(s, &e->attempts, 0, INT_MAX);
    ek_serialize_int(s, &e->uncertain, 0, INT_MAX);
    ek_serialize_int(s, &e->waits, 0, INT_MAX);
    ek_serialize_u32(s, &e->from_dimensions);
    ek_serialize_u32(s, &e->handed_from);
    ek_serialize_int(s, &e->query_feature, -1, b->query_features - 1);
}

/* Require consistent numbers, and a category feature for an episode on values. */
static void require_consistent(const struct ek_detector *d, const struct ek_episode *e,
                               struct ek_serialize *s)
{
    int has_values = e->bet >= EK_BETS || e->diagnosis.class == EK_NEW_CATEGORY;
    ek_serialize_require(s, !has_values || d->profile->category[e->feature].strata);
    ek_serialize_require(s,
                         e->number && e->number <= d->episodes_ever && e->cause <= d->causes_ever);
    ek_serialize_require(s, e->since_row < ek_history_count(d->history) &&
                                e->alarm_row < ek_history_count(d->history));
}

void ek_episode_serialize(struct ek_episode *e, struct ek_serialize *s,
                          const struct ek_serialize_bounds *b)
{
    int phase = (int)e->phase;
    ek_serialize_int(s, &phase, EK_PHASE_NONE, EK_PHASE_CONFIRMED);
    e->phase = (enum ek_phase)phase;
    if (e->phase == EK_PHASE_NONE)
        return;
    place_serialize(e, s, b);
    progress_serialize(e, s);
    diagnosis_serialize(&e->diagnosis, s);
    class_serialize(&e->last_class, s);
    category_changes_serialize(e->category.change, &e->category.count, s);
    ek_serialize_f64(s, &e->category.lists);
}

static void registered_serialize(struct ek_detector *d, struct ek_episode *e,
                                 struct ek_serialize *s)
{
    const struct ek_serialize_bounds bounds = {d->features, d->query_features,
                                               ek_cells_count(d->cells)};
    ek_episode_serialize(e, s, &bounds);
    if (e->phase == EK_PHASE_NONE)
        return;
    require_consistent(d, e, s);
    if (ek_serialize_is_reading(s) && !s->rc) {
        ek_serialize_require(s, !ek_episode_at(d, e->cell, e->feature));
        ek_episode_enter(d, e);
    }
}

static void episodes_serialize(struct ek_detector *d, struct ek_serialize *s)
{
    ek_serialize_u32(s, &d->episodes_ever);
    ek_serialize_u32(s, &d->causes_ever);
    ek_serialize_int(s, &d->episodes, 0, EK_EPISODES_MAX);
    for (int i = 0; i < d->episodes && !s->rc; i++)
        registered_serialize(d, &d->episode[i], s);
}

struct ek_detector_kind ek_detector_get_kind(const struct ek_detector *d)
{
    return (struct ek_detector_kind){
        .profile = d->profile_hash,
        .features = d->features,
        .query_features = d->query_features,
        .strata = d->profile->strata,
        .bets = EK_BETS,
        .bounds = EK_BOUNDS,
        .history = EK_HISTORY,
        .cells = ek_cells_limit(d->cells),
        .dimensions = ek_cells_dimensions(d->cells),
    };
}

void ek_detector_kind_serialize(struct ek_detector_kind *k, struct ek_serialize *s)
{
    int *size[] = {&k->features, &k->query_features, &k->strata, &k->bets,
                   &k->bounds,   &k->history,        &k->cells,  &k->dimensions};
    ek_serialize_u64(s, &k->profile);
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        ek_serialize_int(s, size[i], 0, INT32_MAX);
}

int ek_detector_part_count(const struct ek_detector *d, enum ek_detector_part part)
{
    uint64_t rows = ek_history_count(d->history) - ek_history_first(d->history);
    switch (part) {
    case EK_PART_EVIDENCE:
        return ek_cells_count(d->cells);
    case EK_PART_ROWS:
        return (int)((rows + EK_PART_ROWS_EACH - 1) / EK_PART_ROWS_EACH);
    case EK_PART_ACCEPTS:
        return d->level_offsets.version > 0;
    case EK_PART_LEARNED:
        return ek_learned_levels_has_items(d->learned) ? EK_LEARNED_BLOCKS : 0;
    case EK_PART_CELLS:
    case EK_PART_LISTS:
    case EK_PART_CHANGES:
        break;
    }
    return 1;
}

/* Return how many of the first `rows` rows were written to slots below `place`. */
static uint64_t rows_below(uint64_t rows, uint64_t place)
{
    uint64_t last = rows % EK_HISTORY;
    return rows / EK_HISTORY * place + (last < place ? last : place);
}

uint64_t ek_detector_part_mark(const struct ek_detector *d, enum ek_detector_part part, int number)
{
    if (part == EK_PART_LEARNED)
        return ek_learned_levels_mark(d->learned, number);
    if (part != EK_PART_ROWS)
        return 0;
    uint64_t rows = ek_history_count(d->history), first = (uint64_t)number * EK_PART_ROWS_EACH;
    uint64_t mark[] = {rows_below(rows, first + EK_PART_ROWS_EACH) - rows_below(rows, first),
                       ek_cells_reuse_count(d->cells), /* a reused cell is removed from rows */
                       d->level_offsets.version};      /* an accept changes residuals */
    return ek_hash(mark, sizeof mark, 0) | 1;
}

static void cells_serialize(struct ek_detector *d, struct ek_serialize *s)
{
    ek_cells_serialize(d->cells, s);
    if (ek_serialize_is_reading(s) && !s->rc)
        s->rc = ek_detector_reserve_cells(d, ek_cells_count(d->cells));
    for (int cell = 0; cell < ek_cells_count(d->cells) && !s->rc; cell++) {
        ek_serialize_raw(s, &d->retained[cell], 1);
        ek_serialize_require(s, d->retained[cell] <= 1);
        if (ek_serialize_is_reading(s) && d->retained[cell])
            ek_cells_retain(d->cells, cell);
    }
}

static void lists_serialize(struct ek_detector *d, struct ek_serialize *s)
{
    int per_query = 1 + ek_cells_dimensions(d->cells);
    ek_serialize_u64(s, &d->queries);
    ek_serialize_raw(s, d->cell_of, (size_t)per_query * sizeof *d->cell_of);
    for (int i = 0; i < per_query; i++)
        ek_serialize_require(s, d->cell_of[i] >= -1 && d->cell_of[i] < ek_cells_count(d->cells));
    ek_serialize_raw(s, d->exceeded.count, EK_BOUNDS * sizeof *d->exceeded.count);
    ek_dedup_serialize(d->repeats, s, d->queries);
    ek_history_count_serialize(d->history, s);
    categories_kind_serialize(d->categories, s);
}

static void rows_serialize(struct ek_detector *d, int number, struct ek_serialize *s)
{
    int first = number * EK_PART_ROWS_EACH, end = first + EK_PART_ROWS_EACH;
    if ((uint64_t)end > ek_history_count(d->history))
        end = (int)ek_history_count(d->history);
    ek_history_cells_serialize(d->history, s, first, end, d->profile->strata,
                               ek_cells_count(d->cells));
    categories_rows_serialize(d->categories, s, (uint64_t)first, (uint64_t)end);
}

static void evidence_serialize(struct ek_detector *d, int cell, struct ek_serialize *s)
{
    int calibrations = ek_detector_calibrates(d, cell);
    ek_evidence_cells_serialize(d->evidence, cell, s);
    ek_serialize_int(s, &calibrations, calibrations, calibrations);
    if (calibrations)
        ek_cell_calibration_serialize(d->calibrations, s, cell);
    categories_cell_serialize(d->categories, s, cell);
}

/* Serialize the lists that are no evidence, which states of earlier versions lack. */
static void unused_serialize(struct ek_detector *d, enum ek_unused why, struct ek_serialize *s)
{
    if (ek_serialize_is_reading(s) && s->at == s->end)
        return;
    ek_serialize_raw(s, &d->unused[why], sizeof d->unused[why]);
    ek_serialize_u64(s, &d->exceeded.count[ek_unused_bound(why)]);
    ek_serialize_require(s, d->unused[why] >= 0 && d->unused[why] <= 1);
}

/* Serialize what was usual in the segments of episodes, which states of earlier versions lack. */
static void usual_serialize(struct ek_detector *d, struct ek_serialize *s)
{
    if (ek_serialize_is_reading(s) && s->at == s->end)
        return;
    for (int i = 0; i < d->episodes; i++) {
        struct ek_usual *u = &d->episode[i].usual;
        int open = d->episode[i].phase != EK_PHASE_NONE;
        u->known &= open;
        ek_serialize_int(s, &u->known, 0, open);
        if (!u->known)
            continue;
        ek_serialize_f64(s, &u->spread_ln);
        ek_serialize_raw(s, u->share, sizeof u->share);
    }
}

static void changes_serialize(struct ek_detector *d, struct ek_serialize *s)
{
    for (int f = 0; f < d->features; f++) {
        ek_serialize_u64(s, &d->recovered_row[f]);
        ek_serialize_require(s, d->recovered_row[f] <= ek_history_count(d->history));
    }
    episodes_serialize(d, s);
    findings_serialize(d, s);
    ek_incidents_serialize(d, s, ek_cells_count(d->cells));
    for (int why = 0; why < EK_UNUSED_REASONS; why++)
        unused_serialize(d, (enum ek_unused)why, s);
    usual_serialize(d, s);
}

void ek_detector_part_serialize(struct ek_detector *d, enum ek_detector_part part, int number,
                                struct ek_serialize *s)
{
    switch (part) {
    case EK_PART_CELLS:
        cells_serialize(d, s);
        break;
    case EK_PART_LISTS:
        lists_serialize(d, s);
        break;
    case EK_PART_ROWS:
        rows_serialize(d, number, s);
        break;
    case EK_PART_EVIDENCE:
        evidence_serialize(d, number, s);
        break;
    case EK_PART_CHANGES:
        changes_serialize(d, s);
        break;
    case EK_PART_ACCEPTS:
        ek_detector_offsets_serialize(d, s);
        break;
    case EK_PART_LEARNED:
        ek_serialize_require(s, d->learned != NULL);
        if (!s->rc)
            ek_learned_levels_serialize(d->learned, number, s);
        break;
    }
}
