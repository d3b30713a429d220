/* Accept commands over HTTP; test_guard_accept.c covers their effect in a guard. */
#include "base/alloc.h"
#include "base/file.h"
#include "daemon/http/control_api.h"
#include "daemon/base/log.h"
#include "tests/stage_scene.h"

#include <stdlib.h>
#include <unistd.h>

enum { FAULT_FROM = 600, MORE_TRAINING = 3000, FURTHER = 600 };

static const char TOKENS[] = "tokens-orders.tmp";
static const char ANA[] = "Bearer 0123456789abcdef";
static const char BEN[] = "Bearer fedcba9876543210";

static const char RULES[] = "version: 1\nsegments: [arm]\n";

struct told {
    struct scene s;
    struct ek_tokens *tokens;
};

static void prepare(struct told *t)
{
    begin(&t->s);
    ck_assert_int_eq(ek_file_write(TOKENS, "ana 0123456789abcdef\nben fedcba9876543210\n", NULL),
                     0);
    ck_assert_int_eq(ek_tokens_load(&t->tokens, TOKENS, NULL), 0);
    unlink(TOKENS);
    ek_rules_free(t->s.assets.rules);
    ck_assert_int_eq(ek_rules_parse(&t->s.assets.rules, t->s.assets.manifest, "rules", RULES,
                                    strlen(RULES), NULL),
                     0);
}

static void make_stage(struct told *t)
{
    struct ek_error e;
    ck_assert_msg(!ek_stage_new(&t->s.stage, t->s.config, &t->s.assets, NULL, &e), "%s", e.message);
}

static void close_told(struct told *t)
{
    ek_tokens_free(t->tokens);
    ek_stage_free(t->s.stage);
    end(&t->s);
}

static void assert_answer(struct told *t, const char *path, const char *who, const char *body,
                          unsigned status, const char *part)
{
    const struct ek_api_request r = {.path = path,
                                     .authorization = who,
                                     .content_type = "application/json",
                                     .body = body,
                                     .length = strlen(body)};
    struct ek_buf out;
    ek_buf_init(&out, 0);
    const struct ek_api api = {t->s.stage, NULL, t->tokens};
    unsigned came = ek_api_post(&api, &r, &out);
    ck_assert_msg(came == status && strstr(ek_buf_string(&out), part), "%u, and no '%s' in %s",
                  came, part, ek_buf_string(&out));
    bool wants_note = strstr(part, "\"note\"");
    ck_assert_msg(wants_note || !strstr(ek_buf_string(&out), "\"note\""), "a note in %s",
                  ek_buf_string(&out));
    ek_buf_release(&out);
}

static void price_in_cents(struct ek_list *q, uint64_t i)
{
    make_short(q, i);
    for (int k = 0; i >= FAULT_FROM && k < q->items; k++)
        q->x[k * q->item_features] *= 100;
}

static const char FOUND[] = "\"state\":\"confirmed\"";

START_TEST(an_accept_is_answered_with_its_decision_and_a_revert_takes_it_back)
{
    struct told t;
    prepare(&t);
    t.s.change = price_in_cents;
    train(&t.s, MORE_TRAINING);
    start(&t.s);
    feed(&t.s, 0, MANY);
    wait_for(&t.s, MANY);
    assert_answer(&t, "/api/v1/accept", ANA,
                  "{\"feature\":\"price\",\"segment\":null,\"reason\":\"a \\\"new\\\" tariff\"}",
                  200, "\"type\":\"accept\"");
    ck_assert(!page_has(t.s.stage, "/api/v1/findings", FOUND));
    ck_assert(page_has(t.s.stage, "/api/v1/events", "\"actor\":\"ana\""));
    ck_assert(page_has(t.s.stage, "/api/v1/events", "\"reason\":\"a \\\"new\\\" tariff\""));
    feed(&t.s, MANY, MANY + FURTHER);
    wait_for(&t.s, MANY + FURTHER);
    ck_assert(page_has(t.s.stage, "/api/v1/findings", "[]"));
    assert_answer(&t, "/api/v1/revert", BEN, "{\"version\":1,\"actor\":\"ana\"}", 200,
                  "\"type\":\"revert\"");
    ck_assert(page_has(t.s.stage, "/api/v1/events", "\"actor\":\"ben\""));
    assert_answer(&t, "/api/v1/pin", ANA,
                  "{\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"action\":\"none\"}", 200,
                  "\"type\":\"pin\"");
    assert_answer(&t, "/api/v1/pin", ANA,
                  "{\"feature\":\"price\",\"segment\":{\"arm\":\"b\"},\"action\":\"none\"}", 200,
                  "\"note\":\"arm=b has no separate statistics yet");
    feed(&t.s, MANY + FURTHER, MANY + 4 * FURTHER);
    wait_for(&t.s, MANY + 4 * FURTHER);
    ck_assert(!page_has(t.s.stage, "/api/v1/findings", "[]"));
    join(&t.s);
    close_told(&t);
}
END_TEST

