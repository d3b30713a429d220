/* Messages of one item: decoding, error messages, and patches that change only the score. */
#include "tests/check.h"
#include "tests/reading_pack.h"

#include <math.h>

/* READING_FEATURES has a query feature of the list length; this has none. */
static const char FREE[] = "features:\n"
                           "  - {name: price, index: 1, role: item, routable: true}\n"
                           "  - {name: rating, index: 2, role: item}\n"
                           "  - {name: nights, index: 3, role: query}\n";
static const struct ek_mapping ITEMS = {.layout = EK_LAYOUT_ITEM};

START_TEST(an_item_is_read_with_what_is_said_of_its_list)
{
    struct reading b = reading_of(READING_FEATURES, &ITEMS, NULL);
    accepts(&b, "{query: 'q-1', time_ms: 1790000, segments: {arm: 'B'}, query_features: [3],"
                " list_items: 20, log_means: [4.5d],"
                " item: {id: h1, score: 1.25, features: [129.0, 4.5], label: 1}}");
    is_text(b.q.id, "q-1");
    ck_assert_int_eq(b.q.time_ms, 1790000);
    is_text(ek_list_segment(&b.q, "arm"), "B");
    ck_assert_int_eq(b.q.items, 1);
    ck_assert_int_eq(b.q.list_items, 20);
    ck_assert(ek_list_is_partial(&b.q));
    ck_assert(b.q.has_log_means && b.q.log_mean[0] == 4.5);
    ck_assert(b.q.query[0] == 3 && fabsf(b.q.query[1] - logf(20)) < 1e-6f);
    ck_assert(b.q.x[0] == 129 && b.q.x[1] == 4.5f && b.q.score[0] == 1.25);
    is_text(b.q.item_id[0], "h1");
    ck_assert(b.q.has_label);
    reading_end(&b);
}
END_TEST

START_TEST(features_of_an_item_come_as_array_bin_or_map)
{
    struct reading b = reading_of(FREE, &ITEMS, NULL);
    accepts(&b, "{query: 1, query_features: (2), item: {features: (1.5, nan)}}");
    ck_assert(b.q.x[0] == 1.5f && isnan(b.q.x[1]) && b.q.query[0] == 2);
    accepts(&b, "{item: {x: [1], features: {rating: 4, price: 9.5d}}, items: [7], query: q,"
                " query_features: {nights: 1}}");
    ck_assert(b.q.x[0] == 9.5f && b.q.x[1] == 4);
    reading_end(&b);
}
END_TEST

START_TEST(an_item_is_a_part_unless_it_is_all_of_its_list)
{
    struct reading b = reading_of(FREE, &ITEMS, NULL);
    accepts(&b, "{query: q, query_features: [1], item: {features: [1, 2]}}");
    ck_assert(ek_list_is_partial(&b.q));
    ck_assert_int_eq(b.q.list_items, 0);
    accepts(&b, "{query: q, query_features: [1], list_items: 1, item: {features: [1, 2]}}");
    ck_assert(!ek_list_is_partial(&b.q));
    accepts(&b, "{query: q, query_features: [1], list_items: nil, item: {features: [1, 2]}}");
    ck_assert(ek_list_is_partial(&b.q));
    reading_end(&b);
}
END_TEST

START_TEST(every_fault_of_an_item_names_its_field)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"{query: q, query_features: [1]}", "item: missing"},
        {"{query: q, query_features: [1], items: [{features: [1, 2]}]}", "item: missing"},
        {"{query: q, item: [1]}", "item: an array, expected a map"},
        {"{query: q, item: nil}", "item: nil, expected a map"},
        {"{query: q, item: {score: 1}}", "item.features: missing"},
        {"{query: q, item: {score: true}}", "item.score: a boolean, expected a number or nil"},
        {"{query: q, item: {features: [1, 2, 3]}}", "item.features: 3 values, the manifest has 2"},
        {"{query: q, item: {features: [1, x]}}",
         "item.features[1]: text, expected a number or nil"},
        {"{query: q, item: {features: [1, 2]}, item: {}}", "item: given twice"},
        {"{query: q, item: {features: [1, 2]}}", "query_features: missing"},
        {"{query_features: [1], item: {features: [1, 2]}}",
         "query: missing: it groups the items of a list"},
        {"{query: nil, query_features: [1], item: {features: [1, 2]}}",
         "query: missing: it groups the items of a list"},
        {"{query: q, query_features: [1], list_items: 0, item: {features: [1, 2]}}",
         "list_items: 0, but the message has 1 items"},
    };
    struct reading b = reading_of(FREE, &ITEMS, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses(&b, bad[i].text, EK_EFORMAT, bad[i].message);
    reading_end(&b);
    b = reading_of(READING_FEATURES, &ITEMS, NULL);
    refuses(&b, "{query: q, query_features: [1], item: {features: [1, 2]}}", EK_EFORMAT,
            "list_items: missing: the query feature 'log_list_size' is of the whole list");
    reading_end(&b);
}
END_TEST

