#include "daemon/views/feature_stats.h"

#include "base/alloc.h"
#include "base/json.h"
#include "daemon/base/metrics.h"
#include "guard/event.h"
#include "guard/event_json.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

enum { DIGITS = 5 };

struct track {
    int feature, cell;
    char *dimension, *value;
    int count;
    struct ek_trace_point sample[EK_TRACE_SAMPLES];
};

struct ek_feature_history {
    pthread_mutex_t lock;
    double alarm_ln;
    int count;
    struct track *track[EK_FEATURE_HISTORY_SIZE];
    int next; /* next pair of cell and feature to check */
};

struct ek_feature_history *ek_feature_history_new(void)
{
    struct ek_feature_history *t = ek_calloc(1, sizeof *t);
    if (t)
        pthread_mutex_init(&t->lock, NULL);
    return t;
}

static void drop(struct track *one)
{
    if (!one)
        return;
    ek_free(one->dimension);
    ek_free(one->value);
    ek_free(one);
}

static void drop_all(struct ek_feature_history *t)
{
    while (t->count > 0) {
        drop(t->track[--t->count]);
        t->track[t->count] = NULL;
    }
}

void ek_feature_history_free(struct ek_feature_history *t)
{
    if (!t)
        return;
    drop_all(t);
    pthread_mutex_destroy(&t->lock);
    ek_free(t);
}

void ek_feature_history_clear(struct ek_feature_history *t)
{
    pthread_mutex_lock(&t->lock);
    drop_all(t);
    t->next = 0;
    pthread_mutex_unlock(&t->lock);
}

static bool same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool is_segment(const struct track *one, const char *dimension, const char *value)
{
    return same(one->dimension, dimension) && same(one->value, value);
}

static struct track *create_track(const struct ek_cells *cells, int feature, int cell)
{
    const char *dimension = ek_cells_dimension_name(cells, cell),
               *value = ek_cells_value(cells, cell);
    struct track *one = ek_calloc(1, sizeof *one);
    if (!one)
        return NULL;
    one->feature = feature;
    one->cell = cell;
    one->dimension = dimension ? ek_strdup(dimension) : NULL;
    one->value = value ? ek_strdup(value) : NULL;
    if (!one->dimension == !dimension && !one->value == !value)
        return one;
    drop(one);
    return NULL;
}

static bool is_interesting(const struct ek_feature_history *t, const struct ek_trace_point *p)
{
    return p->state != EK_TRACE_OK || (double)p->evidence_ln >= t->alarm_ln / 2;
}

/* Remove the sample that leaves the smallest gap in proportion to its age. The last NEWEST stay. */
static void thin(struct track *one)
{
    enum { NEWEST = 16 };
    int least = 1;
    double best = (double)INFINITY;
    double now = (double)one->sample[one->count - 1].time_ms + 1000;
    for (int i = 1; i < one->count - NEWEST; i++) {
        const struct ek_trace_point *p = &one->sample[i];
        double gap = (double)(p[1].time_ms - p[-1].time_ms) / (now - (double)p->time_ms);
        gap *= p[0].state != p[-1].state ? 4 : 1; /* keep changes of state */
        if (gap < best) {
            best = gap;
            least = i;
        }
    }
    one->count--;
    memmove(one->sample + least, one->sample + least + 1,
            (size_t)(one->count - least) * sizeof *one->sample);
}

static void add(struct track *one, const struct ek_trace_point *p)
{
    if (one->count && one->sample[one->count - 1].query == p->query)
        return; /* no new lists */
    if (one->count == EK_TRACE_SAMPLES)
        thin(one);
    one->sample[one->count++] = *p;
}

static struct track *find(const struct ek_feature_history *t, int feature, int cell)
{
    for (int i = 0; i < t->count; i++)
        if (t->track[i]->cell == cell && t->track[i]->feature == feature)
            return t->track[i];
    return NULL;
}

/* Return the place for a new track: the next free one, or that of the track with the least
 * evidence. NULL: all are of interest. */
