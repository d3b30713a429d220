/* The work per list is bounded when many changes start together. */
#include "detect/detector.h"
#include "offline/fit/profile_fit.h"
#include "tests/check.h"

#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FEATURES = 40, ITEMS = 10, TRAINING = 2000, FIRST_LOOKS = 4, UPDATE_LISTS = 256 };

struct crowd {
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_rules *rules;
    struct ek_detector *detector;
    struct ek_list query;
    struct ek_rng rng;
    uint64_t number;
    int confirmed, updated[FEATURES], last_confirmed, most_looks;
};

static struct ek_list *next_list(struct crowd *c, int faulty)
{
    struct ek_list *q = &c->query;
    ek_list_resize(q, ITEMS, FEATURES, 1);
    q->query[0] = (float)c->number++; /* all lists differ */
    q->time_ms = 1000 * (int64_t)c->number;
    q->id = (struct ek_text){"q", 1};
    for (int f = 0; f < FEATURES; f++) {
        double level = 3 + .3 * ek_rng_normal(&c->rng) + (f < faulty ? log(100) : 0);
        for (int i = 0; i < ITEMS; i++)
            q->x[FEATURES * i + f] = (float)exp(level + .4 * ek_rng_normal(&c->rng));
    }
    for (int i = 0; i < ITEMS; i++)
        q->item_id[i] = (struct ek_text){"i", 1};
    return q;
}

static void setup(struct crowd *c)
{
    static const char rules[] = "version: 1\ndefaults: {dedup_key: []}\n";
    char text[FEATURES * 64] = "features:\n";
    struct ek_profile_fit *fit = NULL;
    memset(c, 0, sizeof *c);
    for (int f = 0; f < FEATURES; f++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "  - {name: f%d, index: %d, role: item, routable: true}\n", f, f + 1);
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "  - {name: n, index: %d, role: query}\n", FEATURES + 1);
    ek_rng_seed(&c->rng, 9);
    ek_list_init(&c->query);
    ck_assert_int_eq(ek_manifest_parse(&c->manifest, "m", text, strlen(text), NULL), EK_OK);
    ek_profile_fit_new(&fit, c->manifest, NULL, NULL);
    for (int i = 0; i < TRAINING; i++)
        ek_profile_fit_add(fit, next_list(c, 0), NULL);
    ck_assert_int_eq(ek_profile_fit_finish(fit, &c->profile, NULL), EK_OK);
    ek_profile_fit_free(fit);
    ck_assert_int_eq(ek_rules_parse(&c->rules, c->manifest, "r", rules, sizeof rules - 1, NULL),
                     EK_OK);
    ck_assert_int_eq(ek_detector_new(&c->detector, c->manifest, c->profile, c->rules, NULL), EK_OK);
}

static void teardown(struct crowd *c)
{
    ek_detector_free(c->detector);
    ek_rules_free(c->rules);
    ek_profile_free(c->profile);
    ek_manifest_free(c->manifest);
    ek_list_release(&c->query);
}

/* Run lists with the first `faulty` features multiplied by a hundred. */
static void run(struct crowd *c, int lists, int faulty)
{
    struct ek_finding f;
    c->most_looks = 0;
    for (int i = 0; i < lists; i++) {
        struct ek_list *q = next_list(c, faulty);
        ck_assert_int_eq(ek_detector_observe(c->detector, q, q->time_ms, NULL), EK_OK);
        int looks = ek_detector_diagnosis_count(c->detector);
        if (looks > c->most_looks)
            c->most_looks = looks;
        while (ek_detector_next(c->detector, &f)) {
            if (f.state == EK_CONFIRMED) {
                c->confirmed++;
                c->last_confirmed = i;
            }
            if (f.state == EK_UPDATED)
                c->updated[f.feature]++;
        }
    }
}

/* Return the lists from the fault to the last of that many confirmations. */
static int lists_to_confirm(int faulty, int *most_looks)
{
    static struct crowd c;
    setup(&c);
    run(&c, 400, 0);
    run(&c, 400, faulty);
    int lists = c.last_confirmed;
    *most_looks = c.most_looks;
    ck_assert_int_eq(c.confirmed, faulty);
    teardown(&c);
    return lists;
}

START_TEST(a_few_changes_that_begin_together_are_confirmed_one_with_each_list)
{
    int looks, one = lists_to_confirm(1, &looks), five;
    ck_assert_int_eq(looks, 1);
    five = lists_to_confirm(5, &looks);
    ck_assert_int_eq(looks, 1);
    ck_assert_int_le(five, one + 8);
}
END_TEST

START_TEST(many_changes_that_begin_together_are_confirmed_some_with_each_list)
{
    int looks, one = lists_to_confirm(1, &looks), all = lists_to_confirm(FEATURES, &looks);
    ck_assert_int_le(looks, FIRST_LOOKS);
    ck_assert_int_le(all, one + 8 + FEATURES / 2);
}
END_TEST

START_TEST(open_changes_are_updated_in_turn_and_none_is_forgotten)
{
    static struct crowd c;
    enum { ROUNDS = 4 };
    setup(&c);
    run(&c, 400, 0);
    run(&c, 200, FEATURES);
    memset(c.updated, 0, sizeof c.updated);
    run(&c, ROUNDS * (UPDATE_LISTS + FEATURES), FEATURES);
    ck_assert_int_eq(c.most_looks, 1);
    for (int f = 0; f < FEATURES; f++)
        ck_assert_int_ge(c.updated[f], ROUNDS - 1);
    teardown(&c);
}
END_TEST

Suite *suite_diagnosis_scheduler(void)
{
    return ek_suite("turns", a_few_changes_that_begin_together_are_confirmed_one_with_each_list,
                    many_changes_that_begin_together_are_confirmed_some_with_each_list,
                    open_changes_are_updated_in_turn_and_none_is_forgotten);
}
