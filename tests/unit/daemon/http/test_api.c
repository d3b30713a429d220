/* API calls that change a stage, and their effects. tests/kafka/test_pause.py covers HTTP. */
#include "base/file.h"
#include "daemon/http/control_api.h"
#include "daemon/http/pages.h"
#include "tests/stage_scene.h"

#include <stdio.h>
#include <unistd.h>

static const char TOKENS[] = "tokens-api.tmp";
static const char ANA[] = "Bearer 0123456789abcdef";
static const char SOMEBODY[] = "Bearer nameless-but-long-enough";
static const char JSON[] = "application/json";

struct told {
    struct scene s;
    struct ek_reload_service *reload_service; /* NULL, or of the test */
    struct ek_tokens *tokens;
};

static void open_told(struct told *t)
{
    struct ek_error e;
    t->reload_service = NULL;
    begin(&t->s);
    ck_assert_int_eq(
        ek_file_write(TOKENS, "ana 0123456789abcdef\nnameless-but-long-enough\n", NULL), 0);
    ck_assert_int_eq(ek_tokens_load(&t->tokens, TOKENS, NULL), 0);
    unlink(TOKENS);
    ck_assert_msg(!ek_stage_new(&t->s.stage, t->s.config, &t->s.assets, NULL, &e), "%s", e.message);
}

static void close_told(struct told *t)
{
    ek_tokens_free(t->tokens);
    ek_stage_free(t->s.stage);
    end(&t->s);
}

static struct ek_api_request call(const char *path, const char *who, const char *body)
{
    return (struct ek_api_request){.path = path,
                                   .authorization = who,
                                   .content_type = JSON,
                                   .host = "here:9464",
                                   .body = body,
                                   .length = strlen(body)};
}

static void assert_answer(struct told *t, const struct ek_api_request *r, unsigned status,
                          const char *part)
{
    struct ek_buf out;
    const struct ek_api api = {t->s.stage, t->reload_service, t->tokens};
    ek_buf_init(&out, 0);
    ck_assert_uint_eq(ek_api_post(&api, r, &out), status);
    ck_assert_msg(strstr(ek_buf_string(&out), part) != NULL, "no '%s' in %s", part,
                  ek_buf_string(&out));
    ek_buf_release(&out);
}

START_TEST(a_pause_is_told_with_who_and_why_and_ends)
{
    struct told t;
    open_told(&t);
    struct ek_api_request r = call("/api/v1/pause", ANA, "{\"reason\":\"it \\\"looks\\\" odd\"}");
    assert_answer(&t, &r, 200, "{\"changed\":true,\"kept\":false,\"paused\":{\"since_ms\":");
    ck_assert(page_has(t.s.stage, "/api/v1/status",
                       "\"actor\":\"ana\",\"reason\":\"it \\\"looks\\\" odd\"}"));
    ck_assert(page_has(t.s.stage, "/metrics", "\nevenkeel_paused 1\n"));
    r = call("/api/v1/pause", SOMEBODY, "{\"actor\":\"ben\"}");
    assert_answer(&t, &r, 200, "{\"changed\":false,\"kept\":false,\"paused\":{");
    ck_assert(page_has(t.s.stage, "/api/v1/status", "\"actor\":\"ana\"")); /* the first actor */
    r = call("/api/v1/resume", SOMEBODY, "{\"actor\":\"ben\"}");
    assert_answer(&t, &r, 200, "{\"changed\":true,\"kept\":false,\"paused\":null}");
    ck_assert(page_has(t.s.stage, "/api/v1/status", "\"paused\":null"));
    ck_assert(page_has(t.s.stage, "/metrics", "\nevenkeel_paused 0\n"));
    ck_assert(page_has(t.s.stage, "/api/v1/events", "\"type\":\"pause\",\"actor\":\"ana\""));
    ck_assert(page_has(t.s.stage, "/api/v1/events", "\"type\":\"resume\",\"actor\":\"ben\""));
    close_told(&t);
}
END_TEST

START_TEST(the_name_of_a_token_goes_before_the_author)
{
    struct told t;
    open_told(&t);
    struct ek_api_request r = call("/api/v1/pause", ANA, "{\"actor\":\"ben\"}");
    assert_answer(&t, &r, 200, "\"actor\":\"ana\"");
    close_told(&t);
}
END_TEST

