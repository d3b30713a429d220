/* Application of a plan in JSON to the arrays of a caller (ek_plan_apply of evenkeel.h). */
#include "base/alloc.h"
#include "detect/cells.h"
#include "detect/dedup.h"
#include "evenkeel.h"
#include "guard/plan_unit.h"

#include <math.h>
#include <string.h>

enum { CELLS_MAX = 1 + EK_PLAN_MAX + EK_PLAN_MODES_MAX, PLACES = EK_CELLS_PER_LIST };

/* Segment of an entry or a mode. Number 0 is all traffic. */
struct cell {
    const char *dimension, *value; /* value NULL: all values but `except` */
    int place;                     /* position among the cells of a list */
    yyjson_val *except;
};

struct ek_applier {
    yyjson_doc *json;
    struct ek_plan plan;
    struct ek_plan_unit *unit; /* [plan.count] */
    int cells;
    struct cell cell[CELLS_MAX];
    int features;
    const char *feature[EK_PLAN_MAX];
    int slot[EK_PLAN_MAX]; /* identity */
    struct ek_treatment acts[EK_PLAN_MAX], would[EK_PLAN_MAX];
    struct ek_plan_routing routing;
    struct ek_list list; /* of one item feature */
    double *values;      /* [items] */
    size_t room;
    struct ek_buf scratch;
};

static int out_of_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

/* Set *cell to the number of the segment of an entry or a mode. Return false if it is invalid. */
static bool read_cell(struct ek_applier *a, yyjson_val *from, int *cell)
{
    yyjson_val *segment = yyjson_obj_get(from, "segment"), *key, *value;
    yyjson_val *place = yyjson_obj_get(from, "precedence");
    struct cell one = {.except = yyjson_obj_get(from, "except")};
    *cell = 0;
    if (yyjson_is_null(segment))
        return true;
    yyjson_obj_iter pair = yyjson_obj_iter_with(segment);
    key = yyjson_obj_iter_next(&pair);
    value = yyjson_obj_iter_get_val(key);
    one.place = yyjson_is_int(place) ? (int)yyjson_get_int(place) : 0;
    if (yyjson_obj_size(segment) != 1 || !yyjson_is_str(value) || one.place < 1 ||
        one.place >= PLACES)
        return false;
    one.dimension = yyjson_get_str(key);
    one.value = yyjson_is_arr(one.except) ? NULL : yyjson_get_str(value);
    for (*cell = 1; *cell < a->cells; ++*cell)
        if (is_same(a->cell[*cell].dimension, one.dimension) &&
            is_same(a->cell[*cell].value, one.value))
            return true;
    a->cell[a->cells++] = one;
    return true;
}

/* Return the number of a feature by name, which is added if it is new. */
static int find_feature(struct ek_applier *a, const char *name)
{
    int f = 0;
    while (f < a->features && strcmp(a->feature[f], name) != 0)
        f++;
    if (f == a->features) {
        a->slot[f] = f;
        a->feature[a->features++] = name;
    }
    return f;
}

static bool has_mode(const struct ek_plan *p, const struct ek_plan_mode *m)
{
    for (int i = 0; i < p->modes; i++)
        if (p->mode[i].feature == m->feature && p->mode[i].cell == m->cell &&
            p->mode[i].own == m->own)
            return true;
    return false;
}

/* Read the modes of segments. Entries of one feature have the same. */
static int read_modes(struct ek_applier *a, int feature, yyjson_val *modes, int number,
                      struct ek_error *e)
{
    size_t i, max;
    yyjson_val *one;
    yyjson_arr_foreach(modes, i, max, one)
    {
        const char *name = yyjson_get_str(yyjson_obj_get(one, "mode"));
        int mode = name ? ek_mode_parse(name) : -1;
        struct ek_plan_mode m = {.feature = feature,
                                 .mode = mode < 0 ? EK_MODE_OBSERVE : (enum ek_mode)mode,
                                 .own = yyjson_is_true(yyjson_obj_get(one, "own"))};
        if (mode < 0 || !read_cell(a, one, &m.cell))
            return ek_plan_unit_fail(number, "modes", e);
        if (has_mode(&a->plan, &m))
            continue;
        if (a->plan.modes == EK_PLAN_MODES_MAX)
            return ek_fail(e, EK_ELIMIT, "the plan has more than %d modes", EK_PLAN_MODES_MAX);
        a->plan.mode[a->plan.modes++] = m;
    }
    return EK_OK;
}

