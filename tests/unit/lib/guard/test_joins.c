/* Hours of a fleet with changing instances: each merge returns its memory. */
#include "base/alloc.h"
#include "tests/check.h"
#include "tests/measure.h"
#include "tests/state_bench.h"

#include <malloc.h>
#include <pthread.h>

/* The guard's own memory, mostly windows, is allocated after the first merges. */
enum { SETTLED = 60, JOINS = 240, LISTS = 12 };

static void take_lists(struct bench *b, struct ek_guard *g, int lists)
{
    while (lists-- > 0) {
        bench_next(b);
        must(ek_guard_observe(g, b->message.data, b->message.length, 0, NULL));
    }
}

/* Return the allocated heap bytes; 0 under a sanitizer. */
static size_t bytes_in_use(void)
{
    return mallinfo2().uordblks;
}

static void fetch_events(struct ek_guard *g)
{
    const char *json;
    while (ek_guard_next_event(g, &json) > 0)
        ;
}

/* Merge the state of another instance after some lists. */
static void join(struct bench *b)
{
    struct ek_guard *other = NULL, *kept = NULL;
    enum ek_restore_result fit;
    must(ek_guard_new(&other, &b->assets, NULL));
    take_lists(b, other, LISTS);
    must(ek_guard_save(other, 1, NULL, 0, state_put, &b->store, NULL));
    ek_guard_free(other);
    struct ek_state *state = state_of(&b->store, 1);
    must(ek_guard_load(&kept, &b->assets, state, &fit, NULL));
    must(ek_guard_merge(b->guard, kept, NULL));
    ek_guard_free(kept);
    ek_state_free(state);
    state_clear(&b->store);
    fetch_events(b->guard);
}

START_TEST(hundreds_of_joins_leave_no_more_memory_in_use_than_the_first)
{
    struct bench *b = bench_new();
    size_t settled = 0;
    for (int i = 1; i <= JOINS; i++) {
        take_lists(b, b->guard, LISTS);
        join(b);
        if (i == SETTLED)
            settled = bytes_in_use();
    }
    ck_assert_uint_le(bytes_in_use(), settled + settled / 20);
    bench_free(b);
}
END_TEST

enum { BLOCKS = 4000, BLOCK_BYTES = 10000 };

/* Keep every second block, so that the heap cannot shrink from its end. */
static void *leave_gaps(void *blocks)
{
    uint8_t **block = blocks;
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = ek_calloc(BLOCK_BYTES, 1);
        must(!block[i]);
        memset(block[i], 1, BLOCK_BYTES);
    }
    for (int i = 0; i < BLOCKS; i += 2)
        ek_free(block[i]);
    return NULL;
}

START_TEST(what_is_free_in_the_heap_of_another_thread_goes_back_to_the_system)
{
    static uint8_t *block[BLOCKS];
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, leave_gaps, block), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    double before = ek_measure_resident();
    ek_alloc_trim();
    /* Each gap contains a whole page; a sanitizer keeps its memory. */
    if (bytes_in_use())
        ck_assert_double_lt(ek_measure_resident(), before - BLOCKS / 2 * 4096.0);
    for (int i = 1; i < BLOCKS; i += 2) {
        ck_assert_int_eq(block[i][BLOCK_BYTES - 1], 1);
        ek_free(block[i]);
    }
}
END_TEST

Suite *suite_joins(void)
{
    return ek_suite("joins", hundreds_of_joins_leave_no_more_memory_in_use_than_the_first,
                    what_is_free_in_the_heap_of_another_thread_goes_back_to_the_system);
}