START_TEST(without_an_output_a_pin_that_changes_lists_is_refused)
{
    struct told t;
    prepare(&t);
    ek_free(t.s.config->output_topic);
    t.s.config->output_topic = NULL;
    start(&t.s);
    assert_answer(&t, "/api/v1/pin", ANA, "{\"feature\":\"price\",\"action\":\"route\"}", 409,
                  "action 'route' changes lists, but there is no 'output.topic'");
    assert_answer(&t, "/api/v1/pin", ANA, "{\"feature\":\"price\",\"action\":\"none\"}", 200,
                  "\"type\":\"pin\"");
    ck_assert(page_has(t.s.stage, "/api/v1/status", "\"output\":null"));
    join(&t.s);
    close_told(&t);
}
END_TEST

START_TEST(what_is_not_there_and_what_cannot_be_done_now_are_told_apart)
{
    static const struct {
        const char *path, *body;
        unsigned status;
        const char *said;
    } bad[] = {
        {"/api/v1/accept", "", 400, "'feature' is required"},
        {"/api/v1/accept", "{\"feature\":3}", 400, "'feature' must be a string"},
        {"/api/v1/accept", "{\"featur\":\"price\"}", 400,
         "unknown key 'featur', did you mean 'feature'?"},
        {"/api/v1/accept", "{\"feature\":\"price\",\"xyzzy\":1}", 400,
         "unknown key 'xyzzy'; valid keys are actor, reason, feature, segment"},
        {"/api/v1/accept", "{\"feature\":\"price\",\"segment\":\"arm=B\"}", 400,
         "'segment' must be like {"},
        {"/api/v1/accept", "{\"feature\":\"price\",\"segment\":{}}", 400,
         "'segment' must be like {"},
        {"/api/v1/accept", "{\"feature\":\"price\",\"segment\":{\"arm\":1}}", 400,
         "'segment' must be like {"},
        {"/api/v1/accept", "{\"feature\":\"price\",\"segment\":{\"arm\":\"A\",\"app\":\"B\"}}", 400,
         "'segment' must be like {"},
        {"/api/v1/accept", "{\"feature\":\"prise\"}", 404,
         "no item feature 'prise', did you mean 'price'?"},
        {"/api/v1/accept", "{\"feature\":\"price\",\"segment\":{\"arn\":\"B\"}}", 404,
         "no segment 'arn', did you mean 'arm'?"},
        {"/api/v1/accept", "{\"feature\":\"price\"}", 409, "no change of 'price' is confirmed in"},
        {"/api/v1/accept", "{\"feature\":\"price\",\"segment\":{\"arm\":\"Z\"}}", 409, "arm=Z"},
        {"/api/v1/revert", "{}", 400, "'version' is required"},
        {"/api/v1/revert", "{\"version\":\"1\"}", 400, "'version' must be a positive integer"},
        {"/api/v1/revert", "{\"version\":-1}", 400, "'version' must be a positive integer"},
        {"/api/v1/revert", "{\"version\":7}", 409, "nothing was accepted that could be reverted"},
        {"/api/v1/reload", "{\"reset_state\":1}", 400, "'reset_state' must be true or false"},
        {"/api/v1/reload", "{\"reason\":\"x\"}", 400, "unknown key 'reason'"},
        {"/api/v1/reload", "", 409, "reload is not available"},
        {"/api/v1/pin", "{\"feature\":\"price\"}", 400, "'action' is required"},
        {"/api/v1/pin", "{\"feature\":\"price\",\"action\":\"rout\"}", 400,
         "unknown action 'rout', did you mean 'route'?"},
        {"/api/v1/pin", "{\"feature\":\"price\",\"action\":\"none\",\"until\":\"tomorrow\"}", 400,
         "'until' must be a date like 2027-01-31"},
        {"/api/v1/pin", "{\"feature\":\"prise\",\"action\":\"none\"}", 404,
         "did you mean 'price'?"},
        {"/api/v1/pin", "{\"feature\":\"price\",\"action\":\"none\",\"segment\":{\"arn\":\"B\"}}",
         404, "did you mean 'arm'?"},
        {"/api/v1/unpin", "{\"feature\":\"price\",\"until\":\"none\"}", 400,
         "unknown key 'until'; valid keys are actor, reason, feature, segment"},
        {"/api/v1/pin", "{\"feature\":\"chain\",\"action\":\"route\"}", 400, "chain"},
        {"/api/v1/unpin", "{\"feature\":\"price\"}", 409, "price"},
        {"/api/v1/resume", "{\"segment\":{\"arm\":\"B\"}}", 400, "'segment' requires 'feature'"},
        {"/api/v1/resume", "{\"feature\":\"prise\"}", 404, "did you mean 'price'?"},
        {"/api/v1/resume", "{\"feature\":\"price\"}", 409, "price"},
    };
    struct told t;
    prepare(&t);
    make_stage(&t);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_answer(&t, bad[i].path, ANA, bad[i].body, bad[i].status, bad[i].said);
    assert_answer(&t, "/api/v1/accept", "Bearer ana", "{\"feature\":\"price\"}", 401, "token");
    ck_assert(page_has(t.s.stage, "/api/v1/events", "[]"));
    close_told(&t);
}
END_TEST

