/* Canary buckets equal those of the document, on every machine and in every version. */
#include "detect/dedup.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static int of_id(const char *id, size_t length)
{
    struct ek_list q = {.id = {id, length}};
    return ek_canary_bucket(&q);
}

static int of_text(const char *id)
{
    return of_id(id, strlen(id));
}

/* Computed by another implementation of xxh64. A change here moves queries into and out of running
 * canaries. */
START_TEST(buckets_are_those_of_the_document)
{
    ck_assert_int_eq(of_text("q0"), 9473);
    ck_assert_int_eq(of_text("q1"), 3196);
    ck_assert_int_eq(of_text("search-1"), 4807);
    ck_assert_int_eq(of_text("7b3e9f10-4f1c-4a43-9d35-1d0f6c2a7e55"), 7386);
    ck_assert_int_eq(of_text("1234567890"), 4201);
    ck_assert_int_eq(of_text("z\xc3\xbcrich"), 2009);
    ck_assert_int_eq(of_id("\0\1\2", 3), 7734);
}
END_TEST

struct list {
    struct ek_list query;
    float values[4], asked[1];
    struct ek_text ids[2];
};

static struct ek_list *two_items(struct list *l)
{
    *l = (struct list){.values = {1.5f, 2, 4, .25f}, .asked = {3}, .ids = {{"h1", 2}, {"h2", 2}}};
    l->query.items = l->query.item_features = 2;
    l->query.query_features = 1;
    l->query.x = l->values;
    l->query.query = l->asked;
    l->query.item_id = l->ids;
    return &l->query;
}

START_TEST(a_list_without_an_id_is_known_by_what_it_holds)
{
    struct list l;
    struct ek_list *q = two_items(&l);
    ck_assert_int_eq(ek_canary_bucket(q), 7400);
    q->id = (struct ek_text){"", 0};
    ck_assert_int_eq(ek_canary_bucket(q), 7400);
    l.ids[0] = (struct ek_text){"h2", 2};
    l.ids[1] = (struct ek_text){"h1", 2}; /* in any order */
    ck_assert_int_eq(ek_canary_bucket(q), 7400);
    l.ids[0] = (struct ek_text){NULL, 0};
    ck_assert_int_eq(ek_canary_bucket(q), 6661);
    q->id = (struct ek_text){"q0", 2};
    ck_assert_int_eq(ek_canary_bucket(q), 9473);
}
END_TEST

START_TEST(buckets_are_evenly_filled)
{
    enum { QUERIES = 100000, PARTS = 20 };
    int count[PARTS] = {0};
    char id[32];
    for (int i = 0; i < QUERIES; i++) {
        int length = snprintf(id, sizeof id, "q%d", i);
        count[of_id(id, (size_t)length) * PARTS / EK_BUCKETS]++;
    }
    for (int i = 0; i < PARTS; i++) /* 5,000, four standard errors */
        ck_assert_msg(count[i] > 5000 - 276 && count[i] < 5000 + 276, "part %d: %d", i, count[i]);
}
END_TEST

Suite *suite_canary_bucket(void)
{
    return ek_suite("bucket", buckets_are_those_of_the_document,
                    a_list_without_an_id_is_known_by_what_it_holds, buckets_are_evenly_filled);
}
