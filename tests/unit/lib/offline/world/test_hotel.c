/* Hotel generator: its distribution, and lists determined by seed and number. */
#include "offline/world/hotel.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { LISTS = 4000, PRICE = 0, TAXES, STARS, SCORE, REVIEWS, CENTER, AIRPORT, ROOM, POPULARITY };
enum { HOST = 9, CANCELLATION, BREAKFAST, CHAIN };
enum { STAY = 0, ADULTS, CHILDREN, USUAL, HIGH, LEAD, MOBILE, WEEKDAY };

struct world {
    struct ek_hotel *h;
    struct ek_list q;
};

static void open_world(struct world *w, uint64_t seed)
{
    ck_assert_int_eq(ek_hotel_new(&w->h, seed, NULL), EK_OK);
    ek_list_init(&w->q);
}

static void close_world(struct world *w)
{
    ek_hotel_free(w->h);
    ek_list_release(&w->q);
}

static struct ek_list *list(struct world *w, uint64_t i)
{
    ck_assert_int_eq(ek_hotel_list(w->h, i, &w->q, NULL), EK_OK);
    return &w->q;
}

static double at(const struct ek_list *q, int item, int feature)
{
    return (double)q->x[item * q->item_features + feature];
}

struct mean {
    double sum, squares, n;
};

static void add(struct mean *m, double x)
{
    m->sum += x;
    m->squares += x * x;
    m->n++;
}

static double mean(const struct mean *m)
{
    return m->sum / m->n;
}

static double sd(const struct mean *m)
{
    return sqrt(m->squares / m->n - mean(m) * mean(m));
}

START_TEST(prices_spread_around_the_usual_price_of_the_destination)
{
    struct world w;
    struct mean price = {0}, relative = {0}, taxes = {0};
    open_world(&w, 3);
    for (int i = 0; i < LISTS; i++) {
        const struct ek_list *q = list(&w, (uint64_t)i);
        for (int k = 0; k < q->items; k++) {
            add(&price, log(at(q, k, PRICE)));
            add(&relative, log(at(q, k, PRICE) / (double)q->query[USUAL]));
            add(&taxes, at(q, k, TAXES) / at(q, k, PRICE));
        }
    }
    ck_assert_double_eq_tol(mean(&price), 4.7 + 0.131, 0.08);
    ck_assert_double_eq_tol(mean(&relative), 0, 0.01);
    ck_assert_double_eq_tol(sd(&relative), sqrt(0.1908 + 0.0117), 0.01);
    ck_assert_double_eq_tol(mean(&taxes), 0.15, 0.001);
    ck_assert_double_eq_tol(sd(&taxes), 0.2 / sqrt(12), 0.001);
    close_world(&w);
}
END_TEST

START_TEST(hotels_have_the_marginals_of_the_law)
{
    struct world w;
    struct mean of[EK_HOTEL_ITEM_FEATURES] = {{0}};
    open_world(&w, 4);
    for (int i = 0; i < LISTS; i++) {
        const struct ek_list *q = list(&w, (uint64_t)i);
        for (int k = 0; k < q->items; k++) {
            for (int f = 0; f < EK_HOTEL_ITEM_FEATURES; f++) {
                add(&of[f], at(q, k, f));
                ck_assert(isfinite(at(q, k, f)) && (f >= CANCELLATION || at(q, k, f) > 0));
            }
            ck_assert(at(q, k, STARS) >= 1 && at(q, k, STARS) <= 5);
            ck_assert(at(q, k, STARS) == round(at(q, k, STARS)));
            ck_assert(at(q, k, SCORE) < 10 && at(q, k, HOST) < 100);
            ck_assert(at(q, k, REVIEWS) >= 1 && at(q, k, REVIEWS) == floor(at(q, k, REVIEWS)));
        }
    }
    ck_assert_double_eq_tol(mean(&of[STARS]), 3, 0.02);
    ck_assert_double_eq_tol(mean(&of[HOST]), 80, 0.2);
    ck_assert_double_eq_tol(sd(&of[HOST]), 100 * sqrt(16.0 / (100 * 11)), 0.2);
    ck_assert_double_eq_tol(mean(&of[CANCELLATION]), 0.5, 0.01);
    ck_assert_double_eq_tol(mean(&of[BREAKFAST]), 0.35, 0.01);
    ck_assert_double_eq_tol(mean(&of[CHAIN]), 0.4, 0.01);
    close_world(&w);
}
END_TEST

