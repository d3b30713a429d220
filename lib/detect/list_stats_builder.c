#include "detect/list_stats_builder.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "detect/dedup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct ek_stratum_field ek_stratum_field_find(const struct ek_manifest *m, const char *name)
{
    return (struct ek_stratum_field){name, name ? ek_manifest_query(m, name) : -1};
}

struct ek_text ek_stratum_name(const struct ek_stratum_field *field, const struct ek_list *q,
                               char scratch[EK_STRATUM_TEXT])
{
    if (!field->name)
        return (struct ek_text){NULL, 0};
    if (field->query_feature < 0)
        return ek_list_segment(q, field->name);
    int length = snprintf(scratch, EK_STRATUM_TEXT, "%.9g", (double)q->query[field->query_feature]);
    return (struct ek_text){scratch, (size_t)length};
}

_Static_assert((int)EK_BET_Z_BINS == EK_Z_BINS && (int)EK_BET_SPREAD_BINS == EK_SPREAD_BINS &&
                   (int)EK_BET_SIZES == EK_SIZE_CLASSES && (int)EK_BET_COUNTS == EK_SD_SIZES,
               "a list has the shapes of a baseline");

/* A list and its memory. The training tables are NULL if they belong to another list. */
struct owner {
    struct ek_bet_list list; /* must be first */
    struct ek_evalue_null *law;
    const float **table, **spread;
    float *inv_sd_of, *spread_hi;
};

static int reserve_training(struct owner *o, size_t padded)
{
    struct ek_bet_list *l = &o->list;
    l->law = o->law = ek_calloc_aligned(padded, sizeof *o->law);
    l->table = o->table = ek_calloc(padded, sizeof *o->table);
    l->spread = o->spread = ek_calloc(padded, sizeof *o->spread);
    l->inv_sd_of = o->inv_sd_of = ek_calloc_aligned(padded * EK_SD_SIZES, sizeof *o->inv_sd_of);
    l->spread_hi = o->spread_hi = ek_calloc_aligned(padded * EK_SIZE_CLASSES, sizeof *o->spread_hi);
    return o->law && o->table && o->spread && o->inv_sd_of && o->spread_hi ? EK_OK : EK_ENOMEM;
}

static int reserve_list(struct ek_bet_list *l)
{
    size_t padded = (size_t)l->padded;
    l->level = ek_calloc(padded, sizeof *l->level);
    l->r = ek_calloc_aligned(padded, sizeof *l->r);
    l->inv_sd = ek_calloc_aligned(padded, sizeof *l->inv_sd);
    l->shares = ek_calloc_aligned(padded, sizeof *l->shares);
    l->most = ek_calloc_aligned(padded, sizeof *l->most);
    return l->level && l->r && l->inv_sd && l->shares && l->most ? EK_OK : EK_ENOMEM;
}

static void fill_tables(struct owner *o, const struct ek_feature_bets *bets,
                        const struct ek_baseline *baseline)
{
    struct ek_bet_list *l = &o->list;
    for (int f = 0; f < l->features; f++) {
        ek_evalue_null_init(&o->law[f], &bets[f], &baseline[f]);
        o->table[f] = bets[f].level[0];
        o->spread[f] = bets[f].spread[0];
        for (int i = 0; i < EK_SD_SIZES; i++)
            o->inv_sd_of[i * l->padded + f] = baseline[f].inv_sd[i];
        for (int i = 0; i < EK_SIZE_CLASSES; i++)
            o->spread_hi[i * l->padded + f] = baseline[f].spread_hi[i];
        memcpy(&l->most[f][EK_BET_SHARES], o->law[f].line[0], sizeof o->law[f].line[0]);
    }
}

