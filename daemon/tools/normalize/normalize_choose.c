#include "daemon/base/command.h"
#include "daemon/tools/normalize/normalize.h"

#include "base/alloc.h"

#include <math.h>

/* Add `n` values to a histogram with a known range. */
static void count(struct ek_histogram *h, double x, double n)
{
    double at = h->high > h->low ? (x - h->low) / (h->high - h->low) * EK_NORMALIZE_BINS : 0;
    int bin = at < 0 ? 0 : at >= EK_NORMALIZE_BINS ? EK_NORMALIZE_BINS - 1 : (int)at;
    h->count[bin] += n;
}

/* Fill from the raw values (scaling NULL), or from one column of the scaled values. */
static void fill(struct ek_histogram *h, const struct ek_values *v,
                 const struct ek_scaling *scaling, int feature, int column)
{
    *h = (struct ek_histogram){.low = NAN, .high = NAN};
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < v->entries; i++) {
            double x = (double)v->value[i].x;
            if (scaling)
                x = ek_scaling_value(scaling, feature, column, x);
            if (pass)
                count(h, x, v->value[i].count);
            else {
                h->low = fmin(h->low, x); /* fmin ignores NaN */
                h->high = fmax(h->high, x);
            }
        }
}

/* Set the method if none is set. */
static void decide(struct ek_choice *c, enum ek_method method)
{
    if (c->feature->type == EK_TYPE_CATEGORY) {
        c->scale = EK_SCALE_NONE;
        snprintf(c->why, sizeof c->why, "a category is not scaled");
    } else if (method == EK_METHOD_FDM) {
        c->scale = c->fdm.scale;
        ek_fdm_reason(&c->fdm, c->why, sizeof c->why);
    } else if (method != EK_METHOD_OSM) {
        c->scale = ek_method_scale(method);
        snprintf(c->why, sizeof c->why, "%s for all", ek_transform_kind_name(c->scale));
    }
}

static int choose_one(struct ek_choices *c, int f, const struct ek_values *v, struct ek_error *e)
{
    struct ek_choice *one = &c->of[f];
    ek_fdm(v, &one->fdm);
    one->missing = v->missing;
    one->count = v->count;
    decide(one, c->method);
    int rc = ek_scaling_fit(c->scaling, f, one->scale, v, e);
    if (rc)
        return rc;
    fill(&one->before, v, NULL, f, 0);
    for (int i = 0; i < ek_scale_columns(one->scale); i++)
        fill(&one->after[i], v, c->scaling, f, i);
    return EK_OK;
}

static int choose_all(struct ek_choices *c, const struct ek_profile *profile,
                      const struct ek_dataset *train, struct ek_error *e)
{
    struct ek_progress progress;
    size_t width = (size_t)c->manifest->item_count;
    int rc = EK_OK;
    ek_progress_start(&progress, "choosing");
    for (size_t f = 0; f < width && !rc; f++) {
        struct ek_values v = {0};
        rc = profile ? ek_values_from_sketch(&v, profile->sketch[f], e)
                     : ek_values_from_column(&v, train->x + f, train->items, width, e);
        if (!rc)
            rc = choose_one(c, (int)f, &v, e);
        ek_values_release(&v);
        ek_progress_update(&progress, f + 1, width, c->manifest->item[f]->name);
    }
    return rc;
}

/* Set `part` to lists from .. to of `all`. Only its offsets are its own; the rest are views. */
static int part_of(const struct ek_dataset *all, size_t from, size_t to, struct ek_dataset *part)
{
    size_t first = all->offset[from];
    *part = *all;
    part->lists = to - from;
    part->items = all->offset[to] - first;
    part->x = all->x + first * (size_t)all->item_features;
    part->label = all->label + first;
    part->offset = ek_calloc(part->lists + 1, sizeof *part->offset);
    for (size_t i = 0; part->offset && i <= part->lists; i++)
        part->offset[i] = all->offset[from + i] - first;
    return part->offset ? EK_OK : EK_ENOMEM;
}

