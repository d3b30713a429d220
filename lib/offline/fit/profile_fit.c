/* Fit of a profile: collection of lists, strata and related lists, and merging of profiles. */
#include "offline/fit/profile_fit.h"

#include "assets/feature_columns.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "offline/fit/dependence_fit.h"
#include "offline/fit/profile_fit_internal.h"
#include "offline/fit/segment_level_fit.h"
#include "offline/fit/stratum_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int out_of_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

static int watched_queries(const struct ek_profile_fit *fit)
{
    return fit->features - fit->manifest->item_count;
}

static int allocate_query_sketches(struct ek_profile_fit *fit)
{
    fit->query_sketches = ek_calloc((size_t)watched_queries(fit), sizeof(struct ek_sketch *));
    if (!fit->query_sketches)
        return EK_ENOMEM;
    for (int i = 0; i < watched_queries(fit); i++)
        if (ek_sketch_new(&fit->query_sketches[i]))
            return EK_ENOMEM;
    return EK_OK;
}

static int allocate(struct ek_profile_fit *fit)
{
    int items = fit->manifest->item_count;
    fit->name = ek_calloc(EK_STRATA_MAX, sizeof *fit->name);
    fit->category = ek_calloc((size_t)fit->features, sizeof *fit->category);
    if (!fit->name || !fit->category || !(fit->name[fit->names++] = ek_strdup("")) ||
        ek_known_fit_new(&fit->known, fit->manifest) ||
        ek_item_level_fit_new(&fit->item_levels, fit->manifest) ||
        ek_query_slope_fit_new(&fit->query_slopes, fit->manifest) ||
        ek_list_moments_new(&fit->sums, items) || ek_sketch_set_new(&fit->sketches, items, NULL) ||
        allocate_query_sketches(fit) ||
        !(fit->pivot = ek_calloc_aligned((size_t)fit->sums->padded, sizeof *fit->pivot)))
        return EK_ENOMEM;
    for (int f = 0; f < fit->features; f++)
        if (fit->manifest->item[f]->type == EK_TYPE_CATEGORY &&
            ek_category_fit_new(&fit->category[f]))
            return EK_ENOMEM;
    return EK_OK;
}

/* Relative to its own value a feature never changes. */
static int check_stratum(const struct ek_profile_fit *fit, struct ek_error *e)
{
    int query = fit->field.query_feature;
    if (query < 0 || !fit->manifest->query[query]->watched)
        return EK_OK;
    return ek_fail(e, EK_ESTATE,
                   "the profile cannot be stratified by '%s', which the manifest watches: relative "
                   "to itself it never changes; stratify by another field, or remove its 'watch'",
                   fit->field.name);
}

int ek_profile_fit_new(struct ek_profile_fit **out, const struct ek_manifest *m, const char *field,
                       struct ek_error *e)
{
    struct ek_profile_fit *fit = ek_calloc(1, sizeof *fit);
    if (!fit)
        return out_of_memory(e);
    fit->manifest = m;
    fit->features = m->watched_count;
    if ((field && !(fit->field_name = ek_strdup(field))) || allocate(fit)) {
        ek_profile_fit_free(fit);
        return out_of_memory(e);
    }
    fit->field = ek_stratum_field_find(m, fit->field_name);
    int rc = check_stratum(fit, e);
    if (rc)
        ek_profile_fit_free(fit);
    else
        *out = fit;
    return rc;
}

void ek_profile_fit_free(struct ek_profile_fit *fit)
{
    if (!fit)
        return;
    for (int i = 0; fit->name && i < fit->names; i++)
        ek_free(fit->name[i]);
    for (int f = 0; fit->category && f < fit->features; f++)
        ek_category_fit_free(fit->category[f]);
    ek_free(fit->category);
    ek_category_list_release(&fit->list);
    ek_known_fit_free(fit->known);
    ek_item_level_fit_free(fit->item_levels);
    ek_query_slope_fit_free(fit->query_slopes);
    ek_free(fit->name);
    ek_free(fit->field_name);
    ek_free(fit->record);
    ek_free(fit->stratum);
    ek_free(fit->time_ms);
    for (int i = 0; i < fit->dimensions; i++) {
        for (int v = 0; v < fit->dimension[i].values; v++)
            ek_free(fit->dimension[i].value[v]);
        ek_free(fit->dimension[i].name);
        ek_free(fit->dimension[i].of);
    }
    ek_free(fit->pivot);
    ek_list_moments_free(fit->sums);
    ek_sketch_set_free(fit->sketches);
    for (int i = 0; fit->query_sketches && i < watched_queries(fit); i++)
        ek_sketch_free(fit->query_sketches[i]);
    ek_free(fit->query_sketches);
    ek_free(fit);
}

