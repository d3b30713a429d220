/* A feature that is absent or rare in training, then present. */
#include "detect/detector.h"
#include "tests/check.h"
#include "tests/stream.h"

enum { TRAINING = 6000, BEFORE = 2400 };

static const char RULES[] = "version: 1\n"
                            "defaults: {false_alarms: 1 per 10000000 lists}\n";

static void never_there(struct ek_list *q)
{
    stream_scale(q, 1, NAN);
}

static void always_zero(struct ek_list *q)
{
    stream_scale(q, 1, 0);
}

/* Four of five lists have no value. */
static void mostly_missing(struct ek_list *q)
{
    if ((int)q->x[0] % 5)
        stream_scale(q, 1, NAN);
}

struct bench {
    struct ek_detector *detector;
    struct stream stream;
    struct ek_finding last[5];
    int count[5];
};

static void run(struct bench *b, int lists, void (*habit)(struct ek_list *q))
{
    struct ek_finding f;
    for (int i = 0; i < lists; i++) {
        struct ek_list *q = stream_next(&b->stream);
        if (habit)
            habit(q);
        ck_assert_int_eq(ek_detector_observe(b->detector, q, q->time_ms, NULL), EK_OK);
        while (ek_detector_next(b->detector, &f)) {
            b->last[f.state] = f;
            b->count[f.state]++;
        }
    }
}

static void comes_alive(void (*habit)(struct ek_list *q), enum ek_class class)
{
    struct bench b;
    struct ek_rules *rules = NULL;
    struct ek_manifest *m = stream_manifest();
    struct ek_profile *p = stream_profile_of(m, TRAINING, habit);
    memset(&b, 0, sizeof b);
    ck_assert_int_eq(ek_rules_parse(&rules, m, "rules", RULES, strlen(RULES), NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new(&b.detector, m, p, rules, NULL), EK_OK);
    stream_start(&b.stream, 8);
    run(&b, BEFORE, habit);
    ck_assert_int_eq(b.count[EK_SUSPECTED], 0);
    run(&b, 200, NULL);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    ck_assert_int_eq(b.last[EK_CONFIRMED].class, class);
    ck_assert(b.last[EK_CONFIRMED].fewer);
    ck_assert(b.last[EK_SUSPECTED].query < BEFORE + 80);
    run(&b, 300, habit);
    ck_assert_int_eq(b.count[EK_RECOVERED], 1);
    stream_end(&b.stream);
    ek_detector_free(b.detector);
    ek_rules_free(rules);
    ek_profile_free(p);
    ek_manifest_free(m);
}

START_TEST(values_that_were_always_missing_are_found)
{
    comes_alive(never_there, EK_MISSING);
}
END_TEST

START_TEST(values_that_were_always_zero_are_found)
{
    comes_alive(always_zero, EK_ZERO);
}
END_TEST

START_TEST(values_that_were_mostly_missing_are_found)
{
    comes_alive(mostly_missing, EK_MISSING);
}
END_TEST

Suite *suite_alive(void)
{
    return ek_suite("alive", values_that_were_always_missing_are_found,
                    values_that_were_always_zero_are_found,
                    values_that_were_mostly_missing_are_found);
}
