/* Tables of the bets, as functions of the rank score only. */
#include "detect/evalue_tests.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Shifts that A and B are most sensitive to, in standard deviations. */
static const double SLOW_SHIFT = .32, MEDIUM_SHIFT = 1.3;
static const double ALARM_LN = 20; /* evidence of one bet at the alarm, usually */
static const double Y_LOW = -3.5, Y_STEP = 1.0 / 32;
/* Smallest p of a rank, by class of training size. */
static const double FAR_P[EK_FAR_CLASSES] = {1e-5, 3.4e-5, 1.1e-4, 3.5e-4, 1.1e-3, 3.5e-3};
/* A p below that of the second largest of n training lists is too uncertain for a bet. */
static const double LISTS_BEYOND = 2;

double ek_normal_cdf(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

/* Newton steps on erfc from a rational start (Abramowitz and Stegun 26.2.23). */
double ek_normal_quantile(double p)
{
    if (p <= 0)
        return -INFINITY;
    if (p >= 1)
        return INFINITY;
    double tail = p < 0.5 ? p : 1 - p, t = sqrt(-2 * log(tail));
    double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int i = 0; i < 4; i++) {
        double error = ek_normal_cdf(-x) - tail;
        double density = exp(-0.5 * x * x) / sqrt(2 * M_PI);
        x += error / density;
    }
    return p < 0.5 ? -x : x;
}

double ek_table_y(int row)
{
    return Y_LOW + row * Y_STEP;
}

uint8_t ek_table_row(double p)
{
    double bounded = p < 1e-12 ? 1e-12 : p > 1 - 1e-12 ? 1 - 1e-12 : p;
    double row = floor((-ek_normal_quantile(bounded) - Y_LOW) / Y_STEP);
    return (uint8_t)(row < 0 ? 0 : row > EK_TABLE_ROWS - 1 ? EK_TABLE_ROWS - 1 : row);
}

int ek_far_class(uint64_t lists)
{
    int class = 0;
    while (class < EK_FAR_CLASSES - 1 && FAR_P[class] * ((double)lists + 1) < LISTS_BEYOND)
        class ++;
    return class;
}

double ek_far_p(int class)
{
    return FAR_P[class];
}

/* Return the likelihood ratio of a normal mean d against 0. */
static double likelihood_ratio(double d, double y)
{
    return exp(d * y - d * d / 2);
}

/* Function of the row: 1 / p for ranks of at most p, else 0. */
struct atom {
    int first;
    double value;
};

static struct atom make_atom(double p)
{
    int first = ek_table_row(p);
    return (struct atom){first, 1 / ek_normal_cdf(-ek_table_y(first))};
}

static double atom(struct atom a, int row)
{
    return row >= a.first ? a.value : 0;
}

/* Set below to Phi at the grid values, then 1: row i has probability below[i + 1] - below[i]. */
static void fill_below(double below[EK_TABLE_ROWS + 1])
{
    for (int i = 0; i < EK_TABLE_ROWS; i++)
        below[i] = ek_normal_cdf(ek_table_y(i));
    below[EK_TABLE_ROWS] = 1;
}

/* Divide a column by its exact expectation on the grid without a shift. */
static void normalize_mean(float *column, const double below[EK_TABLE_ROWS + 1])
{
    double mean = column[0] * below[0];
    for (int i = 0; i < EK_TABLE_ROWS; i++)
        mean += column[i * EK_BET_ROW] * (below[i + 1] - below[i]);
    for (int i = 0; i < EK_TABLE_ROWS; i++)
        column[i * EK_BET_ROW] = (float)(column[i * EK_BET_ROW] / mean);
}

