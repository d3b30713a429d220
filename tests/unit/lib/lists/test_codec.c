/* Messages: decoding, error messages, and patches that change only scores. */
#include "tests/check.h"
#include "tests/reading_pack.h"

#include <math.h>
#include <stdio.h>

static struct reading setup_with(const struct ek_mapping *mapping,
                                 const struct ek_codec_limits *limits)
{
    return reading_of(READING_FEATURES, mapping, limits);
}

static struct reading setup(void)
{
    return setup_with(NULL, NULL);
}

START_TEST(a_usual_message_is_read_whole)
{
    struct reading b = setup();
    accepts(&b, "{query: 'q-1', time_ms: 1790000, segments: {arm: 'B', market: 's07'},"
                " query_features: [3], items: [{id: h1, score: 1.25, features: [129.0, 4.5]},"
                " {id: h2, score: -0.5d, features: [nil, 3.0], label: 1}]}");
    is_text(b.q.id, "q-1");
    ck_assert_int_eq(b.q.time_ms, 1790000);
    is_text(ek_list_segment(&b.q, "arm"), "B");
    is_text(ek_list_segment(&b.q, "market"), "s07");
    ck_assert_ptr_null(ek_list_segment(&b.q, "app").text);
    ck_assert_int_eq(b.q.items, 2);
    ck_assert_int_eq(b.q.item_features, 2);
    ck_assert_int_eq(b.q.query_features, 2);
    ck_assert(b.q.query[0] == 3);
    ck_assert(fabsf(b.q.query[1] - logf(2)) < 1e-6f);
    ck_assert(b.q.x[0] == 129 && b.q.x[1] == 4.5f && isnan(b.q.x[2]) && b.q.x[3] == 3);
    ck_assert(b.q.score[0] == 1.25 && b.q.score[1] == -0.5);
    is_text(b.q.item_id[1], "h2");
    ck_assert(!b.q.has_label);
    reading_end(&b);
}
END_TEST

START_TEST(fields_may_come_in_any_order_among_unknown_ones)
{
    struct reading b = setup();
    accepts(&b, "{items: [{features: [1, 2], color: {r: [1, {g: 2}]}, score: 7, id: a}], 17: x,"
                " extra: #d5010203, query_features: [4], [1]: nil, query: z}");
    ck_assert(b.q.x[0] == 1 && b.q.x[1] == 2 && b.q.score[0] == 7 && b.q.query[0] == 4);
    is_text(b.q.id, "z");
    is_text(b.q.item_id[0], "a");
    reading_end(&b);
}
END_TEST

START_TEST(features_come_as_array_bin_or_map)
{
    struct reading b = setup();
    accepts(&b, "{query_features: {nights: 2, moons: 1}, items: ["
                "{features: (1.5, nan)}, {features: {rating: 4, stars: [5], price: 9.5d}},"
                "{features: {rating: nil}}]}");
    ck_assert(b.q.query[0] == 2);
    ck_assert(b.q.x[0] == 1.5f && isnan(b.q.x[1]));
    ck_assert(b.q.x[2] == 9.5f && b.q.x[3] == 4);
    ck_assert(isnan(b.q.x[4]) && isnan(b.q.x[5]));
    reading_end(&b);
}
END_TEST

START_TEST(numbers_of_every_width_are_read)
{
    static const char *const same[] = {"5",
                                       "5.0",
                                       "5.0d",
                                       "#cc05",
                                       "#cd0005",
                                       "#ce00000005",
                                       "#cf0000000000000005",
                                       "#d005",
                                       "#d10005",
                                       "#d200000005",
                                       "#d30000000000000005"};
    struct reading b = setup();
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char text[200];
        snprintf(text, sizeof text,
                 "{query_features: [%s], items: [{score: %s, features: [-1, %s]}]}", same[i],
                 same[i], same[i]);
        accepts(&b, text);
        ck_assert(b.q.query[0] == 5 && b.q.x[0] == -1 && b.q.x[1] == 5 && b.q.score[0] == 5);
    }
    accepts(&b, "{query_features: [#d0ff], items: [{features: [#d1fffe, #d3fffffffffffffffd]},"
                "{features: [#cfffffffffffffffff, 1e300d]}]}");
    ck_assert(b.q.query[0] == -1 && b.q.x[0] == -2 && b.q.x[1] == -3);
    ck_assert(b.q.x[2] == 18446744073709551616.0f && isinf(b.q.x[3]));
    reading_end(&b);
}
END_TEST

