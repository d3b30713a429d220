/* Layouts of messages: fields at paths of their own, pairs, columns. Each message is read and
 * patched as JSON and as the msgpack form of the JSON. */
#include "lists/codec_json.h"
#include "tests/check.h"
#include "tests/must.h"
#include "tests/reading.h"

#include <math.h>
#include <stdio.h>

static const char FEATURES[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: rating, index: 2, role: item}\n";
static const char QUERIES[] = "features:\n"
                              "  - {name: price, index: 1, role: item, routable: true}\n"
                              "  - {name: rating, index: 2, role: item}\n"
                              "  - {name: nights, index: 3, role: query}\n"
                              "  - {name: guests, index: 4, role: query}\n";

/* A message of two items with the prices 12900 and 45000, the ratings 4.5 and none, and the scores
 * 2 and 1. */
struct scene {
    const char *name;
    struct ek_mapping mapping;
    const char *message, *rescored, *repaired; /* by scores of 0.5 and 0.25; by 100 */
    const char *segments;                      /* "arm=B " */
    int64_t time_ms;
};

#define PATHS(...)                                                                                 \
    {                                                                                              \
        (const struct ek_named_path[]){__VA_ARGS__},                                               \
            sizeof((const struct ek_named_path[]){__VA_ARGS__}) / sizeof(struct ek_named_path)     \
    }

static const struct ek_named_path SEGMENTS[] = {{"arm", "req.exp.bucket"}, {"market", "market"}},
                                  NESTED[] = {{"price", "price"}, {"rating", "stats.0.rating"}},
                                  COLUMNS[] = {{"price", "in.0"}, {"rating", "stars"}};

