/* Findings in the output of a replay. */
#include "daemon/commands/replay.h"
#include "tests/event_from.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static const char CENTS[] = "price, arm=B: values are multiplied by 100 (98 to 102) since list "
                            "1225; looks like amounts in cents instead of whole units";

static void event(struct ek_fit_target *t, const char *episode, const char *state, const char *text)
{
    char json[1000];
    snprintf(json, sizeof json,
             "{\"event\":\"finding\",\"finding_id\":\"%s\",\"state\":\"%s\",\"units\":[],"
             "\"text\":\"%s\"}",
             episode, state, text);
    ck_assert_int_eq(ek_replay_findings_add(t, event_from(json)), EK_OK);
}

static const char *printed(const struct ek_fit_target *t)
{
    static char text[8000];
    char *all;
    size_t length;
    FILE *to = open_memstream(&all, &length);
    ek_replay_findings_print(t, to);
    fclose(to);
    snprintf(text, sizeof text, "%s", all);
    free(all);
    return text;
}

START_TEST(a_confirmed_finding_is_told_with_its_last_sentence)
{
    struct ek_fit_target t = {0};
    event(&t, "price-1", "suspected", "price: something has changed");
    event(&t, "price-1", "confirmed", "price: first");
    event(&t, "price-1", "updated", CENTS);
    event(&t, "taxes-2", "suspected", "taxes: something has changed");
    event(&t, "taxes-2", "dismissed", "taxes: no finding after all");
    ck_assert_int_eq(
        ek_replay_findings_add(&t, event_from("{\"event\":\"plan\",\"version\":1,\"entries\":[]}")),
        EK_OK);
    ck_assert_str_eq(printed(&t),
                     "    price, arm=B: values are multiplied by 100 (98 to 102) since list 1225;\n"
                     "      looks like amounts in cents instead of whole units\n");
    ek_reported_findings_release(&t.findings);
}
END_TEST

START_TEST(a_rolled_back_route_is_shown_with_its_guardrail)
{
    struct ek_fit_target t = {0};
    static const char rollback[] =
        "{\"event\":\"decision\",\"type\":\"rollback\",\"feature\":\"price\",\"segment\":{\"arm\":"
        "\"%s\"},\"guardrail\":\"worse_than_unmitigated\",\"observed\":0.6,\"limit\":0.5}";
    static const char *const arms[] = {"A", "B"};
    ck_assert_int_eq(
        ek_replay_findings_add(
            &t,
            event_from("{\"event\":\"finding\",\"finding_id\":\"price-1\",\"feature\":\"price\","
                       "\"segment\":{\"arm\":\"B\"},\"state\":\"confirmed\",\"units\":[],"
                       "\"text\":\"price, arm=B: first\"}")),
        EK_OK);
    for (int i = 0; i < 2; i++) {
        char json[300];
        ck_assert_str_eq(printed(&t), "    price, arm=B: first\n");
        snprintf(json, sizeof json, rollback, arms[i]);
        ck_assert_int_eq(ek_replay_findings_add(&t, event_from(json)), EK_OK);
    }
    ck_assert_str_eq(printed(&t),
                     "    price, arm=B: first - rolled back by worse_than_unmitigated\n");
    ek_reported_findings_release(&t.findings);
}
END_TEST

START_TEST(model_and_upstream_are_told_among_the_findings_as_they_are_in_the_end)
{
    struct ek_fit_target t = {0};
    static const char *const states[] = {"drifted", "recovered", "drifted"};
    static const char *const ends[] = {"", " - over", ""};
    for (int i = 0; i < 3; i++) {
        char json[200], line[100];
        snprintf(json, sizeof json,
                 "{\"event\":\"model_drift\",\"state\":\"%s\",\"text\":\"the model differs\"}",
                 states[i]);
        ck_assert_int_eq(ek_replay_findings_add(&t, event_from(json)), EK_OK);
        snprintf(line, sizeof line, "    the model differs%s\n", ends[i]);
        ck_assert_str_eq(printed(&t), line);
    }
    ek_reported_findings_release(&t.findings);
}
END_TEST

START_TEST(a_finding_that_ended_says_so)
{
    struct ek_fit_target t = {0};
    event(&t, "price-1", "confirmed", "price: one");
    event(&t, "price-2", "confirmed", "price: two");
    event(&t, "price-1", "recovered", "price: back to normal");
    event(&t, "price-2", "dismissed", "price: explained by a segment");
    ck_assert_str_eq(printed(&t), "    price: one - over\n    price: two - dismissed\n");
    ek_reported_findings_release(&t.findings);
}
END_TEST

START_TEST(what_has_one_cause_stands_together)
{
    struct ek_fit_target t = {0};
    static const char *const texts[] = {"price: one", "rating: two", "taxes: three"};
    for (int i = 0; i < 3; i++) {
        char json[200];
        snprintf(json, sizeof json,
                 "{\"event\":\"finding\",\"finding_id\":\"x-%d\",\"incident_id\":%d,"
                 "\"state\":\"confirmed\",\"text\":\"%s\"}",
                 i, 1 + i % 2, texts[i]);
        ck_assert_int_eq(ek_replay_findings_add(&t, event_from(json)), EK_OK);
    }
    ck_assert_str_eq(printed(&t), "    price: one\n    with it, taxes: three\n    rating: two\n");
    ek_reported_findings_release(&t.findings);
}
END_TEST

START_TEST(no_finding_is_no_line_and_many_are_counted)
{
    struct ek_fit_target none = {0}, many = {0};
    char episode[20];
    ck_assert_str_eq(printed(&none), "");
    for (int i = 0; i < EK_REPLAY_FINDINGS_MAX + 3; i++) {
        snprintf(episode, sizeof episode, "x-%d", i);
        event(&many, episode, "confirmed", "x: y");
    }
    ck_assert_ptr_nonnull(strstr(printed(&many), "    and 3 more\n"));
    ek_reported_findings_release(&many.findings);
}
END_TEST

START_TEST(what_a_producer_writes_does_nothing_to_a_terminal)
{
    struct ek_fit_target t = {0};
    event(&t, "price-1", "confirmed", "price, arm=\\u001b[2J\\u009b2J\\u00e9: x");
    ck_assert_str_eq(printed(&t), "    price, arm=?[2J?2J\xc3\xa9: x\n");
    ek_reported_findings_release(&t.findings);
}
END_TEST

Suite *suite_replay_findings(void)
{
    return ek_suite("told", what_a_producer_writes_does_nothing_to_a_terminal,
                    a_confirmed_finding_is_told_with_its_last_sentence,
                    a_rolled_back_route_is_shown_with_its_guardrail, a_finding_that_ended_says_so,
                    model_and_upstream_are_told_among_the_findings_as_they_are_in_the_end,
                    what_has_one_cause_stands_together, no_finding_is_no_line_and_many_are_counted);
}
