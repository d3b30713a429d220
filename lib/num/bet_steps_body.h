/* Evidence steps for every instruction set: the including file sets EK_KERNEL. */
static const ek_bet_i bet_level_lanes = {-1, -1, -1, -1, -1, -1, 0, 0};

EK_BET_INLINE float bet_sum(const ek_bet_f *v)
{
    ek_bet_half half[2];
    memcpy(half, v, sizeof half);
    half[0] += half[1];
    return (half[0][0] + half[0][2]) + (half[0][1] + half[0][3]);
}

void EK_KERNEL(ek_bet_steps)(const struct ek_bet_step *step, int count, const float *weight,
                             float *total, float *level_total)
{
    const ek_bet_row *w = (const ek_bet_row *)weight;
    for (int i = 0; i < count; i++) {
        ek_bet_row *r = (ek_bet_row *)step[i].r;
        ek_bet_f e[3], sides, level, all;
        ek_bet_all(e, &step[i]);
        for (int j = 0; j < 3; j++)
            r[j] = e[j] = (r[j] + 1) * e[j];
        sides = w[0] * e[0] + w[1] * e[1];
        all = sides + w[2] * e[2];
        level = (ek_bet_f)((ek_bet_i)sides & bet_level_lanes);
        total[i] = bet_sum(&all);
        level_total[i] = bet_sum(&level);
    }
}
