/* First manifest, derived from messages without one. */
#include "lists/codec_shape.h"

#include "lists/codec.h"
#include "schema/manifest.h"
#include "schema/units.h"
#include "tests/check.h"
#include "tests/must.h"

#include <stdio.h>
#include <string.h>

static const char BY_NAME[] =
    "{\"query\":\"q\",\"query_features\":{\"nights\":%d},\"items\":[{\"id\":\"a\",\"score\":1,"
    "\"features\":{\"price\":%g,\"flag\":%d,\"net-of-tax\":null}},{\"score\":[2],\"features\":"
    "{\"price\":7,\"flag\":0,\"late\":-1.5}}]}";

static const char WANTED[] =
    "version: 1\n"
    "# routable: what may change its scale; go over it, and over what is called an id, a flag or a "
    "code\n"
    "features:\n"
    "  - {name: price, index: 1, role: item, routable: true, positive: true} # 7 to 26.5\n"
    "  - {name: flag, index: 2, role: item} # a flag or a code? 0 to 1, whole, few values\n"
    "  - {name: \"net-of-tax\", index: 3, role: item, missing: expected} # no number came\n"
    "  - {name: late, index: 4, role: item, routable: true} # -1.5 to -1.5\n"
    "  - {name: nights, index: 5, role: query, positive: true, unit: nights} # 1 to 20\n";

static struct ek_shape *shape_of_names(void)
{
    struct ek_shape *s;
    char text[500];
    must(ek_shape_new(&s, NULL, NULL));
    for (int i = 0; i < 20; i++) {
        int n = snprintf(text, sizeof text, BY_NAME, i + 1, 7.5 + i, i % 2);
        must(ek_shape_add(s, text, (size_t)n, NULL));
    }
    return s;
}

START_TEST(names_signs_and_flags_are_told)
{
    struct ek_shape *s = shape_of_names();
    struct ek_buf out;
    ek_buf_init(&out, 0);
    must(ek_shape_manifest(s, &out, NULL));
    ck_assert_str_eq(ek_buf_string(&out), WANTED);
    ek_buf_release(&out);
    ek_shape_free(s);
}
END_TEST

static void expect_lines(struct ek_buf *manifest, const char *const *wanted, size_t count)
{
    const char *text = ek_buf_string(manifest);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(strstr(text, wanted[i]) != NULL, "no %s in %s", wanted[i], text);
}

static const char NAMED[] =
    "{\"query\":\"q\",\"items\":[{\"id\":\"a\",\"score\":1,\"features\":{\"price_eur\":%g,"
    "\"seller_id\":%d,\"ship_days\":%d,\"discount_pct\":%d,\"weight_kg\":1.5,\"is_prime\":1,"
    "\"size_bytes\":%d,\"far_km\":2.5,\"took_ms\":7.5,\"eur\":1.5,\"fun_g\":1.5,\"ctr\":0.25}}]}";

START_TEST(units_come_from_names_and_ids_have_no_scale)
{
    static const char *const wanted[] = {
        "price_eur, index: 1, role: item, routable: true, positive: true, unit: eur}",
        "seller_id, index: 2, role: item} # an id? 0 to 399\n",
        "ship_days, index: 3, role: item, routable: true, positive: true, unit: days} # 1 to 5",
        "discount_pct, index: 4, role: item, routable: true, unit: pct} # 0 to 30",
        "weight_kg, index: 5, role: item, routable: true, positive: true, unit: kg}",
        "is_prime, index: 6, role: item, positive: true} # a flag or a code?",
        "size_bytes, index: 7, role: item, routable: true, positive: true, unit: bytes}",
        "far_km, index: 8, role: item, routable: true, positive: true, unit: km}",
        "took_ms, index: 9, role: item, routable: true, positive: true, unit: ms}",
        "{name: eur, index: 10, role: item, routable: true, positive: true} #",
        "fun_g, index: 11, role: item, routable: true, positive: true, unit: g}",
        "ctr, index: 12, role: item, routable: true, positive: true, unit: fraction}"};
    struct ek_shape *s;
    struct ek_manifest *m;
    struct ek_buf out;
    char text[600];
    must(ek_shape_new(&s, NULL, NULL));
    for (int i = 0; i < 400; i++) {
        int n = snprintf(text, sizeof text, NAMED, 7.5 + i, i, 1 + i % 5, 10 * (i % 4), 1000 + i);
        must(ek_shape_add(s, text, (size_t)n, NULL));
    }
    ek_buf_init(&out, 0);
    must(ek_shape_manifest(s, &out, NULL));
    expect_lines(&out, wanted, sizeof wanted / sizeof *wanted);
    must(ek_manifest_parse(&m, "made", ek_buf_string(&out), out.length, NULL));
    for (int i = 0; i < m->item_count; i++) /* the catalog knows each proposed unit */
        if (m->item[i]->unit)
            ck_assert_ptr_nonnull(ek_units_measure(NULL, m->item[i]->unit).quantity);
    ek_manifest_free(m);
    ek_buf_release(&out);
    ek_shape_free(s);
}
END_TEST