START_TEST(who_may_not_changes_nothing)
{
    struct told t;
    open_told(&t);
    struct ek_api_request r = call("/api/v1/pause", NULL, "");
    assert_answer(&t, &r, 401, "a token is required: 'Authorization: Bearer TOKEN'");
    r.authorization = "Basic 0123456789abcdef";
    assert_answer(&t, &r, 401, "a token is required");
    r.authorization = "Bearer 0123456789abcdeg";
    assert_answer(&t, &r, 401, "the token is not in 'http.token_file'");
    r = call("/api/v1/pause", ANA, "");
    r.origin = "https://elsewhere:9464";
    assert_answer(&t, &r, 403, "cross-origin calls are not allowed");
    r.origin = "null";
    assert_answer(&t, &r, 403, "cross-origin calls are not allowed");
    ck_assert(page_has(t.s.stage, "/api/v1/status", "\"paused\":null"));
    r.origin = "http://here:9464";
    assert_answer(&t, &r, 200, "{\"changed\":true");
    close_told(&t);
}
END_TEST

/* Assert the value of `commands` in the status. */
static void assert_commands(const struct told *t, const char *value)
{
    const struct ek_api api = {t->s.stage, t->reload_service, t->tokens};
    struct ek_buf body;
    const char *type;
    char part[64];
    ek_buf_init(&body, 0);
    ck_assert_uint_eq(ek_http_page(&api, "/api/v1/status", NULL, &type, &body), 200);
    snprintf(part, sizeof part, ",\"commands\":\"%s\"}\n", value);
    ck_assert_msg(strstr(ek_buf_string(&body), part) != NULL, "no '%s' in %s", part,
                  ek_buf_string(&body));
    ek_buf_release(&body);
}

START_TEST(without_tokens_the_status_and_the_error_have_the_reason)
{
    struct told t;
    struct ek_error e;
    open_told(&t);
    struct ek_tokens *tokens = t.tokens;
    const struct ek_api_request r = call("/api/v1/pause", ANA, "");
    assert_commands(&t, "accepted");
    t.tokens = NULL;
    assert_commands(&t, "read_only");
    assert_answer(&t, &r, 403,
                  "this process accepts no commands; 'evenkeel run' with 'http.token_file' does");
    ck_assert_int_eq(
        ek_reload_service_new(&t.reload_service, t.s.stage, t.s.config, NULL, NULL, &e), 0);
    assert_commands(&t, "no_token_file");
    assert_answer(&t, &r, 403,
                  "set 'http.token_file' and restart, which loses findings and routes without "
                  "'state.topic'; 'evenkeel run --paused' then starts paused");
    ek_reload_service_free(t.reload_service);
    t.tokens = tokens;
    close_told(&t);
}
END_TEST

START_TEST(a_page_behind_a_proxy_may_call_under_a_name_of_http_hosts)
{
    char *one[] = {(char *)(uintptr_t) "ek.example"};
    const struct ek_text_list hosts = {one, 1};
    struct told t;
    open_told(&t);
    struct ek_api_request r = call("/api/v1/pause", ANA, "");
    r.host = "127.0.0.1:9464"; /* a proxy that replaces the host name */
    r.origin = "https://ek.example";
    assert_answer(&t, &r, 403, "cross-origin calls are not allowed");
    r.hosts = &hosts;
    r.origin = "https://ek.example.evil.example";
    assert_answer(&t, &r, 403, "cross-origin calls are not allowed");
    r.origin = "null";
    assert_answer(&t, &r, 403, "cross-origin calls are not allowed");
    r.origin = "https://";
    assert_answer(&t, &r, 403, "cross-origin calls are not allowed");
    r.origin = "https://EK.example:8443";
    assert_answer(&t, &r, 200, "{\"changed\":true");
    close_told(&t);
}
END_TEST

