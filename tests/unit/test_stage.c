/* The stage in one process, against librdkafka's mock cluster; the real broker is in tests/kafka.
 */
#include "base/alloc.h"
#include "base/rng.h"
#include "daemon/cli.h"
#include "daemon/http.h"
#include "daemon/http_pages.h"
#include "daemon/kafka_client.h"
#include "daemon/kafka_mock.h"
#include "daemon/kafka_tool.h"
#include "daemon/log.h"
#include "daemon/stage.h"
#include "guard/assets.h"
#include "offline/hotel.h"
#include "offline/profile_fit.h"
#include "tests/check.h"
#include "tests/plain_model.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 30000, LISTS = 60, TRAINING = 100, PARTITIONS = 4, MANY = 2000 };

struct scene {
    struct ek_assets assets;
    struct ek_hotel *hotel;
    struct ek_mock *mock;
    struct ek_config *config;
    struct ek_stage *stage;
    void (*change)(struct ek_query *q, uint64_t i); /* of each list that is sent; NULL: none */
    int spread; /* partitions that lists are sent to in turn; 0: as the key says */
    pthread_t thread;
    int rc;
    struct ek_error error;
};

static void train(struct scene *s, uint64_t lists)
{
    struct ek_profile_fit *fit;
    struct ek_query q;
    ck_assert_int_eq(ek_profile_fit_new(&fit, s->assets.manifest, NULL, NULL), 0);
    ek_query_init(&q);
    for (uint64_t i = 0; i < lists; i++) {
        ck_assert_int_eq(ek_hotel_list(s->hotel, i, &q, NULL), 0);
        ck_assert_int_eq(ek_profile_fit_add(fit, &q, NULL), 0);
    }
    ek_profile_free(s->assets.profile);
    ck_assert_int_eq(ek_profile_fit_finish(fit, &s->assets.profile, NULL), 0);
    ek_query_release(&q);
    ek_profile_fit_free(fit);
}

static void make_assets(struct scene *s)
{
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&s->assets.manifest, "m", text, strlen(text), NULL), 0);
    ck_assert_int_eq(ek_hotel_new(&s->hotel, 1, NULL), 0);
    train(s, TRAINING);
    ck_assert_int_eq(ek_rules_default(&s->assets.rules, s->assets.manifest, NULL), 0);
    ck_assert_int_eq(ek_codec_new(&s->assets.codec, s->assets.manifest, NULL, NULL, NULL), 0);
}

static void set(struct scene *s, const char *key, const char *value)
{
    struct ek_error e;
    ck_assert_msg(!ek_config_set(s->config, key, value, &e), "%s: %s", key, e.message);
}

static void make_topics(struct scene *s, int partitions)
{
    static const char *const topics[] = {"scored", "ranked", "ranked.dead"};
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        ck_assert_int_eq(ek_mock_topic(s->mock, topics[i], partitions, NULL), 0);
}

static void begin_with(struct scene *s, int partitions)
{
    struct ek_error e;
    memset(s, 0, sizeof *s);
    make_assets(s);
    ck_assert_int_eq(ek_mock_start(&s->mock, &e), 0);
    ck_assert_int_eq(ek_config_new(&s->config, &e), 0);
    set(s, "input.brokers", ek_mock_brokers(s->mock));
    set(s, "input.topics", "scored");
    set(s, "input.group", "g");
    set(s, "output.topic", "ranked");
    set(s, "output.dead_letter", "ranked.dead");
    set(s, "limits.commit_every", "50ms");
    make_topics(s, partitions);
}

static void begin(struct scene *s)
{
    begin_with(s, 1);
}

static void end(struct scene *s)
{
    ek_mock_stop(s->mock);
    ek_config_free(s->config);
    ek_hotel_free(s->hotel);
    ek_assets_release(&s->assets);
}

static void *run(void *context)
{
    struct scene *s = context;
    s->rc = ek_stage_run(s->stage, &s->error);
    return NULL;
}

static void start(struct scene *s)
{
    struct ek_error e;
    ck_assert_msg(!ek_stage_new(&s->stage, s->config, &s->assets, NULL, &e), "%s", e.message);
    ck_assert_int_eq(pthread_create(&s->thread, NULL, run, s), 0);
}

static void join(struct scene *s)
{
    ek_stage_stop(s->stage);
    ck_assert_int_eq(pthread_join(s->thread, NULL), 0);
    ck_assert_msg(!s->rc, "%s", s->error.message);
}