static const char CAMEL_CASE[] =
    "{\"query\":\"q\",\"items\":[{\"id\":\"a\",\"score\":1,\"features\":{\"priceEUR\":%g,"
    "\"sellerId\":%d,\"durationMin\":%d.5,\"Co2Kg\":1.5,\"PRICE_USD\":2.5,\"Days\":1.5}}]}";

START_TEST(words_of_names_also_begin_with_capitals)
{
    static const char *const wanted[] = {
        "priceEUR, index: 1, role: item, routable: true, positive: true, unit: eur}",
        "sellerId, index: 2, role: item} # an id? 0 to 39\n",
        "durationMin, index: 3, role: item, routable: true, positive: true, unit: min}",
        "Co2Kg, index: 4, role: item, routable: true, positive: true, unit: kg}",
        "PRICE_USD, index: 5, role: item, routable: true, positive: true, unit: usd}",
        "Days, index: 6, role: item, routable: true, positive: true, unit: days}"};
    struct ek_shape *s;
    struct ek_buf out;
    char text[300];
    must(ek_shape_new(&s, NULL, NULL));
    for (int i = 0; i < 40; i++) {
        int n = snprintf(text, sizeof text, CAMEL_CASE, 7.5 + i, i, i);
        must(ek_shape_add(s, text, (size_t)n, NULL));
    }
    ek_buf_init(&out, 0);
    must(ek_shape_manifest(s, &out, NULL));
    expect_lines(&out, wanted, sizeof wanted / sizeof *wanted);
    ek_buf_release(&out);
    ek_shape_free(s);
}
END_TEST

START_TEST(values_without_names_are_numbered_and_the_manifest_is_valid)
{
    /* {"items": [{"features": bin of 1.5, NaN}, {"features": [2, 3.5]}], "query_features": [4]} */
    static const char message[] = "\x82\xa5items\x92\x81\xa8"
                                  "features\xc4\x08\0\0\xc0\x3f\0\0\xc0\x7f\x81\xa8"
                                  "features\x92\x02\xcb\x40\x0c\0\0\0\0\0\0\xae"
                                  "query_features\x91\x04";
    struct ek_shape *s;
    struct ek_manifest *m;
    struct ek_buf out;
    ek_buf_init(&out, 0);
    must(ek_shape_new(&s, NULL, NULL));
    must(ek_shape_add(s, message, sizeof message - 1, NULL));
    must(ek_shape_manifest(s, &out, NULL));
    must(ek_manifest_parse(&m, "made", ek_buf_string(&out), out.length, NULL));
    ck_assert_int_eq(m->item_count, 2);
    ck_assert_int_eq(m->query_count, 1);
    ck_assert_str_eq(m->item[0]->name, "item_1");
    ck_assert_str_eq(m->query[0]->name, "query_1");
    ck_assert(m->item[0]->routable && m->item[1]->missing_expected);
    ek_manifest_free(m);
    ek_buf_release(&out);
    ek_shape_free(s);
}
END_TEST

