/* Bets have expectation at most 1 without a change, on which the false-alarm budget depends. */
#include "detect/evalue_tests.h"
#include "detect/evidence.h"
#include "detect/list_stats_builder.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

START_TEST(the_normal_quantile_inverts_the_distribution)
{
    static const double p[] = {1e-12, 1e-4, .01, .3, .5, .9, .999};
    for (size_t i = 0; i < sizeof p / sizeof *p; i++)
        ck_assert_double_eq_tol(ek_normal_cdf(ek_normal_quantile(p[i])) / p[i], 1, 1e-8);
    ck_assert_double_eq_tol(ek_normal_quantile(.975), 1.959963985, 1e-8);
}
END_TEST

static double expectation(float (*table)[EK_BET_ROW], int lane)
{
    double mean = table[0][lane] * ek_normal_cdf(ek_table_y(0));
    for (int i = 0; i < EK_TABLE_ROWS; i++) {
        double above = i + 1 < EK_TABLE_ROWS ? ek_normal_cdf(ek_table_y(i + 1)) : 1;
        mean += table[i][lane] * (above - ek_normal_cdf(ek_table_y(i)));
    }
    return mean;
}

START_TEST(every_table_expects_one_and_never_falls)
{
    static struct ek_bet_tables t;
    ek_bet_tables_fill(&t);
    for (int class = 0; class < EK_FAR_CLASSES; class ++)
        for (int b = 0; b < EK_LEVEL_BETS; b++) {
            ck_assert_double_eq_tol(expectation(t.level[class], b), 1, 1e-5);
            for (int i = 1; i < EK_TABLE_ROWS; i++)
                ck_assert(t.level[class][i][b] >= t.level[class][i - 1][b]);
        }
    ck_assert_double_eq_tol(expectation(t.spread, EK_BET_SPREAD_UP), 1, 1e-5);
    ck_assert_double_eq_tol(expectation(t.spread, EK_BET_SPREAD_FAR), 1, 1e-5);
}
END_TEST

START_TEST(weights_sum_to_one)
{
    static struct ek_bet_tables t;
    double sum = 0;
    ek_bet_tables_fill(&t);
    for (int i = 0; i < EK_BETS; i++)
        sum += t.weight[i];
    ck_assert_double_eq_tol(sum, 1, 1e-6);
}
END_TEST

START_TEST(a_bin_begins_at_its_edge)
{
    for (int bin = 1; bin < EK_Z_BINS; bin++) {
        ck_assert_int_eq(ek_z_bin((float)ek_z_edge(bin) + 1e-4f), bin);
        ck_assert_int_eq(ek_z_bin((float)ek_z_edge(bin) - 1e-4f), bin - 1);
    }
    ck_assert_int_eq(ek_z_bin(1e9f), EK_Z_BINS - 1);
    ck_assert_int_eq(ek_z_bin(-1e9f), 0);
    for (int bin = 1; bin < EK_SPREAD_BINS; bin++)
        ck_assert_int_eq(ek_spread_bin((float)ek_spread_edge(bin) + 1e-4f), bin);
}
END_TEST

START_TEST(what_is_far_follows_from_how_much_training_there_was)
{
    static struct ek_bet_tables t;
    ek_bet_tables_fill(&t);
    for (uint64_t lists = 1; lists < 1000000; lists = lists * 3 / 2 + 1) {
        int class = ek_far_class(lists);
        ck_assert(ek_far_p(class) * (double)(lists + 1) >= 2 || class == EK_FAR_CLASSES - 1);
        ck_assert(class == 0 || ek_far_p(class - 1) * (double)(lists + 1) < 2);
        /* Bets on far values win at the rarest rank. */
        const float *far = t.level[class][ek_table_row(ek_far_p(class))];
        ck_assert(far[3] > 2 && far[5] > far[3]);
    }
}
END_TEST

START_TEST(bets_on_shares_expect_at_most_one_up_to_their_bound)
{
    static struct ek_bet_tables t;
    static const float usual[] = {0, .02f, .2f, .5f, .7f, .97f};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        struct ek_baseline b;
        struct ek_feature_bets s;
        memset(&b, 0, sizeof b);
        for (int j = 0; j < EK_SHARES; j++)
            b.share[j] = usual[i];
        ek_feature_bets_fill(&s, &t, &b);
        for (int j = 0; j < 2 * EK_SHARES; j++) {
            float none = s.line[0][j], all = none + s.line[1][j] * EK_SHARE_WHOLE;
            ck_assert(none + s.line[1][j] * EK_SHARE_WHOLE * usual[i] <= 1.0001f);
            ck_assert(none >= 0 && all >= 0);
        }
    }
}
END_TEST

START_TEST(the_budget_covers_features_and_dimensions)
{
    struct ek_alarm_level one = ek_alarm_level_compute(1e7, 136, 0);
    ck_assert_double_eq_tol(log(one.alarm), 21.03, .01);
    ck_assert_double_eq_tol(ek_alarm_level_compute(1e7, 136, 2).alarm / one.alarm, 3, 1e-5);
}
END_TEST

struct fixture {
    struct ek_bet_tables t;
    struct ek_baseline b;
    struct ek_feature_bets bets;
};

static struct fixture *plain(void)
{
    static struct fixture x;
    memset(&x, 0, sizeof x);
    x.b.queries = 100000;
    for (int k = 0; k < EK_SD_SIZES; k++)
        x.b.inv_sd[k] = 1;
    for (int c = 0; c < EK_SIZE_CLASSES; c++)
        x.b.spread_hi[c] = EK_SPREAD_UNKNOWN;
    for (int i = 0; i < EK_Z_BINS; i++)
        for (int direction = 0; direction < 2; direction++)
            x.b.z_rank[direction][i] =
                ek_table_row(fmax(1 - ek_normal_cdf(ek_z_edge(i)), ek_far_p(1)));
    ek_bet_tables_fill(&x.t);
    ek_feature_bets_fill(&x.bets, &x.t, &x.b);
    return &x;
}

