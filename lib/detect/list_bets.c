#include "detect/list_bets.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

_Static_assert((int)EK_BET_Z_BINS == EK_Z_BINS && (int)EK_BET_SPREAD_BINS == EK_SPREAD_BINS &&
                   (int)EK_BET_SIZES == EK_SIZE_CLASSES && (int)EK_BET_COUNTS == EK_SD_SIZES,
               "a list has the shapes of a baseline");

/* A list and what it points to; what is of training only where it is not another list's. */
struct owner {
    struct ek_bet_list list; /* first */
    struct ek_bet_law *law;
    const float **table;
    float *inv_sd_of, *spread_hi;
};

static int room_for_training(struct owner *o, size_t padded)
{
    struct ek_bet_list *l = &o->list;
    l->law = o->law = ek_calloc_aligned(padded, sizeof *o->law);
    l->table = o->table = ek_calloc(padded, sizeof *o->table);
    l->inv_sd_of = o->inv_sd_of = ek_calloc_aligned(padded * EK_SD_SIZES, sizeof *o->inv_sd_of);
    l->spread_hi = o->spread_hi = ek_calloc_aligned(padded * EK_SIZE_CLASSES, sizeof *o->spread_hi);
    return o->law && o->table && o->inv_sd_of && o->spread_hi ? EK_OK : EK_ENOMEM;
}

static int room_for_list(struct ek_bet_list *l)
{
    size_t padded = (size_t)l->padded;
    l->level = ek_calloc(padded, sizeof *l->level);
    l->r = ek_calloc_aligned(padded, sizeof *l->r);
    l->inv_sd = ek_calloc_aligned(padded, sizeof *l->inv_sd);
    l->shares = ek_calloc_aligned(padded, sizeof *l->shares);
    l->most = ek_calloc_aligned(padded, sizeof *l->most);
    return l->level && l->r && l->inv_sd && l->shares && l->most ? EK_OK : EK_ENOMEM;
}

static void fill(struct owner *o, const struct ek_feature_bets *bets,
                 const struct ek_baseline *baseline)
{
    struct ek_bet_list *l = &o->list;
    for (int f = 0; f < l->features; f++) {
        ek_bet_law_fill(&o->law[f], &bets[f], &baseline[f]);
        o->table[f] = bets[f].level[0];
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
    l->spread = tables->spread;
    l->cap = ek_bet_caps;
    l->spread_unknown = EK_SPREAD_UNKNOWN;
    if (room_for_training(o, (size_t)l->padded) || room_for_list(l)) {
        ek_list_bets_free(l);
        return EK_ENOMEM;
    }
    fill(o, bets, baseline);
    *out = l;
    return EK_OK;
}

int ek_list_bets_beside(struct ek_bet_list **out, const struct ek_bet_list *with)
{
    struct owner *o = ek_calloc(1, sizeof *o);
    if (!o)
        return EK_ENOMEM;
    o->list = *with;
    if (room_for_list(&o->list)) {
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
    ek_free(o->inv_sd_of);
    ek_free(o->spread_hi);
    ek_free(l->level);
    ek_free(l->r);
    ek_free(l->inv_sd);
    ek_free(l->shares);
    ek_free(l->most);
    ek_free(o);
}
