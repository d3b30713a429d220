#include "decide/bets.h"

#include <math.h>
#include <string.h>

static const double Y_LOW = -4, Y_STEP = 1.0 / 32;

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

/* Likelihood ratio of a normal mean d against 0. */
static double score(double d, double y)
{
    return exp(d * y - d * d / 2);
}

/* 1/p on the rows whose tail is at most p, 0 else. */
static double atom(double p, int row)
{
    double from = ek_normal_quantile(1 - p) - 1e-3;
    int first = (int)ceil((from - Y_LOW) / Y_STEP);
    return row >= first ? 1 / ek_normal_cdf(-ek_table_y(first)) : 0;
}

/* Divides a column by its exact expectation on the grid under no shift. */
static void unit_mean(float *column, int stride)
{
    double mean = column[0] * ek_normal_cdf(ek_table_y(0));
    for (int i = 0; i < EK_TABLE_ROWS; i++) {
        double above = i + 1 < EK_TABLE_ROWS ? ek_normal_cdf(ek_table_y(i + 1)) : 1;
        mean += column[i * stride] * (above - ek_normal_cdf(ek_table_y(i)));
    }
    for (int i = 0; i < EK_TABLE_ROWS; i++)
        column[i * stride] = (float)(column[i * stride] / mean);
}

void ek_bet_tables_fill(struct ek_bet_tables *t)
{
    static const double weight[EK_BETS] = {4, 2, 1, 1, .5, 4, 2, 1, 1, .5, 1, 1, .5, .5, .5, .5};
    double total = 0;
    memset(t, 0, sizeof *t);
    for (int i = 0; i < EK_TABLE_ROWS; i++) {
        double y = ek_table_y(i);
        t->level[i][0] = (float)score(.4, y);
        t->level[i][1] = (float)(.95 * (.05 + .95 * score(1.2, y)) + .05 * atom(1e-3, i));
        t->level[i][2] = (float)(.9 + .1 * score(1.8, y));
        t->level[i][3] = (float)(.985 + .015 * atom(1.05e-4, i));
        t->level[i][4] = (float)(.99 + .01 * atom(1.1e-3, i));
        t->spread[i] = (float)(.97 * score(1, y) + .03 * atom(1.1e-3, i));
    }
    for (int b = 0; b < EK_LEVEL_UP_BETS; b++)
        unit_mean(&t->level[0][b], 8);
    unit_mean(t->spread, 1);
    for (int i = 0; i < EK_BETS; i++)
        total += weight[i];
    for (int i = 0; i < EK_BETS; i++)
        t->weight[i] = (float)(weight[i] / total);
}

int ek_z_bin(float z)
{
    float size = fabsf(z), steps = fminf(fminf(size * 16, 60 + size * 4), 128);
    return (int)(copysignf(steps, z) + 128);
}

double ek_z_edge(int bin)
{
    double steps = fabs(bin - 128.0), size = steps < 80 ? steps / 16 : 5 + (steps - 80) / 4;
    return bin == 0 ? -1e9 : bin < 128 ? -size : size;
}

int ek_spread_bin(float spread)
{
    return (int)fminf(fmaxf((spread + 6) * 14, 0), EK_SPREAD_BINS - 1);
}

double ek_spread_edge(int bin)
{
    return bin == 0 ? -1e9 : -6 + bin / 14.0;
}

static void bet_on_rise(struct ek_share_bets *s, int i, double usual)
{
    double bound = usual > .5 ? 1 - .5 * (1 - usual) : fmax(1.5 * usual, usual + .02);
    if (usual > .98)
        return;
    s->a[i] = .6f;
    s->b[i] = (float)(.4 / bound / EK_SHARE_WHOLE);
}

static void bet_on_fall(struct ek_share_bets *s, int i, double usual)
{
    double bound = fmin(usual > .5 ? usual - .5 * (1 - usual) : usual / 1.5, usual - .02);
    if (usual < .05 || bound <= 0)
        return;
    s->a[i] = (float)(.6 + .4 / (1 - bound));
    s->b[i] = (float)(-.4 / (1 - bound) / EK_SHARE_WHOLE);
}

void ek_share_bets_fill(struct ek_share_bets *s, const struct ek_baseline *b)
{
    for (int i = 0; i < EK_SHARES; i++) {
        s->a[i] = 1;
        s->b[i] = 0;
        if (i == EK_SHARE_NEGATIVE && b->share[i] > .5f)
            bet_on_fall(s, i, b->share[i]);
        else
            bet_on_rise(s, i, b->share[i]);
    }
}

static float at_most_1(float e)
{
    return e < 1 ? e : 1;
}

static void level_bets(const struct ek_bet_tables *t, const struct ek_baseline *b,
                       const struct ek_list_stats *record, float r, float *e)
{
    enum { UP = EK_LEVEL_UP_BETS };
    static const int needs_company[] = {3, 4, UP + 3, UP + 4};
    int k = record->usable;
    float inv_sd = b->inv_sd[k < EK_SD_SIZES ? k : EK_SD_SIZES - 1];
    int up = ek_z_bin((r - EK_DEAD_BAND_LEVEL_LN) * inv_sd);
    int down = ek_z_bin((-r - EK_DEAD_BAND_LEVEL_LN) * inv_sd);
    memcpy(e, t->level[b->z_rank[0][up]], UP * sizeof *e);
    memcpy(e + UP, t->level[b->z_rank[1][down]], UP * sizeof *e);
    if (k >= 3 && record->spread > b->spread_hi[ek_size_class(k)]) {
        for (int i = 0; i < EK_LEVEL_BETS; i++)
            e[i] = at_most_1(e[i]); /* an incoherent list is no evidence of a level */
    } else if (k < 3) {
        for (int i = 0; i < 4; i++)
            e[needs_company[i]] = at_most_1(e[needs_company[i]]);
    }
}

static void spread_bets(const struct ek_bet_tables *t, const struct ek_baseline *b,
                        const struct ek_list_stats *record, float *e)
{
    const uint8_t(*rank)[EK_SPREAD_BINS] = b->spread_rank[ek_size_class(record->usable)];
    int up = ek_spread_bin(record->spread - EK_DEAD_BAND_SPREAD_LN);
    int down = ek_spread_bin(record->spread + EK_DEAD_BAND_SPREAD_LN);
    e[EK_BET_SPREAD_UP] = t->spread[rank[0][up]];
    e[EK_BET_SPREAD_DOWN] = t->spread[rank[1][down]];
}

void ek_bets_of(const struct ek_bet_tables *t, const struct ek_baseline *b,
                const struct ek_share_bets *s, const struct ek_list_stats *record, float r,
                float *e)
{
    for (int i = 0; i < EK_BETS; i++)
        e[i] = 1;
    if (record->usable > 0)
        level_bets(t, b, record, r, e);
    if (record->usable >= 3)
        spread_bets(t, b, record, e);
    for (int i = 0; i < EK_SHARES; i++) {
        float share = record->share[i];
        if (record->share[i] == EK_SHARE_UNKNOWN)
            continue;
        if (s->b[i] < 0 && share > 0)
            share += 1; /* it was rounded down: the cautious side of a fall is up */
        e[EK_BET_SHARES + i] = s->a[i] + s->b[i] * share;
    }
}

const char *ek_bet_name(int bet)
{
    static const char *const names[EK_BETS - EK_LEVEL_BETS] = {
        "spread up", "spread down", "missing", "zero", "negative", "tied"};
    return bet < EK_LEVEL_UP_BETS ? "level up"
           : bet < EK_LEVEL_BETS  ? "level down"
                                  : names[bet - EK_LEVEL_BETS];
}
