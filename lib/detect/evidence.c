#include "detect/evidence.h"

#include "base/alloc.h"
#include "base/error.h"
#include "detect/evidence_export.h"

#include <math.h>
#include <string.h>

static const float TRAINING_LISTS = 20; /* weight of training, in lists */

struct bet_sums {
    float sum[EK_BETS]; /* of the bets, calibrated by training */
    uint32_t lists;
};

/* R before the list, and factors of the cell, for ek_cell_calibration_update. */
struct pending {
    float before[EK_BETS], own[EK_BETS];
};

struct ek_cell_calibration {
    int features, cells;
    struct bet_sums *sums;       /* [cells, features] */
    struct pending *pending;     /* [features] */
    float (*bet_scale)[EK_BETS]; /* [features] */
};

int ek_cell_calibration_new(struct ek_cell_calibration **out, int features)
{
    struct ek_cell_calibration *h = ek_calloc(1, sizeof *h);
    if (!h)
        return EK_ENOMEM;
    h->features = features;
    h->pending = ek_calloc((size_t)features, sizeof *h->pending);
    h->bet_scale = ek_calloc((size_t)features, sizeof *h->bet_scale);
    if (!h->pending || !h->bet_scale) {
        ek_cell_calibration_free(h);
        return EK_ENOMEM;
    }
    *out = h;
    return EK_OK;
}

void ek_cell_calibration_free(struct ek_cell_calibration *h)
{
    if (!h)
        return;
    ek_free(h->sums);
    ek_free(h->pending);
    ek_free(h->bet_scale);
    ek_free(h);
}

int ek_cell_calibration_reserve(struct ek_cell_calibration *h, int cells)
{
    size_t before = (size_t)h->cells * (size_t)h->features;
    size_t after = (size_t)cells * (size_t)h->features;
    if (cells <= h->cells)
        return EK_OK;
    struct bet_sums *sums = ek_realloc(h->sums, after, sizeof *sums);
    if (!sums)
        return EK_ENOMEM;
    memset(sums + before, 0, (after - before) * sizeof *sums);
    h->sums = sums;
    h->cells = cells;
    return EK_OK;
}

void ek_cell_calibration_reset(struct ek_cell_calibration *h, int cell)
{
    size_t features = (size_t)h->features;
    memset(h->sums + (size_t)cell * features, 0, features * sizeof *h->sums);
}

static struct bet_sums *cell_sums(const struct ek_cell_calibration *h, int cell)
{
    return h->sums + (size_t)cell * (size_t)h->features;
}

const float (*ek_cell_calibration_get(struct ek_cell_calibration *h, int cell,
                                      const struct ek_evidence_list *list))[EK_BETS]
{
    for (int f = 0; f < h->features; f++) {
        if (!ek_is_evident(list->evident, f))
            continue;
        const struct bet_sums *sums = &cell_sums(h, cell)[f];
        struct pending *w = &h->pending[f];
        memcpy(w->before, ek_evidence_r(list->cells, cell, f), sizeof w->before);
        for (int i = 0; i < EK_BETS; i++) {
            float mean = (sums->sum[i] + TRAINING_LISTS) / ((float)sums->lists + TRAINING_LISTS);
            w->own[i] = 1 / (mean > 1 ? mean : 1);
            h->bet_scale[f][i] = list->bet_scale[f][i] * w->own[i];
        }
    }
    return (const float(*)[EK_BETS])h->bet_scale;
}

void ek_cell_calibration_update(struct ek_cell_calibration *h, int cell,
                                const struct ek_evidence_list *list)
{
    for (int f = 0; f < h->features; f++) {
        if (!ek_is_evident(list->evident, f))
            continue;
        struct bet_sums *sums = &cell_sums(h, cell)[f];
        const struct pending *w = &h->pending[f];
        const float *r = ek_evidence_r(list->cells, cell, f);
        for (int i = 0; i < EK_BETS; i++)
            sums->sum[i] += r[i] / ((w->before[i] + 1) * w->own[i]);
        sums->lists++;
    }
}

void ek_cell_calibration_serialize(struct ek_cell_calibration *h, struct ek_serialize *s, int cell)
{
    struct bet_sums *sums = cell_sums(h, cell);
    for (int f = 0; f < h->features; f++) {
        ek_serialize_raw(s, sums[f].sum, sizeof sums[f].sum);
        ek_serialize_u32(s, &sums[f].lists);
    }
}

void ek_cell_calibration_merge(struct ek_cell_calibration *h, int cell,
                               const struct ek_cell_calibration *others, int of)
{
    struct bet_sums *to = cell_sums(h, cell);
    const struct bet_sums *from = cell_sums(others, of);
    for (int f = 0; f < h->features; f++) {
        for (int i = 0; i < EK_BETS; i++)
            to[f].sum[i] += from[f].sum[i];
        to[f].lists += from[f].lists;
    }
}