static int read_entry(struct ek_applier *a, yyjson_val *from, int number, struct ek_error *e)
{
    struct ek_plan_entry *entry = &a->plan.entry[number];
    a->plan.count = number + 1;
    int rc = ek_plan_unit_read(&a->unit[number], entry, from, number, e);
    if (rc)
        return rc;
    entry->feature = find_feature(a, a->unit[number].feature);
    if (!read_cell(a, from, &entry->cell))
        return ek_plan_unit_fail(number, "segment", e);
    return read_modes(a, entry->feature, yyjson_obj_get(from, "modes"), number, e);
}

static int read_plan(struct ek_applier *a, const char *json, size_t length, struct ek_error *e)
{
    struct ek_json_error why;
    int rc = ek_json_parse(&a->json, json, length, false, &why);
    if (rc == EK_ENOMEM)
        return out_of_memory(e);
    if (rc)
        return ek_fail(e, EK_EFORMAT, "plan, line %d, column %d: %s", why.line, why.column,
                       why.text);
    yyjson_val *entries = yyjson_obj_get(yyjson_doc_get_root(a->json), "entries"), *one;
    size_t i, max, count = yyjson_arr_size(entries);
    if (!yyjson_is_arr(entries))
        return ek_fail(e, EK_EFORMAT, "plan: missing or invalid 'entries'");
    if (count > EK_PLAN_MAX)
        return ek_fail(e, EK_ELIMIT, "the plan has %zu entries, the limit is %d", count,
                       EK_PLAN_MAX);
    if (!(a->unit = ek_calloc(count + 1, sizeof *a->unit)))
        return out_of_memory(e);
    yyjson_arr_foreach(entries, i, max, one)
    {
        rc = read_entry(a, one, (int)i, e);
        if (rc)
            return rc;
    }
    return EK_OK;
}

int ek_applier_new(struct ek_applier **out, const char *json, size_t length, struct ek_error *e)
{
    struct ek_applier *a = ek_calloc(1, sizeof *a);
    if (!a)
        return out_of_memory(e);
    a->cells = 1;
    a->routing.acts = a->acts;
    a->routing.would = a->would;
    ek_list_init(&a->list);
    ek_buf_init(&a->scratch, 0);
    int rc = read_plan(a, json, length, e);
    if (rc)
        ek_applier_free(a);
    else
        *out = a;
    return rc;
}

void ek_applier_free(struct ek_applier *a)
{
    if (!a)
        return;
    for (int i = 0; i < a->plan.count; i++)
        ek_plan_unit_release(&a->unit[i]);
    ek_list_release(&a->list);
    ek_buf_release(&a->scratch);
    yyjson_doc_free(a->json);
    ek_free(a->unit);
    ek_free(a->values);
    ek_free(a);
}

/* Return whether a value is among those that have a segment of their own. */
static bool is_excepted(const struct cell *c, const char *value)
{
    size_t i, max;
    yyjson_val *one;
    yyjson_arr_foreach(c->except, i, max, one)
    {
        if (is_same(yyjson_get_str(one), value))
            return true;
    }
    return false;
}

/* Set cells [PLACES] to those of the list, -1: none. */
static void find_cells(const struct ek_applier *a, const struct ek_list *l, int16_t *cells)
{
    cells[0] = 0;
    for (int i = 1; i < PLACES; i++)
        cells[i] = -1;
    for (int i = 1; i < a->cells; i++) {
        const struct cell *c = &a->cell[i];
        struct ek_text value = ek_list_segment(l, c->dimension);
        bool own = value.text && c->value && !ek_text_compare(value, c->value);
        bool other = value.text && !c->value && !is_excepted(c, value.text);
        if (own || (other && cells[c->place] < 0))
            cells[c->place] = (int16_t)i;
    }
}

static void set_list(struct ek_list *l, const struct ek_array_list *from)
{
    l->id = ek_text_from(from->id);
    l->time_ms = from->time_ms > 0 ? from->time_ms : -1;
    l->segment_count = (int)from->segments;
    for (size_t s = 0; s < from->segments; s++)
        l->segments[s] = (struct ek_segment){ek_text_from(from->segment[s].name),
                                             ek_text_from(from->segment[s].value)};
}

/* Set the list to one feature of the arrays, with the query features of its unit. */
static int load(struct ek_applier *a, const struct ek_plan_unit *u,
                const struct ek_array_list *from, struct ek_error *e)
{
    const struct ek_manifest *m = u->assets.manifest;
    struct ek_list *l = &a->list;
    const float *x = from->features + (size_t)u->index * from->feature_stride;
    int rc = ek_list_resize(l, (int)from->items, 1, m->query_count);
    if (rc)
        return ek_fail(e, rc, rc == EK_ENOMEM ? "out of memory" : "'items' is too large");
    set_list(l, from);
    for (size_t i = 0; i < from->items; i++) {
        l->x[i] = x[i * from->item_stride];
        l->item_id[i] = ek_text_from(from->item_id ? from->item_id[i] : NULL);
    }
    for (int q = 0; q < m->query_count - m->derived_count; q++)
        l->query[q] = from->query_features[u->query[q]];
    ek_list_derive(l, m);
    if (from->items <= a->room)
        return EK_OK;
    double *values = ek_realloc(a->values, from->items, sizeof *values);
    if (!values)
        return out_of_memory(e);
    a->values = values;
    a->room = from->items;
    return EK_OK;
}

