/* The instruction sets behind bet_steps.h, for the choice at run time and for tests; internal. */
#ifndef EK_NUM_BET_STEPS_ISA_H
#define EK_NUM_BET_STEPS_ISA_H

#include "num/bet_steps.h"
#include "num/isa.h"

typedef void ek_bet_steps_fn(const struct ek_bet_step *step, int count, const float *weight,
                             float *total, float *level_total);

ek_bet_steps_fn ek_bet_steps_portable;
#if defined(__x86_64__)
ek_bet_steps_fn ek_bet_steps_avx2, ek_bet_steps_avx512;
#elif defined(__aarch64__)
ek_bet_steps_fn ek_bet_steps_neon;
#endif

/* The kernel for `isa`; the portable one where this program has none. */
ek_bet_steps_fn *ek_bet_steps_fn_of(enum ek_isa isa);

#endif
