/* TREC runs and judgments. */
#include "daemon/tools/extract/extract_candidates.h"
#include "tests/check.h"

#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ek_trec_pairs *read_text(const char *text, enum ek_trec_kind kind, struct ek_error *e)
{
    struct ek_trec_pairs *p = NULL;
    char path[] = "/tmp/ek-pairs-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(ek_file_write(path, text, NULL), EK_OK);
    int rc = ek_trec_pairs_read(&p, path, kind, e);
    unlink(path);
    ck_assert((rc == EK_OK) == (p != NULL));
    return p;
}

START_TEST(a_run_keeps_the_order_of_its_lines)
{
    struct ek_trec_pairs *p = read_text(
        "b Q0 d9 1 7.5 me\na d3\n\nb\tQ0\td1\t2\t6\tme\na d2 0.5\nb d4\n", EK_TREC_RUN, NULL);
    size_t n;
    const struct ek_trec_pair *at = ek_trec_pairs_get(p, "b", &n);
    ck_assert_uint_eq(n, 3);
    ck_assert_str_eq(at[0].document, "d9");
    ck_assert_double_eq(at[0].number, 7.5);
    ck_assert_str_eq(at[1].document, "d1");
    ck_assert_str_eq(at[2].document, "d4");
    ck_assert(isnan(at[2].number));
    at = ek_trec_pairs_get(p, "a", &n);
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(at[0].document, "d3");
    ek_trec_pairs_get(p, "c", &n);
    ck_assert_uint_eq(n, 0);
    ek_trec_pairs_free(p);
}
END_TEST

START_TEST(a_label_is_found_by_query_and_document)
{
    struct ek_trec_pairs *p = read_text("1 0 x 2\n1 0 y -2\n2 0 x 1\n2 z 3\n", EK_TREC_QRELS, NULL);
    ck_assert_double_eq(ek_trec_label(p, "1", "x"), 2);
    ck_assert_double_eq(ek_trec_label(p, "1", "y"), 0); /* spam counts as irrelevant */
    ck_assert_double_eq(ek_trec_label(p, "2", "x"), 1);
    ck_assert_double_eq(ek_trec_label(p, "2", "z"), 3);
    ck_assert_double_eq(ek_trec_label(p, "2", "y"), 0);
    ck_assert_double_eq(ek_trec_label(NULL, "2", "x"), 0);
    ek_trec_pairs_free(p);
}
END_TEST

START_TEST(an_empty_file_has_no_pairs)
{
    struct ek_trec_pairs *p = read_text("", EK_TREC_QRELS, NULL);
    size_t n = 7;
    ck_assert_double_eq(ek_trec_label(p, "1", "x"), 0);
    ek_trec_pairs_get(p, "1", &n);
    ck_assert_uint_eq(n, 0);
    ek_trec_pairs_free(p);
}
END_TEST

START_TEST(many_pairs_keep_their_texts)
{
    static char text[60 * 5000];
    size_t used = 0, n;
    for (int i = 0; i < 5000; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "query-%d document-%d %d\n",
                                 i % 50, i, i);
    struct ek_trec_pairs *p = read_text(text, EK_TREC_RUN, NULL);
    const struct ek_trec_pair *at = ek_trec_pairs_get(p, "query-17", &n);
    ck_assert_uint_eq(n, 100);
    for (size_t i = 0; i < n; i++)
        ck_assert_double_eq(at[i].number, 17 + 50 * (double)i);
    ck_assert_str_eq(at[99].document, "document-4967");
    ek_trec_pairs_free(p);
}
END_TEST

START_TEST(lines_that_are_none_are_refused)
{
    static const struct {
        const char *text;
        enum ek_trec_kind kind;
        const char *want;
    } bad[] = {{"a\n", EK_TREC_RUN, "the line has 1 parts"},
               {"a b c d e f g\n", EK_TREC_RUN, "the line has 7 parts"},
               {"a b\n", EK_TREC_QRELS, "the line has 2 parts"},
               {"a 0 b nan\n", EK_TREC_QRELS, "invalid label 'nan'"},
               {"a b 1\na b 2\n", EK_TREC_RUN, "duplicate document 'b' of query 'a'"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ek_error e;
        ck_assert_ptr_null(read_text(bad[i].text, bad[i].kind, &e));
        ck_assert_int_eq(e.code, EK_EFORMAT);
        ck_assert_msg(strstr(e.message, bad[i].want) != NULL, "%s", e.message);
    }
}
END_TEST

Suite *suite_trec_pairs(void)
{
    return ek_suite("trec_pairs", a_run_keeps_the_order_of_its_lines,
                    a_label_is_found_by_query_and_document, an_empty_file_has_no_pairs,
                    many_pairs_keep_their_texts, lines_that_are_none_are_refused);
}