START_TEST(what_a_message_leaves_out_is_marked_as_absent)
{
    struct reading b = setup();
    accepts(&b, "{query_features: [1], items: [{features: [1, 2]}]}");
    ck_assert_ptr_null(b.q.id.text);
    ck_assert_int_eq(b.q.time_ms, -1);
    ck_assert_int_eq(b.q.segment_count, 0);
    ck_assert(isnan(b.q.score[0]));
    ck_assert_uint_eq(b.q.place[0].length, 0);
    ck_assert_ptr_null(b.q.item_id[0].text);
    accepts(&b, "{query: nil, time_ms: nil, segments: nil, manifest: nil, query_features: [nil],"
                " items: [{id: nil, score: nil, features: [1, 2]}]}");
    ck_assert_int_eq(b.q.time_ms, -1);
    ck_assert(isnan(b.q.query[0]) && isnan(b.q.score[0]));
    ck_assert_uint_eq(b.q.place[0].length, 1);
    reading_end(&b);
}
END_TEST

START_TEST(an_empty_list_is_a_list)
{
    struct reading b = setup();
    accepts(&b, "{items: [], query_features: [1]}");
    ck_assert_int_eq(b.q.items, 0);
    ck_assert(b.q.query[1] == 0);
    ck_assert(!b.q.has_label);
    reading_end(&b);
}
END_TEST

START_TEST(whole_numbers_serve_as_ids_and_segments)
{
    struct reading b = setup();
    accepts(&b,
            "{query: #cfffffffffffffffff, segments: {site: -7, app: 71, new: true, old: false,"
            " no: nil}, query_features: [1], items: [{id: 12, features: [1, 2]},"
            " {id: #d38000000000000000, features: [1, 2]}, {id: #c403616263, features: [1, 2]}]}");
    is_text(b.q.id, "18446744073709551615");
    is_text(ek_list_segment(&b.q, "site"), "-7");
    is_text(ek_list_segment(&b.q, "app"), "71");
    is_text(ek_list_segment(&b.q, "new"), "true");
    is_text(ek_list_segment(&b.q, "old"), "false");
    ck_assert_ptr_null(ek_list_segment(&b.q, "no").text);
    is_text(b.q.item_id[0], "12");
    is_text(b.q.item_id[1], "-9223372036854775808");
    is_text(b.q.item_id[2], "abc");
    reading_end(&b);
}
END_TEST

START_TEST(labels_count_when_every_item_has_one)
{
    struct reading b = setup();
    accepts(&b, "{query_features: [1], items: [{label: 2, features: [1, 2]},"
                " {label: 0, features: [1, 2]}]}");
    ck_assert(b.q.has_label && b.q.label[0] == 2 && b.q.label[1] == 0);
    accepts(&b, "{query_features: [1], items: [{label: 2, features: [1, 2]},"
                " {label: 'Sea View', features: [1, 2]}]}");
    ck_assert(!b.q.has_label);
    reading_end(&b);
}
END_TEST

START_TEST(a_part_of_a_list_tells_of_the_whole)
{
    struct reading b = setup();
    accepts(&b, "{query_features: [1], items: [{features: [1, 2]}]}");
    ck_assert(!ek_list_is_partial(&b.q) && !b.q.has_log_means && b.q.query[1] == 0);
    accepts(
        &b,
        "{list_items: 20, log_means: [4.25], query_features: [1], items: [{features: [1, 2]}]}");
    ck_assert(b.q.items == 1 && b.q.list_items == 20);
    ck_assert(b.q.has_log_means && b.q.log_mean[0] == 4.25);
    ck_assert_double_eq_tol((double)b.q.query[1], log(20),
                            1e-6); /* log_list_size of the whole list */
    accepts(
        &b,
        "{query_features: [1], items: [{features: [1, 2]}], log_means: [nil], list_items: nil}");
    ck_assert(!ek_list_is_partial(&b.q) && b.q.has_log_means && isnan(b.q.log_mean[0]));
    accepts(&b, "{query_features: [1], items: [{features: [1, 2]}], log_means: nil}");
    ck_assert(!b.q.has_log_means);
    accepts(&b,
            "{query_features: [1], items: [{features: [1, 2]}], log_means: 4, list_items: [1]}");
    ck_assert_msg(!ek_list_is_partial(&b.q) && !b.q.has_log_means, "words of another schema");
    reading_end(&b);
}
END_TEST