static struct track **find_place(struct ek_feature_history *t)
{
    struct track **least = NULL;
    if (t->count < EK_FEATURE_HISTORY_SIZE)
        return &t->track[t->count++];
    for (int i = 0; i < t->count; i++) {
        struct track *one = t->track[i];
        const struct ek_trace_point *p = &one->sample[one->count - 1];
        if (is_interesting(t, p))
            continue;
        if (!least || p->evidence_ln < (*least)->sample[(*least)->count - 1].evidence_ln)
            least = &t->track[i];
    }
    return least;
}

static int start_track(struct ek_feature_history *t, const struct ek_cells *cells, int feature,
                       int cell, const struct ek_trace_point *p)
{
    if (t->count == EK_FEATURE_HISTORY_SIZE && !is_interesting(t, p))
        return EK_OK;
    struct track *one = create_track(cells, feature, cell), **at = one ? find_place(t) : NULL;
    if (!at) {
        int rc = one ? EK_OK : EK_ENOMEM;
        drop(one);
        return rc;
    }
    drop(*at);
    *at = one;
    add(one, p);
    return EK_OK;
}

/* Add samples to all tracks. Remove tracks of cells that were reused for another segment. */
static void advance_tracks(struct ek_feature_history *t, const struct ek_detector *d)
{
    const struct ek_cells *cells = ek_detector_registry(d);
    for (int i = 0; i < t->count; i++) {
        struct track *one = t->track[i];
        struct ek_trace_point p;
        if (one->cell < ek_cells_count(cells) &&
            is_segment(one, ek_cells_dimension_name(cells, one->cell),
                       ek_cells_value(cells, one->cell)) &&
            ek_detector_get_point(d, one->feature, one->cell, &p)) {
            add(one, &p);
            continue;
        }
        drop(one);
        t->track[i--] = t->track[--t->count];
        t->track[t->count] = NULL;
    }
}

/* Check the next features without a track. */
static int scan_features(struct ek_feature_history *t, const struct ek_detector *d, int features)
{
    const struct ek_cells *cells = ek_detector_registry(d);
    int pairs = ek_cells_count(cells) * features;
    int checks = pairs < EK_TRACE_CHECKS ? pairs : EK_TRACE_CHECKS;
    int rc = EK_OK;
    if (t->count == pairs)
        return EK_OK; /* all have tracks */
    for (int i = 0; i < checks; i++, t->next++) {
        struct ek_trace_point p;
        t->next = t->next < pairs ? t->next : 0;
        int feature = t->next % features, cell = t->next / features;
        if (!ek_detector_get_point(d, feature, cell, &p))
            continue;
        if ((t->count < EK_FEATURE_HISTORY_SIZE || is_interesting(t, &p)) &&
            !find(t, feature, cell))
            rc = start_track(t, cells, feature, cell, &p) ? EK_ENOMEM : rc;
    }
    return rc;
}

int ek_feature_history_step(struct ek_feature_history *t, const struct ek_detector *d, int features)
{
    if (pthread_mutex_trylock(&t->lock))
        return EK_OK;
    t->alarm_ln = ek_detector_alarm_ln(d);
    advance_tracks(t, d);
    int rc = scan_features(t, d, features);
    pthread_mutex_unlock(&t->lock);
    return rc;
}

enum column { TIME, QUERY, EVIDENCE, FACTOR, LOW, HIGH, STATE, COLUMNS };

static void add_value(const struct ek_trace_point *p, enum column column, struct ek_json_writer *w)
{
    switch (column) {
    case TIME:
        ek_json_add_integer(w, NULL, p->time_ms);
        break;
    case QUERY:
        ek_json_add_count(w, NULL, p->query);
        break;
    case EVIDENCE:
        ek_json_add_rounded(w, NULL, (double)p->evidence_ln, DIGITS);
        break;
    case FACTOR:
        ek_json_add_rounded(w, NULL, exp((double)p->factor_ln), DIGITS);
        break;
    case LOW:
        ek_json_add_rounded(w, NULL, exp((double)p->low_ln), DIGITS);
        break;
    case HIGH:
        ek_json_add_rounded(w, NULL, exp((double)p->high_ln), DIGITS);
        break;
    default:
        ek_json_add_text(w, NULL, ek_trace_state_name(p->state));
    }
}