START_TEST(a_mapping_reaches_an_item_that_lies_deeper)
{
    const struct ek_mapping deep = {.layout = EK_LAYOUT_ITEM,
                                    .query = "search.id",
                                    .query_features = "search.features",
                                    .item = "result.hit",
                                    .item_id = "hotel.id",
                                    .score = "rank.score",
                                    .features = "x"};
    struct reading b = reading_of(FREE, &deep, NULL);
    accepts(&b, "{search: {id: q, features: [1]},"
                " result: {hit: {hotel: {id: 5}, rank: {score: 2.5}, x: [7, 8]}, n: 1}}");
    is_text(b.q.id, "q");
    is_text(b.q.item_id[0], "5");
    ck_assert(b.q.x[0] == 7 && b.q.score[0] == 2.5);
    refuses(&b, "{search: {id: q}, result: {hit: {rank: {score: x}}}}", EK_EFORMAT,
            "result.hit.rank.score: text, expected a number or nil");
    reading_end(&b);
}
END_TEST

START_TEST(every_prefix_of_an_item_is_refused)
{
    struct reading b = reading_of(FREE, &ITEMS, NULL);
    accepts(&b,
            "{query: 'q-1', time_ms: 1790000, segments: {arm: 'B', n: 5}, extra: [1, {a: 2.0}],"
            " query_features: [3], list_items: 3, item: {id: h1, score: 1.25, features: (1, 2)}}");
    for (size_t length = 1; length < b.message.length; length++) {
        ck_assert_int_eq(reading_take(&b, b.message.data, length), EK_EFORMAT);
        ck_assert_msg(strstr(b.e.message, "cut short") != NULL, "%zu: %s", length, b.e.message);
    }
    reading_end(&b);
}
END_TEST

static void patches(struct reading *b, const char *text, double score, const char *to)
{
    accepts(b, text);
    ck_assert_int_eq(
        ek_codec_patch(&b->q, b->message.data, b->message.length, &score, &b->out, &b->e), EK_OK);
    ek_pack(&b->message, to);
    ck_assert_uint_eq(b->out.length, b->message.length);
    ck_assert_mem_eq(b->out.data, b->message.data, b->out.length);
}

START_TEST(patching_replaces_the_one_score)
{
    struct reading b = reading_of(FREE, &ITEMS, NULL);
    double score = 1;
    patches(&b,
            "{a: 1.0, query: q, query_features: [1], item: {score: 1.5, y: [], features: [1, 2]}, "
            "score: 3.0}",
            0.25,
            "{a: 1.0, query: q, query_features: [1], item: {score: 0.25, y: [], features: [1, 2]}, "
            "score: 3.0}");
    patches(&b, "{query: 7, query_features: [1], item: {features: [1, 2], score: nil}, t: 4}", -3,
            "{query: 7, query_features: [1], item: {features: [1, 2], score: -3.0d}, t: 4}");
    accepts(&b, "{query: 7, query_features: [1], item: {features: [1, 2]}}");
    ck_assert_int_eq(ek_codec_patch(&b.q, b.message.data, b.message.length, &score, &b.out, &b.e),
                     EK_EFORMAT);
    ck_assert_str_eq(b.e.message, "item: no score to replace");
    reading_end(&b);
}
END_TEST