/* Return the bets of a list of k values with this spread, six standard deviations above training.
 * */
static const float *far_list(const struct fixture *x, int k, float spread)
{
    static float e[EK_BETS];
    struct ek_list_stats list = {.usable = (uint16_t)k, .spread = spread};
    ek_bets_compute(&x->bets, &x->b, EK_DEAD_BAND_LEVEL_LN, &list, 6, e);
    return e;
}

START_TEST(a_list_whose_items_do_not_belong_together_is_no_evidence_of_a_level)
{
    struct fixture *x = plain();
    for (int c = 0; c < EK_SIZE_CLASSES; c++)
        x->b.spread_hi[c] = .5f;
    const float *e = far_list(x, 10, .6f);
    for (int i = 0; i < EK_LEVEL_BETS; i++)
        ck_assert(e[i] <= 1 && e[EK_BET_DOWN + i] <= 1);
    ck_assert(far_list(x, 10, .4f)[5] > 100);
}
END_TEST

START_TEST(a_far_value_needs_company_that_agrees)
{
    struct fixture *x = plain();
    ck_assert(far_list(x, 1, NAN)[0] > 1 && far_list(x, 1, NAN)[5] <= 1);
    ck_assert_msg(far_list(x, 2, 0)[5] <= 1, "training does not know what agreement is");
    x->b.spread_hi[0] = .5f;
    ck_assert(far_list(x, 2, .4f)[5] > 100);
    ck_assert(far_list(x, 2, .6f)[5] <= 1 && far_list(x, 2, .6f)[0] > 1);
}
END_TEST

START_TEST(evidence_grows_under_a_shift_and_the_winner_says_which)
{
    struct fixture *x = plain();
    struct ek_evidence_cells *cells;
    struct ek_bet_list *bets;
    struct ek_alarm_level level = ek_alarm_level_compute(1e7, 1, 0);
    struct ek_list_stats record = {.r = -4.6f, .usable = 10, .spread = 0, .share = {0, 0, 0, 0}};
    float bet_scale[1][EK_BETS];
    float band[EK_BET_BLOCK] = {EK_DEAD_BAND_LEVEL_LN};
    uint16_t evident = 1;
    int lists = 0, alarms = 0;
    ck_assert(!ek_list_bets_new(&bets, &x->t, &x->bets, &x->b, 1) &&
              !ek_evidence_cells_new(&cells, 1) && !ek_evidence_cells_reserve(cells, 1));
    struct ek_evidence_list list = {.bets = bets,
                                    .bet_scale = (const float(*)[EK_BETS])bet_scale,
                                    .weight = x->t.weight,
                                    .cells = cells,
                                    .band = band,
                                    .evident = &evident,
                                    .track_lists = EK_TRACK_LISTS};
    struct ek_alarm alarm;
    for (int i = 0; i < EK_BETS; i++)
        bet_scale[0][i] = 1;
    ek_bet_list_update(bets, &record);
    for (; !alarms && lists < 100; lists++)
        alarms = ek_evidence_update(&list, &level, &alarm);
    ck_assert_int_lt(lists, 10);
    ck_assert_int_eq(alarms, 1);
    ck_assert_int_eq(alarm.feature, 0);
    ck_assert(ek_bet_is_level(alarm.bet));
    ck_assert_str_eq(ek_bet_name(alarm.bet), "level down");
    ek_evidence_cells_free(cells);
    ek_list_bets_free(bets);
}
END_TEST

START_TEST(the_tracked_level_stays_inside_its_bounds)
{
    struct ek_evidence_cells *s;
    ck_assert(!ek_evidence_cells_new(&s, 3) && !ek_evidence_cells_reserve(s, 2));
    ek_evidence_shift(s, 1, 2, 5);
    ck_assert_float_eq_tol(ek_evidence_mu(s, 1, 2), 0.18232156f, 1e-6);
    ck_assert(!ek_evidence_cells_reserve(s, 9));
    ek_evidence_shift(s, 1, 2, -9);
    ck_assert_float_eq_tol(ek_evidence_mu(s, 1, 2), -0.18232156f, 1e-6);
    ck_assert(ek_evidence_mu(s, 0, 2) == 0);
    ek_evidence_cells_free(s);
}
END_TEST

START_TEST(every_bet_has_a_name)
{
    ck_assert_str_eq(ek_bet_name(0), "level up");
    ck_assert_str_eq(ek_bet_name(EK_BET_SPREAD_UP), "spread up");
    ck_assert_str_eq(ek_bet_name(EK_BET_SPREAD_DOWN), "spread down");
    ck_assert_str_eq(ek_bet_name(EK_BET_SHARES), "missing");
    ck_assert_str_eq(ek_bet_name(EK_BETS - 1), "tied");
}
END_TEST

Suite *suite_evalue_tests(void)
{
    return ek_suite("bets", the_normal_quantile_inverts_the_distribution,
                    every_table_expects_one_and_never_falls, weights_sum_to_one,
                    a_bin_begins_at_its_edge, what_is_far_follows_from_how_much_training_there_was,
                    bets_on_shares_expect_at_most_one_up_to_their_bound,
                    the_budget_covers_features_and_dimensions,
                    a_list_whose_items_do_not_belong_together_is_no_evidence_of_a_level,
                    a_far_value_needs_company_that_agrees,
                    evidence_grows_under_a_shift_and_the_winner_says_which,
                    the_tracked_level_stays_inside_its_bounds, every_bet_has_a_name);
}
