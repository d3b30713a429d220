#include "base/decimal.h"

#include <math.h>

enum { POWER_MAX = 300, EXACT_POWER_MAX = 22 };

/* Return 10^n for 0 <= n <= POWER_MAX. Powers up to 10^22 are exact. */
static double power_of_ten(int n)
{
    static const double exact[EXACT_POWER_MAX + 1] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (n <= 0)
        return 1;
    return n <= EXACT_POWER_MAX ? exact[n] : pow(10, n < POWER_MAX ? n : POWER_MAX);
}

double ek_round_places(double x, int places)
{
    double up = power_of_ten(places), down = power_of_ten(-places);
    return rint(x * up / down) / up * down;
}

double ek_round_digits(double x, int digits)
{
    return isfinite(x) && x != 0 ? ek_round_places(x, digits - 1 - (int)floor(log10(fabs(x)))) : x;
}
