/* Printed forms of API responses. */
#include "daemon/base/text_table.h"
#include "daemon/commands/client_print.h"
#include "tests/check.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static yyjson_doc *parsed(const char *json)
{
    struct ek_buf answer;
    ek_buf_init(&answer, 0);
    ck_assert_int_eq(ek_buf_text(&answer, json), 0);
    yyjson_doc *doc = ek_client_parse(&answer);
    ek_buf_release(&answer);
    return doc;
}

static char *printed(ek_client_printer *print, const char *json, bool want)
{
    char *text = NULL;
    size_t length = 0;
    yyjson_doc *doc = parsed(json);
    FILE *to = open_memstream(&text, &length);
    ck_assert_int_eq(print(yyjson_doc_get_root(doc), NULL, to), want);
    fclose(to);
    yyjson_doc_free(doc);
    return text;
}

static void assert_printed(ek_client_printer *print, const char *json, const char *want)
{
    char *text = printed(print, json, true);
    ck_assert_str_eq(text, want);
    free(text);
}

START_TEST(a_table_is_as_wide_as_it_must_be_and_never_wider_than_a_terminal)
{
    assert_printed(
        ek_client_print_findings,
        "[{\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"state\":\"confirmed\",\"class\":"
        "\"scale\",\"factor\":99.48,\"factor_low\":97.1,\"factor_high\":102,\"unit_matches\":[{"
        "\"unit\":\"cents\",\"ratio\":100,\"match\":"
        "\"any\"}],\"since_ms\":1790001058400,"
        "\"mitigation\":"
        "\"route\",\"mode\":\"enforce\"},{\"feature\":\"user_rating\",\"segment\":null,\"state\":"
        "\"suspected\",\"class\":null,\"since_ms\":1790001158400}]",
        "\nopen findings\n"
        "FEATURE      SEGMENT  STATE      ACTION          SINCE (UTC)       WHAT\n"
        "price        arm=B    confirmed  route, enforce  2026-09-21 14:30  scale x100 (cents),\n"
        "                                                                   estimate x99.48\n"
        "                                                                   (97.1 to 102)\n"
        "user_rating  all      suspected  -               2026-09-21 14:32  not diagnosed\n");
}
END_TEST

START_TEST(missing_values_are_shown_with_their_fraction_in_training)
{
    assert_printed(
        ek_client_print_findings,
        "[{\"feature\":\"price\",\"segment\":null,\"state\":\"updated\",\"class\":\"missing\","
        "\"value_fraction\":1,\"trained_fraction\":0.02,\"units\":[],\"mitigation\":\"alert\"}]",
        "\nopen findings\n"
        "FEATURE  SEGMENT  STATE      ACTION  SINCE (UTC)  WHAT\n"
        "price    all      confirmed  alert   none         missing in 100% of the\n"
        "                                                  values, 2% in training\n");
}
END_TEST

START_TEST(nothing_open_and_nothing_in_force_are_said)
{
    assert_printed(ek_client_print_findings, "[]", "\nno open findings\n");
    assert_printed(ek_client_print_plan, "{\"entries\":[]}", "\nno active mitigations\n");
    assert_printed(ek_client_print_plan,
                   "{\"entries\":[{\"feature\":\"price\",\"segment\":null,\"mitigation\":\"route\","
                   "\"mode\":\"canary\",\"percent\":12.5,\"source\":\"finding\"}]}",
                   "\nactive mitigations\nFEATURE  SEGMENT  ACTION  MODE    OF LISTS  BY\n"
                   "price    all      route   canary  12.5%     finding\n");
}
END_TEST

START_TEST(news_of_a_finding_leave_it_confirmed_and_a_lag_nobody_knows_is_no_number)
{
    assert_printed(ek_client_print_status, "{\"ready\":false,\"lag\":-1}",
                   "evenkeel not ready\nready              no\n");
    assert_printed(
        ek_client_print_findings,
        "[{\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"state\":\"updated\","
        "\"class\":\"scale\",\"factor\":100.3,\"mitigation\":\"route\","
        "\"mode\":\"observe\",\"since_ms\":1790001058400,\"units\":[\"cents\"]}]",
        "\nopen findings\nFEATURE  SEGMENT  STATE      ACTION          SINCE (UTC)       "
        "WHAT\nprice    arm=B    confirmed  route, observe  2026-09-21 14:30  scale "
        "x100.3, cents\n");
}
END_TEST

