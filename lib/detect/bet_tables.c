/* The tables of the bets: functions of the rank score, and of nothing else. */
#include "detect/bets.h"

#include <math.h>
#include <string.h>

static const double Y_LOW = -3.5, Y_STEP = 1.0 / 32;
/* The smallest p of a rank, by class of training size. */
static const double FAR_P[EK_FAR_CLASSES] = {1e-5, 3.4e-5, 1.1e-4, 3.5e-4, 1.1e-3, 3.5e-3};
/* A p below that of the second largest of n lists is known too badly to bet on. */
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

/* Likelihood ratio of a normal mean d against 0. */
static double score(double d, double y)
{
    return exp(d * y - d * d / 2);
}

/* 1/p on the rows that a rank of p or less has, 0 else. */
struct atom {
    int first;
    double value;
};

static struct atom atom_of(double p)
{
    int first = ek_table_row(p);
    return (struct atom){first, 1 / ek_normal_cdf(-ek_table_y(first))};
}

static double atom(struct atom a, int row)
{
    return row >= a.first ? a.value : 0;
}

/* Phi at the grid values, and 1 behind the last: below[i + 1] - below[i] is what row i weighs. */
static void fill_below(double below[EK_TABLE_ROWS + 1])
{
    for (int i = 0; i < EK_TABLE_ROWS; i++)
        below[i] = ek_normal_cdf(ek_table_y(i));
    below[EK_TABLE_ROWS] = 1;
}

/* Divides a column by its exact expectation on the grid under no shift. */
static void unit_mean(float *column, const double below[EK_TABLE_ROWS + 1])
{
    double mean = column[0] * below[0];
    for (int i = 0; i < EK_TABLE_ROWS; i++)
        mean += column[i * EK_BET_ROW] * (below[i + 1] - below[i]);
    for (int i = 0; i < EK_TABLE_ROWS; i++)
        column[i * EK_BET_ROW] = (float)(column[i * EK_BET_ROW] / mean);
}

/* C gains nothing from values beyond y = 3.1: D and F are for those. */
static void fill_level(float table[EK_TABLE_ROWS][EK_BET_ROW], double far_p,
                       const double below[EK_TABLE_ROWS + 1])
{
    struct atom far = atom_of(far_p), rare = atom_of(fmax(far_p, 1.05e-3));
    for (int i = 0; i < EK_TABLE_ROWS; i++) {
        double y = ek_table_y(i);
        float *row = table[i];
        row[0] = (float)score(.43, y);
        row[1] = (float)(.97 * (.05 + .95 * score(1.3, y)) + .03 * atom(rare, i));
        row[2] = (float)(.9 + .1 * score(1.8, fmin(y, 3.1)));
        row[3] = (float)(.985 + .015 * atom(far, i));
        row[4] = (float)(.99 + .01 * atom(rare, i));
        row[5] = (float)(.85 + .15 * atom(far, i));
        row[EK_BET_SPREAD_UP] = row[EK_BET_SPREAD_FAR] = EK_ABOVE_BETS;
    }
    for (int b = 0; b < EK_LEVEL_BETS; b++)
        unit_mean(&table[0][b], below);
}

static void fill_nothing(float table[EK_TABLE_ROWS][EK_BET_ROW])
{
    for (int i = 0; i < EK_TABLE_ROWS; i++)
        for (int lane = 0; lane < EK_BET_ROW; lane++)
            table[i][lane] = lane < EK_LEVEL_BETS ? 1 : EK_ABOVE_BETS;
}

static void bet_weights_fill(float *weight)
{
    static const double level[EK_LEVEL_BETS] = {7, 4, 3, .5, .25, 1};
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
    struct atom rare = atom_of(1.1e-3);
    double below[EK_TABLE_ROWS + 1];
    fill_below(below);
    memset(t, 0, sizeof *t);
    for (int class = 0; class < EK_FAR_CLASSES; class ++)
        fill_level(t->level[class], FAR_P[class], below);
    fill_nothing(t->level[EK_FAR_NOTHING]);
    for (int i = 0; i < EK_TABLE_ROWS; i++) {
        for (int lane = 0; lane < EK_LEVEL_BETS; lane++)
            t->spread[i][lane] = 1;
        t->spread[i][EK_BET_SPREAD_UP] =
            (float)(.97 * score(1, ek_table_y(i)) + .03 * atom(rare, i));
        t->spread[i][EK_BET_SPREAD_FAR] = (float)(.97 + .03 * atom(rare, i));
    }
    unit_mean(&t->spread[0][EK_BET_SPREAD_UP], below);
    unit_mean(&t->spread[0][EK_BET_SPREAD_FAR], below);
    bet_weights_fill(t->weight);
}