static int write_track(const struct ek_feature_history *t, const struct track *one,
                       struct ek_buf *out)
{
    static const char *const names[] = {"time_ms",    "list",        "evidence_ln", "factor",
                                        "factor_low", "factor_high", "state"};
    struct ek_json_writer w;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    ek_json_add_rounded(&w, "alarm_ln", t->alarm_ln, DIGITS);
    for (int column = 0; column < COLUMNS; column++) {
        ek_json_open(&w, names[column], '[');
        for (int i = 0; i < one->count; i++)
            add_value(&one->sample[i], (enum column)column, &w);
        ek_json_close(&w, ']');
    }
    ek_json_close(&w, '}');
    return w.rc;
}

/* Append the track of a feature in a segment as a JSON object (docs/http.md), or null if there is
 * none. dimension NULL: all traffic. Return 0 or EK_ENOMEM. */
static int feature_history_json(struct ek_feature_history *t, int feature, const char *dimension,
                                const char *value, struct ek_buf *out)
{
    const struct track *found = NULL;
    pthread_mutex_lock(&t->lock);
    for (int i = 0; i < t->count; i++)
        if (t->track[i]->feature == feature && is_segment(t->track[i], dimension, value))
            found = t->track[i];
    if (found)
        write_track(t, found, out);
    else
        ek_buf_text(out, "null");
    pthread_mutex_unlock(&t->lock);
    return out->rc;
}

struct cell {
    char *dimension, *value;                   /* NULL: all traffic; value NULL: (other) */
    bool complete;                             /* every feature has statistics */
    struct ek_feature_view (*views)[EK_SPANS]; /* [features]; NULL before the first update */
    struct ek_histogram *histograms;           /* [features] */
    struct ek_level_history *levels;           /* [features] */
};

struct ek_feature_stats {
    const struct ek_manifest *manifest;
    const struct ek_rules *rules;
    struct ek_live_sketches *traffic;
    const struct ek_values *training; /* [features] */
    int features;
    pthread_mutex_t lock; /* protects the members below */
    struct cell *cell;    /* [capacity] */
    int capacity, cells;
    int next_cell, next_feature; /* only of the updating thread */
};

struct ek_feature_stats *ek_feature_stats_new(const struct ek_manifest *m,
                                              const struct ek_rules *rules,
                                              struct ek_live_sketches *traffic)
{
    struct ek_feature_stats *b = ek_calloc(1, sizeof *b);
    if (!b)
        return NULL;
    pthread_mutex_init(&b->lock, NULL);
    b->manifest = m;
    b->rules = rules;
    b->traffic = traffic;
    b->training = ek_live_sketches_training(traffic);
    b->features = ek_live_sketches_features(traffic);
    if (!ek_feature_stats_reserve(b, rules->windows.max_segments))
        return b;
    ek_feature_stats_free(b);
    return NULL;
}

static void release_cell(struct cell *c)
{
    ek_free(c->dimension);
    ek_free(c->value);
    ek_free(c->views);
    ek_free(c->histograms);
    ek_free(c->levels);
    *c = (struct cell){NULL, NULL, false, NULL, NULL, NULL};
}

void ek_feature_stats_free(struct ek_feature_stats *b)
{
    if (!b)
        return;
    for (int i = 0; i < b->cells; i++)
        release_cell(&b->cell[i]);
    ek_free(b->cell);
    pthread_mutex_destroy(&b->lock);
    ek_free(b);
}

int ek_feature_stats_reserve(struct ek_feature_stats *b, int cells)
{
    if (cells <= b->capacity)
        return EK_OK;
    pthread_mutex_lock(&b->lock);
    struct cell *more = ek_realloc(b->cell, (size_t)cells, sizeof *more);
    if (more) {
        memset(more + b->capacity, 0, (size_t)(cells - b->capacity) * sizeof *more);
        b->cell = more;
        b->capacity = cells;
    }
    pthread_mutex_unlock(&b->lock);
    return more ? EK_OK : EK_ENOMEM;
}