int ek_list_bets_new(struct ek_bet_list **out, const struct ek_bet_tables *tables,
                     const struct ek_feature_bets *bets, const struct ek_baseline *baseline,
                     int features)
{
    struct owner *o = ek_calloc(1, sizeof *o);
    if (!o)
        return EK_ENOMEM;
    struct ek_bet_list *l = &o->list;
    l->features = features;
    l->padded = (features + EK_BET_BLOCK - 1) / EK_BET_BLOCK * EK_BET_BLOCK;
    l->nothing = tables->level[EK_FAR_NOTHING][0];
    l->cap = ek_bet_caps;
    l->spread_unknown = EK_SPREAD_UNKNOWN;
    if (reserve_training(o, (size_t)l->padded) || reserve_list(l)) {
        ek_list_bets_free(l);
        return EK_ENOMEM;
    }
    fill_tables(o, bets, baseline);
    *out = l;
    return EK_OK;
}

static int copy_list_bets(struct ek_bet_list **out, const struct ek_bet_list *with)
{
    struct owner *o = ek_calloc(1, sizeof *o);
    if (!o)
        return EK_ENOMEM;
    o->list = *with;
    if (reserve_list(&o->list)) {
        ek_list_bets_free(&o->list);
        return EK_ENOMEM;
    }
    memcpy(o->list.shares, with->shares, (size_t)with->padded * sizeof *with->shares);
    memcpy(o->list.most, with->most, (size_t)with->padded * sizeof *with->most);
    *out = &o->list;
    return EK_OK;
}

void ek_list_bets_free(struct ek_bet_list *l)
{
    struct owner *o = (struct owner *)l;
    if (!l)
        return;
    ek_free(o->law);
    ek_free(o->table);
    ek_free(o->spread);
    ek_free(o->inv_sd_of);
    ek_free(o->spread_hi);
    ek_free(l->level);
    ek_free(l->r);
    ek_free(l->inv_sd);
    ek_free(l->shares);
    ek_free(l->most);
    ek_free(o);
}

static int out_of_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

static int allocate(struct ek_list_stats_builder *r)
{
    size_t features = (size_t)r->features;
    if (ek_list_moments_new(&r->sums, r->item_features))
        return EK_ENOMEM;
    r->tables = ek_calloc(1, sizeof *r->tables);
    r->pivot = ek_calloc_aligned((size_t)r->sums->padded, sizeof *r->pivot);
    r->bets = ek_calloc(features, sizeof *r->bets);
    r->level = ek_calloc(features * (size_t)r->profile->strata, sizeof *r->level);
    r->category = ek_calloc(features, sizeof *r->category);
    r->items = ek_calloc(1, sizeof *r->items);
    r->record = ek_calloc(features, sizeof *r->record);
    return r->tables && r->pivot && r->bets && r->level && r->category && r->items && r->record
               ? EK_OK
               : EK_ENOMEM;
}

int ek_day_bin(int64_t time_ms)
{
    static const int64_t DAY_MS = 86400000;
    return time_ms < 0 ? -1 : (int)(time_ms % DAY_MS * EK_DAY_BINS / DAY_MS);
}

static bool has_season(const struct ek_profile *p)
{
    for (int f = 0; f < p->features; f++)
        for (int i = 0; i < EK_SEASON; i++)
            if (p->baseline[f].season[i] != 0)
                return true;
    return false;
}

static int load_season(struct ek_list_stats_builder *r)
{
    if (!has_season(r->profile))
        return EK_OK;
    r->season = ek_calloc((size_t)r->features * EK_DAY_BINS, sizeof *r->season);
    if (!r->season)
        return EK_ENOMEM;
    for (int bin = 0; bin < EK_DAY_BINS; bin++)
        for (int f = 0; f < r->features; f++)
            r->season[bin * r->features + f] =
                ek_season_at(r->profile->baseline[f].season, (bin + .5) / EK_DAY_BINS);
    return EK_OK;
}

/* The profile is ordered by feature; a list needs all features of its stratum together. */
static int load_profile(struct ek_list_stats_builder *r)
{
    const struct ek_profile *p = r->profile;
    ek_bet_tables_fill(r->tables);
    for (int f = 0; f < r->item_features; f++)
        r->pivot[f] = p->baseline[f].log_mean;
    for (int f = 0; f < r->features; f++) {
        ek_feature_bets_fill(&r->bets[f], r->tables, &p->baseline[f]);
        for (int s = 0; s < p->strata; s++)
            r->level[s * r->features + f] = p->level[f * p->strata + s];
        if (p->category[f].strata)
            r->category[r->categories++] = f;
    }
    int rc = load_season(r);
    return rc ? rc : ek_list_bets_new(&r->list_bets, r->tables, r->bets, p->baseline, r->features);
}

