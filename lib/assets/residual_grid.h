/* Bins of the residual density in a profile: 0.02 ln wide, from -16 to 16. */
#ifndef EK_ASSETS_RESIDUAL_GRID_H
#define EK_ASSETS_RESIDUAL_GRID_H

#include "assets/profile.h"

#define EK_RESIDUAL_LOW   (-16.0)
#define EK_RESIDUAL_BIN   0.02
#define EK_RESIDUAL_RANGE 32.0
/* Weight of the uniform distribution in every density. */
#define EK_DENSITY_FLOOR 1e-3

/* Return the bin of any float. Values outside clamp to the first or last bin, NaN to the first. */
static inline int ek_residual_bin(float r)
{
    double at = (r - EK_RESIDUAL_LOW) / EK_RESIDUAL_BIN;
    return !(at > 0) ? 0 : at < EK_DENSITY_BINS ? (int)at : EK_DENSITY_BINS - 1;
}

#endif