START_TEST(searches_have_the_marginals_of_the_law)
{
    struct world w;
    struct mean of[EK_HOTEL_QUERY_FEATURES] = {{0}}, one_night = {0}, items = {0};
    open_world(&w, 5);
    for (int i = 0; i < LISTS; i++) {
        const struct ek_list *q = list(&w, (uint64_t)i);
        for (int f = 0; f < EK_HOTEL_QUERY_FEATURES; f++)
            add(&of[f], (double)q->query[f]);
        add(&one_night, q->query[STAY] == 1);
        add(&items, q->items);
        ck_assert(q->query[STAY] >= 1 && q->query[STAY] <= 14);
        ck_assert(q->items >= EK_HOTEL_ITEMS_MIN && q->items <= EK_HOTEL_ITEMS_MAX);
    }
    ck_assert_double_eq_tol(mean(&items), 20, 0.4);
    ck_assert_double_eq_tol(sd(&items), sqrt(440.0 / 12), 0.2);
    ck_assert_double_eq_tol(mean(&one_night), 0.35, 0.03);
    ck_assert_double_eq_tol(mean(&of[STAY]), 1 / 0.35, 0.15);
    ck_assert_double_eq_tol(mean(&of[ADULTS]), 1 + 3 * 0.35, 0.06);
    ck_assert_double_eq_tol(mean(&of[CHILDREN]), 0.2, 0.03);
    ck_assert_double_eq_tol(mean(&of[HIGH]), 0.25, 0.03);
    ck_assert_double_eq_tol(mean(&of[LEAD]), 30, 2);
    ck_assert_double_eq_tol(mean(&of[MOBILE]), 0.5, 0.04);
    ck_assert_double_eq_tol(mean(&of[WEEKDAY]), 0.4, 0.04);
    close_world(&w);
}
END_TEST

START_TEST(one_hotel_is_booked_and_none_to_two_are_clicked)
{
    struct world w;
    double clicks[3] = {0};
    open_world(&w, 6);
    for (int i = 0; i < LISTS; i++) {
        const struct ek_list *q = list(&w, (uint64_t)i);
        int count[3] = {0};
        for (int k = 0; k < q->items; k++)
            count[(int)q->label[k]]++;
        ck_assert(q->has_label);
        ck_assert_int_eq(count[2], 1);
        ck_assert_int_le(count[1], 2);
        clicks[count[1]]++;
    }
    for (int c = 0; c < 3; c++)
        ck_assert_double_eq_tol(clicks[c] / LISTS, 1.0 / 3, 0.04);
    close_world(&w);
}
END_TEST

/* Observable means over unbooked and booked items: ln(price / usual price), taxes / price, ln of
 * the routable features, flags; from 10,000 lists of the reference generator. */
START_TEST(people_book_what_the_reference_law_makes_them_book)
{
    static const double want[2][EK_HOTEL_ITEM_FEATURES] = {
        {-0.001, 0.1502, 1.0232, 1.993, 3.9938, 1.0032, 3.0748, 3.3144, -6.0949, 4.3686, 0.4956,
         0.3457, 0.3968},
        {-0.0053, 0.1431, 1.2153, 2.1149, 4.5373, 0.8603, 3.0536, 3.4702, -5.5118, 4.3921, 0.5838,
         0.4435, 0.4149}};
    struct world w;
    struct mean of[2][EK_HOTEL_ITEM_FEATURES] = {{{0}}};
    open_world(&w, 16);
    for (uint64_t i = 0; i < 5 * LISTS; i++) {
        const struct ek_list *q = list(&w, i);
        for (int k = 0; k < q->items; k++) {
            struct mean *m = of[q->label[k] == 2];
            add(&m[PRICE], log(at(q, k, PRICE) / (double)q->query[USUAL]));
            add(&m[TAXES], at(q, k, TAXES) / at(q, k, PRICE));
            for (int f = STARS; f < EK_HOTEL_ITEM_FEATURES; f++)
                add(&m[f], f < CANCELLATION ? log(at(q, k, f)) : at(q, k, f));
        }
    }
    for (int booked = 0; booked < 2; booked++)
        for (int f = 0; f < EK_HOTEL_ITEM_FEATURES; f++)
            ck_assert_msg(fabs(mean(&of[booked][f]) - want[booked][f]) <
                              (f == CENTER || f == AIRPORT ? 0.08 : 0.02 + 0.03 * booked),
                          "booked %d, feature %d: %f instead of %f", booked, f,
                          mean(&of[booked][f]), want[booked][f]);
    close_world(&w);
}
END_TEST

