/* The live view clips text to the terminal's lines and columns, and prints how many are hidden. */
#include "daemon/commands/live_view.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static void assert_drawn(const char *text, int columns, int rows, bool color, const char *want)
{
    char *drawn = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&drawn, &length);
    ek_live_view_draw(text, columns, rows, color, to);
    fclose(to);
    ck_assert_str_eq(drawn, want);
    free(drawn);
}

START_TEST(what_fits_is_drawn_line_by_line)
{
    assert_drawn("title\nbelow\n", 80, 24, false, "\033[H\033[Ktitle\n\033[Kbelow\n\033[J");
    assert_drawn("title\nbelow", 80, 24, true,
                 "\033[H\033[K\033[1mtitle\033[0m\n\033[Kbelow\n\033[J");
    assert_drawn("", 80, 24, true, "\033[H\033[J");
}
END_TEST

START_TEST(the_last_row_ends_without_a_line_or_all_would_move_up)
{
    assert_drawn("a\nb\n", 80, 2, false, "\033[H\033[Ka\n\033[Kb\033[J");
}
END_TEST

START_TEST(what_is_too_much_is_cut_and_told)
{
    assert_drawn("a\nb\nc\n", 80, 2, false, "\033[H\033[Ka\n\033[K... 2 more lines\033[J");
    /* Characters, not bytes. */
    assert_drawn("h\xc3\xb4tels\n", 3, 24, false, "\033[H\033[Kh\xc3\xb4t\n\033[J");
}
END_TEST

Suite *suite_live_view(void)
{
    return ek_suite("watch", what_fits_is_drawn_line_by_line,
                    the_last_row_ends_without_a_line_or_all_would_move_up,
                    what_is_too_much_is_cut_and_told);
}
