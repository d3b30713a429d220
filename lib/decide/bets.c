#include "decide/bets.h"

#include <math.h>
#include <string.h>

#define EVERY 3.4e38f
static const float ONES[EK_BETS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
/* What level bets are worth at most: any list; one whose items do not belong together, which is no
 * evidence of a level; a lonely value, that needs company to be believed when it is far. */
static const float ANY[EK_BET_ROW] = {EVERY, EVERY, EVERY, EVERY, EVERY, EVERY, EVERY, EVERY};
static const float INCOHERENT[EK_BET_ROW] = {1, 1, 1, 1, 1, 1, EVERY, EVERY};
static const float LONELY[EK_BET_ROW] = {EVERY, EVERY, EVERY, 1, 1, 1, EVERY, EVERY};
/* Stakes of the two bets on a share. */
static const double CAUTIOUS = .4, BOLD = .85;
static const double NEARLY_ALL = .98; /* a share that cannot rise */

double ek_z_edge(int bin)
{
    double steps = fabs(bin - 128.0), size = steps < 80 ? steps / 16 : 5 + (steps - 80) / 4;
    return bin == 0 ? -1e9 : bin < 128 ? -size : size;
}

double ek_spread_edge(int bin)
{
    return bin == 0 ? -1e9 : -6 + bin / 14.0;
}

/* Expects at most 1 while the share is at most `bound`. */
static void bet_on_rise(double stake, double usual, float *a, float *b)
{
    double bound = usual > .5 ? 1 - .5 * (1 - usual) : fmax(1.5 * usual, usual + .02);
    if (usual > NEARLY_ALL)
        return;
    *a = (float)(1 - stake);
    *b = (float)(stake / bound / EK_SHARE_WHOLE);
}

static void bet_on_fall(double stake, double usual, float *a, float *b)
{
    double bound = fmin(usual > .5 ? usual - .5 * (1 - usual) : usual / 1.5, usual - .02);
    if (usual < .05 || bound <= 0)
        return;
    *a = (float)(1 - stake + stake / (1 - bound));
    *b = (float)(-stake / (1 - bound) / EK_SHARE_WHOLE);
}

/* Whether a bet is on fewer of them: of what most values are, one of the two; of what all are,
 * both, for there cannot be more. */
static bool falls(int share, double usual, bool cautious)
{
    if (share == EK_SHARE_NEGATIVE)
        return usual > .5;
    return (share == EK_SHARE_MISSING || share == EK_SHARE_ZERO) &&
           (usual > NEARLY_ALL || (usual > .5 && !cautious));
}

void ek_feature_bets_fill(struct ek_feature_bets *f, const struct ek_bet_tables *t,
                          const struct ek_baseline *b)
{
    f->level = t->level[ek_far_class(b->queries)];
    for (int i = 0; i < 2 * EK_SHARES; i++) {
        int share = i % EK_SHARES;
        double stake = i < EK_SHARES ? CAUTIOUS : BOLD;
        f->line[0][i] = 1;
        f->line[1][i] = 0;
        if (falls(share, b->share[share], i < EK_SHARES))
            bet_on_fall(stake, b->share[share], &f->line[0][i], &f->line[1][i]);
        else
            bet_on_rise(stake, b->share[share], &f->line[0][i], &f->line[1][i]);
    }
}

/* Two values that agree are company, where training knows how far apart they may be. */
static const float *cap_of(const struct ek_baseline *b, const struct ek_list_stats *record)
{
    int k = record->usable;
    float most = b->spread_hi[ek_size_class(k)];
    if (k >= 3)
        return record->spread > most ? INCOHERENT : ANY;
    return k == 2 && most < EK_SPREAD_UNKNOWN && record->spread <= most ? ANY : LONELY;
}

static void level_rows(struct ek_bet_step *step, const struct ek_feature_bets *f,
                       const struct ek_baseline *b, const struct ek_list_stats *record, float r)
{
    float inv_sd = ek_baseline_inv_sd(b, record->usable);
    int up = ek_z_bin((r - EK_DEAD_BAND_LEVEL_LN) * inv_sd);
    int down = ek_z_bin((-r - EK_DEAD_BAND_LEVEL_LN) * inv_sd);
    step->level[0] = f->level[b->z_rank[0][up]];
    step->level[1] = f->level[b->z_rank[1][down]];
    step->cap = cap_of(b, record);
}

static void spread_rows(struct ek_bet_step *step, const struct ek_bet_tables *t,
                        const struct ek_baseline *b, const struct ek_list_stats *record)
{
    const uint8_t(*rank)[EK_SPREAD_BINS] = b->spread_rank[ek_size_class(record->usable)];
    int up = ek_spread_bin(record->spread - EK_DEAD_BAND_SPREAD_LN);
    int down = ek_spread_bin(record->spread + EK_DEAD_BAND_SPREAD_LN);
    step->spread[0] = t->spread[rank[0][up]];
    step->spread[1] = t->spread[rank[1][down]];
}

static void step_of(struct ek_bet_step *step, const struct ek_bet_list *l, int feature,
                    float residual)
{
    const struct ek_list_stats *record = &l->record[feature];
    const struct ek_baseline *b = &l->baseline[feature];
    const struct ek_feature_bets *f = &l->bets[feature];
    *step = (struct ek_bet_step){NULL,       {ONES, ONES},  {ONES, ONES},    ANY,
                                 f->line[0], record->share, l->fair[feature]};
    if (record->usable > 0)
        level_rows(step, f, b, record, residual);
    if (record->usable >= 3)
        spread_rows(step, l->tables, b, record);
}

void ek_bet_steps_of(struct ek_bet_step *step, const struct ek_bet_list *list, const int *feature,
                     int count, const float *residual)
{
    for (int i = 0; i < count; i++)
        step_of(&step[i], list, feature[i], residual[i]);
}

void ek_bets_of(const struct ek_bet_tables *t, const struct ek_feature_bets *f,
                const struct ek_baseline *b, const struct ek_list_stats *record, float residual,
                float *e)
{
    struct ek_bet_list list = {t, f, b, record, &ONES};
    struct ek_bet_step step;
    step_of(&step, &list, 0, residual);
    ek_bet_values(&step, e);
}

bool ek_bet_on_level(int bet)
{
    return bet < EK_BET_SHARES && bet % EK_BET_DOWN < EK_LEVEL_BETS;
}

const char *ek_bet_name(int bet)
{
    static const char *const shares[EK_SHARES] = {"missing", "zero", "negative", "tied"};
    if (bet >= EK_BET_SHARES)
        return shares[(bet - EK_BET_SHARES) % EK_SHARES];
    if (ek_bet_on_level(bet))
        return bet < EK_BET_DOWN ? "level up" : "level down";
    return bet < EK_BET_DOWN ? "spread up" : "spread down";
}
