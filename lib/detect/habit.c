#include "detect/habit.h"

#include "base/alloc.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

static const float TRUST = 20; /* lists' worth of trust in training */

struct habit {
    float sum[EK_BETS]; /* of the bets so far, as training has made them fair */
    uint32_t lists;
};

/* Of one feature, between ek_habits_fair and ek_habits_learn. */
struct watched {
    float before[EK_BETS], own[EK_BETS];
};

struct ek_habits {
    int features, cells;
    struct habit *habit;     /* [cells, features] */
    struct watched *watched; /* [features] */
    float (*fair)[EK_BETS];  /* [features] */
};

int ek_habits_new(struct ek_habits **out, int features)
{
    struct ek_habits *h = ek_calloc(1, sizeof *h);
    if (!h)
        return EK_ENOMEM;
    h->features = features;
    h->watched = ek_calloc((size_t)features, sizeof *h->watched);
    h->fair = ek_calloc((size_t)features, sizeof *h->fair);
    if (!h->watched || !h->fair) {
        ek_habits_free(h);
        return EK_ENOMEM;
    }
    *out = h;
    return EK_OK;
}

void ek_habits_free(struct ek_habits *h)
{
    if (!h)
        return;
    ek_free(h->habit);
    ek_free(h->watched);
    ek_free(h->fair);
    ek_free(h);
}

int ek_habits_room(struct ek_habits *h, int cells)
{
    size_t before = (size_t)h->cells * (size_t)h->features;
    size_t after = (size_t)cells * (size_t)h->features;
    if (cells <= h->cells)
        return EK_OK;
    struct habit *habit = ek_realloc(h->habit, after, sizeof *habit);
    if (!habit)
        return EK_ENOMEM;
    memset(habit + before, 0, (after - before) * sizeof *habit);
    h->habit = habit;
    h->cells = cells;
    return EK_OK;
}

void ek_habits_forget(struct ek_habits *h, int cell)
{
    size_t features = (size_t)h->features;
    memset(h->habit + (size_t)cell * features, 0, features * sizeof *h->habit);
}

static struct habit *habits_of(const struct ek_habits *h, int cell)
{
    return h->habit + (size_t)cell * (size_t)h->features;
}

const float (*ek_habits_fair(struct ek_habits *h, int cell,
                             const struct ek_evidence_list *list))[EK_BETS]
{
    for (int f = 0; f < h->features; f++) {
        if (!ek_is_evident(list->evident, f))
            continue;
        const struct habit *habit = &habits_of(h, cell)[f];
        struct watched *w = &h->watched[f];
        memcpy(w->before, ek_evidence_r(list->cells, cell, f), sizeof w->before);
        for (int i = 0; i < EK_BETS; i++) {
            float mean = (habit->sum[i] + TRUST) / ((float)habit->lists + TRUST);
            w->own[i] = 1 / (mean > 1 ? mean : 1);
            h->fair[f][i] = list->fair[f][i] * w->own[i];
        }
    }
    return (const float(*)[EK_BETS])h->fair;
}

void ek_habits_learn(struct ek_habits *h, int cell, const struct ek_evidence_list *list)
{
    for (int f = 0; f < h->features; f++) {
        if (!ek_is_evident(list->evident, f))
            continue;
        struct habit *habit = &habits_of(h, cell)[f];
        const struct watched *w = &h->watched[f];
        const float *r = ek_evidence_r(list->cells, cell, f);
        for (int i = 0; i < EK_BETS; i++)
            habit->sum[i] += r[i] / ((w->before[i] + 1) * w->own[i]);
        habit->lists++;
    }
}

void ek_habits_snap(struct ek_habits *h, struct ek_snap *s, int cell)
{
    struct habit *habit = habits_of(h, cell);
    for (int f = 0; f < h->features; f++) {
        ek_snap_raw(s, habit[f].sum, sizeof habit[f].sum);
        ek_snap_u32(s, &habit[f].lists);
    }
}

void ek_habits_merge(struct ek_habits *h, int cell, const struct ek_habits *others, int of)
{
    struct habit *to = habits_of(h, cell);
    const struct habit *from = habits_of(others, of);
    for (int f = 0; f < h->features; f++) {
        for (int i = 0; i < EK_BETS; i++)
            to[f].sum[i] += from[f].sum[i];
        to[f].lists += from[f].lists;
    }
}
