/* Checkpoint reader against librdkafka's mock cluster. It stops waiting for an absent state even
 * while others write, waits for unavailable brokers until canceled, and frees other fetched
 * records. */
#include "daemon/base/clock.h"
#include "daemon/state/checkpoint_reader.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "daemon/kafka/mock_cluster.h"
#include "daemon/kafka/tool_client.h"
#include "tests/check.h"
#include "tests/state_world.h"

#include <unistd.h>

enum { LISTS = 40, TRAINING = 200, WAIT_MS = 30000 };
enum { LATER = 4, LATER_BYTES = 900000, KEPT_MAX = 800000, LOOK_US = 20000 };

struct scene {
    struct ek_mock *mock;
    struct ek_config *config;
    struct ek_tool_producer *sender;
    struct ek_checkpoint_reader *reader;
    struct ek_checkpoint_read_job job;
    int silences;    /* timeouts reported */
    int64_t next_ms; /* of the next record of another writer */
};

static void send(struct scene *s, const char *name, const void *bytes, size_t length)
{
    char key[EK_STATE_KEY_BYTES];
    const struct ek_kafka_record r = {
        .key = key,
        .key_length = ek_checkpoint_state_key(key, sizeof key, "scored", 0, name),
        .bytes = bytes,
        .length = length};
    ck_assert_int_eq(ek_tool_producer_send(s->sender, &r, NULL), 0);
}

/* An ek_write_fn. */
static int put(void *to, const char *name, const void *bytes, size_t length)
{
    struct scene *s = to;
    send(s, name, bytes, length);
    s->job.pointer.head = ek_hash(bytes, length, 0); /* the header is last */
    return 0;
}

/* Write a state to the topic and a reference to it. */
static void write_state(struct scene *s)
{
    struct ek_assets assets;
    struct shop shop;
    struct ek_guard *guard;
    struct ek_buf message;
    state_assets_open(&assets, STATE_RULES, TRAINING);
    shop_open(&shop, 1, STATE_MARKETS);
    ek_buf_init(&message, 0);
    ck_assert_int_eq(ek_guard_new(&guard, &assets, NULL), 0);
    for (int i = 0; i < LISTS; i++) {
        state_message(&shop, &assets, &message, NULL);
        ck_assert_int_eq(ek_guard_observe(guard, message.data, message.length, i, NULL), 0);
    }
    ck_assert_int_eq(ek_guard_save(guard, true, NULL, 0, put, s, NULL), 0);
    s->job.pointer.base = 1;
    ck_assert_int_eq(ek_tool_producer_flush(s->sender, WAIT_MS, NULL), 0);
    ek_guard_free(guard);
    ek_buf_release(&message);
    shop_close(&shop);
    ek_assets_release(&assets);
}

static void begin(struct scene *s)
{
    *s = (struct scene){.job.pointer = {.topic = "scored", .since_ms = 1}};
    ck_assert_int_eq(ek_mock_start(&s->mock, NULL), 0);
    ck_assert_int_eq(ek_mock_topic(s->mock, "memory", 1, NULL), 0);
    ck_assert_int_eq(ek_config_new(&s->config, NULL), 0);
    ck_assert_int_eq(ek_config_set(s->config, "input.brokers", ek_mock_brokers(s->mock), NULL), 0);
    ck_assert_int_eq(ek_config_set(s->config, "input.group", "g", NULL), 0);
    ck_assert_int_eq(ek_config_set(s->config, "state.topic", "memory", NULL), 0);
    ck_assert_int_eq(ek_tool_producer_new(&s->sender, ek_mock_brokers(s->mock), "memory",
                                          EK_TOOL_PRODUCER_ORDERED, NULL),
                     0);
    ck_assert_int_eq(ek_checkpoint_reader_new(&s->reader, s->config, NULL, NULL), 0);
    ck_assert_int_eq(ek_state_new(&s->job.state, NULL), 0);
    write_state(s);
}

