#include "guard/plan_json.h"

#include "assets/feature_columns.h"
#include "base/hash.h"
#include "guard/event_json.h"
#include "guard/guard_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { DIGITS = 6, KEY_BYTES = 20 };

void ek_plan_document_init(struct ek_plan_document *d)
{
    d->version = d->hash = 0;
    ek_buf_init(&d->text, 0);
    ek_buf_init(&d->keys, 0);
    ek_buf_init(&d->parts, 0);
}

void ek_plan_document_release(struct ek_plan_document *d)
{
    ek_buf_release(&d->text);
    ek_buf_release(&d->keys);
    ek_buf_release(&d->parts);
}

size_t ek_plan_document_count(const struct ek_plan_document *d)
{
    return d->parts.length / sizeof(struct ek_plan_part);
}

const struct ek_plan_part *ek_plan_document_part(const struct ek_plan_document *d, size_t i)
{
    return (const struct ek_plan_part *)(const void *)d->parts.data + i;
}

int ek_plan_document_copy(struct ek_plan_document *to, const struct ek_plan_document *from)
{
    struct ek_buf *const into[] = {&to->text, &to->keys, &to->parts};
    const struct ek_buf *const of[] = {&from->text, &from->keys, &from->parts};
    int rc = EK_OK;
    to->version = from->version;
    to->hash = from->hash;
    for (int i = 0; !rc && i < 3; i++) {
        ek_buf_clear(into[i]);
        rc = ek_buf_add(into[i], of[i]->data, of[i]->length);
    }
    return rc;
}

/* Entry in progress. */
struct writing {
    struct ek_json_writer w;
    const struct ek_guard *g;
    const struct ek_cells *cells;
    const struct ek_plan *plan;
    const struct ek_plan_entry *entry;
    struct ek_plan_repair repair; /* of the entry, or of the action of a pin */
};

/* Nine digits give back a float32. */
static void add_float(struct ek_json_writer *w, const char *key, float value)
{
    ek_json_add_number(w, key, (double)value);
}

/* Add the position of a cell among those of a list, of which the last one takes precedence. The
 * cell of the other values has the values that it lacks. */
static void add_cell(struct writing *t, int cell)
{
    const char *other;
    int dimension = ek_cells_dimension(t->cells, cell);
    ek_json_add_integer(&t->w, "precedence", 1 + dimension);
    if (dimension < 0 || ek_cells_value(t->cells, cell))
        return;
    ek_json_open(&t->w, "except", '[');
    for (int i = 1; i < ek_cells_count(t->cells); i++)
        if (ek_cells_dimension(t->cells, i) == dimension && (other = ek_cells_value(t->cells, i)))
            ek_json_add_text(&t->w, NULL, other);
    ek_json_close(&t->w, ']');
}

/* Add the modes of segments, which apply in place of that of the entry. */
static void add_modes(struct writing *t)
{
    const struct ek_plan *p = t->plan;
    bool some = false;
    for (int i = 0; i < p->modes; i++)
        some |= p->mode[i].feature == t->entry->feature;
    if (!some || t->entry->by != EK_BY_FINDING)
        return;
    ek_json_open(&t->w, "modes", '[');
    for (int i = 0; i < p->modes; i++) {
        if (p->mode[i].feature != t->entry->feature)
            continue;
        ek_json_open(&t->w, NULL, '{');
        ek_json_add_segment(&t->w, "segment", ek_cells_dimension_name(t->cells, p->mode[i].cell),
                            ek_cells_value(t->cells, p->mode[i].cell));
        add_cell(t, p->mode[i].cell);
        ek_json_add_text(&t->w, "mode", ek_mode_name(p->mode[i].mode));
        ek_json_add_flag(&t->w, "own", p->mode[i].own);
        ek_json_close(&t->w, '}');
    }
    ek_json_close(&t->w, ']');
}

/* Return the column of the feature among those that depend on query features, or -1. */
static int slope_column(const struct writing *t)
{
    const struct ek_query_slopes *s = t->g->assets->profile->query_slopes;
    return s ? ek_feature_columns_find(s->feature, s->features, t->entry->feature) : -1;
}

static bool needs_query(const struct writing *t, bool level, int query)
{
    const struct ek_profile *p = t->g->assets->profile;
    int a = level ? slope_column(t) : -1;
    bool needs = t->repair.query_feature == query && t->repair.by == EK_REPAIR_QUERY_FEATURE;
    needs |= level && p->field && ek_manifest_query(t->g->assets->manifest, p->field) == query;
    for (int c = 0; a >= 0 && c < p->query_slopes->queries; c++)
        needs |= p->query_slopes->query[c] == query && p->query_slopes->slope[a][c] != 0;
    return needs;
}

