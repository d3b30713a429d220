/* Which modes the lists that an entry reaches can get, by words that the rules have for some cells.
 *
 * A list's mode is the most careful that words of its own cells say, those of the feature before
 * those of `defaults`, else that of the entry; an entry of all traffic, or of one dimension, has
 * lists of many modes then. Pure.
 */
#ifndef EK_DECIDE_PLAN_MODES_H
#define EK_DECIDE_PLAN_MODES_H

#include "plan/plan.h"

struct ek_plan_words {
    const struct ek_plan_mode *mode; /* one per feature, level and cell */
    int modes;
    int (*dimension_of)(void *context, int cell); /* -1: all traffic */
    void *context;
};

/* A set of modes: 1 << mode of each. */
static inline unsigned ek_mode_bit(enum ek_mode m)
{
    return 1u << m;
}

/* Of an entry of this feature and cell; mode: what the most specific word says of it. */
unsigned ek_plan_modes_of(const struct ek_plan_words *w, int feature, int cell, enum ek_mode mode);

#endif
