#include "offline/world/synthetic_lists.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/rng.h"
#include "offline/fit/profile_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    VALUES = 3, /* per dimension, unless tests name more */
    VALUES_MAX = 64,
    DIMENSIONS = EK_DIMENSIONS_MAX + 1, /* segment dimensions plus the baseline */
    CODES = 6,
    ID_BYTES = 24,
    LIST_MS = 1000,
    STREAM_FEATURES = 0,
    STREAM_STRATA = 1,
    STREAM_LISTS = 2
};

static const int64_t START_MS = 1790000000000;
static const uint64_t TRAINING_FROM = UINT64_C(1) << 40;

enum kind { NUMBER, FLAG, CODE };

struct measured { /* an item feature */
    enum kind kind;
    double of_list, of_item; /* sd of ln x between lists, and within one */
    double zeros, missing;   /* fractions of the items */
};

struct dimension {
    char *name, *value[VALUES_MAX];
    int values;
};

struct ek_synthetic_lists {
    const struct ek_manifest *m;
    uint64_t seed;
    const char *baseline;  /* field to stratify by; NULL: none */
    struct measured *item; /* [F] */
    double *level;         /* [VALUES_MAX, F], ln, by stratum */
    struct dimension dimension[DIMENSIONS];
    int dimensions;
    int by_dimension, by_query; /* index of the baseline, or -1 */
    char query_id[ID_BYTES], (*item_id)[ID_BYTES];
};

static int out_of_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

/* Return the index of a dimension, which is added if it is new; -1 if out of memory. */
static int dimension_of(struct ek_synthetic_lists *w, const char *name)
{
    for (int i = 0; i < w->dimensions; i++)
        if (!strcmp(w->dimension[i].name, name))
            return i;
    char *copy = ek_strdup(name);
    if (!copy)
        return -1;
    w->dimension[w->dimensions].name = copy;
    return w->dimensions++;
}

static int add_value(struct dimension *d, const char *value)
{
    for (int i = 0; i < d->values; i++)
        if (!strcmp(d->value[i], value))
            return EK_OK;
    if (d->values == VALUES_MAX)
        return EK_OK; /* a test that names it finds no lists and fails */
    d->value[d->values] = ek_strdup(value);
    return d->value[d->values] ? (d->values++, EK_OK) : EK_ENOMEM;
}

/* Add a segment value from the rules; no effect for an unknown dimension. */
static int add_named(struct ek_synthetic_lists *w, const char *dimension, const char *value)
{
    for (int i = 0; i < w->dimensions; i++)
        if (dimension && value && !strcmp(w->dimension[i].name, dimension))
            return add_value(&w->dimension[i], value);
    return EK_OK;
}

static int fill_up(struct dimension *d)
{
    int rc = EK_OK;
    for (char name[] = "a"; !rc && d->values < VALUES; name[0]++)
        rc = add_value(d, name);
    return rc;
}

static int make_dimensions(struct ek_synthetic_lists *w, const struct ek_rules *rules)
{
    w->by_dimension = w->by_query = -1;
    for (int i = 0; i < rules->segment_count; i++)
        if (dimension_of(w, rules->segment[i]) < 0)
            return EK_ENOMEM;
    if (w->baseline && (w->by_query = ek_manifest_query(w->m, w->baseline)) < 0 &&
        (w->by_dimension = dimension_of(w, w->baseline)) < 0)
        return EK_ENOMEM;
    int rc = EK_OK;
    for (const struct ek_rules_test *t = rules->test; !rc && t < rules->test + rules->test_count;
         t++) {
        rc = add_named(w, t->dimension, t->value);
        if (!rc)
            rc = add_named(w, t->found_dimension, t->found_value);
    }
    for (int i = 0; !rc && i < w->dimensions; i++)
        rc = fill_up(&w->dimension[i]);
    return rc;
}

