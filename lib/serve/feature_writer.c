#include "serve/feature_writer.h"

#include "base/alloc.h"
#include "base/decimal.h"
#include "detect/list_stats_builder.h"
#include "lists/codec_json.h"
#include "serve/assets.h"
#include "serve/wide_columns.h"
#include "score/value_repair.h"

#include <math.h>
#include <string.h>

/* Repair of one feature in one list. */
struct feature {
    struct ek_value_repair value;
    double half_ln, level; /* test of each item: more than half_ln from the level; 0: no test */
    size_t changed;
    bool has_float32, has_float64; /* wide values that are float32 in disguise, and others */
};

struct ek_feature_writer {
    const struct ek_manifest *manifest;
    int features, item_features; /* W, F */
    uint8_t *wanted;             /* [W] to repair */
    uint8_t *all;                /* [W] 1 */
    float *query;                /* [M] repaired query features of the list */
    double *values;              /* [n, F] of ek_feature_writer_values */
    double *wide;                /* [n, F] values, then [n, columns] */
    size_t wide_capacity;
    struct feature *feature; /* [W] */
    size_t changed;
    struct ek_buf note; /* terminated */
};

int ek_feature_writer_new(struct ek_feature_writer **out, const struct ek_manifest *m)
{
    size_t features = (size_t)m->watched_count;
    struct ek_feature_writer *w = ek_calloc(1, sizeof *w);
    if (!w)
        return EK_ENOMEM;
    ek_buf_init(&w->note, 0);
    w->manifest = m;
    w->features = m->watched_count;
    w->item_features = m->item_count;
    w->wanted = ek_calloc(features, 1);
    w->all = ek_calloc(features, 1);
    w->query = ek_calloc((size_t)m->query_count, sizeof *w->query);
    w->feature = ek_calloc(features, sizeof *w->feature);
    if (!w->wanted || !w->all || !w->query || !w->feature) {
        ek_feature_writer_free(w);
        return EK_ENOMEM;
    }
    memset(w->all, 1, features);
    *out = w;
    return EK_OK;
}

void ek_feature_writer_free(struct ek_feature_writer *w)
{
    if (!w)
        return;
    ek_buf_release(&w->note);
    ek_free(w->wanted);
    ek_free(w->all);
    ek_free(w->query);
    ek_free(w->feature);
    ek_free(w->wide);
    ek_free(w);
}

/* Standard deviations of all values (ln) that half of a factor exceeds which lists of new items
 * show. Means of items vary less. */
static const double NEW_ITEMS_SDS = 2.3;

static double given_value(const struct ek_feature_list *l, int item, int feature)
{
    return (double)ek_list_value(l->query, l->assets->manifest, item, feature);
}

/* Return the mean ln|x| over the usable values of the whole list, NaN if there are none. */
static double level_of(const struct ek_feature_list *l, int feature)
{
    const struct ek_manifest *m = l->assets->manifest;
    int k = m->routable_of_item[feature], usable = 0;
    int values = feature < m->item_count ? l->query->items : 1;
    double sum = 0;
    if (l->query->has_log_means && k >= 0)
        return l->query->log_mean[k];
    for (int i = 0; i < values; i++) {
        double x = fabs(given_value(l, i, feature));
        if (x > 0 && isfinite(x)) {
            sum += log(x);
            usable++;
        }
    }
    return usable ? sum / usable : (double)NAN;
}

/* Return the usual level of lists of this stratum, these segments, items and repaired query
 * features at this time of day; NaN if training does not show it. Where most items are new, it is
 * that of any items if `any`. */
static double usual_level(const struct ek_feature_writer *w, const struct ek_feature_list *l,
                          int feature, bool any)
{
    const struct ek_profile *p = l->assets->profile;
    size_t at = (size_t)feature * (size_t)p->strata + (size_t)l->stratum;
    int bin = ek_day_bin(l->query->time_ms);
    double day = (bin + .5) / EK_DAY_BINS;
    double season = bin < 0 ? 0 : (double)ek_season_at(p->baseline[feature].season, day);
    double segments = ek_segment_levels_of(ek_profile_segment_levels(p), l->query, feature);
    double items = ek_item_levels_of(p->item_levels, l->query, feature);
    double query = ek_query_slopes_of(p->query_slopes, w->query, feature);
    if (isnan(items) && any)
        items = (double)ek_item_levels_mean(p->item_levels, feature);
    return (double)p->level[at] + season + segments + items + query;
}