/* C is constant beyond y = 3.1, where D and F apply. */
static void fill_level(float table[EK_TABLE_ROWS][EK_BET_ROW], double far_p,
                       const double below[EK_TABLE_ROWS + 1])
{
    struct atom far = make_atom(far_p), rare = make_atom(fmax(far_p, 1.05e-3));
    for (int i = 0; i < EK_TABLE_ROWS; i++) {
        double y = ek_table_y(i);
        float *row = table[i];
        row[0] = (float)likelihood_ratio(SLOW_SHIFT, y);
        row[1] =
            (float)(.97 * (.05 + .95 * likelihood_ratio(MEDIUM_SHIFT, y)) + .03 * atom(rare, i));
        row[2] = (float)(.9 + .1 * likelihood_ratio(1.8, fmin(y, 3.1)));
        row[3] = (float)(.985 + .015 * atom(far, i));
        row[4] = (float)(.99 + .01 * atom(rare, i));
        row[5] = (float)(.85 + .15 * atom(far, i));
        row[EK_BET_SPREAD_UP] = row[EK_BET_SPREAD_FAR] = EK_ABOVE_BETS;
    }
    for (int b = 0; b < EK_LEVEL_BETS; b++)
        normalize_mean(&table[0][b], below);
}

static void fill_nothing(float table[EK_TABLE_ROWS][EK_BET_ROW])
{
    for (int i = 0; i < EK_TABLE_ROWS; i++)
        for (int lane = 0; lane < EK_BET_ROW; lane++)
            table[i][lane] = lane < EK_LEVEL_BETS ? 1 : EK_ABOVE_BETS;
}

static void bet_weights_fill(float *weight)
{
    static const double level[EK_LEVEL_BETS] = {12, 4, 3, .5, .25, 1};
    const double spread = 1, spread_far = .5, cautious = .5, bold = .25;
    double total = 0;
    for (int i = 0; i < EK_LEVEL_BETS; i++)
        weight[i] = weight[EK_BET_DOWN + i] = (float)level[i];
    weight[EK_BET_SPREAD_UP] = weight[EK_BET_SPREAD_DOWN] = (float)spread;
    weight[EK_BET_SPREAD_FAR] = weight[EK_BET_DOWN + EK_BET_SPREAD_FAR] = (float)spread_far;
    for (int i = 0; i < EK_SHARES; i++) {
        weight[EK_BET_SHARES + i] = (float)cautious;
        weight[EK_BET_SHARES + EK_SHARES + i] = (float)bold;
    }
    for (int i = 0; i < EK_BETS; i++)
        total += weight[i];
    for (int i = 0; i < EK_BETS; i++)
        weight[i] = (float)(weight[i] / total);
}

void ek_bet_tables_fill(struct ek_bet_tables *t)
{
    struct atom rare = make_atom(1.1e-3);
    double below[EK_TABLE_ROWS + 1];
    fill_below(below);
    memset(t, 0, offsetof(struct ek_bet_tables, tempered_level));
    for (int class = 0; class < EK_FAR_CLASSES; class ++)
        fill_level(t->level[class], FAR_P[class], below);
    fill_nothing(t->level[EK_FAR_NOTHING]);
    for (int i = 0; i < EK_TABLE_ROWS; i++) {
        for (int lane = 0; lane < EK_LEVEL_BETS; lane++)
            t->spread[i][lane] = 1;
        t->spread[i][EK_BET_SPREAD_UP] =
            (float)(.97 * likelihood_ratio(1, ek_table_y(i)) + .03 * atom(rare, i));
        t->spread[i][EK_BET_SPREAD_FAR] = (float)(.97 + .03 * atom(rare, i));
    }
    normalize_mean(&t->spread[0][EK_BET_SPREAD_UP], below);
    normalize_mean(&t->spread[0][EK_BET_SPREAD_FAR], below);
    bet_weights_fill(t->weight);
}

#define ANY EK_ABOVE_BETS
const float ek_bet_caps[EK_CAPS][EK_BET_ROW] = {
    [EK_CAP_NONE] = {ANY, ANY, ANY, ANY, ANY, ANY, 1, 1},
    [EK_CAP_INCOHERENT] = {1, 1, 1, 1, 1, 1, 1, 1},
    [EK_CAP_LONELY] = {ANY, ANY, ANY, 1, 1, 1, 1, 1},
};
/* Stakes of the two bets on a share: for a tenth of the lists being wholly so, and for a part of
 * the values of each list. */
static const double CAUTIOUS = .1, BOLD = .5;
static const double NEARLY_ALL = .98; /* a share that cannot rise */
enum { STAKE_STEPS = 30, TEMPERS_PER_TWO = 4, LEVEL_SOME = 2 };
static const double WHOLE_USER = 16;
static const double TEMPER_SLACK = 1.03;