START_TEST(what_is_cut_or_no_list_is_refused)
{
    static const char whole[] = "\x81\xa5items\x91\x81\xa8"
                                "features\x92\x02\xcb\x40\x0c\0\0\0\0\0\0";
    struct ek_shape *s;
    struct ek_buf out;
    ek_buf_init(&out, 0);
    must(ek_shape_new(&s, NULL, NULL));
    ck_assert_int_eq(ek_shape_manifest(s, &out, NULL), EK_EFORMAT);
    for (size_t length = 0; length < sizeof whole - 1; length++)
        ck_assert_int_eq(ek_shape_add(s, whole, length, NULL), EK_EFORMAT);
    must(ek_shape_add(s, whole, sizeof whole - 1, NULL));
    ck_assert_int_eq(ek_shape_add(s, "{\"items\":3}", 11, NULL), EK_EFORMAT);
    ck_assert_int_eq(ek_shape_add(s, "[1]", 3, NULL), EK_EFORMAT);
    ek_buf_release(&out);
    ek_shape_free(s);
}
END_TEST

/* Nested fields with custom names; a map on the path may be nil. */
START_TEST(fields_are_where_the_mapping_has_them)
{
    static const char *const messages[] = {
        "{\"q\":null,\"out\":{\"features\":{\"z\":1},"
        "\"hits\":[{\"of\":{\"x\":{\"a\":1.5}},\"x\":{\"z\":1}}]}}",
        "{\"q\":{\"f\":{\"n\":20}},\"out\":{\"hits\":[{\"of\":{\"x\":{\"a\":2.5,\"b\":null}}}]},"
        "\"items\":[{\"features\":{\"z\":1}}],\"hits\":4}"};
    const struct ek_mapping own = {
        .items = "out.hits", .query_features = "q.f", .features = "of.x"};
    struct ek_shape *s;
    struct ek_buf out;
    ek_buf_init(&out, 0);
    must(ek_shape_new(&s, &own, NULL));
    for (int i = 0; i < 2; i++)
        must(ek_shape_add(s, messages[i], strlen(messages[i]), NULL));
    must(ek_shape_manifest(s, &out, NULL));
    ck_assert_str_eq(strstr(ek_buf_string(&out), "features:\n"),
                     "features:\n"
                     "  - {name: a, index: 1, role: item, routable: true, positive: true}"
                     " # 1.5 to 2.5\n"
                     "  - {name: b, index: 2, role: item, missing: expected} # no number came\n"
                     "  - {name: n, index: 3, role: query, positive: true}"
                     " # 20 to 20, whole, few values\n");
    ek_buf_release(&out);
    ek_shape_free(s);
}
END_TEST

static void made_of(const char *message, const char *features)
{
    struct ek_shape *s;
    struct ek_buf out;
    ek_buf_init(&out, 0);
    must(ek_shape_new(&s, NULL, NULL));
    must(ek_shape_add(s, message, strlen(message), NULL));
    must(ek_shape_manifest(s, &out, NULL));
    ck_assert_str_eq(strstr(ek_buf_string(&out), "features:\n"), features);
    ek_buf_release(&out);
    ek_shape_free(s);
}

START_TEST(what_is_no_number_stays_out_where_it_has_a_name)
{
    made_of("{\"items\":[{\"features\":{\"free\":true,\"a\":1.5,\"b\":2}},"
            "{\"features\":{\"b\":\"2\"}}]}",
            "features:\n"
            "  - {name: free, index: 1, role: item, positive: true} # a flag or a code? 1 to 1, "
            "whole, few values\n"
            "  - {name: a, index: 2, role: item, routable: true, positive: true} # 1.5 to 1.5\n"
            "  # left out: b, which at times is no number\n");
    made_of("{\"items\":[{\"features\":[\"x\",1.5]}]}",
            "features:\n"
            "  - {name: item_1, index: 1, role: item} # no number came\n"
            "  - {name: item_2, index: 2, role: item, routable: true, positive: true}"
            " # 1.5 to 1.5\n");
}
END_TEST