START_TEST(what_is_written_of_a_part_is_read_back)
{
    struct reading b = setup();
    struct ek_list back;
    accepts(&b,
            "{list_items: 20, log_means: [0.5], query_features: [1], items: [{features: [1, 2]}]}");
    ck_assert_int_eq(ek_codec_encode(b.manifest, &b.q, EK_FEATURES_BIN, &b.out, &b.e), EK_OK);
    ek_list_init(&back);
    ck_assert_int_eq(ek_codec_decode(b.codec, b.out.data, b.out.length, &back, &b.e), EK_OK);
    ck_assert(back.list_items == 20 && back.has_log_means && back.log_mean[0] == 0.5);
    ek_list_release(&back);
    reading_end(&b);
}
END_TEST

START_TEST(a_mapping_reaches_into_nested_maps)
{
    static const struct ek_mapping mapping = {.query = "search.id",
                                              .segments = "search.context.seg",
                                              .items = "result.hits",
                                              .item_id = "hotel.id",
                                              .score = "hotel.rank.score",
                                              .features = "f"};
    struct reading b = setup_with(&mapping, NULL);
    accepts(&b, "{search: {id: q9, context: {seg: {arm: A}, seg2: 1}, items: [1]}, query: other,"
                " query_features: [1], result: {hits: [{hotel: {rank: {score: 2.0}, id: h},"
                " f: [1, 2], score: bad}]}}");
    is_text(b.q.id, "q9");
    is_text(ek_list_segment(&b.q, "arm"), "A");
    is_text(b.q.item_id[0], "h");
    ck_assert(b.q.score[0] == 2 && b.q.x[1] == 2);
    refuses(&b, "{query_features: [1], result: {hits: [{f: [1]}]}}", EK_EFORMAT,
            "result.hits[0].f: 1 values, the manifest has 2");
    refuses(&b, "{query_features: [1], result: {hits: [{hotel: {rank: 5}, f: [1, 2]}]}}",
            EK_EFORMAT, "result.hits[0].hotel.rank: an integer, expected a map");
    refuses(&b, "{query_features: [1], result: {}}", EK_EFORMAT, "result.hits: missing");
    reading_end(&b);
}
END_TEST

START_TEST(a_mapping_that_contradicts_itself_is_refused)
{
    static const struct {
        struct ek_mapping mapping;
        const char *message;
    } bad[] = {
        {{.query = ""}, "'message.query': path '' has an empty part"},
        {{.query = "a..b"}, "'message.query': path 'a..b' has an empty part"},
        {{.query = "a."}, "'message.query': path 'a.' has an empty part"},
        {{.query = "items"},
         "'message.items': path 'items' meets 'items' of 'message.query'; map one of them to "
         "another path"},
        {{.items = "query.items"},
         "'message.items': path 'query.items' meets 'query' of 'message.query'; map one of them to "
         "another path"},
        {{.query = "items.id"},
         "'message.items': path 'items' meets 'items' of 'message.query'; map one of them to "
         "another path"},
        {{.score = "a.b.c.d.e.f"}, "'message.score': path 'a.b.c.d.e.f' has more than 5 parts"},
    };
    struct reading b = setup();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ek_codec *codec = NULL;
        ck_assert_int_eq(ek_codec_new(&codec, b.manifest, &bad[i].mapping, NULL, &b.e), EK_ECONFIG);
        ck_assert_str_eq(b.e.message, bad[i].message);
        ck_assert_ptr_null(codec);
    }
    reading_end(&b);
}
END_TEST

