/* A progress line with any content fits its terminal. */
#include "daemon/base/command.h"
#include "tests/check.h"

#include <string.h>

static const char NOTE[] = "validation NDCG@10 0.6328";

START_TEST(a_progress_line_is_shorter_than_its_terminal)
{
    char line[512];
    for (int columns = 10; columns < 200; columns++) {
        ek_progress_line(line, sizeof line, columns, "training two models", .11, 8, NOTE);
        ck_assert_int_lt((int)strlen(line), columns);
    }
}
END_TEST

START_TEST(the_bar_gives_way_to_the_words)
{
    char line[512];
    ek_progress_line(line, sizeof line, 120, "training", .5, 8, NOTE);
    ck_assert_str_eq(line, "training [###############...............]  50%, 8 s left, "
                           "validation NDCG@10 0.6328");
    ek_progress_line(line, sizeof line, 62, "training", .5, 8, NOTE);
    ck_assert_str_eq(line, "training [####....]  50%, 8 s left, validation NDCG@10 0.6328");
    ek_progress_line(line, sizeof line, 60, "training", .5, 8, NOTE);
    ck_assert_str_eq(line, "training  50%, 8 s left, validation NDCG@10 0.6328");
    ek_progress_line(line, sizeof line, 80, "profile", 1, -1, NULL);
    ck_assert_str_eq(line, "profile [##############################] 100%");
}
END_TEST

Suite *suite_arguments(void)
{
    return ek_suite("cli", a_progress_line_is_shorter_than_its_terminal,
                    the_bar_gives_way_to_the_words);
}