static double temper_deff(int step)
{
    return exp2((double)step / TEMPERS_PER_TWO);
}

/* Return the step of a design effect, rounded up unless within 3%. */
static int temper_step(double deff)
{
    double step = deff > TEMPER_SLACK ? ceil(TEMPERS_PER_TWO * log2(deff / TEMPER_SLACK)) : 0;
    return step < EK_TEMPER_STEPS - 1 ? (int)step : EK_TEMPER_STEPS - 1;
}

/* Bets on some of the lists gather over thousands of lists: the design effect of 1,024 is a part of
 * theirs, where many users search at a time. A user has some ten lists. */
static double effect_of_some(double deff)
{
    return fmin(deff * deff, fmax(deff, WHOLE_USER));
}

/* Which design effect of a baseline bounds a bet. */
static int respect_of(int bet)
{
    if (bet >= EK_BET_SHARES)
        return EK_RESPECT_SHARES + (bet - EK_BET_SHARES) % EK_SHARES;
    return ek_bet_is_level(bet) ? EK_RESPECT_LEVEL : EK_RESPECT_SPREAD;
}

double ek_bet_deff(const struct ek_baseline *b, int bet)
{
    double deff = temper_deff(temper_step((double)b->deff[respect_of(bet)]));
    bool some = bet < EK_BET_SHARES && (bet % EK_BET_DOWN == EK_BET_SPREAD_FAR ||
                                        (ek_bet_is_level(bet) && bet % EK_BET_DOWN >= LEVEL_SOME));
    return some ? effect_of_some(deff) : deff;
}

/* Lanes from `some` on are bets on some of the lists. */
static void temper(const float (*from)[EK_BET_ROW], float (*to)[EK_BET_ROW], double deff, int some)
{
    for (int i = 0; i < EK_TABLE_ROWS; i++)
        for (int lane = 0; lane < EK_BET_ROW; lane++) {
            double e = (double)from[i][lane], m = lane < some ? deff : effect_of_some(deff);
            to[i][lane] = from[i][lane] < EK_ABOVE_BETS ? (float)pow(e, 1 / m) : EK_ABOVE_BETS;
        }
}

static const float (*level_table(struct ek_bet_tables *t, int class, int step))[EK_BET_ROW]
{
    const float(*plain)[EK_BET_ROW] = (const float(*)[EK_BET_ROW])t->level[class];
    if (!step)
        return plain;
    if (!t->has_level[class][step])
        temper(plain, t->tempered_level[class][step], temper_deff(step), LEVEL_SOME);
    t->has_level[class][step] = 1;
    return (const float(*)[EK_BET_ROW])t->tempered_level[class][step];
}

static const float (*spread_table(struct ek_bet_tables *t, int step))[EK_BET_ROW]
{
    const float(*plain)[EK_BET_ROW] = (const float(*)[EK_BET_ROW])t->spread;
    if (!step)
        return plain;
    if (!t->has_spread[step])
        temper(plain, t->tempered_spread[step], temper_deff(step), EK_BET_SPREAD_FAR);
    t->has_spread[step] = 1;
    return (const float(*)[EK_BET_ROW])t->tempered_spread[step];
}

double ek_z_edge(int bin)
{
    double steps = fabs(bin - 128.0), size = steps < 80 ? steps / 16 : 5 + (steps - 80) / 4;
    return bin == 0 ? -1e9 : bin < 128 ? -size : size;
}

double ek_spread_edge(int bin)
{
    return bin == 0 ? -1e9 : -6 + bin / 14.0;
}

/* Largest stake up to `stake` of a bet worth 1 - stake + stake `whole` in lists that are wholly so,
 * and 1 - stake + stake `none` in others, whose m-th power expects at most 1 when a part `usual` of
 * the lists is wholly so: of all laws with that mean, these lists have the largest power. */
static double safe_stake(double stake, double usual, double none, double whole, double deff)
{
    double low = 0, high = stake;
    for (int i = 0; deff > 1 && i < STAKE_STEPS; i++) {
        double middle = i ? (low + high) / 2 : stake;
        double power = (1 - usual) * pow(1 - middle + middle * none, deff) +
                       usual * pow(1 - middle + middle * whole, deff);
        if (power > 1)
            high = middle;
        else
            low = middle;
        if (!i && power <= 1)
            return stake;
    }
    return deff > 1 ? low : stake;
}

