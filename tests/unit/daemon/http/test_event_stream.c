/* Event stream: its content and its access checks. */
#include "daemon/http/event_stream.h"
#include "daemon/http/control_api.h"
#include "daemon/views/event_log.h"
#include "tests/event_from.h"
#include "tests/stage_scene.h"

#include <stdio.h>
#include <string.h>

static void add(struct ek_event_log *j, const char *json)
{
    struct ek_event_log_change change;
    ck_assert_int_eq(ek_event_log_add(j, event_from(json), json, 0, &change), EK_OK);
}

static void assert_streamed(struct ek_event_log *j, uint64_t *after, size_t most,
                            const char *expected)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_event_log_stream(j, 7, after, most, &out), EK_OK);
    ck_assert_str_eq(ek_buf_string(&out), expected);
    ek_buf_release(&out);
}

START_TEST(events_go_out_with_number_and_kind_from_where_he_was)
{
    struct ek_event_log *j = ek_event_log_new(3);
    uint64_t after = 0;
    add(j, "{\"event\":\"plan\",\"version\":1}");
    add(j, "{\"event\":\"limit\"}");
    assert_streamed(j, &after, 1000,
                    "id: 7-1\nevent: plan\ndata: {\"event\":\"plan\",\"version\":1}\n\n"
                    "id: 7-2\nevent: limit\ndata: {\"event\":\"limit\"}\n\n");
    assert_streamed(j, &after, 1000, "");
    add(j, "[1]");
    assert_streamed(j, &after, 1000, "id: 7-3\ndata: [1]\n\n");
    ek_event_log_free(j);
}
END_TEST

START_TEST(one_who_is_slow_is_told_what_he_missed)
{
    struct ek_event_log *j = ek_event_log_new(2);
    uint64_t after = 1;
    for (int i = 0; i < 5; i++)
        add(j, "{\"event\":\"limit\"}");
    assert_streamed(j, &after, 1, "event: missed\ndata: {\"missed\":2}\n\n");
    ck_assert_uint_eq(after, 3);
    assert_streamed(j, &after, 1, "id: 7-4\nevent: limit\ndata: {\"event\":\"limit\"}\n\n");
    assert_streamed(j, &after, 1, "id: 7-5\nevent: limit\ndata: {\"event\":\"limit\"}\n\n");
    ek_event_log_free(j);
}
END_TEST

START_TEST(who_comes_from_another_process_gets_all_that_is_kept)
{
    static const struct {
        const char *last, *first; /* NULL: not an id */
    } cases[] = {{NULL, "id: 900-2\n"},
                 {"1", "id: 900-1\n"},
                 {"900-1", "id: 900-1\n"},
                 {"900-2", "id: 900-2\n"},
                 {"3", "event: missed\ndata: {\"missed\":null}\n\nid: 900-2\n"},
                 {"899-1", "event: missed\ndata: {\"missed\":null}\n\nid: 900-0\n"},
                 {"899-77", "event: missed\ndata: {\"missed\":null}\n\nid: 900-0\n"},
                 {"x", NULL},
                 {"", NULL},
                 {"-1", NULL},
                 {"900-", NULL},
                 {"900-1-1", NULL}};
    struct scene s;
    struct ek_error e;
    begin(&s);
    ck_assert_msg(!ek_stage_new(&s.stage, s.config, &s.assets, NULL, &e), "%s", e.message);
    add(ek_stage_parts(s.stage).event_log, "{\"event\":\"x\"}");
    add(ek_stage_parts(s.stage).event_log, "{\"event\":\"y\"}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ek_event_stream stream;
        struct ek_buf out;
        char head[200];
        bool good = ek_event_stream_init(&stream, s.stage, 900, cases[i].last);
        ck_assert_msg(good == (cases[i].first != NULL), "%s", cases[i].last);
        ek_buf_init(&out, 0);
        if (good) {
            snprintf(head, sizeof head, "retry: 2000\n\n%sevent: status\n", cases[i].first);
            ck_assert_int_eq(ek_event_stream_next(&stream, 1, &out), EK_OK);
            ck_assert_msg(!strncmp(ek_buf_string(&out), head, strlen(head)), "%s: %s",
                          cases[i].last, ek_buf_string(&out));
            bool all = strstr(head, "id: 900-0") != NULL,
                 one = strstr(ek_buf_string(&out) + strlen(head), "id: 900-1\n") != NULL;
            ck_assert_msg(one == all, "%s: %s", cases[i].last, ek_buf_string(&out));
        }
        ek_buf_release(&out);
        ek_event_stream_release(&stream);
    }
    ek_stage_free(s.stage);
    end(&s);
}
END_TEST

START_TEST(a_loopback_listener_has_no_foreign_names)
{
    char *one[] = {(char *)(uintptr_t) "ek.example"};
    const struct ek_text_list none = {0}, names = {one, 1};
    static const struct {
        const char *host, *listen;
        bool without, with; /* without and with names in http.hosts */
    } cases[] = {{"evil.example:9464", "127.0.0.1", false, false},
                 {"127.0.0.1.evil.example", "127.0.0.1", false, false},
                 {"ek.example", "127.0.0.1", false, true},
                 {"EK.example.:80", "::1", false, true},
                 {"", "127.0.0.1", false, false},
                 {":80", "127.0.0.1", false, false},
                 {"[::1", "127.0.0.1", true, true},
                 {"[::1]:9464", "127.0.0.1", true, true},
                 {"localhost", "localhost", true, true},
                 {"10.1.2.3:9464", "127.0.0.1", true, true},
                 {NULL, "127.0.0.1", true, true},
                 {"rank-1.prod", "0.0.0.0", true, false},
                 {"rank-1.prod", "rank-1.prod", true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_msg(ek_http_host_is_allowed(cases[i].host, cases[i].listen, &none) ==
                          cases[i].without,
                      "%s", cases[i].host);
        ck_assert_msg(ek_http_host_is_allowed(cases[i].host, cases[i].listen, &names) ==
                          cases[i].with,
                      "%s", cases[i].host);
    }
}
END_TEST

Suite *suite_event_stream(void)
{
    return ek_suite("event_stream", events_go_out_with_number_and_kind_from_where_he_was,
                    one_who_is_slow_is_told_what_he_missed,
                    who_comes_from_another_process_gets_all_that_is_kept,
                    a_loopback_listener_has_no_foreign_names);
}