static const struct scene SCENES[] = {
    {"vespa",
     {.items = "root.children",
      .item_id = "fields.docid",
      .score = "relevance",
      .features = "fields.summaryfeatures"},
     "{\"root\":{\"id\":\"t\",\"children\":["
     "{\"relevance\":2.0,\"fields\":{\"docid\":\"a\",\"summaryfeatures\":{\"price\":12900.0,"
     "\"rating\":4.5}}},"
     "{\"relevance\":1.0,\"fields\":{\"docid\":\"b\",\"summaryfeatures\":{\"price\":45000}}}]}}",
     "{\"root\":{\"id\":\"t\",\"children\":["
     "{\"relevance\":0.5,\"fields\":{\"docid\":\"a\",\"summaryfeatures\":{\"price\":12900.0,"
     "\"rating\":4.5}}},"
     "{\"relevance\":0.25,\"fields\":{\"docid\":\"b\",\"summaryfeatures\":{\"price\":45000}}}]}}",
     "{\"root\":{\"id\":\"t\",\"children\":["
     "{\"relevance\":2.0,\"fields\":{\"docid\":\"a\",\"summaryfeatures\":{\"price\":129.0,"
     "\"rating\":4.5}}},"
     "{\"relevance\":1.0,\"fields\":{\"docid\":\"b\",\"summaryfeatures\":{\"price\":450}}}]}}",
     "",
     -1},
    {"segments next to the items, seconds",
     {.segment_paths = {SEGMENTS, 2}, .time_ms = "req.at"},
     "{\"req\":{\"exp\":{\"bucket\":\"B\"},\"at\":1790000000.25},\"market\":7,\"items\":["
     "{\"id\":\"a\",\"score\":2,\"features\":[12900,4.5]},"
     "{\"id\":\"b\",\"score\":1,\"features\":[45000.0,null]}]}",
     "{\"req\":{\"exp\":{\"bucket\":\"B\"},\"at\":1790000000.25},\"market\":7,\"items\":["
     "{\"id\":\"a\",\"score\":0.5,\"features\":[12900,4.5]},"
     "{\"id\":\"b\",\"score\":0.25,\"features\":[45000.0,null]}]}",
     "{\"req\":{\"exp\":{\"bucket\":\"B\"},\"at\":1790000000.25},\"market\":7,\"items\":["
     "{\"id\":\"a\",\"score\":2,\"features\":[129,4.5]},"
     "{\"id\":\"b\",\"score\":1,\"features\":[450.0,null]}]}",
     "arm=B market=7 ",
     1790000000250},
    {"paths of features, numeric strings, iso time",
     {.time_ms = "ts", .numeric_strings = true, .feature_paths = {NESTED, 2}},
     "{\"ts\":\"2026-09-21T14:53:20.5+02:00\",\"items\":["
     "{\"id\":\"a\",\"score\":\"2\",\"price\":\"12900.0\",\"stats\":[{\"rating\":\"4.5\"},7]},"
     "{\"id\":\"b\",\"score\":\"1\",\"stats\":null,\"price\":\"45000\"}]}",
     "{\"ts\":\"2026-09-21T14:53:20.5+02:00\",\"items\":["
     "{\"id\":\"a\",\"score\":\"0.5\",\"price\":\"12900.0\",\"stats\":[{\"rating\":\"4.5\"},7]},"
     "{\"id\":\"b\",\"score\":\"0.25\",\"stats\":null,\"price\":\"45000\"}]}",
     "{\"ts\":\"2026-09-21T14:53:20.5+02:00\",\"items\":["
     "{\"id\":\"a\",\"score\":\"2\",\"price\":\"129.0\",\"stats\":[{\"rating\":\"4.5\"},7]},"
     "{\"id\":\"b\",\"score\":\"1\",\"stats\":null,\"price\":\"450\"}]}",
     "",
     1789995200500},
    {"flat items",
     {.features = "*"},
     "{\"items\":[{\"price\":12900,\"title\":\"x\",\"id\":\"a\",\"rating\":4.5,\"score\":2},"
     "{\"id\":\"b\",\"score\":1,\"price\":45000,\"tags\":[{\"price\":1}]}]}",
     "{\"items\":[{\"price\":12900,\"title\":\"x\",\"id\":\"a\",\"rating\":4.5,\"score\":0.5},"
     "{\"id\":\"b\",\"score\":0.25,\"price\":45000,\"tags\":[{\"price\":1}]}]}",
     "{\"items\":[{\"price\":129,\"title\":\"x\",\"id\":\"a\",\"rating\":4.5,\"score\":2},"
     "{\"id\":\"b\",\"score\":1,\"price\":450,\"tags\":[{\"price\":1}]}]}",
     "",
     -1},
    {"columns",
     {.layout = EK_LAYOUT_COLUMNS},
     "{\"ids\":[\"a\",\"b\"],\"features\":{\"other\":[1],\"price\":[12900,45000.0],\"rating\":"
     "[4.5,null]},\"scores\":[ 2,1 ]}",
     "{\"ids\":[\"a\",\"b\"],\"features\":{\"other\":[1],\"price\":[12900,45000.0],\"rating\":"
     "[4.5,null]},\"scores\":[ 0.5,0.25 ]}",
     "{\"ids\":[\"a\",\"b\"],\"features\":{\"other\":[1],\"price\":[129,450.0],\"rating\":"
     "[4.5,null]},\"scores\":[ 2,1 ]}",
     "",
     -1},
    {"columns at paths",
     {.layout = EK_LAYOUT_COLUMNS,
      .item_id = "hits",
      .score = "out.rank",
      .feature_paths = {COLUMNS, 2}},
     "{\"in\":[[12900,45000.0],7],\"out\":{\"rank\":[2,1]},\"hits\":[\"a\",\"b\"],"
     "\"stars\":[4.5,null]}",
     "{\"in\":[[12900,45000.0],7],\"out\":{\"rank\":[0.5,0.25]},\"hits\":[\"a\",\"b\"],"
     "\"stars\":[4.5,null]}",
     "{\"in\":[[129,450.0],7],\"out\":{\"rank\":[2,1]},\"hits\":[\"a\",\"b\"],"
     "\"stars\":[4.5,null]}",
     "",
     -1},
    {"names and values",
     {0},
     "{\"items\":[{\"id\":\"a\",\"score\":2,\"features\":[{\"name\":\"other\",\"value\":[1]},"
     "{\"name\":\"price\",\"value\":12900},{\"value\":4.5,\"x\":{},\"name\":\"rating\"}]},"
     "{\"id\":\"b\",\"score\":1,\"features\":[{\"value\":45000,\"name\":\"price\"},"
     "{\"name\":\"rating\"}]}]}",
     "{\"items\":[{\"id\":\"a\",\"score\":0.5,\"features\":[{\"name\":\"other\",\"value\":[1]},"
     "{\"name\":\"price\",\"value\":12900},{\"value\":4.5,\"x\":{},\"name\":\"rating\"}]},"
     "{\"id\":\"b\",\"score\":0.25,\"features\":[{\"value\":45000,\"name\":\"price\"},"
     "{\"name\":\"rating\"}]}]}",
     "{\"items\":[{\"id\":\"a\",\"score\":2,\"features\":[{\"name\":\"other\",\"value\":[1]},"
     "{\"name\":\"price\",\"value\":129},{\"value\":4.5,\"x\":{},\"name\":\"rating\"}]},"
     "{\"id\":\"b\",\"score\":1,\"features\":[{\"value\":450,\"name\":\"price\"},"
     "{\"name\":\"rating\"}]}]}",
     "",
     -1},
    {"elasticsearch ltr log",
     {.items = "hits.hits",
      .item_id = "_id",
      .score = "_score",
      .features = "fields._ltrlog.0.log_entry1"},
     "{\"hits\":{\"total\":2,\"hits\":[{\"_id\":\"a\",\"_score\":2.0,\"fields\":{\"_ltrlog\":"
     "[{\"log_entry1\":[{\"name\":\"price\",\"value\":12900},{\"name\":\"rating\",\"value\":4.5}]}]"
     "}"
     "},{\"_id\":\"b\",\"_score\":1.0,\"fields\":{\"_ltrlog\":"
     "[{\"log_entry1\":[{\"name\":\"price\",\"value\":45000}]}]}}]}}",
     "{\"hits\":{\"total\":2,\"hits\":[{\"_id\":\"a\",\"_score\":0.5,\"fields\":{\"_ltrlog\":"
     "[{\"log_entry1\":[{\"name\":\"price\",\"value\":12900},{\"name\":\"rating\",\"value\":4.5}]}]"
     "}"
     "},{\"_id\":\"b\",\"_score\":0.25,\"fields\":{\"_ltrlog\":"
     "[{\"log_entry1\":[{\"name\":\"price\",\"value\":45000}]}]}}]}}",
     "{\"hits\":{\"total\":2,\"hits\":[{\"_id\":\"a\",\"_score\":2.0,\"fields\":{\"_ltrlog\":"
     "[{\"log_entry1\":[{\"name\":\"price\",\"value\":129},{\"name\":\"rating\",\"value\":4.5}]}]}"
     "},{\"_id\":\"b\",\"_score\":1.0,\"fields\":{\"_ltrlog\":"
     "[{\"log_entry1\":[{\"name\":\"price\",\"value\":450}]}]}}]}}",
     "",
     -1},
};

