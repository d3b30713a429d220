#include "offline/scale/osm.h"

#include "base/alloc.h"
#include "offline/scale/scaling.h"

#include <math.h>
#include <string.h>

/* Training or validation lists: the rows for the ranker, and both scalings as sources of columns.
 */
struct side {
    const struct ek_dataset *lists;
    float *x, *minmax, *log; /* [N, F] */
};

struct judge {
    const struct ek_osm_options *o;
    struct side train, vali;
    double *w;             /* [F] */
    double *score, *spare; /* [longest list of vali] */
    int *order;            /* [longest list of vali] */
    int done, of;
};

void ek_osm_defaults(struct ek_osm_options *o)
{
    *o = (struct ek_osm_options){.empty = EK_EMPTY_SKIP};
    ek_rank_svm_defaults(&o->svm);
}

static bool is_category(const struct ek_osm_options *o, size_t feature)
{
    return o->category && o->category[feature];
}

/* Return the number of features to switch. */
static int switches(const struct ek_osm_options *o, int features)
{
    int n = 0;
    for (int f = 0; f < features; f++)
        n += !is_category(o, (size_t)f);
    return n;
}

static size_t longest(const struct ek_dataset *d)
{
    size_t most = 0;
    for (size_t i = 0; i < d->lists; i++) {
        size_t n = d->offset[i + 1] - d->offset[i];
        most = n > most ? n : most;
    }
    return most;
}

/* Scale the rows of a side. scale [F] is that of `log`; categories are unscaled in it. */
static int side_init(struct side *s, const struct ek_dataset *lists,
                     const enum ek_transform_kind *scale, const struct ek_scaling *minmax,
                     const struct ek_scaling *log)
{
    size_t width = (size_t)lists->item_features;
    s->lists = lists;
    s->x = ek_calloc(lists->items, width * sizeof *s->x);
    s->minmax = ek_calloc(lists->items, width * sizeof *s->x);
    s->log = ek_calloc(lists->items, width * sizeof *s->x);
    if (!s->x || !s->minmax || !s->log)
        return EK_ENOMEM;
    ek_scaling_apply(minmax, lists->x, lists->items, 0, s->minmax);
    ek_scaling_apply(log, lists->x, lists->items, 0, s->log);
    ek_scaling_clear_unscaled(minmax, scale, lists->item_features, lists->items, s->minmax);
    memcpy(s->x, s->minmax, lists->items * width * sizeof *s->x);
    return EK_OK;
}

static void side_release(struct side *s)
{
    ek_free(s->x);
    ek_free(s->minmax);
    ek_free(s->log);
}

static void scale_column(struct side *s, const float *from, size_t feature)
{
    size_t width = (size_t)s->lists->item_features;
    for (size_t i = feature; i < s->lists->items * width; i += width)
        s->x[i] = from[i];
}

static void switch_to(struct judge *j, int feature, bool log)
{
    scale_column(&j->train, log ? j->train.log : j->train.minmax, (size_t)feature);
    scale_column(&j->vali, log ? j->vali.log : j->vali.minmax, (size_t)feature);
}

static double map_of_list(const struct judge *j, size_t list)
{
    static const struct ek_metric MAP = {EK_MAP, 0};
    const struct ek_dataset *d = j->vali.lists;
    size_t from = d->offset[list], n = d->offset[list + 1] - from;
    size_t width = (size_t)d->item_features;
    for (size_t i = 0; i < n; i++) {
        const float *x = j->vali.x + (from + i) * width;
        j->score[i] = 0;
        for (size_t f = 0; f < width; f++)
            j->score[i] += j->w[f] * (double)x[f];
    }
    ek_rank(j->score, (int)n, j->order);
    return ek_metric_compute(MAP, EK_GAIN_EXP, j->order, d->label + from, (int)n, 0, j->spare);
}

/* Train on the current rows and set *out to the validation MAP. */
static int measure(struct judge *j, double *out, struct ek_error *e)
{
    struct ek_metric_mean mean = {0};
    int rc = ek_rank_svm(j->train.lists, j->train.x, (size_t)j->train.lists->item_features,
                         &j->o->svm, j->w, NULL, e);
    if (rc)
        return rc;
    for (size_t i = 0; i < j->vali.lists->lists; i++)
        ek_metric_add(&mean, map_of_list(j, i), j->o->empty);
    *out = ek_metric_result(&mean);
    if (isnan(*out))
        return ek_fail(e, EK_EUSAGE, "no validation list has a relevant item");
    if (j->o->progress && j->o->progress(j->o->context, ++j->done, j->of, *out))
        return ek_fail(e, EK_ESTATE, "stopped after %d of %d trainings", j->done, j->of);
    return EK_OK;
}

static int try_all(struct judge *j, int features, enum ek_transform_kind *scale, double *map,
                   struct ek_error *e)
{
    double best, with = 0;
    int rc = measure(j, &best, e);
    if (!rc && map)
        map[features] = best;
    for (int f = 0; f < features && !rc; f++) {
        if (is_category(j->o, (size_t)f)) {
            scale[f] = EK_SCALE_NONE;
            if (map)
                map[f] = best;
            continue;
        }
        switch_to(j, f, true);
        rc = measure(j, &with, e);
        bool better = !rc && with > best;
        scale[f] = better ? EK_SCALE_LOG : EK_SCALE_MINMAX;
        if (map)
            map[f] = with;
        if (better)
            best = with;
        else
            switch_to(j, f, false);
    }
    return rc;
}

static int prepare(struct judge *j, const struct ek_dataset *train, const struct ek_dataset *vali,
                   enum ek_transform_kind *scale, struct ek_error *e)
{
    struct ek_scaling *fit[2] = {NULL, NULL};
    static const enum ek_transform_kind WHICH[2] = {EK_SCALE_MINMAX, EK_SCALE_LOG};
    size_t n = longest(vali), features = (size_t)train->item_features;
    int rc = EK_OK;
    for (int i = 0; i < 2 && !rc; i++) {
        for (size_t f = 0; f < features; f++)
            scale[f] = is_category(j->o, f) ? EK_SCALE_NONE : WHICH[i];
        rc = ek_scaling_get(&fit[i], train, scale, e);
    }
    j->w = ek_calloc(features, sizeof *j->w);
    j->score = ek_calloc(n, sizeof *j->score);
    j->spare = ek_calloc(n, sizeof *j->spare);
    j->order = ek_calloc(n, sizeof *j->order);
    if (!rc && (!j->w || !j->score || !j->spare || !j->order ||
                side_init(&j->train, train, scale, fit[0], fit[1]) ||
                side_init(&j->vali, vali, scale, fit[0], fit[1])))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    ek_scaling_free(fit[0]);
    ek_scaling_free(fit[1]);
    return rc;
}

int ek_osm(const struct ek_dataset *train, const struct ek_dataset *vali,
           const struct ek_osm_options *o, enum ek_transform_kind *scale, double *map,
           struct ek_error *e)
{
    struct judge j = {.o = o, .of = switches(o, train->item_features) + 1};
    size_t features = (size_t)train->item_features;
    enum ek_transform_kind *chosen = ek_calloc(features, sizeof *chosen);
    int rc = chosen ? prepare(&j, train, vali, chosen, e) : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = try_all(&j, train->item_features, chosen, map, e);
    if (!rc)
        memcpy(scale, chosen, features * sizeof *scale);
    side_release(&j.train);
    side_release(&j.vali);
    ek_free(j.w);
    ek_free(j.score);
    ek_free(j.spare);
    ek_free(j.order);
    ek_free(chosen);
    return rc;
}