START_TEST(a_status_says_why_it_is_not_ready_and_since_when_it_is_paused)
{
    assert_printed(
        ek_client_print_status,
        "{\"ready\":false,\"missing_topics\":[],\"reason\":\"no_broker\",\"message\":"
        "\"127.0.0.1:1: refused\",\"dead_letters\":0,\"score_failures\":208,\"paused\":"
        "{\"since_ms\":1790001058400,\"clock\":\"wall\",\"actor\":\"ana\",\"reason\":\"odd\"}}",
        "evenkeel not ready, paused, dead letters 0, score failures 208\n"
        "ready              no: no_broker, 127.0.0.1:1: refused\n"
        "paused             yes, since 2026-09-21 14:30 UTC, by ana: odd\n");
    assert_printed(ek_client_print_status,
                   "{\"ready\":false,\"missing_topics\":[\"a\",\"b\"],\"reason\":\"topic_missing\","
                   "\"paused\":{\"since_ms\":1790001058400,\"clock\":\"stream\",\"actor\":\"\"}}",
                   "evenkeel not ready, paused\nready              no: topic_missing, a, b\n"
                   "paused             yes, since 2026-09-21 14:30 UTC in event time\n");
}
END_TEST

START_TEST(a_status_has_the_number_of_undecodable_messages_and_the_first_reason)
{
    assert_printed(ek_client_print_status,
                   "{\"input\":{\"state\":\"ok\",\"decoded\":90,\"undecodable\":2,\"copies_in\":"
                   "\"dead\",\"first_reason\":\"items: missing\",\"conditions\":[]}}",
                   "evenkeel not ready\nundecodable        2 of 92 messages; they are in dead: "
                   "items: missing\n");
    assert_printed(ek_client_print_status,
                   "{\"input\":{\"state\":\"partly_undecodable\",\"decoded\":90,\"undecodable\":11,"
                   "\"first_reason\":\"items: missing\",\"conditions\":[{\"condition\":"
                   "\"partly_undecodable\",\"text\":\"11 of 101 messages cannot be read\"}]}}",
                   "evenkeel not ready\ninput              partly_undecodable\n"
                   "partly_undecodable 11 of 101 messages cannot be read\n");
    assert_printed(ek_client_print_status,
                   "{\"input\":{\"state\":\"ok\",\"decoded\":90,\"undecodable\":0}}",
                   "evenkeel not ready\n");
}
END_TEST

START_TEST(routes_that_a_guardrail_took_back_are_shown_with_it_and_its_figure)
{
    static const char routes[] =
        "{\"routes\":[{\"feature\":\"rating\",\"segment\":null,\"mitigation\":\"route\",\"rolled_"
        "back\":"
        "null},{\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"mitigation\":\"route\","
        "\"rolled_back\":"
        "{\"guardrail\":\"error_rate\",\"observed\":0.208,\"limit\":0.01}}]}";
    static const char shown[] = "\nrolled back, until 'evenkeel resume --feature'\n"
                                "FEATURE  SEGMENT  ACTION  GUARDRAIL   FIGURE\n"
                                "price    arm=B    route   error_rate  0.208 of at most 0.01\n";
    assert_printed(ek_client_print_rollbacks, routes, shown);
    assert_printed(ek_client_print_rollbacks,
                   "{\"routes\":[{\"feature\":\"price\",\"rolled_back\":null}]}", "");
}
END_TEST

