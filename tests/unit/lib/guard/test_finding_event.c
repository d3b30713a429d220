/* A finding carries the numbers that a repair outside of evenkeel needs. */
#include "base/alloc.h"
#include "base/buf.h"
#include "guard/event_json.h"
#include "plan/policy.h"
#include "tests/check.h"
#include "tests/stream.h"

#include <string.h>

/* Fail unless the event of the finding has, or lacks, a part. */
static void check(const struct ek_finding *f, const char *part, bool has)
{
    static const struct ek_means means = {.model = true};
    struct ek_manifest *m = stream_manifest();
    struct ek_rules *rules;
    struct ek_buf text;
    ck_assert_int_eq(ek_rules_default(&rules, m, NULL), EK_OK);
    struct ek_decision decision = ek_decide(rules, m, &means, f);
    struct ek_event *event = ek_event_from_finding(m, f, &decision, NULL, 0);
    ck_assert_ptr_nonnull(event);
    ek_buf_init(&text, 0);
    ck_assert_int_eq(ek_event_json(event, &text), EK_OK);
    ck_assert_msg((strstr(ek_buf_string(&text), part) != NULL) == has, "%s: %s",
                  has ? "lacks" : "has", ek_buf_string(&text));
    ek_buf_release(&text);
    ek_free(event);
    ek_rules_free(rules);
    ek_manifest_free(m);
}

static struct ek_finding finding(enum ek_class class)
{
    return (struct ek_finding){.state = EK_CONFIRMED,
                               .class = class,
                               .factor = 99.7,
                               .factor_low = 98,
                               .factor_high = 102,
                               .share = 1,
                               .signal = "level up",
                               .query_feature = -1};
}

START_TEST(a_suspected_finding_has_no_fraction_yet)
{
    struct ek_finding f = finding(EK_CLASS_NONE);
    f.state = EK_SUSPECTED;
    check(&f, "\"fraction\":null", true);
    f = finding(EK_SCALE);
    check(&f, "\"fraction\":1,", true);
}
END_TEST

START_TEST(an_offset_has_its_amount_and_error)
{
    struct ek_finding f = finding(EK_OFFSET);
    f.offset = 273.15;
    f.offset_error = .25;
    check(&f, "\"offset\":273.15,\"offset_error\":0.25,", true);
    f.offset = 0; /* unknown */
    check(&f, "\"offset\":null,\"offset_error\":null,", true);
    f.class = EK_SCALE;
    check(&f, "\"offset\"", false);
}
END_TEST

START_TEST(units_have_their_exact_ratio_and_certainty)
{
    const struct ek_unit cents = {.id = "cents", .factor = 100, .text = "cents"},
                         minutes = {.id = "hours_to_minutes", .factor = 1. / 60, .text = "minutes"},
                         other = {.id = "other", .factor = 98.5, .text = "other"};
    struct ek_finding f = finding(EK_SCALE);
    check(&f, "\"units\":[],\"trigger\"", true);
    f.unit_count = 3;
    f.unit[0] = (struct ek_unit_match){&cents, 1, EK_UNIT_ANY};
    f.unit[1] = (struct ek_unit_match){&minutes, 0, EK_UNIT_QUANTITY};
    f.unit[2] = (struct ek_unit_match){&other, 0, EK_UNIT_ANY};
    check(&f,
          "\"units\":[\"cents\",\"hours_to_minutes\",\"other\"],\"unit_matches\":["
          "{\"unit\":\"cents\",\"ratio\":100.0,\"match\":\"listed\"},"
          "{\"unit\":\"hours_to_minutes\",\"ratio\":0.016666666666666666,\"match\":\"fits\"},"
          "{\"unit\":\"other\",\"ratio\":98.5,\"match\":\"coincidence\"}]",
          true);
}
END_TEST

START_TEST(a_query_feature_is_no_unit)
{
    struct ek_finding f = finding(EK_SCALE);
    f.query_feature = 0;
    f.exponent = 1;
    check(&f, "\"units\":[\"query_feature:nights\"],\"unit_matches\":[],", true);
}
END_TEST

Suite *suite_finding_event(void);
Suite *suite_finding_event(void)
{
    return ek_suite("finding_event", a_suspected_finding_has_no_fraction_yet,
                    an_offset_has_its_amount_and_error, units_have_their_exact_ratio_and_certainty,
                    a_query_feature_is_no_unit);
}
