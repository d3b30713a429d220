/* Patched feature values in each number type of a message. */
#include "tests/check.h"

#include "lists/codec.h"
#include "tests/pack.h"

static const char FEATURES[] = "features:\n"
                               "  - {name: price, index: 1, role: item}\n"
                               "  - {name: rating, index: 2, role: item}\n"
                               "  - {name: stars, index: 3, role: item}\n";

struct scene {
    struct ek_manifest *m;
    struct ek_codec *c;
    struct ek_list q;
    struct ek_buf out;
};

static void setup(struct scene *s)
{
    ck_assert_int_eq(ek_manifest_parse(&s->m, "m", FEATURES, strlen(FEATURES), NULL), EK_OK);
    ck_assert_int_eq(ek_codec_new(&s->c, s->m, NULL, NULL, NULL), EK_OK);
    ek_list_init(&s->q);
    ek_buf_init(&s->out, 0);
}

static void teardown(struct scene *s)
{
    ek_buf_release(&s->out);
    ek_list_release(&s->q);
    ek_codec_free(s->c);
    ek_manifest_free(s->m);
}

static double hundredth(void *context, int item, int feature, double value, bool narrow)
{
    (void)context;
    (void)item;
    (void)feature;
    return narrow ? (double)(float)(value / 100) : value / 100;
}

static double nothing(void *context, int item, int feature, double value, bool narrow)
{
    (void)context;
    (void)item;
    (void)feature;
    (void)value;
    (void)narrow;
    return (double)NAN;
}

static double seven(void *context, int item, int feature, double value, bool narrow)
{
    (void)context;
    (void)item;
    (void)feature;
    (void)narrow;
    return isnan(value) ? 7 : value;
}

typedef double patch_fn(void *context, int item, int feature, double value, bool narrow);

enum { ITEMS_MAX = 2, COLUMNS = 2 };

static const char *const NAMES[COLUMNS] = {"z:price", "zero:\"q\""};
static const double COLUMN[ITEMS_MAX * COLUMNS] = {.5, NAN, -1.25, 1};

/* Patch the prices of a message, and append columns if `by` is NULL. */
static void patch(struct scene *s, const void *bytes, size_t length, patch_fn *by, size_t changed)
{
    static const uint8_t wanted[] = {1, 0, 0};
    struct ek_feature_patch p = {.wanted = wanted, .value = by ? by : hundredth};
    if (!by) {
        p.columns = COLUMNS;
        p.name = NAMES;
        p.column = COLUMN;
    }
    ck_assert_int_eq(ek_codec_decode(s->c, bytes, length, &s->q, NULL), EK_OK);
    ck_assert_int_eq(ek_codec_patch_features(s->c, &s->q, bytes, length, &p, &s->out, NULL), EK_OK);
    ck_assert_uint_eq(p.changed, changed);
}

static void check_packed(struct scene *s, const char *from, patch_fn *by, const char *to,
                         size_t changed)
{
    struct ek_buf in, expected;
    ek_buf_init(&in, 0);
    ek_buf_init(&expected, 0);
    ek_pack(&in, from);
    ek_pack(&expected, to);
    patch(s, in.data, in.length, by, changed);
    ck_assert_uint_eq(s->out.length, expected.length);
    ck_assert_mem_eq(s->out.data, expected.data, expected.length);
    ek_buf_release(&in);
    ek_buf_release(&expected);
}

static void check_text(struct scene *s, const char *from, patch_fn *by, const char *to,
                       size_t changed)
{
    patch(s, from, strlen(from), by, changed);
    ck_assert_uint_eq(s->out.length, strlen(to));
    ck_assert_mem_eq(s->out.data, to, strlen(to));
}

START_TEST(floats_keep_their_width)
{
    struct scene s;
    setup(&s);
    check_packed(&s, "{x: 1, items: [{features: [12900.0, 100.0, nil], score: 2.5}], y: [1]}",
                 hundredth, "{x: 1, items: [{features: [129.0, 100.0, nil], score: 2.5}], y: [1]}",
                 1);
    check_packed(&s, "{items: [{features: [12999.0d, 100.0, 3]}, {features: [nil, 1, 2]}]}",
                 hundredth, "{items: [{features: [129.99d, 100.0, 3]}, {features: [nil, 1, 2]}]}",
                 1);
    check_packed(&s, "{items: [{features: (12900.0, 5.0, nan)}, {features: (0.0, 5.0, 1.0)}]}",
                 hundredth, "{items: [{features: (129.0, 5.0, nan)}, {features: (0.0, 5.0, 1.0)}]}",
                 1);
    check_packed(&s, "{items: [{features: [12900.0, 1, 2]}]}", nothing,
                 "{items: [{features: [nan, 1, 2]}]}", 1);
    teardown(&s);
}
END_TEST

