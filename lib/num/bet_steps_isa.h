/* Kernels of bet_steps.h for each instruction set; for dispatch and tests. */
#ifndef EK_NUM_BET_STEPS_ISA_H
#define EK_NUM_BET_STEPS_ISA_H

#include "num/bet_steps.h"
#include "num/isa.h"

typedef void ek_bet_list_fn(struct ek_bet_list *l, const struct ek_list_stats *record);
typedef void ek_bet_step_fn(const struct ek_bet_list *l, const struct ek_bet_cell *c, int block,
                            uint32_t mask, float *largest, float *moved);

ek_bet_list_fn ek_bet_list_portable;
ek_bet_step_fn ek_bet_step_portable;
#if defined(__x86_64__)
ek_bet_list_fn ek_bet_list_avx2, ek_bet_list_avx512;
ek_bet_step_fn ek_bet_step_avx2, ek_bet_step_avx512;
#elif defined(__aarch64__)
ek_bet_list_fn ek_bet_list_neon;
ek_bet_step_fn ek_bet_step_neon;
#endif

struct ek_bet_kernels {
    ek_bet_list_fn *list;
    ek_bet_step_fn *step;
};

/* Return the kernels for `isa`, or the portable ones if this build has none. */
struct ek_bet_kernels ek_bet_kernels_get(enum ek_isa isa);

#endif
