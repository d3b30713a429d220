/* Where a residual and a spread lie in the rank tables of a profile, which the bets look up.
 *
 * Grids are those of assets/profile.h. Bins are the same on every machine: plain arithmetic,
 * nothing fused.
 */
#ifndef EK_NUM_BET_BINS_H
#define EK_NUM_BET_BINS_H

#include <math.h>

enum {
    EK_BET_Z_BINS = 257,
    EK_BET_SPREAD_BINS = 129,
    /* How many bins up of a spread its two ranks are looked up, at most. */
    EK_BET_SPREAD_APART = 11
};

/* Dead-bands: nothing is told of a shift smaller than this. ln 1.02 and ln 1.5. */
#define EK_DEAD_BAND_LEVEL_LN  0.0198026273f
#define EK_DEAD_BAND_SPREAD_LN 0.4054651081f

/* Bin of z, which is a number: steps of 1/16 inside +-5, of 1/4 outside. */
static inline int ek_z_bin(float z)
{
    float size = fabsf(z), fine = size * 16, coarse = 60 + size * 4;
    float most = EK_BET_Z_BINS / 2, steps = fine < coarse ? fine : coarse;
    return (int)(most + copysignf(steps < most ? steps : most, z));
}

/* Bin of a ln spread, which is a number. */
static inline int ek_spread_bin(float spread)
{
    float at = (spread + 6) * 14, most = EK_BET_SPREAD_BINS - 1, above = at > 0 ? at : 0;
    return (int)(above < most ? above : most);
}

/* Places of the bins in struct ek_evalue_null: a list looks up and down close together. */
static inline int ek_z_place_down(int bin)
{
    return EK_BET_Z_BINS - 1 - bin;
}
static inline int ek_spread_place_up(int bin)
{
    return bin + EK_BET_SPREAD_APART;
}

#endif