/* Return the text, or its msgpack form, which `json` owns. */
static const uint8_t *form(const char *text, bool packed, struct ek_json **json, size_t *length)
{
    struct ek_json_fault fault;
    *length = strlen(text);
    if (!packed)
        return (const uint8_t *)text;
    ck_assert_int_eq(ek_json_read(json, text, *length, 50, &fault), EK_OK);
    return ek_json_wire(*json, length);
}

static void compare(const struct scene *s, const char *expected, bool packed,
                    const struct ek_buf *out)
{
    struct ek_json *json = NULL;
    size_t length;
    const uint8_t *bytes = form(expected, packed, &json, &length);
    ck_assert_msg(out->length == length && !memcmp(out->data, bytes, length), "%s: %.*s, not %s",
                  s->name, (int)out->length, (const char *)out->data, expected);
    ek_json_free(json);
}

static double hundredth(void *context, int item, int feature, double value, bool narrow)
{
    (void)context;
    (void)item;
    (void)feature;
    (void)narrow;
    return value / 100;
}

static void read_list(const struct scene *s, const struct ek_list *q)
{
    char segments[100] = "";
    ck_assert_int_eq(q->items, 2);
    ck_assert(q->x[0] == 12900 && q->x[1] == 4.5f && q->x[2] == 45000 && isnan(q->x[3]));
    ck_assert(q->score[0] == 2 && q->score[1] == 1);
    is_text(q->item_id[0], "a");
    is_text(q->item_id[1], "b");
    for (int i = 0; i < q->segment_count; i++) {
        size_t end = strlen(segments);
        snprintf(segments + end, sizeof segments - end, "%.*s=%.*s ",
                 (int)q->segments[i].name.length, q->segments[i].name.text,
                 (int)q->segments[i].value.length, q->segments[i].value.text);
    }
    ck_assert_str_eq(segments, s->segments);
    ck_assert_int_eq(q->time_ms, s->time_ms);
}