static bool is_changed(float before, double after)
{
    return (double)before != after && !(isnan(before) && isnan(after));
}

/* Write the repaired values to the arrays; others keep their bits. */
static void store(const struct ek_applier *a, const struct ek_plan_unit *u,
                  const struct ek_array_list *to)
{
    float *x = to->features + (size_t)u->index * to->feature_stride;
    for (size_t i = 0; i < to->items; i++)
        if (is_changed(a->list.x[i], a->values[i]))
            x[i * to->item_stride] = (float)a->values[i];
}

static int apply_entry(struct ek_applier *a, int i, const struct ek_array_list *list,
                       size_t *changed, struct ek_error *e)
{
    const struct ek_plan_entry *entry = &a->plan.entry[i];
    struct ek_plan_unit *u = &a->unit[i];
    char scratch[EK_STRATUM_TEXT];
    int rc = load(a, u, list, e);
    if (rc)
        return rc;
    struct ek_text stratum = ek_stratum_name(&u->field, &a->list, scratch);
    const struct ek_feature_list l = {
        .assets = &u->assets,
        .query = &a->list,
        .stratum =
            stratum.text ? ek_profile_stratum(u->assets.profile, stratum.text, stratum.length) : 0,
        .treatment = &a->acts[entry->feature],
        .repair = &entry->repair};
    rc = ek_feature_writer_values(u->writer, &l, a->values, &a->scratch, e);
    if (rc || !ek_feature_writer_changed(u->writer))
        return rc;
    *changed += ek_feature_writer_changed(u->writer);
    store(a, u, list);
    return EK_OK;
}

/* Return whether an entry repairs values of the current list. */
static bool acts(const struct ek_applier *a, int i)
{
    const struct ek_plan_entry *entry = &a->plan.entry[i];
    return ek_routing_has(&a->routing, i) && a->unit[i].writer &&
           a->acts[entry->feature].action != EK_ACT_NONE;
}

static int check(const struct ek_applier *a, const struct ek_array_list *l, struct ek_error *e)
{
    for (int i = 0; i < a->plan.count; i++) {
        const struct ek_plan_unit *u = &a->unit[i];
        const struct ek_manifest *m = u->assets.manifest;
        if (!u->of_query && (size_t)u->index >= l->feature_count)
            return ek_fail(e, EK_EUSAGE,
                           "'feature_count' is %zu, but feature '%s' of the plan has index %d",
                           l->feature_count, u->feature, u->index);
        for (int q = 0; m && q < m->query_count - m->derived_count; q++)
            if ((size_t)u->query[q] >= l->query_count)
                return ek_fail(
                    e, EK_EUSAGE,
                    "'query_count' is %zu, but query feature '%s' of the plan has index %d",
                    l->query_count, m->query[q]->name, u->query[q]);
    }
    if (l->segments > EK_SEGMENTS_MAX)
        return ek_fail(e, EK_EUSAGE, "'segments' is %zu, the limit is %d", l->segments,
                       EK_SEGMENTS_MAX);
    if (l->items > INT32_MAX)
        return ek_fail(e, EK_EUSAGE, "'items' is %zu, the limit is %d", l->items, INT32_MAX);
    return EK_OK;
}

int ek_plan_apply(struct ek_applier *a, const struct ek_array_list *list, size_t *changed,
                  struct ek_error *e)
{
    int16_t cells[PLACES];
    size_t count = 0;
    int rc = check(a, list, e);
    if (changed)
        *changed = 0;
    if (rc || !a->plan.count)
        return rc;
    set_list(&a->list, list);
    find_cells(a, &a->list, cells);
    int bucket = list->id && *list->id ? ek_canary_bucket(&a->list) : EK_PERCENT_WHOLE;
    const struct ek_plan_list l = {cells, PLACES, bucket, false};
    ek_plan_treat(&a->plan, &l, a->slot, a->features, &a->routing);
    for (int i = 0; !rc && i < a->plan.count; i++)
        if (acts(a, i))
            rc = apply_entry(a, i, list, &count, e);
    if (changed)
        *changed = count;
    return rc;
}
