/* Stage with state in a fleet of one, against librdkafka's mock cluster, so that all its threads
 * run. tests/kafka/test_fleet.py covers several instances on a real broker. */
#include "daemon/guard/pause.h"
#include "tests/stage_scene.h"

enum { GOOD = LISTS - LISTS / 10 };

static void begin_kept(struct scene *s)
{
    static const char *const topics[] = {"memory", "plan", "plan.evidence"};
    begin(s);
    s->change = make_short;
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        ck_assert_int_eq(ek_mock_topic(s->mock, topics[i], 1, NULL), 0);
    set(s, "service.instance", "one");
    set(s, "state.topic", "memory");
    set(s, "input.librdkafka", "session.timeout.ms=4000");
}

static void join_fleet(struct scene *s)
{
    set(s, "fleet.topic", "plan");
    set(s, "fleet.report_interval", "100ms");
    set(s, "fleet.leader_timeout", "1s");
}

static void begin_fleet(struct scene *s)
{
    begin_kept(s);
    join_fleet(s);
}

/* Wait until it is the leader and its report was accepted. */
static void wait_fleet(struct scene *s)
{
    wait_for_page(s->stage, "/metrics", "\nevenkeel_fleet_is_leader 1\n");
    wait_for_page(s->stage, "/metrics", "\nevenkeel_fleet_instances 1\n");
    wait_for_page(s->stage, "/metrics", "\nevenkeel_fleet_plan_stale 0\n");
}

static void learn(struct scene *s)
{
    feed(s, 0, LISTS);
    start(s);
    ck_assert_uint_eq(wait_for(s, LISTS).queries, GOOD);
    wait_fleet(s);
    finish(s);
}

START_TEST(at_least_once_it_decides_and_goes_on_where_it_was)
{
    struct scene s;
    begin_fleet(&s);
    learn(&s);
    feed(&s, LISTS, LISTS + 1);
    start(&s);
    ck_assert_uint_eq(wait_for(&s, 1).queries, GOOD + 1);
    wait_fleet(&s);
    ck_assert(page_has(s.stage, "/api/v1/status", "\"losses\":0}"));
    finish(&s);
    end(&s);
}
END_TEST

/* Continuation needs a real broker: the mock cluster stores no offsets of a transaction. */
START_TEST(exactly_once_it_decides)
{
    struct scene s;
    begin_fleet(&s);
    set(&s, "input.delivery", "exactly_once");
    learn(&s);
    end(&s);
}
END_TEST

/* A pause in a state is applied once, not at each check. */
START_TEST(a_pause_of_the_state_can_be_ended_in_a_fleet)
{
    struct scene s;
    begin_kept(&s);
    feed(&s, 0, LISTS);
    start(&s);
    wait_for(&s, LISTS);
    ck_assert(ek_stage_pause(s.stage, true, "ana", "odd"));
    finish(&s);
    join_fleet(&s);
    feed(&s, LISTS, LISTS + 1);
    start(&s);
    wait_for(&s, 1);
    wait_fleet(&s);
    ck_assert(ek_pause_is_on(ek_stage_parts(s.stage).pause));
    ck_assert(ek_stage_pause(s.stage, false, "ana", NULL));
    for (int looks = 0; looks < 2; looks++)
        ck_assert(page_has(s.stage, "/metrics", "\nevenkeel_paused 0\n"));
    ck_assert(!ek_pause_is_on(ek_stage_parts(s.stage).pause));
    finish(&s);
    end(&s);
}
END_TEST

Suite *suite_stage_fleet(void)
{
    return ek_suite("stage_fleet", at_least_once_it_decides_and_goes_on_where_it_was,
                    exactly_once_it_decides, a_pause_of_the_state_can_be_ended_in_a_fleet);
}