/* What a bet on a share needs to know of it. */
struct share_law {
    double usual, wander, deff;
};

/* Expects at most 1 while the share is at most `bound`. */
static void bet_on_rise(double stake, const struct share_law *law, float *a, float *b)
{
    double usual = law->usual;
    double bound = usual > .5 ? 1 - .5 * (1 - usual) : fmax(1.5 * usual, usual + .02);
    bound = fmax(bound, usual + law->wander);
    if (usual > NEARLY_ALL || bound >= 1)
        return;
    stake = safe_stake(stake, usual, 0, 1 / bound, law->deff);
    *a = (float)(1 - stake);
    *b = (float)(stake / bound / EK_SHARE_WHOLE);
}

static void bet_on_fall(double stake, const struct share_law *law, float *a, float *b)
{
    double usual = law->usual;
    double bound = fmin(usual > .5 ? usual - .5 * (1 - usual) : usual / 1.5, usual - .02);
    bound = fmin(bound, usual - law->wander);
    if (usual < .05 || bound <= 0)
        return;
    stake = safe_stake(stake, usual, 1 / (1 - bound), 0, law->deff);
    *a = (float)(1 - stake + stake / (1 - bound));
    *b = (float)(-stake / (1 - bound) / EK_SHARE_WHOLE);
}

/* Return whether a bet is on a fall of the share: one of the two bets if most values have the
 * property in training, both if nearly all have it. */
static bool is_fall_bet(int share, double usual, bool cautious)
{
    if (share == EK_SHARE_NEGATIVE)
        return usual > .5;
    return (share == EK_SHARE_MISSING || share == EK_SHARE_ZERO) &&
           (usual > NEARLY_ALL || (usual > .5 && !cautious));
}

void ek_feature_bets_fill(struct ek_feature_bets *f, struct ek_bet_tables *t,
                          const struct ek_baseline *b)
{
    double deff = fmax((double)b->deff[EK_RESPECT_LEVEL], 1);
    uint64_t lists = (uint64_t)((double)b->queries / deff);
    f->level = level_table(t, ek_far_class(lists), temper_step(deff));
    f->spread = spread_table(t, temper_step((double)b->deff[EK_RESPECT_SPREAD]));
    for (int i = 0; i < 2 * EK_SHARES; i++) {
        int share = i % EK_SHARES;
        double stake = i < EK_SHARES ? CAUTIOUS : BOLD;
        const struct share_law law = {(double)b->share[share], (double)b->share_wander[share],
                                      ek_bet_deff(b, EK_BET_SHARES + i)};
        f->line[0][i] = 1;
        f->line[1][i] = 0;
        if (is_fall_bet(share, law.usual, i < EK_SHARES))
            bet_on_fall(stake, &law, &f->line[0][i], &f->line[1][i]);
        else
            bet_on_rise(stake, &law, &f->line[0][i], &f->line[1][i]);
    }
}

void ek_evalue_null_init(struct ek_evalue_null *law, const struct ek_feature_bets *f,
                         const struct ek_baseline *b)
{
    memset(law, 0, sizeof *law);
    memcpy(law->line, f->line, sizeof law->line);
    for (int i = 0; i < EK_Z_BINS; i++) {
        law->z[i][0] = b->z_rank[0][i];
        law->z[ek_z_place_down(i)][1] = b->z_rank[1][i];
    }
    for (int c = 0; c < EK_SIZE_CLASSES; c++)
        for (int i = 0; i < EK_SPREAD_BINS; i++) {
            law->spread[c][ek_spread_place_up(i)][0] = b->spread_rank[c][0][i];
            law->spread[c][i][1] = b->spread_rank[c][1][i];
        }
}

/* Return the cap of the level bets. Incoherent items are no evidence of a level. A far value needs
 * a second value that agrees, where training knows the spread of two. */
