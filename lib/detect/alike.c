#include "detect/alike.h"

#include <math.h>

/* What is less than that is no other story, nor is what is less than so many standard errors. */
static const double ERRORS = 3, LEVEL = .1, SPREAD = .04, SHARE = .02, PART = .05;

static int is_near(double a, double b, double error, double least)
{
    return fabs(a - b) <= fmax(ERRORS * error, least);
}

/* Their means by list, each in standard deviations of training, or how large they are. */
static int spreads_alike(const struct ek_diagnosis *then, const struct ek_diagnosis *now)
{
    double a = then->lists, b = now->lists;
    if (!(a > 0 && b > 0))
        return a == b;
    double p = (then->incoherent * a + now->incoherent * b) / (a + b), both = 1 / a + 1 / b;
    return (is_near(then->spread_test / sqrt(a), now->spread_test / sqrt(b), sqrt(both), 0) ||
            is_near(log(then->spread_ratio), log(now->spread_ratio), 0, SPREAD)) &&
           is_near(then->incoherent, now->incoherent, sqrt(p * (1 - p) * both), SHARE);
}

/* The logarithm of a normal density has a variance of a half: so far apart are the likelihoods of
 * lists that fit as well. */
static int levels_alike(const struct ek_alignment *then, const struct ek_alignment *now,
                        int measured)
{
    return is_near(then->shift_ln, now->shift_ln, hypot(then->error_ln, now->error_ln), LEVEL) &&
           is_near(then->share, now->share, 0, PART) &&
           is_near(then->gain_ln, now->gain_ln, sqrt(measured), 0);
}

int ek_diagnosis_alike(const struct ek_diagnosis *then, const struct ek_diagnosis *now,
                       int measured)
{
    int alike = (now->class == EK_CLASS_NONE || now->class == then->class) &&
                is_near(then->mean_ln, now->mean_ln, hypot(then->mean_error_ln, now->mean_error_ln),
                        LEVEL) &&
                spreads_alike(then, now);
    for (int i = 0; alike && i < EK_SHARES; i++)
        alike = is_near(then->share[i], now->share[i],
                        hypot(then->share_error[i], now->share_error[i]), SHARE);
    return alike && (then->class != EK_SCALE || levels_alike(&then->level, &now->level, measured));
}
