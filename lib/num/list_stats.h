/* List statistics: a summary of one feature in one list, in 16 bytes.
 *
 * r is the ln of the geometric mean of the usable |values| (finite and nonzero), NaN without any.
 * spread is the ln of the standard deviation of ln|x| within the list, NaN for fewer than two
 * usable values. Fractions are in 64ths, rounded down; EK_SHARE_UNKNOWN if undefined. Their
 * denominators: all items (missing), present (zero), usable (negative), present minus one (tied).
 * Tied is the fraction of pairs of equal values (num/list_moments.h). own_spread is set by
 * assets/item_levels.h. The order of the items changes only the rounding of r and spread. Every
 * instruction set returns the same bits: no operation is fused, and the logarithm does not use
 * libm.
 */
#ifndef EK_NUM_LIST_STATS_H
#define EK_NUM_LIST_STATS_H

#include "num/bet_steps.h"
#include "num/list_moments.h"

#include <math.h>
#include <stdint.h>

enum { EK_SHARE_MISSING, EK_SHARE_ZERO, EK_SHARE_NEGATIVE, EK_SHARE_TIED };
enum { EK_SHARE_UNKNOWN = 255, EK_SHARE_WHOLE = EK_BET_SHARE_WHOLE };

/* Variance of ln|x| below which values count as equal, and their spread. */
#define EK_VARIANCE_MIN 6.2e-6f
#define EK_SPREAD_MIN   -6.0f

struct ek_list_stats {
    float r, spread;
    uint8_t share[4];
    uint16_t usable;
    int16_t own_spread; /* ln, in 256ths, of the spread around the levels of the items; 0: none */
};

/* Compute records [features of sums] from the sums of a list of `rows` items. `pivot` must be the
 * one passed to the sums. */
void ek_list_stats_compute(const struct ek_list_moments *sums, int rows, const float *pivot,
                           struct ek_list_stats *records);

/* Set a record to the statistics of a list of one item with this value. */
void ek_list_stats_compute_value(float x, struct ek_list_stats *record);

/* Reduce a record to the statistics of a category feature, the missing fraction. Codes have no
 * level, spread or sign, and 0 is a valid code. */
void ek_list_stats_compute_category(struct ek_list_stats *record);

/* Remove level and spread of a list that training cannot judge; its shares stay. */
static inline void ek_list_stats_remove_level(struct ek_list_stats *record)
{
    record->r = record->spread = NAN;
    record->usable = 0;
}

/* Return the residual of a list with a normal level higher by `shift_ln`; NaN stays NaN. */
static inline float ek_residual_lowered(float r, double shift_ln)
{
    return (float)((double)r - shift_ln);
}

#endif
