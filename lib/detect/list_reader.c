#include "detect/list_reader.h"

#include "base/alloc.h"
#include "detect/repeats.h"

static int out_of_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

static int allocate(struct ek_list_reader *r)
{
    size_t features = (size_t)r->features;
    if (ek_list_sums_new(&r->sums, r->features))
        return EK_ENOMEM;
    r->tables = ek_calloc(1, sizeof *r->tables);
    r->pivot = ek_calloc_aligned((size_t)r->sums->padded, sizeof *r->pivot);
    r->bets = ek_calloc(features, sizeof *r->bets);
    r->level = ek_calloc(features * (size_t)r->profile->strata, sizeof *r->level);
    r->category = ek_calloc(features, sizeof *r->category);
    r->record = ek_calloc(features, sizeof *r->record);
    return r->tables && r->pivot && r->bets && r->level && r->category && r->record ? EK_OK
                                                                                    : EK_ENOMEM;
}

/* The profile is by feature; a list needs all features of its stratum. */
static int take_profile(struct ek_list_reader *r)
{
    const struct ek_profile *p = r->profile;
    ek_bet_tables_fill(r->tables);
    for (int f = 0; f < r->features; f++) {
        r->pivot[f] = p->baseline[f].log_mean;
        ek_feature_bets_fill(&r->bets[f], r->tables, &p->baseline[f]);
        for (int s = 0; s < p->strata; s++)
            r->level[s * r->features + f] = p->level[f * p->strata + s];
        if (p->category[f].strata)
            r->category[r->categories++] = f;
    }
    return ek_list_bets_new(&r->list_bets, r->tables, r->bets, p->baseline, r->features);
}

int ek_list_reader_new(struct ek_list_reader **out, const struct ek_manifest *m,
                       const struct ek_profile *p, const struct ek_rules *rules, struct ek_error *e)
{
    int rc = ek_profile_check(p, m, e);
    if (rc)
        return rc;
    struct ek_list_reader *r = ek_calloc(1, sizeof *r);
    if (!r)
        return out_of_memory(e);
    r->features = m->item_count;
    r->query_features = m->query_count;
    r->profile = p;
    r->same = rules->same_query;
    r->field = ek_stratum_field_of(m, p->field);
    if (allocate(r) || take_profile(r)) {
        ek_list_reader_free(r);
        return out_of_memory(e);
    }
    *out = r;
    return EK_OK;
}

int ek_list_reader_beside(struct ek_list_reader **out, const struct ek_list_reader *with,
                          struct ek_error *e)
{
    struct ek_list_reader *r = ek_calloc(1, sizeof *r);
    if (!r)
        return out_of_memory(e);
    *r = *with;
    r->with = with;
    r->list_bets = NULL;
    r->record = ek_calloc((size_t)r->features, sizeof *r->record);
    if (!r->record || ek_list_bets_beside(&r->list_bets, with->list_bets)) {
        ek_list_reader_free(r);
        return out_of_memory(e);
    }
    *out = r;
    return EK_OK;
}

static void free_shared(struct ek_list_reader *r)
{
    ek_list_sums_free(r->sums);
    ek_free(r->tables);
    ek_free(r->pivot);
    ek_free(r->bets);
    ek_free(r->level);
    ek_free(r->category);
}

void ek_list_reader_free(struct ek_list_reader *r)
{
    if (!r)
        return;
    if (!r->with)
        free_shared(r);
    ek_list_bets_free(r->list_bets);
    ek_free(r->record);
    ek_free(r);
}

static void read_items(struct ek_list_reader *r, const struct ek_query *q)
{
    char scratch[EK_STRATUM_TEXT];
    struct ek_text name = ek_stratum_name(&r->field, q, scratch);
    r->stratum = ek_profile_stratum(r->profile, name.text, name.length);
    ek_list_sums_of(r->sums, q->x, q->items, r->pivot);
    ek_list_stats_of(r->sums, q->items, r->pivot, r->record);
    const float *level = r->level + (size_t)r->stratum * (size_t)r->features;
    for (int f = 0; f < r->features; f++)
        r->record[f].r -= level[f];
    for (int i = 0; i < r->categories; i++)
        ek_list_stats_of_category(&r->record[r->category[i]]);
    ek_bet_list_take(r->list_bets, r->record);
}

int ek_list_reader_read(struct ek_list_reader *r, const struct ek_query *q, struct ek_error *e)
{
    if (q->item_features != r->features || q->query_features != r->query_features)
        return ek_fail(e, EK_ESTATE,
                       "a list has %d item and %d query features, the manifest %d and %d",
                       q->item_features, q->query_features, r->features, r->query_features);
    r->repeat_key = r->same ? ek_repeat_key(q, r->same) : 0;
    r->relative_key = ek_relative_key(q);
    if (q->items > 0)
        read_items(r, q);
    return EK_OK;
}
