/* The overview response combines findings, plan and routes. */
#include "daemon/http/pages.h"
#include "base/alloc.h"
#include "tests/check.h"
#include "tests/event_from.h"

#include <string.h>

#define FINDING(feature, state, factor, cause)                                                     \
    "{\"event\":\"finding\",\"feature\":\"" feature "\",\"segment\":null,\"state\":\"" state       \
    "\",\"factor\":" factor ",\"fraction\":1,\"incident_id\":" cause                               \
    ",\"since_ms\":1000,\"mitigation\":\"route\",\"mode\":\"enforce\",\"text\":\"" feature         \
    " has moved\"}"

enum { FINDINGS_MAX = 4 };

static struct ek_reported_finding findings[FINDINGS_MAX];
static struct ek_event_log_state open;

static struct ek_overview_sources overview_of(const char *const *events)
{
    for (size_t i = 0; i < open.findings; i++)
        ek_free(findings[i].event);
    open = (struct ek_event_log_state){.finding = findings};
    for (; *events; events++)
        findings[open.findings++].event = ek_event_copy(event_from(*events));
    return (struct ek_overview_sources){
        .open = &open, .pause = "null", .queries = 9, .plan_version = 3, .features = 5, .cells = 2};
}

#define OVERVIEW_OF(...) overview_of((const char *const[]){__VA_ARGS__, NULL})

static void assert_overview(const struct ek_overview_sources *of, const char *const *parts)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_overview_write(of, &out), EK_OK);
    for (; *parts; parts++)
        ck_assert_msg(strstr(ek_buf_string(&out), *parts) != NULL, "no %s in %s", *parts,
                      ek_buf_string(&out));
    json_t *read = json_loads(ek_buf_string(&out), 0, NULL);
    ck_assert_ptr_nonnull(read);
    json_decref(read);
    ek_buf_release(&out);
}

#define ASSERT_OVERVIEW(of, ...) assert_overview(of, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(fine_paused_and_not_ready_are_told_apart)
{
    struct ek_overview_sources of = OVERVIEW_OF(NULL);
    ASSERT_OVERVIEW(&of, "\"status\":\"ok\"", "\"since_ms\":null", "\"problems\":[]",
                    "\"features\":5", "\"observed_lists\":9", "\"ready\":true");
    of.reason = "no_broker";
    ASSERT_OVERVIEW(&of, "\"status\":\"not_ready\"", "not ready: no_broker", "\"ready\":false");
    of.paused = true;
    of.paused_ms = 77;
    of.pause = "{\"since_ms\":77}";
    ASSERT_OVERVIEW(&of, "\"status\":\"paused\"", "\"since_ms\":77,",
                    "\"paused\":{\"since_ms\":77}");
}
END_TEST

START_TEST(an_accepted_level_is_no_recovery)
{
    struct ek_overview_sources of = OVERVIEW_OF(NULL);
    of.accepts = 1;
    ASSERT_OVERVIEW(&of, "\"status\":\"accepted\"",
                    "as in training or at the level that an operator accepted (1 in force)");
    of = OVERVIEW_OF(FINDING("size", "suspected", "null", "null"));
    of.accepts = 1;
    ASSERT_OVERVIEW(&of, "\"status\":\"suspected\"");
}
END_TEST

START_TEST(a_condition_of_the_input_is_the_status_unless_a_finding_is_open)
{
    struct ek_overview_sources of = OVERVIEW_OF(NULL);
    of.accepts = 1;
    of.input = "partly_undecodable";
    of.input_text = "69 of 6369 messages cannot be read";
    ASSERT_OVERVIEW(&of, "\"status\":\"partly_undecodable\"",
                    "\"text\":\"69 of 6369 messages cannot be read\"");
    of = OVERVIEW_OF(FINDING("size", "suspected", "null", "null"));
    of.input = "partly_undecodable";
    of.input_text = "69 of 6369 messages cannot be read";
    ASSERT_OVERVIEW(&of, "\"status\":\"suspected\"", "1 suspected");
    of.input = "undecodable";
    ASSERT_OVERVIEW(&of, "\"status\":\"undecodable\"", "69 of 6369 messages cannot be read");
}
END_TEST

START_TEST(one_problem_for_each_cause_the_gravest_first)
{
    struct ek_overview_sources of = OVERVIEW_OF(FINDING("tax", "confirmed", "3", "\"c-1\""),
                                                FINDING("price", "updated", "100", "\"c-1\""),
                                                FINDING("size", "suspected", "null", "null"));
    ASSERT_OVERVIEW(&of, "\"status\":\"confirmed\"", "\"since_ms\":1000",
                    "\"text\":\"price has moved. Action: no action",
                    "\"problems\":[{\"incident_id\":\"c-1\",\"feature\":\"price\"");
    of = OVERVIEW_OF(FINDING("size", "suspected", "null", "null"));
    ASSERT_OVERVIEW(&of, "\"status\":\"suspected\"", "1 suspected");
}
END_TEST

START_TEST(what_is_done_is_that_of_the_route)
{
    static struct ek_comparison_sums sums;
    const struct ek_plan_entry entry = {.treatment = {.action = EK_ACT_ROUTE}, .percent = 1000};
    struct ek_impact_view route = {
        .feature = "price", .entry = &entry, .mode = EK_MODE_CANARY, .sums = &sums};
    for (int i = 0; i < 900; i++)
        ek_rank_sums_add(&sums.moved, &(struct ek_rank_change){.places = 3.4, .top10 = .7});
    struct ek_overview_sources of = OVERVIEW_OF(FINDING("price", "confirmed", "100", "\"c-1\""));
    of.route = &route;
    of.routes = 1;
    ASSERT_OVERVIEW(&of, "\"status\":\"mitigated\"", "for 10% of the lists so far",
                    "is on average 3.4 positions from its position", "70% of the first ten items",
                    "(900 lists)");
    of.held = true;
    ASSERT_OVERVIEW(&of, "\"status\":\"confirmed\"", "no action until lists have the segments");
    of.held = false;
    sums = (struct ek_comparison_sums){.compared = 0};
    route.mode = EK_MODE_OBSERVE;
    route.rolled_back = true;
    route.guardrail = EK_GUARDRAIL_WORSE;
    ASSERT_OVERVIEW(&of, "\"status\":\"confirmed\"",
                    "guardrail worse_than_unmitigated rolled back the route",
                    "\"if_unmitigated\":null");
}
END_TEST

START_TEST(without_a_model_no_ranking_is_promised)
{
    struct ek_overview_sources of =
        OVERVIEW_OF("{\"event\":\"finding\",\"feature\":\"price\",\"segment\":null,\"state\":"
                    "\"confirmed\",\"since_ms\":1000,\"mitigation\":\"route\",\"mode\":\"observe\","
                    "\"no_model\":true,\"text\":\"price has moved\"}");
    ASSERT_OVERVIEW(&of, "\"text\":\"price has moved\"",
                    "\"text\":\"no action: there is no model\"");
}
END_TEST

Suite *suite_overview(void)
{
    return ek_suite("overview", fine_paused_and_not_ready_are_told_apart,
                    an_accepted_level_is_no_recovery,
                    a_condition_of_the_input_is_the_status_unless_a_finding_is_open,
                    one_problem_for_each_cause_the_gravest_first, what_is_done_is_that_of_the_route,
                    without_a_model_no_ranking_is_promised);
}
