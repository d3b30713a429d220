/* Learned levels: when an item has one, which items are kept, and the saved form. */
#include "assets/learned_levels.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>

enum { FEATURES = 2, GAP = EK_LEARNED_GAP, LISTS = EK_LEARNED_LISTS };

static struct ek_learned_levels *new_table(void)
{
    static const float far[FEATURES] = {1, 1};
    struct ek_learned_levels *t = NULL;
    ck_assert_int_eq(ek_learned_levels_new(&t, far, FEATURES), EK_OK);
    return t;
}

/* Add an item in `lists` lists, `gap` apart, from list `first`. */
static void add_item(struct ek_learned_levels *t, const char *id, float a, float b, int lists,
                     uint64_t first, uint64_t gap)
{
    const float ln[FEATURES] = {a, b};
    for (int i = 0; i < lists; i++)
        ek_learned_levels_add(t, ek_text_from(id), ln, first + (uint64_t)i * gap);
}

static float level_of(const struct ek_learned_levels *t, const char *id, int feature)
{
    const float *level = ek_learned_levels_find(t, ek_text_from(id));
    return level ? level[feature] : INFINITY;
}

START_TEST(a_level_is_the_mean_of_lists_that_are_apart)
{
    struct ek_learned_levels *t = new_table();
    ck_assert(!ek_learned_levels_has_items(t));
    ck_assert_ptr_null(ek_learned_levels_find(t, ek_text_from("a")));
    add_item(t, "a", 2, NAN, LISTS / 2, 100, GAP);
    add_item(t, "a", 9, 9, 5, 100 + GAP * (LISTS / 2) - GAP + 1, 1); /* too close to the last */
    ck_assert(isnan(level_of(t, "a", 0)));
    add_item(t, "a", 2.5F, 4, LISTS / 2, 1000, GAP);
    ck_assert_float_eq_tol(level_of(t, "a", 0), 2.25F, 1e-6F);
    ck_assert(isnan(level_of(t, "a", 1))); /* half of the lists had no value */
    add_item(t, "a", 2.8F, 4, LISTS, 5000, GAP);
    ck_assert_float_eq_tol(level_of(t, "a", 0), 2.25F, 1e-6F);
    ck_assert_float_eq_tol(level_of(t, "a", 1), 4, 1e-6F);
    ek_learned_levels_add(t, (struct ek_text){NULL, 0}, (const float[]){1, 1}, 0);
    ek_learned_levels_free(t);
    ek_learned_levels_free(NULL);
}
END_TEST

START_TEST(a_value_far_from_the_mean_starts_again)
{
    struct ek_learned_levels *t = new_table();
    add_item(t, "a", 6, 1, LISTS - 1, 100, GAP);
    add_item(t, "a", 2, 1, LISTS - 1, 1000, GAP);
    ck_assert(isnan(level_of(t, "a", 0)));
    ck_assert_float_eq(level_of(t, "a", 1), 1);
    add_item(t, "a", 2, 1, 1, 5000, GAP);
    ck_assert_float_eq(level_of(t, "a", 0), 2);
    ek_learned_levels_free(t);
}
END_TEST

static uint64_t marks_of(const struct ek_learned_levels *t)
{
    uint64_t sum = 0;
    for (int i = 0; i < EK_LEARNED_BLOCKS; i++)
        sum += ek_learned_levels_mark(t, i);
    return sum;
}

/* So a checkpoint writes only the blocks that still learn. */
START_TEST(an_item_that_is_learned_changes_no_block_any_more)
{
    struct ek_learned_levels *t = new_table();
    add_item(t, "a", 6, 1, LISTS - 1, 100, GAP);
    uint64_t before = marks_of(t);
    add_item(t, "a", 6, 1, 1, 1000, GAP);
    uint64_t learned = marks_of(t);
    ck_assert_uint_ne(learned, before);
    add_item(t, "a", 6, 1, 5, 5000, GAP);
    ck_assert_uint_eq(marks_of(t), learned);
    ek_learned_levels_free(t);
}
END_TEST

