/* Events, pages and warnings of a stage. */
#include "guard/event_json.h"
#include "base/rng.h"
#include "daemon/http/server.h"
#include "daemon/base/log.h"
#include "daemon/views/event_log.h"
#include "daemon/guard/guard_service.h"
#include "guard/replay_open.h"
#include "tests/plain_model.h"
#include "tests/stage_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { FAULT_FROM = 600, MORE_TRAINING = 3000 };

static void price_in_cents(struct ek_list *q, uint64_t i)
{
    make_short(q, i);
    for (int k = 0; i >= FAULT_FROM && k < q->items; k++)
        q->x[k * q->item_features] *= 100;
}

/* Return the events without times: a stage's advance with the clock. */
static char *without_times(const char *events)
{
    static const char key[] = "\"time_ms\":";
    char *out = strdup(events), *to = out;
    for (const char *from = events; *from;) {
        if (!strncmp(from, key, sizeof key - 1))
            from += sizeof key - 1 + strspn(from + sizeof key - 1, "0123456789");
        else
            *to++ = *from++;
    }
    *to = 0;
    return out;
}

/* Turn the JSON array of an event log into lines. */
static void split_array(char *array)
{
    char *to = array;
    for (const char *from = array + 1; *from; from++)
        if (strncmp(from, ",\n", 2) != 0 && strcmp(from, "]\n") != 0)
            *to++ = *from;
    *to = 0;
}

/* Remove the events of the input, which a guard alone does not have. */
static void remove_conditions(char *events)
{
    static const char start[] = "{\"event\":\"input\"";
    for (char *line = events; *line;) {
        char *next = line + strcspn(line, "\n") + 1;
        if (strncmp(line, start, sizeof start - 1) != 0)
            line = next;
        else
            memmove(line, next, strlen(next) + 1);
    }
}

/* Return the events of a standalone guard for the same messages, as in `replay`. */
static char *events_alone(struct scene *s)
{
    struct ek_guard *guard;
    struct ek_list q;
    struct ek_buf message, events;
    const char *json;
    ek_list_init(&q);
    ek_buf_init(&message, 0);
    ek_buf_init(&events, 0);
    ck_assert_int_eq(ek_guard_new(&guard, &s->assets, NULL), 0);
    for (uint64_t i = 0; i < MANY; i++) {
        make_message(s, i, &q, &message);
        if (!ek_guard_observe(guard, message.data, message.length - (i % 10 == 9), 0, NULL))
            while (ek_guard_next_event(guard, &json) > 0)
                ck_assert_int_eq(ek_buf_printf(&events, "%s\n", json), 0);
    }
    char *text = without_times(ek_buf_string(&events));
    ek_guard_free(guard);
    ek_buf_release(&events);
    ek_buf_release(&message);
    ek_list_release(&q);
    return text;
}

START_TEST(a_stage_with_one_worker_tells_what_a_guard_alone_tells)
{
    struct scene s;
    struct ek_buf events;
    begin(&s);
    s.change = price_in_cents;
    train(&s, MORE_TRAINING);
    set(&s, "pipeline.workers", "1");
    start(&s);
    feed(&s, 0, MANY);
    wait_for(&s, MANY);
    ek_buf_init(&events, 0);
    ck_assert_int_eq(ek_event_log_last(ek_stage_parts(s.stage).event_log, SIZE_MAX, &events), 0);
    char *actual = without_times(ek_buf_string(&events)), *expected = events_alone(&s);
    split_array(actual);
    remove_conditions(actual); /* a tenth of the messages cannot be read */
    ck_assert_ptr_nonnull(strstr(expected, "\"state\":\"updated\""));
    ck_assert_str_eq(actual, expected);
    free(actual);
    free(expected);
    ek_buf_release(&events);
    finish(&s);
    end(&s);
}
END_TEST

