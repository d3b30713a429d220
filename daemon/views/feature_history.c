#include "daemon/views/feature_history.h"

#include "base/alloc.h"
#include "base/json.h"

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

static void start_track(struct ek_feature_history *t, const struct ek_cells *cells, int feature,
                        int cell, const struct ek_trace_point *p)
{
    if (t->count == EK_FEATURE_HISTORY_SIZE && !is_interesting(t, p))
        return;
    struct track *one = create_track(cells, feature, cell), **at = one ? find_place(t) : NULL;
    if (!at) {
        drop(one);
        return;
    }
    drop(*at);
    *at = one;
    add(one, p);
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
static void scan_features(struct ek_feature_history *t, const struct ek_detector *d, int features)
{
    const struct ek_cells *cells = ek_detector_registry(d);
    int pairs = ek_cells_count(cells) * features;
    int checks = pairs < EK_TRACE_CHECKS ? pairs : EK_TRACE_CHECKS;
    if (t->count == pairs)
        return; /* all have tracks */
    for (int i = 0; i < checks; i++, t->next++) {
        struct ek_trace_point p;
        t->next = t->next < pairs ? t->next : 0;
        int feature = t->next % features, cell = t->next / features;
        if (!ek_detector_get_point(d, feature, cell, &p))
            continue;
        if ((t->count < EK_FEATURE_HISTORY_SIZE || is_interesting(t, &p)) &&
            !find(t, feature, cell))
            start_track(t, cells, feature, cell, &p);
    }
}

void ek_feature_history_step(struct ek_feature_history *t, const struct ek_detector *d,
                             int features)
{
    if (pthread_mutex_trylock(&t->lock))
        return;
    t->alarm_ln = ek_detector_alarm_ln(d);
    advance_tracks(t, d);
    scan_features(t, d, features);
    pthread_mutex_unlock(&t->lock);
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

int ek_feature_history_json(struct ek_feature_history *t, int feature, const char *dimension,
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
