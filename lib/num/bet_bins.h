/* Bins of residuals and spreads in the rank tables of a profile.
 *
 * The grids are those of assets/profile.h. Bins are the same on every machine: no operation is
 * fused.
 */
#ifndef EK_NUM_BET_BINS_H
#define EK_NUM_BET_BINS_H

#include <math.h>

enum {
    EK_BET_Z_BINS = 257,
    EK_BET_SPREAD_BINS = 129,
    /* Largest distance, in bins, between the two ranks looked up for one spread. */
    EK_BET_SPREAD_APART = 11
};

/* Dead bands, ln 1.02 and ln 1.5: smaller shifts are not reported. */
#define EK_DEAD_BAND_LEVEL_LN  0.0198026273f
#define EK_DEAD_BAND_SPREAD_LN 0.4054651081f

/* Return the bin of `z`, which must not be NaN: steps of 1/16 inside +-5, of 1/4 outside. */
static inline int ek_z_bin(float z)
{
    float size = fabsf(z), fine = size * 16, coarse = 60 + size * 4;
    float most = EK_BET_Z_BINS / 2, steps = fine < coarse ? fine : coarse;
    return (int)(most + copysignf(steps < most ? steps : most, z));
}

/* Return the bin of `spread`, the ln of a standard deviation within a list, which must not be NaN.
 */
static inline int ek_spread_bin(float spread)
{
    float at = (spread + 6) * 14, most = EK_BET_SPREAD_BINS - 1, above = at > 0 ? at : 0;
    return (int)(above < most ? above : most);
}

/* Return the index of a bin of `z` in the table of downward bets of struct ek_evalue_null. The
 * layout keeps both ranks of a list close together. */
static inline int ek_z_place_down(int bin)
{
    return EK_BET_Z_BINS - 1 - bin;
}
/* Return the index of a bin of the spread in the table of upward bets of struct ek_evalue_null. */
static inline int ek_spread_place_up(int bin)
{
    return bin + EK_BET_SPREAD_APART;
}

#endif