static void finish(struct scene *s)
{
    join(s);
    ek_stage_free(s->stage);
    s->stage = NULL;
}

static struct ek_stage_stats wait_for(struct scene *s, uint64_t handled)
{
    struct ek_stage_stats t;
    int64_t until = ek_now_ms() + WAIT_MS;
    do {
        nanosleep(&(struct timespec){0, 5000000}, NULL);
        ek_stage_stats(s->stage, &t);
    } while ((!t.ready || t.passed + t.routed + t.dead < handled) && ek_now_ms() < until);
    ck_assert_uint_eq(t.passed + t.routed + t.dead, handled);
    return t;
}

static void make_message(struct scene *s, uint64_t i, struct ek_query *q, struct ek_buf *message)
{
    ck_assert_int_eq(ek_hotel_list(s->hotel, i, q, NULL), 0);
    if (s->change)
        s->change(q, i);
    ek_buf_clear(message);
    ck_assert_int_eq(ek_codec_encode(s->assets.manifest, q, EK_FEATURES_ARRAY, message, NULL), 0);
}

/* Sends lists [from, to) with every tenth one cut short. */
static void feed(struct scene *s, uint64_t from, uint64_t to)
{
    struct ek_sender *sender;
    struct ek_error e;
    struct ek_query q;
    struct ek_buf message;
    ek_query_init(&q);
    ek_buf_init(&message, 0);
    ck_assert_int_eq(ek_sender_new(&sender, ek_mock_brokers(s->mock), "scored", &e), 0);
    for (uint64_t i = from; i < to; i++) {
        make_message(s, i, &q, &message);
        struct ek_kafka_record r = {.partition = s->spread ? (int)(i % (uint64_t)s->spread) : -1,
                                    .timestamp_ms = 1000 + (int64_t)i,
                                    .key = "k",
                                    .key_length = 1,
                                    .bytes = message.data,
                                    .length = message.length - (i % 10 == 9)};
        ck_assert_int_eq(ek_sender_send(sender, &r, &e), 0);
    }
    ck_assert_int_eq(ek_sender_flush(sender, WAIT_MS, &e), 0);
    ek_sender_free(sender);
    ek_buf_release(&message);
    ek_query_release(&q);
}

/* Counts a topic's messages, all of which must have `header`. */
static uint64_t count(struct scene *s, const char *topic, const char *header)
{
    struct ek_tap *t;
    struct ek_error e;
    struct ek_kafka_record r;
    uint64_t n = 0;
    int got;
    ck_assert_int_eq(ek_tap_new(&t, ek_mock_brokers(s->mock), topic, EK_TAP_UNTIL_END, WAIT_MS, &e),
                     0);
    while (!ek_tap_at_end(t)) {
        ck_assert_int_eq(ek_tap_next(t, &r, 100, &got, &e), 0);
        if (!got)
            continue;
        bool found = false;
        for (size_t i = 0; i < r.header_count; i++)
            found |= !strcmp(r.headers[i].name, header);
        ck_assert(found);
        n++;
    }
    ek_tap_free(t);
    return n;
}

/* Runs a stage on LISTS, all of which must come out or become dead letters. */
static void run_through(struct scene *s)
{
    feed(s, 0, LISTS);
    start(s);
    struct ek_stage_stats t = wait_for(s, LISTS);
    ck_assert_uint_eq(t.passed, LISTS - LISTS / 10);
    ck_assert_uint_eq(t.dead, LISTS / 10);
    ck_assert_uint_eq(t.queries, LISTS - LISTS / 10);
    ck_assert_int_eq(t.partitions, 1);
    finish(s);
    ck_assert_uint_eq(count(s, "ranked", "ek-plan"), LISTS - LISTS / 10);
    ck_assert_uint_eq(count(s, "ranked.dead", "ek-error"), LISTS / 10);
}

START_TEST(messages_come_out_or_become_dead_letters)
{
    struct scene s;
    begin(&s);
    run_through(&s);
    end(&s);
}
END_TEST

START_TEST(few_in_flight_hold_the_input_back_and_nothing_is_lost)
{
    struct scene s;
    begin(&s);
    set(&s, "limits.in_flight_messages", "3");
    feed(&s, 0, LISTS);
    start(&s);
    wait_for(&s, LISTS);
    finish(&s);
    ck_assert_uint_eq(count(&s, "ranked", "ek-action"), LISTS - LISTS / 10);
    end(&s);
}
END_TEST

