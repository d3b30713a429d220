/* Assembly of lists from items: completion, content, dropped items, and bounded memory. */
#include "base/serialize.h"
#include "serve/assembly.h"
#include "tests/items.h"

#include <stdlib.h>

enum { WITHIN_MS = 1000 };

struct bench {
    struct ek_assembly *a;
    struct ek_list item, list;
    int64_t now_ms;
};

static void open_with(struct bench *b, struct ek_assembly_limits limits)
{
    *b = (struct bench){.now_ms = 5000};
    if (!limits.within_ms)
        limits.within_ms = WITHIN_MS;
    ck_assert_int_eq(ek_assembly_new(&b->a, ITEM_FEATURES, ITEM_QUERY_FEATURES, &limits, NULL),
                     EK_OK);
    ek_list_init(&b->item);
    ek_list_init(&b->list);
}

static void open_bench(struct bench *b)
{
    open_with(b, (struct ek_assembly_limits){0});
}

static void close_bench(struct bench *b)
{
    ek_assembly_free(b->a);
    ek_list_release(&b->item);
    ek_list_release(&b->list);
}

static bool next(struct bench *b)
{
    bool some;
    ck_assert_int_eq(ek_assembly_next(b->a, b->now_ms, &b->list, &some, NULL), EK_OK);
    return some;
}

/* Add an item that completes no list. */
static void add(struct bench *b, const char *query, const char *id, int list_items, float value)
{
    ck_assert(!next(b));
    item_make(&b->item, query, id, list_items, value);
    ck_assert_int_eq(ek_assembly_add(b->a, &b->item, b->now_ms, b->now_ms, 7, NULL), EK_OK);
}

/* Check that the completed list has items of these values. */
static void is_list(const struct bench *b, int items, const float *value)
{
    ck_assert_int_eq(b->list.items, items);
    for (int i = 0; i < items; i++) {
        ck_assert(b->list.x[2 * i] == value[i] && b->list.x[2 * i + 1] == value[i] + .5f);
        ck_assert(b->list.score[i] == 100 * (double)value[i]);
    }
    ck_assert(b->list.query[0] == 10 * value[0]);
}

START_TEST(a_list_is_given_out_once_it_has_all_of_its_items)
{
    struct bench b;
    open_bench(&b);
    add(&b, "q1", "a", 3, 1);
    add(&b, "q1", "b", 3, 2);
    ck_assert(!next(&b));
    b.now_ms += 10;
    add(&b, "q1", "c", 3, 3);
    ck_assert(next(&b));
    is_list(&b, 3, (const float[]){1, 2, 3});
    ck_assert_int_eq(b.list.list_items, 3);
    ck_assert(!ek_list_is_partial(&b.list));
    ck_assert_int_eq(b.list.time_ms, 5000);
    ck_assert(!next(&b));
    ck_assert_uint_eq(ek_assembly_get_counts(b.a).complete, 1);
    close_bench(&b);
}
END_TEST

START_TEST(a_list_has_the_segments_of_its_first_item)
{
    struct bench b;
    char arm[] = "arm", value[] = "B";
    open_bench(&b);
    item_make(&b.item, "q1", "a", 2, 1);
    b.item.segment_count = 2;
    b.item.segments[0] = (struct ek_segment){item_text(arm), item_text(value)};
    b.item.segments[1] = (struct ek_segment){item_text("market"), item_text("")};
    ck_assert_int_eq(ek_assembly_add(b.a, &b.item, 0, 0, 7, NULL), EK_OK);
    memset(arm, '-', sizeof arm); /* the message is freed */
    memset(value, '-', sizeof value);
    item_make(&b.item, "q1", "b", 2, 2);
    ck_assert_int_eq(ek_assembly_add(b.a, &b.item, 0, 0, 7, NULL), EK_OK);
    b.now_ms = 0;
    ck_assert(next(&b));
    ck_assert_int_eq(b.list.segment_count, 2);
    ck_assert(ek_text_same(ek_list_segment(&b.list, "arm"), item_text("B")));
    ck_assert(ek_text_same(ek_list_segment(&b.list, "market"), item_text("")));
    close_bench(&b);
}
END_TEST