void ek_feature_stats_set_assets(struct ek_feature_stats *b, const struct ek_manifest *m,
                                 const struct ek_rules *rules, struct ek_live_sketches *traffic)
{
    for (int i = 0; i < b->cells; i++)
        release_cell(&b->cell[i]);
    b->cells = b->next_cell = b->next_feature = 0;
    b->manifest = m;
    b->rules = rules;
    b->traffic = traffic;
    b->training = ek_live_sketches_training(traffic);
}

/* Return true if a cell's statistics are of the segment that uses the cell now. */
static bool is_current(const struct ek_feature_stats *b, int cell)
{
    const char *dimension, *value;
    const struct cell *c = &b->cell[cell];
    ek_live_sketches_cell(b->traffic, cell, &dimension, &value);
    return c->views && same(c->dimension, dimension) && same(c->value, value);
}

static int init_cell(struct ek_feature_stats *b, int cell)
{
    const char *dimension, *value;
    struct cell *c = &b->cell[cell];
    ek_live_sketches_cell(b->traffic, cell, &dimension, &value);
    release_cell(c);
    c->dimension = dimension ? ek_strdup(dimension) : NULL;
    c->value = value ? ek_strdup(value) : NULL;
    c->views = ek_calloc((size_t)b->features, sizeof *c->views);
    c->histograms = ek_calloc((size_t)b->features, sizeof *c->histograms);
    c->levels = ek_calloc((size_t)b->features, sizeof *c->levels);
    if (cell >= b->cells)
        b->cells = cell + 1;
    if (c->views && c->histograms && c->levels && !c->dimension == !dimension &&
        !c->value == !value)
        return EK_OK;
    release_cell(c);
    return EK_ENOMEM;
}

static void store_feature(struct ek_feature_stats *b, int cell, int feature, int64_t time_ms)
{
    struct cell *c = &b->cell[cell];
    ek_live_sketches_view(b->traffic, cell, feature, c->views[feature]);
    ek_live_sketches_histogram(b->traffic, cell, feature, &c->histograms[feature]);
    ek_level_history_add(&c->levels[feature], &c->views[feature][EK_SPAN_LIFE],
                         &b->training[feature], time_ms);
}

static void advance(struct ek_feature_stats *b, int features)
{
    b->next_feature += features;
    if (b->next_feature < b->features)
        return;
    b->next_feature = 0;
    b->next_cell = b->next_cell + 1 < ek_live_sketches_cells(b->traffic) ? b->next_cell + 1 : 0;
}

/* Update the next features of the next cell, which has sketches. */
static int store_step(struct ek_feature_stats *b, int64_t time_ms)
{
    int cell = b->next_cell;
    if (!is_current(b, cell)) {
        b->next_feature = 0;
        if (init_cell(b, cell))
            return EK_ENOMEM;
    }
    int left = b->features - b->next_feature;
    int count = left < EK_FEATURE_STATS_STEP ? left : EK_FEATURE_STATS_STEP;
    for (int i = 0; i < count; i++)
        store_feature(b, cell, b->next_feature + i, time_ms);
    b->cell[cell].complete = b->cell[cell].complete || count == left;
    advance(b, count);
    return EK_OK;
}

int ek_feature_stats_update(struct ek_feature_stats *b, int64_t time_ms)
{
    if (!ek_live_sketches_cells(b->traffic))
        return EK_OK;
    if (!ek_live_sketches_windows(b->traffic, b->next_cell)) {
        advance(b, b->features);
        return EK_OK;
    }
    if (pthread_mutex_trylock(&b->lock))
        return EK_OK; /* held by a reader; retry in the next step */
    int rc = store_step(b, time_ms);
    pthread_mutex_unlock(&b->lock);
    return rc;
}

int ek_feature_stats_count(const struct ek_feature_stats *b)
{
    return b->features;
}

void ek_feature_stats_lock(struct ek_feature_stats *b)
{
    pthread_mutex_lock(&b->lock);
}

void ek_feature_stats_unlock(struct ek_feature_stats *b)
{
    pthread_mutex_unlock(&b->lock);
}

int ek_feature_stats_cells(struct ek_feature_stats *b)
{
    ek_feature_stats_lock(b);
    int cells = b->cells;
    ek_feature_stats_unlock(b);
    return cells;
}