static struct measured measured_of(const struct ek_feature *f, struct ek_rng *r)
{
    struct measured x = {.kind = NUMBER,
                         .of_list = .04 + .08 * ek_rng_uniform(r),
                         .of_item = .15 + .25 * ek_rng_uniform(r)};
    if (f->type == EK_TYPE_CATEGORY)
        x.kind = CODE;
    else if (f->unit && !strcmp(f->unit, "flag"))
        x.kind = FLAG;
    x.zeros = f->positive || x.kind != NUMBER ? 0 : 1. / 30;
    x.missing = f->missing_expected ? 1. / 12 : 0;
    return x;
}

static void make_features(struct ek_synthetic_lists *w)
{
    struct ek_rng r;
    int features = w->m->item_count;
    for (int f = 0; f < features; f++) {
        ek_rng_seed_stream(&r, w->seed + (uint64_t)f, STREAM_FEATURES);
        w->item[f] = measured_of(w->m->item[f], &r);
        ek_rng_seed_stream(&r, w->seed + (uint64_t)f, STREAM_STRATA);
        for (int s = 0; s < VALUES_MAX; s++)
            w->level[s * features + f] = log(EK_SYNTHETIC_LEVEL) + .25 * ek_rng_normal(&r);
    }
}

int ek_synthetic_lists_new(struct ek_synthetic_lists **out, const struct ek_manifest *m,
                           const struct ek_rules *rules, uint64_t seed, struct ek_error *e)
{
    struct ek_synthetic_lists *w = ek_calloc(1, sizeof *w);
    if (!w)
        return out_of_memory(e);
    w->m = m;
    w->seed = seed;
    w->baseline = rules->stratify_by;
    w->item = ek_calloc((size_t)m->item_count, sizeof *w->item);
    w->level = ek_calloc((size_t)m->item_count, VALUES_MAX * sizeof *w->level);
    w->item_id = ek_calloc(EK_SYNTHETIC_ITEMS_MAX, sizeof *w->item_id);
    if (!w->item || !w->level || !w->item_id || make_dimensions(w, rules)) {
        ek_synthetic_lists_free(w);
        return out_of_memory(e);
    }
    make_features(w);
    *out = w;
    return EK_OK;
}

void ek_synthetic_lists_free(struct ek_synthetic_lists *w)
{
    if (!w)
        return;
    for (int i = 0; i < w->dimensions; i++) {
        for (int v = 0; v < w->dimension[i].values; v++)
            ek_free(w->dimension[i].value[v]);
        ek_free(w->dimension[i].name);
    }
    ek_free(w->item);
    ek_free(w->level);
    ek_free(w->item_id);
    ek_free(w);
}

/* Return a code; the first is the most frequent, and none is rare. */
static double draw_code(struct ek_rng *r)
{
    static const double up_to[CODES] = {.3, .52, .7, .83, .93, 1};
    double u = ek_rng_uniform(r);
    int code = 0;
    while (u >= up_to[code])
        code++;
    return code + 1;
}

static double draw_value(struct ek_rng *r, const struct measured *x, double level)
{
    double ln = level + x->of_item * ek_rng_normal(r), odd = ek_rng_uniform(r);
    if (odd < x->missing)
        return NAN;
    if (x->kind == CODE)
        return draw_code(r);
    if (x->kind == FLAG)
        return ek_rng_uniform(r) < .4;
    return odd > 1 - x->zeros ? 0 : exp(ln);
}

static void draw_items(const struct ek_synthetic_lists *w, struct ek_rng *r, const double *level,
                       struct ek_list *q)
{
    int features = w->m->item_count;
    for (int f = 0; f < features; f++) {
        double of_list = level[f] + w->item[f].of_list * ek_rng_normal(r);
        for (int k = 0; k < q->items; k++)
            q->x[k * features + f] = (float)draw_value(r, &w->item[f], of_list);
    }
}

static void draw_query(const struct ek_synthetic_lists *w, struct ek_rng *r, struct ek_list *q)
{
    for (int i = 0; i < w->m->query_count; i++) {
        const struct ek_feature *f = w->m->query[i];
        if (i == w->by_query)
            q->query[i] = (float)(1 + ek_rng_uniform_int(r, VALUES));
        else if (f->unit && !strcmp(f->unit, "flag"))
            q->query[i] = ek_rng_uniform(r) < .4F ? 1 : 0;
        else
            q->query[i] = (float)(1 + ek_rng_uniform_int(r, 7));
    }
    ek_list_derive(q, w->m);
}