/* The only instance of its fleet is the leader. */
START_TEST(a_stage_of_a_fleet_tells_what_the_fleet_has_found)
{
    struct scene s;
    begin(&s);
    ck_assert_int_eq(ek_mock_topic(s.mock, "plan", 1, NULL), 0);
    ck_assert_int_eq(ek_mock_topic(s.mock, "plan.evidence", 1, NULL), 0);
    set(&s, "fleet.topic", "plan");
    set(&s, "fleet.report_interval", "100ms");
    s.change = price_in_cents;
    train(&s, MORE_TRAINING);
    start(&s);
    feed(&s, 0, MANY);
    wait_for(&s, MANY);
    wait_for_page(s.stage, "/api/v1/findings", "\"state\":\"confirmed\"");
    wait_for_page(s.stage, "/api/v1/status", "\"is_leader\":true,\"term\":1,");
    ck_assert(page_has(s.stage, "/metrics", "\nevenkeel_fleet_plan_stale 0\n"));
    ck_assert(page_has(s.stage, "/api/v1/events", "\"trigger\":\"fleet\""));
    ck_assert(!page_has(s.stage, "/api/v1/events", "\"state\":\"suspected\""));
    finish(&s);
    end(&s);
}
END_TEST

static void assert_asked(struct ek_stage *stage, const char *path, struct ek_http_query query,
                         unsigned status, const char *part)
{
    struct ek_buf body;
    const char *type = NULL;
    ek_buf_init(&body, 0);
    const struct ek_api api = {.stage = stage};
    ck_assert_uint_eq(ek_http_page(&api, path, &query, &type, &body), status);
    ck_assert_ptr_nonnull(type);
    ck_assert_msg(strstr(ek_buf_string(&body), part) != NULL, "%s: no '%s' in %s", path, part,
                  ek_buf_string(&body));
    ek_buf_release(&body);
}

static void assert_page(struct ek_stage *stage, const char *path, const char *n, unsigned status,
                        const char *part)
{
    assert_asked(stage, path, (struct ek_http_query){.n = n}, status, part);
}

static void assert_history(struct ek_stage *stage, struct ek_http_query query, unsigned status,
                           const char *part)
{
    assert_asked(stage, "/api/v1/history", query, status, part);
}

START_TEST(the_history_shows_what_was_decided)
{
    struct scene s;
    struct ek_error e;
    begin(&s);
    ck_assert_int_eq(ek_stage_new(&s.stage, s.config, &s.assets, NULL, &e), 0);
    assert_history(s.stage, (struct ek_http_query){0}, 200, "[]\n");
    ck_assert(ek_stage_pause(s.stage, true, "ana", "it looks odd"));
    ck_assert(ek_stage_pause(s.stage, false, NULL, NULL));
    assert_history(s.stage, (struct ek_http_query){0}, 200,
                   "[{\"event\":\"decision\",\"sequence\":1,");
    assert_history(s.stage, (struct ek_http_query){.after = "0"}, 200,
                   "\"type\":\"pause\",\"actor\":\"ana\"");
    assert_history(s.stage, (struct ek_http_query){.n = "1"}, 200,
                   "[{\"event\":\"decision\",\"sequence\":2,");
    assert_history(s.stage, (struct ek_http_query){.after = "2"}, 200, "[]\n");
    assert_history(s.stage, (struct ek_http_query){.feature = "price"}, 200, "[]\n");
    assert_history(s.stage, (struct ek_http_query){.n = "0"}, 400,
                   "'n' must be a positive integer, like n=10");
    assert_history(s.stage, (struct ek_http_query){.after = "soon"}, 400,
                   "'after' must be the number of a decision");
    assert_history(s.stage, (struct ek_http_query){.feature = "prize"}, 404,
                   "did you mean 'price'?");
    ek_stage_free(s.stage);
    end(&s);
}
END_TEST

