/* Reduced manifests: the text that remains, and its parsed form. */
#include "daemon/tools/select/select_reduce.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static const char BLOCK[] = "# Shop.\n"
                            "set: shop # the set\n"
                            "main_feature: price\n"
                            "currency_features:\n"
                            "  - price\n"
                            "  - taxes # on top\n"
                            "unused: [2, 9]\n"
                            "\n"
                            "features:\n"
                            "  # Money.\n"
                            "  - {name: price, index: 1, role: item, routable: true} # net\n"
                            "  - {name: taxes, index: 3, role: item,\n"
                            "     unit: EUR}\n"
                            "  # Others.\n"
                            "  - name: rating\n"
                            "    index: 4\n"
                            "    role: item\n"
                            "\n"
                            "  - {name: nights, index: 5, role: query} # stays\n"
                            "training: {epochs: 3}\n";

static struct ek_manifest *parsed(const char *text, size_t length)
{
    struct ek_manifest *m;
    struct ek_error e = {0};
    int rc = ek_manifest_parse(&m, "m", text, length, &e);
    ck_assert_msg(rc == EK_OK, "%s in:\n%.*s", e.message, (int)length, text);
    return m;
}

/* Return the reduced text, stored in `out`. */
static const char *reduced(const char *text, const bool *keep, struct ek_buf *out,
                           const char **reason)
{
    struct ek_manifest *m = parsed(text, strlen(text));
    struct ek_buf whole;
    ek_buf_init(&whole, 0);
    ck_assert_int_eq(ek_buf_text(&whole, text), EK_OK);
    ck_assert_int_eq(ek_manifest_reduce(m, &whole, keep, out, reason, NULL), EK_OK);
    ek_manifest_free(m);
    ek_buf_release(&whole);
    return ek_buf_string(out);
}

START_TEST(what_stays_keeps_its_text_and_its_comments)
{
    struct ek_buf out;
    const char *reason;
    ek_buf_init(&out, 0);
    ck_assert_str_eq(reduced(BLOCK, (const bool[]){false, true, false}, &out, &reason),
                     "# Shop.\n"
                     "set: shop # the set\n"
                     "currency_features: [taxes]\n"
                     "\n"
                     "unused: [1, 2, 4, 9]\n"
                     "features:\n"
                     "  # Money.\n"
                     "  - {name: taxes, index: 3, role: item,\n"
                     "     unit: EUR}\n"
                     "  # Others.\n"
                     "\n"
                     "  - {name: nights, index: 5, role: query} # stays\n"
                     "training: {epochs: 3}\n");
    ck_assert(!reason);
    reduced(BLOCK, (const bool[]){true, true, true}, &out, &reason);
    ck_assert(!reason && strstr(ek_buf_string(&out), "\nunused: [2, 9]\nfeatures:"));
    ek_buf_release(&out);
}
END_TEST

START_TEST(features_on_one_line_are_written_anew)
{
    static const char line[] =
        "{main_feature: \"a#\", currency_features: [b], derived_query_features: [log_list_size], "
        "training: {hidden: [8, 4], learning_rate: 0.01}, features: [{name: \"a#\", index: 2, "
        "role: item, positive: true}, {name: b, index: 1, role: item, routable: true, missing: "
        "expected, unit: \"a: b\", note: \"\\\"\"}, {name: c, index: 7, role: item, type: "
        "category}]}";
    struct ek_buf out;
    const char *reason;
    ek_buf_init(&out, 0);
    reduced(line, (const bool[]){true, false, true}, &out, &reason);
    ck_assert(reason);
    struct ek_manifest *m = parsed((const char *)out.data, out.length);
    ck_assert_int_eq(m->item_count, 2);
    ck_assert_ptr_null(m->main_feature);
    ck_assert(m->item[0]->is_money && m->item[0]->routable && m->item[0]->missing_expected);
    ck_assert_str_eq(m->item[0]->unit, "a: b");
    ck_assert_str_eq(m->item[0]->note, "\"");
    ck_assert_int_eq(m->item[1]->type, EK_TYPE_CATEGORY);
    ck_assert_int_eq(m->unused_count, 1);
    ck_assert_int_eq(m->unused[0], 2);
    ck_assert_int_eq(m->derived_count, 1);
    ck_assert_int_eq(m->training.hidden[1], 4);
    ck_assert_double_eq(m->training.learning_rate, 0.01);
    ck_assert_int_eq(m->training.epochs, -1);
    ek_manifest_free(m);
    ek_buf_release(&out);
}
END_TEST

/* Features a and b, of which b stays, with other lines above and below. */
#define AB "features:\n  - {name: a, index: 1, role: item}\n  - {name: b, index: 2, role: item}\n"

static void expect_reduced(const char *text, const char *want)
{
    struct ek_buf out;
    const char *reason;
    ek_buf_init(&out, 0);
    ck_assert_str_eq(reduced(text, (const bool[]){false, true}, &out, &reason), want);
    ck_assert_msg(!reason, "%s", reason);
    ek_buf_release(&out);
}

#define B_ONLY "unused: [1]\nfeatures:\n  - {name: b, index: 2, role: item}\n"

