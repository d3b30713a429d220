/* Written LETOR text reads back equal. */
#include "base/file.h"
#include "lists/letor.h"
#include "offline/world/hotel.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char PATH[] = "build/letor-write-test.txt";

static struct ek_manifest *manifest_of(const char *text)
{
    struct ek_manifest *m;
    ck_assert_int_eq(ek_manifest_parse(&m, "test", text, strlen(text), NULL), EK_OK);
    return m;
}

static void save(const struct ek_buf *text)
{
    struct ek_writer *w;
    ck_assert_int_eq(ek_writer_open(&w, PATH, NULL), EK_OK);
    ck_assert_int_eq(ek_writer_write(w, text->data, text->length, NULL), EK_OK);
    ck_assert_int_eq(ek_writer_close(w, NULL), EK_OK);
}

static void assert_same(const struct ek_list *a, const struct ek_list *b)
{
    ck_assert_int_eq(a->items, b->items);
    ck_assert_mem_eq(a->x, b->x, (size_t)(a->items * a->item_features) * sizeof *a->x);
    ck_assert_mem_eq(a->query, b->query, (size_t)a->query_features * sizeof *a->query);
    ck_assert_mem_eq(a->label, b->label, (size_t)a->items * sizeof *a->label);
    for (int k = 0; k < a->items; k++) {
        ck_assert_uint_eq(a->item_id[k].length, b->item_id[k].length);
        ck_assert_mem_eq(a->item_id[k].text, b->item_id[k].text, a->item_id[k].length);
    }
}

START_TEST(hotel_lists_come_back_to_the_bit)
{
    enum { LISTS = 100 };
    struct ek_manifest *m = manifest_of(ek_hotel_manifest());
    struct ek_hotel *h;
    struct ek_letor *l;
    struct ek_list q, back;
    struct ek_buf text;
    bool more;
    ck_assert_int_eq(ek_hotel_new(&h, 11, NULL), EK_OK);
    ek_list_init(&q);
    ek_list_init(&back);
    ek_buf_init(&text, 0);
    for (uint64_t i = 0; i < LISTS; i++) {
        ck_assert_int_eq(ek_hotel_list(h, i, &q, NULL), EK_OK);
        ck_assert_int_eq(ek_letor_write(m, &q, i + 1, &text, NULL), EK_OK);
    }
    save(&text);
    ck_assert_int_eq(ek_letor_open(&l, m, PATH, NULL), EK_OK);
    for (uint64_t i = 0; i < LISTS; i++) {
        ck_assert_int_eq(ek_hotel_list(h, i, &q, NULL), EK_OK);
        ck_assert_int_eq(ek_letor_next(l, &back, &more, NULL), EK_OK);
        ck_assert(more);
        assert_same(&q, &back);
    }
    ck_assert_int_eq(ek_letor_next(l, &back, &more, NULL), EK_OK);
    ck_assert(!more);
    ek_letor_close(l);
    ek_buf_release(&text);
    ek_list_release(&back);
    ek_list_release(&q);
    ek_hotel_free(h);
    ek_manifest_free(m);
    unlink(PATH);
}
END_TEST

static const char MIXED[] = "features:\n"
                            "  - {name: where, index: 1, role: query}\n"
                            "  - {name: price, index: 2, role: item}\n"
                            "  - {name: when, index: 4, role: query}\n"
                            "  - {name: stars, index: 7, role: item}\n"
                            "derived_query_features: [log_list_size]\n";

START_TEST(columns_rise_and_derived_features_stay_out)
{
    struct ek_manifest *m = manifest_of(MIXED);
    struct ek_list q;
    struct ek_buf text;
    ek_list_init(&q);
    ek_buf_init(&text, 0);
    ck_assert_int_eq(ek_list_resize(&q, 1, 2, 3), EK_OK);
    q.x[0] = NAN;
    q.x[1] = 0.1f;
    q.query[0] = -3;
    q.query[1] = 1e-40f;
    q.query[2] = 0;
    q.label[0] = 2;
    q.has_label = true;
    q.item_id[0] = (struct ek_text){NULL, 0};
    ck_assert_int_eq(ek_letor_write(m, &q, 5, &text, NULL), EK_OK);
    ck_assert_str_eq(ek_buf_string(&text), "2 qid:5 1:-3 2:nan 4:9.99995e-41 7:0.1\n");
    ek_buf_release(&text);
    ek_list_release(&q);
    ek_manifest_free(m);
}
END_TEST

START_TEST(an_infinity_is_refused_and_nothing_is_left_behind)
{
    struct ek_manifest *m = manifest_of(MIXED);
    struct ek_list q;
    struct ek_buf text;
    struct ek_error e;
    ek_list_init(&q);
    ek_buf_init(&text, 0);
    ck_assert_int_eq(ek_list_resize(&q, 2, 2, 3), EK_OK);
    memset(q.x, 0, 4 * sizeof *q.x);
    memset(q.query, 0, 3 * sizeof *q.query);
    q.item_id[0] = q.item_id[1] = (struct ek_text){NULL, 0};
    q.x[3] = INFINITY;
    ck_assert_int_eq(ek_buf_text(&text, "before"), EK_OK);
    ck_assert_int_eq(ek_letor_write(m, &q, 5, &text, &e), EK_EFORMAT);
    ck_assert_str_eq(e.message, "feature 'stars' is infinite, LETOR has no word for that");
    ck_assert_str_eq(ek_buf_string(&text), "before");
    ek_buf_release(&text);
    ek_list_release(&q);
    ek_manifest_free(m);
}
END_TEST

Suite *suite_letor_write(void)
{
    return ek_suite("letor_write", hotel_lists_come_back_to_the_bit,
                    columns_rise_and_derived_features_stay_out,
                    an_infinity_is_refused_and_nothing_is_left_behind);
}