static int show(void *context, int done, int of, double map)
{
    char note[80];
    snprintf(note, sizeof note, "%d of %d trainings, MAP %.4f", done, of, map);
    ek_progress_update(context, (uint64_t)done, (uint64_t)of, note);
    return 0;
}

/* map [F + 1] as from ek_osm: each switch is compared with the previous best. */
static void note_switches(const struct ek_choices *c, const enum ek_transform_kind *scale,
                          const double *map)
{
    int features = c->manifest->item_count;
    double before = map[features];
    for (int f = 0; f < features; f++) {
        struct ek_choice *one = &c->of[f];
        one->scale = scale[f];
        snprintf(one->why, sizeof one->why, "MAP %.4f with log, %.4f without", map[f], before);
        before = fmax(before, map[f]);
    }
}

void ek_normalize_categories(const struct ek_manifest *m, bool *mask)
{
    for (int f = 0; f < m->item_count; f++)
        mask[f] = m->item[f]->type == EK_TYPE_CATEGORY;
}

static int try_switches(const struct ek_choices *c, const struct ek_normalize_args *a,
                        const struct ek_dataset *train, const struct ek_dataset *vali,
                        struct ek_error *e)
{
    struct ek_progress progress;
    struct ek_osm_options o;
    size_t features = (size_t)c->manifest->item_count;
    enum ek_transform_kind *scale = ek_calloc(features, sizeof *scale);
    double *map = ek_calloc(features + 1, sizeof *map);
    bool *category = ek_calloc(features, sizeof *category);
    ek_osm_defaults(&o);
    o.empty = a->empty;
    o.progress = show;
    o.context = &progress;
    ek_progress_start(&progress, "osm");
    o.category = category;
    if (category)
        ek_normalize_categories(c->manifest, category);
    int rc = scale && map && category ? ek_osm(train, vali, &o, scale, map, e)
                                      : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        note_switches(c, scale, map);
    ek_free(scale);
    ek_free(map);
    ek_free(category);
    return rc;
}

static int osm(const struct ek_choices *c, const struct ek_normalize_args *a,
               const struct ek_dataset *train, const struct ek_dataset *vali, struct ek_error *e)
{
    struct ek_dataset kept, held_out;
    if (vali)
        return try_switches(c, a, train, vali, e);
    size_t cut = train->lists - train->lists / 5;
    if (cut == train->lists)
        return ek_fail(e, EK_EUSAGE, "%zu lists are too few to hold out a fifth; use --vali",
                       train->lists);
    int rc = part_of(train, 0, cut, &kept), failed = part_of(train, cut, train->lists, &held_out);
    rc = rc || failed ? ek_fail(e, EK_ENOMEM, "out of memory")
                      : try_switches(c, a, &kept, &held_out, e);
    ek_free(kept.offset);
    ek_free(held_out.offset);
    return rc;
}

int ek_choices_make(struct ek_choices *c, const struct ek_normalize_args *a,
                    const struct ek_manifest *m, const struct ek_profile *profile,
                    const struct ek_dataset *train, const struct ek_dataset *vali,
                    struct ek_error *e)
{
    size_t features = (size_t)m->item_count;
    *c = (struct ek_choices){
        .manifest = m,
        .method = a->method,
        .of = ek_calloc(features, sizeof *c->of),
        .lists = profile ? profile->queries : train->lists,
        .items = profile ? profile->items : train->items,
    };
    int rc = c->of ? ek_scaling_new(&c->scaling, m->item_count, e)
                   : ek_fail(e, EK_ENOMEM, "out of memory");
    for (size_t f = 0; f < features && !rc; f++)
        c->of[f].feature = m->item[f];
    if (!rc && a->method == EK_METHOD_OSM)
        rc = osm(c, a, train, vali, e);
    if (!rc)
        rc = choose_all(c, profile, train, e);
    return rc;
}

void ek_choices_release(struct ek_choices *c)
{
    ek_free(c->of);
    ek_scaling_free(c->scaling);
}
