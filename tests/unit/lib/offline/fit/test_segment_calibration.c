/* Segments whose residuals have another shape: their bets are calibrated, so that they cause no
 * finding, and a fault in them is found. */
#include "detect/detector.h"
#include "offline/fit/profile_fit.h"
#include "offline/world/hotel.h"
#include "tests/check.h"
#include "tests/temporary.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { TRAINING = 4000, LISTS = 9000, FAULT = 2000 };

static const char RULES[] = "version: 1\nsegments: [market, arm]\n";

struct world {
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_rules *rules;
};

/* Train on hotel lists, whose distances spread more in some markets: `field` NULL or "market". */
static void setup(struct world *w, const char *field)
{
    struct ek_profile_fit *fit;
    struct ek_hotel *hotel;
    struct ek_list q;
    ek_list_init(&q);
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&w->manifest, "hotel", text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_rules_parse(&w->rules, w->manifest, "r", RULES, strlen(RULES), NULL), 0);
    ck_assert_int_eq(ek_hotel_new(&hotel, 1, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_new(&fit, w->manifest, field, NULL), EK_OK);
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

static bool is_of(const struct ek_list *q, const char *market)
{
    return ek_text_same(ek_list_segment(q, "market"), ek_text_from(market));
}

/* Multiply a feature of the lists of a market. */
static void multiply(const struct ek_manifest *m, struct ek_list *q, const char *feature,
                     float factor)
{
    int f = ek_manifest_item(m, feature);
    for (int i = 0; i < q->items; i++)
        q->x[i * q->item_features + f] *= factor;
}

/* Return the number of suspected findings; those of `market` and `feature` begin after FAULT lists,
 * from where its values are multiplied by `factor`. *found: lists of the market until the first. */
static int count_findings(struct world *w, const char *market, const char *feature, float factor,
                          int *found)
{
    struct ek_detector *d;
    struct ek_hotel *hotel;
    struct ek_finding f;
    struct ek_list q;
    int count = 0, faulty = 0;
    *found = -1;
    ek_list_init(&q);
    ek_profile_choose_segments(w->profile, w->rules->segment, w->rules->segment_count);
    ck_assert_int_eq(ek_hotel_new(&hotel, 11, NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new(&d, w->manifest, w->profile, w->rules, NULL), EK_OK);
    for (uint64_t i = 0; i < LISTS; i++) {
        ck_assert_int_eq(ek_hotel_list(hotel, i, &q, NULL), EK_OK);
        if (i >= FAULT && is_of(&q, market)) {
            multiply(w->manifest, &q, feature, factor);
            faulty++;
        }
        ck_assert_int_eq(ek_detector_observe(d, &q, q.time_ms, NULL), EK_OK);
        while (ek_detector_next(d, &f)) {
            count += f.state == EK_SUSPECTED;
            if (*found < 0 && f.state == EK_SUSPECTED && i >= FAULT)
                *found = faulty;
        }
    }
    ek_detector_free(d);
    ek_hotel_free(hotel);
    ek_list_release(&q);
    return count;
}

static void forget(struct ek_residual_laws *l, struct ek_profile *p)
{
    ek_segment_calibration_free(l->segment_calibration);
    ek_segment_calibration_free(p->segment_calibration);
    l->segment_calibration = p->segment_calibration = NULL;
}

START_TEST(a_segment_with_a_shape_of_its_own_is_no_fault)
{
    struct world w;
    int found;
    setup(&w, NULL);
    ck_assert_ptr_nonnull(w.profile->segment_calibration);
    ck_assert_int_eq(count_findings(&w, "m23", "price", 1, &found), 0);
    teardown(&w);
}
END_TEST

START_TEST(without_calibration_it_would_be_one)
{
    struct world w;
    int found;
    setup(&w, NULL);
    forget(&w.profile->by_segment, w.profile);
    ck_assert_int_gt(count_findings(&w, "m23", "price", 1, &found), 0);
    teardown(&w);
}
END_TEST

START_TEST(faults_in_such_a_segment_are_found)
{
    static const struct {
        const char *feature;
        float factor;
        int lists;
    } faults[] = {{"price", 100, 15}, {"price", 2, 30}, {"distance_center", 100, 30}};
    for (int i = 0; i < 3; i++) {
        struct world w;
        int found;
        setup(&w, NULL);
        ck_assert_int_eq(count_findings(&w, "m23", faults[i].feature, faults[i].factor, &found) > 0,
                         1);
        ck_assert_msg(found > 0 && found <= faults[i].lists, "%s: %d lists", faults[i].feature,
                      found);
        teardown(&w);
    }
}
END_TEST

START_TEST(arms_that_are_alike_and_the_strata_have_none)
{
    struct world w;
    size_t first;
    setup(&w, NULL);
    const struct ek_segment_calibration *t = w.profile->segment_calibration;
    const uint64_t b = ek_segment_key(ek_text_from("arm"), ek_text_from("B")),
                   market = ek_segment_key(ek_text_from("market"), ek_text_from("m23"));
    ck_assert_uint_eq(ek_segment_calibration_find(t, b, &first), 0);
    ck_assert_uint_gt(ek_segment_calibration_find(t, market, &first), 0);
    ck_assert_uint_eq(t->segment[first], market);
    teardown(&w);
    setup(&w, "market");
    ck_assert_uint_eq(ek_segment_calibration_find(w.profile->segment_calibration, market, &first),
                      0);
    teardown(&w);
}
END_TEST

static void check_refused(const struct ek_profile *p)
{
    struct ek_profile *read = NULL;
    struct temporary f = temporary_file();
    struct ek_error e;
    ck_assert_int_eq(ek_profile_save(p, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, &e), EK_EFORMAT);
    ck_assert_msg(strstr(e.message, "the calibration of segments") != NULL, "%s", e.message);
    unlink(f.path);
}

START_TEST(the_table_survives_the_file_and_a_damaged_one_is_refused)
{
    struct world w;
    struct ek_profile *read = NULL;
    struct temporary f = temporary_file();
    setup(&w, NULL);
    struct ek_segment_calibration *t = w.profile->segment_calibration;
    ck_assert_int_eq(ek_profile_save(w.profile, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, NULL), EK_OK);
    ck_assert_uint_eq(ek_profile_hash(read), ek_profile_hash(w.profile));
    ck_assert_uint_eq(read->segment_calibration->rows, t->rows);
    ek_profile_free(read);
    float divisor = t->divisor[3];
    t->divisor[3] = .5f;
    check_refused(w.profile);
    t->divisor[3] = INFINITY;
    check_refused(w.profile);
    t->divisor[3] = divisor;
    t->segment[t->rows - 1] = 0;
    check_refused(w.profile);
    unlink(f.path);
    teardown(&w);
}
END_TEST

Suite *suite_segment_calibration(void);
Suite *suite_segment_calibration(void)
{
    return ek_suite("segment_calibration", a_segment_with_a_shape_of_its_own_is_no_fault,
                    without_calibration_it_would_be_one, faults_in_such_a_segment_are_found,
                    arms_that_are_alike_and_the_strata_have_none,
                    the_table_survives_the_file_and_a_damaged_one_is_refused);
}