START_TEST(queries_come_in_between_each_other_and_items_in_any_order)
{
    struct bench b;
    open_bench(&b);
    add(&b, "q1", "b", 2, 2);
    add(&b, "q2", "a", 3, 5);
    add(&b, "q2", "c", 3, 7);
    add(&b, "q1", "a", 2, 1);
    ck_assert(next(&b));
    is_list(&b, 2, (const float[]){2, 1});
    add(&b, "q2", "b", 3, 6);
    ck_assert(next(&b));
    is_list(&b, 3, (const float[]){5, 7, 6});
    close_bench(&b);
}
END_TEST

START_TEST(a_list_of_which_items_are_missing_is_given_out_when_its_time_is_over)
{
    struct bench b;
    open_bench(&b);
    add(&b, "q1", "a", 3, 1);
    add(&b, "q1", "b", 3, 2);
    b.now_ms += WITHIN_MS - 1;
    ck_assert(!next(&b));
    b.now_ms++;
    ck_assert(next(&b));
    is_list(&b, 2, (const float[]){1, 2});
    ck_assert(ek_list_is_partial(&b.list));
    ck_assert_uint_eq(ek_assembly_get_counts(b.a).incomplete, 1);
    ck_assert(!next(&b));
    close_bench(&b);
}
END_TEST

START_TEST(so_is_one_of_which_nobody_says_how_many_items_it_has)
{
    struct bench b;
    open_bench(&b);
    add(&b, "q1", "a", 0, 1);
    add(&b, "q1", "b", 0, 2);
    b.now_ms += WITHIN_MS;
    ck_assert(next(&b));
    is_list(&b, 2, (const float[]){1, 2});
    ck_assert(!ek_list_is_partial(&b.list));
    ck_assert_uint_eq(ek_assembly_get_counts(b.a).unknown, 1);
    close_bench(&b);
}
END_TEST

START_TEST(an_item_that_comes_too_late_makes_no_second_list)
{
    struct bench b;
    open_bench(&b);
    add(&b, "q1", "a", 2, 1);
    add(&b, "q1", "b", 2, 2);
    ck_assert(next(&b));
    add(&b, "q1", "c", 2, 3);
    add(&b, "q1", "a", 2, 1);
    ck_assert_uint_eq(ek_assembly_get_counts(b.a).late, 2);
    b.now_ms += WITHIN_MS;
    ck_assert(!next(&b));
    add(&b, "q1", "d", 1, 4); /* the id is reused */
    ck_assert(next(&b));
    is_list(&b, 1, (const float[]){4});
    close_bench(&b);
}
END_TEST

START_TEST(an_item_that_is_repeated_counts_once)
{
    struct bench b;
    open_bench(&b);
    add(&b, "q1", "a", 3, 1);
    add(&b, "q1", "a", 3, 1);
    add(&b, "q1", "b", 3, 2);
    add(&b, "q1", "a", 3, 9);
    ck_assert(!next(&b));
    add(&b, "q1", "c", 3, 3);
    ck_assert(next(&b));
    is_list(&b, 3, (const float[]){1, 2, 3});
    ck_assert_uint_eq(ek_assembly_get_counts(b.a).repeated, 2);
    close_bench(&b);
}
END_TEST

START_TEST(items_without_ids_are_taken_for_different_ones)
{
    struct bench b;
    open_bench(&b);
    add(&b, "q1", NULL, 2, 1);
    add(&b, "q1", NULL, 2, 1);
    ck_assert(next(&b));
    is_list(&b, 2, (const float[]){1, 1});
    ck_assert_ptr_null(b.list.item_id[0].text);
    close_bench(&b);
}
END_TEST