static int add_head(const struct ek_feature_stats *b, struct ek_buf *out)
{
    return ek_buf_printf(out, "{\"windows\":{\"length_ms\":%" PRId64 ",\"retention\":%d},",
                         b->rules->windows.length_ms, b->rules->windows.retention);
}

static int add_name(const struct ek_feature_stats *b, int feature, struct ek_buf *out)
{
    const char *name = b->manifest->item[feature]->name;
    ek_buf_text(out, "\"feature\":");
    return ek_buf_json(out, name, strlen(name));
}

static int add_training(const struct ek_feature_stats *b, int feature, struct ek_buf *out)
{
    ek_buf_text(out, ",\"training\":");
    return ek_values_json(out, &b->training[feature]);
}

static int add_segment(const struct cell *c, struct ek_buf *out)
{
    ek_buf_text(out, "\"segment\":");
    return ek_segment_json(out, c->dimension, c->value);
}

static int add_view(const char *name, const struct ek_feature_view *v, struct ek_buf *out)
{
    ek_buf_printf(out, ",\"%s\":", name);
    return ek_feature_view_json(out, v);
}

static double current_shift(const struct cell *c, int feature)
{
    return ek_feature_view_moved(&c->views[feature][EK_SPAN_RECENT]);
}

/* Return the segment in which a feature is furthest from training, of those that training does not
 * expect to differ; NULL: none. */
static const struct cell *most_shifted(const struct ek_feature_stats *b, int feature)
{
    const struct cell *shifted = NULL;
    for (int i = 1; i < b->cells; i++) {
        const struct cell *c = &b->cell[i];
        if (c->complete && c->views[feature][EK_SPAN_RECENT].lists &&
            !ek_live_sketches_differ(b->traffic, c->dimension) &&
            (!shifted || current_shift(c, feature) > current_shift(shifted, feature)))
            shifted = c;
    }
    return shifted;
}

/* `levels`: of the segment, otherwise omitted. */
static int add_most_shifted(const struct cell *shifted, int feature, bool levels,
                            struct ek_buf *out)
{
    if (!shifted)
        return ek_buf_text(out, ",\"most_shifted_segment\":null}");
    ek_buf_text(out, ",\"most_shifted_segment\":{");
    add_segment(shifted, out);
    add_view("current", &shifted->views[feature][EK_SPAN_RECENT], out);
    if (levels)
        ek_level_history_json(&shifted->levels[feature], out);
    return ek_buf_text(out, "}}");
}

static double report_threshold(const struct ek_feature_stats *b, int feature)
{
    return b->rules->feature[b->manifest->item[feature] - b->manifest->features].report_threshold;
}

/* Of all traffic and the segment, the one that has shifted more has its levels. */
static int add_feature(const struct ek_feature_stats *b, int feature, struct ek_buf *out)
{
    const struct cell *shifted = most_shifted(b, feature);
    const struct cell *all = b->cells && b->cell->complete ? b->cell : NULL;
    bool in_segment =
        shifted && (!all || current_shift(shifted, feature) > current_shift(all, feature));
    ek_buf_text(out, feature ? ",\n{" : "\n{");
    add_name(b, feature, out);
    ek_buf_printf(out, ",\"report_threshold\":%.6g", report_threshold(b, feature));
    add_training(b, feature, out);
    if (all)
        add_view("current", &all->views[feature][EK_SPAN_RECENT], out);
    else
        ek_buf_text(out, ",\"current\":null");
    if (all && !in_segment)
        ek_level_history_json(&all->levels[feature], out);
    return add_most_shifted(shifted, feature, in_segment, out);
}

int ek_feature_stats_features(struct ek_feature_stats *b, struct ek_buf *out)
{
    ek_feature_stats_lock(b);
    add_head(b, out);
    ek_buf_text(out, "\"features\":[");
    for (int f = 0; f < b->features; f++)
        add_feature(b, f, out);
    ek_feature_stats_unlock(b);
    return ek_buf_text(out, "]}\n");
}