START_TEST(scales_of_what_goes_go_and_all_else_stays)
{
    expect_reduced("labels: {0: no}\n" AB "normalization: # chosen\n  method: fdm\n  features:\n"
                   "    a: {scale: log,\n      why: x}\n    # of b\n    b: {scale: minmax}\n# end\n"
                   "lightgbm: {x: 1}\n",
                   "labels: {0: no}\n" B_ONLY
                   "normalization: # chosen\n  method: fdm\n  features:\n"
                   "    # of b\n    b: {scale: minmax}\n# end\nlightgbm: {x: 1}\n");
    expect_reduced(AB "normalization:\n  features: {a: {scale: log}}\n...\n", B_ONLY "...\n");
    expect_reduced("  set: x\n  features:\n  - {name: a, index: 1, role: item}\n"
                   "  - {name: b, index: 2, role: item}\n  labels: {0: no}\n",
                   "  set: x\n  unused: [1]\n  features:\n  - {name: b, index: 2, role: item}\n"
                   "  labels: {0: no}\n");
}
END_TEST

START_TEST(lines_are_counted_and_ended_as_in_the_file)
{
    static const char *const breaks[] = {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9", "\r"};
    char text[400], want[400];
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof text, "set: x\n# %s# y\n" AB "labels: {0: no}\nsplits: {a: 1}\n",
                 breaks[i]);
        snprintf(want, sizeof want, "set: x\n# %s# y\n" B_ONLY "labels: {0: no}\nsplits: {a: 1}\n",
                 breaks[i]);
        expect_reduced(text, want);
    }
    expect_reduced("set: x\r\nfeatures:\r\n  - {name: a, index: 1, role: item}\r\n"
                   "  - {name: b, index: 2, role: item}\r\nlabels: {0: no}\r\n",
                   "set: x\r\nunused: [1]\r\nfeatures:\r\n  - {name: b, index: 2, role: item}\r\n"
                   "labels: {0: no}\r\n");
    /* Inside quotes the line break belongs to the value. */
    expect_reduced("features:\n  - {name: a, index: 1, role: item, note: \"x\xe2\x80\xa8y\"}\n"
                   "  - {name: b, index: 2, role: item}\nlabels: {0: no}\n",
                   B_ONLY "labels: {0: no}\n");
}
END_TEST

START_TEST(names_of_money_have_quotes_where_they_need_them)
{
    expect_reduced("currency_features: [\"a\", \"#fee\"]\n"
                   "features:\n  - {name: a, index: 1, role: item}\n"
                   "  - {name: \"#fee\", index: 2, role: item}\n",
                   "currency_features: [\"#fee\"]\nunused: [1]\n"
                   "features:\n  - {name: \"#fee\", index: 2, role: item}\n");
}
END_TEST

START_TEST(what_is_written_anew_loses_comments_only)
{
    static const char text[] =
        "{ # flow\nlabels: {0: 'no: #', 1: \"1\"}, splits: {train: [a, 'b c'], x: }, main_feature: "
        "b,\n"
        "currency_features: [\"#x\", b], lightgbm: {\"odd \\u2028\": [[1, {k: v}]]},\n"
        "features: [{name: \"#x\", index: 1, role: item}, {name: b, index: 2, role: item, note: "
        "\"\\u0085\\x7f\"}],\n"
        "normalization: {method: fdm, features: {\"#x\": {scale: log}, b: {scale: log, why: "
        "yes}}}}";
    struct ek_buf out;
    const char *reason;
    ek_buf_init(&out, 0);
    ck_assert_str_eq(reduced(text, (const bool[]){false, true}, &out, &reason),
                     "labels: {0: \"no: #\", 1: \"1\"}\n"
                     "splits:\n  train: [a, \"b c\"]\n  x: \n"
                     "main_feature: b\n"
                     "lightgbm:\n  \"odd \\u2028\":\n    - [1, {k: v}]\n"
                     "currency_features: [b]\nunused: [1]\n"
                     "features:\n  - {name: b, index: 2, role: item, note: \"\\u0085\\u007f\"}\n"
                     "normalization:\n  method: fdm\n  features:\n"
                     "    b: {scale: log, why: yes}\n");
    ck_assert_str_eq(reason, "its features share lines");
    reduced(text, (const bool[]){true, false}, &out, &reason);
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&out), "\"#x\": {scale: log}"));
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&out), "currency_features: [\"#x\"]"));
    ck_assert_ptr_null(strstr(ek_buf_string(&out), "main_feature"));
    ek_buf_release(&out);
}
END_TEST

START_TEST(a_manifest_can_be_reduced_again_and_again)
{
    struct ek_buf once, twice;
    const char *reason;
    ek_buf_init(&once, 0);
    ek_buf_init(&twice, 0);
    const char *text = reduced(BLOCK, (const bool[]){true, true, false}, &once, &reason);
    reduced(text, (const bool[]){true, false}, &twice, &reason);
    ck_assert(!reason);
    struct ek_manifest *m = parsed((const char *)twice.data, twice.length);
    ck_assert_int_eq(m->item_count, 1);
    ck_assert_str_eq(m->main_feature, "price");
    ck_assert_int_eq(m->unused_count, 4);
    ek_manifest_free(m);
    ek_buf_release(&once);
    ek_buf_release(&twice);
}
END_TEST

Suite *suite_select_reduce(void)
{
    return ek_suite(
        "select_reduce", what_stays_keeps_its_text_and_its_comments,
        features_on_one_line_are_written_anew, scales_of_what_goes_go_and_all_else_stays,
        lines_are_counted_and_ended_as_in_the_file, names_of_money_have_quotes_where_they_need_them,
        what_is_written_anew_loses_comments_only, a_manifest_can_be_reduced_again_and_again);
}