START_TEST(what_cannot_be_read_is_told_with_what_to_write)
{
    static const struct {
        const char *body, *said;
    } bad[] = {
        {"{\"reason\":", "line 1, column"},
        {"[]", "the body must be a JSON object"},
        {"{\"reson\":\"x\"}", "unknown key 'reson', did you mean 'reason'?"},
        {"{\"feature\":\"x\"}", "unknown key 'feature'; valid keys are actor, reason"},
        {"{\"reason\":1}", "'reason' must be a string"},
        {"{\"reason\":\"a\",\"reason\":\"b\"}", "duplicate"},
    };
    struct told t;
    char text[100];
    open_told(&t);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ek_api_request r = call("/api/v1/pause", ANA, bad[i].body);
        assert_answer(&t, &r, 400, bad[i].said);
    }
    snprintf(text, sizeof text, "{\"actor\":\"%065d\"}", 0);
    struct ek_api_request r = call("/api/v1/pause", SOMEBODY, text);
    assert_answer(&t, &r, 400, "'actor' must have at most 64 bytes");
    r.content_type = "text/plain";
    assert_answer(&t, &r, 415, "'Content-Type: application/json'");
    r.content_type = "application/jsonp";
    assert_answer(&t, &r, 415, "'Content-Type: application/json'");
    r.cut = true;
    assert_answer(&t, &r, 413, "the body exceeds 65536 bytes");
    r = call("/api/v1/pauze", ANA, "");
    assert_answer(&t, &r, 404, "not found; paths are: /api/v1/pause /api/v1/resume");
    ck_assert(page_has(t.s.stage, "/api/v1/status", "\"paused\":null"));
    close_told(&t);
}
END_TEST

/* Check that all outputs equal their inputs, in order, and are marked as paused. */
static void assert_paused(struct scene *s, uint64_t lists)
{
    struct ek_merged_consumer *in, *out;
    struct ek_kafka_record a, b;
    int got;
    ck_assert_int_eq(ek_merged_consumer_new(&in, ek_mock_brokers(s->mock), "scored",
                                            EK_MERGED_CONSUMER_UNTIL_END, WAIT_MS, NULL),
                     0);
    ck_assert_int_eq(ek_merged_consumer_new(&out, ek_mock_brokers(s->mock), "ranked",
                                            EK_MERGED_CONSUMER_UNTIL_END, WAIT_MS, NULL),
                     0);
    for (uint64_t i = 0; i < lists; i++) {
        do
            ck_assert_int_eq(ek_merged_consumer_next(in, &a, 100, &got, NULL), 0);
        while (!got);
        do
            ck_assert_int_eq(ek_merged_consumer_next(out, &b, 100, &got, NULL), 0);
        while (!got);
        ck_assert_uint_eq(a.length, b.length);
        ck_assert_mem_eq(a.bytes, b.bytes, a.length);
        ck_assert_str_eq(b.headers[b.header_count - 1].name, "ek-action");
        ck_assert_mem_eq(b.headers[b.header_count - 1].value, "paused", 6);
    }
    ek_merged_consumer_free(in);
    ek_merged_consumer_free(out);
}

START_TEST(while_paused_every_message_goes_out_as_it_came_and_the_guard_goes_on)
{
    struct scene s;
    struct ek_error e;
    begin(&s);
    feed(&s, 0, LISTS);
    ck_assert_int_eq(ek_stage_new(&s.stage, s.config, &s.assets, NULL, &e), 0);
    ck_assert(ek_stage_pause(s.stage, true, NULL, NULL));
    ck_assert_int_eq(pthread_create(&s.thread, NULL, run, &s), 0);
    struct ek_stage_stats t = wait_for(&s, LISTS);
    ck_assert_uint_eq(t.passed, LISTS);
    ck_assert_uint_eq(t.dead, 0);
    ck_assert_uint_eq(t.queries, LISTS - LISTS / 10);
    ck_assert(page_has(s.stage, "/metrics", "\nevenkeel_undecodable_forwarded_total 6\n"));
    assert_paused(&s, LISTS);
    ck_assert(ek_stage_pause(s.stage, false, NULL, NULL));
    feed(&s, LISTS, 2 * LISTS);
    t = wait_for(&s, 2 * LISTS);
    ck_assert_uint_eq(t.dead, LISTS / 10);
    finish(&s);
    end(&s);
}
END_TEST

Suite *suite_api(void)
{
    return ek_suite("api", a_pause_is_told_with_who_and_why_and_ends,
                    the_name_of_a_token_goes_before_the_author, who_may_not_changes_nothing,
                    without_tokens_the_status_and_the_error_have_the_reason,
                    a_page_behind_a_proxy_may_call_under_a_name_of_http_hosts,
                    what_cannot_be_read_is_told_with_what_to_write,
                    while_paused_every_message_goes_out_as_it_came_and_the_guard_goes_on);
}