START_TEST(what_waits_for_a_person_and_what_one_has_pinned_is_shown)
{
    assert_printed(
        ek_client_print_plan,
        "{\"entries\":[{\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"mitigation\":\"route\","
        "\"mode\":\"enforce\",\"percent\":100,\"source\":\"finding\",\"fault_cleared\":true}]}",
        "\nactive mitigations\nFEATURE  SEGMENT  ACTION  MODE     OF LISTS  BY\n"
        "price    arm=B    route   enforce  100%      finding\n"
        "the fault of price has cleared; end its route with 'evenkeel resume --feature price "
        "--segment arm=B'\n");
    assert_printed(ek_client_print_pins, "[]", "");
    assert_printed(
        ek_client_print_pins,
        "[{\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"action\":\"none\","
        "\"until_ms\":1790001058400,\"actor\":\"ana\",\"reason\":\"odd\",\"source\":\"operator\"},"
        "{\"feature\":\"rating\",\"segment\":null,\"action\":\"route\",\"until_ms\":null,"
        "\"actor\":null,\"reason\":null,\"source\":\"rules\"}]",
        "\npins\nFEATURE  SEGMENT  ACTION  UNTIL (UTC)       BY              REASON\n"
        "price    arm=B    none    2026-09-21 14:30  operator (ana)  odd\n"
        "rating   all      route   for good          rules           -\n");
}
END_TEST

START_TEST(long_texts_are_broken_between_words_under_their_column)
{
    const char *const titles[] = {"WHO", "WHY"};
    char *text = NULL;
    size_t length = 0;
    struct ek_text_table *c = ek_text_table_new(titles, 2);
    ck_assert_int_eq(
        ek_text_table_add(c, (const char *const[]){"ana",
                                                   "one two three four five six seven eight nine "
                                                   "ten eleven twelve thirteen fourteen"}),
        0);
    FILE *to = open_memstream(&text, &length);
    ek_text_table_print(c, to);
    fclose(to);
    ck_assert_str_eq(
        text, "WHO  WHY\n"
              "ana  one two three four five six seven eight nine ten eleven twelve thirteen\n"
              "     fourteen\n");
    free(text);
    ek_text_table_free(c);
}
END_TEST

START_TEST(what_people_have_written_moves_no_cursor)
{
    char *text = printed(
        ek_client_print_status,
        "{\"paused\":{\"actor\":\"a\\u001b[2Jna\",\"reason\":\"x\\nno\\u009bm\\u00e9\"}}", true);
    ck_assert_str_eq(
        text, "evenkeel not ready, paused\npaused             yes, by a?[2Jna: x?no?m\xc3\xa9\n");
    free(text);
}
END_TEST

START_TEST(a_decision_is_a_sentence)
{
    assert_printed(
        ek_client_print_decision,
        "{\"event\":\"decision\",\"type\":\"accept\",\"accept\":3,\"version\":3,"
        "\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"factor\":99.48}",
        "price, arm=B: x99.48 is normal from now on; 'evenkeel revert 3' takes that back\n");
    assert_printed(ek_client_print_decision,
                   "{\"event\":\"decision\",\"type\":\"revert\",\"accept\":3,\"version\":4,"
                   "\"feature\":\"price\",\"segment\":null,\"factor\":99.48}",
                   "price: x99.48 is no longer normal\n");
    assert_printed(
        ek_client_print_decision,
        "{\"type\":\"pin\",\"feature\":\"price\",\"segment\":null,\"mitigation\":\"route\"}",
        "price: pinned to route\n");
    assert_printed(ek_client_print_decision,
                   "{\"type\":\"pin\",\"feature\":\"price\",\"segment\":null}",
                   "price: pinned to none\n");
    assert_printed(ek_client_print_decision,
                   "{\"type\":\"unpin\",\"feature\":\"price\",\"segment\":null}",
                   "price: unpinned\n");
    assert_printed(ek_client_print_resumed,
                   "{\"type\":\"resume\",\"feature\":\"price\",\"segment\":null}",
                   "price: the route restarts, or ends if its fault has cleared\n");
    assert_printed(ek_client_print_resumed, "{\"changed\":true,\"paused\":null}", "not paused\n");
    assert_printed(ek_client_print_paused, "{\"changed\":true,\"kept\":true,\"paused\":{}}",
                   "paused\n");
    assert_printed(ek_client_print_paused, "{\"changed\":false,\"kept\":false,\"paused\":{}}",
                   "paused, as it was; a restart ends it, because 'state.topic' is not "
                   "set\n");
}
END_TEST