START_TEST(integers_become_floats_only_if_they_must)
{
    struct scene s;
    setup(&s);
    check_packed(&s, "{items: [{features: [12900, 100, nil]}, {features: [-70000, 1, 2]}]}",
                 hundredth, "{items: [{features: [129, 100, nil]}, {features: [#d1fd44, 1, 2]}]}",
                 2);
    check_packed(&s, "{items: [{features: [12999, 100, nil]}]}", hundredth,
                 "{items: [{features: [129.99d, 100, nil]}]}", 1);
    /* an integer of fixed width keeps it */
    check_packed(&s, "{items: [{features: [#ce000000c8, 100, nil]}]}", hundredth,
                 "{items: [{features: [#ce00000002, 100, nil]}]}", 1);
    check_packed(&s, "{items: [{features: [#d3ffffffffffffff38, 1, 1]}]}", hundredth,
                 "{items: [{features: [#d3fffffffffffffffe, 1, 1]}]}", 1);
    check_packed(&s, "{items: [{features: [200, 1, 1]}]}", nothing,
                 "{items: [{features: [nil, 1, 1]}]}", 1);
    check_packed(&s, "{items: [{features: [nil, nil, 1]}, {features: [3.5, 1, 1]}]}", seven,
                 "{items: [{features: [7.0d, nil, 1]}, {features: [3.5, 1, 1]}]}", 1);
    teardown(&s);
}
END_TEST

START_TEST(entries_of_a_map_are_patched_by_name)
{
    struct scene s;
    setup(&s);
    check_packed(&s,
                 "{items: [{features: {stars: 3, other: [1, {price: 100.0}], price: 500.0}}, "
                 "{features: {stars: 1}}]}",
                 hundredth,
                 "{items: [{features: {stars: 3, other: [1, {price: 100.0}], price: 5.0}}, "
                 "{features: {stars: 1}}]}",
                 1);
    teardown(&s);
}
END_TEST

START_TEST(json_numbers_are_the_shortest_decimals)
{
    struct scene s;
    setup(&s);
    check_text(&s, " {\"items\": [ {\"features\" :[ 12999 ,1.50,null]}, {\"features\":[1e2,0,0]}]}",
               hundredth,
               " {\"items\": [ {\"features\" :[ 129.99 ,1.50,null]}, {\"features\":[1,0,0]}]}", 2);
    check_text(&s, "{\"items\":[{\"features\":{\"stars\":100,\"price\": 12900.0 ,\"n\":[1]}}]}",
               hundredth,
               "{\"items\":[{\"features\":{\"stars\":100,\"price\": 129.0 ,\"n\":[1]}}]}", 1);
    check_text(&s, "{\"items\":[{\"features\":{\"pr\\u0069ce\":12900}},{\"features\":{}}]}",
               nothing, "{\"items\":[{\"features\":{\"pr\\u0069ce\":null}},{\"features\":{}}]}", 1);
    check_text(&s, "{\"items\":[{\"features\":[10000000,1,2]}]}", hundredth,
               "{\"items\":[{\"features\":[100000,1,2]}]}", 1);
    check_text(&s, "{\"items\":[{\"features\":[null,1,2]}]}", seven,
               "{\"items\":[{\"features\":[7,1,2]}]}", 1);
    teardown(&s);
}
END_TEST

START_TEST(a_message_without_a_changed_value_has_no_copy)
{
    struct scene s;
    setup(&s);
    check_text(&s, "{\"items\":[{\"features\":[0,1,2]}]}", hundredth, "", 0);
    check_text(&s, "{\"items\":[]}", hundredth, "", 0);
    teardown(&s);
}
END_TEST

START_TEST(bytes_of_another_message_are_rejected)
{
    static const uint8_t wanted[] = {1, 0, 0};
    static const char message[] = "{\"items\":[{\"features\":[100,1,2]}]}";
    struct ek_feature_patch p = {.wanted = wanted, .value = hundredth};
    struct scene s;
    setup(&s);
    ck_assert_int_eq(ek_codec_decode(s.c, message, strlen(message), &s.q, NULL), EK_OK);
    ck_assert_int_eq(ek_codec_patch_features(s.c, &s.q, message, 10, &p, &s.out, NULL), EK_ESTATE);
    ck_assert_uint_eq(s.out.length, 0);
    teardown(&s);
}
END_TEST

START_TEST(columns_follow_the_values_of_an_array)
{
    struct scene s;
    setup(&s);
    check_packed(&s, "{items: [{features: [100.0, 1, 2]}, {id: 'x', features: [0.0, 1, 2]}], y: 1}",
                 NULL,
                 "{items: [{features: [1.0, 1, 2, 0.5, nil]}, {id: 'x', features: [0.0, 1, 2, "
                 "-1.25, 1.0]}], y: 1}",
                 1);
    check_packed(&s, "{items: [{features: (100.0, 1.0, 2.0)}]}", NULL,
                 "{items: [{features: (1.0, 1.0, 2.0, 0.5, nan)}]}", 1);
    check_text(&s, "{\"items\":[{\"features\": [ 100, 1, 2 ] },{\"features\":[0,1,2]}]}", NULL,
               "{\"items\":[{\"features\": [ 1, 1, 2,0.5,null ] },{\"features\":[0,1,2,-1.25,1]}]}",
               1);
    check_text(&s, "{\"items\":[{\"features\":[0,1,100]}]}", NULL,
               "{\"items\":[{\"features\":[0,1,100,0.5,null]}]}", 0);
    teardown(&s);
}
END_TEST