static int add_cell(const struct cell *c, int feature, int first,
                    const struct ek_feature_stats_more *more, struct ek_buf *out)
{
    ek_buf_text(out, first ? "\n{" : ",\n{");
    add_segment(c, out);
    for (int span = 0; span < EK_SPANS; span++)
        add_view(ek_span_name(span), &c->views[feature][span], out);
    ek_buf_text(out, ",\"histogram\":");
    ek_histogram_json(&c->histograms[feature], out);
    if (more && more->tracks) {
        ek_buf_text(out, ",\"history\":");
        feature_history_json(more->tracks, feature, c->dimension, c->value, out);
    }
    return ek_buf_text(out, "}");
}

static void add_unknown_feature(const struct ek_feature_stats *b, const char *name,
                                struct ek_buf *out)
{
    const char *near = ek_manifest_suggest(b->manifest, EK_ROLE_ITEM, name);
    struct ek_json_writer w;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    ek_json_add_text(&w, "error", "no such item feature");
    ek_json_add_text(&w, "did_you_mean", near);
    ek_json_close(&w, '}');
    ek_buf_text(out, "\n");
}

/* ek_feature_stats_find under the lock, since a reload may replace the manifest. */
static int find_feature(const struct ek_feature_stats *b, const char *name, struct ek_buf *out)
{
    int feature = ek_manifest_watched(b->manifest, name);
    if (feature < 0)
        add_unknown_feature(b, name, out);
    return feature;
}

int ek_feature_stats_find(struct ek_feature_stats *b, const char *name, struct ek_buf *out)
{
    ek_feature_stats_lock(b);
    int feature = find_feature(b, name, out);
    ek_feature_stats_unlock(b);
    return feature;
}

static int add_details(const struct ek_feature_stats *b, int feature,
                       const struct ek_feature_stats_more *more, struct ek_buf *out)
{
    int shown = 0;
    add_head(b, out);
    add_name(b, feature, out);
    add_training(b, feature, out);
    ek_buf_printf(out, ",%s\"segments\":[", more ? more->members : "");
    for (int i = 0; i < b->cells; i++)
        if (b->cell[i].complete)
            add_cell(&b->cell[i], feature, !shown++, more, out);
    return ek_buf_text(out, "]}\n");
}

int ek_feature_stats_feature(struct ek_feature_stats *b, const char *name,
                             const struct ek_feature_stats_more *more, struct ek_buf *out)
{
    ek_feature_stats_lock(b);
    int feature = find_feature(b, name, out);
    int rc = feature < 0 ? EK_EUSAGE : add_details(b, feature, more, out);
    ek_feature_stats_unlock(b);
    return rc;
}

struct figure {
    const char *name;
    const char *label; /* additional label; "": none */
};

/* Samples of a family are adjacent. */
static const struct figure FIGURES[] = {
    {"evenkeel_feature_lists", ""},
    {"evenkeel_feature_items", ""},
    {"evenkeel_feature_psi", ""},
    {"evenkeel_feature_psi_expected", ""},
    {"evenkeel_feature_ks", ""},
    {"evenkeel_feature_scale_ratio", ""},
    {"evenkeel_feature_missing_ratio", ""},
    {"evenkeel_feature_zero_ratio", ""},
    {"evenkeel_feature_quantile", ",quantile=\"0.05\""},
    {"evenkeel_feature_quantile", ",quantile=\"0.5\""},
    {"evenkeel_feature_quantile", ",quantile=\"0.95\""},
};
enum { FIGURE_COUNT = sizeof FIGURES / sizeof *FIGURES };

/* Return the value of FIGURES[figure]. */
static double get_figure(const struct ek_feature_view *v, int figure)
{
    const double values[FIGURE_COUNT] = {(double)v->lists,
                                         (double)v->values.items,
                                         v->divergence.psi,
                                         v->divergence.psi_expected,
                                         v->divergence.ks,
                                         v->scale_ratio,
                                         v->values.missing,
                                         v->values.zero,
                                         v->values.quantile[1],
                                         v->values.quantile[EK_MEDIAN],
                                         v->values.quantile[EK_QUANTILES - 2]};
    return values[figure];
}