START_TEST(exactly_once_messages_come_out_or_become_dead_letters)
{
    struct scene s;
    begin(&s);
    set(&s, "input.delivery", "exactly_once");
    set(&s, "service.instance", "one");
    run_through(&s);
    end(&s);
}
END_TEST

static bool page_has(struct ek_stage *stage, const char *path, const char *part)
{
    struct ek_buf body;
    const char *type = NULL;
    ek_buf_init(&body, 0);
    ck_assert_uint_eq(ek_http_page(stage, path, NULL, &type, &body), 200);
    bool found = strstr(ek_buf_string(&body), part) != NULL;
    ek_buf_release(&body);
    return found;
}

/* Messages of the output, whose times must rise within each partition. */
static uint64_t count_in_order(struct scene *s)
{
    struct ek_tap *t;
    struct ek_kafka_record r;
    int64_t last[PARTITIONS] = {0};
    uint64_t n = 0;
    int got;
    ck_assert_int_eq(
        ek_tap_new(&t, ek_mock_brokers(s->mock), "ranked", EK_TAP_UNTIL_END, WAIT_MS, NULL), 0);
    for (; !ek_tap_at_end(t); n += (uint64_t)got) {
        ck_assert_int_eq(ek_tap_next(t, &r, 100, &got, NULL), 0);
        if (!got)
            continue;
        ck_assert_int_lt(r.partition, PARTITIONS);
        ck_assert_int_gt(r.timestamp_ms, last[r.partition]);
        ck_assert_int_eq((r.timestamp_ms - 1000) % PARTITIONS, r.partition);
        last[r.partition] = r.timestamp_ms;
    }
    ek_tap_free(t);
    return n;
}

/* So short that the mock cluster keeps all of them. */
static void make_short(struct ek_query *q, uint64_t i)
{
    (void)i;
    q->items = q->items > 5 ? 5 : q->items;
}

/* Short lists, to every partition in turn. */
static void begin_spread(struct scene *s)
{
    begin_with(s, PARTITIONS);
    s->spread = PARTITIONS;
    s->change = make_short;
}

START_TEST(several_workers_keep_the_order_of_each_partition)
{
    struct scene s;
    begin_spread(&s);
    set(&s, "pipeline.workers", "3");
    set(&s, "pipeline.batch", "2"); /* rings of 8, which are full most of the time */
    start(&s);
    feed(&s, 0, MANY);
    struct ek_stage_stats t = wait_for(&s, MANY);
    ck_assert_uint_eq(t.queries, MANY - MANY / 10);
    ck_assert_int_eq(t.partitions, PARTITIONS);
    ck_assert(page_has(s.stage, "/metrics", "\nevenkeel_workers 3\n"));
    finish(&s);
    ck_assert_uint_eq(count_in_order(&s), MANY - MANY / 10);
    end(&s);
}
END_TEST

enum { DISTURBED = 30, ANSWER_MS = 10 };

/* Many small requests, so that another one of the partition waits behind one that is refused. With
 * enable.idempotence=false it goes first, even where only one may be on its way. */
START_TEST(the_order_of_each_partition_holds_while_requests_are_tried_again)
{
    struct scene s;
    begin_spread(&s);
    set(&s, "output.librdkafka", "batch.num.messages=10");
    feed(&s, 0, MANY);
    ek_mock_disturb(s.mock, DISTURBED, ANSWER_MS);
    start(&s);
    wait_for(&s, MANY);
    finish(&s);
    ck_assert_uint_eq(ek_mock_disturbances(s.mock), 0);
    ck_assert_uint_eq(count_in_order(&s), MANY - MANY / 10);
    end(&s);
}
END_TEST

/* Each part has a batch for every partition; the client has enough with one. A client that slept
 * for a second whenever it has would not be through in time. */
START_TEST(a_client_that_had_enough_fetches_again_when_that_is_used_up)
{
    enum { PARTS = 50 };
    struct scene s;
    begin_spread(&s);
    set(&s, "input.librdkafka", "queued.min.messages=1");
    for (int i = 0; i < PARTS; i++)
        feed(&s, (uint64_t)i * LISTS, (uint64_t)(i + 1) * LISTS);
    start(&s);
    wait_for(&s, PARTS * LISTS);
    finish(&s);
    end(&s);
}
END_TEST

