#include "decide/habit.h"

#include "base/alloc.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

static const float TRUST = 20; /* lists' worth of trust in training */

struct habit {
    float sum[EK_BETS]; /* of the bets so far, as training has made them fair */
    uint32_t lists;
};

/* One feature between ek_habits_fair and ek_habits_learn. */
struct watched {
    struct habit *habit;
    const float *r;
    float before[EK_BETS], own[EK_BETS], fair[EK_BETS];
};

struct ek_habits {
    int features, cells, count;
    struct habit *habit;     /* [cells, features] */
    struct watched *watched; /* [features], count in use */
};

int ek_habits_new(struct ek_habits **out, int features)
{
    struct ek_habits *h = ek_calloc(1, sizeof *h);
    if (!h)
        return EK_ENOMEM;
    h->features = features;
    h->watched = ek_calloc((size_t)features, sizeof *h->watched);
    if (!h->watched) {
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

const float *ek_habits_fair(struct ek_habits *h, int cell, int feature, const float *fair,
                            const float *r)
{
    struct watched *w = &h->watched[h->count++];
    w->habit = &h->habit[(size_t)cell * (size_t)h->features + (size_t)feature];
    w->r = r;
    memcpy(w->before, r, sizeof w->before);
    for (int i = 0; i < EK_BETS; i++) {
        float mean = (w->habit->sum[i] + TRUST) / ((float)w->habit->lists + TRUST);
        w->own[i] = 1 / fmaxf(mean, 1);
        w->fair[i] = fair[i] * w->own[i];
    }
    return w->fair;
}

void ek_habits_learn(struct ek_habits *h)
{
    for (; h->count; h->count--) {
        struct watched *w = &h->watched[h->count - 1];
        for (int i = 0; i < EK_BETS; i++)
            w->habit->sum[i] += w->r[i] / ((w->before[i] + 1) * w->own[i]);
        w->habit->lists++;
    }
}

void ek_habits_snap(struct ek_habits *h, struct ek_snap *s, int cell)
{
    struct habit *habit = h->habit + (size_t)cell * (size_t)h->features;
    for (int f = 0; f < h->features; f++) {
        ek_snap_raw(s, habit[f].sum, sizeof habit[f].sum);
        ek_snap_u32(s, &habit[f].lists);
    }
}