static void play(const struct scene *s, bool packed)
{
    static const uint8_t wanted[] = {1, 0};
    static const double scores[] = {.5, .25};
    struct reading r = reading_of(FEATURES, &s->mapping, NULL);
    struct ek_feature_patch p = {.wanted = wanted, .value = hundredth};
    struct ek_json *json = NULL;
    size_t length;
    const uint8_t *bytes = form(s->message, packed, &json, &length);
    reading_gave(&r, s->name, reading_take(&r, bytes, length));
    read_list(s, &r.q);
    reading_gave(&r, s->name, ek_codec_patch(&r.q, r.bytes, length, scores, &r.out, &r.e));
    compare(s, s->rescored, packed, &r.out);
    reading_gave(&r, s->name,
                 ek_codec_patch_features(r.codec, &r.q, r.bytes, length, &p, &r.out, &r.e));
    ck_assert_uint_eq(p.changed, 2);
    if (!packed || !s->mapping.numeric_strings) /* msgpack text has no `.0` */
        compare(s, s->repaired, packed, &r.out);
    for (size_t cut = 0; cut < length; cut++)
        ck_assert_int_ne(reading_take(&r, bytes, cut), EK_OK);
    ek_json_free(json);
    reading_end(&r);
}

START_TEST(lists_of_each_layout_are_read_and_patched_in_place)
{
    for (size_t i = 0; i < sizeof SCENES / sizeof *SCENES; i++) {
        play(&SCENES[i], false);
        play(&SCENES[i], true);
    }
}
END_TEST

START_TEST(query_features_may_have_paths_of_their_own)
{
    const struct ek_mapping mapping = {
        .query_feature_paths = PATHS({"nights", "req.stay.nights"}, {"guests", "req.guests.0"})};
    static const char message[] =
        "{\"req\":{\"guests\":[2,1],\"stay\":{\"nights\":3}},\"items\":[]}";
    static const char without[] =
        "{\"req\":{\"guests\":[],\"stay\":{\"nights\":true}},\"items\":[]}";
    static const char twice[] = "{\"req\":{\"stay\":{\"nights\":3,\"nights\":3}},\"items\":[]}";
    struct reading r = reading_of(QUERIES, &mapping, NULL);
    reading_gave(&r, message, reading_take(&r, message, strlen(message)));
    ck_assert(r.q.query[0] == 3 && r.q.query[1] == 2);
    reading_gave(&r, without, reading_take(&r, without, strlen(without)));
    ck_assert(r.q.query[0] == 1 && isnan(r.q.query[1]));
    reading_failed(&r, twice, reading_take(&r, twice, strlen(twice)), EK_EFORMAT,
                   "req.stay.nights: given twice");
    reading_end(&r);
}
END_TEST