static void end(struct scene *s)
{
    ek_state_free(s->job.state);
    ek_checkpoint_reader_free(s->reader);
    ek_tool_producer_free(s->sender);
    ek_config_free(s->config);
    ek_mock_stop(s->mock);
}

static void read_with(struct scene *s, bool (*wait)(void *context, const char *why))
{
    const struct ek_checkpoint_read_waiter waiter = {s, wait};
    struct ek_error e;
    ck_assert_msg(!ek_checkpoint_reader_read(s->reader, &s->job, 1, &waiter, &e), "%s", e.message);
}

static bool come_back(void *context, const char *why)
{
    struct scene *s = context;
    if (!why)
        return true;
    ck_assert_msg(strstr(why, "topic 'memory'") != NULL, "%s", why);
    if (++s->silences == 2)
        ek_mock_away(s->mock, false);
    return true;
}

START_TEST(brokers_that_are_away_are_waited_for_and_the_state_is_found_then)
{
    struct scene s;
    begin(&s);
    ek_mock_away(s.mock, true);
    read_with(&s, come_back);
    ck_assert(s.job.found);
    ck_assert_uint_eq(ek_state_list_count(s.job.state), LISTS);
    ck_assert_int_ge(s.silences, 2);
    end(&s);
}
END_TEST

static bool give_up(void *context, const char *why)
{
    struct scene *s = context;
    s->silences += why != NULL;
    return !s->silences;
}

START_TEST(brokers_that_are_away_are_waited_for_no_longer_than_somebody_wants)
{
    struct scene s;
    begin(&s);
    ek_mock_away(s.mock, true);
    read_with(&s, give_up);
    ck_assert(!s.job.found);
    ck_assert_int_ge(s.silences, 1);
    end(&s);
}
END_TEST

static bool write_more(void *context, const char *why)
{
    struct scene *s = context;
    if (why || ek_now_ms() < s->next_ms) /* a slow broker is no end of the topic */
        return true;
    s->next_ms = ek_now_ms() + EK_STATE_LEADER_TIMEOUT_MS / 5;
    const struct ek_kafka_record r = {
        .key = "other/0:head", .key_length = 12, .bytes = "x", .length = 1};
    ck_assert_int_eq(ek_tool_producer_send(s->sender, &r, NULL), 0);
    return true;
}

/* Its partition also has the states of another input. */
START_TEST(a_state_that_is_not_there_is_not_waited_for_although_others_write_all_the_time)
{
    struct scene s;
    begin(&s);
    s.job.pointer.head++;
    read_with(&s, write_more);
    ck_assert(!s.job.found);
    end(&s);
}
END_TEST

static bool go_on(void *context, const char *why)
{
    (void)context;
    (void)why;
    return true;
}

/* One fetch response also contains later states. The client frees them in its own thread. */
START_TEST(what_was_fetched_beyond_a_state_is_not_kept)
{
    static uint8_t bytes[LATER_BYTES];
    struct scene s;
    begin(&s);
    for (int i = 0; i < LATER; i++)
        send(&s, "later", bytes, sizeof bytes);
    ck_assert_int_eq(ek_tool_producer_flush(s.sender, WAIT_MS, NULL), 0);
    size_t before = ek_alloc_used();
    read_with(&s, go_on);
    ck_assert(s.job.found);
    int64_t until = ek_now_ms() + WAIT_MS;
    while (ek_alloc_used() > before + KEPT_MAX && ek_now_ms() < until)
        usleep(LOOK_US);
    ck_assert_uint_le(ek_alloc_used(), before + KEPT_MAX);
    end(&s);
}
END_TEST

Suite *suite_checkpoint_reader(void)
{
    return ek_suite("state_reader",
                    brokers_that_are_away_are_waited_for_and_the_state_is_found_then,
                    brokers_that_are_away_are_waited_for_no_longer_than_somebody_wants,
                    a_state_that_is_not_there_is_not_waited_for_although_others_write_all_the_time,
                    what_was_fetched_beyond_a_state_is_not_kept);
}