/* Return the level, or that of all training values if it is unknown. */
static double level_or_typical(const struct ek_feature_list *l, int feature, double level)
{
    return isnan(level) ? (double)l->assets->profile->baseline[feature].log_mean : level;
}

/* Return whether a level is nearer to the fault than to normal. NaN is not. */
static bool is_moved(double ln, double level, double half_ln)
{
    return half_ln > 0 ? ln - level > half_ln : ln - level < half_ln;
}

/* Return the value of the query feature if it can be a divisor, else NaN. */
static double divisor_of(const struct ek_feature_writer *w, int query_feature)
{
    double q = query_feature < 0 || query_feature >= w->manifest->query_count
                   ? (double)NAN
                   : (double)w->query[query_feature];
    return q > 0 && isfinite(q) ? q : (double)NAN;
}

/* Set a division by `number`. Return false if it is no divisor. */
static bool divide_by(struct ek_value_repair *v, double number)
{
    v->kind = EK_VALUE_DIVIDE;
    if (!(number > 0) || !isfinite(number))
        return false;
    ek_ratio_find(number, &v->p, &v->q);
    return true;
}

/* Fill with exp(ln), rounded to 6 digits: more would not be typical. */
static bool fill_with(struct ek_value_repair *v, enum ek_value_repair_kind kind, double ln)
{
    enum { DIGITS = 6 };
    v->kind = kind;
    v->fill = ek_round_digits(exp(ln), DIGITS);
    return isfinite(v->fill);
}

/* Return whether a list shows a division by `number`. A query feature with few values in training
 * shows it by its value, unless both the value and the repaired one are known or unknown. */
static bool shows_factor(const struct feature *f, const struct ek_feature_list *l, int feature,
                         double number, double away)
{
    double half_ln = log(number) / 2;
    if (feature >= l->assets->manifest->item_count) {
        double x = given_value(l, 0, feature);
        const struct ek_value_repair *v = &f->value;
        bool then = ek_value_is_known(x / number, v->known, v->known_count);
        if (ek_value_is_known(x, v->known, v->known_count) != then)
            return then;
    }
    return is_moved(away, 0, half_ln);
}

/* Set the repair of a feature of a list. Return false if the list stays as it is. */
static bool prepare(const struct ek_feature_writer *w, struct feature *f,
                    const struct ek_feature_list *l, int feature)
{
    const struct ek_plan_repair *r = &l->repair[feature];
    struct ek_value_repair *v = &f->value;
    double mean = level_of(l, feature), half_ln = log(r->number) / 2;
    double sd = (double)l->assets->profile->baseline[feature].log_sd;
    bool any = r->by == EK_REPAIR_LIST && fabs(half_ln) > NEW_ITEMS_SDS * sd;
    double level = usual_level(w, l, feature, any);
    double typical = level_or_typical(l, feature, level);
    switch (r->by) {
    case EK_REPAIR_NUMBER:
        return divide_by(v, r->number);
    case EK_REPAIR_LIST:
        return shows_factor(f, l, feature, r->number, mean - level) && divide_by(v, r->number);
    case EK_REPAIR_ITEM:
        f->half_ln = half_ln;
        f->level = level;
        return divide_by(v, r->number);
    case EK_REPAIR_LEVEL:
        v->exact = true;
        return (r->number == 1 || is_moved(mean, level, half_ln)) &&
               divide_by(v, exp(mean - level));
    case EK_REPAIR_QUERY_FEATURE:
        return divide_by(v, divisor_of(w, r->query_feature));
    case EK_REPAIR_POWER:
        v->kind = EK_VALUE_POWER;
        v->exponent = r->number;
        v->factor = r->scale;
        return r->number > 0 && r->scale > 0;
    case EK_REPAIR_OFFSET:
        v->kind = EK_VALUE_OFFSET;
        v->offset = r->number;
        v->offset_error = r->scale;
        return true;
    case EK_REPAIR_SIGN:
        v->kind = v->positive ? EK_VALUE_ABSOLUTE : EK_VALUE_NEGATE;
        return true;
    case EK_REPAIR_MISSING:
        return fill_with(v, EK_VALUE_FILL, isnan(mean) ? typical : mean);
    case EK_REPAIR_ZERO:
        return fill_with(v, EK_VALUE_FILL_ZERO, isnan(mean) ? typical : mean);
    case EK_REPAIR_ALL:
        return fill_with(v, EK_VALUE_FILL_ALL, typical);
    case EK_REPAIR_BLANK:
        v->kind = EK_VALUE_BLANK;
        return true;
    default:
        return false;
    }
}

