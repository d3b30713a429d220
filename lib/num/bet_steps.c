#include "num/bet_steps.h"

#include "num/bet_steps_isa.h"
#include "num/bet_values.h"

#include <string.h>

ek_bet_steps_fn *ek_bet_steps_fn_of(enum ek_isa isa)
{
    switch (isa) {
#if defined(__x86_64__)
    case EK_ISA_AVX512:
        return ek_bet_steps_avx512;
    case EK_ISA_AVX2:
        return ek_bet_steps_avx2;
#elif defined(__aarch64__)
    case EK_ISA_NEON:
        return ek_bet_steps_neon;
#endif
    default:
        return ek_bet_steps_portable;
    }
}

void ek_bet_steps(const struct ek_bet_step *step, int count, const float *weight, float *total,
                  float *level_total)
{
    ek_bet_steps_fn_of(ek_isa_best())(step, count, weight, total, level_total);
}

void ek_bet_values(const struct ek_bet_step *step, float *e)
{
    ek_bet_f values[3];
    ek_bet_all(values, step);
    memcpy(e, values, sizeof values);
}