START_TEST(every_fault_names_its_field)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"[1]", "message: an array, expected a map"},
        {"", "message: it is empty"},
        {"{} nil", "items: missing"},
        {"{query_features: [1], items: []} nil nil", "message: 2 bytes follow its end"},
        {"{items: []}", "query_features: missing"},
        {"{query_features: [1]}", "items: missing"},
        {"{query_features: 1, items: []}",
         "query_features: an integer, expected an array, bin or a map"},
        {"{query_features: [1, 2], items: []}", "query_features: 2 values, the manifest has 1"},
        {"{query_features: [x], items: []}", "query_features[0]: text, expected a number or nil"},
        {"{query: [1]}", "query: an array, expected text, bin or an integer"},
        {"{query: a, query: a}", "query: given twice"},
        {"{list_items: -1}", "list_items: not the number of items of a list"},
        {"{list_items: 1.5}", "list_items: not the number of items of a list"},
        {"{query_features: [1], items: [{features: [1, 2]}], list_items: 0}",
         "list_items: 0, but the message has 1 items"},
        {"{log_means: [-800]}", "log_means[0]: -800 is no mean of logarithms"},
        {"{log_means: [1, 2]}", "log_means: 2 means, 1 features are routable"},
        {"{log_means: [x]}", "log_means[0]: text, expected a number or nil"},
        {"{manifest: 1.5}", "manifest: a number, expected an integer or 16 hexadecimal digits"},
        {"{manifest: '0123'}", "manifest: not a hash of 16 hexadecimal digits"},
        {"{manifest: '0123456789abcdeg'}", "manifest: not a hash of 16 hexadecimal digits"},
        {"{items: nil}", "items: nil, expected an array"},
        {"{items: [7]}", "items[0]: an integer, expected a map"},
        {"{items: [{features: [1, 2]}, {score: 1}]}", "items[1].features: missing"},
        {"{items: [{score: true}]}", "items[0].score: a boolean, expected a number or nil"},
        {"{items: [{score: 1, score: 2}]}", "items[0].score: given twice"},
        {"{items: [{id: {}}]}", "items[0].id: a map, expected text, bin or an integer"},
        {"{items: [{features: [1, 2, 3]}]}", "items[0].features: 3 values, the manifest has 2"},
        {"{items: [{features: [1, x]}]}", "items[0].features[1]: text, expected a number or nil"},
        {"{items: [{features: (1)}]}",
         "items[0].features: 4 bytes, the 2 features of the manifest are 8"},
        {"{items: [{features: {price: x}}]}",
         "items[0].features.price: text, expected a number or nil"},
        {"{items: [{features: {price: 1, price: 2}}]}", "items[0].features.price: given twice"},
        {"{items: [{features: {1: 1}}]}", "items[0].features: a key is an integer, expected text"},
        {"{items: [{other: #c1}]}", "items[0].other: byte 15 is 0xc1, which no msgpack has"},
        {"{items: [{features: #ca0000}]}",
         "items[0].features: the message of 21 bytes is cut short"},
        {"{other: #dfffffffff00}", "other: the message of 13 bytes is cut short"},
    };
    struct reading b = setup();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses(&b, bad[i].text, EK_EFORMAT, bad[i].message);
    reading_end(&b);
}
END_TEST

START_TEST(another_manifest_is_told_from_ours)
{
    struct reading b = setup();
    char text[200], message[200];
    unsigned long long ours = (unsigned long long)b.manifest->hash;
    snprintf(text, sizeof text, "{manifest: '%016llx', query_features: [1], items: []}", ours);
    accepts(&b, text);
    snprintf(text, sizeof text, "{manifest: '%016llX', query_features: [1], items: []}", ours);
    accepts(&b, text);
    snprintf(text, sizeof text, "{manifest: #cf%016llx, query_features: [1], items: []}", ours);
    accepts(&b, text);
    snprintf(message, sizeof message,
             "manifest: the message is for manifest 0000000000000007, this is %016llx", ours);
    refuses(&b, "{manifest: 7, items: []}", EK_ESTATE, message);
    refuses(&b, "{manifest: '0000000000000007', items: []}", EK_ESTATE, message);
    reading_end(&b);
}
END_TEST