/* Start the repair of a feature with the properties of its training values. */
static void start(struct feature *f, const struct ek_feature_list *l, int feature)
{
    const struct ek_baseline *b = &l->assets->profile->baseline[feature];
    memset(f, 0, sizeof *f);
    f->value.positive = b->share[1] <= 0 && b->share[2] <= 0;
    f->value.has_zeros = b->share[1] > 0;
    f->value.exact = l->repair[feature].exact;
    f->value.known = l->assets->profile->known + (size_t)feature * EK_KNOWN_VALUES_MAX;
    f->value.known_count = l->assets->profile->known_count[feature];
}

/* Note the origin of the values of a list, without a change. One value cannot tell: of decimals
 * with 8 digits every third one is a float32, of a list of float32 all are. */
static double note_origin(void *context, int item, int feature, double x, bool narrow)
{
    struct feature *f = &((struct ek_feature_writer *)context)->feature[feature];
    enum ek_value_origin origin = narrow ? EK_ORIGIN_UNKNOWN : ek_value_origin(x);
    (void)item;
    f->has_float32 |= origin == EK_ORIGIN_FLOAT32;
    f->has_float64 |= origin == EK_ORIGIN_FLOAT64;
    return x;
}

/* Return the repaired value for the codec; item -1: of a query feature. */
static double value_of(void *context, int item, int feature, double x, bool narrow)
{
    struct ek_feature_writer *w = context;
    struct feature *f = &w->feature[feature];
    (void)item;
    if (f->half_ln != 0 && !is_moved(log(fabs(x)), f->level, f->half_ln))
        return x;
    double y = ek_value_repair(&f->value, x, narrow ? EK_VALUE_FLOAT32 : EK_VALUE_FLOAT64);
    f->changed += ek_value_changed(x, y);
    return y;
}

static int add_number(struct ek_buf *to, const char *before, double number)
{
    char text[EK_JSON_NUMBER_BYTES];
    int rc = ek_buf_text(to, before);
    size_t length = ek_json_double(text, number);
    return rc ? rc : ek_buf_add(to, text, length);
}

static int add_divisor(struct ek_buf *to, const struct ek_value_repair *v)
{
    return v->p == 1 ? add_number(to, "*", v->q) : add_number(to, "/", v->p / v->q);
}

/* Append the operation, as "/100". */
static int add_operation(struct ek_buf *to, const struct ek_feature_list *l, int feature,
                         const struct ek_value_repair *v)
{
    const struct ek_plan_repair *r = &l->repair[feature];
    int rc = EK_OK;
    switch (v->kind) {
    case EK_VALUE_DIVIDE:
        if (r->by == EK_REPAIR_QUERY_FEATURE)
            return ek_buf_printf(to, "/%s", l->assets->manifest->query[r->query_feature]->name);
        return add_divisor(to, v);
    case EK_VALUE_POWER:
        if (v->factor != 1)
            rc = add_number(to, "/", v->factor);
        return rc ? rc : add_number(to, "^1/", v->exponent);
    case EK_VALUE_OFFSET:
        return add_number(to, v->offset < 0 ? "+" : "-", fabs(v->offset));
    case EK_VALUE_ABSOLUTE:
        return ek_buf_text(to, "abs");
    case EK_VALUE_NEGATE:
        return ek_buf_text(to, "*-1");
    case EK_VALUE_BLANK:
        return ek_buf_text(to, "blank");
    default:
        return add_number(to, "fill:", v->fill);
    }
}

