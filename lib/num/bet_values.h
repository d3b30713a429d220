/* Values of the bets of one feature in vectors of 8 lanes, whatever the processor has; internal. */
#ifndef EK_NUM_BET_VALUES_H
#define EK_NUM_BET_VALUES_H

#include "num/bet_steps.h"

#include <string.h>

typedef float ek_bet_f __attribute__((vector_size(32)));
typedef float ek_bet_half __attribute__((vector_size(16)));
typedef uint8_t ek_bet_bytes __attribute__((vector_size(8)));
typedef int32_t ek_bet_i __attribute__((vector_size(32)));
typedef float ek_bet_row __attribute__((vector_size(32), aligned(4), may_alias));

#define EK_BET_INLINE static inline __attribute__((always_inline))

EK_BET_INLINE void ek_bet_select(ek_bet_f *to, const ek_bet_i *mask, const ek_bet_f *a,
                                 const ek_bet_f *b)
{
    *to = (ek_bet_f)((*mask & (ek_bet_i)*a) | (~*mask & (ek_bet_i)*b));
}

/* The bets on level and spread of one direction. */
EK_BET_INLINE void ek_bet_side(ek_bet_f *e, const struct ek_bet_step *s, int side)
{
    ek_bet_f level = *(const ek_bet_row *)s->level[side], cap = *(const ek_bet_row *)s->cap;
    ek_bet_i below = level < cap;
    ek_bet_select(&level, &below, &level, &cap);
    *e = level * *(const ek_bet_row *)s->spread[side];
}

/* A share was rounded down: for a bet on its fall the cautious side is up. */
EK_BET_INLINE void ek_bet_on_shares(ek_bet_f *e, const struct ek_bet_step *s)
{
    uint32_t once;
    memcpy(&once, s->share, sizeof once);
    ek_bet_bytes twice = (ek_bet_bytes)(once * 0x100000001u);
    ek_bet_i share = __builtin_convertvector(twice, ek_bet_i);
    ek_bet_f a = ((const ek_bet_row *)s->line)[0], b = ((const ek_bet_row *)s->line)[1], one;
    ek_bet_i unknown = share > EK_BET_SHARE_WHOLE;
    share -= (b < 0) & (share > 0);
    *e = a + b * __builtin_convertvector(share, ek_bet_f);
    one = a - a + 1;
    ek_bet_select(e, &unknown, &one, e);
}

EK_BET_INLINE void ek_bet_all(ek_bet_f e[3], const struct ek_bet_step *s)
{
    ek_bet_side(&e[0], s, 0);
    ek_bet_side(&e[1], s, 1);
    ek_bet_on_shares(&e[2], s);
    for (int i = 0; i < 3; i++)
        e[i] *= ((const ek_bet_row *)s->fair)[i];
}

#endif