/* Reserve memory for `more` lists. Return 0 or EK_ENOMEM. */
static int reserve_lists(struct ek_profile_fit *fit, size_t more)
{
    size_t capacity = fit->capacity ? fit->capacity : 1024;
    while (capacity - fit->queries < more)
        capacity *= 2;
    if (capacity == fit->capacity)
        return EK_OK;
    struct ek_list_stats *record =
        ek_realloc(fit->record, capacity, (size_t)fit->features * sizeof *record);
    if (!record)
        return EK_ENOMEM;
    fit->record = record;
    int *stratum = ek_realloc(fit->stratum, capacity, sizeof *stratum);
    if (!stratum)
        return EK_ENOMEM;
    fit->stratum = stratum;
    int64_t *time_ms = ek_realloc(fit->time_ms, capacity, sizeof *time_ms);
    if (!time_ms)
        return EK_ENOMEM;
    fit->time_ms = time_ms;
    for (int i = 0; i < fit->dimensions; i++) {
        int16_t *of = ek_realloc(fit->dimension[i].of, capacity, sizeof *of);
        if (!of)
            return EK_ENOMEM;
        fit->dimension[i].of = of;
    }
    fit->capacity = capacity;
    return EK_OK;
}

bool ek_profile_fit_is_storable(struct ek_text name)
{
    return name.length > 0 && !memchr(name.text, 0, name.length) &&
           ek_utf8_is_valid(name.text, name.length);
}

int ek_profile_fit_stratum(struct ek_profile_fit *fit, struct ek_text name, int *stratum,
                           struct ek_error *e)
{
    *stratum = 0;
    if (!name.length)
        return EK_OK;
    for (int i = 1; i < fit->names; i++)
        if (!ek_text_compare(name, fit->name[i])) {
            *stratum = i;
            return EK_OK;
        }
    if (fit->names == EK_STRATA_MAX)
        return ek_fail(e, EK_ELIMIT,
                       "the field '%s' to stratify by has more than %d values; choose a coarser "
                       "one, or none: levels by query features are learned without it",
                       fit->field.name, EK_STRATA_MAX - 1);
    if (!(fit->name[fit->names] = ek_strndup(name.text, name.length)))
        return out_of_memory(e);
    *stratum = fit->names++;
    return EK_OK;
}

/* A list without a storable stratum name belongs to stratum 0, as in the detector. */
static int find_stratum(struct ek_profile_fit *fit, const struct ek_list *q, int *stratum,
                        struct ek_error *e)
{
    char scratch[EK_STRATUM_TEXT];
    struct ek_text name = ek_stratum_name(&fit->field, q, scratch);
    if (!name.text || !ek_profile_fit_is_storable(name))
        name = (struct ek_text){"", 0};
    return ek_profile_fit_stratum(fit, name, stratum, e);
}

/* Set *number to that of a segment value, or to -1 beyond EK_FIT_VALUES_MAX values. Returns 0 or
 * EK_ENOMEM. */
static int find_value(struct ek_segment_values *d, struct ek_text value, int16_t *number)
{
    *number = -1;
    for (int i = 0; i < d->values; i++)
        if (!ek_text_compare(value, d->value[i])) {
            *number = (int16_t)i;
            return EK_OK;
        }
    if (d->values == EK_FIT_VALUES_MAX)
        return EK_OK;
    if (!(d->value[d->values] = ek_strndup(value.text, value.length)))
        return EK_ENOMEM;
    *number = (int16_t)d->values++;
    return EK_OK;
}