START_TEST(ids_in_columns_keep_their_digits)
{
    const struct ek_mapping mapping = {.layout = EK_LAYOUT_COLUMNS};
    static const char message[] = "{\"ids\":[9007199254740993,-1],\"sources\":[4,5],"
                                  "\"labels\":[1,0],\"features\":{\"price\":[true,\"x\"]}}";
    static const char good[] = "{\"ids\":[9007199254740993,-1],\"sources\":[4,5],"
                               "\"labels\":[1,0],\"features\":{\"price\":[true,2]}}";
    static const char large[] = "{\"ids\":[18446744073709551615],\"features\":{\"price\":[2]}}";
    static const char larger[] = "{\"ids\":[18446744073709551616],\"features\":{\"price\":[2]}}";
    struct reading r = reading_of(FEATURES, &mapping, NULL);
    reading_failed(&r, message, reading_take(&r, message, strlen(message)), EK_EFORMAT,
                   "features.price[1]: text, expected a number or null");
    reading_gave(&r, good, reading_take(&r, good, strlen(good)));
    is_text(r.q.item_id[0], "9007199254740993");
    is_text(r.q.item_id[1], "-1");
    reading_gave(&r, large, reading_take(&r, large, strlen(large)));
    is_text(r.q.item_id[0], "18446744073709551615");
    reading_failed(&r, larger, reading_take(&r, larger, strlen(larger)), EK_EFORMAT,
                   "ids[0]: a number, expected text or an integer");
    reading_gave(&r, good, reading_take(&r, good, strlen(good)));
    ck_assert_int_eq(r.q.sources, 2);
    ck_assert(r.q.has_label && r.q.x[0] == 1 && r.q.x[2] == 2 && isnan(r.q.x[1]));
    reading_end(&r);
}
END_TEST

START_TEST(faults_of_a_layout_name_their_field)
{
    const struct {
        struct ek_mapping mapping;
        const char *message, *why;
    } bad[] = {
        {{.layout = EK_LAYOUT_COLUMNS},
         "{}",
         "message: it has none of the columns, such as 'sources'"},
        {{.layout = EK_LAYOUT_COLUMNS},
         "{\"ids\":[1],\"scores\":[1,2]}",
         "scores: 2 values, another column has 1"},
        {{.layout = EK_LAYOUT_COLUMNS}, "{\"ids\":7}", "ids: an integer, expected an array"},
        {{.layout = EK_LAYOUT_COLUMNS},
         "{\"features\":{\"price\":[1],\"price\":[1]}}",
         "features.price[0]: given twice"},
        {{.features = "*"},
         "{\"items\":[{\"price\":\"1\"}]}",
         "items[0].price: text, expected a number or null"},
        {{.features = "*"},
         "{\"items\":[{\"price\":1,\"price\":1}]}",
         "items[0].price: given twice"},
        {{0},
         "{\"items\":[{\"features\":[{\"value\":1}]}]}",
         "items[0].features[0]: it has no text 'name'"},
        {{0},
         "{\"items\":[{\"features\":[{\"name\":\"price\",\"value\":\"x\"}]}]}",
         "items[0].features.price: text, expected a number or null"},
        {{.numeric_strings = true},
         "{\"items\":[{\"features\":[\"nan\",1]}]}",
         "items[0].features[0]: text, expected a number or null"},
        {{.feature_paths = PATHS({"price", "p.1"}, {"rating", "r"})},
         "{\"items\":[{\"p\":[1,[2]]}]}",
         "items[0].p.1: an array, expected a number or null"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct reading r = reading_of(FEATURES, &bad[i].mapping, NULL);
        const char *text = bad[i].message;
        reading_failed(&r, text, reading_take(&r, text, strlen(text)), EK_EFORMAT, bad[i].why);
        reading_end(&r);
    }
}
END_TEST

START_TEST(a_mapping_names_features_of_the_manifest)
{
    const struct {
        struct ek_mapping mapping;
        const char *why;
    } bad[] = {
        {{.feature_paths = PATHS({"price", "a"}, {"ratin", "b"})},
         "'message.features': the manifest has no item feature 'ratin', did you mean 'rating'?"},
        {{.feature_paths = PATHS({"price", "a"})},
         "'message.features' has no path for the feature 'rating'; add it"},
        {{.feature_paths = PATHS({"price", "a"}, {"rating", "a"})},
         "'message.features.rating': path 'a' meets 'a' of 'message.features'; map one of them to "
         "another path"},
        {{.features = "*", .score = "price"},
         "'message.features.price': path 'price' meets 'price' of 'message.score'; map one of them "
         "to another path"},
        {{.segment_paths = PATHS({"arm", "query.arm"})},
         "'message.segments.arm': path 'query.arm' meets 'query' of 'message.query'; map one of "
         "them to another path"},
    };
    struct reading r = reading_of(FEATURES, NULL, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ek_codec *codec = NULL;
        ck_assert_int_eq(ek_codec_new(&codec, r.manifest, &bad[i].mapping, NULL, &r.e), EK_ECONFIG);
        ck_assert_str_eq(r.e.message, bad[i].why);
        ck_assert_ptr_null(codec);
    }
    reading_end(&r);
}
END_TEST

START_TEST(times_are_milliseconds_seconds_or_text)
{
    static const struct {
        const char *path, *value;
        int64_t ms;
    } times[] = {
        {"ts", "1790000000", 1790000000000},
        {"ts", "1790000000000", 1790000000000},
        {"ts", "1.5", 1500},
        {"ts", "-1", -1},
        {"time_ms", "5000", 5000},
        {"sentMs", "5000", 5000},
        {"ts", "\"2026-09-21T14:53:20Z\"", 1790002400000},
        {"ts", "\"2026-09-21 14:53:20,25\"", 1790002400250},
        {"ts", "\"2026-09-21T14:53+0200\"", 1789995180000},
        {"ts", "\"2026-09-21T14:53:20.123456-05\"", 1790020400123},
        {"ts", "\"2026-02-29T00:00Z\"", -1},
        {"ts", "\"2026-09-21T14:53:20Z.\"", -1},
        {"ts", "\"2026-09-21T14:53:20.\"", -1},
        {"ts", "\"2026-09-21T24:00Z\"", -1},
        {"ts", "\"1790000000\"", -1},
    };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct reading r =
            reading_of(FEATURES, &(struct ek_mapping){.time_ms = times[i].path}, NULL);
        char text[100];
        int n =
            snprintf(text, sizeof text, "{\"%s\":%s,\"items\":[]}", times[i].path, times[i].value);
        reading_gave(&r, text, reading_take(&r, text, (size_t)n));
        ck_assert_msg(r.q.time_ms == times[i].ms, "%s: %lld", text, (long long)r.q.time_ms);
        ck_assert(!r.q.unreadable == (times[i].ms >= 0));
        reading_end(&r);
    }
}
END_TEST

