/* Rows that some of their cells did not observe. */
#include "detect/history.h"

#include "tests/check.h"
#include "tests/must.h"

#include <string.h>

enum { FEATURES = 1, CELLS = 3, ROWS = 3 };

/* Return a history of rows in cells 0, 1 and 4: observed in all, in cells 1 and 4, and in 4. */
static struct ek_history *rows_of(int64_t time_ms)
{
    struct ek_history *h;
    must(ek_history_new(&h, FEATURES, 0, CELLS));
    for (int i = 0; i < ROWS; i++) {
        struct ek_list_stats *record;
        float *query;
        struct ek_history_row *row = ek_history_push(h, &record, &query);
        memset(record, 0, FEATURES * sizeof *record);
        *row = (struct ek_history_row){.query = (uint64_t)i, .time_ms = time_ms + i};
        row->cell[0] = i < 1 ? 0 : ek_row_skipped(0);
        row->cell[1] = i < 2 ? 1 : ek_row_skipped(1);
        row->cell[2] = 4;
    }
    return h;
}

START_TEST(a_row_belongs_to_each_of_its_cells_and_is_observed_in_some)
{
    static const int cells[CELLS] = {0, 1, 4};
    struct ek_history *h = rows_of(0);
    for (uint64_t i = 0; i < ROWS; i++) {
        for (int c = 0; c < CELLS; c++) {
            ck_assert_int_eq(ek_history_row_in_cell(h, i, cells[c]), 1);
            ck_assert_int_eq(ek_history_is_observed(h, i, cells[c]), i <= (uint64_t)c);
        }
        ck_assert_int_eq(ek_history_row_in_cell(h, i, 2), 0);
    }
    ek_history_free(h);
}
END_TEST

START_TEST(a_cell_of_another_value_has_none_of_the_rows)
{
    struct ek_history *h = rows_of(0);
    ek_history_reset_cell(h, 1);
    for (uint64_t i = 0; i < ROWS; i++) {
        ck_assert_int_eq(ek_history_row_in_cell(h, i, 1), 0);
        ck_assert_int_eq(ek_history_row_in_cell(h, i, 0), 1);
        ck_assert_int_eq(ek_history_row(h, i)->cell[1], -1);
    }
    ek_history_free(h);
}
END_TEST

START_TEST(merged_rows_are_observed_in_the_same_cells_under_their_new_numbers)
{
    static const int16_t to[] = {0, 7, -1, -1, -1};
    static struct ek_row_order order;
    struct ek_history *h = rows_of(0), *other = rows_of(100);
    ek_row_order(h, other, &order);
    must(ek_history_merge(h, other, &order, to));
    ck_assert_uint_eq(ek_history_count(h), 2 * ROWS);
    for (uint64_t i = ROWS; i < 2 * ROWS; i++) {
        ck_assert_int_eq(ek_history_row_in_cell(h, i, 0), 1);
        ck_assert_int_eq(ek_history_row_in_cell(h, i, 7), 1);
        ck_assert_int_eq(ek_history_is_observed(h, i, 0), i == ROWS);
        ck_assert_int_eq(ek_history_is_observed(h, i, 7), i <= ROWS + 1);
        ck_assert_int_eq(ek_history_row(h, i)->cell[2], -1); /* a cell that this guard lacks */
    }
    ek_history_free(h);
    ek_history_free(other);
}
END_TEST

static int read_back(const struct ek_buf *bytes, int cells)
{
    struct ek_serialize s = {.at = bytes->data, .end = bytes->data + bytes->length};
    struct ek_history *h;
    must(ek_history_new(&h, FEATURES, 0, CELLS));
    ek_history_cells_serialize(h, &s, 0, ROWS, 1, cells);
    int rc = s.rc;
    for (uint64_t i = 0; !rc && i < ROWS; i++)
        ck_assert_int_eq(ek_history_row_in_cell(h, i, 1), 1);
    ek_history_free(h);
    return rc;
}

START_TEST(cells_that_do_not_exist_are_refused_in_rows_that_they_did_not_observe)
{
    struct ek_history *h = rows_of(0);
    struct ek_buf bytes;
    struct ek_serialize s = {.out = &bytes};
    ek_buf_init(&bytes, 0);
    for (uint64_t i = 0; i < ROWS; i++) {
        struct ek_history_row *row = (struct ek_history_row *)(uintptr_t)ek_history_row(h, i);
        row->cell[2] = ek_row_skipped(4);
    }
    ek_history_cells_serialize(h, &s, 0, ROWS, 1, 5);
    must(s.rc);
    ck_assert_int_eq(read_back(&bytes, 5), EK_OK);
    ck_assert_int_eq(read_back(&bytes, 4), EK_EFORMAT);
    ek_buf_release(&bytes);
    ek_history_free(h);
}
END_TEST

Suite *suite_history(void)
{
    return ek_suite("history", a_row_belongs_to_each_of_its_cells_and_is_observed_in_some,
                    a_cell_of_another_value_has_none_of_the_rows,
                    merged_rows_are_observed_in_the_same_cells_under_their_new_numbers,
                    cells_that_do_not_exist_are_refused_in_rows_that_they_did_not_observe);
}