START_TEST(ids_of_the_list_tell_the_same_items_from_others)
{
    struct bench b;
    char first[8];
    open_bench(&b);
    add(&b, "q1", "a", 1, 1);
    ck_assert(next(&b));
    memcpy(first, b.list.item_id[0].text, sizeof first);
    add(&b, "q2", "a", 1, 1);
    ck_assert(next(&b));
    ck_assert_mem_eq(first, b.list.item_id[0].text, sizeof first);
    add(&b, "q3", "b", 1, 1);
    ck_assert(next(&b));
    ck_assert_mem_ne(first, b.list.item_id[0].text, sizeof first);
    close_bench(&b);
}
END_TEST

START_TEST(a_query_keeps_the_plan_it_was_met_with)
{
    struct bench b;
    uint64_t plan = 0;
    open_bench(&b);
    item_make(&b.item, "q1", "a", 2, 1);
    ck_assert(!ek_assembly_plan(b.a, &b.item, &plan));
    add(&b, "q1", "a", 2, 1);
    item_make(&b.item, "q1", "b", 2, 2);
    ck_assert_int_eq(ek_assembly_add(b.a, &b.item, 0, b.now_ms, 8, NULL), EK_OK);
    ck_assert(ek_assembly_plan(b.a, &b.item, &plan));
    ck_assert_uint_eq(plan, 7);
    ck_assert(next(&b));
    ck_assert(ek_assembly_plan(b.a, &b.item, &plan)); /* for late items */
    ck_assert_uint_eq(plan, 7);
    ek_assembly_set_plan(b.a, &b.item, 9);
    ck_assert(ek_assembly_plan(b.a, &b.item, &plan));
    ck_assert_uint_eq(plan, 9);
    b.now_ms += WITHIN_MS;
    ck_assert(!next(&b));
    ck_assert(!ek_assembly_plan(b.a, &b.item, &plan));
    close_bench(&b);
}
END_TEST

START_TEST(of_too_many_queries_the_oldest_is_forgotten_and_its_list_given_out)
{
    struct bench b;
    uint64_t plan;
    open_with(&b, (struct ek_assembly_limits){.queries = 3});
    add(&b, "q1", "a", 2, 1);
    add(&b, "q2", "a", 2, 2);
    ck_assert(!next(&b));
    add(&b, "q3", "a", 2, 3);
    ck_assert(next(&b));
    is_list(&b, 1, (const float[]){1});
    add(&b, "q2", "b", 2, 4);
    ck_assert(next(&b));
    is_list(&b, 2, (const float[]){2, 4});
    item_make(&b.item, "q1", "b", 2, 1);
    ck_assert(!ek_assembly_plan(b.a, &b.item, &plan));
    struct ek_assembly_counts c = ek_assembly_get_counts(b.a);
    ck_assert_uint_eq(c.evicted, 1);
    ck_assert_uint_eq(c.incomplete, 1);
    ck_assert_uint_eq(c.complete, 1);
    close_bench(&b);
}
END_TEST

/* Queue two lists under a limit. Return whether the first is evicted. */
static bool first_goes(size_t limit, size_t *bytes)
{
    struct bench b;
    open_with(&b, (struct ek_assembly_limits){.bytes = limit});
    add(&b, "q1", "a", 2, 1);
    add(&b, "q2", "a", 2, 2);
    *bytes = ek_assembly_bytes(b.a);
    bool goes = next(&b);
    close_bench(&b);
    return goes;
}

START_TEST(lists_wait_in_as_much_memory_as_the_limit_says_and_no_more)
{
    size_t bytes, same;
    ck_assert(!first_goes(100000, &bytes));
    ck_assert(!first_goes(bytes + 1, &same));
    ck_assert(!first_goes(bytes, &same));
    ck_assert(first_goes(bytes - 1, &same));
    ck_assert_uint_eq(same, bytes);
}
END_TEST

