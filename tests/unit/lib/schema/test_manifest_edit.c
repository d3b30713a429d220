/* A section inserted into a file leaves every other byte unchanged and parses. */
#include "schema/manifest.h"
#include "schema/manifest_edit.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static const char SECTION[] = "normalization:\n  method: fdm\n";

static void becomes(const char *from, const char *want)
{
    struct ek_buf out;
    struct ek_error e;
    ek_buf_init(&out, 0);
    int rc =
        ek_manifest_set_section("m.yaml", from, strlen(from), "normalization", SECTION, &out, &e);
    ck_assert_msg(!rc, "%s", e.message);
    ck_assert_str_eq(ek_buf_string(&out), want);
    ek_buf_release(&out);
}

START_TEST(a_section_that_is_not_there_comes_last)
{
    becomes("set: a\n", "set: a\nnormalization:\n  method: fdm\n");
    becomes("set: a # b", "set: a # b\nnormalization:\n  method: fdm\n");
    becomes("set: a\n\n# the end\n", "set: a\n\n# the end\nnormalization:\n  method: fdm\n");
}
END_TEST

START_TEST(a_section_that_is_there_is_replaced_where_it_stands)
{
    becomes("# one\nnormalization: {method: osm,\n  features: {}}\n\n# two\nset: a\n",
            "# one\nnormalization:\n  method: fdm\n\n# two\nset: a\n");
    becomes("set: a\nnormalization:\n  method: osm\n  # at its end\n\n# three\n",
            "set: a\nnormalization:\n  method: fdm\n  # at its end\n\n# three\n");
    becomes("normalization: {}", "normalization:\n  method: fdm\n");
}
END_TEST

START_TEST(putting_it_twice_is_putting_it_once)
{
    static const char once[] = "set: a\nnormalization:\n  method: fdm\n# end\n";
    becomes(once, once);
}
END_TEST

START_TEST(what_stands_beside_a_section_stays)
{
    becomes("normalization:\n  method: osm\n # of features\nset: a\n",
            "normalization:\n  method: fdm\n # of features\nset: a\n");
    becomes("set: a\nnormalization:\n  method: osm\n...\n",
            "set: a\nnormalization:\n  method: fdm\n...\n");
    becomes("set: a\n# b\n... # end\n# c\n",
            "set: a\n# b\nnormalization:\n  method: fdm\n... # end\n# c\n");
    becomes("set: |\n  ...\n  b\n...", "set: |\n  ...\n  b\nnormalization:\n  method: fdm\n...");
    becomes("\xef\xbb\xbfnormalization: {}\nset: a\n",
            "\xef\xbb\xbfnormalization:\n  method: fdm\nset: a\n");
}
END_TEST

START_TEST(breaks_that_are_no_line_feed_shift_nothing)
{
    static const char *const breaks[] = {"\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        char from[200], want[200];
        const char *b = breaks[i];
        snprintf(from, sizeof from,
                 "note: 'a%s b'\nnormalization: {features: {a: 'x%s y'}}\n"
                 "labels: {}\nset: a\n",
                 b, b);
        snprintf(want, sizeof want,
                 "note: 'a%s b'\nnormalization:\n  method: fdm\n"
                 "labels: {}\nset: a\n",
                 b);
        becomes(from, want);
        snprintf(from, sizeof from, "set: a%s", b);
        snprintf(want, sizeof want, "set: a%snormalization:\n  method: fdm\n", b);
        becomes(from, want);
    }
}
END_TEST

START_TEST(line_ends_and_indentation_are_those_of_the_file)
{
    becomes("set: a\r\nlabels: {}\r\n",
            "set: a\r\nlabels: {}\r\nnormalization:\r\n  method: fdm\r\n");
    becomes("set: a\r\nlabels: {}", "set: a\r\nlabels: {}\r\nnormalization:\r\n  method: fdm\r\n");
    becomes("  set: a\n  labels: {}\n",
            "  set: a\n  labels: {}\n  normalization:\n    method: fdm\n");
    becomes("  normalization:\n    method: osm\n  # of set\n  set: a\n",
            "  normalization:\n    method: fdm\n  # of set\n  set: a\n");
}
END_TEST

START_TEST(what_is_no_block_of_keys_is_refused)
{
    /* The last would add a newline to a text without one. */
    static const char *const bad[] = {
        "{set: a}", "[a]", "text", "a: [", "\t", "\xef\xbb\xbf{set: a}", "set: |\n  a"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ek_buf out;
        struct ek_error e;
        ek_buf_init(&out, 0);
        int rc = ek_manifest_set_section("m.yaml", bad[i], strlen(bad[i]), "normalization", SECTION,
                                         &out, &e);
        ck_assert_int_eq(rc, EK_ECONFIG);
        ck_assert_uint_eq(out.length, 0);
        ek_buf_release(&out);
    }
}
END_TEST

START_TEST(choices_are_read_and_change_nothing_else)
{
    static const char without[] = "features:\n"
                                  "  - {name: price, index: 1, role: item}\n"
                                  "  - {name: stars, index: 2, role: item}\n";
    static const char with[] = "normalization:\n"
                               "  method: fdm\n"
                               "  features: {stars: {scale: log_reversed, why: 'C3: all'}}\n"
                               "features:\n"
                               "  - {name: price, index: 1, role: item}\n"
                               "  - {name: stars, index: 2, role: item}\n";
    struct ek_manifest *a, *b;
    struct ek_error e;
    ck_assert(!ek_manifest_parse(&a, "a", without, strlen(without), &e));
    ck_assert_msg(!ek_manifest_parse(&b, "b", with, strlen(with), &e), "%s", e.message);
    ck_assert(a->hash == b->hash);
    ck_assert_ptr_null(a->scale_method);
    ck_assert_str_eq(b->scale_method, "fdm");
    ck_assert(b->item[0]->scale == EK_SCALE_NONE && !b->item[0]->scale_why);
    ck_assert(b->item[1]->scale == EK_SCALE_LOG_REVERSED);
    ck_assert_str_eq(b->item[1]->scale_why, "C3: all");
    ek_manifest_free(a);
    ek_manifest_free(b);
}
END_TEST

Suite *suite_manifest_edit(void)
{
    return ek_suite("manifest_edit", a_section_that_is_not_there_comes_last,
                    a_section_that_is_there_is_replaced_where_it_stands,
                    putting_it_twice_is_putting_it_once, what_stands_beside_a_section_stays,
                    breaks_that_are_no_line_feed_shift_nothing,
                    line_ends_and_indentation_are_those_of_the_file,
                    what_is_no_block_of_keys_is_refused, choices_are_read_and_change_nothing_else);
}