START_TEST(optional_fields_that_cannot_be_read_count_as_absent)
{
    static const struct {
        const char *fields, *why;
        int unreadable, segments; /* of the list */
    } some[] = {
        {"time_ms: soon",
         "time_ms: text, expected a number, or a time such as 2027-01-31T12:00:00Z", 1, 0},
        {"time_ms: -5", "time_ms: -5 is not a whole number of milliseconds since 1970", 1, 0},
        {"time_ms: 0.5", "time_ms: 0.5 is not a whole number of milliseconds since 1970", 1, 0},
        {"time_ms: [[1], {a: 2}]", "time_ms: an array, expected a number or text", 1, 0},
        {"segments: [1]", "segments: an array, expected a map", 2, 0},
        {"segments: {1: a, arm: B}", "segments: a key is an integer, expected text", 2, 1},
        {"segments: {arm: 1.5, app: 7}",
         "segments.arm: a number, expected text, an integer or a boolean", 2, 1},
        {"segments: {arm: a, arm: b}", "segments.arm: given twice", 2, 1},
        {"segments: {'a\nb': [], n: 1}",
         "segments.a?b: an array, expected text, an integer or a boolean", 2, 1},
        {"segments: 1, time_ms: x",
         "time_ms: text, expected a number, or a time such as 2027-01-31T12:00:00Z", 3, 0},
        {"segments: {arm: B}", "", 0, 1},
    };
    char text[200];
    struct reading b = setup();
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        snprintf(text, sizeof text,
                 "{%s, query_features: [1], items: [{features: [1, 2], score: 3}]}",
                 some[i].fields);
        accepts(&b, text);
        ck_assert_int_eq(b.q.unreadable, some[i].unreadable);
        ck_assert_int_eq(b.q.segment_count, some[i].segments);
        ck_assert_int_eq(b.q.time_ms, -1);
        if (some[i].unreadable)
            ck_assert_str_eq(b.q.unreadable_text, some[i].why);
        ck_assert_double_eq(b.q.score[0], 3);
    }
    reading_end(&b);
}
END_TEST

START_TEST(limits_are_kept_and_named)
{
    struct reading b = setup_with(NULL, &(struct ek_codec_limits){64, 2, 3});
    refuses(&b, "{items: [nil, nil, nil]}", EK_ELIMIT, "items: 3 items, the limit is 2");
    refuses(&b, "{x: [[[1]]], y: [[[[1]]]]}", EK_ELIMIT, "y: nested deeper than 3 levels");
    refuses(&b, "{x: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', y: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}",
            EK_ELIMIT, "message: 67 bytes, the limit is 64");
    reading_end(&b);
    b = setup();
    refuses(
        &b,
        "#81 segments #de0011 a 1 b 1 c 1 d 1 e 1 f 1 g 1 h 1 i 1 j 1 k 1 l 1 m 1 n 1 o 1 p 1 q 1",
        EK_ELIMIT, "segments.q: more than 16 segments");
    reading_end(&b);
    struct ek_codec *codec = NULL;
    b = setup();
    ck_assert_int_eq(
        ek_codec_new(&codec, b.manifest, NULL, &(struct ek_codec_limits){0, 0, 1025}, &b.e),
        EK_ECONFIG);
    ck_assert_str_eq(b.e.message, "limit 'depth' is 1025, it must lie in 1 .. 1024");
    reading_end(&b);
}
END_TEST

START_TEST(a_tombstone_is_refused)
{
    struct reading b = setup();
    size_t extent = 5;
    ck_assert_int_eq(ek_codec_decode(b.codec, NULL, 0, &b.q, &b.e), EK_EFORMAT);
    ck_assert_str_eq(b.e.message, "message: it is empty");
    ck_assert_int_eq(ek_codec_extent(NULL, 0, &extent, &b.e), EK_OK);
    ck_assert_uint_eq(extent, 0);
    reading_end(&b);
}
END_TEST

START_TEST(every_prefix_of_a_message_is_refused)
{
    struct reading b = setup();
    accepts(&b,
            "{query: 'q-1', time_ms: 1790000, segments: {arm: 'B', n: 5}, extra: [1, {a: 2.0}],"
            " query_features: [3], items: [{id: h1, score: 1.25, features: [129.0, 4.5]},"
            " {id: 5, score: -0.5d, features: (1, 2)}, {features: {price: 1.0, rating: nil}}]}");
    for (size_t length = 1; length < b.message.length; length++) {
        ck_assert_int_eq(reading_take(&b, b.message.data, length), EK_EFORMAT);
        ck_assert_msg(strstr(b.e.message, "cut short") != NULL, "%zu: %s", length, b.e.message);
    }
    reading_end(&b);
}
END_TEST