START_TEST(memory_stays_within_its_limit)
{
    enum { LIMIT = 100000, QUERIES = 3000 };
    struct bench b;
    char name[16];
    int given = 0;
    size_t most = 0;
    open_with(&b, (struct ek_assembly_limits){.bytes = LIMIT, .within_ms = 1 << 30});
    for (int i = 0; i < QUERIES; i++) {
        snprintf(name, sizeof name, "q%d", i);
        for (int k = 0; k < 1 + i % 40; k++) {
            item_make(&b.item, name, NULL, 0, (float)i);
            ck_assert_int_eq(ek_assembly_add(b.a, &b.item, 0, b.now_ms, 7, NULL), EK_OK);
            while (next(&b)) {
                ck_assert(b.list.x[0] == (float)given); /* oldest first */
                given++;
            }
            size_t bytes = ek_assembly_bytes(b.a);
            most = bytes > most ? bytes : most;
        }
    }
    ck_assert_uint_le(most, LIMIT + 5000); /* a list during its completion */
    ck_assert_uint_ge(most, LIMIT / 2);
    ck_assert_int_gt(given, QUERIES / 2);
    close_bench(&b);
}
END_TEST

START_TEST(a_list_has_no_more_items_than_lists_may_have)
{
    struct bench b;
    open_with(&b, (struct ek_assembly_limits){.items = 2});
    add(&b, "q1", "a", 3, 1);
    add(&b, "q1", "b", 3, 2);
    ck_assert(next(&b));
    is_list(&b, 2, (const float[]){1, 2});
    add(&b, "q1", "c", 3, 3);
    ck_assert(!next(&b));
    struct ek_assembly_counts c = ek_assembly_get_counts(b.a);
    ck_assert_uint_eq(c.incomplete, 1);
    ck_assert_uint_eq(c.late, 1);
    close_bench(&b);
}
END_TEST

START_TEST(a_clock_that_went_back_ends_what_began_after_it)
{
    struct bench b;
    open_bench(&b);
    add(&b, "q1", "a", 2, 1);
    b.now_ms -= 4000;
    ck_assert(next(&b));
    is_list(&b, 1, (const float[]){1});
    close_bench(&b);
}
END_TEST

START_TEST(the_end_of_the_stream_gives_out_all_lists)
{
    struct bench b;
    open_bench(&b);
    add(&b, "q1", "a", 2, 1);
    add(&b, "q2", "a", 0, 2);
    b.now_ms = INT64_MAX;
    ck_assert(next(&b));
    is_list(&b, 1, (const float[]){1});
    ck_assert(next(&b));
    is_list(&b, 1, (const float[]){2});
    ck_assert(!next(&b));
    close_bench(&b);
}
END_TEST

static void write_state(struct bench *b, struct ek_buf *out)
{
    struct ek_serialize s = {.out = out};
    ek_buf_init(out, 0);
    ek_assembly_serialize(b->a, &s);
    ck_assert_int_eq(s.rc, EK_OK);
}

static int read_state(struct bench *b, const struct ek_buf *bytes, size_t length)
{
    struct ek_serialize s = {.at = bytes->data, .end = bytes->data + length};
    ek_assembly_serialize(b->a, &s);
    return s.rc ? s.rc : s.at == s.end ? EK_OK : EK_EFORMAT;
}

/* q1 has two of three items, q2 is complete. */
static void fill(struct bench *b)
{
    add(b, "q1", "a", 3, 1);
    add(b, "q1", "b", 3, 2);
    add(b, "q2", "a", 1, 3);
    ck_assert(next(b));
}

START_TEST(what_was_saved_goes_on_short_and_counts_no_list_twice)
{
    struct bench b, then;
    struct ek_buf bytes;
    uint64_t plan;
    open_bench(&b);
    open_bench(&then);
    fill(&b);
    write_state(&b, &bytes);
    ck_assert_int_eq(read_state(&then, &bytes, bytes.length), EK_OK);
    ck_assert_uint_eq(ek_assembly_pending(then.a), 1);
    ck_assert(!next(&then));
    add(&then, "q2", "b", 1, 4);
    ck_assert_uint_eq(ek_assembly_get_counts(then.a).late, 1);
    item_make(&then.item, "q1", "c", 3, 5);
    ck_assert(ek_assembly_plan(then.a, &then.item, &plan));
    ck_assert_uint_eq(plan, 7);
    add(&then, "q1", "c", 3, 5);
    ck_assert(next(&then)); /* the third of three */
    is_list(&then, 1, (const float[]){5});
    ck_assert_uint_eq(ek_assembly_pending(then.a), 0);
    ek_buf_release(&bytes);
    close_bench(&b);
    close_bench(&then);
}
END_TEST