static const float LN_2 = 0.6931472f;
static const double TRACK_DAYS = 1 / 40.0;
static const float START_LISTS = 200; /* weight of the initial level of a segment, in lists */

/* Arrays are [cells, padded]. */
struct ek_evidence_cells {
    int features, padded, cells;
    float (*r)[EK_BETS];
    float *mu;
    uint32_t *queries;
    float *none;           /* [padded] zeros, the reference level of all traffic */
    float *range, *around; /* [padded] bounds of the level: of all traffic, of a segment */
};

struct ek_alarm_level ek_alarm_level_compute(double queries, int features, int dimensions)
{
    double alarm = queries * (features > 1 ? features : 1) * (1 + dimensions);
    return (struct ek_alarm_level){(float)alarm, (float)sqrt(alarm)};
}

float ek_track_lists(double lists_per_day)
{
    double lists = lists_per_day > 0 ? TRACK_DAYS * lists_per_day : EK_TRACK_LISTS;
    return (float)fmin(fmax(lists, EK_TRACK_LISTS_MIN), EK_TRACK_LISTS);
}

static float clamp(float x, float most)
{
    x = x > -most ? x : -most;
    return x < most ? x : most;
}

int ek_evidence_cells_new(struct ek_evidence_cells **out, int features)
{
    struct ek_evidence_cells *s = ek_calloc(1, sizeof *s);
    if (!s)
        return EK_ENOMEM;
    s->features = features;
    s->padded = (features + EK_BET_BLOCK - 1) / EK_BET_BLOCK * EK_BET_BLOCK;
    s->none = ek_calloc_aligned((size_t)s->padded, sizeof *s->none);
    s->range = ek_calloc_aligned((size_t)s->padded, sizeof *s->range);
    s->around = ek_calloc_aligned((size_t)s->padded, sizeof *s->around);
    if (!s->none || !s->range || !s->around) {
        ek_evidence_cells_free(s);
        return EK_ENOMEM;
    }
    for (int f = 0; f < s->padded; f++)
        s->range[f] = s->around[f] = EK_TRACK_RANGE_LN;
    *out = s;
    return EK_OK;
}

void ek_evidence_cells_free(struct ek_evidence_cells *s)
{
    if (!s)
        return;
    ek_free(s->r);
    ek_free(s->mu);
    ek_free(s->queries);
    ek_free(s->none);
    ek_free(s->range);
    ek_free(s->around);
    ek_free(s);
}

void ek_evidence_set_range(struct ek_evidence_cells *s, int feature, float range_ln)
{
    s->range[feature] = range_ln > EK_TRACK_RANGE_LN ? range_ln : EK_TRACK_RANGE_LN;
}

static float range_of(const struct ek_evidence_cells *s, int cell, int feature)
{
    return cell ? s->around[feature] : s->range[feature];
}

static size_t slot(const struct ek_evidence_cells *s, int cell, int feature)
{
    return (size_t)cell * (size_t)s->padded + (size_t)feature;
}

/* Grow an aligned array; realloc does not preserve alignment. Return 0 or EK_ENOMEM. */
static int grow(void **array, size_t before, size_t after, size_t size)
{
    void *larger = ek_calloc_aligned(after, size);
    if (!larger)
        return EK_ENOMEM;
    if (before)
        memcpy(larger, *array, before * size);
    ek_free(*array);
    *array = larger;
    return EK_OK;
}

int ek_evidence_cells_reserve(struct ek_evidence_cells *s, int cells)
{
    size_t before = slot(s, s->cells, 0), after = slot(s, cells, 0);
    if (cells <= s->cells)
        return EK_OK;
    void *r = s->r, *mu = s->mu, *queries = s->queries;
    int rc = grow(&r, before, after, sizeof *s->r);
    if (!rc)
        rc = grow(&mu, before, after, sizeof *s->mu);
    if (!rc)
        rc = grow(&queries, before, after, sizeof *s->queries);
    s->r = r;
    s->mu = mu;
    s->queries = queries;
    if (!rc)
        s->cells = cells;
    return rc;
}

void ek_evidence_cells_reset(struct ek_evidence_cells *s, int cell)
{
    size_t at = slot(s, cell, 0), count = (size_t)s->padded;
    memset(s->r + at, 0, count * sizeof *s->r);
    memset(s->mu + at, 0, count * sizeof *s->mu);
    memset(s->queries + at, 0, count * sizeof *s->queries);
}

const float *ek_evidence_r(const struct ek_evidence_cells *s, int cell, int feature)
{
    return s->r[slot(s, cell, feature)];
}

float ek_evidence_mu(const struct ek_evidence_cells *s, int cell, int feature)
{
    return s->mu[slot(s, cell, feature)];
}

uint32_t *ek_evidence_list_count(struct ek_evidence_cells *s, int cell, int feature)
{
    return &s->queries[slot(s, cell, feature)];
}

/* Block of EK_BET_BLOCK features. */
struct block {
    int first;
    uint32_t mask;
    float moved[EK_BET_BLOCK]; /* tracked levels after the list */
};

