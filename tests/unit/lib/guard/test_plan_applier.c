/* Application of a plan to arrays: segments, canaries, modes, and clear errors.
 * prop/test_plan_apply.c compares the values with those of a stage. */
#include "evenkeel.h"
#include "base/error.h"
#include "tests/check.h"
#include "tests/plan_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ITEMS = 2, FEATURES = 2 };

struct scene {
    struct ek_applier *a;
    struct ek_error e;
    struct ek_segment_value segment[3];
    float query[1], x[ITEMS * FEATURES];
    struct ek_array_list list;
};

/* Arm B of app 1 for one night, with prices in cents. */
static void setup(struct scene *s, const char *plan)
{
    static const float x[] = {3, 12999, 4, 8050};
    memset(s, 0, sizeof *s);
    int rc = ek_applier_new(&s->a, plan, strlen(plan), &s->e);
    ck_assert_msg(!rc, "%s", s->e.message);
    s->segment[0] = (struct ek_segment_value){"arm", "B"};
    s->segment[1] = (struct ek_segment_value){"app", "1"};
    s->segment[2] = (struct ek_segment_value){"market", "DE"};
    s->query[0] = 1;
    memcpy(s->x, x, sizeof x);
    s->list = (struct ek_array_list){.id = "q1",
                                     .segment = s->segment,
                                     .segments = 3,
                                     .query_features = s->query,
                                     .query_count = 1,
                                     .features = s->x,
                                     .items = ITEMS,
                                     .feature_count = FEATURES,
                                     .item_stride = FEATURES,
                                     .feature_stride = 1};
}

/* Return the number of changed values, and put the prices back. */
static size_t apply(struct scene *s)
{
    size_t changed;
    int rc = ek_plan_apply(s->a, &s->list, &changed, &s->e);
    ck_assert_msg(!rc, "%s", s->e.message);
    if (changed) {
        ck_assert(s->x[1] == 129.99f && s->x[3] == 80.5f);
        s->x[1] = 12999;
        s->x[3] = 8050;
    }
    ck_assert(s->x[0] == 3 && s->x[2] == 4);
    return changed;
}

START_TEST(lists_of_the_segment_that_show_the_fault_are_repaired)
{
    struct scene s;
    setup(&s, EK_PLAN_OF("{" EK_PLAN_ARM_B EK_PLAN_PRICE("enforce", "100", "") "}"));
    ck_assert_uint_eq(apply(&s), 2);
    s.segment[0].value = "A";
    ck_assert_uint_eq(apply(&s), 0);
    s.segment[0].value = "B";
    s.segment[2].value = "US"; /* where prices are usually as high */
    ck_assert_uint_eq(apply(&s), 0);
    s.segment[2].value = "FR"; /* as any other market */
    ck_assert_uint_eq(apply(&s), 2);
    s.segment[1].value = "3"; /* of an unknown level */
    ck_assert_uint_eq(apply(&s), 0);
    s.segment[1].value = "1";
    s.query[0] = NAN; /* a level for no query */
    ck_assert_uint_eq(apply(&s), 0);
    s.list.items = 0;
    ck_assert_uint_eq(apply(&s), 0);
    ek_applier_free(s.a);
}
END_TEST

START_TEST(other_values_are_those_without_a_segment_of_their_own)
{
    struct scene s;
    setup(&s, EK_PLAN_OF("{\"segment\":{\"arm\":\"(other)\"},\"precedence\":1,\"except\":[\"A\","
                         "\"B\"]," EK_PLAN_PRICE("enforce", "100", "") "}"));
    ck_assert_uint_eq(apply(&s), 0);
    s.segment[0].value = "C";
    ck_assert_uint_eq(apply(&s), 2);
    s.segment[0].name = "other";
    ck_assert_uint_eq(apply(&s), 0);
    ek_applier_free(s.a);
}
END_TEST

START_TEST(a_canary_acts_by_the_id_and_a_mode_by_the_segment)
{
    struct scene s;
    char id[20];
    size_t repaired = 0;
    setup(&s, EK_PLAN_OF("{" EK_PLAN_ARM_B EK_PLAN_PRICE("canary", "25", "") "}"));
    s.list.id = id;
    for (int i = 0; i < 1000; i++) {
        snprintf(id, sizeof id, "q%d", i);
        repaired += apply(&s) > 0;
    }
    ck_assert_uint_gt(repaired, 200);
    ck_assert_uint_lt(repaired, 300);
    s.list.id = NULL;
    ck_assert_uint_eq(apply(&s), 0);
    ek_applier_free(s.a);
    setup(&s, EK_PLAN_OF("{\"segment\":null," EK_PLAN_PRICE(
                  "enforce", "100",
                  ",\"modes\":[{\"segment\":{\"arm\":\"B\"},\"precedence\":1,\"mode\":"
                  "\"shadow\",\"own\":true}]") "}"));
    ck_assert_uint_eq(apply(&s), 0);
    s.segment[0].value = "A";
    ck_assert_uint_eq(apply(&s), 2);
    ek_applier_free(s.a);
}
END_TEST

