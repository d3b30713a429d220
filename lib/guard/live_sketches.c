#include "guard/live_sketches.h"

#include "base/alloc.h"
#include "base/json.h"
#include "num/windows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Features of a closed window to pack per list; costs no more than the list. */
enum { PACK_FEATURES = 2 };

/* Last change of a feature in a cell. */
struct change {
    int cell, feature;
    uint64_t since; /* closed windows before it */
};

struct ek_live_sketches {
    const struct ek_manifest *manifest;
    const struct ek_profile *profile;
    const struct ek_cells *cells;
    const struct ek_level_offsets *rebases; /* NULL: no accepted levels */
    struct ek_window_rule rule;
    int64_t now;                 /* number of the open window */
    struct ek_windows **windows; /* [rule.max_segments] NULL before the first list */
    int *unpacked;               /* [rule.max_segments] ring of cells to pack, oldest first */
    uint8_t *waits;              /* [rule.max_segments] cell is in the ring */
    int first_unpacked, unpacked_count;
    size_t *bytes; /* [rule.max_segments] of its windows, after its last list */
    size_t all_bytes, most_bytes;
    uint64_t dropped;
    struct ek_bins *bins;                           /* [features] */
    struct ek_values *training;                     /* [features] */
    struct change change[EK_LIVE_SKETCHES_CHANGES]; /* ring */
    uint64_t changes;
    struct ek_sketch *sketch; /* scratch */
    struct ek_sketch *normal; /* scratch: training at the accepted level */
    float *rows;              /* scratch [items, features] of a list with query features */
    size_t room;              /* of rows, in values */
};

const char *ek_span_name(enum ek_span span)
{
    static const char *const names[] = {"current", "retained", "lifetime"};
    return names[span];
}