START_TEST(incidents_are_a_table_with_start_end_and_action)
{
    assert_printed(
        ek_client_print_incidents,
        "[{\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"state\":\"recovered\","
        "\"class\":\"scale\",\"factor\":100.3,\"unit\":\"cents\",\"ratio\":100,\"times\":1,"
        "\"mitigation\":\"repair\",\"mode\":\"enforce\",\"mitigated_ms\":1790001059000,"
        "\"rolled_back\":null,\"from_ms\":1790001058400,\"to_ms\":1790003058400,\"lists\":812,"
        "\"treated_lists\":391},"
        "{\"feature\":\"tax\",\"segment\":null,\"state\":\"confirmed\",\"class\":\"missing\","
        "\"factor\":null,\"unit\":null,\"ratio\":null,\"times\":3,\"mitigation\":\"alert\","
        "\"mode\":\"observe\",\"mitigated_ms\":null,\"from_ms\":1790001058400,"
        "\"to_ms\":null,\"lists\":9},"
        "{\"feature\":\"tax\",\"segment\":null,\"state\":\"accepted\",\"class\":\"scale\","
        "\"factor\":2,\"unit\":\"query_feature:nights\",\"ratio\":null,\"times\":1,"
        "\"mitigation\":\"route\",\"mode\":\"canary\",\"mitigated_ms\":1,"
        "\"rolled_back\":{\"guardrail\":\"error_rate\",\"observed\":1,\"limit\":0.1},"
        "\"from_ms\":1790001058400,\"to_ms\":1790101058400,\"lists\":9}]",
        "FEATURE  SEGMENT  FROM (UTC)        TO                ALL LISTS  WHAT\n"
        "price    arm=B    2026-09-21 14:30  15:04             812        scale x100 (cents),\n"
        "                                                                 estimate x100.3;\n"
        "                                                                 repair, enforce, 391\n"
        "                                                                 lists treated\n"
        "tax      all      2026-09-21 14:30  open              9          missing, began 3\n"
        "                                                                 times; no action\n"
        "                                                                 (observe)\n"
        "tax      all      2026-09-21 14:30  2026-09-22 18:17  9          scale x2,\n"
        "                                                                 query_feature:nights;\n"
        "                                                                 route, canary, 0\n"
        "                                                                 lists treated,\n"
        "                                                                 rolled back by\n"
        "                                                                 error_rate; accepted\n");
    assert_printed(ek_client_print_incidents, "[]", "no incidents\n");
}
END_TEST

START_TEST(a_history_has_a_line_per_decision_and_all_details_as_a_table)
{
    static const char json[] =
        "[{\"event\":\"decision\",\"sequence\":1,\"list\":1,\"time_ms\":1790001058400,\"type\":"
        "\"route\","
        "\"actor\":\"evenkeel\",\"plan\":{\"before\":0,\"after\":1},\"feature\":\"price\","
        "\"segment\":{"
        "\"arm\":\"B\"},\"mitigation\":\"route\",\"percent\":5,\"class\":\"scale\",\"factor\":99."
        "48,"
        "\"reason\":null},"
        "{\"event\":\"decision\",\"sequence\":2,\"list\":9,\"time_ms\":1790001158400,\"type\":"
        "\"pause\","
        "\"actor\":\"ana\",\"plan\":{\"before\":1,\"after\":1},\"reason\":\"the ranking looks odd "
        "and "
        "nobody "
        "knows why\"}]";
    assert_printed(
        ek_client_print_history_details, json,
        "NO  STREAM TIME, UTC  WHAT   WHERE         WHO       DETAILS\n"
        "1   2026-09-21 14:30  route  price, arm=B  evenkeel  5%; scale x99.48; plan 1\n"
        "2   2026-09-21 14:32  pause  -             ana       the ranking looks odd and\n"
        "                                                     nobody knows why\n");
    assert_printed(
        ek_client_print_history, json,
        "  NO  STREAM TIME, UTC\n"
        "   1  2026-09-21 14:30  evenkeel: route price, arm=B; 5%; scale x99.48; plan 1\n"
        "   2  2026-09-21 14:32  ana: pause; the ranking looks odd and nobody knows why\n");
    assert_printed(
        ek_client_print_history,
        "[{\"sequence\":3,\"time_ms\":1790001058400,\"type\":\"route\",\"actor\":\"system\","
        "\"plan\":{\"before\":0,\"after\":1},\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},"
        "\"mitigation\":\"repair\",\"class\":\"scale\",\"factor\":105.6,"
        "\"reason\":\"a finding requests repair: it is enforced\"}]",
        "  NO  STREAM TIME, UTC\n"
        "   3  2026-09-21 14:30  system: repair price, arm=B; scale x105.6; a finding requests "
        "repair: it is enforced; plan 1\n");
    char *text = printed(ek_client_print_history,
                         "[{\"sequence\":1,\"type\":\"pause\",\"actor\":\"ana\",\"reason\":"
                         "\"the ranking of the start page looks odd \u00e9\u00e9\u00e9\"}]",
                         true);
    ck_assert_str_eq(strchr(text, '\n') + 1,
                     "   1  none  ana: pause; the ranking of the start page looks odd "
                     "\xc3\xa9\xc3\xa9\xc3\xa9\n");
    free(text);
    assert_printed(ek_client_print_history, "[]", "no decisions\n");
}
END_TEST