START_TEST(patching_replaces_the_scores_in_their_width)
{
    struct reading b = setup();
    double scores[] = {0.25, 1e-9, -3, 7};
    accepts(&b, "{a: 1.0, query_features: [1], items: [{score: 1.5, features: [1, 2]},"
                " {score: 2.5d, x: y, features: [1, 2]}, {features: [1, 2], score: 4, z: []},"
                " {score: nil, features: [1, 2]}], tail: {score: 1.5}}");
    ck_assert_int_eq(ek_codec_patch(&b.q, b.message.data, b.message.length, scores, &b.out, &b.e),
                     EK_OK);
    ek_pack(&b.message,
            "{a: 1.0, query_features: [1], items: [{score: 0.25, features: [1, 2]},"
            " {score: 1e-9d, x: y, features: [1, 2]}, {features: [1, 2], score: -3.0d, z: []},"
            " {score: 7.0d, features: [1, 2]}], tail: {score: 1.5}}");
    ck_assert_uint_eq(b.out.length, b.message.length);
    ck_assert_mem_eq(b.out.data, b.message.data, b.out.length);
    reading_end(&b);
}
END_TEST

START_TEST(an_item_without_a_score_cannot_be_patched)
{
    struct reading b = setup();
    accepts(&b, "{query_features: [1], items: [{score: 1, features: [1, 2]}, {features: [1, 2]}]}");
    ck_assert_int_eq(
        ek_codec_patch(&b.q, b.message.data, b.message.length, (double[]){1, 2}, &b.out, &b.e),
        EK_EFORMAT);
    ck_assert_str_eq(b.e.message, "items[1]: no score to replace");
    ck_assert_int_eq(ek_codec_patch(&b.q, b.message.data, 5, (double[]){1, 2}, &b.out, &b.e),
                     EK_ESTATE);
    reading_end(&b);
}
END_TEST

static void fill(struct reading *b, int items)
{
    ck_assert_int_eq(ek_list_resize(&b->q, items, 2, 2), EK_OK);
    b->q.id = (struct ek_text){"q", 1};
    b->q.time_ms = 1790000000000;
    b->q.segment_count = 1;
    b->q.segments[0] = (struct ek_segment){{"arm", 3}, {"B", 1}};
    b->q.query[0] = 3;
    b->q.has_label = true;
    b->q.sources = 3;
    for (int i = 0; i < items; i++) {
        b->q.x[2 * i] = i % 3 ? (float)i * 1.1f : NAN;
        b->q.x[2 * i + 1] = -0.0f;
        b->q.score[i] = i * 0.1;
        b->q.label[i] = (float)(i % 5);
        b->q.item_id[i] = (struct ek_text){"item", 4};
        b->q.source[i] = (uint8_t)(i % 3);
    }
}

START_TEST(what_is_encoded_is_read_back_in_all_encodings)
{
    static const enum ek_feature_encoding all[] = {EK_FEATURES_ARRAY, EK_FEATURES_BIN,
                                                   EK_FEATURES_MAP};
    for (size_t k = 0; k < 3; k++) {
        struct reading b = setup();
        struct ek_list back;
        size_t extent;
        int items = 300;
        ek_list_init(&back);
        fill(&b, items);
        ck_assert_int_eq(ek_codec_encode(b.manifest, &b.q, all[k], &b.message, &b.e), EK_OK);
        ck_assert_int_eq(ek_codec_extent(b.message.data, b.message.length, &extent, &b.e), EK_OK);
        ck_assert_uint_eq(extent, b.message.length);
        ck_assert_int_eq(ek_codec_decode(b.codec, b.message.data, b.message.length, &back, &b.e),
                         EK_OK);
        is_text(back.id, "q");
        ck_assert_int_eq(back.time_ms, 1790000000000);
        is_text(ek_list_segment(&back, "arm"), "B");
        ck_assert_int_eq(back.items, items);
        ck_assert(back.has_label && back.query[0] == 3 && back.sources == 3);
        for (int i = 0; i < items; i++) {
            ck_assert(back.score[i] == b.q.score[i] && back.label[i] == b.q.label[i]);
            ck_assert_uint_eq(back.source[i], b.q.source[i]);
            ck_assert(isnan(back.x[2 * i]) == (i % 3 == 0));
            ck_assert(i % 3 == 0 || back.x[2 * i] == b.q.x[2 * i]);
            ck_assert(back.x[2 * i + 1] == 0 && signbit(back.x[2 * i + 1]));
        }
        ek_list_release(&back);
        reading_end(&b);
    }
}
END_TEST