/* Append a segment dimension. The first EK_FIT_DIMENSIONS that occur are measured. */
static int add_dimension(struct ek_profile_fit *fit, struct ek_text name)
{
    struct ek_segment_values *d = &fit->dimension[fit->dimensions];
    if (!(d->of = ek_calloc(fit->capacity, sizeof *d->of)))
        return EK_ENOMEM;
    if (!(d->name = ek_strndup(name.text, name.length))) {
        ek_free(d->of);
        d->of = NULL;
        return EK_ENOMEM;
    }
    for (size_t q = 0; q < fit->capacity; q++)
        d->of[q] = -1;
    fit->dimensions++;
    return EK_OK;
}

static int add_segments(struct ek_profile_fit *fit, const struct ek_list *q)
{
    for (int i = 0; i < fit->dimensions; i++)
        fit->dimension[i].of[fit->queries] = -1;
    for (int i = 0; i < q->segment_count; i++) {
        struct ek_text name = q->segments[i].name, value = q->segments[i].value;
        int at = 0;
        while (at < fit->dimensions && ek_text_compare(name, fit->dimension[at].name) != 0)
            at++;
        if (at == fit->dimensions && at < EK_FIT_DIMENSIONS && add_dimension(fit, name))
            return EK_ENOMEM;
        struct ek_segment_values *d = &fit->dimension[at];
        if (at < fit->dimensions && find_value(d, value, &d->of[fit->queries]))
            return EK_ENOMEM;
    }
    return EK_OK;
}

static int add_categories(struct ek_profile_fit *fit, const struct ek_list *q, int stratum,
                          struct ek_list_stats *row)
{
    for (int f = 0; f < fit->features; f++) {
        if (!fit->category[f])
            continue;
        if (ek_category_list_read(&fit->list, q, f) ||
            ek_category_fit_add(fit->category[f], &fit->list, stratum))
            return EK_ENOMEM;
        ek_list_stats_compute_category(&row[f]);
    }
    return EK_OK;
}

/* Read the watched query features of a list into its row. */
static void add_queries(struct ek_profile_fit *fit, const struct ek_list *q,
                        struct ek_list_stats *row)
{
    int items = fit->manifest->item_count;
    for (int f = items; f < fit->features; f++) {
        float x = ek_list_value(q, fit->manifest, 0, f);
        ek_list_stats_compute_value(x, &row[f]);
        ek_sketch_add(fit->query_sketches[f - items], x, 1);
    }
}

int ek_profile_fit_add(struct ek_profile_fit *fit, const struct ek_list *q, struct ek_error *e)
{
    const struct ek_manifest *m = fit->manifest;
    if (q->item_features != m->item_count)
        return ek_fail(e, EK_ESTATE, "a list has %d item features, the manifest %d",
                       q->item_features, m->item_count);
    if (!q->items)
        return EK_OK;
    if (reserve_lists(fit, 1))
        return out_of_memory(e);
    int rc = find_stratum(fit, q, &fit->stratum[fit->queries], e);
    if (rc)
        return rc;
    if (ek_sketch_set_add(fit->sketches, q->x, q->items))
        return out_of_memory(e);
    ek_known_fit_add(fit->known, q);
    struct ek_list_stats *row = fit->record + fit->queries * (size_t)fit->features;
    ek_list_moments_compute(fit->sums, q->x, q->items, fit->pivot);
    ek_list_stats_compute(fit->sums, q->items, fit->pivot, row);
    add_queries(fit, q, row);
    if (add_categories(fit, q, fit->stratum[fit->queries], row))
        return out_of_memory(e);
    for (int f = 0; fit->queries == 0 && f < m->item_count; f++)
        fit->pivot[f] = row[f].usable ? row[f].r : 0; /* reduces cancellation in later lists */
    if (add_segments(fit, q))
        return out_of_memory(e);
    if (!fit->keep && (ek_item_level_fit_add(fit->item_levels, q) ||
                       ek_query_slope_fit_add(fit->query_slopes, q)))
        return out_of_memory(e);
    fit->time_ms[fit->queries] = q->time_ms >= 0 ? q->time_ms : -1;
    fit->queries++;
    fit->items += (uint64_t)q->items;
    return EK_OK;
}