START_TEST(ranks_are_a_table_of_orders)
{
    assert_printed(
        ek_client_print_impact,
        "{\"plan_version\":7,\"routes\":[{\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},"
        "\"mode\":\"canary\","
        "\"percent\":10,\"plan_vs_upstream\":{\"lists\":900,\"tau\":0.61,\"top10_overlap\":0.7,"
        "\"places\":3.4,"
        "\"change\":0.31,\"change_p95\":0.52},\"output_vs_upstream\":null,\"model_vs_upstream\":{"
        "\"lists\":0,\"tau\":"
        "null},"
        "\"would_roll_back\":{\"guardrail\":\"rank_change_p95\",\"observed\":0.52,\"limit\":0.5}}]"
        "}",
        "FEATURE  SEGMENT  MODE        ORDER     LISTS  TAU   TOP10  PLACES  P95\n"
        "price    arm=B    canary 10%  wanted    900    0.61  0.70   3.40    0.52\n"
        "                              no route  0      -     -      -       -\n"
        "price, arm=B: above the guardrail rank_change_p95, 0.52 of at most 0.5\n");
    assert_printed(ek_client_print_impact,
                   "{\"routes\":[{\"feature\":\"price\",\"segment\":null,\"mode\":\"observe\","
                   "\"plan_vs_upstream\":null,"
                   "\"rolled_back\":{\"guardrail\":\"error_rate\",\"observed\":0.2,\"limit\":0.01},"
                   "\"would_roll_back\":null}]}",
                   "FEATURE  SEGMENT  MODE     ORDER   LISTS  TAU  TOP10  PLACES  P95\n"
                   "price    all      observe  wanted  0      -    -      -       -\n"
                   "no list was shadow scored; without 'assets.model' none is\n"
                   "price: rolled back by the guardrail error_rate, 0.2 of at most 0.01\n");
    assert_printed(ek_client_print_impact, "{\"routes\":[]}", "no routes, active or in shadow\n");
}
END_TEST

START_TEST(a_reload_that_was_refused_is_told_with_every_fault)
{
    static const char refused[] =
        "{\"state\":\"refused\",\"reload\":2,\"carried_over\":null,\"errors\":[{\"file\":\"rules."
        "yaml\","
        "\"line\":3,"
        "\"column\":9,\"message\":\"'mode' must be one of: observe\"},{\"file\":null,\"line\":0,"
        "\"column\":0,\"message\":\"no memory\"}],\"warnings\":[]}";
    yyjson_doc *doc = parsed(refused);
    yyjson_val *o = yyjson_doc_get_root(doc);
    assert_printed(ek_client_print_reload, refused,
                   "rules.yaml:3:9: 'mode' must be one of: observe\nno memory\n");
    assert_printed(ek_client_print_reload,
                   "{\"state\":\"done\",\"reload\":2,\"carried_over\":\"all\",\"errors\":[],"
                   "\"warnings\":[{\"file\":"
                   "\"run.yaml\",\"line\":2,\"column\":1,\"message\":\"takes a restart\"}]}",
                   "reloaded: evidence, findings and routes go on\n"
                   "note: run.yaml:2:1: takes a restart\n");
    ck_assert_int_eq(ek_client_get_reload_state(o, 2), EK_RELOAD_REFUSED);
    ck_assert_int_eq(ek_client_get_reload_state(o, 3), EK_RELOAD_RUNNING); /* of an older version */
    ck_assert_uint_eq(ek_client_number(o, "reload"), 2);
    yyjson_doc_free(doc);
}
END_TEST