START_TEST(a_plan_without_entries_changes_nothing)
{
    struct scene s;
    setup(&s, EK_PLAN_OF(""));
    ck_assert_uint_eq(apply(&s), 0);
    ek_applier_free(s.a);
}
END_TEST

START_TEST(arrays_that_lack_a_feature_are_an_error_that_names_it)
{
    struct scene s;
    setup(&s, EK_PLAN_OF("{" EK_PLAN_ARM_B EK_PLAN_PRICE("enforce", "100", "") "}"));
    s.list.feature_count = 1;
    ck_assert_int_eq(ek_plan_apply(s.a, &s.list, NULL, &s.e), EK_EUSAGE);
    ck_assert_str_eq(s.e.message,
                     "'feature_count' is 1, but feature 'price' of the plan has index 1");
    s.list.feature_count = FEATURES;
    s.list.query_count = 0;
    ck_assert_int_eq(ek_plan_apply(s.a, &s.list, NULL, &s.e), EK_EUSAGE);
    ck_assert_str_eq(s.e.message,
                     "'query_count' is 0, but query feature 'nights' of the plan has index 0");
    s.list.query_count = 1;
    s.list.segments = 17;
    ck_assert_int_eq(ek_plan_apply(s.a, &s.list, NULL, &s.e), EK_EUSAGE);
    ck_assert_str_eq(s.e.message, "'segments' is 17, the limit is 16");
    ek_applier_free(s.a);
}
END_TEST

static void assert_refused(const char *plan, const char *message)
{
    struct ek_applier *a = NULL;
    struct ek_error e;
    int rc = ek_applier_new(&a, plan, strlen(plan), &e);
    ck_assert_msg(rc == EK_EFORMAT, "%d: %s, not %s", rc, e.message, message);
    ck_assert_str_eq(e.message, message);
    ck_assert_ptr_null(a);
}

/* The plan with one text replaced. */
static void assert_bad(const char *from, const char *to, const char *key)
{
    static const char good[] =
        EK_PLAN_OF("{" EK_PLAN_ARM_B EK_PLAN_PRICE("enforce", "100", "") "}");
    char plan[sizeof good + 100], message[100];
    const char *at = strstr(good, from);
    ck_assert_ptr_nonnull(at);
    snprintf(plan, sizeof plan, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
    snprintf(message, sizeof message, "entry 0 of the plan: missing or invalid '%s'", key);
    assert_refused(plan, message);
}

START_TEST(an_invalid_plan_is_refused_with_its_place)
{
    assert_refused("{", "plan, line 1, column 2: unexpected end of data");
    assert_refused("{}", "plan: missing or invalid 'entries'");
    assert_bad("\"price\"", "7", "feature");
    assert_bad("\"index\":1", "\"index\":-1", "index");
    assert_bad("\"index\":0", "\"index\":1.5", "query_features");
    assert_bad("\"mitigation\":\"repair\"", "\"mitigation\":\"mend\"", "mitigation");
    assert_bad("enforce", "often", "mode");
    assert_bad("\"percent\":100", "\"percent\":101", "percent");
    assert_bad("\"source\"", "\"sauce\"", "source");
    assert_bad("\"list\"", "\"guess\"", "by");
    assert_bad("\"number\":100", "\"number\":\"x\"", "number");
    assert_bad("\"positive\":true", "\"positive\":1", "values");
    assert_bad("\"level\"", "\"height\"", "level");
    assert_bad("\"DE\"", "\"ZZ\"", "strata");
    assert_bad("[0,0,0,0,0,0]", "[0]", "season");
    assert_bad("\"2\":-0.1", "\"0\":-0.1", "segments");
    assert_bad("\"slope\":1", "\"slope\":null", "slopes");
    assert_bad("\"items\":null", "\"items\":{\"00\":1}", "items");
    assert_bad("\"precedence\":1", "\"precedence\":0", "segment");
}
END_TEST

Suite *suite_plan_applier(void)
{
    return ek_suite("plan_applier", lists_of_the_segment_that_show_the_fault_are_repaired,
                    other_values_are_those_without_a_segment_of_their_own,
                    a_canary_acts_by_the_id_and_a_mode_by_the_segment,
                    a_plan_without_entries_changes_nothing,
                    arrays_that_lack_a_feature_are_an_error_that_names_it,
                    an_invalid_plan_is_refused_with_its_place);
}
