#include "decide/evidence.h"

#include <math.h>
#include <string.h>

static const float TRACK_RATE = 0.6931472f / 2500; /* half-life of 2,500 lists */
static const float TRACK_MAX_LN = 0.18232156f;     /* ln 1.2 */
static const float TRACK_CLIP = 2;                 /* standard deviations */
static const float TRACK_FIRST = 200;              /* lists' worth of trust in the profile */

struct ek_alarm_level ek_alarm_level_of(double queries, int features, int dimensions)
{
    double alarm = queries * (features > 1 ? features : 1) * (1 + dimensions);
    return (struct ek_alarm_level){(float)alarm, (float)sqrt(alarm)};
}

static int strongest(const struct ek_evidence *s, const float *weight)
{
    int best = 0;
    for (int i = 1; i < EK_BETS; i++)
        if (weight[i] * s->r[i] > weight[best] * s->r[best])
            best = i;
    return best;
}

static void track(struct ek_evidence *s, const struct ek_baseline *b, int usable, float r)
{
    float inv_sd = b->inv_sd[usable < EK_SD_SIZES ? usable : EK_SD_SIZES - 1];
    float z = fminf(fmaxf(r * inv_sd, -TRACK_CLIP), TRACK_CLIP);
    float rate = fmaxf(1 / ((float)s->queries + TRACK_FIRST), TRACK_RATE);
    ek_evidence_shift(s, rate * z / inv_sd);
}

int ek_evidence_add(struct ek_evidence *s, const struct ek_bet_tables *t,
                    const struct ek_baseline *b, const struct ek_share_bets *shares,
                    const struct ek_alarm_level *level, const struct ek_list_stats *record,
                    float r0, const float *calibration)
{
    float e[EK_BETS], r = r0 - s->mu, total = 0, level_total = 0;
    ek_bets_of(t, b, shares, record, r, e);
    for (int i = 0; i < EK_BETS; i++)
        s->r[i] = (s->r[i] + 1) * (e[i] / calibration[i]);
    for (int i = 0; i < EK_BETS; i++) {
        total += t->weight[i] * s->r[i];
        if (i == EK_LEVEL_BETS - 1)
            level_total = total;
    }
    s->queries++;
    if (record->usable && level_total < level->hot)
        track(s, b, record->usable, r);
    return total >= level->alarm ? strongest(s, t->weight) : -1;
}

void ek_evidence_restart(struct ek_evidence *s)
{
    memset(s->r, 0, sizeof s->r);
}

void ek_evidence_shift(struct ek_evidence *s, float shift_ln)
{
    s->mu = fminf(fmaxf(s->mu + shift_ln, -TRACK_MAX_LN), TRACK_MAX_LN);
}
