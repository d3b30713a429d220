#include "num/bet_steps.h"

#include "num/bet_steps_isa.h"

struct ek_bet_kernels ek_bet_kernels_get(enum ek_isa isa)
{
    switch (isa) {
#if defined(__x86_64__)
    case EK_ISA_AVX512:
        return (struct ek_bet_kernels){ek_bet_list_avx512, ek_bet_step_avx512};
    case EK_ISA_AVX2:
        return (struct ek_bet_kernels){ek_bet_list_avx2, ek_bet_step_avx2};
#elif defined(__aarch64__)
    case EK_ISA_NEON:
        return (struct ek_bet_kernels){ek_bet_list_neon, ek_bet_step_neon};
#endif
    default:
        return (struct ek_bet_kernels){ek_bet_list_portable, ek_bet_step_portable};
    }
}

void ek_bet_list_update(struct ek_bet_list *l, const struct ek_list_stats *record)
{
    ek_bet_kernels_get(ek_isa_best()).list(l, record);
}

void ek_bet_step(const struct ek_bet_list *l, const struct ek_bet_cell *c, int block, uint32_t mask,
                 float *largest, float *moved)
{
    ek_bet_kernels_get(ek_isa_best()).step(l, c, block, mask, largest, moved);
}

static float sum_of(const float *v)
{
    float half[EK_BET_ROW / 2];
    for (int i = 0; i < EK_BET_ROW / 2; i++)
        half[i] = v[i] + v[i + EK_BET_ROW / 2];
    return (half[0] + half[2]) + (half[1] + half[3]);
}

struct ek_bet_total ek_bet_total(const float *r, const float *weight)
{
    float all[EK_BET_ROW], level[EK_BET_ROW];
    for (int i = 0; i < EK_BET_ROW; i++) {
        level[i] = weight[i] * r[i] + weight[EK_BET_ROW + i] * r[EK_BET_ROW + i];
        all[i] = level[i] + weight[2 * EK_BET_ROW + i] * r[2 * EK_BET_ROW + i];
    }
    for (int i = EK_BET_LEVEL_LANES; i < EK_BET_ROW; i++)
        level[i] = 0;
    return (struct ek_bet_total){sum_of(all), sum_of(level)};
}