/* Small transactions, so that workers find the gates shut and open all the time. */
START_TEST(exactly_once_several_workers_keep_the_order_of_each_partition)
{
    struct scene s;
    begin_spread(&s);
    set(&s, "input.delivery", "exactly_once");
    set(&s, "pipeline.workers", "3");
    set(&s, "limits.commit_every", "10ms");
    set(&s, "limits.transaction_bytes", "64KiB");
    start(&s);
    feed(&s, 0, MANY);
    struct ek_stage_stats t = wait_for(&s, MANY);
    ck_assert_uint_eq(t.queries, MANY - MANY / 10);
    finish(&s);
    ck_assert_uint_eq(count_in_order(&s), MANY - MANY / 10);
    end(&s);
}
END_TEST

START_TEST(exactly_once_an_abort_goes_back_and_counts_each_list_once)
{
    struct scene s;
    begin_spread(&s);
    set(&s, "input.delivery", "exactly_once");
    set(&s, "pipeline.workers", "2");
    set(&s, "limits.commit_every", "10ms");
    feed(&s, 0, MANY);
    ek_mock_refuse_offsets(s.mock, 3);
    start(&s);
    struct ek_stage_stats t = wait_for(&s, MANY);
    const struct ek_metrics *m = ek_stage_metrics(s.stage);
    ck_assert_uint_eq(t.queries, MANY - MANY / 10);
    ck_assert_uint_eq(ek_metrics_counter(m, EK_COUNT_TXN_ABORTED), 3);
    ck_assert_uint_gt(ek_metrics_counter(m, EK_COUNT_REPEATED), 0);
    ck_assert_uint_eq(ek_metrics_counter(m, EK_COUNT_KAFKA_FATAL), 0);
    finish(&s);
    end(&s);
}
END_TEST

/* What the group has committed, all partitions together. */
static uint64_t committed(struct scene *s)
{
    static const struct ek_kafka_setting settings[] = {{"group.id", "g"}};
    rd_kafka_t *client;
    uint64_t sum = 0;
    struct ek_kafka_watch watch = {.role = "consumer"};
    const struct ek_brokers brokers = {ek_mock_brokers(s->mock), NULL};
    ck_assert_int_eq(
        ek_kafka_client(&client, RD_KAFKA_CONSUMER, &brokers, settings, 1, NULL, &watch, NULL), 0);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(PARTITIONS);
    for (int i = 0; i < PARTITIONS; i++)
        rd_kafka_topic_partition_list_add(list, "scored", i);
    ck_assert_int_eq(rd_kafka_committed(client, list, WAIT_MS), 0);
    for (int i = 0; i < list->cnt; i++)
        sum += list->elems[i].offset > 0 ? (uint64_t)list->elems[i].offset : 0;
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(client);
    return sum;
}

START_TEST(a_stop_with_messages_in_rings_sends_and_commits_exactly_what_was_read)
{
    struct scene s;
    struct ek_stage_stats t;
    begin_spread(&s);
    set(&s, "pipeline.workers", "2");
    feed(&s, 0, MANY);
    start(&s);
    do
        ek_stage_stats(s.stage, &t);
    while (t.consumed < MANY / 4);
    join(&s);
    ek_stage_stats(s.stage, &t);
    ek_stage_free(s.stage);
    ck_assert_uint_eq(t.passed + t.dead, t.consumed);
    ck_assert_uint_eq(committed(&s), t.consumed);
    ck_assert_uint_eq(count_in_order(&s), t.passed);
    end(&s);
}
END_TEST

enum { FAULT_FROM = 600, MORE_TRAINING = 3000 };

static void price_in_cents(struct ek_query *q, uint64_t i)
{
    make_short(q, i);
    for (int k = 0; i >= FAULT_FROM && k < q->items; k++)
        q->x[k * q->item_features] *= 100;
}

/* Events without their times: those of a stage go on with the clock. */
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

/* What a guard on its own tells of the same messages, as `replay` does. */
static char *events_alone(struct scene *s)
{
    struct ek_guard *guard;
    struct ek_query q;
    struct ek_buf message, events;
    const char *json;
    ek_query_init(&q);
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
    ek_query_release(&q);
    return text;
}

