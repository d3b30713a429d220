/* The grid on which a profile keeps the density of the residual, and the detector aligns a stream
 * with it: bins of 0.02 ln from -16 to 16.
 */
#ifndef EK_ASSETS_RESIDUAL_GRID_H
#define EK_ASSETS_RESIDUAL_GRID_H

#include "assets/profile.h"

#define EK_RESIDUAL_LOW   (-16.0)
#define EK_RESIDUAL_BIN   0.02
#define EK_RESIDUAL_RANGE 32.0
/* Share of a uniform that is mixed into every density. */
#define EK_DENSITY_FLOOR 1e-3

/* Any float: what lies outside falls into the first or the last bin, NaN into the first. */
static inline int ek_residual_bin(float r)
{
    double at = (r - EK_RESIDUAL_LOW) / EK_RESIDUAL_BIN;
    return !(at > 0) ? 0 : at < EK_DENSITY_BINS ? (int)at : EK_DENSITY_BINS - 1;
}

#endif