/* Add the query features that the entry needs; index null: ln of the number of items. */
static void add_query_features(struct writing *t, bool level)
{
    const struct ek_manifest *m = t->g->assets->manifest;
    int sent = m->query_count - m->derived_count;
    ek_json_open(&t->w, "query_features", '[');
    for (int q = 0; q < m->query_count; q++) {
        if (!needs_query(t, level, q))
            continue;
        ek_json_open(&t->w, NULL, '{');
        ek_json_add_text(&t->w, "name", m->query[q]->name);
        if (q < sent)
            ek_json_add_integer(&t->w, "index", q);
        else
            ek_json_add_null(&t->w, "index");
        ek_json_close(&t->w, '}');
    }
    ek_json_close(&t->w, ']');
}

/* Add the properties of training values, for the limits of repaired values. */
static void add_values(struct writing *t)
{
    const struct ek_profile *p = t->g->assets->profile;
    const struct ek_baseline *b = &p->baseline[t->entry->feature];
    const float *known = p->known + (size_t)t->entry->feature * EK_KNOWN_VALUES_MAX;
    ek_json_open(&t->w, "values", '{');
    ek_json_add_flag(&t->w, "positive", b->share[1] <= 0 && b->share[2] <= 0);
    ek_json_add_flag(&t->w, "zeros", b->share[1] > 0);
    ek_json_open(&t->w, "known", '[');
    for (int i = 0; i < p->known_count[t->entry->feature]; i++)
        add_float(&t->w, NULL, known[i]);
    ek_json_close(&t->w, ']');
    ek_json_close(&t->w, '}');
}

static void add_strata(struct writing *t)
{
    const struct ek_profile *p = t->g->assets->profile;
    const float *level = p->level + (size_t)t->entry->feature * (size_t)p->strata;
    ek_json_add_text(&t->w, "stratify_by", p->field);
    ek_json_open(&t->w, "strata", '{');
    for (int s = 0; s < p->strata; s++)
        add_float(&t->w, s ? p->stratum[s] : "", level[s]);
    ek_json_close(&t->w, '}');
}

static void add_season(struct writing *t)
{
    const float *season = t->g->assets->profile->baseline[t->entry->feature].season;
    ek_json_open(&t->w, "season", '[');
    for (int i = 0; i < EK_SEASON; i++)
        add_float(&t->w, NULL, season[i]);
    ek_json_close(&t->w, ']');
}

static void add_segment_levels(struct writing *t)
{
    const struct ek_segment_levels *s = ek_profile_segment_levels(t->g->assets->profile);
    int a = s ? ek_feature_columns_find(s->feature, s->features, t->entry->feature) : -1;
    ek_json_open(&t->w, "segments", '[');
    for (int d = 0; a >= 0 && d < s->dimensions; d++) {
        if (!s->has[d * s->features + a])
            continue;
        ek_json_open(&t->w, NULL, '{');
        ek_json_add_text(&t->w, "dimension", s->dimension[d]);
        ek_json_open(&t->w, "values", '{');
        for (int v = s->first[d]; v < s->first[d + 1]; v++)
            if (!isnan(s->level[v * s->features + a]))
                add_float(&t->w, s->value[v], s->level[v * s->features + a]);
        ek_json_close(&t->w, '}');
        ek_json_close(&t->w, '}');
    }
    ek_json_close(&t->w, ']');
}

static void add_slopes(struct writing *t)
{
    const struct ek_query_slopes *s = t->g->assets->profile->query_slopes;
    int a = slope_column(t);
    ek_json_open(&t->w, "slopes", '[');
    for (int c = 0; a >= 0 && c < s->queries; c++) {
        if (s->slope[a][c] == 0)
            continue;
        ek_json_open(&t->w, NULL, '{');
        ek_json_add_text(&t->w, "query_feature", t->g->assets->manifest->query[s->query[c]]->name);
        add_float(&t->w, "slope", s->slope[a][c]);
        add_float(&t->w, "mean", s->mean[c]);
        add_float(&t->w, "low", s->low[c]);
        add_float(&t->w, "high", s->high[c]);
        ek_json_close(&t->w, '}');
    }
    ek_json_close(&t->w, ']');
}

/* Add the levels of items by the hash of their id; without levels by item, null. */
static void add_item_levels(struct writing *t)
{
    const struct ek_item_levels *s = t->g->assets->profile->item_levels;
    int a = s ? ek_feature_columns_find(s->feature, s->features, t->entry->feature) : -1;
    char key[KEY_BYTES];
    if (a < 0) {
        ek_json_add_null(&t->w, "items");
        return;
    }
    ek_json_open(&t->w, "items", '{');
    for (size_t i = 0; i < s->items; i++) {
        float level = s->value[i * (size_t)s->features + (size_t)a];
        snprintf(key, sizeof key, "%016" PRIx64, s->key[i]);
        if (!isnan(level))
            add_float(&t->w, key, level);
    }
    ek_json_close(&t->w, '}');
    add_float(&t->w, "log_sd", t->g->assets->profile->baseline[t->entry->feature].log_sd);
}

/* Add the usual level of lists (ln), to which a list is compared or set. */
static void add_level(struct writing *t)
{
    ek_json_open(&t->w, "level", '{');
    add_float(&t->w, "log_mean", t->g->assets->profile->baseline[t->entry->feature].log_mean);
    add_strata(t);
    add_season(t);
    add_segment_levels(t);
    add_slopes(t);
    add_item_levels(t);
    ek_json_close(&t->w, '}');
}

