/* Parts and folds. */
#include "tests/check.h"

#include "offline/scale/crossval.h"

#include <string.h>

START_TEST(parts_differ_by_one_list_at_most)
{
    struct ek_folds f;
    struct ek_error e;
    const size_t edges[] = {0, 5, 10, 15, 19, 23};
    ck_assert_int_eq(ek_folds_split(&f, 23, 5, &e), EK_OK);
    ck_assert_int_eq(f.parts, 5);
    ck_assert_mem_eq(f.edge, edges, sizeof edges);
    ck_assert_int_eq(ek_folds_split(&f, 7, 7, &e), EK_OK);
    for (size_t i = 0; i <= 7; i++)
        ck_assert_uint_eq(f.edge[i], i);
}
END_TEST

START_TEST(files_are_parts_as_they_are)
{
    struct ek_folds f;
    struct ek_error e;
    const size_t lists[] = {3, 1, 4, 2}, edges[] = {0, 3, 4, 8, 10};
    ck_assert_int_eq(ek_folds_from_parts(&f, lists, 4, &e), EK_OK);
    ck_assert_int_eq(f.parts, 4);
    ck_assert_mem_eq(f.edge, edges, sizeof edges);
}
END_TEST

START_TEST(too_few_lists_or_parts_are_told)
{
    struct ek_folds f;
    struct ek_error e;
    const size_t lists[] = {3, 0, 4};
    ck_assert_int_eq(ek_folds_split(&f, 4, 5, &e), EK_EUSAGE);
    ck_assert_str_eq(e.message, "4 lists are too few for 5 parts");
    ck_assert_int_eq(ek_folds_split(&f, 100, 2, &e), EK_EUSAGE);
    for (int parts = EK_FOLDS_MAX - 1; parts <= EK_FOLDS_MAX; parts++)
        ck_assert_int_eq(ek_folds_split(&f, 100, parts, &e), EK_OK);
    ck_assert_int_eq(ek_folds_split(&f, 100, EK_FOLDS_MAX + 1, &e), EK_EUSAGE);
    ck_assert_int_eq(ek_folds_from_parts(&f, lists, 3, &e), EK_EUSAGE);
    ck_assert_str_eq(e.message, "part 2 of 3 has no list");
}
END_TEST

/* Lists of one to three items; the feature, the label and the id are the number of the list. */
static void number_lists(struct ek_dataset *d, int lists)
{
    struct ek_list q;
    struct ek_error e;
    ek_dataset_init(d, 1, 0);
    ek_list_init(&q);
    for (int i = 0; i < lists; i++) {
        ck_assert_int_eq(ek_list_resize(&q, 1 + i % 3, 1, 0), EK_OK);
        q.has_label = true;
        for (int k = 0; k < q.items; k++)
            q.x[k] = q.label[k] = (float)i;
        ck_assert_int_eq(ek_dataset_add(d, &q, &e), EK_OK);
    }
    ek_list_release(&q);
}

/* Check that the part has those lists in order. */
static void has(const struct ek_dataset *part, const int *lists, size_t count)
{
    ck_assert_uint_eq(part->lists, count);
    for (size_t q = 0; q < count; q++) {
        ck_assert_uint_eq(part->offset[q + 1] - part->offset[q], 1 + (size_t)lists[q] % 3);
        for (size_t i = part->offset[q]; i < part->offset[q + 1]; i++) {
            ck_assert_float_eq(part->x[i], (float)lists[q]);
            ck_assert_float_eq(part->label[i], (float)lists[q]);
        }
    }
}

START_TEST(a_fold_trains_on_three_parts_validates_on_the_next_and_tests_on_the_last)
{
    struct ek_dataset d;
    struct ek_folds f;
    struct ek_fold first, fourth;
    struct ek_error e;
    number_lists(&d, 6);
    ck_assert_int_eq(ek_folds_split(&f, 6, 5, &e), EK_OK); /* 0 1 | 2 | 3 | 4 | 5 */
    ck_assert_int_eq(ek_fold_make(&first, &f, &d, 0, &e), EK_OK);
    has(&first.train, (const int[]){0, 1, 2, 3}, 4);
    has(&first.vali, (const int[]){4}, 1);
    has(&first.test, (const int[]){5}, 1);
    ck_assert_uint_eq(first.first_tested, 5);
    ck_assert_int_eq(ek_fold_make(&fourth, &f, &d, 3, &e), EK_OK);
    has(&fourth.train, (const int[]){4, 5, 0, 1}, 4);
    has(&fourth.vali, (const int[]){2}, 1);
    has(&fourth.test, (const int[]){3}, 1);
    ck_assert_uint_eq(fourth.first_tested, 3);
    ek_fold_release(&first);
    ek_fold_release(&fourth);
    ek_dataset_release(&d);
}
END_TEST

START_TEST(every_list_is_tested_once_and_never_in_the_fold_that_learned_from_it)
{
    struct ek_dataset d;
    struct ek_error e;
    number_lists(&d, 17);
    for (int parts = EK_FOLDS_MIN; parts <= 7; parts++) {
        struct ek_folds f;
        int tested[17] = {0};
        ck_assert_int_eq(ek_folds_split(&f, 17, parts, &e), EK_OK);
        for (int number = 0; number < parts; number++) {
            struct ek_fold fold;
            int seen[17] = {0};
            ck_assert_int_eq(ek_fold_make(&fold, &f, &d, number, &e), EK_OK);
            ck_assert_uint_eq(fold.train.lists + fold.vali.lists + fold.test.lists, 17);
            for (size_t i = 0; i < fold.train.items; i++)
                seen[(int)fold.train.label[i]] = 1;
            for (size_t q = 0; q < fold.test.lists; q++) {
                int list = (int)fold.test.label[fold.test.offset[q]];
                ck_assert_int_eq(list, (int)(fold.first_tested + q));
                ck_assert_int_eq(seen[list], 0);
                tested[list]++;
            }
            ek_fold_release(&fold);
        }
        for (int list = 0; list < 17; list++)
            ck_assert_int_eq(tested[list], 1);
    }
    ek_dataset_release(&d);
}
END_TEST

Suite *suite_folds(void)
{
    return ek_suite("folds", parts_differ_by_one_list_at_most, files_are_parts_as_they_are,
                    too_few_lists_or_parts_are_told,
                    a_fold_trains_on_three_parts_validates_on_the_next_and_tests_on_the_last,
                    every_list_is_tested_once_and_never_in_the_fold_that_learned_from_it);
}