START_TEST(a_stage_with_one_worker_tells_what_a_guard_alone_tells)
{
    struct scene s;
    struct ek_buf events;
    uint64_t after = 0;
    begin(&s);
    s.change = price_in_cents;
    train(&s, MORE_TRAINING);
    set(&s, "pipeline.workers", "1");
    start(&s);
    feed(&s, 0, MANY);
    wait_for(&s, MANY);
    ek_buf_init(&events, 0);
    ck_assert_int_eq(ek_stage_events(s.stage, &after, &events), 0);
    char *told = without_times(ek_buf_string(&events)), *expected = events_alone(&s);
    ck_assert_ptr_nonnull(strstr(expected, "\"state\":\"updated\""));
    ck_assert_str_eq(told, expected);
    free(told);
    free(expected);
    ek_buf_release(&events);
    finish(&s);
    end(&s);
}
END_TEST

static void wait_for_page(struct ek_stage *stage, const char *path, const char *part)
{
    int64_t until = ek_now_ms() + WAIT_MS;
    while (!page_has(stage, path, part) && ek_now_ms() < until)
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    ck_assert_msg(page_has(stage, path, part), "%s: no '%s'", path, part);
}

/* Alone in its fleet, it is the one that decides. */
START_TEST(a_stage_of_a_fleet_tells_what_the_fleet_has_found)
{
    struct scene s;
    begin(&s);
    ck_assert_int_eq(ek_mock_topic(s.mock, "plan", 1, NULL), 0);
    ck_assert_int_eq(ek_mock_topic(s.mock, "plan.ticks", 1, NULL), 0);
    set(&s, "fleet.topic", "plan");
    set(&s, "fleet.tick", "100ms");
    s.change = price_in_cents;
    train(&s, MORE_TRAINING);
    start(&s);
    feed(&s, 0, MANY);
    wait_for(&s, MANY);
    wait_for_page(s.stage, "/api/v1/findings", "\"state\":\"confirmed\"");
    wait_for_page(s.stage, "/api/v1/status", "\"decides\":true,\"term\":1,");
    ck_assert(page_has(s.stage, "/metrics", "\nevenkeel_fleet_cut_off 0\n"));
    ck_assert(page_has(s.stage, "/api/v1/events", "\"signal\":\"fleet\""));
    ck_assert(!page_has(s.stage, "/api/v1/events", "\"state\":\"suspected\""));
    finish(&s);
    end(&s);
}
END_TEST

START_TEST(a_stage_that_is_stopped_before_it_runs_ends_at_once)
{
    struct scene s;
    begin(&s);
    start(&s);
    finish(&s);
    ck_assert_int_eq(ek_stage_new(&s.stage, s.config, &s.assets, NULL, NULL), 0);
    ek_stage_stop(s.stage);
    ck_assert_int_eq(ek_stage_run(s.stage, NULL), 0);
    ek_stage_free(s.stage);
    ck_assert_int_eq(ek_stage_new(&s.stage, s.config, &s.assets, NULL, NULL), 0);
    ek_stage_free(s.stage);
    end(&s);
}
END_TEST

static void assert_page(struct ek_stage *stage, const char *path, const char *n, unsigned status,
                        const char *part)
{
    struct ek_buf body;
    const char *type = NULL;
    ek_buf_init(&body, 0);
    ck_assert_uint_eq(ek_http_page(stage, path, n, &type, &body), status);
    ck_assert_ptr_nonnull(type);
    ck_assert_msg(strstr(ek_buf_string(&body), part) != NULL, "%s: no '%s' in %s", path, part,
                  ek_buf_string(&body));
    ek_buf_release(&body);
}

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
                "{\"ready\":false,\"partitions\":0,\"missing_topics\":[],"
                "\"reason\":\"no_partitions\"}");
    assert_page(s.stage, "/api/v1/status", NULL, 200,
                "{\"service\":\"a \\\"b\\\"\",\"model\":null,");
    ck_assert_msg(!ek_http_start(&http, "127.0.0.1:0", s.stage, NULL, &e), "%s", e.message);
    ck_assert_int_gt(ek_http_port(http), 0);
    ck_assert_int_eq(pthread_create(&s.thread, NULL, run, &s), 0);
    wait_for(&s, 5);
    assert_page(s.stage, "/ready", NULL, 200, "{\"ready\":true,\"partitions\":1,");
    assert_page(s.stage, "/metrics", NULL, 200, "\nevenkeel_observed_queries_total 5\n");
    assert_page(s.stage, "/api/v1/status", NULL, 200, "\"observed_queries\":5,");
    assert_page(s.stage, "/api/v1/findings", NULL, 200, "[]");
    assert_page(s.stage, "/api/v1/plan", NULL, 200, "\"version\":0");
    assert_page(s.stage, "/api/v1/events", "3", 200, "[]");
    assert_page(s.stage, "/api/v1/events", "0", 400, "'n' is no positive number");
    assert_page(s.stage, "/version", NULL, 200, "\"librdkafka\":\"");
    assert_page(s.stage, "/api/v1/features", NULL, 200, "{\"feature\":\"price\",\"training\":{");
    assert_page(s.stage, "/api/v1/features/price", NULL, 200,
                "{\"windows\":{\"length_ms\":300000,");
    assert_page(s.stage, "/api/v1/features/prise", NULL, 404, "\"did_you_mean\":\"price\"");
    assert_page(s.stage, "/metrics", NULL, 200, "\n# TYPE evenkeel_feature_psi gauge\n");
    assert_page(s.stage, "/nothing", NULL, 404, "/api/v1/plan");
    ek_http_stop(http);
    finish(&s);
    end(&s);
}
END_TEST

