/* Rank displacement between two orders: against the definitions, over all orders of a few items
 * with and without ties. */
#include "score/rank_change.h"

#include "base/rng.h"
#include "score/agreement.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 6, ORDERS_MAX = 4683 };

static struct ek_ranker *ranker;

static void setup(void)
{
    ck_assert_int_eq(ek_ranker_new(&ranker, NULL), EK_OK);
}

static void teardown(void)
{
    ek_ranker_free(ranker);
}

static struct ek_rank_change change_of(const double *before, const double *after, int n)
{
    struct ek_rank_change c;
    bool valid;
    ck_assert_int_eq(ek_rank_change_compute(ranker, before, after, n, &c, &valid, NULL), EK_OK);
    ck_assert(valid);
    return c;
}

/* Set all distinct weak orders of n items. Return their number. */
static int all_orders(int n, double (*order)[MOST])
{
    int count = 0, codes = 1;
    for (int i = 0; i < n; i++)
        codes *= n;
    for (int code = 0; code < codes; code++) {
        unsigned used = 0;
        for (int i = 0, rest = code; i < n; i++, rest /= n) {
            order[count][i] = rest % n;
            used |= 1u << rest % n;
        }
        count += !(used & (used + 1)); /* without a gap: another code has the same order */
    }
    return count;
}

/* Return the number of items before it. */
static int place_of(const double *score, int n, int item)
{
    int place = 0;
    for (int i = 0; i < n; i++)
        place += score[i] > score[item] || (score[i] == score[item] && i < item);
    return place;
}

static struct ek_rank_change by_definition(const double *a, const double *b, int n)
{
    double same = 0, pairs_a = 0, pairs_b = 0, sum = 0, both = 0;
    for (int i = 0; i < n; i++) {
        int here = place_of(a, n, i), there = place_of(b, n, i);
        sum += abs(here - there);
        both += here < 10 && there < 10;
        for (int j = 0; j < i; j++) {
            int x = (a[i] > a[j]) - (a[i] < a[j]), y = (b[i] > b[j]) - (b[i] < b[j]);
            same += x * y;
            pairs_a += x != 0;
            pairs_b += y != 0;
        }
    }
    double weight = sqrt(pairs_a * pairs_b);
    return (struct ek_rank_change){weight > 0 ? same / weight : 0, both / (n < 10 ? n : 10),
                                   sum / n, sum / (n * n / 2)};
}

static void assert_same(struct ek_rank_change got, struct ek_rank_change desired)
{
    bool same = fabs(got.tau - desired.tau) < 1e-12 && fabs(got.top10 - desired.top10) < 1e-12 &&
                fabs(got.places - desired.places) < 1e-12 &&
                fabs(got.change - desired.change) < 1e-12;
    ck_assert_msg(same, "%g %g %g %g, wanted %g %g %g %g", got.tau, got.top10, got.places,
                  got.change, desired.tau, desired.top10, desired.places, desired.change);
}

/* Up to five items: every pair of orders; six: each against a moving selection. */
START_TEST(figures_are_those_of_the_definition_for_all_orders_of_a_few_items)
{
    static const int expected[] = {0, 1, 3, 13, 75, 541, ORDERS_MAX};
    static double order[46656][MOST];
    setup();
    for (int n = 2; n <= MOST; n++) {
        int count = all_orders(n, order);
        ck_assert_int_eq(count, expected[n]);
        int each = n < MOST ? count : 48;
        for (int i = 0; i < count; i++)
            for (int k = 0; k < each; k++) {
                const double *after = order[n < MOST ? k : (7 * i + 97 * k) % count];
                bool flat = true;
                for (int j = 1; j < n; j++)
                    flat &= order[i][j] == order[i][0];
                if (!flat)
                    assert_same(change_of(order[i], after, n), by_definition(order[i], after, n));
            }
    }
    teardown();
}
END_TEST

START_TEST(longer_lists_are_as_the_definition_has_them)
{
    enum { LONGEST = 40 };
    double before[LONGEST], after[LONGEST];
    struct ek_rng r;
    setup();
    ek_rng_seed(&r, 4);
    for (int i = 0; i < 2000; i++) {
        int n = 2 + (int)ek_rng_uniform_int(&r, LONGEST - 1);
        uint64_t values = 2 + ek_rng_uniform_int(&r, 60);
        for (int k = 0; k < n; k++) {
            before[k] = (double)ek_rng_uniform_int(&r, values);
            after[k] = (double)ek_rng_uniform_int(&r, values) + (i % 3) * before[k];
        }
        before[0] = -1; /* never all equal */
        assert_same(change_of(before, after, n), by_definition(before, after, n));
    }
    teardown();
}
END_TEST

START_TEST(the_same_order_is_no_change_and_the_opposite_one_the_most_there_is)
{
    double up[31], down[31], scaled[31];
    setup();
    for (int i = 0; i < 31; i++) {
        up[i] = i;
        down[i] = -i;
        scaled[i] = -7 + .001 * i;
    }
    for (int n = 2; n <= 31; n++) {
        struct ek_rank_change same = change_of(up, scaled, n), most = change_of(up, down, n);
        ck_assert(same.tau == 1 && same.top10 == 1 && same.places == 0 && same.change == 0);
        ck_assert(most.tau == -1 && most.change == 1);
    }
    teardown();
}
END_TEST

