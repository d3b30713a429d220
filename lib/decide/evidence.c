#include "decide/evidence.h"

#include <math.h>
#include <string.h>

static const float LN_2 = 0.6931472f;
static const double TRACK_DAYS = 1 / 40.0;
static const float TRACK_MAX_LN = 0.18232156f; /* ln 1.2 */
static const float TRACK_CLIP = 2;             /* standard deviations */
static const float TRACK_FIRST = 200;          /* lists' worth of trust in the profile */

/* So many features at a time: their steps stay in the nearest cache. */
enum { BLOCK = 16 };

struct ek_alarm_level ek_alarm_level_of(double queries, int features, int dimensions)
{
    double alarm = queries * (features > 1 ? features : 1) * (1 + dimensions);
    return (struct ek_alarm_level){(float)alarm, (float)sqrt(alarm)};
}

float ek_track_lists(double lists_per_day)
{
    double lists = lists_per_day > 0 ? TRACK_DAYS * lists_per_day : EK_TRACK_LISTS;
    return (float)fmin(fmax(lists, EK_TRACK_LISTS_MIN), EK_TRACK_LISTS);
}

static float clamp(float x, float most)
{
    x = x > -most ? x : -most;
    return x < most ? x : most;
}

/* What is left of a list's level when those of its stratum and its cell are taken off. */
static float residual_of(const struct ek_evidence_list *l, int feature)
{
    float all = l->all ? l->all[feature].mu : 0;
    return l->bets.record[feature].r - all - l->state[feature].mu;
}

/* The tracked level follows where there is one, by a step of at most 2 standard deviations. */
static void track(const struct ek_evidence_list *l, int feature, float residual, float slowest)
{
    struct ek_evidence *s = &l->state[feature];
    int usable = l->bets.record[feature].usable;
    float inv_sd = ek_baseline_inv_sd(&l->bets.baseline[feature], usable);
    float rate = 1 / ((float)s->queries + TRACK_FIRST);
    float step = (rate > slowest ? rate : slowest) * clamp(residual * inv_sd, TRACK_CLIP) / inv_sd;
    if (usable && inv_sd > 0)
        s->mu = clamp(s->mu + step, TRACK_MAX_LN);
}

static int strongest(const struct ek_evidence *s, const float *weight)
{
    int best = 0;
    for (int i = 1; i < EK_BETS; i++)
        if (weight[i] * s->r[i] > weight[best] * s->r[best])
            best = i;
    return best;
}

/* n of the features of the list, at most BLOCK. Returns how many reached the alarm. */
static int take_block(const struct ek_evidence_list *l, const struct ek_alarm_level *level,
                      const int *feature, int n, struct ek_alarm *alarm)
{
    struct ek_bet_step step[BLOCK];
    float residual[BLOCK], total[BLOCK], of_level[BLOCK], slowest = LN_2 / l->track_lists;
    const float *weight = l->bets.tables->weight;
    int alarms = 0;
    for (int i = 0; i < n; i++)
        residual[i] = residual_of(l, feature[i]);
    ek_bet_steps_of(step, &l->bets, feature, n, residual);
    for (int i = 0; i < n; i++)
        step[i].r = l->state[feature[i]].r;
    ek_bet_steps(step, n, weight, total, of_level);
    for (int i = 0; i < n; i++) {
        l->state[feature[i]].queries++;
        if (of_level[i] < level->hot)
            track(l, feature[i], residual[i], slowest);
        if (total[i] >= level->alarm)
            alarm[alarms++] =
                (struct ek_alarm){feature[i], strongest(&l->state[feature[i]], weight)};
    }
    return alarms;
}

int ek_evidence_take(const struct ek_evidence_list *list, const struct ek_alarm_level *level,
                     struct ek_alarm *alarm)
{
    int alarms = 0;
    for (int i = 0; i < list->count; i += BLOCK) {
        int n = list->count - i < BLOCK ? list->count - i : BLOCK;
        alarms += take_block(list, level, list->feature + i, n, alarm + alarms);
    }
    return alarms;
}

void ek_evidence_restart(struct ek_evidence *s)
{
    memset(s->r, 0, sizeof s->r);
}

void ek_evidence_shift(struct ek_evidence *s, float shift_ln)
{
    s->mu = clamp(s->mu + shift_ln, TRACK_MAX_LN);
}

void ek_evidence_snap(struct ek_evidence *s, struct ek_snap *snap)
{
    ek_snap_raw(snap, s->r, sizeof s->r);
    ek_snap_raw(snap, &s->mu, sizeof s->mu);
    ek_snap_u32(snap, &s->queries);
    ek_snap_require(snap, s->mu >= -TRACK_MAX_LN && s->mu <= TRACK_MAX_LN);
}
