#include "decide/evidence.h"

#include "base/alloc.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

static const float LN_2 = 0.6931472f;
static const double TRACK_DAYS = 1 / 40.0;
static const float TRACK_MAX_LN = 0.18232156f; /* ln 1.2 */
static const float TRACK_CLIP = 2;             /* standard deviations */
static const float TRACK_FIRST = 200;          /* lists' worth of trust in the profile */

/* What a list says of one feature, for the tracked level. */
struct tracked {
    struct ek_evidence *state;
    float inv_sd, residual; /* 0 for inv_sd: nothing to follow */
    int feature;
};

struct ek_evidence_batch {
    int count;
    struct tracked *tracked; /* [F], as all below */
    struct ek_bet_step *step;
    float *total, *level;
};

struct ek_alarm_level ek_alarm_level_of(double queries, int features, int dimensions)
{
    double alarm = queries * (features > 1 ? features : 1) * (1 + dimensions);
    return (struct ek_alarm_level){(float)alarm, (float)sqrt(alarm)};
}

int ek_evidence_batch_new(struct ek_evidence_batch **out, int features)
{
    struct ek_evidence_batch *batch = ek_calloc(1, sizeof *batch);
    size_t n = (size_t)features;
    if (!batch)
        return EK_ENOMEM;
    batch->tracked = ek_calloc(n, sizeof *batch->tracked);
    batch->step = ek_calloc(n, sizeof *batch->step);
    batch->total = ek_calloc(n, sizeof *batch->total);
    batch->level = ek_calloc(n, sizeof *batch->level);
    if (!batch->tracked || !batch->step || !batch->total || !batch->level) {
        ek_evidence_batch_free(batch);
        return EK_ENOMEM;
    }
    *out = batch;
    return EK_OK;
}

void ek_evidence_batch_free(struct ek_evidence_batch *batch)
{
    if (!batch)
        return;
    ek_free(batch->tracked);
    ek_free(batch->step);
    ek_free(batch->total);
    ek_free(batch->level);
    ek_free(batch);
}

void ek_evidence_batch_clear(struct ek_evidence_batch *batch)
{
    batch->count = 0;
}

void ek_evidence_batch_add(struct ek_evidence_batch *batch, int feature, struct ek_evidence *s,
                           const struct ek_bet_tables *t, const struct ek_feature_bets *bets,
                           const struct ek_baseline *b, const struct ek_list_stats *record,
                           float residual, const float *fair)
{
    int i = batch->count++, k = record->usable;
    float r = residual - s->mu, inv_sd = ek_baseline_inv_sd(b, k);
    batch->tracked[i] = (struct tracked){s, k ? inv_sd : 0, r, feature};
    ek_bet_step_of(&batch->step[i], t, bets, b, record, r);
    batch->step[i].r = s->r;
    batch->step[i].fair = fair;
}

float ek_track_lists(double lists_per_day)
{
    double lists = lists_per_day > 0 ? TRACK_DAYS * lists_per_day : EK_TRACK_LISTS;
    return (float)fmin(fmax(lists, EK_TRACK_LISTS_MIN), EK_TRACK_LISTS);
}

static void track(const struct tracked *o, float track_lists)
{
    float z = fminf(fmaxf(o->residual * o->inv_sd, -TRACK_CLIP), TRACK_CLIP);
    float rate = fmaxf(1 / ((float)o->state->queries + TRACK_FIRST), LN_2 / track_lists);
    ek_evidence_shift(o->state, rate * z / o->inv_sd);
}

void ek_evidence_batch_run(struct ek_evidence_batch *batch, const struct ek_bet_tables *t,
                           const struct ek_alarm_level *level, float track_lists)
{
    ek_bet_steps(batch->step, batch->count, t->weight, batch->total, batch->level);
    for (int i = 0; i < batch->count; i++) {
        const struct tracked *o = &batch->tracked[i];
        o->state->queries++;
        if (o->inv_sd > 0 && batch->level[i] < level->hot)
            track(o, track_lists);
    }
}

static int strongest(const struct ek_evidence *s, const float *weight)
{
    int best = 0;
    for (int i = 1; i < EK_BETS; i++)
        if (weight[i] * s->r[i] > weight[best] * s->r[best])
            best = i;
    return best;
}

int ek_evidence_batch_alarm(const struct ek_evidence_batch *batch, const struct ek_bet_tables *t,
                            const struct ek_alarm_level *level, int *at, int *feature, int *bet)
{
    for (; *at < batch->count; ++*at) {
        const struct tracked *o = &batch->tracked[*at];
        if (batch->total[*at] < level->alarm)
            continue;
        *feature = o->feature;
        *bet = strongest(o->state, t->weight);
        ++*at;
        return 1;
    }
    return 0;
}

void ek_evidence_restart(struct ek_evidence *s)
{
    memset(s->r, 0, sizeof s->r);
}

void ek_evidence_shift(struct ek_evidence *s, float shift_ln)
{
    s->mu = fminf(fmaxf(s->mu + shift_ln, -TRACK_MAX_LN), TRACK_MAX_LN);
}

void ek_evidence_snap(struct ek_evidence *s, struct ek_snap *snap)
{
    ek_snap_raw(snap, s->r, sizeof s->r);
    ek_snap_raw(snap, &s->mu, sizeof s->mu);
    ek_snap_u32(snap, &s->queries);
    ek_snap_require(snap, s->mu >= -TRACK_MAX_LN && s->mu <= TRACK_MAX_LN);
}