START_TEST(encoding_beyond_a_limit_leaves_the_buffer_as_it_was)
{
    struct reading b = setup();
    struct ek_buf small;
    ek_buf_init(&small, 100);
    ck_assert_int_eq(ek_buf_add(&small, "abc", 3), EK_OK);
    fill(&b, 20);
    ck_assert_int_eq(ek_codec_encode(b.manifest, &b.q, EK_FEATURES_MAP, &small, &b.e), EK_ELIMIT);
    ck_assert_uint_eq(small.length, 3);
    ek_buf_release(&small);
    reading_end(&b);
}
END_TEST

START_TEST(the_extent_of_an_object_is_found_or_said_to_be_cut)
{
    struct reading b = setup();
    size_t extent = 99;
    ek_pack(&b.message, "{a: [1, 2.0, #c70301616263], b: (1, 2)} 5");
    ck_assert_int_eq(ek_codec_extent(b.message.data, b.message.length, &extent, &b.e), EK_OK);
    ck_assert_uint_eq(extent, b.message.length - 1);
    for (size_t length = 0; length < b.message.length - 1; length++) {
        ck_assert_int_eq(ek_codec_extent(b.message.data, length, &extent, &b.e), EK_OK);
        ck_assert_uint_eq(extent, 0);
    }
    ck_assert_int_eq(ek_codec_extent("\x92\x01\xc1", 3, &extent, &b.e), EK_EFORMAT);
    ck_assert_str_eq(b.e.message, "byte 2 is 0xc1, which no msgpack has");
    reading_end(&b);
}
END_TEST

START_TEST(a_list_decoded_into_twice_keeps_nothing_of_the_first)
{
    struct reading b = setup();
    accepts(&b, "{query: a, time_ms: 5, segments: {arm: B}, query_features: [1], items:"
                " [{id: 5, score: 1, label: 1, features: [1, 2]}, {score: 2, label: 2, features: "
                "[3, 4]}]}");
    accepts(&b, "{query_features: [2], items: [{features: [5, 6]}]}");
    ck_assert_ptr_null(b.q.id.text);
    ck_assert_int_eq(b.q.time_ms, -1);
    ck_assert_int_eq(b.q.segment_count, 0);
    ck_assert_int_eq(b.q.items, 1);
    ck_assert(isnan(b.q.score[0]) && !b.q.has_label);
    ck_assert_ptr_null(b.q.item_id[0].text);
    ck_assert_uint_eq(b.q.place[0].length, 0);
    reading_end(&b);
}
END_TEST

/* Decode a list of ascending values, stored in b->message. Return the result. */
static int read_large(struct reading *b, int items, enum ek_feature_encoding encoding)
{
    struct ek_list list;
    ek_list_init(&list);
    ck_assert_int_eq(
        ek_list_resize(&list, items, b->manifest->item_count, b->manifest->query_count), EK_OK);
    memset(list.query, 0, (size_t)list.query_features * sizeof *list.query);
    for (int i = 0; i < items * list.item_features; i++)
        list.x[i] = (float)i;
    for (int i = 0; i < items; i++) {
        list.item_id[i] = (struct ek_text){NULL, 0};
        list.score[i] = i;
    }
    list.time_ms = -1;
    ek_buf_clear(&b->message);
    ck_assert_int_eq(ek_codec_encode(b->manifest, &list, encoding, &b->message, NULL), EK_OK);
    ek_list_release(&list);
    return ek_codec_decode(b->codec, b->message.data, b->message.length, &b->q, &b->e);
}

static struct reading setup_wide(int features, const struct ek_codec_limits *limits)
{
    struct ek_buf text;
    ek_buf_init(&text, 0);
    ek_buf_text(&text, "features:\n");
    for (int i = 1; i <= features; i++)
        ek_buf_printf(&text, "  - {name: f%d, index: %d, role: item}\n", i, i);
    ck_assert_int_eq(ek_buf_add(&text, "", 1), EK_OK);
    struct reading b = reading_of((const char *)text.data, NULL, limits);
    ek_buf_release(&text);
    return b;
}

