/* Seasonal traffic is followed at the rate of event time, and segment values follow too. */
#include "detect/detector.h"
#include "detect/evidence.h"
#include "detect/history.h"
#include "tests/check.h"
#include "tests/stream.h"

#include <math.h>

enum { TRAINING = 6000, DAY_MS = 24 * 3600 * 1000 };

static const char RULES[] = "version: 1\n"
                            "defaults: {false_alarms: 1 per 10000000 lists}\n"
                            "segments: [arm]\n";

START_TEST(the_half_life_is_a_fortieth_of_a_day_within_bounds)
{
    ck_assert_double_eq_tol(ek_track_lists(30000), 750, .1);
    ck_assert_double_eq_tol(ek_track_lists(1000), EK_TRACK_LISTS_MIN, .1);
    ck_assert_double_eq_tol(ek_track_lists(1e9), EK_TRACK_LISTS, .1);
    ck_assert_double_eq_tol(ek_track_lists(0), EK_TRACK_LISTS, .1);
}
END_TEST

static double traffic_of(int lists, int64_t every_ms)
{
    struct ek_history *h = NULL;
    struct ek_list_stats *records;
    float *query;
    ck_assert_int_eq(ek_history_new(&h, 1, 1, 1), EK_OK);
    for (int i = 0; i < lists; i++)
        ek_history_push(h, &records, &query)->time_ms = 1790000000000 + i * every_ms;
    double per_day = ek_history_lists_per_day(h);
    ek_history_free(h);
    return per_day;
}

START_TEST(traffic_is_measured_by_the_times_of_the_lists)
{
    ck_assert_double_eq_tol(traffic_of(1000, 864), 100000, 1);
    ck_assert_double_eq_tol(traffic_of(3 * EK_HISTORY, 8640), 10000, 1);
    ck_assert_double_eq_tol(traffic_of(100, 864), 0, 1e-9);    /* too few */
    ck_assert_double_eq_tol(traffic_of(10000, 0), 0, 1e-9);    /* no times */
    ck_assert_double_eq_tol(traffic_of(10000, -864), 0, 1e-9); /* event time runs backward */
}
END_TEST

/* Return the findings of two days with that many lists each and a season of 15%; one list in `rare`
 * is of arm B. */
static int findings_of(int per_day, int rare)
{
    struct ek_manifest *m = stream_manifest();
    struct ek_profile *p = stream_profile(m, TRAINING);
    struct ek_rules *rules = NULL;
    struct ek_detector *d = NULL;
    struct ek_finding f;
    struct stream s;
    int findings = 0;
    ck_assert_int_eq(ek_rules_parse(&rules, m, "rules", RULES, strlen(RULES), NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new(&d, m, p, rules, NULL), EK_OK);
    stream_start(&s, 11);
    for (int i = 0; i < 2 * per_day; i++) {
        struct ek_list *q = stream_next(&s);
        q->segments[0].value = stream_text(i % rare ? "A" : "B");
        stream_scale(q, 0, exp(.15 * sin(2 * M_PI * i / per_day)));
        ck_assert_int_eq(ek_detector_observe(d, q, (int64_t)i * (DAY_MS / per_day), NULL), EK_OK);
        while (ek_detector_next(d, &f))
            findings++;
    }
    stream_end(&s);
    ek_detector_free(d);
    ek_rules_free(rules);
    ek_profile_free(p);
    ek_manifest_free(m);
    return findings;
}

START_TEST(a_season_is_no_finding_when_traffic_is_low)
{
    ck_assert_int_eq(findings_of(10000, 2), 0);
}
END_TEST

START_TEST(a_season_is_no_finding_of_a_rare_arm)
{
    ck_assert_int_eq(findings_of(30000, 10), 0);
}
END_TEST

Suite *suite_season(void)
{
    return ek_suite("season", the_half_life_is_a_fortieth_of_a_day_within_bounds,
                    traffic_is_measured_by_the_times_of_the_lists,
                    a_season_is_no_finding_when_traffic_is_low,
                    a_season_is_no_finding_of_a_rare_arm);
}
