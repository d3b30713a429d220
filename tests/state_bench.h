/* Guard on a small shop with prices in cents in arm B from a given list on, and the store of its
 * state. */
#ifndef EK_TESTS_STATE_BENCH_H
#define EK_TESTS_STATE_BENCH_H

#include "tests/state_world.h"

enum { TRAINING = 1200, SEED = 8, FAULT_FROM = 60 };

struct bench {
    struct ek_assets assets;
    struct ek_guard *guard;
    struct shop shop;
    struct ek_buf message; /* current message */
    struct state_store store;
};

static inline void cents(struct shop *s, struct ek_list *q)
{
    for (int i = 0; s->number > FAULT_FROM && s->arm_b && i < q->items; i++)
        q->x[2 * i] *= 100;
}

/* Return a bench before its first list. */
static inline struct bench *bench_new(void)
{
    struct bench *b = calloc(1, sizeof *b);
    state_assets_open(&b->assets, STATE_RULES, TRAINING);
    must(ek_guard_new(&b->guard, &b->assets, NULL));
    shop_open(&b->shop, SEED, STATE_MARKETS);
    ek_buf_init(&b->message, 0);
    return b;
}

static inline void bench_next(struct bench *b)
{
    state_message(&b->shop, &b->assets, &b->message, cents);
}

static inline void bench_free(struct bench *b)
{
    ek_guard_free(b->guard);
    shop_close(&b->shop);
    ek_buf_release(&b->message);
    state_clear(&b->store);
    ek_assets_release(&b->assets);
    free(b);
}

#endif