START_TEST(arms_are_a_fair_coin_and_markets_have_levels_of_their_own)
{
    struct world w;
    struct mean b = {0}, level[EK_HOTEL_MARKETS] = {{0}};
    open_world(&w, 7);
    for (int i = 0; i < LISTS; i++) {
        const struct ek_list *q = list(&w, (uint64_t)i);
        struct ek_text arm = ek_list_segment(q, "arm"), market = ek_list_segment(q, "market");
        ck_assert(arm.length == 1 && (*arm.text == 'A' || *arm.text == 'B'));
        ck_assert(market.length == 3 && *market.text == 'm');
        int m = (market.text[1] - '0') * 10 + market.text[2] - '0';
        ck_assert(m >= 0 && m < EK_HOTEL_MARKETS);
        add(&b, *arm.text == 'B');
        add(&level[m], log((double)q->query[USUAL]));
    }
    ck_assert_double_eq_tol(mean(&b), 0.5, 0.04);
    for (int m = 0; m < EK_HOTEL_MARKETS; m++)
        ck_assert(level[m].n > LISTS / EK_HOTEL_MARKETS / 3);
    ck_assert_double_gt(mean(&level[EK_HOTEL_MARKETS - 1]), mean(&level[0]) + 0.7);
    close_world(&w);
}
END_TEST

START_TEST(a_list_is_the_same_whatever_was_made_before)
{
    struct world a, b;
    open_world(&a, 8);
    open_world(&b, 8);
    for (uint64_t i = 0; i < 50; i++)
        list(&a, i);
    const struct ek_list *p = list(&a, 7), *q = list(&b, 7);
    ck_assert_int_eq(p->items, q->items);
    ck_assert_mem_eq(p->x, q->x, (size_t)(p->items * p->item_features) * sizeof *p->x);
    ck_assert_mem_eq(p->query, q->query, (size_t)p->query_features * sizeof *p->query);
    ck_assert_mem_eq(p->label, q->label, (size_t)p->items * sizeof *p->label);
    ck_assert_mem_eq(p->item_id[0].text, q->item_id[0].text, p->item_id[0].length + 1);
    ck_assert_str_eq(p->id.text, "q-7");
    ck_assert_int_eq(p->time_ms - ek_hotel_time_ms(0), 7 * 864);
    ck_assert(isnan(p->score[0]));
    close_world(&a);
    close_world(&b);
}
END_TEST

START_TEST(seeds_give_other_searches_at_the_same_destinations)
{
    struct world w[2];
    double low[2][EK_HOTEL_MARKETS];
    for (int s = 0; s < 2; s++) {
        open_world(&w[s], (uint64_t)s + 20);
        for (int m = 0; m < EK_HOTEL_MARKETS; m++)
            low[s][m] = INFINITY;
        for (int i = 0; i < LISTS; i++) {
            const struct ek_list *q = list(&w[s], (uint64_t)i);
            const char *market = ek_list_segment(q, "market").text;
            int m = (market[1] - '0') * 10 + market[2] - '0';
            low[s][m] = fmin(low[s][m], (double)q->query[USUAL]);
        }
    }
    int equal = 0;
    for (int m = 0; m < EK_HOTEL_MARKETS; m++)
        equal += low[0][m] == low[1][m];
    ck_assert_int_ge(equal, EK_HOTEL_MARKETS - 4);
    ck_assert(list(&w[0], 0)->x[0] != list(&w[1], 0)->x[0]);
    close_world(&w[0]);
    close_world(&w[1]);
}
END_TEST

START_TEST(item_ids_of_a_list_differ)
{
    struct world w;
    open_world(&w, 9);
    for (uint64_t i = 0; i < 200; i++) {
        const struct ek_list *q = list(&w, i);
        for (int a = 0; a < q->items; a++)
            for (int b = 0; b < a; b++)
                ck_assert_str_ne(q->item_id[a].text, q->item_id[b].text);
    }
    close_world(&w);
}
END_TEST

Suite *suite_hotel(void)
{
    return ek_suite("hotel", prices_spread_around_the_usual_price_of_the_destination,
                    hotels_have_the_marginals_of_the_law, searches_have_the_marginals_of_the_law,
                    one_hotel_is_booked_and_none_to_two_are_clicked,
                    people_book_what_the_reference_law_makes_them_book,
                    arms_are_a_fair_coin_and_markets_have_levels_of_their_own,
                    a_list_is_the_same_whatever_was_made_before,
                    seeds_give_other_searches_at_the_same_destinations, item_ids_of_a_list_differ);
}