START_TEST(pages_tell_the_state_before_and_after_partitions_are_assigned)
{
    struct scene s;
    struct ek_http *http;
    struct ek_error e;
    begin(&s);
    set(&s, "service.name", "a \"b\"");
    feed(&s, 0, 5);
    ck_assert_int_eq(ek_stage_new(&s.stage, s.config, &s.assets, NULL, &e), 0);
    assert_page(s.stage, "/ping", NULL, 200, "pong");
    assert_page(s.stage, "/ready", NULL, 503,
                "{\"ready\":false,\"partitions\":0,\"missing_topics\":[],\"degraded\":null,"
                "\"reason\":\"no_partitions\",\"input\":\"no_data\",\"conditions\":[]}");
    assert_page(s.stage, "/metrics", NULL, 200, "\nevenkeel_ready 0\n");
    assert_page(s.stage, "/metrics", NULL, 200,
                "\nevenkeel_service_info{service=\"a \\\"b\\\"\"} 1\n");
    assert_page(s.stage, "/api/v1/status", NULL, 200,
                "{\"service\":\"a \\\"b\\\"\",\"model\":null,");
    const struct ek_api api = {.stage = s.stage};
    ck_assert_msg(!ek_http_start(&http, "127.0.0.1:0", NULL, &api, NULL, &e), "%s", e.message);
    ck_assert_int_gt(ek_http_port(http), 0);
    ck_assert_int_eq(pthread_create(&s.thread, NULL, run, &s), 0);
    wait_for(&s, 5);
    assert_page(s.stage, "/ready", NULL, 200, "{\"ready\":true,\"partitions\":1,");
    assert_page(s.stage, "/metrics", NULL, 200, "\nevenkeel_ready 1\n");
    assert_page(s.stage, "/metrics", NULL, 200, "\nevenkeel_observed_lists_total 5\n");
    assert_page(s.stage, "/api/v1/status", NULL, 200, "\"observed_lists\":5,");
    assert_page(s.stage, "/api/v1/findings", NULL, 200, "[]");
    assert_page(s.stage, "/api/v1/plan", NULL, 200, "\"version\":0");
    assert_page(s.stage, "/api/v1/events", "3", 200, "[]");
    assert_page(s.stage, "/api/v1/events", "0", 400, "'n' must be a positive integer");
    assert_page(s.stage, "/version", NULL, 200, "\"librdkafka\":\"");
    assert_page(s.stage, "/api/v1/features", NULL, 200,
                "{\"feature\":\"price\",\"report_threshold\":1.1,\"training\":{");
    assert_page(s.stage, "/api/v1/features/price", NULL, 200,
                "{\"windows\":{\"length_ms\":300000,");
    assert_page(s.stage, "/api/v1/features/prise", NULL, 404, "\"did_you_mean\":\"price\"");
    assert_page(s.stage, "/metrics", NULL, 200, "\n# TYPE evenkeel_feature_psi gauge\n");
    assert_page(s.stage, "/nothing", NULL, 404, "{\"error\":\"not found; paths are: /ping ");
    assert_page(s.stage, "/nothing", NULL, 404, " /api/v1/features/{feature}; ");
    ek_http_stop(http);
    finish(&s);
    end(&s);
}
END_TEST

/* Scores unrelated to the model. */
static void score_at_random(struct ek_list *q, uint64_t i)
{
    struct ek_rng r;
    ek_rng_seed_stream(&r, 9, i);
    make_short(q, i);
    for (int k = 0; k < q->items; k++)
        q->score[k] = ek_rng_normal(&r);
}

/* Return a model that claims the agreement of a distilled one. */
static struct ek_model *faithful_model(const struct ek_manifest *m)
{
    char path[] = "/tmp/ek-stage-XXXXXX";
    close(mkstemp(path));
    struct ek_model *model = ek_save_plain_model(m, path);
    unlink(path);
    model->agreement = (struct ek_model_agreement){1000, {.95, .99, .9}, {.05, .02, .3}};
    return model;
}

static int keep(void *context, const struct ek_event *v)
{
    return ek_event_json(v, context);
}

static int recall(void *context, struct ek_guard **guard, struct ek_error *e)
{
    (void)e;
    return ek_guard_replay_inconsistent(*guard, keep, context);
}

