/* YAML text: line numbers equal the parser's, values end at their last character, and trees compare
 * completely. */
#include "yaml/yaml_text.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static struct ek_yaml *tree_of(const char *text)
{
    struct ek_yaml *y = NULL;
    struct ek_error e;
    ck_assert_msg(!ek_yaml_parse(&y, "t.yaml", text, strlen(text), &e), "%s", e.message);
    return y;
}

START_TEST(lines_are_counted_as_the_reader_counts_them)
{
    static const char *const breaks[] = {"\n",       "\r\n",         "\r",
                                         "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        char text[80];
        snprintf(text, sizeof text, "a: 1 # one%s# two%sb: 2%s", breaks[i], breaks[i], breaks[i]);
        struct ek_yaml *y = tree_of(text);
        const struct ek_node *b = &ek_yaml_root(y)->children[2];
        size_t at = ek_yaml_line_start(text, strlen(text), b->line);
        ck_assert_int_eq(b->line, 3);
        ck_assert_msg(text[at] == 'b', "break %zu: at %zu", i, at);
        ck_assert_uint_eq(ek_yaml_line_start(text, strlen(text), 4), strlen(text));
        ck_assert_uint_eq(ek_yaml_line_start(text, strlen(text), 9), strlen(text));
        ek_yaml_free(y);
    }
    ck_assert_uint_eq(ek_yaml_break("\xe2\x80", 2, 0), 0);
    ck_assert_uint_eq(ek_yaml_break("x", 1, 1), 0);
}
END_TEST

START_TEST(a_thing_ends_below_its_last_sign)
{
    static const struct {
        const char *text;
        long end; /* of the value of a */
    } cases[] = {
        {"a: 1\nb: 2\n", 2},
        {"a: 1 # x\n# y\n  # z\nb: 2\n", 2},
        {"a:\n  c: 1\n  d: [1,\n    2]\n  # x\n\nb: 2\n", 5},
        {"a:\n- 1\n- 2\n# x\nb: 2\n", 4},
        {"a:\n# x\nb: 2\n", 2},
        {"a:\n  c:\n# x\n\nb: 2\n", 3},
        {"? a\n# x\n\n", 2},
        {"a: {c: 1,\n  d: }\n# x\n", 3},
        {"a: |\n  one\n  two\n# x\nb: 2\n", 4},
        {"a: one\n  two\n\n# x\nb: 2\n", 3},
        {"a: 'one\n\n  two'\n# x\n", 4},
        {"a: 1", 2},
        {"a: 1\n...\n# x\n", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ek_yaml *y = tree_of(cases[i].text);
        long end = ek_node_get(ek_yaml_root(y), "a")->end_line;
        ck_assert_msg(end == cases[i].end, "case %zu: %ld", i, end);
        ek_yaml_free(y);
    }
}
END_TEST

static bool same(const char *a, const char *b, const char *but)
{
    struct ek_yaml *x = tree_of(a), *y = tree_of(b);
    bool is = but ? ek_node_same_but(ek_yaml_root(x), ek_yaml_root(y), &but, 1)
                  : ek_node_same(ek_yaml_root(x), ek_yaml_root(y));
    ek_yaml_free(x);
    ek_yaml_free(y);
    return is;
}

START_TEST(trees_are_the_same_where_every_value_is)
{
    static const char text[] = "a: [1, {b: c}]\nd: e\n";
    ck_assert(same(text, "# x\na:\n- 1\n- b: c\n\nd: e\n", NULL));
    ck_assert(!same(text, "a: [1, {b: x}]\nd: e\n", NULL));
    ck_assert(!same(text, "a: [1, {b: c}]\nd: 'e'\n", NULL));
    ck_assert(!same(text, "a: [1, {b: c}]\n", NULL));
    ck_assert(!same(text, "d: e\na: [1, {b: c}]\n", NULL));
    ck_assert(!same(text, "a: [1]\nd: e\n", NULL));
    ck_assert(!same("a: [b, c]\n", "a: {b: c}\n", NULL));
}
END_TEST

START_TEST(some_keys_may_differ_or_be_missing)
{
    ck_assert(same("a: 1\nb: 2\nc: 3\n", "a: 1\nb: 4\nc: 3\n", "b"));
    ck_assert(same("a: 1\nb: 2\nc: 3\n", "a: 1\nc: 3\n", "b"));
    ck_assert(same("a: 1\nc: 3\n", "a: 1\nc: 3\nb: [2]\n", "b"));
    ck_assert(!same("a: 1\nb: 2\nc: 3\n", "a: 1\nb: 2\n", "b"));
    ck_assert(!same("a: 1\n", "a: 1\nc: 3\nb: [2]\n", "b"));
    ck_assert(!same("a: 1\n", "[a]", "b"));
}
END_TEST

Suite *suite_yaml_text(void)
{
    return ek_suite("yaml_text", lines_are_counted_as_the_reader_counts_them,
                    a_thing_ends_below_its_last_sign, trees_are_the_same_where_every_value_is,
                    some_keys_may_differ_or_be_missing);
}