/* Draw the segment values. Return the stratum. */
static int draw_segments(const struct ek_synthetic_lists *w, struct ek_rng *r, struct ek_list *q)
{
    int stratum = 0;
    q->segment_count = w->dimensions;
    for (int i = 0; i < w->dimensions; i++) {
        const struct dimension *d = &w->dimension[i];
        int value = (int)ek_rng_uniform_int(r, (uint64_t)d->values);
        q->segments[i] = (struct ek_segment){ek_text_from(d->name), ek_text_from(d->value[value])};
        if (i == w->by_dimension)
            stratum = value;
    }
    return w->by_query >= 0 ? (int)q->query[w->by_query] - 1 : stratum;
}

static void name_list(struct ek_synthetic_lists *w, struct ek_rng *r, uint64_t i, struct ek_list *q)
{
    snprintf(w->query_id, sizeof w->query_id, "q-%llu", (unsigned long long)i);
    q->id = ek_text_from(w->query_id);
    q->time_ms = START_MS + (int64_t)(i % TRAINING_FROM) * LIST_MS;
    for (int k = 0; k < q->items; k++) {
        snprintf(w->item_id[k], ID_BYTES, "i-%llx", (unsigned long long)(ek_rng_u64(r) >> 8));
        q->item_id[k] = ek_text_from(w->item_id[k]);
        q->score[k] = NAN;
        q->place[k] = (struct ek_place){0, 0};
    }
    q->has_label = false;
}

int ek_synthetic_lists_list(struct ek_synthetic_lists *w, uint64_t i, struct ek_list *q,
                            struct ek_error *e)
{
    struct ek_rng r;
    ek_rng_seed_stream(&r, w->seed, STREAM_LISTS + i);
    int items = EK_SYNTHETIC_ITEMS_MIN +
                (int)ek_rng_uniform_int(&r, EK_SYNTHETIC_ITEMS_MAX - EK_SYNTHETIC_ITEMS_MIN + 1);
    if (ek_list_resize(q, items, w->m->item_count, w->m->query_count))
        return out_of_memory(e);
    draw_query(w, &r, q);
    int stratum = draw_segments(w, &r, q);
    draw_items(w, &r, w->level + stratum * w->m->item_count, q);
    name_list(w, &r, i, q);
    return EK_OK;
}

int ek_synthetic_lists_profile(struct ek_synthetic_lists *w, struct ek_profile **out,
                               struct ek_error *e)
{
    struct ek_profile_fit *fit;
    struct ek_list q;
    int rc = ek_profile_fit_new(&fit, w->m, w->baseline, e);
    if (rc)
        return rc;
    ek_list_init(&q);
    for (uint64_t i = 0; !rc && i < EK_SYNTHETIC_TRAINING; i++) {
        rc = ek_synthetic_lists_list(w, TRAINING_FROM + i, &q, e);
        if (!rc)
            rc = ek_profile_fit_add(fit, &q, e);
    }
    if (!rc)
        rc = ek_profile_fit_finish(fit, out, e);
    ek_list_release(&q);
    ek_profile_fit_free(fit);
    return rc;
}

void ek_sources_draw(uint8_t *source, int items, int sources, uint64_t number, uint64_t seed)
{
    static const char name[] = "source";
    uint64_t own = ek_hash(name, sizeof name - 1, seed);
    for (int k = 0; k < items; k++) {
        uint8_t bytes[2 * sizeof number];
        for (size_t i = 0; i < sizeof number; i++) {
            bytes[i] = (uint8_t)(number >> (8 * i));
            bytes[sizeof number + i] = (uint8_t)((uint64_t)k >> (8 * i));
        }
        source[k] = (uint8_t)(ek_hash(bytes, sizeof bytes, own) % (uint64_t)sources);
    }
}
