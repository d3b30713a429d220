#include "detect/sure.h"

#include "assets/residual.h"

#include <math.h>

static const double REACH = 4; /* standard deviations; a group beyond has 7% of the lists at most */
static const double SMOOTHED = .1; /* ln: no peak of a profile's density is narrower */

static double density_at(const float *density, double r)
{
    return density[ek_residual_bin((float)r)];
}

double ek_moved_chance(const float *density, double share, double shift_ln, double r)
{
    double moved = share * density_at(density, r - shift_ln);
    return moved / (moved + (1 - share) * density_at(density, r));
}

double ek_sure_part(const float *density, double sd, double share, double shift_ln)
{
    double moved = 0, usual = 0, all = 0;
    int steps =
        (int)fmin(ceil(REACH * hypot(sd, SMOOTHED) / SMOOTHED), -EK_RESIDUAL_LOW / SMOOTHED);
    for (int i = -steps; i <= steps; i++) {
        double r = SMOOTHED * i, weight = density_at(density, r);
        moved += weight * ek_moved_chance(density, share, shift_ln, r + shift_ln);
        usual += weight * ek_moved_chance(density, share, shift_ln, r);
        all += weight;
    }
    return all > usual ? fmin(fmax((moved - usual) / (all - usual), 0), 1) : 0;
}