/* A group with more children than are searched one by one, in an order that no guess finds. */
START_TEST(many_paths_are_found_in_any_order)
{
    enum { COUNT = 200 };
    struct ek_buf manifest, message;
    ek_buf_init(&manifest, 0);
    ek_buf_init(&message, 0);
    ek_buf_text(&manifest, "features:\n");
    ek_buf_text(&message, "{\"items\":[{\"unknown\":1");
    for (int i = 0; i < COUNT; i++) {
        ek_buf_printf(&manifest, "  - {name: f%d, index: %d, role: item}\n", i, i + 1);
        ek_buf_printf(&message, ",\"f%d\":%d", i * 77 % COUNT, i * 77 % COUNT);
    }
    ek_buf_text(&message, "}]}");
    struct reading r =
        reading_of(ek_buf_string(&manifest), &(struct ek_mapping){.features = "*"}, NULL);
    reading_gave(&r, "many", reading_take(&r, message.data, message.length));
    for (int i = 0; i < COUNT; i++)
        ck_assert(r.q.x[i] == (float)i);
    reading_end(&r);
    ek_buf_release(&manifest);
    ek_buf_release(&message);
}
END_TEST

Suite *suite_codec_paths(void)
{
    return ek_suite("codec_paths", lists_of_each_layout_are_read_and_patched_in_place,
                    query_features_may_have_paths_of_their_own, ids_in_columns_keep_their_digits,
                    faults_of_a_layout_name_their_field, a_mapping_names_features_of_the_manifest,
                    times_are_milliseconds_seconds_or_text, many_paths_are_found_in_any_order);
}