/* Print a message of one item with 16 features; their header has 16 bits. */
static void print_sixteen(struct ek_buf *text, bool pairs)
{
    ek_buf_clear(text);
    ek_buf_text(text, "#81 items #91 #81 features #dc0010");
    for (int i = 1; i <= 16; i++) {
        if (pairs)
            ek_buf_printf(text, " {name: f%d, value: %d.0}", i, i);
        else
            ek_buf_printf(text, " %d.0", i);
    }
    ck_assert_int_eq(ek_buf_add(text, "", 1), EK_OK);
}

START_TEST(sixteen_values_are_read_as_numbers_and_as_pairs)
{
    struct reading b = setup_wide(16, NULL);
    struct ek_buf text;
    ek_buf_init(&text, 0);
    for (int pairs = 0; pairs < 2; pairs++) {
        print_sixteen(&text, pairs);
        accepts(&b, (const char *)text.data);
        for (int i = 0; i < 16; i++)
            ck_assert(b.q.x[i] == (float)(i + 1));
        for (size_t length = 1; length < b.message.length; length++)
            ck_assert_int_eq(reading_take(&b, b.message.data, length), EK_EFORMAT);
    }
    ek_buf_release(&text);
    reading_end(&b);
}
END_TEST

START_TEST(lists_of_ten_thousand_items_are_read_and_one_more_is_refused)
{
    for (int encoding = EK_FEATURES_ARRAY; encoding <= EK_FEATURES_JSON_MAP; encoding++) {
        struct reading b = setup_wide(16, NULL);
        ck_assert_int_eq(read_large(&b, 10000, (enum ek_feature_encoding)encoding), EK_OK);
        ck_assert(b.q.items == 10000 && b.q.x[160000 - 1] == 159999);
        ck_assert_int_eq(read_large(&b, 10001, (enum ek_feature_encoding)encoding), EK_ELIMIT);
        ck_assert_str_eq(b.e.message, "items: 10001 items, the limit is 10000");
        reading_end(&b);
    }
}
END_TEST

START_TEST(lists_of_2048_features_are_read_up_to_the_bytes_of_a_message)
{
    const struct ek_codec_limits more = {.message_bytes = 256u << 20};
    struct reading b = setup_wide(2048, NULL);
    ck_assert_int_eq(read_large(&b, 400, EK_FEATURES_ARRAY), EK_OK);
    ck_assert(b.q.x[400 * 2048 - 1] == 400 * 2048 - 1);
    ck_assert_int_eq(read_large(&b, 410, EK_FEATURES_ARRAY), EK_ELIMIT);
    ck_assert_msg(strstr(b.e.message, "the limit is 4194304") != NULL, "%s", b.e.message);
    reading_end(&b);
    b = setup_wide(2048, &more);
    ck_assert_int_eq(read_large(&b, 10000, EK_FEATURES_ARRAY), EK_OK);
    ck_assert(b.q.items == 10000 && b.q.x[10000 * 2048 - 1] == 10000 * 2048 - 1);
    reading_end(&b);
}
END_TEST

Suite *suite_codec(void)
{
    return ek_suite(
        "codec", a_usual_message_is_read_whole, fields_may_come_in_any_order_among_unknown_ones,
        features_come_as_array_bin_or_map, numbers_of_every_width_are_read,
        what_a_message_leaves_out_is_marked_as_absent, an_empty_list_is_a_list,
        whole_numbers_serve_as_ids_and_segments, labels_count_when_every_item_has_one,
        a_part_of_a_list_tells_of_the_whole, what_is_written_of_a_part_is_read_back,
        a_mapping_reaches_into_nested_maps, a_mapping_that_contradicts_itself_is_refused,
        every_fault_names_its_field, optional_fields_that_cannot_be_read_count_as_absent,
        another_manifest_is_told_from_ours, limits_are_kept_and_named, a_tombstone_is_refused,
        every_prefix_of_a_message_is_refused, patching_replaces_the_scores_in_their_width,
        an_item_without_a_score_cannot_be_patched, what_is_encoded_is_read_back_in_all_encodings,
        sixteen_values_are_read_as_numbers_and_as_pairs,
        lists_of_ten_thousand_items_are_read_and_one_more_is_refused,
        lists_of_2048_features_are_read_up_to_the_bytes_of_a_message,
        encoding_beyond_a_limit_leaves_the_buffer_as_it_was,
        the_extent_of_an_object_is_found_or_said_to_be_cut,
        a_list_decoded_into_twice_keeps_nothing_of_the_first);
}
