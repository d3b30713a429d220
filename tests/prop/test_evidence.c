/* False-alarm budget by simulation: for any level within the dead band, every bet has expectation
 * at most 1, and the rate of alarms is at most the budget.
 *
 * Every world has its own distribution, training lists and profile. Ranks are unbiased over
 * training sets, so means are over worlds; the tolerance is 4 standard errors.
 */
#include "base/alloc.h"
#include "base/rng.h"
#include "detect/evidence.h"
#include "detect/list_stats_builder.h"
#include "offline/fit/stratum_fit.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { WORLDS = 40, TRAINING = 4000, LISTS = 6000, STANDARD_ERRORS = 4 };

enum drift { NONE, UP, DOWN, WAVES, AGAINST_US, DRIFTS };

struct law {
    double between, within, tail, missing, zero, negative;
};

struct world {
    struct law law;
    struct ek_bet_tables tables;
    struct ek_baseline baseline;
    struct ek_feature_bets bets;
    float band, level, density[EK_DENSITY_BINS], calibration[EK_CALIBRATED], bet_scale[EK_BETS];
};

/* Draw from Student's t with 4 degrees of freedom and variance 1 with probability `tail`, else from
 * a normal distribution. */
static double effect(struct ek_rng *r, double tail)
{
    double z = ek_rng_normal(r), squares = 0;
    if (ek_rng_uniform(r) >= tail)
        return z;
    for (int i = 0; i < 4; i++) {
        double x = ek_rng_normal(r);
        squares += x * x;
    }
    return z / sqrt(squares / 4) * M_SQRT1_2;
}

static uint8_t count_share(struct ek_rng *r, int items, double rate)
{
    int hits = 0;
    for (int i = 0; i < items; i++)
        hits += ek_rng_uniform(r) < rate;
    return (uint8_t)(EK_SHARE_WHOLE * hits / items);
}

/* Draw a list with its level moved by `drift` and its rate of missing values multiplied by
 * `more`. */
static struct ek_list_stats list(struct ek_rng *r, const struct law *law, double drift, double more)
{
    int items = 1 + (int)exp(1.9 + .9 * ek_rng_normal(r));
    items = items > 50 ? 50 : items;
    double squares = 0, mean = 0;
    for (int i = 0; i < items; i++) {
        double x = law->within * ek_rng_normal(r);
        mean += x / items;
        squares += x * x;
    }
    double variance = items > 1 ? (squares - items * mean * mean) / (items - 1) : 0;
    struct ek_list_stats o = {
        .r = (float)(3 + drift + law->between * effect(r, law->tail) + mean),
        .spread = items > 1 ? (float)(.5 * log(fmax(variance, 6.2e-6))) : NAN,
        .share = {count_share(r, items, law->missing * more), count_share(r, items, law->zero),
                  count_share(r, items, law->negative), 0},
        .usable = (uint16_t)items,
    };
    return o;
}

static void train(struct world *w, struct ek_rng *r)
{
    struct ek_list_stats *record = ek_calloc(TRAINING, sizeof *record);
    double *values = ek_calloc(TRAINING, sizeof *values), scratch[2 + 2 * EK_BETS];
    int *stratum = ek_calloc(TRAINING, sizeof *stratum);
    int64_t *time_ms = ek_calloc(TRAINING, sizeof *time_ms);
    uint32_t *order = ek_calloc(TRAINING, sizeof *order);
    float season[EK_DAY_BINS];
    for (int q = 0; q < TRAINING; q++) {
        record[q] = list(r, &w->law, 0, 1);
        time_ms[q] = -1;
        order[q] = (uint32_t)q;
    }
    const size_t start[] = {0, TRAINING};
    const struct ek_list_groups view = {order, start, 1};
    struct ek_baseline_fit fit = {TRAINING, record,  stratum,     1,           &w->tables,
                                  values,   scratch, scratch + 1, scratch + 2, &view,
                                  1,        time_ms, false,       season,      false};
    ek_baseline_fit_feature(&fit, &w->baseline, &w->level, &w->band, w->density, w->calibration);
    ek_feature_bets_fill(&w->bets, &w->tables, &w->baseline);
    for (int i = 0; i < EK_BETS; i++)
        w->bet_scale[i] = 1 / w->calibration[i];
    ek_free(record);
    ek_free(values);
    ek_free(stratum);
    ek_free(time_ms);
    ek_free(order);
}

static struct world *world(struct ek_rng *r)
{
    static struct world w;
    memset(&w, 0, sizeof w);
    w.law = (struct law){.between = .15 + .4 * ek_rng_uniform(r),
                         .within = .2 + .6 * ek_rng_uniform(r),
                         .tail = ek_rng_uniform_int(r, 2) ? 1 : 0,
                         .missing = ek_rng_uniform_int(r, 2) ? .3 * ek_rng_uniform(r) : 0,
                         .zero = .6 * ek_rng_uniform(r),
                         .negative = ek_rng_uniform(r)};
    ek_bet_tables_fill(&w.tables);
    train(&w, r);
    return &w;
}

/* Return the level of list i. AGAINST_US moves toward the larger evidence. */
static double drift_at(enum drift kind, int i, const float *evidence)
{
    double most = .999 * EK_DEAD_BAND_LEVEL_LN;
    switch (kind) {
    case UP:
        return most;
    case DOWN:
        return -most;
    case WAVES:
        return most * sin(i / 50.);
    case AGAINST_US:
        return evidence[0] > evidence[EK_BET_DOWN] ? most : -most;
    default:
        return 0;
    }
}

