#include "decide/sure.h"

#include "data/residual.h"

#include <math.h>

/* The density is as smooth as its sd is wide, so few steps are as good as many. */
enum { STEPS = 10 };
static const double REACH = 4;     /* standard deviations */
static const double SMOOTHED = .1; /* ln: no density of a profile is narrower */

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
    double moved = 0, usual = 0, all = 0, step = REACH / STEPS * hypot(sd, SMOOTHED);
    for (int i = -STEPS; i <= STEPS; i++) {
        double r = step * i, weight = density_at(density, r);
        moved += weight * ek_moved_chance(density, share, shift_ln, r + shift_ln);
        usual += weight * ek_moved_chance(density, share, shift_ln, r);
        all += weight;
    }
    return all > usual ? fmin(fmax((moved - usual) / (all - usual), 0), 1) : 0;
}