/* Selected cells and the states of their features. */
struct selection {
    const struct ek_feature_stats *b;
    const struct cell **cell; /* [count] */
    uint8_t *state;           /* [count, features]: 1 suspected, 2 confirmed */
    int count;
};

static int add_series(const struct selection *s, int cell, int feature, const char *name,
                      const char *label, double value, struct ek_buf *out)
{
    ek_buf_printf(out, "%s{feature=\"", name);
    ek_metrics_label(s->b->manifest->item[feature]->name, out);
    ek_buf_text(out, "\",segment=\"");
    ek_metrics_segment(s->cell[cell]->dimension, s->cell[cell]->value, out);
    return ek_buf_printf(out, "\"%s} %.6g\n", label, value);
}

/* Append a family; statistics without a value have no sample. */
static int add_figure(const struct selection *s, int figure, struct ek_buf *out)
{
    const struct figure *f = &FIGURES[figure];
    if (!figure || strcmp(f->name, f[-1].name) != 0)
        ek_metrics_head(f->name, out);
    for (int c = 0; c < s->count; c++)
        for (int i = 0; i < s->b->features; i++) {
            double value = get_figure(&s->cell[c]->views[i][EK_SPAN_RECENT], figure);
            if (isfinite(value))
                add_series(s, c, i, f->name, f->label, value, out);
        }
    return out->rc;
}

static int add_states(const struct selection *s, struct ek_buf *out)
{
    static const char name[] = "evenkeel_feature_state";
    ek_metrics_head(name, out);
    for (int c = 0; c < s->count; c++)
        for (int i = 0; i < s->b->features; i++)
            add_series(s, c, i, name, "", s->state[c * s->b->features + i], out);
    return out->rc;
}

static void add_state(struct selection *s, const struct ek_event_finding *f)
{
    int feature = ek_manifest_watched(s->b->manifest, f->at.feature);
    for (int c = 0; c < s->count && feature >= 0; c++) {
        const struct ek_event_place at = {f->at.feature, s->cell[c]->dimension, s->cell[c]->value};
        uint8_t *state = &s->state[c * s->b->features + feature];
        uint8_t now = f->state == EK_SUSPECTED ? 1 : 2;
        if (ek_event_same_place(&at, &f->at) && now > *state)
            *state = now;
    }
}

static int read_states(void *context, const struct ek_event_log_state *v)
{
    for (size_t i = 0; i < v->findings; i++)
        add_state(context, &v->finding[i].event->finding);
    return EK_OK;
}

/* Insert a cell by decreasing number of lists since the start, so that the selection is stable. */
static void insert_cell(struct selection *s, const struct cell *c, int max)
{
    uint64_t lists = c->views[0][EK_SPAN_LIFE].lists;
    int at = s->count;
    while (at > 0 && s->cell[at - 1]->views[0][EK_SPAN_LIFE].lists < lists)
        at--;
    if (at == max)
        return;
    s->count += s->count < max;
    memmove(s->cell + at + 1, s->cell + at, (size_t)(s->count - at - 1) * sizeof *s->cell);
    s->cell[at] = c;
}

static int add_all(struct selection *s, struct ek_event_log *j, struct ek_buf *out)
{
    ek_event_log_view(j, read_states, s);
    for (int i = 0; i < FIGURE_COUNT; i++)
        add_figure(s, i, out);
    return add_states(s, out);
}

int ek_feature_stats_metrics(struct ek_feature_stats *b, struct ek_event_log *j, int cells,
                             struct ek_buf *out)
{
    struct selection s = {.b = b};
    int rc = EK_ENOMEM;
    ek_feature_stats_lock(b);
    int max = cells < b->cells ? cells : b->cells;
    s.cell = ek_calloc((size_t)max, sizeof *s.cell);
    s.state = ek_calloc((size_t)max * (size_t)b->features, sizeof *s.state);
    for (int i = 0; s.cell && i < b->cells; i++)
        if (b->cell[i].complete)
            insert_cell(&s, &b->cell[i], max);
    if (s.cell && s.state)
        rc = add_all(&s, j, out);
    ek_feature_stats_unlock(b);
    ek_free(s.cell);
    ek_free(s.state);
    return rc;
}
