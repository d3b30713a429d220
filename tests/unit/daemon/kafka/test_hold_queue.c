/* Messages in a hold queue, and a closed queue lets none pass. */
#include "daemon/kafka/output_writer.h"
#include "tests/check.h"

#include <pthread.h>
#include <stdlib.h>

enum { MANY = 20000 };

struct road {
    int passed[MANY];
    int count, kept, fail_at, most;
};

static int pass(void *context, void *item, struct ek_error *e)
{
    struct road *r = context;
    if (*(int *)item == r->fail_at)
        return ek_fail(e, EK_EIO, "no way for %d", r->fail_at);
    r->passed[r->count++] = *(int *)item;
    return EK_OK;
}

static void *keep(void *context, void *item)
{
    int *copy = malloc(sizeof *copy);
    *copy = *(const int *)item;
    ((struct road *)context)->kept++;
    return copy;
}

static void release(void *context, void *kept)
{
    ((struct road *)context)->kept--;
    free(kept);
}

static bool enough(void *context)
{
    const struct road *r = context;
    return r->most && r->count >= r->most;
}

static struct ek_hold_queue *gate(struct road *r)
{
    const struct ek_hold_queue_hooks hooks = {r, pass, keep, release, enough};
    struct ek_hold_queue *g;
    *r = (struct road){.fail_at = -1};
    ck_assert_int_eq(ek_hold_queue_new(&g, &hooks, NULL), 0);
    return g;
}

static void put(struct ek_hold_queue *g, int from, int to)
{
    for (int i = from; i < to; i++)
        ck_assert_int_eq(ek_hold_queue_add(g, &i, NULL), 0);
}

START_TEST(what_came_while_it_was_shut_passes_first_and_in_order)
{
    struct road r;
    struct ek_hold_queue *g = gate(&r);
    put(g, 0, 5);
    ck_assert_int_eq(r.count, 0);
    ck_assert_int_eq(r.kept, 5);
    ck_assert_int_eq(ek_hold_queue_open(g, NULL), 0);
    put(g, 5, 8);
    ek_hold_queue_close(g);
    put(g, 8, 10);
    ck_assert_int_eq(r.count, 8);
    ck_assert_int_eq(ek_hold_queue_open(g, NULL), 0);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(r.passed[i], i);
    ck_assert_int_eq(r.count, 10);
    ck_assert_int_eq(r.kept, 0);
    ek_hold_queue_free(g);
}
END_TEST

START_TEST(when_enough_has_passed_the_rest_waits_for_the_next_time)
{
    struct road r;
    struct ek_hold_queue *g = gate(&r);
    put(g, 0, 5);
    r.most = 3;
    ck_assert_int_eq(ek_hold_queue_open(g, NULL), 0);
    put(g, 5, 6);
    ck_assert_int_eq(r.count, 3);
    ck_assert_int_eq(r.kept, 3);
    r.most = 0;
    ck_assert_int_eq(ek_hold_queue_open(g, NULL), 0);
    put(g, 6, 7);
    for (int i = 0; i < 7; i++)
        ck_assert_int_eq(r.passed[i], i);
    ek_hold_queue_free(g);
}
END_TEST

START_TEST(a_gate_whose_road_ends_stays_shut_and_what_waits_is_released)
{
    struct road r;
    struct ek_error e;
    struct ek_hold_queue *g = gate(&r);
    put(g, 0, 5);
    r.fail_at = 2;
    ck_assert_int_eq(ek_hold_queue_open(g, &e), EK_EIO);
    ck_assert_str_eq(e.message, "no way for 2");
    ck_assert_int_eq(r.count, 2);
    put(g, 5, 6);
    ck_assert_int_eq(r.kept, 3);
    ek_hold_queue_free(g);
    ck_assert_int_eq(r.kept, 0);
}
END_TEST

static void *put_many(void *context)
{
    put(context, 0, MANY);
    return NULL;
}

START_TEST(nobody_passes_a_shut_gate_and_nothing_is_lost_or_turned_round)
{
    struct road r;
    struct ek_hold_queue *g = gate(&r);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, put_many, g), 0);
    for (int i = 0, last = 0; last < MANY; i++) {
        ck_assert_int_eq(ek_hold_queue_open(g, NULL), 0);
        ek_hold_queue_close(g);
        last = r.count; /* without a lock: closing guarantees exclusion */
        if (i % 16 == 0)
            sched_yield();
        ck_assert_int_eq(r.count, last);
    }
    pthread_join(thread, NULL);
    for (int i = 0; i < MANY; i++)
        ck_assert_int_eq(r.passed[i], i);
    ck_assert_int_eq(r.kept, 0);
    ek_hold_queue_free(g);
}
END_TEST

Suite *suite_hold_queue(void)
{
    return ek_suite("gate", what_came_while_it_was_shut_passes_first_and_in_order,
                    when_enough_has_passed_the_rest_waits_for_the_next_time,
                    a_gate_whose_road_ends_stays_shut_and_what_waits_is_released,
                    nobody_passes_a_shut_gate_and_nothing_is_lost_or_turned_round);
}
