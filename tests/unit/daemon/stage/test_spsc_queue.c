/* SPSC queue: delivers each element once and in order, and loses no wakeup. */
#include "daemon/stage/worker_pool.h"
#include "tests/check.h"

#include <pthread.h>
#include <stdint.h>

enum { ITEMS = 200000, CAPACITY = 8, TAKEN_AT_ONCE = 5, WAIT_MS = 20000 };

static void *item(uintptr_t n)
{
    return (void *)(n + 1);
}

struct pair {
    struct ek_spsc_queue *ring;
    struct ek_wakeup room;
    uintptr_t taken;
    bool in_order;
};

static void set_up(struct pair *p, size_t capacity)
{
    *p = (struct pair){.in_order = true};
    ck_assert_int_eq(ek_wakeup_init(&p->room, NULL), 0);
    ck_assert_int_eq(ek_spsc_queue_new(&p->ring, capacity, &p->room, NULL), 0);
}

static void tear_down(struct pair *p)
{
    ek_spsc_queue_free(p->ring);
    ek_wakeup_close(&p->room);
}

static void *take_all(void *context)
{
    struct pair *p = context;
    void *items[TAKEN_AT_ONCE];
    size_t count;
    while ((count = ek_spsc_queue_pop(p->ring, items, TAKEN_AT_ONCE)))
        for (size_t i = 0; i < count; i++)
            p->in_order = p->in_order && items[i] == item(p->taken++);
    return NULL;
}

START_TEST(what_one_thread_puts_another_takes_in_order)
{
    struct pair p;
    pthread_t taker;
    set_up(&p, CAPACITY);
    ck_assert_int_eq(pthread_create(&taker, NULL, take_all, &p), 0);
    for (uintptr_t i = 0; i < ITEMS;) {
        size_t room = ek_spsc_queue_space(p.ring);
        if (!room)
            ek_wakeup_wait(&p.room, WAIT_MS);
        for (; room && i < ITEMS; room--)
            ek_spsc_queue_push(p.ring, item(i++));
        ek_spsc_queue_publish(p.ring);
    }
    ek_spsc_queue_close(p.ring);
    pthread_join(taker, NULL);
    ck_assert_uint_eq(p.taken, ITEMS);
    ck_assert(p.in_order);
    tear_down(&p);
}
END_TEST

START_TEST(a_ring_that_was_full_has_room_again_when_half_is_free)
{
    struct pair p;
    void *items[CAPACITY];
    set_up(&p, CAPACITY - 1); /* rounded up */
    ck_assert_uint_eq(ek_spsc_queue_space(p.ring), CAPACITY);
    for (uintptr_t i = 0; i < CAPACITY; i++)
        ek_spsc_queue_push(p.ring, item(i));
    ck_assert_uint_eq(ek_spsc_queue_depth(p.ring), 0);
    ek_spsc_queue_publish(p.ring);
    ck_assert_uint_eq(ek_spsc_queue_depth(p.ring), CAPACITY);
    ck_assert_uint_eq(ek_spsc_queue_space(p.ring), 0);
    ck_assert_uint_eq(ek_spsc_queue_pop(p.ring, items, CAPACITY / 2 - 1), CAPACITY / 2 - 1);
    ck_assert_uint_eq(ek_spsc_queue_space(p.ring), 0);
    ck_assert_uint_eq(ek_spsc_queue_pop(p.ring, items, 1), 1);
    ek_wakeup_wait(&p.room, -1); /* hangs without a signal */
    ck_assert_uint_eq(ek_spsc_queue_space(p.ring), CAPACITY / 2);
    tear_down(&p);
}
END_TEST

START_TEST(what_was_put_before_the_end_is_still_taken)
{
    struct pair p;
    void *items[CAPACITY];
    set_up(&p, CAPACITY);
    ek_spsc_queue_push(p.ring, item(0));
    ek_spsc_queue_close(p.ring);
    ck_assert_uint_eq(ek_spsc_queue_pop(p.ring, items, CAPACITY), 1);
    ck_assert_ptr_eq(items[0], item(0));
    ck_assert_uint_eq(ek_spsc_queue_pop(p.ring, items, CAPACITY), 0);
    tear_down(&p);
}
END_TEST

START_TEST(a_ring_of_one_works)
{
    struct pair p;
    pthread_t taker;
    set_up(&p, 1);
    ck_assert_int_eq(pthread_create(&taker, NULL, take_all, &p), 0);
    for (uintptr_t i = 0; i < 1000;) {
        if (!ek_spsc_queue_space(p.ring)) {
            ek_wakeup_wait(&p.room, WAIT_MS);
            continue;
        }
        ek_spsc_queue_push(p.ring, item(i++));
        ek_spsc_queue_publish(p.ring);
    }
    ek_spsc_queue_close(p.ring);
    pthread_join(taker, NULL);
    ck_assert_uint_eq(p.taken, 1000);
    ck_assert(p.in_order);
    tear_down(&p);
}
END_TEST

Suite *suite_spsc_queue(void)
{
    return ek_suite("ring", what_one_thread_puts_another_takes_in_order,
                    a_ring_that_was_full_has_room_again_when_half_is_free,
                    what_was_put_before_the_end_is_still_taken, a_ring_of_one_works);
}