/* Scores that have nothing to do with what the model makes of the lists. */
static void score_at_random(struct ek_query *q, uint64_t i)
{
    struct ek_rng r;
    ek_rng_seed_stream(&r, 9, i);
    make_short(q, i);
    for (int k = 0; k < q->items; k++)
        q->score[k] = ek_rng_normal(&r);
}

/* A model that says it was as good as one with its teacher. */
static struct ek_model *faithful_model(const struct ek_manifest *m)
{
    char path[] = "/tmp/ek-stage-XXXXXX";
    close(mkstemp(path));
    struct ek_model *model = ek_save_plain_model(m, path);
    unlink(path);
    model->fidelity = (struct ek_fidelity){1000, {.95, .99, .9}, {.05, .02, .3}};
    return model;
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
    s.assets.rules->false_alarms = 1000;
    s.change = score_at_random;
    ck_assert_int_eq(ek_stage_new(&s.stage, s.config, &s.assets, log, &e), 0);
    ck_assert(page_has(s.stage, "/api/v1/status", "\"model\":{\"state\":\"holds\",\"compared_"));
    ck_assert(page_has(s.stage, "/metrics", "\nevenkeel_model_drifted 0\n"));
    feed(&s, 0, 4000);
    ck_assert_int_eq(pthread_create(&s.thread, NULL, run, &s), 0);
    wait_for(&s, 4000);
    wait_for_page(s.stage, "/metrics", "\nevenkeel_model_drifted 1\n");
    assert_page(s.stage, "/metrics", NULL, 200,
                "\nevenkeel_model_agreement_trained{figure=\"tau\"} 0.95\n");
    assert_page(s.stage, "/api/v1/status", NULL, 200, "\"model\":{\"state\":\"drifted\",");
    assert_page(s.stage, "/api/v1/events", "1000", 200, "{\"event\":\"model_drift\",");
    finish(&s);
    ek_log_free(log);
    fclose(to);
    char *line = strstr(log_text, "event=model_drift json={");
    ck_assert_msg(line != NULL, "%s", log_text);
    ck_assert_ptr_null(strstr(line + 1, "event=model_drift"));
    ck_assert_ptr_nonnull(strstr(line, "train with --teacher upstream"));
    free(log_text);
    end(&s);
}
END_TEST

Suite *suite_stage(void)
{
    return ek_suite("stage", messages_come_out_or_become_dead_letters,
                    exactly_once_messages_come_out_or_become_dead_letters,
                    exactly_once_several_workers_keep_the_order_of_each_partition,
                    exactly_once_an_abort_goes_back_and_counts_each_list_once,
                    few_in_flight_hold_the_input_back_and_nothing_is_lost,
                    several_workers_keep_the_order_of_each_partition,
                    the_order_of_each_partition_holds_while_requests_are_tried_again,
                    a_client_that_had_enough_fetches_again_when_that_is_used_up,
                    a_stop_with_messages_in_rings_sends_and_commits_exactly_what_was_read,
                    a_stage_of_a_fleet_tells_what_the_fleet_has_found,
                    a_stage_with_one_worker_tells_what_a_guard_alone_tells,
                    a_stage_that_is_stopped_before_it_runs_ends_at_once,
                    pages_tell_the_state_before_and_after_partitions_are_assigned,
                    a_stage_warns_when_model_and_upstream_rank_differently);
}