/* Check each feature of a block. Return the number of alarms. */
static int check_alarms(const struct block *b, const struct ek_evidence_list *l,
                        const struct ek_bet_cell *cell, const struct ek_alarm_level *level,
                        struct ek_alarm *alarm)
{
    int alarms = 0;
    for (int i = 0; i < EK_BET_BLOCK; i++) {
        int f = b->first + i;
        if (!(b->mask >> i & 1))
            continue;
        struct ek_bet_total total = ek_bet_total(cell->r[f], l->weight);
        if (total.level < level->hot)
            cell->mu[f] = b->moved[i];
        if (total.all >= level->alarm)
            alarm[alarms++] = (struct ek_alarm){f, ek_bet_strongest(cell->r[f], l->weight)};
    }
    return alarms;
}

/* Update a block. Return the number of alarms. The total of the lane maxima bounds the total of
 * every feature, so most blocks need no check by feature. */
static int update_block(const struct ek_evidence_list *l, const struct ek_bet_cell *cell,
                        const struct ek_alarm_level *level, int block, struct ek_alarm *alarm)
{
    struct block b = {.first = block * EK_BET_BLOCK, .mask = l->evident[block]};
    float largest[EK_BETS];
    ek_bet_step(l->bets, cell, block, b.mask, largest, b.moved);
    struct ek_bet_total total = ek_bet_total(largest, l->weight);
    if (!(total.level < level->hot && total.all < level->alarm))
        return check_alarms(&b, l, cell, level, alarm);
    memcpy(cell->mu + b.first, b.moved, sizeof b.moved);
    return 0;
}

int ek_evidence_update(const struct ek_evidence_list *l, const struct ek_alarm_level *level,
                       struct ek_alarm *alarm)
{
    struct ek_evidence_cells *s = l->cells;
    size_t at = slot(s, l->cell, 0);
    const struct ek_bet_cell cell = {
        .r = s->r + at,
        .mu = s->mu + at,
        .all = l->cell ? s->mu : s->none,
        .band = l->band,
        .queries = s->queries + at,
        .bet_scale = l->bet_scale,
        .track = {l->cell ? START_LISTS : INFINITY, LN_2 / l->track_lists, EK_TRACK_CLIP,
                  l->cell ? s->around : s->range},
        .product = l->sum ? ek_evidence_sum_products(l->sum, l->cell) : NULL,
    };
    int alarms = 0;
    for (int block = 0; block * EK_BET_BLOCK < s->features; block++)
        if (l->evident[block])
            alarms += update_block(l, &cell, level, block, alarm + alarms);
    return alarms;
}

void ek_evidence_restart(struct ek_evidence_cells *s, int cell, int feature)
{
    memset(s->r[slot(s, cell, feature)], 0, sizeof *s->r);
}

void ek_evidence_shift(struct ek_evidence_cells *s, int cell, int feature, float shift_ln)
{
    float *mu = &s->mu[slot(s, cell, feature)];
    *mu = clamp(*mu + shift_ln, range_of(s, cell, feature));
}

static void evidence_serialize(struct ek_evidence *s, struct ek_serialize *snap, float range)
{
    ek_serialize_raw(snap, s->r, sizeof s->r);
    ek_serialize_raw(snap, &s->mu, sizeof s->mu);
    ek_serialize_u32(snap, &s->queries);
    ek_serialize_require(snap, s->mu >= -range && s->mu <= range);
}

void ek_evidence_cells_serialize(struct ek_evidence_cells *s, int cell, struct ek_serialize *snap)
{
    for (int f = 0; f < s->features; f++) {
        size_t at = slot(s, cell, f);
        struct ek_evidence one = {.mu = s->mu[at], .queries = s->queries[at]};
        memcpy(one.r, s->r[at], sizeof one.r);
        evidence_serialize(&one, snap, range_of(s, cell, f));
        memcpy(s->r[at], one.r, sizeof one.r);
        s->mu[at] = one.mu;
        s->queries[at] = one.queries;
    }
}

static uint32_t sum_of(uint32_t a, uint32_t b)
{
    return a < UINT32_MAX - b ? a + b : UINT32_MAX;
}

void ek_evidence_cells_merge(struct ek_evidence_cells *s, int cell,
                             const struct ek_evidence_cells *others, int of)
{
    for (int f = 0; f < s->features; f++) {
        size_t to = slot(s, cell, f), from = slot(others, of, f);
        double here = s->queries[to], there = others->queries[from];
        for (int i = 0; i < EK_BETS; i++)
            s->r[to][i] += others->r[from][i];
        if (there > 0)
            s->mu[to] =
                clamp((float)((here * (double)s->mu[to] + there * (double)others->mu[from]) /
                              (here + there)),
                      range_of(s, cell, f));
        s->queries[to] = sum_of(s->queries[to], others->queries[from]);
    }
}