static int fail(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

static void values_of(const struct ek_sketch *s, struct ek_values *out)
{
    struct ek_sketch_summary sum;
    ek_sketch_summarize(s, &sum);
    double items = (double)sum.total;
    *out = (struct ek_values){.items = sum.total,
                              .missing = (double)sum.missing / items,
                              .zero = (double)sum.zero / items,
                              .negative = (double)sum.negative / items,
                              .infinite = (double)sum.infinite / items,
                              .log_mean = sum.log_mean,
                              .log_sd = sum.log_sd};
    ek_sketch_quantiles(s, ek_quantile_share, EK_QUANTILES, out->quantile);
}

int ek_live_sketches_new(struct ek_live_sketches **out, const struct ek_manifest *m,
                         const struct ek_profile *p, const struct ek_rules *rules,
                         const struct ek_cells *cells, struct ek_error *e)
{
    size_t features = (size_t)p->features;
    struct ek_live_sketches *t = ek_calloc(1, sizeof *t);
    if (!t)
        return fail(e);
    t->manifest = m;
    t->profile = p;
    t->cells = cells;
    t->rule = rules->windows;
    t->windows = ek_calloc((size_t)t->rule.max_segments, sizeof(struct ek_windows *));
    t->unpacked = ek_calloc((size_t)t->rule.max_segments, sizeof *t->unpacked);
    t->waits = ek_calloc((size_t)t->rule.max_segments, sizeof *t->waits);
    t->bytes = ek_calloc((size_t)t->rule.max_segments, sizeof *t->bytes);
    t->most_bytes = ek_live_sketches_max_bytes(p->features, &t->rule, ek_cells_max(cells));
    t->bins = ek_calloc(features, sizeof *t->bins);
    t->training = ek_calloc(features, sizeof *t->training);
    if (!t->windows || !t->unpacked || !t->waits || !t->bytes || !t->bins || !t->training ||
        ek_sketch_new(&t->sketch) || ek_sketch_new(&t->normal)) {
        ek_live_sketches_free(t);
        return fail(e);
    }
    for (int f = 0; f < p->features; f++) {
        ek_bins_fill(&t->bins[f], p->sketch[f]);
        values_of(p->sketch[f], &t->training[f]);
    }
    *out = t;
    return EK_OK;
}

void ek_live_sketches_free(struct ek_live_sketches *t)
{
    if (!t)
        return;
    for (int i = 0; t->windows && i < t->rule.max_segments; i++)
        ek_windows_free(t->windows[i]);
    ek_free(t->windows);
    ek_free(t->unpacked);
    ek_free(t->waits);
    ek_free(t->bytes);
    ek_free(t->bins);
    ek_free(t->training);
    ek_sketch_free(t->sketch);
    ek_sketch_free(t->normal);
    ek_free(t->rows);
    ek_free(t);
}

void ek_live_sketches_add_offset(struct ek_live_sketches *t, const struct ek_level_offsets *rebases)
{
    t->rebases = rebases;
}

void ek_live_sketches_time(struct ek_live_sketches *t, int64_t time_ms)
{
    int64_t length = t->rule.length_ms;
    t->now = time_ms / length - (time_ms % length < 0);
}

int ek_live_sketches_open(struct ek_live_sketches *t, int cell, struct ek_error *e)
{
    struct ek_windows **w = &t->windows[cell];
    return *w ? EK_OK : ek_windows_new(w, t->profile->features, t->rule.retention, e);
}

struct ek_windows *ek_live_sketches_windows(const struct ek_live_sketches *t, int cell)
{
    return cell < t->rule.max_segments ? t->windows[cell] : NULL;
}

size_t ek_live_sketches_max_bytes(int features, const struct ek_window_rule *rule, int cells)
{
    size_t some = (size_t)(cells < rule->max_segments ? cells : rule->max_segments);
    size_t windows = (size_t)rule->retention + 1; /* and the lifetime window */
    size_t each = EK_LIVE_SKETCHES_FEATURE_BYTES + windows * EK_LIVE_SKETCHES_WINDOW_BYTES;
    return some * ((size_t)features * each + EK_LIVE_SKETCHES_CELL_BYTES);
}

size_t ek_live_sketches_bytes(const struct ek_live_sketches *t)
{
    return t->all_bytes;
}

uint64_t ek_live_sketches_dropped(const struct ek_live_sketches *t)
{
    return t->dropped;
}

static void wait_for_packing(struct ek_live_sketches *t, int cell)
{
    if (t->waits[cell] || !ek_windows_unpacked(t->windows[cell]))
        return;
    t->waits[cell] = 1;
    t->unpacked[(t->first_unpacked + t->unpacked_count++) % t->rule.max_segments] = cell;
}

/* Return the last change of a feature in a cell, or NULL. */
static struct change *find_change(struct ek_live_sketches *t, int cell, int feature)
{
    for (size_t i = 0; i < EK_LIVE_SKETCHES_CHANGES && i < t->changes; i++)
        if (t->change[i].cell == cell && t->change[i].feature == feature)
            return &t->change[i];
    return NULL;
}

/* The windows of a cell are other ones. */
static void forget_changes(struct ek_live_sketches *t, int cell)
{
    for (size_t i = 0; i < EK_LIVE_SKETCHES_CHANGES; i++)
        if (t->change[i].cell == cell)
            t->change[i].since = 0;
}

int ek_live_sketches_separate(struct ek_live_sketches *t, int cell, int feature, struct ek_error *e)
{
    struct ek_windows *w = ek_live_sketches_windows(t, cell);
    uint64_t since;
    if (!w)
        return EK_OK;
    if (ek_windows_split(w, &since))
        return fail(e);
    wait_for_packing(t, cell);
    struct change *c = find_change(t, cell, feature);
    if (!c)
        c = &t->change[t->changes++ % EK_LIVE_SKETCHES_CHANGES];
    *c = (struct change){cell, feature, since};
    return EK_OK;
}

static void weigh(struct ek_live_sketches *t, int cell)
{
    size_t bytes = t->windows[cell] ? ek_windows_bytes(t->windows[cell]) : 0;
    t->all_bytes += bytes - t->bytes[cell];
    t->bytes[cell] = bytes;
}

/* The cell that fills the memory loses its sketches. The ring may still contain the cell. */
static void drop_largest(struct ek_live_sketches *t)
{
    int largest = 0;
    for (int cell = 1; cell < t->rule.max_segments; cell++)
        if (t->bytes[cell] > t->bytes[largest])
            largest = cell;
    ek_windows_free(t->windows[largest]);
    t->windows[largest] = NULL;
    forget_changes(t, largest);
    weigh(t, largest);
    t->dropped++;
}

static void drop_too_much(struct ek_live_sketches *t)
{
    while (t->all_bytes > t->most_bytes)
        drop_largest(t);
}

void ek_live_sketches_filled(struct ek_live_sketches *t, int cell)
{
    forget_changes(t, cell);
    weigh(t, cell);
    drop_too_much(t);
}

/* A set has as many rows for each feature, and a query feature one value: further rows have this
 * key, which is removed when they are read. Such a value itself counts as missing. */
static const uint16_t NO_VALUE = EK_SKETCH_NEG_INF;

static void fill_row(const struct ek_live_sketches *t, const struct ek_list *q, int i, float *row)
{
    const struct ek_manifest *m = t->manifest;
    memcpy(row, q->x + (size_t)i * (size_t)m->item_count, (size_t)m->item_count * sizeof *row);
    for (int f = m->item_count; f < m->watched_count; f++) {
        float x = ek_list_value(q, m, 0, f);
        row[f] = i ? -INFINITY : isinf(x) && x < 0 ? NAN : x;
    }
}

/* Set *rows to the values of a list in all watched features, valid until the next call. */
static int get_rows(struct ek_live_sketches *t, const struct ek_list *q, const float **rows)
{
    size_t features = (size_t)t->manifest->watched_count, count = (size_t)q->items * features;
    *rows = q->x;
    if (t->manifest->watched_count == t->manifest->item_count)
        return EK_OK;
    if (count > t->room) {
        float *larger = ek_realloc(t->rows, count + count / 2, sizeof *larger);
        if (!larger)
            return EK_ENOMEM;
        t->rows = larger;
        t->room = count + count / 2;
    }
    for (int i = 0; i < q->items; i++)
        fill_row(t, q, i, t->rows + (size_t)i * features);
    *rows = t->rows;
    return EK_OK;
}

static int list_in_cell(struct ek_live_sketches *t, int cell, const float *rows, int items,
                        struct ek_error *e)
{
    int rc = ek_live_sketches_open(t, cell, e);
    if (rc)
        return rc;
    rc = ek_windows_add(t->windows[cell], t->now, rows, items);
    weigh(t, cell);
    if (rc)
        return fail(e);
    wait_for_packing(t, cell);
    return EK_OK;
}

/* Cells close their windows at about the same time, so packing is spread over lists of any cell. */
static int pack_some(struct ek_live_sketches *t, struct ek_error *e)
{
    if (!t->unpacked_count)
        return EK_OK;
    int cell = t->unpacked[t->first_unpacked];
    if (t->windows[cell] && ek_windows_pack(t->windows[cell], PACK_FEATURES))
        return fail(e);
    if (t->windows[cell] && ek_windows_unpacked(t->windows[cell]))
        return EK_OK;
    t->waits[cell] = 0;
    t->first_unpacked = (t->first_unpacked + 1) % t->rule.max_segments;
    t->unpacked_count--;
    return EK_OK;
}

void ek_live_sketches_reset_cell(struct ek_live_sketches *t, int cell)
{
    struct ek_windows *w = ek_live_sketches_windows(t, cell);
    if (w)
        ek_windows_clear(w);
    forget_changes(t, cell);
}

int ek_live_sketches_list(struct ek_live_sketches *t, const int16_t *cells, int count,
                          int64_t time_ms, const struct ek_list *q, struct ek_error *e)
{
    ek_live_sketches_time(t, time_ms);
    const float *rows;
    int rc = pack_some(t, e);
    if (!rc && get_rows(t, q, &rows))
        rc = fail(e);
    for (int i = 0; !rc && i < count; i++)
        if (cells[i] >= 0 && cells[i] < t->rule.max_segments)
            rc = list_in_cell(t, cells[i], rows, q->items, e);
    drop_too_much(t);
    return rc;
}

int ek_live_sketches_features(const struct ek_live_sketches *t)
{
    return t->profile->features;
}

int ek_live_sketches_cells(const struct ek_live_sketches *t)
{
    int count = ek_cells_count(t->cells);
    return count < t->rule.max_segments ? count : t->rule.max_segments;
}

void ek_live_sketches_cell(const struct ek_live_sketches *t, int cell, const char **dimension,
                           const char **value)
{
    *dimension = ek_cells_dimension_name(t->cells, cell);
    *value = ek_cells_value(t->cells, cell);
}

/* Reference of the statistics of a feature in a cell. */
struct reference {
    const struct ek_sketch *sketch;
    struct ek_bins bins;
    struct ek_values values;
    struct ek_accepted_view accepted;
};

/* Return whether lists of the cell have an accepted level of another cell. */
static bool is_accepted_in_part(const struct ek_live_sketches *t, int cell, int feature)
{
    for (int i = 0; i < t->rebases->count; i++) {
        const struct ek_level_offset *one = &t->rebases->one[i];
        if (one->feature == feature && one->cell && one->cell != cell &&
            (!cell ||
             ek_cells_dimension(t->cells, cell) != ek_cells_dimension(t->cells, one->cell)))
            return true;
    }
    return false;
}

static void find_reference(struct ek_live_sketches *t, int cell, int feature, struct reference *out)
{
    const int16_t cells[] = {0, (int16_t)cell};
    *out = (struct reference){.sketch = t->profile->sketch[feature],
                              .bins = t->bins[feature],
                              .values = t->training[feature],
                              .accepted = {.factor = 1}};
    if (!t->rebases || !t->rebases->count)
        return;
    double shift_ln = ek_level_offset_find(t->rebases, feature, cells, cell ? 2 : 1);
    out->accepted.in_part = is_accepted_in_part(t, cell, feature);
    if (shift_ln == 0)
        return;
    ek_sketch_clear(t->normal);
    ek_sketch_translate(t->profile->sketch[feature], shift_ln, t->normal);
    out->sketch = t->normal;
    ek_bins_fill(&out->bins, t->normal);
    values_of(t->normal, &out->values);
    out->accepted.factor = exp(shift_ln);
}

static void feature_view_of(const struct ek_sketch *s, uint64_t lists, const struct ek_bins *bins,
                            const struct ek_sketch *reference, const struct ek_values *training,
                            struct ek_feature_view *out)
{
    out->accepted = (struct ek_accepted_view){.factor = 1};
    out->lists = lists;
    values_of(s, &out->values);
    out->scale_ratio = exp(out->values.log_mean - training->log_mean);
    ek_divergence_compute(bins, reference, s, &out->divergence);
}

static void remove_further_rows(struct ek_live_sketches *t, int feature)
{
    if (feature >= t->manifest->item_count)
        ek_sketch_remove(t->sketch, NO_VALUE);
}

/* Add the recent values to the scratch sketch. Return their number of lists. */
static uint64_t get_recent(struct ek_live_sketches *t, int cell, int feature)
{
    const struct change *c = find_change(t, cell, feature);
    return ek_windows_get_since(t->windows[cell], feature, c ? c->since : 0, t->now - 1, t->now,
                                t->sketch);
}

int ek_live_sketches_view(struct ek_live_sketches *t, int cell, int feature,
                          struct ek_feature_view out[EK_SPANS])
{
    struct ek_windows *w = t->windows[cell];
    struct reference normal;
    uint64_t lists = 0;
    if (!w)
        return 0;
    find_reference(t, cell, feature, &normal);
    for (int span = 0; span < EK_SPANS; span++) {
        ek_sketch_clear(t->sketch);
        switch (span) {
        case EK_SPAN_RECENT:
            lists = get_recent(t, cell, feature);
            break;
        case EK_SPAN_RETAINED:
            lists = ek_windows_get(w, feature, t->now - t->rule.retention, t->now, t->sketch);
            break;
        default:
            lists = ek_windows_life(w, feature, t->sketch);
        }
        remove_further_rows(t, feature);
        feature_view_of(t->sketch, lists, &normal.bins, normal.sketch, &normal.values, &out[span]);
        out[span].accepted = normal.accepted;
    }
    return 1;
}

int ek_live_sketches_histogram(struct ek_live_sketches *t, int cell, int feature,
                               struct ek_histogram *out)
{
    struct ek_windows *w = t->windows[cell];
    struct reference normal;
    if (!w)
        return 0;
    find_reference(t, cell, feature, &normal);
    ek_sketch_clear(t->sketch);
    get_recent(t, cell, feature);
    remove_further_rows(t, feature);
    ek_histogram_build(normal.sketch, t->sketch, out);
    return 1;
}

bool ek_live_sketches_differ(const struct ek_live_sketches *t, const char *dimension)
{
    return ek_segment_levels_differ(ek_profile_segment_levels(t->profile), dimension);
}

const struct ek_values *ek_live_sketches_training(const struct ek_live_sketches *t)
{
    return t->training;
}

enum { DIGITS = 6 };

const double ek_quantile_share[EK_QUANTILES] = {0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99};

double ek_feature_view_moved(const struct ek_feature_view *v)
{
    double moved = v->divergence.psi - v->divergence.psi_expected;
    return isnan(moved) ? (double)-INFINITY : moved;
}

static void add_number(struct ek_json_writer *w, const char *key, double value)
{
    ek_json_add_rounded(w, key, value, DIGITS);
}

static void add_values(struct ek_json_writer *w, const struct ek_values *v)
{
    char key[16];
    ek_json_add_count(w, "items", v->items);
    add_number(w, "missing", v->missing);
    add_number(w, "zero", v->zero);
    add_number(w, "negative", v->negative);
    add_number(w, "infinite", v->infinite);
    add_number(w, "log_mean", v->log_mean);
    add_number(w, "log_sd", v->log_sd);
    for (int i = 0; i < EK_QUANTILES; i++) {
        snprintf(key, sizeof key, "p%.0f", 100 * ek_quantile_share[i]);
        add_number(w, key, v->quantile[i]);
    }
}

int ek_values_json(struct ek_buf *out, const struct ek_values *v)
{
    struct ek_json_writer w;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    add_values(&w, v);
    ek_json_close(&w, '}');
    return w.rc;
}

int ek_feature_view_json(struct ek_buf *out, const struct ek_feature_view *v)
{
    const struct ek_divergence *d = &v->divergence;
    struct ek_json_writer w;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    ek_json_add_count(&w, "lists", v->lists);
    add_values(&w, &v->values);
    add_number(&w, "scale_ratio", v->scale_ratio);
    add_number(&w, "psi", d->psi);
    add_number(&w, "psi_expected", d->psi_expected);
    add_number(&w, "ks", d->ks);
    add_number(&w, "jensenshannon", d->jensenshannon);
    add_number(&w, "hellinger", d->hellinger);
    add_number(&w, "wasserstein", d->wasserstein);
    add_number(&w, "wasserstein_ln", d->wasserstein_ln);
    if (v->accepted.factor != 1)
        add_number(&w, "accepted", v->accepted.factor);
    if (v->accepted.in_part)
        ek_json_add_flag(&w, "accepted_in_part", true);
    ek_json_close(&w, '}');
    return w.rc;
}