static int write_note(struct ek_feature_writer *w, const struct ek_feature_list *l)
{
    int rc = EK_OK;
    ek_buf_clear(&w->note);
    for (int f = 0; f < w->features && !rc; f++) {
        if (!w->wanted[f] || !w->feature[f].changed)
            continue;
        rc = ek_buf_printf(&w->note, "%s%s=", w->note.length ? ", " : "",
                           l->assets->manifest->item[f]->name);
        if (!rc)
            rc = add_operation(&w->note, l, f, &w->feature[f].value);
    }
    return rc ? rc : ek_buf_add(&w->note, "", 1);
}

static int find_origins(struct ek_feature_writer *w, const struct ek_feature_list *l,
                        struct ek_buf *scratch, struct ek_error *e)
{
    struct ek_feature_patch patch = {.wanted = w->wanted, .value = note_origin, .context = w};
    int rc = ek_codec_patch_features(l->assets->codec, l->query, l->message, l->length, &patch,
                                     scratch, e);
    for (int f = 0; f < w->features; f++)
        w->feature[f].value.of_float32 = w->feature[f].has_float32 && !w->feature[f].has_float64;
    return rc;
}

/* Prepare the repair of a feature. Return whether there is one. */
static bool prepare_feature(struct ek_feature_writer *w, const struct ek_feature_list *l, int f)
{
    w->wanted[f] = false;
    if (!l->treatment || l->treatment[f].action == EK_ACT_NONE)
        return false;
    start(&w->feature[f], l, f);
    w->wanted[f] = prepare(w, &w->feature[f], l, f);
    return w->wanted[f];
}

/* Prepare the repairs of a list. Return whether there are any. */
static bool prepare_all(struct ek_feature_writer *w, const struct ek_feature_list *l)
{
    bool some = false;
    w->changed = 0;
    memcpy(w->query, l->query->query, (size_t)w->manifest->query_count * sizeof *w->query);
    for (int f = w->item_features; f < w->features; f++)
        if (prepare_feature(w, l, f)) {
            float *x = &w->query[ek_manifest_query_of(w->manifest, f)];
            *x = (float)ek_value_repair(&w->feature[f].value, (double)*x, EK_VALUE_FLOAT32);
            some = true;
        }
    for (int f = 0; f < w->item_features; f++)
        some |= prepare_feature(w, l, f);
    return some;
}

/* Keep the repaired value for the codec, which leaves the message as it is. */
static double keep_value(void *context, int item, int feature, double x, bool narrow)
{
    struct ek_feature_writer *w = context;
    double y = w->wanted[feature] ? value_of(w, item, feature, x, narrow) : x;
    if (item < 0)
        w->query[ek_manifest_query_of(w->manifest, feature)] = (float)y;
    else
        w->values[(size_t)item * (size_t)w->item_features + (size_t)feature] = y;
    return x;
}

/* Set w->values to the repaired values of the message. Absent entries are NaN. */
static int keep_message_values(struct ek_feature_writer *w, const struct ek_feature_list *l,
                               struct ek_buf *scratch, struct ek_error *e)
{
    struct ek_feature_patch patch = {.wanted = w->all, .value = keep_value, .context = w};
    size_t count = (size_t)l->query->items * (size_t)w->item_features;
    for (size_t i = 0; i < count; i++)
        w->values[i] = (double)NAN;
    return ek_codec_patch_features(l->assets->codec, l->query, l->message, l->length, &patch,
                                   scratch, e);
}

static int reserve_wide(struct ek_feature_writer *w, size_t count)
{
    if (count <= w->wide_capacity)
        return EK_OK;
    double *wide = ek_realloc(w->wide, count + count / 2, sizeof *wide);
    if (!wide)
        return EK_ENOMEM;
    w->wide = wide;
    w->wide_capacity = count + count / 2;
    return EK_OK;
}

