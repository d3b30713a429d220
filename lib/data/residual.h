/* The grid on which a profile keeps the density of the residual, and the detector aligns a stream
 * with it: bins of 0.02 ln from -16 to 16.
 */
#ifndef EK_DATA_RESIDUAL_H
#define EK_DATA_RESIDUAL_H

#include "data/profile.h"

#define EK_RESIDUAL_LOW   (-16.0)
#define EK_RESIDUAL_BIN   0.02
#define EK_RESIDUAL_RANGE 32.0
/* Share of a uniform that is mixed into every density. */
#define EK_DENSITY_FLOOR 1e-3

static inline int ek_residual_bin(float r)
{
    int bin = (int)((r - EK_RESIDUAL_LOW) / EK_RESIDUAL_BIN);
    return bin < 0 ? 0 : bin >= EK_DENSITY_BINS ? EK_DENSITY_BINS - 1 : bin;
}

#endif