START_TEST(an_instance_of_a_fleet_gives_an_accept_to_who_decides)
{
    struct told t;
    prepare(&t);
    set(&t.s, "fleet.topic", "plan");
    make_stage(&t);
    assert_answer(&t, "/api/v1/accept", ANA, "{\"feature\":\"price\"}", 202, "{\"command_id\":1}");
    assert_answer(&t, "/api/v1/revert", ANA, "{\"version\":7}", 202, "{\"command_id\":2}");
    assert_answer(&t, "/api/v1/accept", ANA, "{\"feature\":\"prise\"}", 404,
                  "did you mean 'price'?");
    ck_assert(page_has(t.s.stage, "/api/v1/commands", "\"state\":\"pending\""));
    close_told(&t);
}
END_TEST

START_TEST(a_pin_is_in_the_plan_until_it_is_taken_away)
{
    static const char place[] = "{\"feature\":\"price\",\"segment\":{\"arm\":\"B\"}}";
    struct told t;
    prepare(&t);
    make_stage(&t);
    assert_answer(&t, "/api/v1/pin", ANA,
                  "{\"feature\":\"price\",\"segment\":{\"arm\":\"B\"},\"action\":\"alert\","
                  "\"until\":\"2999-01-31\",\"reason\":\"miles in B\"}",
                  200, "\"note\":\"arm=B has no separate statistics yet; ");
    ck_assert(page_has(t.s.stage, "/api/v1/history", "\"actor\":\"ana\""));
    ck_assert(page_has(t.s.stage, "/api/v1/pins", "\"actor\":\"ana\",\"reason\":\"miles in B\""));
    assert_answer(&t, "/api/v1/unpin", BEN, place, 200, "\"type\":\"unpin\"");
    ck_assert(page_has(t.s.stage, "/api/v1/history", "\"actor\":\"ben\""));
    assert_answer(&t, "/api/v1/unpin", BEN, place, 409, "price");
    close_told(&t);
}
END_TEST

Suite *suite_api_commands(void)
{
    return ek_suite("api_orders",
                    an_accept_is_answered_with_its_decision_and_a_revert_takes_it_back,
                    without_an_output_a_pin_that_changes_lists_is_refused,
                    what_is_not_there_and_what_cannot_be_done_now_are_told_apart,
                    a_pin_is_in_the_plan_until_it_is_taken_away,
                    an_instance_of_a_fleet_gives_an_accept_to_who_decides);
}