START_TEST(a_state_is_read_as_written_and_never_beyond_its_end)
{
    struct bench b, then;
    struct ek_buf bytes, again;
    open_bench(&b);
    fill(&b);
    write_state(&b, &bytes);
    for (size_t cut = 0; cut < bytes.length; cut++) {
        open_bench(&then);
        ck_assert_int_eq(read_state(&then, &bytes, cut), EK_EFORMAT);
        close_bench(&then);
    }
    open_bench(&then);
    ck_assert_int_eq(read_state(&then, &bytes, bytes.length), EK_OK);
    write_state(&then, &again);
    ck_assert_uint_eq(again.length, bytes.length);
    ck_assert_mem_eq(again.data, bytes.data, bytes.length);
    ck_assert_int_eq(read_state(&then, &bytes, bytes.length), EK_EFORMAT); /* already present */
    ek_buf_release(&bytes);
    ek_buf_release(&again);
    close_bench(&b);
    close_bench(&then);
}
END_TEST

START_TEST(a_smaller_table_keeps_the_newest_of_a_state)
{
    struct bench b, then;
    struct ek_buf bytes;
    uint64_t plan;
    char name[8];
    open_bench(&b);
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "q%d", i);
        add(&b, name, "a", 2, 1);
    }
    write_state(&b, &bytes);
    open_with(&then, (struct ek_assembly_limits){.queries = 4});
    ck_assert_int_eq(read_state(&then, &bytes, bytes.length), EK_OK);
    ck_assert(!next(&then));
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof name, "q%d", i);
        item_make(&then.item, name, "a", 2, 1);
        ck_assert_int_eq(ek_assembly_plan(then.a, &then.item, &plan), i >= 7);
    }
    ek_buf_release(&bytes);
    close_bench(&b);
    close_bench(&then);
}
END_TEST

START_TEST(merging_gets_to_know_the_others_queries)
{
    struct bench b, other;
    uint64_t plan;
    open_bench(&b);
    open_bench(&other);
    fill(&other);
    add(&b, "q1", "z", 3, 9); /* present in both */
    ek_assembly_merge(b.a, other.a);
    ck_assert_uint_eq(ek_assembly_pending(b.a), 2);
    add(&b, "q2", "b", 1, 4);
    ck_assert_uint_eq(ek_assembly_get_counts(b.a).late, 1);
    ck_assert(ek_assembly_plan(b.a, &b.item, &plan));
    ck_assert_uint_eq(plan, EK_NO_PLAN);
    item_make(&b.item, "q1", "a", 3, 1);
    ck_assert(ek_assembly_plan(b.a, &b.item, &plan));
    ck_assert_uint_eq(plan, 7);
    close_bench(&b);
    close_bench(&other);
}
END_TEST

static struct ek_plan *plan_of(uint64_t version, int cell, double value)
{
    struct ek_plan *p = calloc(1, sizeof *p);
    ck_assert_ptr_nonnull(p);
    p->version = version;
    p->count = 2;
    p->entry[0] = ek_plan_entry_init(0, 0, (struct ek_treatment){EK_ACT_ROUTE, 0});
    p->entry[1] = ek_plan_entry_init(1, cell, (struct ek_treatment){EK_ACT_REPAIR, value});
    return p;
}

static uint64_t keep(struct ek_plan_history *past, uint64_t version, int cell, double value)
{
    uint64_t number;
    struct ek_plan *p = plan_of(version, cell, value);
    ck_assert_int_eq(ek_plan_history_add(past, p, &number), EK_OK);
    free(p);
    return number;
}