int ek_list_stats_builder_new(struct ek_list_stats_builder **out, const struct ek_manifest *m,
                              const struct ek_profile *p, const struct ek_rules *rules,
                              struct ek_error *e)
{
    int rc = ek_profile_check(p, m, e);
    if (rc)
        return rc;
    struct ek_list_stats_builder *r = ek_calloc(1, sizeof *r);
    if (!r)
        return out_of_memory(e);
    r->features = m->watched_count;
    r->item_features = m->item_count;
    r->watched_query = m->watched_query;
    r->query_features = m->query_count;
    r->profile = p;
    r->same = rules->dedup_key;
    r->field = ek_stratum_field_find(m, p->field);
    if (allocate(r) || load_profile(r)) {
        ek_list_stats_builder_free(r);
        return out_of_memory(e);
    }
    *out = r;
    return EK_OK;
}

int ek_list_stats_builder_new_paired(struct ek_list_stats_builder **out,
                                     const struct ek_list_stats_builder *with, struct ek_error *e)
{
    struct ek_list_stats_builder *r = ek_calloc(1, sizeof *r);
    if (!r)
        return out_of_memory(e);
    *r = *with;
    r->with = with;
    r->learned = NULL; /* the detector's, which its lists change */
    r->list_bets = NULL;
    r->record = ek_calloc((size_t)r->features, sizeof *r->record);
    if (!r->record || copy_list_bets(&r->list_bets, with->list_bets)) {
        ek_list_stats_builder_free(r);
        return out_of_memory(e);
    }
    *out = r;
    return EK_OK;
}

static void free_shared(struct ek_list_stats_builder *r)
{
    ek_list_moments_free(r->sums);
    ek_free(r->tables);
    ek_free(r->pivot);
    ek_free(r->bets);
    ek_free(r->level);
    ek_free(r->season);
    ek_free(r->category);
    if (r->items)
        ek_item_levels_scratch_release(r->items);
    ek_free(r->items);
}

void ek_list_stats_builder_free(struct ek_list_stats_builder *r)
{
    if (!r)
        return;
    if (!r->with)
        free_shared(r);
    ek_list_bets_free(r->list_bets);
    ek_free(r->record);
    ek_free(r);
}

/* Fraction of training lists without a stratum from which on they have a level of their own. */
static const double UNNAMED_MIN = .01;

/* Return whether the stratum of a list says nothing about its level. */
static bool is_unknown_stratum(const struct ek_profile *p, int stratum)
{
    return p->strata > 1 && stratum == 0 && (double)p->unnamed < UNNAMED_MIN * (double)p->queries;
}

/* Remove the levels and spreads, but for those relative to the items. */
static void remove_levels(struct ek_list_stats_builder *r)
{
    const struct ek_item_levels *t = r->profile->item_levels;
    for (int f = 0, a = 0; f < r->features; f++) {
        if (t && a < t->features && t->feature[a] == f) {
            a++;
            continue;
        }
        ek_list_stats_remove_level(&r->record[f]);
    }
}

/* Return whether a feature with levels by item has a value. */
static bool has_item_values(const struct ek_list_stats_builder *r)
{
    const struct ek_item_levels *t = r->profile->item_levels;
    for (int a = 0; a < t->features; a++)
        if (r->record[t->feature[a]].usable)
            return true;
    return false;
}

/* Make levels relative to those of the items. */
static int apply_item_levels(struct ek_list_stats_builder *r, const struct ek_list *q)
{
    const struct ek_item_levels *levels = r->profile->item_levels;
    r->unknown_items = r->lacks_levels = false;
    if (!levels || !has_item_values(r))
        return EK_OK;
    int rc = ek_item_levels_apply(levels, r->learned, q, r->items, r->sums, r->pivot, r->record);
    r->lacks_levels = !rc && !r->items->all;
    r->unknown_items = !rc && !has_item_values(r);
    return rc;
}