struct named {
    const char *name;
    int number;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Sort the strata by name after stratum 0, and renumber the lists. */
static int sort_strata(struct ek_profile_fit *fit, struct ek_profile *p)
{
    struct named *order = ek_calloc((size_t)fit->names, sizeof *order);
    int *moved = ek_calloc((size_t)fit->names, sizeof *moved);
    int rc = order && moved ? EK_OK : EK_ENOMEM;
    for (int i = 0; !rc && i < fit->names; i++)
        order[i] = (struct named){fit->name[i], i};
    if (!rc)
        qsort(order + 1, (size_t)fit->names - 1, sizeof *order, by_name);
    for (int i = 1; !rc && i < fit->names; i++) {
        moved[order[i].number] = i;
        if (!(p->stratum[i] = ek_strdup(order[i].name)))
            rc = EK_ENOMEM;
    }
    for (size_t q = 0; !rc && q < fit->queries; q++)
        fit->stratum[q] = moved[fit->stratum[q]];
    ek_free(order);
    ek_free(moved);
    return rc;
}

/* Lists of every group in their order: of[q] is the group of a list, -1: none. */
static int group_lists(struct ek_list_groups *view, size_t queries, int groups,
                       int (*group_of)(const void *of, size_t q), const void *of)
{
    uint32_t *order = ek_calloc(queries, sizeof *order);
    size_t *start = ek_calloc((size_t)groups + 2, sizeof *start);
    if (!order || !start) {
        ek_free(order);
        ek_free(start);
        return EK_ENOMEM;
    }
    for (size_t q = 0; q < queries; q++)
        if (group_of(of, q) >= 0)
            start[group_of(of, q) + 2]++;
    for (int g = 0; g < groups; g++)
        start[g + 2] += start[g + 1];
    for (size_t q = 0; q < queries; q++)
        if (group_of(of, q) >= 0)
            order[start[group_of(of, q) + 1]++] = (uint32_t)q;
    *view = (struct ek_list_groups){order, start, groups};
    return EK_OK;
}

static int only_group(const void *of, size_t q)
{
    (void)of;
    (void)q;
    return 0;
}

static int stratum_group(const void *of, size_t q)
{
    return ((const int *)of)[q];
}

static int value_group(const void *of, size_t q)
{
    return ((const int16_t *)of)[q];
}

static int view_lists(const struct ek_profile_fit *fit, int strata, struct ek_list_groups *view)
{
    int rc = group_lists(&view[0], fit->queries, 1, only_group, NULL);
    if (!rc)
        rc = group_lists(&view[1], fit->queries, strata, stratum_group, fit->stratum);
    for (int i = 0; !rc && i < fit->dimensions; i++)
        rc = group_lists(&view[2 + i], fit->queries, fit->dimension[i].values, value_group,
                         fit->dimension[i].of);
    return rc;
}

/* Scratch of the fit of all features. */
struct scratch {
    struct ek_list_groups view[EK_FIT_VIEWS];
    struct ek_list_stats *column;
    double *values, *strata;
    struct ek_bet_tables *tables;
    struct ek_dependence *dependence;
    int16_t row[EK_FIT_DIMENSIONS][EK_FIT_VALUES_MAX]; /* dimension of the table, number of the
                                                        * value: row of the table, -1: none */
    const int16_t *value[EK_FIT_DIMENSIONS];           /* by dimension of the table */
    const struct ek_segment_levels *levels;            /* NULL: lists are not relative to any */
    float season[EK_DAY_BINS];
};

static int scratch_init(struct scratch *s, const struct ek_profile_fit *fit, int strata)
{
    memset(s, 0, sizeof *s);
    s->column = ek_calloc(fit->queries, sizeof *s->column);
    s->values = ek_calloc(fit->queries, sizeof *s->values);
    s->strata = ek_calloc((2 + 2 * EK_BETS) * (size_t)strata, sizeof *s->strata);
    s->tables = ek_calloc(1, sizeof *s->tables);
    s->dependence = ek_calloc((size_t)fit->features, sizeof *s->dependence);
    if (!s->column || !s->values || !s->strata || !s->tables || !s->dependence)
        return EK_ENOMEM;
    ek_bet_tables_fill(s->tables);
    return view_lists(fit, strata, s->view);
}

static void scratch_release(struct scratch *s)
{
    for (int i = 0; i < EK_FIT_VIEWS; i++) {
        ek_free((void *)s->view[i].order);
        ek_free((void *)s->view[i].start);
    }
    ek_free(s->column);
    ek_free(s->values);
    ek_free(s->strata);
    ek_free(s->tables);
    ek_free(s->dependence);
}

/* Find the rows of the segment values in the table. */
static void find_rows(const struct ek_profile_fit *fit, const struct ek_segment_levels *t,
                      struct scratch *s)
{
    s->levels = t;
    for (int to = 0; t && to < t->dimensions; to++) {
        int from = 0;
        while (strcmp(fit->dimension[from].name, t->dimension[to]) != 0)
            from++;
        const struct ek_segment_values *d = &fit->dimension[from];
        s->value[to] = d->of;
        for (int v = 0; v < d->values; v++)
            s->row[to][v] = (int16_t)ek_segment_levels_find(
                t, to, (struct ek_text){d->value[v], strlen(d->value[v])});
    }
}

/* Make r of a feature relative to the levels of the segments. */
static void subtract_segments(const struct ek_profile_fit *fit, struct scratch *s, int f)
{
    const struct ek_segment_levels *t = s->levels;
    int a = ek_feature_columns_find(t->feature, t->features, f);
    int row[EK_SEGMENT_LEVEL_DIMENSIONS_MAX];
    for (size_t q = 0; a >= 0 && q < fit->queries; q++) {
        for (int d = 0; d < t->dimensions; d++)
            row[d] = s->value[d][q] < 0 ? -1 : s->row[d][s->value[d][q]];
        ek_segment_levels_subtract(t, row, a, &s->column[q]);
    }
}

/* Add the noise of a query feature, as the detector does. */
static void add_noise(const struct ek_profile_fit *fit, struct scratch *s, int f)
{
    struct ek_sketch_summary summary;
    ek_sketch_summarize(fit->query_sketches[f - fit->manifest->item_count], &summary);
    float scatter = isnan(summary.log_sd) ? 0 : (float)summary.log_sd;
    for (size_t q = 0; q < fit->queries; q++)
        s->column[q].r += ek_query_level_noise(scatter, (uint64_t)q, f);
}

/* The fit of one feature. */
static struct ek_baseline_fit begin_feature(const struct ek_profile_fit *fit,
                                            const struct ek_profile *p, struct scratch *s, int f)
{
    for (size_t q = 0; q < fit->queries; q++)
        s->column[q] = fit->record[q * (size_t)fit->features + (size_t)f];
    if (f >= fit->manifest->item_count)
        add_noise(fit, s, f);
    if (s->levels)
        subtract_segments(fit, s, f);
    return (struct ek_baseline_fit){.queries = fit->queries,
                                    .by_item = ek_item_levels_has(p->item_levels, f),
                                    .record = s->column,
                                    .stratum = fit->stratum,
                                    .strata = p->strata,
                                    .tables = s->tables,
                                    .values = s->values,
                                    .sum = s->strata,
                                    .count = s->strata + p->strata,
                                    .moments = s->strata + 2 * p->strata,
                                    .view = s->view,
                                    .views = 2 + fit->dimensions,
                                    .time_ms = fit->time_ms,
                                    .has_days = ek_profile_has_days(p),
                                    .season = s->season};
}

/* Set the sketch of a feature and the moments of its values; the laws by segment set it, too. */
static void fit_sketch(const struct ek_profile_fit *fit, struct ek_profile *p, int f)
{
    struct ek_sketch_summary summary;
    int items = fit->manifest->item_count;
    ek_sketch_clear(p->sketch[f]);
    if (f < items)
        ek_sketch_set_get(fit->sketches, f, p->sketch[f]);
    else
        ek_sketch_merge(p->sketch[f], fit->query_sketches[f - items]);
    ek_sketch_summarize(p->sketch[f], &summary);
    p->baseline[f].log_mean = isnan(summary.log_mean) ? 0 : (float)summary.log_mean;
    p->baseline[f].log_sd = isnan(summary.log_sd) ? 0 : (float)summary.log_sd;
}

/* Divisors of a feature in a segment, before they are sorted. */
struct calibrated {
    uint64_t segment, feature;
    float divisor[EK_CALIBRATED];
};

struct calibrations {
    struct calibrated *rows;
    size_t count, capacity;
    double *sums;   /* [EK_FIT_VALUES_MAX, EK_SEGMENT_SUMS] */
    float *divisor; /* [EK_FIT_VALUES_MAX, EK_CALIBRATED] */
};

static int calibrations_init(struct calibrations *c)
{
    *c = (struct calibrations){
        .sums = ek_calloc(EK_FIT_VALUES_MAX * EK_SEGMENT_SUMS, sizeof *c->sums),
        .divisor = ek_calloc(EK_FIT_VALUES_MAX * EK_CALIBRATED, sizeof *c->divisor)};
    return c->sums && c->divisor ? EK_OK : EK_ENOMEM;
}

static void calibrations_release(struct calibrations *c)
{
    ek_free(c->rows);
    ek_free(c->sums);
    ek_free(c->divisor);
}

static bool exceeds_one(const float divisor[EK_CALIBRATED])
{
    for (int i = 0; i < EK_CALIBRATED; i++)
        if (divisor[i] > 1)
            return true;
    return false;
}

static int add_calibrated(struct calibrations *c, const struct ek_segment_values *d, int value,
                          int feature)
{
    const struct ek_text name = {d->name, strlen(d->name)},
                         text = {d->value[value], strlen(d->value[value])};
    struct calibrated *rows = ek_grow(c->rows, c->count, &c->capacity, sizeof *rows);
    if (!rows)
        return EK_ENOMEM;
    c->rows = rows;
    rows[c->count] =
        (struct calibrated){.segment = ek_segment_key(name, text), .feature = (uint64_t)feature};
    memcpy(rows[c->count++].divisor, c->divisor + value * EK_CALIBRATED, sizeof rows->divisor);
    return EK_OK;
}

/* Calibrate the bets of a feature in the segments. Strata have a calibration of their own. */
static int calibrate_segments(const struct ek_profile_fit *fit, const struct ek_profile *p, int f,
                              const struct ek_baseline_fit *one, struct calibrations *c)
{
    size_t first = (size_t)f * (size_t)p->strata;
    int rc = EK_OK;
    for (int i = 0; !rc && i < fit->dimensions; i++) {
        const struct ek_segment_values *d = &fit->dimension[i];
        const struct ek_segment_lists lists = {d->of, d->values};
        if (p->field && !strcmp(p->field, d->name))
            continue;
        ek_segment_calibration_fit(one, &p->baseline[f], p->level + first,
                                   p->calibration + first * EK_CALIBRATED, &lists, c->sums,
                                   c->divisor);
        for (int v = 0; !rc && v < d->values; v++)
            if (exceeds_one(c->divisor + v * EK_CALIBRATED))
                rc = add_calibrated(c, d, v, f);
    }
    return rc;
}

static int compare_calibrated(const void *a, const void *b)
{
    const struct calibrated *x = a, *y = b;
    int by_segment = (x->segment > y->segment) - (x->segment < y->segment);
    return by_segment ? by_segment : (x->feature > y->feature) - (x->feature < y->feature);
}

static int set_calibrations(struct calibrations *c, struct ek_profile *p)
{
    struct ek_segment_calibration *t;
    if (!c->count)
        return EK_OK;
    if (ek_segment_calibration_new(&t, c->count))
        return EK_ENOMEM;
    qsort(c->rows, c->count, sizeof *c->rows, compare_calibrated);
    for (size_t i = 0; i < c->count; i++) {
        t->segment[i] = c->rows[i].segment;
        t->feature[i] = c->rows[i].feature;
        memcpy(t->divisor + i * EK_CALIBRATED, c->rows[i].divisor, sizeof c->rows->divisor);
    }
    p->segment_calibration = t;
    return EK_OK;
}

/* Dependence is pooled over the features, so they are gone through twice. */
static int fit_features(struct ek_profile_fit *fit, struct ek_profile *p,
                        const struct ek_segment_levels *segments)
{
    struct scratch s;
    struct calibrations c;
    int rc = scratch_init(&s, fit, p->strata);
    if (calibrations_init(&c))
        rc = EK_ENOMEM;
    if (!rc)
        find_rows(fit, segments, &s);
    for (int f = 0; !rc && f < fit->features; f++) {
        struct ek_baseline_fit one = begin_feature(fit, p, &s, f);
        float *level = p->level + (size_t)f * (size_t)p->strata;
        ek_baseline_fit_moments(&one, &p->baseline[f], level);
        ek_dependence_measure(&one, level, &p->baseline[f], &s.dependence[f]);
    }
    if (!rc)
        rc = ek_dependence_pool(s.dependence, fit->features, p->baseline);
    for (int f = 0; !rc && f < fit->features; f++) {
        struct ek_baseline_fit one = begin_feature(fit, p, &s, f);
        size_t first = (size_t)f * (size_t)p->strata;
        ek_baseline_fit_feature(&one, &p->baseline[f], p->level + first, p->band + first,
                                p->density + (size_t)f * EK_DENSITY_BINS,
                                p->calibration + first * EK_CALIBRATED);
        rc = calibrate_segments(fit, p, f, &one, &c);
        fit_sketch(fit, p, f);
    }
    if (!rc)
        rc = set_calibrations(&c, p);
    calibrations_release(&c);
    scratch_release(&s);
    return rc;
}

/* Fit the levels of segments, and the features relative to these. */
static int fit_segments(struct ek_profile_fit *fit, struct ek_profile *p)
{
    int rc = ek_segment_level_fit(fit, p, &p->segment_levels);
    if (rc || !p->segment_levels)
        return rc;
    if (ek_profile_reserve_laws(p))
        return EK_ENOMEM;
    ek_profile_exchange_laws(p);
    rc = fit_features(fit, p, p->segment_levels);
    ek_profile_exchange_laws(p);
    return rc;
}

/* Fit the category tables. number [names] maps strata of the fit to strata of the profile. */
static int fit_categories(const struct ek_profile_fit *fit, struct ek_profile *p, const int *number)
{
    int rc = EK_OK;
    ek_known_fit_finish(fit->known, p);
    for (int f = 0; !rc && f < fit->features; f++)
        if (fit->category[f])
            rc = ek_category_fit_finish(fit->category[f], number, p->strata, &p->category[f]);
    return rc;
}

/* Move the lists to the profile. number [names] maps the strata. Return 0 or EK_ENOMEM. */
static int move_lists(struct ek_profile_fit *fit, struct ek_profile *p, const int *number)
{
    struct ek_profile_lists *l = ek_profile_lists_new(fit->features);
    if (!l)
        return EK_ENOMEM;
    p->lists = l;
    for (int f = 0; f < fit->features; f++)
        if (fit->category[f] &&
            ek_category_fit_counts(fit->category[f], number, fit->names, &l->category[f]))
            return EK_ENOMEM;
    l->queries = fit->queries;
    l->record = fit->record;
    l->time_ms = fit->time_ms;
    l->stratum = fit->stratum;
    fit->record = NULL;
    fit->time_ms = NULL;
    fit->stratum = NULL;
    fit->queries = fit->capacity = 0;
    return EK_OK;
}

/* Make the levels of the lists relative to their items and queries, where these explain them. */
static int fit_references(struct ek_profile_fit *fit, struct ek_profile *p)
{
    int rc = ek_query_slope_fit_prepare(fit->query_slopes, p->strata);
    if (!rc)
        rc = ek_query_slope_fit_ranges(fit->query_slopes, &p->query_ranges);
    if (!rc)
        rc = ek_item_level_fit_finish(fit->item_levels, fit->query_slopes, fit->record,
                                      fit->stratum, p->strata, &p->item_levels);
    if (!rc)
        rc = ek_query_slope_fit_finish(fit->query_slopes, fit->record, fit->features, fit->stratum,
                                       &p->query_slopes);
    return rc;
}

static int fit_all(struct ek_profile_fit *fit, struct ek_profile *p)
{
    int *number = ek_calloc((size_t)fit->names, sizeof *number);
    int rc = number ? sort_strata(fit, p) : EK_ENOMEM;
    for (int i = 1; !rc && i < fit->names; i++)
        number[i] = ek_profile_stratum(p, fit->name[i], strlen(fit->name[i]));
    if (!rc && !fit->keep && !fit->merged)
        rc = fit_references(fit, p);
    if (!rc)
        rc = fit_features(fit, p, NULL);
    if (!rc && !fit->merged)
        rc = fit_segments(fit, p);
    if (!rc)
        rc = fit_categories(fit, p, number);
    if (!rc && fit->keep)
        rc = move_lists(fit, p, number);
    ek_free(number);
    return rc;
}

int ek_profile_fit_finish(struct ek_profile_fit *fit, struct ek_profile **out, struct ek_error *e)
{
    if (!fit->queries)
        return ek_fail(e, EK_ESTATE, "no list with items to make a profile from");
    if (fit->field.name && fit->names == 1)
        return ek_fail(e, EK_ESTATE, "no list has the baseline field '%s'", fit->field.name);
    struct ek_profile *p;
    int rc = ek_profile_new(&p, fit->manifest, fit->names, fit->field.name, e);
    if (rc)
        return rc;
    p->queries = fit->queries;
    p->items = fit->items;
    p->span_ms = ek_training_span(fit->time_ms, fit->queries);
    for (size_t q = 0; fit->field.name && q < fit->queries; q++)
        p->unnamed += fit->stratum[q] == 0;
    if (fit_all(fit, p)) {
        ek_profile_free(p);
        return out_of_memory(e);
    }
    *out = p;
    return EK_OK;
}

void ek_profile_fit_retain_lists(struct ek_profile_fit *fit)
{
    fit->keep = true;
}

static int check_field(const struct ek_profile_fit *fit, const struct ek_profile *p,
                       struct ek_error *e)
{
    const char *here = fit->field.name, *there = p->field;
    if (!here && !there)
        return EK_OK;
    if (here && there && !strcmp(here, there))
        return EK_OK;
    if (!there)
        return ek_fail(e, EK_ESTATE, "the profile was made without the baseline '%s'", here);
    if (!here)
        return ek_fail(e, EK_ESTATE, "the profile was made with the baseline '%s'", there);
    return ek_fail(e, EK_ESTATE, "the profile was made with the baseline '%s', not '%s'", there,
                   here);
}

/* Map the strata of a profile to strata of the fit, adding new ones. */
static int find_strata(struct ek_profile_fit *fit, const struct ek_profile *p, int *number,
                       struct ek_error *e)
{
    int rc = EK_OK;
    for (int s = 1; !rc && s < p->strata; s++)
        rc = ek_profile_fit_stratum(fit, (struct ek_text){p->stratum[s], strlen(p->stratum[s])},
                                    &number[s], e);
    return rc;
}

static int add_values(struct ek_profile_fit *fit, const struct ek_profile *p, const int *number)
{
    const struct ek_profile_lists *l = p->lists;
    ek_known_fit_merge(fit->known, p);
    for (int i = 0; i < watched_queries(fit); i++)
        ek_sketch_merge(fit->query_sketches[i], p->sketch[fit->manifest->item_count + i]);
    for (int f = 0; f < fit->features; f++) {
        if (f < fit->manifest->item_count &&
            ek_sketch_set_add_sketch(fit->sketches, f, p->sketch[f]))
            return EK_ENOMEM;
        if (fit->category[f] && l->category[f].lists &&
            ek_category_fit_merge(fit->category[f], &l->category[f], number, p->strata))
            return EK_ENOMEM;
    }
    return ek_sketch_set_add_rows(fit->sketches, p->items);
}

static void add_records(struct ek_profile_fit *fit, const struct ek_profile_lists *l,
                        const int *number)
{
    size_t features = (size_t)fit->features, items = (size_t)fit->manifest->item_count;
    for (size_t f = 0; !fit->queries && f < items; f++) /* as for the first list */
        fit->pivot[f] = l->record[f].usable ? l->record[f].r : 0;
    memcpy(fit->record + fit->queries * features, l->record,
           l->queries * features * sizeof *l->record);
    memcpy(fit->time_ms + fit->queries, l->time_ms, l->queries * sizeof *l->time_ms);
    for (size_t q = 0; q < l->queries; q++)
        fit->stratum[fit->queries + q] = number[l->stratum[q]];
    fit->queries += l->queries;
}

int ek_profile_fit_merge(struct ek_profile_fit *fit, const struct ek_profile *p, struct ek_error *e)
{
    int rc = check_field(fit, p, e);
    if (rc)
        return rc;
    int *number = ek_calloc((size_t)p->strata, sizeof *number);
    if (!number)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    rc = find_strata(fit, p, number, e);
    if (!rc && (reserve_lists(fit, p->lists->queries) || add_values(fit, p, number)))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc) {
        fit->merged = true;
        add_records(fit, p->lists, number);
        fit->items += p->items;
    }
    ek_free(number);
    return rc;
}