static enum ek_bet_cap find_cap(float spread_hi, int usable, float spread)
{
    if (usable >= 3)
        return spread > spread_hi ? EK_CAP_INCOHERENT : EK_CAP_NONE;
    return usable == 2 && spread_hi < EK_SPREAD_UNKNOWN && spread <= spread_hi ? EK_CAP_NONE
                                                                               : EK_CAP_LONELY;
}

static void level_bets(const struct ek_feature_bets *f, const struct ek_baseline *b, float band,
                       const struct ek_list_stats *record, float r, float *e)
{
    float inv_sd = ek_baseline_inv_sd(b, record->usable);
    int bin[2] = {ek_z_bin((r - band) * inv_sd), ek_z_bin((-r - band) * inv_sd)};
    float spread_hi = b->spread_hi[ek_size_class(record->usable)];
    const float *cap = ek_bet_caps[find_cap(spread_hi, record->usable, record->spread)];
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < EK_LEVEL_BETS; i++)
            e[side * EK_BET_DOWN + i] = fminf(f->level[b->z_rank[side][bin[side]]][i], cap[i]);
}

static void spread_bets(const struct ek_feature_bets *f, const struct ek_baseline *b,
                        const struct ek_list_stats *record, float *e)
{
    const uint8_t(*rank)[EK_SPREAD_BINS] = b->spread_rank[ek_size_class(record->usable)];
    int bin[2] = {ek_spread_bin(record->spread - EK_DEAD_BAND_SPREAD_LN),
                  ek_spread_bin(record->spread + EK_DEAD_BAND_SPREAD_LN)};
    for (int side = 0; side < 2; side++)
        for (int i = EK_BET_SPREAD_UP; i <= EK_BET_SPREAD_FAR; i++)
            e[side * EK_BET_DOWN + i] = f->spread[rank[side][bin[side]]][i];
}

/* Shares are rounded down; a bet on a fall uses the next higher share, which is conservative. */
static float share_bet(const struct ek_feature_bets *f, int i, uint8_t share)
{
    float a = f->line[0][i], b = f->line[1][i];
    int at = share + (b < 0 && share > 0);
    return share > EK_SHARE_WHOLE ? 1 : a + b * (float)at;
}

void ek_bets_compute(const struct ek_feature_bets *f, const struct ek_baseline *b, float band,
                     const struct ek_list_stats *record, float residual, float *e)
{
    for (int i = 0; i < EK_BET_SHARES; i++)
        e[i] = 1;
    if (record->usable > 0)
        level_bets(f, b, band, record, residual, e);
    if (record->usable >= 3)
        spread_bets(f, b, record, e);
    for (int i = 0; i < EK_BET_ROW; i++)
        e[EK_BET_SHARES + i] = share_bet(f, i, record->share[i % EK_SHARES]);
}

int ek_bet_delay(const struct ek_baseline *b, double factor)
{
    const double slope[LEVEL_SOME] = {SLOW_SHIFT, MEDIUM_SHIFT}, far = 4.2;
    double shift = (fabs(log(factor)) - (double)ek_baseline_band(b)) / fmax((double)b->sd, 1e-6);
    double most = 0;
    for (int i = 0; i < LEVEL_SOME; i++)
        most = fmax(most, slope[i] * fmin(shift, far) - slope[i] * slope[i] / 2);
    double lists = most > 0 ? ceil(ALARM_LN * ek_bet_deff(b, 0) / most) : INFINITY;
    return b->queries && lists <= EK_REPORTED_DELAY ? (int)lists : 0;
}

bool ek_bet_is_level(int bet)
{
    return bet < EK_BET_SHARES && bet % EK_BET_DOWN < EK_LEVEL_BETS;
}

int ek_bet_strongest(const float *r, const float *weight)
{
    int best = 0;
    for (int i = 1; i < EK_BETS; i++)
        if (weight[i] * r[i] > weight[best] * r[best])
            best = i;
    return best;
}

const char *ek_bet_name(int bet)
{
    static const char *const shares[EK_SHARES] = {"missing", "zero", "negative", "tied"};
    if (bet >= EK_BET_SHARES)
        return shares[(bet - EK_BET_SHARES) % EK_SHARES];
    if (ek_bet_is_level(bet))
        return bet < EK_BET_DOWN ? "level up" : "level down";
    return bet < EK_BET_DOWN ? "spread up" : "spread down";
}
