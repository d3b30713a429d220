/* The one answer that is made of the other pages. */
#include "base/error.h"
#include "daemon/http/overview.h"
#include "tests/check.h"

#include <string.h>

#define FINDING(feature, state, factor, cause)                                                     \
    "{\"event\":\"finding\",\"feature\":\"" feature "\",\"segment\":null,\"state\":\"" state       \
    "\",\"factor\":" factor ",\"share\":1,\"cause\":" cause                                        \
    ",\"since_ms\":1000,\"action\":\"route\",\"mode\":\"enforce\",\"text\":\"" feature             \
    " has moved\"}"
#define ROUTE(feature, mode, more)                                                                 \
    "{\"routes\":[{\"feature\":\"" feature                                                         \
    "\",\"segment\":null,\"action\":\"route\",\"mode\":\"" mode "\"" more "}]}"

static const char NOTHING[] = "[]", NO_PLAN[] = "{\"version\":0,\"cells\":[]}",
                  NO_RANKS[] = "{\"routes\":[]}",
                  STATUS[] = "{\"paused\":null,\"plan_version\":3,\"observed_queries\":9}",
                  READY[] = "{\"ready\":true,\"reason\":null}";

static void assert_overview(const struct ek_overview_of *of, const char *const *parts)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_overview_write(of, &out), EK_OK);
    for (; *parts; parts++)
        ck_assert_msg(strstr(ek_buf_string(&out), *parts) != NULL, "no %s in %s", *parts,
                      ek_buf_string(&out));
    ek_buf_release(&out);
}

#define ASSERT_OVERVIEW(of, ...) assert_overview(of, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(fine_paused_and_not_ready_are_told_apart)
{
    struct ek_overview_of of = {NOTHING, NO_PLAN, NO_RANKS, STATUS, READY, 5, 2};
    ASSERT_OVERVIEW(&of, "\"level\":\"fine\"", "\"since_ms\":null", "\"problems\":[]",
                    "\"features\":5", "\"observed_queries\":9");
    of.ready = "{\"ready\":false,\"reason\":\"no_broker\"}";
    ASSERT_OVERVIEW(&of, "\"level\":\"not_ready\"", "not ready: no_broker");
    of.status = "{\"paused\":{\"since_ms\":77},\"plan_version\":3}";
    ASSERT_OVERVIEW(&of, "\"level\":\"paused\"", "\"since_ms\":77");
}
END_TEST

START_TEST(one_problem_for_each_cause_the_gravest_first)
{
    struct ek_overview_of of = {"[" FINDING("tax", "confirmed", "3", "\"c-1\"") "," FINDING(
                                    "price", "updated", "100",
                                    "\"c-1\"") "," FINDING("size", "suspected", "null", "null") "]",
                                NO_PLAN,
                                NO_RANKS,
                                STATUS,
                                READY,
                                5,
                                2};
    ASSERT_OVERVIEW(&of, "\"level\":\"found\"", "\"since_ms\":1000",
                    "\"text\":\"price has moved. What is done: nothing",
                    "\"problems\":[{\"cause\":\"c-1\",\"feature\":\"price\"");
    of.findings = "[" FINDING("size", "suspected", "null", "null") "]";
    ASSERT_OVERVIEW(&of, "\"level\":\"watching\"", "1 suspected");
}
END_TEST

START_TEST(what_is_done_is_that_of_the_route)
{
    static const char moved[] =
        ROUTE("price", "canary",
              ",\"percent\":10,\"moved\":{\"lists\":900,\"places\":3.4,\"top10_overlap\":0.7}");
    struct ek_overview_of of = {"[" FINDING("price", "confirmed", "100", "\"c-1\"") "]",
                                NO_PLAN,
                                moved,
                                STATUS,
                                READY,
                                5,
                                2};
    ASSERT_OVERVIEW(&of, "\"level\":\"acting\"", "for 10% of the queries so far",
                    "stands 3.4 places elsewhere", "70% of the first ten", "(900 lists)");
    of.ranks = ROUTE("price", "observe", ",\"withdrawn\":{\"rail\":\"worse_than_fault\"}");
    ASSERT_OVERVIEW(&of, "\"level\":\"found\"", "the guardrail worse_than_fault took the route",
                    "\"without\":null");
    of.ranks = "no page";
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_overview_write(&of, &out), EK_EFORMAT);
    ek_buf_release(&out);
}
END_TEST

Suite *suite_overview(void)
{
    return ek_suite("overview", fine_paused_and_not_ready_are_told_apart,
                    one_problem_for_each_cause_the_gravest_first,
                    what_is_done_is_that_of_the_route);
}