float ek_query_level_noise(float scatter, uint64_t key, int feature)
{
    static const float PART = .25F;
    double uniform = (double)(ek_hash(&feature, sizeof feature, key) >> 11) * 0x1p-53;
    return PART * scatter * (float)(2 * uniform - 1);
}

/* Return a hash of the values of a list, in any order of the items. Lists that are assembled from
 * items, or read from arrays, lack ids. */
static uint64_t hash_values(const struct ek_list *q)
{
    size_t row = (size_t)q->item_features;
    uint64_t sum = 0;
    for (int i = 0; i < q->items; i++)
        sum += ek_hash(q->x + (size_t)i * row, row * sizeof *q->x, 0);
    return ek_hash(q->query, (size_t)q->query_features * sizeof *q->query, sum);
}

/* Read the watched query features, each as a list of one item. */
static void read_queries(struct ek_list_stats_builder *r, const struct ek_list *q)
{
    uint64_t key = hash_values(q);
    for (int f = r->item_features; f < r->features; f++) {
        struct ek_list_stats *o = &r->record[f];
        ek_list_stats_compute_value(q->query[r->watched_query[f - r->item_features]], o);
        o->r += ek_query_level_noise(r->profile->baseline[f].log_sd, key, f);
    }
}

static int read_items(struct ek_list_stats_builder *r, const struct ek_list *q)
{
    const struct ek_segment_levels *segments = ek_profile_segment_levels(r->profile);
    char scratch[EK_STRATUM_TEXT];
    struct ek_text name = ek_stratum_name(&r->field, q, scratch);
    r->stratum = ek_profile_stratum(r->profile, name.text, name.length);
    ek_list_moments_compute(r->sums, q->x, q->items, r->pivot);
    ek_list_stats_compute(r->sums, q->items, r->pivot, r->record);
    if (r->features > r->item_features)
        read_queries(r, q);
    if (apply_item_levels(r, q))
        return EK_ENOMEM;
    r->unknown_stratum = is_unknown_stratum(r->profile, r->stratum);
    if (r->unknown_stratum)
        remove_levels(r);
    if (segments)
        r->unknown_stratum |= !ek_segment_levels_apply(segments, q, r->record);
    const float *level = r->level + (size_t)r->stratum * (size_t)r->features;
    for (int f = 0; f < r->features; f++)
        r->record[f].r -= level[f];
    int bin = r->season ? ek_day_bin(q->time_ms) : -1;
    for (int f = 0; bin >= 0 && f < r->features; f++)
        r->record[f].r -= r->season[bin * r->features + f];
    if (r->profile->query_slopes)
        ek_query_slopes_apply(r->profile->query_slopes, q->query, r->record);
    for (int i = 0; i < r->categories; i++)
        ek_list_stats_compute_category(&r->record[r->category[i]]);
    ek_bet_list_update(r->list_bets, r->record);
    return EK_OK;
}

double ek_list_stats_builder_expected(const struct ek_list_stats_builder *r,
                                      const struct ek_list *q, int feature)
{
    int bin = r->season ? ek_day_bin(q->time_ms) : -1;
    double level = (double)r->level[(size_t)r->stratum * (size_t)r->features + (size_t)feature];
    double season = bin < 0 ? 0 : (double)r->season[bin * r->features + feature];
    return level + season + ek_query_slopes_of(r->profile->query_slopes, q->query, feature);
}

int ek_list_stats_builder_read(struct ek_list_stats_builder *r, const struct ek_list *q,
                               struct ek_error *e)
{
    if (q->item_features != r->item_features || q->query_features != r->query_features)
        return ek_fail(e, EK_ESTATE,
                       "a list has %d item and %d query features, the manifest %d and %d",
                       q->item_features, q->query_features, r->item_features, r->query_features);
    r->repeat_key = r->same ? ek_dedup_key(q, r->same) : 0;
    return q->items > 0 && read_items(r, q) ? out_of_memory(e) : EK_OK;
}
