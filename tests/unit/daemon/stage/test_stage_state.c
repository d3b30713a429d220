/* Stage with a state topic, against librdkafka's mock cluster. tests/kafka/test_state.py uses a
 * real broker. */
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "tests/stage_scene.h"

#include <stdatomic.h>
#include <stdio.h>

enum { GOOD = LISTS - LISTS / 10, NAP_NS = 5000000 };

struct kept {
    struct scene s;
    FILE *lines;
    struct ek_log *log;
    atomic_bool cut; /* stop the brokers after the assignment, before the state is read */
    atomic_int suspended, aborted; /* log lines of suspended checkpoints and aborted transactions */
};

static bool contains(const char *line, size_t length, const char *word)
{
    return memmem(line, length, word, strlen(word)) != NULL;
}

/* Write callback of the log, called synchronously by the logging thread. */
static ssize_t hear(void *cookie, const char *line, size_t length)
{
    struct kept *k = cookie;
    if (contains(line, length, "event=partitions_assigned") && atomic_exchange(&k->cut, false))
        ek_mock_away(k->s.mock, true);
    k->suspended += contains(line, length, "event=checkpoint_suspended");
    k->aborted += contains(line, length, "event=transaction_aborted reason=ILLEGAL_GENERATION");
    return (ssize_t)length;
}

/* Prepare a stage with state. The session timeout is short, because after a member leaves the mock
 * cluster delays the next one by the session timeout minus a second. */
static void open_kept(struct kept *k)
{
    begin(&k->s);
    k->s.change = make_short;
    atomic_init(&k->cut, false);
    atomic_init(&k->suspended, 0);
    atomic_init(&k->aborted, 0);
    k->lines = fopencookie(k, "w", (cookie_io_functions_t){.write = hear});
    k->log = ek_log_new(k->lines, EK_LOG_INFO);
    ck_assert_int_eq(ek_mock_topic(k->s.mock, "memory", 1, NULL), 0);
    set(&k->s, "state.topic", "memory");
    set(&k->s, "input.librdkafka", "session.timeout.ms=4000");
}

static void close_kept(struct kept *k)
{
    end(&k->s);
    ek_log_free(k->log);
    fclose(k->lines);
}

static void start_kept(struct kept *k)
{
    start_with(&k->s, k->log);
}

/* Run a stage on LISTS and stop it. */
static void learn(struct kept *k)
{
    feed(&k->s, 0, LISTS);
    start_kept(k);
    ck_assert_uint_eq(wait_for(&k->s, LISTS).queries, GOOD);
    finish(&k->s);
}

/* Check that the next stage counts one more list than the previous one. The list may be redelivered
 * if the member's session expired meanwhile. */
static void goes_on(struct kept *k)
{
    struct ek_stage_stats t;
    int64_t until = ek_now_ms() + WAIT_MS;
    feed(&k->s, LISTS, LISTS + 1);
    do {
        nanosleep(&(struct timespec){0, NAP_NS}, NULL);
        ek_stage_stats(k->s.stage, &t);
    } while ((!t.ready || !t.passed || t.queries <= GOOD) && ek_now_ms() < until);
    ck_assert(page_has(k->s.stage, "/api/v1/status", "\"losses\":0}"));
    ck_assert(page_has(k->s.stage, "/metrics", "\nevenkeel_restore_pending_seconds 0\n"));
    join(&k->s);
    ek_stage_stats(k->s.stage, &t);
    ck_assert_uint_eq(t.queries, GOOD + 1);
    ck_assert_uint_ge(t.passed, 1);
    ek_stage_free(k->s.stage);
}

static void wait_until_told(struct kept *k)
{
    struct ek_kafka_health_state t;
    int64_t until = ek_now_ms() + WAIT_MS;
    while (ek_stage_health(k->s.stage, &t) != EK_KAFKA_HEALTH_STATE && ek_now_ms() < until)
        nanosleep(&(struct timespec){0, NAP_NS}, NULL);
    ck_assert_msg(t.kind == EK_KAFKA_HEALTH_STATE && strstr(t.text, "topic 'memory'"), "%s",
                  t.text);
}

/* Open a stage that waits for the state of a previous one, because the brokers are unavailable. */
static void open_waiting(struct kept *k)
{
    open_kept(k);
    learn(k);
    atomic_store(&k->cut, true);
    start_kept(k);
    wait_until_told(k);
}

START_TEST(brokers_that_go_before_they_gave_back_the_state_are_waited_for)
{
    struct kept k;
    open_waiting(&k);
    while (page_has(k.s.stage, "/metrics", "\nevenkeel_restore_pending_seconds 0\n"))
        nanosleep(&(struct timespec){0, NAP_NS},
                  NULL); /* the metric follows the status within a millisecond */
    ek_mock_away(k.s.mock, false);
    goes_on(&k);
    close_kept(&k);
}
END_TEST

START_TEST(a_stage_that_waits_for_its_state_can_be_stopped_and_loses_nothing)
{
    struct kept k;
    open_waiting(&k);
    join(&k.s);
    ck_assert(page_has(k.s.stage, "/api/v1/status", "\"losses\":0}"));
    ek_mock_away(k.s.mock, false);
    ek_stage_free(k.s.stage);
    start_kept(&k);
    goes_on(&k);
    close_kept(&k);
}
END_TEST

/* The first transaction has a checkpoint: if checkpoints paused after its abort, a revocation in
 * the pause would hand over no state. */
START_TEST(an_abort_for_a_rebalance_suspends_no_checkpoints)
{
    struct kept k;
    open_kept(&k);
    set(&k.s, "input.delivery", "exactly_once");
    ek_mock_refuse_offsets(k.s.mock, 1);
    learn(&k);
    ck_assert_int_eq(k.aborted, 1);
    ck_assert_int_eq(k.suspended, 0);
    close_kept(&k);
}
END_TEST

Suite *suite_stage_state(void)
{
    return ek_suite("stage_state", brokers_that_go_before_they_gave_back_the_state_are_waited_for,
                    a_stage_that_waits_for_its_state_can_be_stopped_and_loses_nothing,
                    an_abort_for_a_rebalance_suspends_no_checkpoints);
}