START_TEST(plans_of_before_stay_as_they_were)
{
    struct ek_plan_history past = {.count = 0};
    uint64_t first = keep(&past, 1, 3, 100);
    ck_assert_uint_eq(keep(&past, 1, 3, 100), first);
    ck_assert_uint_ne(keep(&past, 1, 3, 99), first); /* a better value within the version */
    uint64_t newest = keep(&past, 2, 3, 99);
    ck_assert(ek_plan_history_find(&past, first)->entry[1].treatment.value == 100);
    ck_assert_uint_eq(ek_plan_history_find(&past, newest)->version, 2);
    ek_plan_history_reset_cell(&past, 3);
    ck_assert_int_eq(ek_plan_history_find(&past, first)->count, 1);
    ck_assert_int_eq(ek_plan_history_find(&past, first)->entry[0].cell, 0);
    for (int i = 0; i < EK_PLAN_HISTORY - 3; i++)
        keep(&past, 3 + (uint64_t)i, 4, 1);
    ck_assert_ptr_nonnull(ek_plan_history_find(&past, first));
    keep(&past, 99, 4, 1);
    ck_assert_ptr_null(ek_plan_history_find(&past, first));
    ck_assert_ptr_null(ek_plan_history_find(&past, EK_NO_PLAN));
    ek_plan_history_release(&past);
}
END_TEST

START_TEST(plans_of_before_survive_a_restart)
{
    struct ek_plan_history past = {.count = 0}, then = {.count = 0};
    struct ek_buf bytes;
    ek_buf_init(&bytes, 0);
    for (int i = 0; i < 20; i++)
        keep(&past, (uint64_t)i, 3, 1 + i);
    struct ek_serialize out = {.out = &bytes};
    ek_plan_history_serialize(&past, &out, 2, 5);
    struct ek_serialize in = {.at = bytes.data, .end = bytes.data + bytes.length};
    ek_plan_history_serialize(&then, &in, 2, 5);
    ck_assert_int_eq(in.rc, EK_OK);
    ck_assert_ptr_eq(in.at, in.end);
    for (uint64_t i = 0; i < 20; i++) {
        const struct ek_plan *was = ek_plan_history_find(&past, i), *is;
        is = ek_plan_history_find(&then, i);
        ck_assert_int_eq(was != NULL, i >= 20 - EK_PLAN_HISTORY);
        ck_assert_int_eq(is != NULL, was != NULL);
        ck_assert(!is || (is->version == i && is->entry[1].treatment.value == 1. + (double)i));
    }
    ek_buf_release(&bytes);
    ek_plan_history_release(&past);
    ek_plan_history_release(&then);
}
END_TEST

Suite *suite_assembly(void)
{
    return ek_suite(
        "assembly", a_list_is_given_out_once_it_has_all_of_its_items,
        a_list_has_the_segments_of_its_first_item,
        queries_come_in_between_each_other_and_items_in_any_order,
        a_list_of_which_items_are_missing_is_given_out_when_its_time_is_over,
        so_is_one_of_which_nobody_says_how_many_items_it_has,
        an_item_that_comes_too_late_makes_no_second_list, an_item_that_is_repeated_counts_once,
        items_without_ids_are_taken_for_different_ones,
        ids_of_the_list_tell_the_same_items_from_others, a_query_keeps_the_plan_it_was_met_with,
        of_too_many_queries_the_oldest_is_forgotten_and_its_list_given_out,
        lists_wait_in_as_much_memory_as_the_limit_says_and_no_more, memory_stays_within_its_limit,
        a_list_has_no_more_items_than_lists_may_have,
        a_clock_that_went_back_ends_what_began_after_it, the_end_of_the_stream_gives_out_all_lists,
        what_was_saved_goes_on_short_and_counts_no_list_twice,
        a_state_is_read_as_written_and_never_beyond_its_end,
        a_smaller_table_keeps_the_newest_of_a_state, merging_gets_to_know_the_others_queries,
        plans_of_before_stay_as_they_were, plans_of_before_survive_a_restart);
}
