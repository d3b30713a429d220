/* The order of the items of a list changes no finding, whatever the fault. */
#include "base/rng.h"
#include "detect/detector.h"
#include "offline/fit/profile_fit.h"
#include "offline/world/faults.h"
#include "offline/world/hotel.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum {
    TRAINING = 3000,
    LISTS = 3000,
    SEED = 28,
    STARS = 2,
    SHUFFLED = -1,
    STATES = EK_RECOVERED + 1
};
static const double ROUNDING = 1e-3; /* sums of other orders differ in their last places */

static const char RULES[] = "version: 1\nsegments: [arm]\n";
static const char *const FAULTS[] = {
    "price=x100,arm=B,from=600,to=1500",        "stars=x24,from=1200,to=2000",
    "taxes=*stay_nights,from=800,to=1600",      "review_score=nan@.5,from=600,to=1400",
    "distance_center=^2,from=1000,to=1800",     "review_count=zero,from=700,to=1500",
    "room_size=neg,from=900,to=1700",           "distance_airport=+5,from=1300,to=2100",
    "popularity=x10,items=.5,from=600,to=1500", "host_rate==7,from=900,to=1800",
};
enum { FAULT_COUNT = sizeof FAULTS / sizeof *FAULTS };

struct world {
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_rules *rules;
    struct ek_hotel *hotel;
    struct ek_detector *as_sent, *reordered;
    struct ek_fault fault[FAULT_COUNT];
    struct ek_list q;
    struct ek_rng r;
    int findings[STATES], scales_of_stars;
};

/* Fill the profile from lists of another seed. */
static void train(struct world *w)
{
    struct ek_profile_fit *fit;
    struct ek_hotel *past;
    ck_assert_int_eq(ek_hotel_new(&past, 1, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_new(&fit, w->manifest, NULL, NULL), EK_OK);
    for (uint64_t i = 0; i < TRAINING; i++) {
        ck_assert_int_eq(ek_hotel_list(past, i, &w->q, NULL), EK_OK);
        ck_assert_int_eq(ek_profile_fit_add(fit, &w->q, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_profile_fit_finish(fit, &w->profile, NULL), EK_OK);
    ek_profile_fit_free(fit);
    ek_hotel_free(past);
}

static void begin(struct world *w)
{
    const char *text = ek_hotel_manifest();
    memset(w, 0, sizeof *w);
    ek_list_init(&w->q);
    ek_rng_seed(&w->r, SEED);
    ck_assert_int_eq(ek_manifest_parse(&w->manifest, "hotel", text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_rules_parse(&w->rules, w->manifest, "rules", RULES, strlen(RULES), NULL),
                     EK_OK);
    train(w);
    ck_assert_int_eq(ek_hotel_new(&w->hotel, SEED, NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new(&w->as_sent, w->manifest, w->profile, w->rules, NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new(&w->reordered, w->manifest, w->profile, w->rules, NULL),
                     EK_OK);
    for (int i = 0; i < FAULT_COUNT; i++)
        ck_assert_int_eq(ek_fault_parse(&w->fault[i], w->manifest, FAULTS[i], NULL), EK_OK);
}

static void end(struct world *w)
{
    for (int i = 0; i < FAULT_COUNT; i++)
        ek_fault_release(&w->fault[i]);
    ek_detector_free(w->as_sent);
    ek_detector_free(w->reordered);
    ek_hotel_free(w->hotel);
    ek_rules_free(w->rules);
    ek_profile_free(w->profile);
    ek_manifest_free(w->manifest);
    ek_list_release(&w->q);
}

static void swap(struct ek_list *q, int a, int b)
{
    for (int f = 0; f < q->item_features; f++) {
        float x = q->x[a * q->item_features + f];
        q->x[a * q->item_features + f] = q->x[b * q->item_features + f];
        q->x[b * q->item_features + f] = x;
    }
    struct ek_text id = q->item_id[a];
    q->item_id[a] = q->item_id[b];
    q->item_id[b] = id;
}

/* Sort the items by a feature, as a ranker that likes it would, or shuffle them. */
static void reorder(struct world *w, int by)
{
    struct ek_list *q = &w->q;
    int features = q->item_features;
    for (int i = 1; i < q->items; i++)
        if (by == SHUFFLED)
            swap(q, i, (int)ek_rng_uniform_int(&w->r, (uint64_t)i + 1));
        else
            for (int k = i; k > 0 && q->x[k * features + by] > q->x[(k - 1) * features + by]; k--)
                swap(q, k, k - 1);
}

static void assert_near(double a, double b)
{
    ck_assert((isnan(a) && isnan(b)) || fabs(a - b) <= ROUNDING * fabs(b));
}

static void compare(struct world *w)
{
    struct ek_finding a, b;
    while (ek_detector_next(w->as_sent, &a)) {
        ck_assert_int_eq(ek_detector_next(w->reordered, &b), 1);
        ck_assert(a.state == b.state && a.class == b.class && a.feature == b.feature &&
                  a.cell == b.cell && a.query_feature == b.query_feature && a.cause == b.cause &&
                  a.since_query == b.since_query && a.unit_count == b.unit_count);
        assert_near(a.factor, b.factor);
        assert_near(a.share, b.share);
        assert_near(a.value_share, b.value_share);
        w->findings[a.state]++;
        w->scales_of_stars += a.class == EK_SCALE && a.feature == STARS && a.factor > 20;
    }
    ck_assert_int_eq(ek_detector_next(w->reordered, &b), 0);
}

static void compare_orders(int by)
{
    struct world w;
    begin(&w);
    for (uint64_t n = 0; n < LISTS; n++) {
        ck_assert_int_eq(ek_hotel_list(w.hotel, n, &w.q, NULL), EK_OK);
        for (int i = 0; i < FAULT_COUNT; i++)
            ek_fault_apply(&w.fault[i], &w.q, n, SEED);
        ck_assert_int_eq(ek_detector_observe(w.as_sent, &w.q, (int64_t)n, NULL), EK_OK);
        reorder(&w, by);
        ck_assert_int_eq(ek_detector_observe(w.reordered, &w.q, (int64_t)n, NULL), EK_OK);
        compare(&w);
    }
    ck_assert_int_ge(w.findings[EK_CONFIRMED], FAULT_COUNT - 1);
    ck_assert_int_ge(w.findings[EK_RECOVERED], FAULT_COUNT - 2);
    ck_assert_int_gt(w.scales_of_stars, 0);
    end(&w);
}

START_TEST(another_order_of_the_items_changes_no_finding)
{
    static const int orders[] = {SHUFFLED, 0 /* price */, STARS, 10 /* free_cancellation */};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        compare_orders(orders[i]);
}
END_TEST

Suite *suite_item_order(void)
{
    return ek_suite("item order", another_order_of_the_items_changes_no_finding);
}