START_TEST(what_no_feature_may_be_called_stays_out)
{
    static const char why[] = ", for no feature may be called so: not with spaces, commas, equals "
                              "or control signs, nor empty or longer than 200 bytes\n";
    char longest[EK_NAME_BYTES_MAX + 1], message[1000], expected[2000];
    memset(longest, 'n', EK_NAME_BYTES_MAX);
    longest[EK_NAME_BYTES_MAX] = 0;
    snprintf(message, sizeof message,
             "{\"query_features\":{\"a\":1.5},\"items\":[{\"features\":{\"a\":1.5,\"stay "
             "nights\":1.5,\"b=c\":1.5,\"d\x7f\":1.5,"
             "\"\":1.5,\"%s\":1.5,\"%sn\":1.5}}]}",
             longest, longest);
    snprintf(expected, sizeof expected,
             "features:\n"
             "  - {name: a, index: 1, role: item, routable: true, positive: true} # 1.5 to 1.5\n"
             "  # left out: \"stay nights\"%s  # left out: \"b=c\"%s  # left out: \"d\\u007f\"%s"
             "  # left out: \"\"%s"
             "  - {name: %s, index: 2, role: item, routable: true, positive: true} # 1.5 to 1.5\n"
             "  # left out: %sn%s  # left out: a, for a feature of the items is called so, too\n",
             why, why, why, why, longest, longest, why);
    made_of(message, expected);
}
END_TEST

START_TEST(the_name_of_a_position_is_not_that_of_another_feature)
{
    made_of("{\"query_features\":[2.5],\"items\":[{\"features\":"
            "{\"query_1\":1.5,\"query_1_2\":1.5}}]}",
            "features:\n"
            "  - {name: query_1, index: 1, role: item, routable: true, positive: true}"
            " # 1.5 to 1.5\n"
            "  - {name: query_1_2, index: 2, role: item, routable: true, positive: true}"
            " # 1.5 to 1.5\n"
            "  - {name: query_1_3, index: 3, role: query, positive: true} # 2.5 to 2.5\n");
}
END_TEST

static void refused_as(const char *message, const char *why)
{
    struct ek_shape *s;
    struct ek_buf out;
    struct ek_error e;
    ek_buf_init(&out, 0);
    must(ek_shape_new(&s, NULL, NULL));
    must(ek_shape_add(s, message, strlen(message), NULL));
    ck_assert_int_eq(ek_shape_manifest(s, &out, &e), EK_EFORMAT);
    ck_assert_str_eq(e.message, why);
    ck_assert_uint_eq(out.length, 0);
    ek_buf_release(&out);
    ek_shape_free(s);
}

START_TEST(what_a_message_has_instead_is_told)
{
    char many[2000];
    size_t n = 0;
    refused_as("{\"searchId\":1,\"query_features\":[1],\"hits\":[{\"id\":1}]}",
               "no message has 'items' (or 'item') with an item in it; "
               "the first one has: searchId, query_features, hits");
    refused_as("{\"items\":[{\"id\":1,\"attrs\":{\"price\":1}},{\"other\":1}]}",
               "no item has 'features' with a feature in it; the first one has: id, attrs");
    refused_as("{\"items\":[{\"features\":{\"a\":\"x\",\"b\":null}}]}",
               "no feature of the items is a number, by a name that a feature may have");
    for (int i = 0; i < 100; i++)
        n += (size_t)snprintf(many + n, sizeof many - n, "%s\"field%02d\":0", i ? "," : "{", i);
    snprintf(many + n, sizeof many - n, "}");
    refused_as(many, "no message has 'items' (or 'item') with an item in it; the first one has: "
                     "field00, field01, field02, field03, field04, field05, field06, field07, "
                     "field08, field09, field10, field11, field12, field13, field14, field15, "
                     "field16, ...");
}
END_TEST

Suite *suite_shape(void)
{
    return ek_suite(
        "shape", names_signs_and_flags_are_told, units_come_from_names_and_ids_have_no_scale,
        words_of_names_also_begin_with_capitals,
        values_without_names_are_numbered_and_the_manifest_is_valid,
        what_is_cut_or_no_list_is_refused, fields_are_where_the_mapping_has_them,
        what_is_no_number_stays_out_where_it_has_a_name, what_no_feature_may_be_called_stays_out,
        the_name_of_a_position_is_not_that_of_another_feature, what_a_message_has_instead_is_told);
}
