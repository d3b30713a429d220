/* Strata with different distributions cause no finding, in their own segment or when the traffic
 * mix changes. */
#include "detect/detector.h"
#include "offline/world/hotel.h"
#include "offline/fit/profile_fit.h"
#include "tests/check.h"

#include <string.h>

enum { TRAINING = 4000, LISTS = 9000 };

/* `place` is the market under another name: a segment unknown as stratification field. */
static const char MARKET[] = "version: 1\n"
                             "defaults: {stratify_by: market}\n"
                             "segments: [market]\n",
                  PLACE[] = "version: 1\n"
                            "defaults: {stratify_by: market}\n"
                            "segments: [place]\n";

struct world {
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_rules *rules;
};

static void setup(struct world *w, const char *rules)
{
    struct ek_profile_fit *fit;
    struct ek_hotel *hotel;
    struct ek_list q;
    ek_list_init(&q);
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&w->manifest, "hotel", text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_rules_parse(&w->rules, w->manifest, "r", rules, strlen(rules), NULL), 0);
    ck_assert_int_eq(ek_hotel_new(&hotel, 1, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_new(&fit, w->manifest, "market", NULL), EK_OK);
    for (uint64_t i = 0; i < TRAINING; i++) {
        ck_assert_int_eq(ek_hotel_list(hotel, i, &q, NULL), EK_OK);
        ck_assert_int_eq(ek_profile_fit_add(fit, &q, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_profile_fit_finish(fit, &w->profile, NULL), EK_OK);
    ek_profile_fit_free(fit);
    ek_hotel_free(hotel);
    ek_list_release(&q);
}

static void teardown(struct world *w)
{
    ek_rules_free(w->rules);
    ek_profile_free(w->profile);
    ek_manifest_free(w->manifest);
}

static void name_place(struct ek_list *q)
{
    struct ek_text market = ek_list_segment(q, "market");
    q->segments[q->segment_count++] = (struct ek_segment){{"place", 5}, market};
}

/* Return the alarms on healthy lists of another traffic mix. */
static int alarms(const struct world *w)
{
    struct ek_detector *d;
    struct ek_hotel *hotel;
    struct ek_finding f;
    struct ek_list q;
    int count = 0;
    ek_list_init(&q);
    ck_assert_int_eq(ek_hotel_new(&hotel, 11, NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new(&d, w->manifest, w->profile, w->rules, NULL), EK_OK);
    for (uint64_t i = 0; i < LISTS; i++) {
        ck_assert_int_eq(ek_hotel_list(hotel, i, &q, NULL), EK_OK);
        name_place(&q);
        ck_assert_int_eq(ek_detector_observe(d, &q, q.time_ms, NULL), EK_OK);
        while (ek_detector_next(d, &f))
            count += f.state == EK_SUSPECTED;
    }
    ek_detector_free(d);
    ek_hotel_free(hotel);
    ek_list_release(&q);
    return count;
}

static void forget_calibration(struct world *w)
{
    size_t count = (size_t)w->profile->features * (size_t)w->profile->strata * EK_CALIBRATED;
    for (size_t i = 0; i < count; i++)
        w->profile->calibration[i] = 1;
}

static int alarms_under(const char *rules, int calibrated)
{
    struct world w;
    setup(&w, rules);
    if (!calibrated)
        forget_calibration(&w);
    int count = alarms(&w);
    teardown(&w);
    return count;
}

START_TEST(a_market_with_a_law_of_its_own_is_no_fault)
{
    ck_assert_int_eq(alarms_under(MARKET, 1), 0);
    ck_assert_int_eq(alarms_under(PLACE, 1), 0);
}
END_TEST

START_TEST(without_calibration_it_would_have_been_one)
{
    ck_assert_int_gt(alarms_under(PLACE, 0), 0);
}
END_TEST

START_TEST(what_training_does_not_know_of_a_market_is_learnt_from_its_lists)
{
    ck_assert_int_eq(alarms_under(MARKET, 0), 0);
}
END_TEST

/* Return the alarms on lists without their market, or on lists that are faulty as well; *unknown:
 * lists counted as of unknown strata. */
static int alarms_without_market(bool faulty, uint64_t *unknown)
{
    struct world w;
    struct ek_detector *d;
    struct ek_hotel *hotel;
    struct ek_finding f;
    struct ek_list q;
    int count = 0;
    setup(&w, MARKET);
    ek_list_init(&q);
    ck_assert_int_eq(ek_hotel_new(&hotel, 11, NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new(&d, w.manifest, w.profile, w.rules, NULL), EK_OK);
    for (uint64_t i = 0; i < LISTS; i++) {
        ck_assert_int_eq(ek_hotel_list(hotel, i, &q, NULL), EK_OK);
        for (int s = 0; !faulty && s < q.segment_count; s++)
            if (!ek_text_compare(q.segments[s].name, "market"))
                q.segments[s].value = ek_text_from("none of these");
        for (int k = 0; faulty && k < q.items; k++)
            q.x[k * q.item_features] *= 100;
        ck_assert_int_eq(ek_detector_observe(d, &q, q.time_ms, NULL), EK_OK);
        while (ek_detector_next(d, &f))
            count += f.state == EK_SUSPECTED;
    }
    *unknown = ek_detector_limit_counters(d).count[EK_BOUND_STRATA];
    ek_detector_free(d);
    ek_hotel_free(hotel);
    ek_list_release(&q);
    teardown(&w);
    return count;
}

START_TEST(lists_of_a_market_that_training_lacks_are_counted_and_raise_no_alarm)
{
    uint64_t unknown;
    ck_assert_int_eq(alarms_without_market(false, &unknown), 0);
    ck_assert_uint_gt(unknown, LISTS - 200);
    ck_assert_int_gt(alarms_without_market(true, &unknown), 0);
    ck_assert_uint_eq(unknown, 0);
}
END_TEST

START_TEST(no_bet_expects_less_than_one_by_calibration)
{
    struct world w;
    setup(&w, MARKET);
    size_t count = (size_t)w.profile->features * (size_t)w.profile->strata * EK_CALIBRATED;
    for (size_t i = 0; i < count; i++)
        ck_assert(w.profile->calibration[i] >= 1);
    teardown(&w);
}
END_TEST

Suite *suite_strata(void)
{
    return ek_suite("strata", a_market_with_a_law_of_its_own_is_no_fault,
                    without_calibration_it_would_have_been_one,
                    what_training_does_not_know_of_a_market_is_learnt_from_its_lists,
                    lists_of_a_market_that_training_lacks_are_counted_and_raise_no_alarm,
                    no_bet_expects_less_than_one_by_calibration);
}