static int decode_json(struct reading *b, const char *text)
{
    ek_buf_clear(&b->message);
    ck_assert_int_eq(ek_buf_text(&b->message, text), EK_OK);
    return reading_take(b, b->message.data, b->message.length);
}

START_TEST(an_item_may_be_json)
{
    static const char text[] = "{ \"query\":\"q-1\", \"query_features\":[3], \"list_items\":4,\n"
                               " \"item\":{\"id\":7,\"score\":1.25,\"features\":{\"price\":99}} }";
    static const char want[] = "{ \"query\":\"q-1\", \"query_features\":[3], \"list_items\":4,\n"
                               " \"item\":{\"id\":7,\"score\":-0.5,\"features\":{\"price\":99}} }";
    struct reading b = reading_of(FREE, &ITEMS, NULL);
    double score = -0.5;
    reading_gave(&b, text, decode_json(&b, text));
    is_text(b.q.id, "q-1");
    is_text(b.q.item_id[0], "7");
    ck_assert(b.q.x[0] == 99 && isnan(b.q.x[1]) && b.q.list_items == 4);
    ck_assert_int_eq(ek_codec_patch(&b.q, b.message.data, b.message.length, &score, &b.out, &b.e),
                     EK_OK);
    ck_assert_uint_eq(b.out.length, sizeof want - 1);
    ck_assert_mem_eq(b.out.data, want, sizeof want - 1);
    static const char bad[] = "{\"query\":1,\"item\":{\"features\":[1,\"x\"]}}";
    reading_failed(&b, bad, decode_json(&b, bad), EK_EFORMAT,
                   "item.features[1]: text, expected a number or null");
    reading_end(&b);
}
END_TEST

/* Make a list of three items, for READING_FEATURES. */
static void make_list(struct reading *b)
{
    accepts(b, "{query: 'q-1', time_ms: 17, segments: {arm: B}, query_features: [3], items: ["
               "{id: h1, score: 1.25, features: [129.0, 4.5], label: 1},"
               "{id: h2, score: 0.1d, features: [nil, 3.0], label: 0},"
               "{id: h3, score: nil, features: [7, 8], label: 2}]}");
}

START_TEST(a_list_is_written_item_by_item_and_read_back)
{
    struct reading list = reading_of(READING_FEATURES, NULL, NULL);
    make_list(&list);
    for (int encoding = 0; encoding <= EK_FEATURES_JSON_MAP; encoding++) {
        struct reading b = reading_of(READING_FEATURES, &ITEMS, NULL);
        for (int i = 0; i < 3; i++) {
            ek_buf_clear(&b.message);
            ck_assert_int_eq(ek_codec_encode_item(b.manifest, &list.q, i,
                                                  (enum ek_feature_encoding)encoding, &b.message,
                                                  &b.e),
                             EK_OK);
            reading_gave(&b, "an item", reading_take(&b, b.message.data, b.message.length));
            is_text(b.q.id, "q-1");
            ck_assert_int_eq(b.q.time_ms, 17);
            ck_assert_int_eq(b.q.list_items, 3);
            ck_assert(b.q.query[0] == 3 && b.q.query[1] == list.q.query[1]);
            ck_assert(ek_text_same(b.q.item_id[0], list.q.item_id[i]));
            ck_assert(b.q.label[0] == list.q.label[i]);
            ck_assert(b.q.score[0] == list.q.score[i] ||
                      (isnan(b.q.score[0]) && isnan(list.q.score[i])));
            for (int f = 0; f < 2; f++)
                ck_assert(b.q.x[f] == list.q.x[2 * i + f] || isnan(list.q.x[2 * i + f]));
        }
        reading_end(&b);
    }
    reading_end(&list);
}
END_TEST

Suite *suite_codec_items(void)
{
    return ek_suite("codec, item by item", an_item_is_read_with_what_is_said_of_its_list,
                    features_of_an_item_come_as_array_bin_or_map,
                    an_item_is_a_part_unless_it_is_all_of_its_list,
                    every_fault_of_an_item_names_its_field,
                    a_mapping_reaches_an_item_that_lies_deeper, every_prefix_of_an_item_is_refused,
                    patching_replaces_the_one_score, an_item_may_be_json,
                    a_list_is_written_item_by_item_and_read_back);
}
