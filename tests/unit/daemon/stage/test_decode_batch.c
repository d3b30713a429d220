/* Batches of a worker: a large list ends its batch. */
#include "daemon/stage/worker_pool.h"
#include "serve/context.h"
#include "tests/check.h"
#include "tests/state_world.h"

enum { LISTS = EK_DECODE_BATCH_MAX, MANY_ITEMS = 10000, SEED = 5, MARKETS = 4 };

struct bench {
    struct ek_assets assets;
    struct shop shop;
    struct ek_buf small, large;
    struct ek_inflight inflight[LISTS], *inflights[LISTS];
    struct ek_guard_service_list list[LISTS];
};

static void many_items(struct shop *s, struct ek_list *q)
{
    (void)s;
    must(ek_list_resize(q, MANY_ITEMS, 2, 1));
    q->query[0] = 1;
    for (int i = 0; i < MANY_ITEMS; i++) {
        q->x[2 * i] = q->x[2 * i + 1] = 1;
        q->score[i] = 0;
        q->item_id[i] = shop_text("item");
    }
}

static void setup(struct bench *b)
{
    state_assets_open(&b->assets, STATE_RULES, 300);
    shop_open(&b->shop, SEED, MARKETS);
    ek_buf_init(&b->small, 0);
    ek_buf_init(&b->large, 0);
    state_message(&b->shop, &b->assets, &b->small, NULL);
    state_message(&b->shop, &b->assets, &b->large, many_items);
    for (int i = 0; i < LISTS; i++) {
        b->inflights[i] = &b->inflight[i];
        must(i ? ek_context_new_paired(&b->list[i].context, b->list[0].context, NULL)
               : ek_context_new(&b->list[0].context, &b->assets, NULL));
    }
}

static void teardown(struct bench *b)
{
    for (int i = LISTS; i-- > 0;)
        ek_context_free(b->list[i].context);
    ek_buf_release(&b->small);
    ek_buf_release(&b->large);
    shop_close(&b->shop);
    ek_assets_release(&b->assets);
}

static void read_one(void *context, const struct ek_inflight *t, struct ek_guard_service_list *l)
{
    (void)context;
    must(ek_context_decode(l->context, t->bytes, t->length, NULL));
}

/* Return how many of that many small messages form a batch when one (-1: none) is large. */
static size_t read_with(struct bench *b, int large)
{
    for (int i = 0; i < LISTS; i++) {
        const struct ek_buf *m = i == large ? &b->large : &b->small;
        b->inflight[i].bytes = m->data;
        b->inflight[i].length = m->length;
    }
    size_t count = ek_decode_batch_read(b->list, b->inflights, LISTS, read_one, NULL);
    if (large >= 0)
        ck_assert_uint_gt(ek_context_bytes(b->list[large].context), EK_DECODE_BATCH_LIST);
    ek_decode_batch_finish(b->list, count);
    return count;
}

START_TEST(a_large_list_ends_its_batch_and_shortens_none_behind_it)
{
    static struct bench b; /* large */
    setup(&b);
    ck_assert_uint_eq(read_with(&b, -1), LISTS);
    for (int at = 1; at < LISTS; at += LISTS - 2) {
        ck_assert_uint_eq(read_with(&b, at), (size_t)at + 1);
        ck_assert_uint_le(ek_context_bytes(b.list[at].context), EK_DECODE_BATCH_LIST);
        ck_assert_uint_eq(read_with(&b, -1), LISTS);
    }
    read_with(&b, 0);
    ck_assert_uint_eq(read_with(&b, -1), LISTS); /* although its context keeps its size */
    ck_assert_uint_eq(read_with(&b, 1), 2);
    ck_assert_uint_eq(read_with(&b, -1), LISTS);
    teardown(&b);
}
END_TEST

START_TEST(a_large_message_is_read_alone_and_never_more_than_there_are_contexts)
{
    struct ek_inflight inflight[LISTS + 1] = {{.length = 0}}, *inflights[LISTS + 1];
    for (int i = 0; i <= LISTS; i++)
        inflights[i] = &inflight[i];
    ck_assert_uint_eq(ek_decode_batch_context(inflights, LISTS - 1), LISTS - 1);
    ck_assert_uint_eq(ek_decode_batch_context(inflights, LISTS), LISTS);
    ck_assert_uint_eq(ek_decode_batch_context(inflights, LISTS + 1), LISTS);
    inflight[3].length = EK_DECODE_BATCH_MESSAGE;
    ck_assert_uint_eq(ek_decode_batch_context(inflights, LISTS), LISTS);
    inflight[3].length++;
    ck_assert_uint_eq(ek_decode_batch_context(inflights, LISTS), 3);
    ck_assert_uint_eq(ek_decode_batch_context(inflights + 3, 2), 1);
}
END_TEST

Suite *suite_decode_batch(void)
{
    return ek_suite("read_ahead", a_large_list_ends_its_batch_and_shortens_none_behind_it,
                    a_large_message_is_read_alone_and_never_more_than_there_are_contexts);
}