struct moments {
    double sum[EK_BETS], squares[EK_BETS];
};

/* Add the mean of every bet over the lists of one world. */
static void add_world(const struct world *w, struct ek_rng *r, enum drift kind, struct moments *m)
{
    float evidence[EK_BETS] = {0};
    double mean[EK_BETS] = {0};
    for (int i = 0; i < LISTS; i++) {
        struct ek_list_stats o = list(r, &w->law, drift_at(kind, i, evidence), 1.4);
        float e[EK_BETS];
        ek_bets_compute(&w->bets, &w->baseline, EK_DEAD_BAND_LEVEL_LN, &o, o.r - w->level, e);
        for (int b = 0; b < EK_BETS; b++) {
            e[b] *= w->bet_scale[b];
            mean[b] += e[b] / LISTS;
            evidence[b] = (evidence[b] + 1) * e[b];
        }
    }
    for (int b = 0; b < EK_BETS; b++) {
        m->sum[b] += mean[b];
        m->squares[b] += mean[b] * mean[b];
    }
}

START_TEST(no_bet_expects_more_than_one_inside_the_dead_band)
{
    struct moments m[DRIFTS];
    struct ek_rng r;
    memset(m, 0, sizeof m);
    ek_rng_seed(&r, 21);
    for (int i = 0; i < WORLDS; i++) {
        const struct world *w = world(&r);
        for (int kind = 0; kind < DRIFTS; kind++)
            add_world(w, &r, (enum drift)kind, &m[kind]);
    }
    for (int kind = 0; kind < DRIFTS; kind++)
        for (int b = 0; b < EK_BETS; b++) {
            double mean = m[kind].sum[b] / WORLDS;
            double variance = fmax(m[kind].squares[b] / WORLDS - mean * mean, 0);
            double bound = 1 + STANDARD_ERRORS * sqrt(variance / (WORLDS - 1)) + 1e-6;
            ck_assert_msg(mean <= bound, "bet %d (%s) expects %.4f under drift %d, bound %.4f", b,
                          ek_bet_name(b), mean, kind, bound);
        }
}
END_TEST

START_TEST(a_shift_beyond_the_dead_band_is_what_lifts_a_bet)
{
    struct moments m;
    struct ek_rng r;
    memset(&m, 0, sizeof m);
    ek_rng_seed(&r, 22);
    const struct world *w = world(&r);
    double sum = 0;
    for (int i = 0; i < LISTS; i++) {
        struct ek_list_stats o = list(&r, &w->law, .18, 1);
        float e[EK_BETS];
        ek_bets_compute(&w->bets, &w->baseline, EK_DEAD_BAND_LEVEL_LN, &o, o.r - w->level, e);
        sum += e[0] / LISTS;
    }
    ck_assert(sum > 1.05);
}
END_TEST

/* Return the number of alarms in the lists of one world. */
static int alarms(const struct world *w, struct ek_rng *r, enum drift kind,
                  const struct ek_alarm_level *level)
{
    struct ek_evidence_cells *cells;
    struct ek_bet_list *bets;
    struct ek_alarm alarm;
    int count = 0;
    uint16_t evident = 1;
    float band[EK_BET_BLOCK] = {ek_baseline_band(&w->baseline)};
    if (ek_list_bets_new(&bets, &w->tables, &w->bets, &w->baseline, 1) ||
        ek_evidence_cells_new(&cells, 1) || ek_evidence_cells_reserve(cells, 1))
        ck_abort();
    struct ek_evidence_list one = {.bets = bets,
                                   .bet_scale = (const float(*)[EK_BETS])w->bet_scale,
                                   .weight = w->tables.weight,
                                   .cells = cells,
                                   .band = band,
                                   .evident = &evident,
                                   .track_lists = EK_TRACK_LISTS};
    for (int i = 0; i < LISTS; i++) {
        struct ek_list_stats record =
            list(r, &w->law, drift_at(kind, i, ek_evidence_r(cells, 0, 0)), 1);
        record.r -= w->level;
        ek_bet_list_update(bets, &record);
        if (ek_evidence_update(&one, level, &alarm)) {
            count++;
            ek_evidence_restart(cells, 0, 0);
        }
    }
    ek_evidence_cells_free(cells);
    ek_list_bets_free(bets);
    return count;
}

START_TEST(alarms_are_no_more_frequent_than_the_budget)
{
    struct ek_alarm_level level = ek_alarm_level_compute(500, 1, 0);
    struct ek_rng r;
    ek_rng_seed(&r, 23);
    int count = 0;
    for (int i = 0; i < WORLDS; i++) {
        const struct world *w = world(&r);
        for (int kind = 0; kind < DRIFTS; kind++)
            count += alarms(w, &r, (enum drift)kind, &level);
    }
    double budget = (double)WORLDS * DRIFTS * LISTS / 500;
    ck_assert_msg(count <= budget + STANDARD_ERRORS * sqrt(budget), "%d alarms, budget %.0f", count,
                  budget);
    ck_assert_msg(count > 0, "a budget of one in 500 is to be used");
}
END_TEST

Suite *suite_evidence(void)
{
    return ek_suite("evidence", no_bet_expects_more_than_one_inside_the_dead_band,
                    a_shift_beyond_the_dead_band_is_what_lifts_a_bet,
                    alarms_are_no_more_frequent_than_the_budget);
}
