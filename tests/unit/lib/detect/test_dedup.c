/* Criteria for a duplicate list. */
#include "detect/dedup.h"
#include "tests/check.h"
#include "tests/stream.h"

enum { BOTH = EK_SAME_QUERY_FEATURES | EK_SAME_ITEM_IDS };

static void swap_items(struct ek_list *q, int a, int b)
{
    struct ek_text id = q->item_id[a];
    q->item_id[a] = q->item_id[b];
    q->item_id[b] = id;
    for (int f = 0; f < q->item_features; f++) {
        float x = q->x[a * q->item_features + f];
        q->x[a * q->item_features + f] = q->x[b * q->item_features + f];
        q->x[b * q->item_features + f] = x;
    }
}

START_TEST(items_in_another_order_are_the_same_list)
{
    struct stream s;
    stream_start(&s, 1);
    struct ek_list *q = stream_next(&s);
    uint64_t before = ek_dedup_key(q, BOTH);
    swap_items(q, 0, 3);
    ck_assert(ek_dedup_key(q, BOTH) == before);
    q->query[0]++;
    ck_assert(ek_dedup_key(q, BOTH) != before);
    stream_end(&s);
}
END_TEST

START_TEST(without_ids_the_values_of_the_items_count)
{
    struct stream s;
    stream_start(&s, 1);
    struct ek_list *q = stream_next(&s);
    for (int i = 0; i < q->items; i++)
        q->item_id[i].text = NULL;
    uint64_t before = ek_dedup_key(q, BOTH);
    swap_items(q, 1, 2);
    ck_assert(ek_dedup_key(q, BOTH) == before);
    q->x[4] += 1;
    ck_assert(ek_dedup_key(q, BOTH) != before);
    stream_end(&s);
}
END_TEST

START_TEST(another_item_is_another_list)
{
    struct stream s;
    stream_start(&s, 1);
    struct ek_list *q = stream_next(&s);
    uint64_t before = ek_dedup_key(q, BOTH);
    q->item_id[2] = q->item_id[1];
    ck_assert(ek_dedup_key(q, BOTH) != before);
    stream_end(&s);
}
END_TEST

Suite *suite_dedup(void)
{
    return ek_suite("repeats", items_in_another_order_are_the_same_list,
                    without_ids_the_values_of_the_items_count, another_item_is_another_list);
}