START_TEST(scores_without_an_order_after_keep_that_of_the_list_and_none_sorts_last)
{
    static const double before[] = {4, 3, 2, 1}, flat[] = {0, 0, 0, 0},
                        first_lost[] = {NAN, 3, 2, 1};
    setup();
    struct ek_rank_change c = change_of(before, flat, 4);
    ck_assert(c.tau == 0 && c.change == 0 && c.top10 == 1);
    c = change_of(before, first_lost, 4); /* from the first place to the last */
    ck_assert(c.places == 6. / 4 && c.change == 6. / 8);
    teardown();
}
END_TEST

START_TEST(a_list_without_an_order_before_says_nothing)
{
    static const double fine[] = {1, 2, 3, 4}, flat[] = {5, 5, 5, 5}, absent[] = {1, 2, NAN, 4},
                        endless[] = {1, 2, 3, INFINITY};
    const double *const silent[] = {flat, absent, endless};
    struct ek_rank_change c = {7, 7, 7, 7};
    bool valid;
    setup();
    for (int i = 0; i < 5; i++) {
        const double *before = i < 3 ? silent[i] : fine;
        ck_assert_int_eq(
            ek_rank_change_compute(ranker, before, fine, i < 3 ? 4 : i - 3, &c, &valid, NULL),
            EK_OK);
        ck_assert(!valid && c.tau == 7 && c.change == 7);
    }
    teardown();
}
END_TEST

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Changes are footrules of lists of n items, or any number. */
static double draw_change(struct ek_rng *r, int n)
{
    double most = floor((double)n * n / 2);
    return most > 0 ? (double)ek_rng_uniform_int(r, (uint64_t)most + 1) / most : ek_rng_uniform(r);
}

START_TEST(a_quantile_is_never_too_low_and_hardly_too_high)
{
    static const double shares[] = {.01, .25, .5, .9, .95, .99, 1};
    double change[200];
    struct ek_rng r;
    ek_rng_seed(&r, 5);
    for (int run = 0; run < 2000; run++) {
        struct ek_rank_sums s = {0};
        int lists = 1 + (int)ek_rng_uniform_int(&r, 200);
        for (int i = 0; i < lists; i++) {
            change[i] = draw_change(&r, run % 70);
            ek_rank_sums_add(&s, &(struct ek_rank_change){0, 0, 0, change[i]});
        }
        qsort(change, (size_t)lists, sizeof *change, ascending);
        for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
            double exact = change[(int)ceil(shares[i] * lists) - 1];
            double told = ek_rank_sums_quantile(&s, shares[i]);
            ck_assert_msg(told >= exact && told < exact + 1. / 63 + 1e-12,
                          "%g of %d lists: %.17g, told as %.17g", shares[i], lists, exact, told);
        }
    }
}
END_TEST

START_TEST(lists_that_do_not_move_are_told_as_not_moved)
{
    struct ek_rank_sums s = {0};
    ck_assert(isnan(ek_rank_sums_quantile(&s, .95)) && isnan(ek_rank_sums_mean(&s).tau));
    for (int i = 0; i < 100; i++)
        ek_rank_sums_add(&s, &(struct ek_rank_change){1, 1, 0, i < 95 ? 0 : 1});
    ck_assert(ek_rank_sums_quantile(&s, .95) == 0);
    ck_assert(ek_rank_sums_quantile(&s, .96) == 1);
}
END_TEST

START_TEST(sums_are_the_same_in_whatever_order_lists_and_parts_come)
{
    struct ek_rank_change c[60];
    struct ek_rank_sums all = {0}, part[3] = {{0}}, merged = {0};
    struct ek_rng r;
    double tau = 0, places = 0;
    ek_rng_seed(&r, 6);
    for (int i = 0; i < 60; i++) {
        c[i] = (struct ek_rank_change){2 * ek_rng_uniform(&r) - 1, ek_rng_uniform(&r),
                                       5 * ek_rng_uniform(&r), ek_rng_uniform(&r)};
        ek_rank_sums_add(&all, &c[i]);
        tau += c[i].tau / 60;
        places += c[i].places / 60;
    }
    for (int i = 60; i-- > 0;)
        ek_rank_sums_add(&part[i % 3], &c[i]);
    for (int i = 3; i-- > 0;)
        ek_rank_sums_merge(&merged, &part[i]);
    ck_assert_mem_eq(&merged, &all, sizeof all);
    ck_assert_double_eq_tol(ek_rank_sums_mean(&all).tau, tau, 1e-6);
    ck_assert_double_eq_tol(ek_rank_sums_mean(&all).places, places, 1e-6);
}
END_TEST

Suite *suite_rank_change(void)
{
    return ek_suite("rank change",
                    figures_are_those_of_the_definition_for_all_orders_of_a_few_items,
                    longer_lists_are_as_the_definition_has_them,
                    the_same_order_is_no_change_and_the_opposite_one_the_most_there_is,
                    scores_without_an_order_after_keep_that_of_the_list_and_none_sorts_last,
                    a_list_without_an_order_before_says_nothing,
                    a_quantile_is_never_too_low_and_hardly_too_high,
                    lists_that_do_not_move_are_told_as_not_moved,
                    sums_are_the_same_in_whatever_order_lists_and_parts_come);
}
