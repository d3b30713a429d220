/* What the guarantee rests on: no bet expects more than 1 while nothing has happened. */
#include "decide/bets.h"
#include "decide/evidence.h"
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

static double expectation(const float *column, int stride)
{
    double mean = column[0] * ek_normal_cdf(ek_table_y(0));
    for (int i = 0; i < EK_TABLE_ROWS; i++) {
        double above = i + 1 < EK_TABLE_ROWS ? ek_normal_cdf(ek_table_y(i + 1)) : 1;
        mean += column[i * stride] * (above - ek_normal_cdf(ek_table_y(i)));
    }
    return mean;
}

START_TEST(every_table_expects_one_and_never_falls)
{
    struct ek_bet_tables t;
    ek_bet_tables_fill(&t);
    for (int b = 0; b < EK_LEVEL_UP_BETS; b++) {
        ck_assert_double_eq_tol(expectation(&t.level[0][b], 8), 1, 1e-5);
        for (int i = 1; i < EK_TABLE_ROWS; i++)
            ck_assert(t.level[i][b] >= t.level[i - 1][b]);
    }
    ck_assert_double_eq_tol(expectation(t.spread, 1), 1, 1e-5);
}
END_TEST

START_TEST(weights_sum_to_one)
{
    struct ek_bet_tables t;
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

START_TEST(bets_on_shares_expect_at_most_one_up_to_their_bound)
{
    static const float usual[] = {0, .02f, .2f, .5f, .7f, .97f};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        struct ek_baseline b;
        struct ek_share_bets s;
        memset(&b, 0, sizeof b);
        for (int j = 0; j < EK_SHARES; j++)
            b.share[j] = usual[i];
        ek_share_bets_fill(&s, &b);
        for (int j = 0; j < EK_SHARES; j++) {
            ck_assert(s.a[j] + s.b[j] * EK_SHARE_WHOLE * usual[i] <= 1.0001f);
            ck_assert(s.a[j] >= 0 && s.a[j] + s.b[j] * EK_SHARE_WHOLE >= 0);
        }
    }
}
END_TEST

START_TEST(the_budget_covers_features_and_dimensions)
{
    struct ek_alarm_level one = ek_alarm_level_of(1e7, 136, 0);
    ck_assert_double_eq_tol(log(one.alarm), 21.03, .01);
    ck_assert_double_eq_tol(ek_alarm_level_of(1e7, 136, 2).alarm / one.alarm, 3, 1e-5);
}
END_TEST

static struct ek_baseline plain_baseline(void)
{
    struct ek_baseline b;
    memset(&b, 0, sizeof b);
    for (int k = 0; k < EK_SD_SIZES; k++)
        b.inv_sd[k] = 1;
    for (int c = 0; c < EK_SIZE_CLASSES; c++)
        b.spread_hi[c] = 1e9f;
    for (int i = 0; i < EK_Z_BINS; i++)
        for (int direction = 0; direction < 2; direction++)
            b.z_rank[direction][i] = ek_table_row(1 - ek_normal_cdf(ek_z_edge(i)));
    return b;
}

START_TEST(evidence_grows_under_a_shift_and_the_winner_says_which)
{
    struct ek_bet_tables t;
    struct ek_share_bets shares;
    struct ek_evidence state;
    struct ek_baseline b = plain_baseline();
    struct ek_alarm_level level = ek_alarm_level_of(1e7, 1, 0);
    struct ek_list_stats list = {.usable = 10, .spread = 0, .share = {0, 0, 0, 0}};
    float fair[EK_BETS];
    int bet = -1, lists = 0;
    for (int i = 0; i < EK_BETS; i++)
        fair[i] = 1;
    ek_bet_tables_fill(&t);
    ek_share_bets_fill(&shares, &b);
    memset(&state, 0, sizeof state);
    while (bet < 0 && lists < 100) {
        bet = ek_evidence_add(&state, &t, &b, &shares, &level, &list, -4.6f, fair);
        lists++;
    }
    ck_assert_int_lt(lists, 10);
    ck_assert(bet >= EK_LEVEL_UP_BETS && bet < EK_LEVEL_BETS);
    ck_assert_str_eq(ek_bet_name(bet), "level down");
}
END_TEST

START_TEST(the_tracked_level_stays_inside_its_bounds)
{
    struct ek_evidence state;
    memset(&state, 0, sizeof state);
    ek_evidence_shift(&state, 5);
    ck_assert_float_eq_tol(state.mu, 0.18232156f, 1e-6);
    ek_evidence_shift(&state, -9);
    ck_assert_float_eq_tol(state.mu, -0.18232156f, 1e-6);
}
END_TEST

Suite *suite_bets(void)
{
    return ek_suite("bets", the_normal_quantile_inverts_the_distribution,
                    every_table_expects_one_and_never_falls, weights_sum_to_one,
                    a_bin_begins_at_its_edge, bets_on_shares_expect_at_most_one_up_to_their_bound,
                    the_budget_covers_features_and_dimensions,
                    evidence_grows_under_a_shift_and_the_winner_says_which,
                    the_tracked_level_stays_inside_its_bounds);
}