/* Return whether the items of a message are their whole list. */
static bool is_whole(const struct ek_feature_list *l)
{
    return ek_codec_layout(l->assets->codec) != EK_LAYOUT_ITEM && !ek_list_is_partial(l->query);
}

/* Set the columns of a patch to those of the repaired values. */
static int compute_columns(struct ek_feature_writer *w, const struct ek_feature_list *l,
                           struct ek_feature_patch *patch, struct ek_buf *scratch,
                           struct ek_error *e)
{
    const struct ek_wide_columns *wide = l->wide;
    size_t items = (size_t)l->query->items, values = items * (size_t)w->item_features;
    if (reserve_wide(w, values + items * (size_t)wide->count))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    w->values = w->wide;
    int rc = keep_message_values(w, l, scratch, e);
    w->values = NULL;
    for (int f = 0; f < w->features; f++)
        w->feature[f].changed = 0; /* counted again when they are written */
    if (rc)
        return rc;
    ek_wide_columns_compute(wide, l->assets->manifest, l->query, w->wide, is_whole(l),
                            w->wide + values);
    patch->columns = wide->count;
    patch->name = wide->name;
    patch->column = w->wide + values;
    return EK_OK;
}

int ek_feature_writer_write(struct ek_feature_writer *w, const struct ek_feature_list *l,
                            struct ek_buf *out, struct ek_error *e)
{
    struct ek_feature_patch patch = {.wanted = w->wanted, .value = value_of, .context = w};
    bool some = prepare_all(w, l);
    ek_buf_clear(out);
    if (!some && !l->wide)
        return EK_OK;
    int rc = some ? find_origins(w, l, out, e) : EK_OK;
    if (!rc && l->wide)
        rc = compute_columns(w, l, &patch, out, e);
    if (!rc)
        rc = ek_codec_patch_features(l->assets->codec, l->query, l->message, l->length, &patch, out,
                                     e);
    if (!rc && patch.changed && write_note(w, l))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    w->changed = rc ? 0 : patch.changed;
    return rc;
}

static void keep_list(struct ek_feature_writer *w, const struct ek_feature_list *l)
{
    for (int f = w->item_features; f < w->features; f++)
        keep_value(w, -1, f, given_value(l, 0, f), true);
    for (int i = 0; i < l->query->items; i++)
        for (int f = 0; f < w->item_features; f++)
            keep_value(w, i, f, given_value(l, i, f), true);
}

static int keep_message(struct ek_feature_writer *w, const struct ek_feature_list *l,
                        struct ek_buf *scratch, struct ek_error *e)
{
    size_t count = (size_t)l->query->items * (size_t)w->item_features;
    int rc = find_origins(w, l, scratch, e);
    if (!rc)
        rc = keep_message_values(w, l, scratch, e);
    for (size_t i = 0; i < count && !rc; i++) { /* map entries that are absent */
        int f = (int)(i % (size_t)w->item_features);
        if (w->wanted[f] && isnan(w->values[i]))
            w->values[i] = value_of(w, 0, f, (double)NAN, false);
    }
    return rc;
}

int ek_feature_writer_values(struct ek_feature_writer *w, const struct ek_feature_list *l,
                             double *values, struct ek_buf *scratch, struct ek_error *e)
{
    int rc = EK_OK;
    size_t changed = 0;
    if (!prepare_all(w, l))
        return EK_OK;
    w->values = values;
    if (l->message)
        rc = keep_message(w, l, scratch, e);
    else
        keep_list(w, l);
    w->values = NULL;
    for (int f = 0; f < w->features; f++)
        changed += w->wanted[f] ? w->feature[f].changed : 0;
    if (!rc && l->message && changed && write_note(w, l))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    w->changed = rc ? 0 : changed;
    return rc;
}

float *ek_feature_writer_query(const struct ek_feature_writer *w)
{
    return w->query;
}

size_t ek_feature_writer_changed(const struct ek_feature_writer *w)
{
    return w->changed;
}

const char *ek_feature_writer_note(const struct ek_feature_writer *w)
{
    return (const char *)w->note.data;
}