/* Add the class of the finding. Its factor changes with each measurement and is no part of the
 * plan.
 */
static void add_class(struct writing *t)
{
    const struct ek_rollout *r =
        ek_controller_rollout(t->g->control, t->entry->feature, t->entry->cell);
    if (t->entry->by != EK_BY_FINDING || !r || r->context.class == EK_CLASS_NONE)
        return;
    ek_json_add_text(&t->w, "class", ek_class_name(r->context.class));
}

static void add_repair(struct writing *t)
{
    bool level = ek_repair_uses_level(t->repair.by);
    if (t->repair.by == EK_REPAIR_UNKNOWN)
        return;
    add_query_features(t, level);
    add_values(t);
    if (level)
        add_level(t);
}

static void add_entry(struct writing *t, const char *key)
{
    const struct ek_manifest *m = t->g->assets->manifest;
    int query = ek_manifest_query_of(m, t->entry->feature);
    struct ek_event_entry e;
    ek_event_entry_init(&e, m, t->cells, t->entry);
    e.repair = t->repair;
    ek_json_open(&t->w, NULL, '{');
    ek_json_add_text(&t->w, "key", key);
    ek_json_add_plan_entry(&t->w, &e);
    ek_json_add_integer(&t->w, "index", query < 0 ? t->entry->feature : query);
    if (query >= 0)
        ek_json_add_text(&t->w, "role", "query");
    add_cell(t, t->entry->cell);
    add_class(t);
    if (t->entry->treatment.action == EK_ACT_ROUTE_NORMALIZED)
        ek_json_add_rounded(&t->w, "spread_ratio", t->entry->treatment.value, DIGITS);
    add_modes(t);
    add_repair(t);
    ek_json_close(&t->w, '}');
}

/* Append the key of an entry, such as "price/arm=B" or "price/all". */
static int add_key(const struct writing *t, struct ek_buf *keys)
{
    const char *dimension = ek_cells_dimension_name(t->cells, t->entry->cell);
    const char *value = ek_cells_value(t->cells, t->entry->cell);
    ek_buf_printf(keys, "%s/%s", t->g->assets->manifest->item[t->entry->feature]->name,
                  dimension ? dimension : "all");
    if (dimension)
        ek_buf_printf(keys, "=%s", value ? value : EK_SEGMENT_OTHER);
    return ek_buf_add(keys, "", 1);
}

/* Add the next entry with its part. */
static int add_part(struct writing *t, struct ek_plan_document *d)
{
    struct ek_plan_part part = {.key = d->keys.length, .at = d->text.length};
    int rc = add_key(t, &d->keys);
    if (rc)
        return rc;
    add_entry(t, (const char *)d->keys.data + part.key);
    if (t->w.rc)
        return t->w.rc;
    part.at += d->text.data[part.at] == ',';
    part.length = d->text.length - part.at;
    part.hash = ek_hash(d->text.data + part.at, part.length, 0);
    d->hash = ek_hash(&part.hash, sizeof part.hash, d->hash);
    return ek_buf_add(&d->parts, &part, sizeof part);
}

int ek_guard_write_plan(const struct ek_guard *g, struct ek_plan_document *d)
{
    const struct ek_plan *plan = ek_controller_plan(g->control);
    struct writing t = {.g = g, .cells = ek_detector_registry(g->detector), .plan = plan};
    int rc = EK_OK;
    ek_buf_clear(&d->text);
    ek_buf_clear(&d->keys);
    ek_buf_clear(&d->parts);
    d->version = plan->version;
    d->hash = plan->paused;
    ek_json_init(&t.w, &d->text);
    ek_json_open(&t.w, NULL, '{');
    ek_json_add_text(&t.w, "event", ek_event_kind_name(EK_EVENT_PLAN));
    ek_json_add_count(&t.w, "version", plan->version);
    ek_json_add_count(&t.w, "list", ek_detector_list_count(g->detector));
    ek_json_add_integer(&t.w, "time_ms", g->time_ms);
    ek_json_add_flag(&t.w, "paused", plan->paused);
    ek_json_open(&t.w, "entries", '[');
    for (int i = 0; !rc && i < plan->count; i++) {
        t.entry = &plan->entry[i];
        t.repair = ek_plan_entry_repair(t.entry);
        rc = add_part(&t, d);
    }
    ek_json_close(&t.w, ']');
    ek_json_close(&t.w, '}');
    return rc ? rc : t.w.rc;
}

const char *ek_guard_plan(struct ek_guard *g, size_t *length, struct ek_error *e)
{
    struct ek_plan_document *d = &g->plan_document;
    int rc = ek_guard_write_plan(g, d);
    const char *text = rc ? NULL : ek_buf_string(&d->text);
    if (!text) {
        ek_fail(e, rc ? rc : EK_ENOMEM,
                rc == EK_ELIMIT ? "the plan is too large" : "out of memory");
        return NULL;
    }
    if (length)
        *length = d->text.length;
    return text;
}
