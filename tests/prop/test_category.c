/* Categories: healthy traffic of any mix gives no evidence. */
#include "base/alloc.h"
#include "detect/category.h"
#include "detect/detector.h"
#include "tests/check.h"
#include "tests/shop.h"

enum { KIND = 1, MARKETS = 24, BLOCK = 2000 };

struct mean {
    double sum, squares;
    int count;
};

static void add(struct mean *m, double x)
{
    m->sum += x;
    m->squares += x * x;
    m->count++;
}

/* Return three standard errors below the mean. */
static double surely_above(const struct mean *m)
{
    double mean = m->sum / m->count, variance = fmax(m->squares / m->count - mean * mean, 0);
    return mean - 3 * sqrt(variance / m->count);
}

/* Return lists of which a fifth are of market 3; in training it is a 24th. */
static struct ek_list *more_of_one_market(struct shop *s)
{
    struct ek_list *q = shop_next(s);
    if (ek_rng_uniform(&s->rng) < .17)
        while (s->market != 3)
            q = shop_next(s);
    return q;
}

/* Draw codes that are always rare, some absent from training. */
static void rare_codes(struct shop *s, struct ek_list *q)
{
    if (ek_rng_uniform(&s->rng) < .5)
        q->x[KIND] = (float)(100 + (int)(3000 * ek_rng_exponential(&s->rng)));
}

static void no_bet_wins_on(const char *field, int training, uint64_t seed)
{
    static const struct ek_alarm_level never = {INFINITY, INFINITY};
    struct ek_manifest *m = shop_manifest();
    struct ek_profile *p = shop_profile_of(m, training, MARKETS, field, rare_codes);
    struct ek_categories *c = NULL;
    struct shop s;
    struct mean e[3] = {{0}};
    shop_open(&s, seed, MARKETS);
    ck_assert_int_eq(ek_categories_new(&c, p), EK_OK);
    ck_assert_int_eq(ek_categories_reserve(c, 1), EK_OK);
    for (uint64_t row = 0; row < 6 * BLOCK; row++) {
        struct ek_list *q = row < 3 * BLOCK ? shop_next(&s) : more_of_one_market(&s);
        int stratum = ek_profile_stratum(p, s.market_name, strlen(s.market_name));
        rare_codes(&s, q);
        ck_assert_int_eq(ek_categories_read(c, q), EK_OK);
        ek_categories_add_row(c, field ? stratum : 0, row);
        for (int bet = 0; bet < 3; bet++)
            add(&e[bet], ek_categories_bet(c, KIND, 0, EK_BET_NEW_VALUE + bet, row));
        ck_assert_int_eq(ek_categories_add(c, 0, 0, &never), -1);
    }
    for (int bet = 0; bet < 3; bet++)
        ck_assert_msg(surely_above(&e[bet]) <= 1, "'%s' expects %g",
                      ek_category_bet_name(EK_BET_NEW_VALUE + bet), e[bet].sum / e[bet].count);
    ek_categories_free(c);
    shop_close(&s);
    ek_profile_free(p);
    ek_manifest_free(m);
}

START_TEST(no_bet_expects_more_than_its_stake_while_nothing_happens)
{
    for (uint64_t seed = 10; seed < 14; seed++) {
        no_bet_wins_on(NULL, 300, seed);
        no_bet_wins_on("market", 300, seed);
        no_bet_wins_on("market", 6000, seed);
    }
}
END_TEST

/* Return the findings in that many healthy lists; with `burst`, partitions are read one after the
 * other. */
static int findings_in(const char *field, int lists, uint64_t seed, int burst)
{
    static const char text[] = "version: 1\nsegments: [arm, market]\n";
    struct ek_manifest *m = shop_manifest();
    struct ek_profile *p = shop_profile(m, 3000, MARKETS, field);
    struct ek_rules *rules;
    struct ek_detector *d;
    struct ek_finding f;
    struct shop s;
    int found = 0;
    shop_open(&s, seed, MARKETS);
    ck_assert_int_eq(ek_rules_parse(&rules, m, "rules", text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new(&d, m, p, rules, NULL), EK_OK);
    for (int i = 0; i < lists; i++) {
        struct ek_list *q = shop_next(&s);
        while (burst && s.market / 6 != i / BLOCK % 4)
            q = shop_next(&s);
        ck_assert_int_eq(ek_detector_observe(d, q, q->time_ms, NULL), EK_OK);
        while (ek_detector_next(d, &f))
            found++;
    }
    ek_detector_free(d);
    ek_rules_free(rules);
    shop_close(&s);
    ek_profile_free(p);
    ek_manifest_free(m);
    return found;
}

START_TEST(unlike_markets_are_no_news_with_and_without_a_baseline)
{
    ck_assert_int_eq(findings_in(NULL, 30000, 20, 0), 0);
    ck_assert_int_eq(findings_in("market", 30000, 21, 0), 0);
    ck_assert_int_eq(findings_in("market", 30000, 22, 1), 0);
    ck_assert_int_eq(findings_in(NULL, 30000, 23, 1), 0);
}
END_TEST

START_TEST(a_million_new_codes_are_one_finding_and_take_no_more_room)
{
    struct ek_manifest *m = shop_manifest();
    struct ek_profile *p = shop_profile(m, 1000, 1, NULL);
    struct ek_rules *rules;
    struct ek_detector *d;
    struct ek_finding f;
    struct shop s;
    int confirmed = 0, code = 1000;
    shop_open(&s, 30, 1);
    ck_assert_int_eq(ek_rules_default(&rules, m, NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new(&d, m, p, rules, NULL), EK_OK);
    while (code < 1001000) {
        struct ek_list *q = shop_next(&s);
        for (int i = 0; i < q->items; i++)
            q->x[2 * i + KIND] = (float)code++;
        ck_assert_int_eq(ek_detector_observe(d, q, q->time_ms, NULL), EK_OK);
        while (ek_detector_next(d, &f)) {
            ck_assert_int_le(f.category_count, EK_CATEGORY_CHANGES);
            confirmed += f.state == EK_CONFIRMED && f.class == EK_NEW_CATEGORY;
        }
    }
    ck_assert_int_eq(confirmed, 1);
    ek_detector_free(d);
    ek_rules_free(rules);
    shop_close(&s);
    ek_profile_free(p);
    ek_manifest_free(m);
}
END_TEST

Suite *suite_category(void)
{
    return ek_suite("category", no_bet_expects_more_than_its_stake_while_nothing_happens,
                    unlike_markets_are_no_news_with_and_without_a_baseline,
                    a_million_new_codes_are_one_finding_and_take_no_more_room);
}