START_TEST(columns_have_names_in_maps_and_pairs)
{
    struct scene s;
    setup(&s);
    check_packed(&s, "{items: [{features: {price: 100.0}}, {features: {}}]}", NULL,
                 "{items: [{features: {'z:price': 0.5, 'zero:\"q\"': nil, price: 1.0}}, {features: "
                 "{'z:price': -1.25, 'zero:\"q\"': 1.0}}]}",
                 1);
    check_packed(&s, "{items: [{features: [{name: price, value: 100.0}]}]}", NULL,
                 "{items: [{features: [{name: 'z:price', value: 0.5}, {name: 'zero:\"q\"', value: "
                 "nil}, {name: price, value: 1.0}]}]}",
                 1);
    check_text(&s, "{\"items\":[{\"features\":{\"price\":100}},{\"features\":{ }}]}", NULL,
               "{\"items\":[{\"features\":{\"z:price\":0.5,\"zero:\\\"q\\\"\":null,\"price\":1}},"
               "{\"features\":{\"z:price\":-1.25,\"zero:\\\"q\\\"\":1 }}]}",
               1);
    check_text(&s, "{\"items\":[{\"features\":[{\"name\":\"price\",\"value\":100}]}]}", NULL,
               "{\"items\":[{\"features\":[{\"name\":\"z:price\",\"value\":0.5},{\"name\":"
               "\"zero:\\\"q\\\"\",\"value\":null},{\"name\":\"price\",\"value\":1}]}]}",
               1);
    teardown(&s);
}
END_TEST

/* Return a codec for `count` features. */
static struct ek_codec *codec_of(struct ek_manifest **m, int count)
{
    struct ek_codec *c;
    struct ek_buf text;
    ek_buf_init(&text, 0);
    ek_buf_text(&text, "features:\n");
    for (int f = 0; f < count; f++)
        ek_buf_printf(&text, "  - {name: f%d, index: %d, role: item}\n", f, f + 1);
    ck_assert_int_eq(ek_manifest_parse(m, "m", (const char *)text.data, text.length, NULL), EK_OK);
    ck_assert_int_eq(ek_codec_new(&c, *m, NULL, NULL, NULL), EK_OK);
    ek_buf_release(&text);
    return c;
}

/* Append columns to an item of `count` features, and read the values and the columns. */
static void check_head(int count, enum ek_feature_encoding encoding)
{
    struct ek_manifest *m, *more;
    struct ek_codec *c = codec_of(&m, count), *reader = codec_of(&more, count + COLUMNS);
    struct ek_list q;
    struct ek_buf in, out;
    uint8_t *wanted = calloc((size_t)count, 1);
    struct ek_feature_patch p = {
        .wanted = wanted, .value = hundredth, .columns = COLUMNS, .name = NAMES, .column = COLUMN};
    ek_list_init(&q);
    ek_buf_init(&in, 0);
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_list_resize(&q, 1, count, 0), EK_OK);
    for (int f = 0; f < count; f++)
        q.x[f] = (float)f;
    ck_assert_int_eq(ek_codec_encode(m, &q, encoding, &in, NULL), EK_OK);
    ck_assert_int_eq(ek_codec_decode(c, in.data, in.length, &q, NULL), EK_OK);
    ck_assert_int_eq(ek_codec_patch_features(c, &q, in.data, in.length, &p, &out, NULL), EK_OK);
    ck_assert_int_eq(ek_codec_decode(reader, out.data, out.length, &q, NULL), EK_OK);
    for (int f = 0; f < count; f++)
        ck_assert_float_eq(q.x[f], (float)f);
    ck_assert_float_eq(q.x[count], .5f);
    ck_assert(isnan(q.x[count + 1]));
    ek_buf_release(&in);
    ek_buf_release(&out);
    ek_list_release(&q);
    ek_codec_free(c);
    ek_codec_free(reader);
    ek_manifest_free(m);
    ek_manifest_free(more);
    free(wanted);
}

/* At 15, 255 and more elements or bytes, heads get longer. */
START_TEST(heads_of_containers_grow)
{
    static const int counts[] = {1, 13, 14, 15, 61, 62, 63, 64, 300, 4094};
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        check_head(counts[n], EK_FEATURES_ARRAY);
        check_head(counts[n], EK_FEATURES_BIN);
    }
}
END_TEST

Suite *suite_codec_feature_patch(void)
{
    return ek_suite("codec_feature_patch", floats_keep_their_width,
                    integers_become_floats_only_if_they_must, entries_of_a_map_are_patched_by_name,
                    json_numbers_are_the_shortest_decimals,
                    a_message_without_a_changed_value_has_no_copy,
                    bytes_of_another_message_are_rejected, columns_follow_the_values_of_an_array,
                    columns_have_names_in_maps_and_pairs, heads_of_containers_grow);
}