static int count_known(const struct ek_learned_levels *t, int from, int to)
{
    char id[16];
    int known = 0;
    for (int i = from; i < to; i++) {
        snprintf(id, sizeof id, "i%d", i);
        known += level_of(t, id, 0) == (float)(i % 7);
    }
    return known;
}

static void add_items(struct ek_learned_levels *t, int from, int to, uint64_t first)
{
    char id[16];
    for (int i = from; i < to; i++) {
        snprintf(id, sizeof id, "i%d", i);
        add_item(t, id, (float)(i % 7), 0, LISTS, first, GAP);
    }
}

START_TEST(new_items_replace_those_not_seen_for_longest)
{
    struct ek_learned_levels *t = new_table();
    add_items(t, 0, EK_LEARNED_ITEMS / 4, 100);
    ck_assert_int_gt(count_known(t, 0, EK_LEARNED_ITEMS / 4), EK_LEARNED_ITEMS / 4 * 99 / 100);
    add_items(t, EK_LEARNED_ITEMS, 3 * EK_LEARNED_ITEMS, 10000);
    ck_assert_int_lt(count_known(t, 0, EK_LEARNED_ITEMS / 4), EK_LEARNED_ITEMS / 4 / 20);
    ck_assert_int_gt(count_known(t, EK_LEARNED_ITEMS, 3 * EK_LEARNED_ITEMS),
                     EK_LEARNED_ITEMS * 9 / 10);
    ek_learned_levels_free(t);
}
END_TEST

/* Write and read all blocks with items; return the number of blocks. */
static int copy_blocks(struct ek_learned_levels *from, struct ek_learned_levels *to, int damage)
{
    int blocks = 0;
    for (int i = 0; i < EK_LEARNED_BLOCKS; i++) {
        struct ek_buf b;
        if (!ek_learned_levels_mark(from, i))
            continue;
        ek_buf_init(&b, 0);
        struct ek_serialize out = {.out = &b};
        ek_learned_levels_serialize(from, i, &out);
        ck_assert_int_eq(out.rc, EK_OK);
        struct ek_serialize in = {.at = b.data, .end = b.data + b.length - (size_t)damage};
        ek_learned_levels_serialize(to, i, &in);
        ck_assert_int_eq(in.rc, damage ? EK_EFORMAT : EK_OK);
        ck_assert(damage || in.at == in.end);
        ek_buf_release(&b);
        blocks++;
    }
    return blocks;
}

START_TEST(items_survive_being_saved_and_being_merged)
{
    struct ek_learned_levels *t = new_table(), *read = new_table(), *merged = new_table();
    add_items(t, 0, 100, 100);
    add_item(t, "young", 3, 3, 2, 100, GAP);
    int blocks = copy_blocks(t, read, 0);
    ck_assert_int_gt(blocks, 10);
    ck_assert_int_lt(blocks, EK_LEARNED_BLOCKS);
    ck_assert_int_eq(count_known(read, 0, 100), 100);
    add_item(read, "young", 3, 3, LISTS - 2, 1000, GAP);
    ck_assert_float_eq(level_of(read, "young", 0), 3);
    add_item(merged, "i3", 5, 5, LISTS, 100, GAP);
    ek_learned_levels_merge(merged, read);
    ck_assert_float_eq(level_of(merged, "i3", 0), 5);
    ck_assert_int_eq(count_known(merged, 0, 100), 99);
    struct ek_learned_levels *damaged = new_table();
    copy_blocks(t, damaged, 1);
    ek_learned_levels_free(t);
    ek_learned_levels_free(read);
    ek_learned_levels_free(merged);
    ek_learned_levels_free(damaged);
}
END_TEST

Suite *suite_learned_levels(void)
{
    return ek_suite(
        "learned_levels", a_level_is_the_mean_of_lists_that_are_apart,
        a_value_far_from_the_mean_starts_again, an_item_that_is_learned_changes_no_block_any_more,
        new_items_replace_those_not_seen_for_longest, items_survive_being_saved_and_being_merged);
}