static void assert_recalled(struct ek_stage *stage, const char *part)
{
    struct ek_buf actual;
    ek_buf_init(&actual, 0);
    ck_assert_int_eq(
        ek_guard_service_with_guard(ek_stage_parts(stage).guard, recall, &actual, NULL), EK_OK);
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&actual), part));
    ek_buf_release(&actual);
}

START_TEST(a_stage_warns_when_model_and_upstream_rank_differently)
{
    struct scene s;
    struct ek_error e;
    char *log_text;
    size_t log_length;
    FILE *to = open_memstream(&log_text, &log_length);
    struct ek_log *log = ek_log_new(to, EK_LOG_WARN);
    begin(&s);
    s.assets.model = faithful_model(s.assets.manifest);
    set(&s, "assets.model", "model.safetensors");
    s.assets.rules->false_alarms = 100000;
    s.change = score_at_random;
    ck_assert_int_eq(ek_stage_new(&s.stage, s.config, &s.assets, log, &e), 0);
    ck_assert(page_has(s.stage, "/api/v1/status", "\"model\":{\"state\":\"holds\",\"compared_"));
    ck_assert(page_has(s.stage, "/metrics", "\nevenkeel_model_drifted 0\n"));
    feed(&s, 0, 4000);
    ck_assert_int_eq(pthread_create(&s.thread, NULL, run, &s), 0);
    wait_for(&s, 4000);
    wait_for_page(s.stage, "/metrics", "\nevenkeel_model_drifted 1\n");
    assert_page(s.stage, "/metrics", NULL, 200,
                "\nevenkeel_model_agreement_reference{statistic=\"tau\"} 0.95\n");
    assert_page(s.stage, "/api/v1/status", NULL, 200, "\"model\":{\"state\":\"drifted\",");
    assert_page(s.stage, "/api/v1/events", "1000", 200, "{\"event\":\"model_drift\",");
    assert_recalled(s.stage, "{\"event\":\"model_drift\",\"state\":\"drifted\",");
    finish(&s);
    ek_log_free(log);
    fclose(to);
    char *line = strstr(log_text, "event=model_agreement_changed state=drifted ");
    ck_assert_msg(line != NULL, "%s", log_text);
    ck_assert_ptr_null(strstr(line + 1, "event=model_agreement_changed"));
    ck_assert_ptr_nonnull(strstr(line, "train with --teacher upstream"));
    ck_assert_ptr_null(strstr(log_text, "event=scores_missing"));
    free(log_text);
    end(&s);
}
END_TEST

START_TEST(a_stage_warns_once_where_no_list_has_a_score_to_replace)
{
    const struct ek_mapping mapping = {.score = "points"};
    struct scene s;
    char *said;
    size_t length;
    FILE *to = open_memstream(&said, &length);
    struct ek_log *log = ek_log_new(to, EK_LOG_WARN);
    begin(&s);
    ek_codec_free(s.assets.codec);
    ck_assert_int_eq(ek_codec_new(&s.assets.codec, s.assets.manifest, &mapping, NULL, NULL), 0);
    set(&s, "message.score", "points");
    set(&s, "assets.model", "model.safetensors");
    feed(&s, 0, 300);
    start_with(&s, log);
    wait_for(&s, 300);
    finish(&s);
    ek_log_free(log);
    fclose(to);
    char *line = strstr(said, "event=scores_missing");
    ck_assert_msg(line && strstr(line, "no item of 100 lists has 'points'"), "%s", said);
    ck_assert_ptr_null(strstr(line + 1, "event=scores_missing"));
    free(said);
    end(&s);
}
END_TEST

Suite *suite_stage_events(void)
{
    return ek_suite("stage tells", a_stage_warns_once_where_no_list_has_a_score_to_replace,
                    a_stage_of_a_fleet_tells_what_the_fleet_has_found,
                    a_stage_with_one_worker_tells_what_a_guard_alone_tells,
                    the_history_shows_what_was_decided,
                    pages_tell_the_state_before_and_after_partitions_are_assigned,
                    a_stage_warns_when_model_and_upstream_rank_differently);
}
