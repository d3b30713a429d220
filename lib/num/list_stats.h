/* Query statistics: what one list says about one feature, in 16 bytes.
 *
 * r is the ln of the geometric mean of the usable |values| (finite, not zero), NaN when there is
 * none; spread the ln of the standard deviation of ln|x| within the list, NaN for fewer than two.
 * Shares are in 64ths, rounded down, EK_SHARE_UNKNOWN when undefined: missing of all items, zero of
 * the present, negative of the usable, tied (equal to the value before) of the present but one.
 * Every instruction set gives the same bits: nothing is fused, the logarithm is our own.
 */
#ifndef EK_NUM_LIST_STATS_H
#define EK_NUM_LIST_STATS_H

#include "num/bet_steps.h"
#include "num/list_sums.h"

#include <stdint.h>

enum { EK_SHARE_MISSING, EK_SHARE_ZERO, EK_SHARE_NEGATIVE, EK_SHARE_TIED };
enum { EK_SHARE_UNKNOWN = 255, EK_SHARE_WHOLE = EK_BET_SHARE_WHOLE };

struct ek_list_stats {
    float r, spread;
    uint8_t share[4];
    uint16_t usable;
};

/* records [features of sums] from the sums of a list of `rows` items; pivot as given to the sums.
 */
void ek_list_stats_compute(const struct ek_list_sums *sums, int rows, const float *pivot,
                           struct ek_list_stats *records);

/* Leaves of a category feature's record what codes have: which are missing. They have no level, no
 * spread, no sign, and 0 is a code like others. */
void ek_list_stats_compute_category(struct ek_list_stats *record);

/* The residual of a list for which a level higher by shift_ln is normal; NaN stays. */
static inline float ek_residual_lowered(float r, double shift_ln)
{
    return (float)((double)r - shift_ln);
}

#endif
