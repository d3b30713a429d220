/* Changes that start together in one segment form one incident. */
#include "detect/detector.h"
#include "tests/check.h"
#include "tests/stream_world.h"

#include <stdbool.h>
#include <string.h>

enum { TRAINING = 6000, BEFORE = 600, FINDINGS = 16 };

struct bench {
    struct stream_world world;
    struct ek_detector *detector;
    struct ek_finding confirmed[FINDINGS];
    int count, members[3], member_count;
};

static void setup(struct bench *b)
{
    static const char rules[] = "version: 1\nsegments: [arm, app]\n";
    memset(b, 0, sizeof *b);
    stream_world_start(&b->world, rules, TRAINING, 51);
    ck_assert_int_eq(
        ek_detector_new(&b->detector, b->world.manifest, b->world.profile, b->world.rules, NULL),
        EK_OK);
}

static void teardown(struct bench *b)
{
    ek_detector_free(b->detector);
    stream_world_end(&b->world);
}

/* Factors of price and size, in the lists of one segment value (NULL: in all). */
struct harm {
    const char *arm, *app;
    double price, size;
    bool half; /* the price of every other item only */
};

static void apply(const struct harm *harm, struct ek_list *q)
{
    for (int i = 0; harm->half && i < q->items; i += 2)
        q->x[i * q->item_features] *= (float)harm->price;
    if (harm->half)
        return;
    stream_scale(q, 0, harm->price);
    stream_scale(q, 1, harm->size);
}

static void run(struct bench *b, int lists, const struct harm *harm, int harms)
{
    for (int i = 0; i < lists; i++) {
        struct ek_list *q = stream_next(&b->world.stream);
        struct ek_finding f;
        uint64_t n = b->world.stream.number;
        const char *arm = n % 7 == 3 ? "B" : "A";
        const char *app[] = {"7.1", "7.1", "7.0", "7.2", "7.2"};
        const char *version = app[n * 2654435761u % 5];
        q->segments[0] = (struct ek_segment){stream_text("arm"), stream_text(arm)};
        q->segments[1] = (struct ek_segment){stream_text("app"), stream_text(version)};
        q->segment_count = 2;
        for (int h = 0; h < harms; h++)
            if ((!harm[h].arm || !strcmp(harm[h].arm, arm)) &&
                (!harm[h].app || !strcmp(harm[h].app, version)))
                apply(&harm[h], q);
        ck_assert_int_eq(ek_detector_observe(b->detector, q, q->time_ms, NULL), EK_OK);
        while (ek_detector_next(b->detector, &f))
            if (f.state == EK_CONFIRMED && b->count < FINDINGS) {
                b->confirmed[b->count++] = f;
                b->member_count = ek_detector_members(b->detector, f.cause, b->members, 3);
            }
    }
}

START_TEST(features_that_shift_together_in_one_arm_have_one_cause)
{
    static const struct harm harm = {"B", NULL, 100, 1.4, false};
    struct bench b;
    setup(&b);
    run(&b, BEFORE, NULL, 0);
    run(&b, 3000, &harm, 1);
    ck_assert_int_eq(b.count, 2);
    ck_assert_uint_eq(b.confirmed[0].cause, b.confirmed[1].cause);
    ck_assert_str_eq(b.confirmed[1].value, "B");
    ck_assert_int_eq(b.member_count, 2);
    ck_assert(b.members[0] == 0 && b.members[1] == 1);
    teardown(&b);
}
END_TEST

START_TEST(a_change_that_begins_later_in_the_same_arm_has_a_cause_of_its_own)
{
    static const struct harm first = {"B", NULL, 100, 1, false}, both = {"B", NULL, 100, 3, false};
    struct bench b;
    setup(&b);
    run(&b, BEFORE, NULL, 0);
    run(&b, 1500, &first, 1);
    run(&b, 1500, &both, 1);
    ck_assert_int_eq(b.count, 2);
    ck_assert_uint_ne(b.confirmed[0].cause, b.confirmed[1].cause);
    ck_assert_int_eq(b.member_count, 1);
    teardown(&b);
}
END_TEST

START_TEST(two_faults_at_one_time_in_different_places_have_two_causes)
{
    static const struct harm harm[] = {{"B", NULL, 100, 1, false}, {NULL, "7.1", 1, 3, false}};
    struct bench b;
    setup(&b);
    run(&b, BEFORE, NULL, 0);
    run(&b, 3000, harm, 2);
    ck_assert_int_eq(b.count, 2);
    ck_assert_uint_ne(b.confirmed[0].cause, b.confirmed[1].cause);
    ck_assert_str_ne(b.confirmed[0].value, b.confirmed[1].value);
    teardown(&b);
}
END_TEST

START_TEST(factors_of_one_feature_in_values_of_one_dimension_have_one_cause)
{
    static const struct harm harm[] = {{NULL, "7.0", 100, 1, false}, {NULL, "7.1", 8, 1, false}};
    struct bench b;
    setup(&b);
    run(&b, BEFORE, NULL, 0);
    run(&b, 3000, harm, 2);
    ck_assert_int_eq(b.count, 2);
    ck_assert_str_ne(b.confirmed[0].value, b.confirmed[1].value);
    ck_assert_uint_eq(b.confirmed[0].cause, b.confirmed[1].cause);
    teardown(&b);
}
END_TEST

/* A sale reaches one app after one arm: items of both are at other prices. */
START_TEST(a_factor_on_some_items_is_one_cause_in_all_segments)
{
    static const struct harm harm[] = {{"B", NULL, 5, 1, true}, {NULL, "7.1", 3, 1, true}};
    struct bench b;
    setup(&b);
    run(&b, BEFORE, NULL, 0);
    run(&b, 1000, harm, 1);
    ck_assert_int_eq(b.count, 1);
    ck_assert_int_eq(b.confirmed[0].class, EK_ITEMS);
    run(&b, 1500, NULL, 0);
    run(&b, 1500, harm + 1, 1);
    ck_assert_int_gt(b.count, 1);
    for (int i = 1; i < b.count; i++)
        ck_assert_uint_eq(b.confirmed[i].cause, b.confirmed[0].cause);
    teardown(&b);
}
END_TEST

START_TEST(a_small_shift_of_everybody_is_told_of_everybody)
{
    static const struct harm harm = {NULL, NULL, 1.6, 1, false};
    struct bench b;
    setup(&b);
    run(&b, BEFORE, NULL, 0);
    run(&b, 1000, &harm, 1);
    ck_assert_int_eq(b.count, 1);
    ck_assert_int_eq(b.confirmed[0].cell, 0);
    teardown(&b);
}
END_TEST

START_TEST(a_small_shift_of_one_app_is_not_told_of_everybody_first)
{
    static const struct harm harm = {NULL, "7.1", 1.6, 1, false};
    struct bench b;
    setup(&b);
    run(&b, BEFORE, NULL, 0);
    run(&b, 1000, &harm, 1);
    ck_assert_int_eq(b.count, 1);
    ck_assert_str_eq(b.confirmed[0].value, "7.1");
    teardown(&b);
}
END_TEST

Suite *suite_incident(void)
{
    return ek_suite("cause", a_factor_on_some_items_is_one_cause_in_all_segments,
                    features_that_shift_together_in_one_arm_have_one_cause,
                    a_change_that_begins_later_in_the_same_arm_has_a_cause_of_its_own,
                    two_faults_at_one_time_in_different_places_have_two_causes,
                    factors_of_one_feature_in_values_of_one_dimension_have_one_cause,
                    a_small_shift_of_everybody_is_told_of_everybody,
                    a_small_shift_of_one_app_is_not_told_of_everybody_first);
}