START_TEST(what_is_not_of_evenkeel_is_not_shown)
{
    static ek_client_printer *const all[] = {ek_client_print_status,    ek_client_print_findings,
                                             ek_client_print_plan,      ek_client_print_paused,
                                             ek_client_print_decision,  ek_client_print_history,
                                             ek_client_print_incidents, ek_client_print_impact};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *text = printed(all[i], "<html>", false);
        ck_assert_str_eq(text, "");
        free(text);
    }
}
END_TEST

static void assert_summary(const char *json, const char *want)
{
    char text[400];
    yyjson_doc *doc = parsed(json);
    ck_assert_int_eq(ek_client_summary(yyjson_doc_get_root(doc), text, sizeof text), want != NULL);
    ck_assert_str_eq(text, want ? want : "");
    yyjson_doc_free(doc);
}

START_TEST(one_line_says_how_it_is_doing)
{
    assert_summary(
        "{\"service\":\"hotels\",\"ready\":true,\"lag\":12,\"consumed\":1000,\"routed\":3,"
        "\"observed_lists\":990,\"lists_per_second\":49.7,\"output\":null,"
        "\"input\":{\"last_message_age_ms\":230},"
        "\"dead_letters\":0,\"open_findings\":1,\"plan_version\":7,\"paused\":null}",
        "hotels ready, lists 990 (49.7/s), last message 0.2 s ago, lag 12, consumed 1000, "
        "mitigated "
        "3, dead letters 0, open findings 1, plan 7, no output");
    assert_summary("{\"ready\":true,\"fleet\":{\"instance\":\"one\",\"leader\":\"two\"},"
                   "\"input\":{\"last_message_age_ms\":61000}}",
                   "evenkeel ready, instance one, leader two, last message 61 s ago");
    assert_summary("{\"ready\":true,\"fleet\":{\"instance\":\"one\",\"is_leader\":true}}",
                   "evenkeel ready, instance one (leader)");
    /* An unknown lag or age is omitted. */
    assert_summary("{\"ready\":false,\"lag\":-1,\"input\":{\"last_message_age_ms\":-1},"
                   "\"paused\":{\"actor\":\"ana\"}}",
                   "evenkeel not ready, paused");
    assert_summary("[1]", NULL);
}
END_TEST

START_TEST(a_line_that_is_too_long_is_cut)
{
    static const char *const cases[][2] = {
        {"12345678", "12345678\n"},
        {"123456789", "12345...\n"},
        {"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
         "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9...\n"},
        {"\x1b[2J", "?[2J\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        size_t length = 0;
        FILE *to = open_memstream(&text, &length);
        ek_print_cut(cases[i][0], 8, to);
        fclose(to);
        ck_assert_str_eq(text, cases[i][1]);
        free(text);
    }
}
END_TEST

Suite *suite_client_print(void)
{
    return ek_suite("tell_print", one_line_says_how_it_is_doing, a_line_that_is_too_long_is_cut,
                    missing_values_are_shown_with_their_fraction_in_training,
                    a_table_is_as_wide_as_it_must_be_and_never_wider_than_a_terminal,
                    nothing_open_and_nothing_in_force_are_said,
                    news_of_a_finding_leave_it_confirmed_and_a_lag_nobody_knows_is_no_number,
                    a_status_says_why_it_is_not_ready_and_since_when_it_is_paused,
                    a_status_has_the_number_of_undecodable_messages_and_the_first_reason,
                    routes_that_a_guardrail_took_back_are_shown_with_it_and_its_figure,
                    what_waits_for_a_person_and_what_one_has_pinned_is_shown,
                    long_texts_are_broken_between_words_under_their_column,
                    what_people_have_written_moves_no_cursor, a_decision_is_a_sentence,
                    incidents_are_a_table_with_start_end_and_action,
                    a_history_has_a_line_per_decision_and_all_details_as_a_table,
                    ranks_are_a_table_of_orders, a_reload_that_was_refused_is_told_with_every_fault,
                    what_is_not_of_evenkeel_is_not_shown);
}
