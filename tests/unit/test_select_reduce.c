/* Manifests with fewer features: what stays of the text, and what it is read as. */
#include "daemon/select_reduce.h"
#include "tests/check.h"

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

/* The reduced text, as a string in `out`. */
static const char *reduced(const char *text, const bool *keep, struct ek_buf *out, bool *anew)
{
    struct ek_manifest *m = parsed(text, strlen(text));
    struct ek_buf whole;
    ek_buf_init(&whole, 0);
    ck_assert_int_eq(ek_buf_text(&whole, text), EK_OK);
    ck_assert_int_eq(ek_manifest_reduce(m, &whole, keep, out, anew, NULL), EK_OK);
    ek_manifest_free(m);
    ek_buf_release(&whole);
    return ek_buf_string(out);
}

START_TEST(what_stays_keeps_its_text_and_its_comments)
{
    struct ek_buf out;
    bool anew;
    ek_buf_init(&out, 0);
    ck_assert_str_eq(reduced(BLOCK, (const bool[]){false, true, false}, &out, &anew),
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
    ck_assert(!anew);
    reduced(BLOCK, (const bool[]){true, true, true}, &out, &anew);
    ck_assert(!anew && strstr(ek_buf_string(&out), "\nunused: [2, 9]\nfeatures:"));
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
    bool anew;
    ek_buf_init(&out, 0);
    reduced(line, (const bool[]){true, false, true}, &out, &anew);
    ck_assert(anew);
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

START_TEST(a_manifest_can_be_reduced_again_and_again)
{
    struct ek_buf once, twice;
    bool anew;
    ek_buf_init(&once, 0);
    ek_buf_init(&twice, 0);
    const char *text = reduced(BLOCK, (const bool[]){true, true, false}, &once, &anew);
    reduced(text, (const bool[]){true, false}, &twice, &anew);
    ck_assert(!anew);
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
    return ek_suite("select_reduce", what_stays_keeps_its_text_and_its_comments,
                    features_on_one_line_are_written_anew,
                    a_manifest_can_be_reduced_again_and_again);
}
