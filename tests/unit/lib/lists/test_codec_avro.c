/* Avro schemas and messages: errors, frames, blocks, limits and patches. Random messages of the
 * Avro libraries are in tests/schemas. */
#include "lists/message_schema.h"
#include "tests/check.h"
#include "tests/reading.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char FEATURES[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: rating, index: 2, role: item}\n";

#define ITEM(score, features)                                                                      \
    "{\"type\": \"record\", \"name\": \"Item\", \"fields\": ["                                     \
    "{\"name\": \"id\", \"type\": \"string\"}, {\"name\": \"score\", \"type\": " score "},"        \
    "{\"name\": \"features\", \"type\": " features "}]}"
#define LIST(more, item)                                                                           \
    "{\"type\": \"record\", \"name\": \"List\", \"namespace\": \"shop\", \"fields\": [" more       \
    "{\"name\": \"items\", \"type\": {\"type\": \"array\", \"items\": " item "}}]}"
#define FLOATS "{\"type\": \"array\", \"items\": \"float\"}"

static const struct ek_message_schema *find(void *context, int64_t id, struct ek_error *e)
{
    struct ek_message_schema *const *schemas = context;
    if (id < 2)
        return schemas[id < 0 ? 0 : id];
    ek_fail(e, EK_EFORMAT, "schema id %d: not there", (int)id);
    return NULL;
}

/* A codec of up to two schemas. */
struct avro {
    struct ek_message_schema *schema[2];
    struct ek_schema_set source;
    struct ek_mapping mapping;
    struct reading r;
};

static void avro_start(struct avro *a, const char *first, const char *second,
                       enum ek_schema_frame frame, const struct ek_mapping *mapping)
{
    const char *const texts[] = {first, second};
    struct ek_error e;
    *a = (struct avro){.source = {find, NULL, frame}};
    a->mapping = mapping ? *mapping : (struct ek_mapping){0};
    a->mapping.encoding = EK_MESSAGES_AVRO;
    a->mapping.schemas = &a->source;
    a->source.context = a->schema;
    for (int i = 0; i < 2 && texts[i]; i++) {
        struct ek_text text = ek_text_from(texts[i]);
        ck_assert_msg(!ek_avro_new(&a->schema[i], &text, 1, &a->mapping, &e), "%s", e.message);
    }
    a->r = reading_of(FEATURES, &a->mapping, NULL);
}

static void avro_end(struct avro *a)
{
    reading_end(&a->r);
    ek_message_schema_free(a->schema[0]);
    ek_message_schema_free(a->schema[1]);
}

static void put(struct avro *a, const void *bytes, size_t length)
{
    ck_assert_int_eq(ek_buf_add(&a->r.message, bytes, length), EK_OK);
}

static void put_long(struct avro *a, int64_t value)
{
    uint64_t bits = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
    for (; bits >> 7; bits >>= 7)
        put(a, &(uint8_t){(uint8_t)(bits | 0x80)}, 1);
    put(a, &(uint8_t){(uint8_t)bits}, 1);
}

static void put_text(struct avro *a, const char *text)
{
    put_long(a, (int64_t)strlen(text));
    put(a, text, strlen(text));
}

static void put_floats(struct avro *a, const float *values, int count)
{
    put(a, values, sizeof *values * (size_t)count);
}

static int take(struct avro *a)
{
    int rc = reading_take(&a->r, a->r.message.data, a->r.message.length);
    ek_buf_clear(&a->r.message);
    return rc;
}

static void takes(struct avro *a)
{
    reading_gave(&a->r, "a message", take(a));
}

static void refuses(struct avro *a, int code, const char *message)
{
    reading_failed(&a->r, "a message", take(a), code, message);
}

/* A list of one item with two features. */
static void put_list(struct avro *a, float price)
{
    put_long(a, 1);
    put_text(a, "h1");
    put_floats(a, &(float){1.5f}, 1);
    put_long(a, 2);
    put_floats(a, (float[]){price, 4.5f}, 2);
    put_long(a, 0);
    put_long(a, 0);
}

static const char SIMPLE[] = LIST("", ITEM("\"float\"", FLOATS));

START_TEST(invalid_schemas_name_their_fault)
{
    static const struct {
        const char *schema, *message;
    } bad[] = {
        {"{\"type\": ", "the schema is no JSON: line 1, column 10: unexpected end of data"},
        {"{\"type\": \"record\", \"fields\": []}", "a record has no 'name'"},
        {"{\"type\": \"record\", \"name\": \"A\"}", "a record has no 'fields'"},
        {"{\"type\": \"record\", \"name\": \"A\", \"fields\": [{\"name\": \"x\"}]}",
         "a field has no 'name' or no 'type'"},
        {"{\"type\": \"nothing\"}", "unknown type 'nothing'"},
        {"{\"name\": \"A\"}", "a type has no 'type'"},
        {"{\"type\": \"array\"}", "a type 'array' has no 'items'"},
        {"{\"type\": \"map\"}", "a type 'map' has no 'values'"},
        {"{\"type\": \"enum\", \"name\": \"E\"}", "an enum has no 'symbols'"},
        {"{\"type\": \"enum\", \"name\": \"E\", \"symbols\": [1]}",
         "a symbol of an enum is no string"},
        {"{\"type\": \"fixed\", \"name\": \"F\"}", "a fixed has no 'size'"},
        {"[\"null\", [\"int\"]]", "a union is directly within a union"},
        {"[1]", "a type is neither a string, an object nor an array"},
        {"[{\"type\": \"fixed\", \"name\": \"F\", \"size\": 1}, {\"type\": \"fixed\", \"name\": "
         "\"F\", \"size\": 2}]",
         "duplicate type 'F'"},
        {"{\"type\": \"record\", \"name\": \"A\", \"fields\": [{\"name\": \"a\", \"type\": "
         "\"A\"}]}",
         "the record 'A' contains itself without an end"},
        {"{\"type\": \"record\", \"name\": \"\", \"fields\": []}",
         "the name '' is empty or longer than 255 bytes"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ek_message_schema *s;
        struct ek_error e = {0};
        struct ek_text text = ek_text_from(bad[i].schema);
        ck_assert_int_eq(ek_avro_new(&s, &text, 1, NULL, &e), EK_ECONFIG);
        ck_assert_str_eq(e.message, bad[i].message);
    }
}
END_TEST

START_TEST(a_path_that_no_field_has_names_the_nearest)
{
    static const struct {
        struct ek_mapping mapping;
        const char *message;
    } bad[] = {
        {{.score = "skore"},
         "'message.score' is 'skore', but the schema has no field 'skore' there, "
         "did you mean 'score'?"},
        {{.query = "search"},
         "'message.query' is 'search', but the schema has no field 'search' "
         "there; it has: items"},
        {{.items = "rows"},
         "'message.items' is 'rows', but the schema has no field 'rows' there; it "
         "has: items"},
        {{.label = "id.x"},
         "'message.label' is 'id.x', but the schema has no field 'id' there, did "
         "you mean 'id'?"},
        {{.score = "id"}, "'message.score' is 'id', which is of type string; use float or double"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ek_message_schema *s;
        struct ek_error e = {0};
        struct ek_text text = ek_text_from(SIMPLE);
        ck_assert_int_eq(ek_avro_new(&s, &text, 1, &bad[i].mapping, &e), EK_ECONFIG);
        if (i != 3)
            ck_assert_str_eq(e.message, bad[i].message);
    }
}
END_TEST

START_TEST(a_schema_has_a_limited_size_depth_and_number_of_types)
{
    struct ek_message_schema *s;
    struct ek_error e;
    char *text = malloc((size_t)EK_SCHEMA_BYTES_MAX + 2);
    struct ek_text view = {text, 0};
    struct ek_buf many;
    memset(text, ' ', (size_t)EK_SCHEMA_BYTES_MAX + 1);
    memcpy(text, "[\"int\"]", 7);
    view.length = EK_SCHEMA_BYTES_MAX;
    ck_assert_int_eq(ek_avro_new(&s, &view, 1, NULL, &e), EK_OK);
    ek_message_schema_free(s);
    view.length++;
    ck_assert_int_eq(ek_avro_new(&s, &view, 1, NULL, &e), EK_ELIMIT);
    ck_assert_str_eq(e.message, "the schema has 1048577 bytes, the limit is 1048576");
    free(text);
    for (int depth = 30; depth <= 40; depth += 10) {
        ek_buf_init(&many, 0);
        for (int i = 0; i < 2 * depth; i++)
            ek_buf_text(&many, "{\"type\": \"array\", \"items\": ");
        ek_buf_text(&many, "\"int\"");
        for (int i = 0; i < 2 * depth; i++)
            ek_buf_text(&many, "}");
        view = (struct ek_text){(const char *)many.data, many.length};
        ck_assert_int_eq(ek_avro_new(&s, &view, 1, NULL, &e), depth == 30 ? EK_OK : EK_ELIMIT);
        if (depth == 30)
            ek_message_schema_free(s);
        ek_buf_release(&many);
    }
    for (int count = EK_SCHEMA_NAMED_MAX; count <= EK_SCHEMA_NAMED_MAX + 1; count++) {
        ek_buf_init(&many, 0);
        for (int i = 0; i < count; i++)
            ek_buf_printf(&many, "%s{\"type\": \"fixed\", \"name\": \"F%d\", \"size\": 1}",
                          i ? ", " : "[", i);
        ek_buf_text(&many, "]");
        view = (struct ek_text){(const char *)many.data, many.length};
        int rc = ek_avro_new(&s, &view, 1, NULL, &e);
        ck_assert_int_eq(rc, count == EK_SCHEMA_NAMED_MAX ? EK_OK : EK_ELIMIT);
        if (!rc)
            ek_message_schema_free(s);
        ek_buf_release(&many);
    }
}
END_TEST

START_TEST(each_message_has_the_schema_of_its_id)
{
    struct avro a;
    avro_start(&a, SIMPLE,
               LIST("{\"name\": \"query\", \"type\": \"long\"}, ", ITEM("\"float\"", FLOATS)),
               EK_FRAME_ALWAYS, NULL);
    for (int i = 0; i < 4; i++) {
        put(&a, (uint8_t[]){0, 0, 0, 0, (uint8_t)(i % 2)}, 5);
        if (i % 2)
            put_long(&a, 100 + i);
        put_list(&a, (float)i);
        takes(&a);
        ck_assert(a.r.q.x[0] == (float)i && a.r.q.x[1] == 4.5f && a.r.q.score[0] == 1.5);
        is_text(a.r.q.id, i == 1 ? "101" : i == 3 ? "103" : "");
    }
    put(&a, (uint8_t[]){0, 0, 0, 0, 7}, 5);
    refuses(&a, EK_EFORMAT, "message: schema id 7: not there");
    put_list(&a, 1);
    refuses(
        &a, EK_EFORMAT,
        "message: it does not begin with a zero byte and a schema id; if messages have none, set "
        "'message.framing: none'");
    avro_end(&a);
}
END_TEST

START_TEST(a_schema_uses_the_types_of_those_before_it)
{
    struct ek_message_schema *s;
    struct ek_error e;
    struct ek_text texts[] = {ek_text_from(ITEM("\"float\"", FLOATS)),
                              ek_text_from(LIST("", "\"Item\""))};
    struct ek_mapping mapping = {0};
    ck_assert_msg(!ek_avro_new(&s, texts, 2, &mapping, &e), "%s", e.message);
    ek_message_schema_free(s);
    ck_assert_int_eq(ek_avro_new(&s, texts + 1, 1, &mapping, &e), EK_ECONFIG);
    ck_assert_str_eq(e.message, "unknown type 'Item'");
}
END_TEST

START_TEST(arrays_may_have_several_blocks_with_sizes)
{
    struct avro a;
    avro_start(&a,
               LIST("{\"name\": \"more\", \"type\": {\"type\": \"map\", \"values\": \"int\"}}, ",
                    ITEM("\"double\"", FLOATS)),
               NULL, EK_FRAME_NEVER, NULL);
    put_long(&a, -1); /* a map of one entry, with its size: skipped as it is */
    put_long(&a, 3);
    put(&a, "???", 3);
    put_long(&a, 0);
    put_long(&a, 1);
    put_text(&a, "h1");
    put(&a, &(double){2.5}, 8);
    put_long(&a, -1);
    put_long(&a, 4);
    put_floats(&a, (float[]){9}, 1);
    put_long(&a, 1);
    put_floats(&a, (float[]){7}, 1);
    put_long(&a, 0);
    put_long(&a, 0);
    takes(&a);
    ck_assert(a.r.q.x[0] == 9 && a.r.q.x[1] == 7 && a.r.q.score[0] == 2.5);
    put_long(&a, 0);
    put_long(&a, 1);
    put_text(&a, "h1");
    put(&a, &(double){2.5}, 8);
    put_long(&a, -2);
    put_long(&a, 9);
    put_floats(&a, (float[]){9, 7}, 2);
    put(&a, "\0\0\0", 3);
    refuses(&a, EK_EFORMAT,
            "message: byte 23 does not fit the schema: a block has another size than it says");
    avro_end(&a);
}
END_TEST

START_TEST(damaged_messages_name_the_byte)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *message;
    } bad[] = {
        {"\x02", 1, "message: the message of 1 bytes is cut short"},
        {"\x00\x00", 2,
         "message: byte 1 does not fit the schema: bytes follow the end of the message"},
        {"\x02\x03", 2, "message: the message of 2 bytes is cut short"},
        {"\x20\x03", 2, "message: the message of 2 bytes is cut short"},
        {"\x04\x03\0\0\0\0\0\0\0\0\0\0\0\0", 14,
         "message: byte 2 does not fit the schema: a negative length"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10,
         "message: byte 10 does not fit the schema: a block of too many values"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10,
         "message: byte 10 does not fit the schema: an integer of more than 64 bits"},
    };
    struct avro a;
    avro_start(&a, SIMPLE, NULL, EK_FRAME_NEVER, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put(&a, bad[i].bytes, bad[i].length);
        int rc = take(&a);
        ck_assert_int_eq(rc, EK_EFORMAT);
        if (i != 6)
            ck_assert_str_eq(a.r.e.message, bad[i].message);
    }
    put_list(&a, 1);
    put_floats(&a, (float[]){1}, 1);
    refuses(&a, EK_EFORMAT,
            "message: byte 19 does not fit the schema: bytes follow the end of the message");
    avro_end(&a);
}
END_TEST

/* No branch is a float, and 0xff begins the index of none. */
START_TEST(an_invalid_branch_of_a_feature_is_refused)
{
    struct avro a;
    avro_start(
        &a, LIST("", ITEM("\"float\"", "{\"type\": \"array\", \"items\": [\"null\", \"double\"]}")),
        NULL, EK_FRAME_NEVER, NULL);
    put_long(&a, 1);
    put_text(&a, "h1");
    put_floats(&a, &(float){1.5f}, 1);
    put_long(&a, 2);
    put(&a, "\xff\0\0\0\0\xff\0\0\0\0", 10);
    put_long(&a, 0);
    put_long(&a, 0);
    refuses(&a, EK_EFORMAT, "message: byte 11 does not fit the schema: a union has no such branch");
    avro_end(&a);
}
END_TEST

START_TEST(recursive_types_are_read_up_to_the_depth)
{
    struct avro a;
    avro_start(&a,
               LIST("{\"name\": \"tree\", \"type\": {\"type\": \"record\", \"name\": \"Tree\", "
                    "\"fields\": [{\"name\": \"next\", \"type\": [\"null\", \"shop.Tree\"]}]}}, ",
                    ITEM("\"float\"", FLOATS)),
               NULL, EK_FRAME_NEVER, NULL);
    for (int depth = 10; depth <= 1000; depth += 990) {
        for (int i = 0; i < depth; i++)
            put_long(&a, 1);
        put_long(&a, 0);
        put_list(&a, 3);
        if (depth == 10)
            takes(&a);
        else
            ck_assert_int_eq(take(&a), EK_ELIMIT);
    }
    avro_end(&a);
}
END_TEST

START_TEST(values_without_bytes_are_limited)
{
    struct avro a;
    avro_start(&a,
               LIST("{\"name\": \"nulls\", \"type\": {\"type\": \"array\", \"items\": {\"type\": "
                    "\"record\", \"name\": \"E\", \"fields\": []}}}, ",
                    ITEM("\"float\"", FLOATS)),
               NULL, EK_FRAME_NEVER, NULL);
    put_long(&a, 1000000);
    put_long(&a, 0);
    put_list(&a, 3);
    takes(&a);
    put_long(&a, INT64_C(1) << 60);
    put_long(&a, 0);
    put_list(&a, 3);
    refuses(&a, EK_EFORMAT,
            "message: byte 9 does not fit the schema: a block of too many values without bytes");
    for (int i = 0; i < 3; i++)
        put_long(&a, 1000000);
    put_long(&a, 0);
    put_list(&a, 3);
    ck_assert_int_eq(take(&a), EK_ELIMIT);
    avro_end(&a);
}
END_TEST

START_TEST(names_of_fields_need_no_more_memory_than_the_limit)
{
    struct ek_buf schema;
    struct avro a;
    ek_buf_init(&schema, 0);
    ek_buf_text(&schema,
                "{\"type\": \"record\", \"name\": \"L\", \"fields\": [{\"name\": \"segments\", "
                "\"type\": {\"type\": \"array\", \"items\": {\"type\": \"record\", \"name\": "
                "\"N\", \"fields\": [");
    for (int i = 0; i < 200; i++)
        ek_buf_printf(&schema,
                      "%s{\"name\": \"a_rather_long_name_of_a_field_%d\", \"type\": \"null\"}",
                      i ? ", " : "", i);
    ek_buf_text(&schema,
                "]}}}, {\"name\": \"items\", \"type\": {\"type\": \"array\", \"items\": " ITEM(
                    "\"float\"", FLOATS) "}}]}");
    avro_start(&a, ek_buf_string(&schema), NULL, EK_FRAME_NEVER, NULL);
    put_long(&a, 4000);
    put_long(&a, 0);
    put_list(&a, 3);
    refuses(&a, EK_ELIMIT,
            "message: byte 2 does not fit the schema: its values and names are too long");
    put_long(&a, 100);
    put_long(&a, 0);
    put_list(&a, 3);
    takes(&a);
    ek_buf_release(&schema);
    avro_end(&a);
}
END_TEST

START_TEST(a_score_without_a_fixed_width_is_read_and_not_replaced)
{
    struct avro a;
    struct ek_error e;
    avro_start(&a, LIST("", ITEM("\"int\"", FLOATS)), NULL, EK_FRAME_NEVER, NULL);
    ck_assert_int_eq(ek_message_schema_check_score(a.schema[0], &e), EK_ECONFIG);
    ck_assert_str_eq(e.message, "the score is of type int, which cannot be replaced in place; "
                                "use float or double");
    put_long(&a, 1);
    put_text(&a, "h1");
    put_long(&a, 17);
    put_long(&a, 2);
    put_floats(&a, (float[]){1, 2}, 2);
    put(&a, "\0\0", 2);
    takes(&a);
    ck_assert(a.r.q.score[0] == 17);
    ck_assert_int_eq(ek_codec_patch(&a.r.q, a.r.bytes, a.r.length, &(double){1}, &a.r.out, &e),
                     EK_EFORMAT);
    ck_assert_str_eq(e.message, "items[0]: no score to replace: it is missing, null, or an integer "
                                "without a fixed width");
    avro_end(&a);
}
END_TEST

START_TEST(a_score_is_replaced_within_its_frame)
{
    struct avro a;
    avro_start(&a, SIMPLE, NULL, EK_FRAME_ALWAYS, NULL);
    put(&a, (uint8_t[]){0, 0, 0, 0, 0}, 5);
    put_list(&a, 3);
    takes(&a);
    ck_assert_int_eq(ek_codec_patch(&a.r.q, a.r.bytes, a.r.length, &(double){-2}, &a.r.out, NULL),
                     EK_OK);
    ck_assert_uint_eq(a.r.out.length, a.r.length);
    ck_assert_mem_eq(a.r.out.data, a.r.bytes, 9);
    ck_assert_mem_eq(a.r.out.data + 9, &(float){-2}, 4);
    ck_assert_mem_eq(a.r.out.data + 13, a.r.bytes + 13, a.r.length - 13);
    avro_end(&a);
}
END_TEST

START_TEST(features_and_segments_have_paths_of_their_own)
{
    static const struct ek_named_path features[] = {{"price", "stats.cost"}, {"rating", "stars"}};
    static const struct ek_named_path segments[] = {{"arm", "arm"}};
    const struct ek_mapping mapping = {.feature_paths = {features, 2},
                                       .segment_paths = {segments, 1}};
    struct ek_mapping wrong = mapping;
    struct avro a;
    avro_start(&a,
               LIST("{\"name\": \"arm\", \"type\": {\"type\": \"enum\", \"name\": \"Arm\", "
                    "\"symbols\": [\"A\", \"B\"]}}, ",
                    "{\"type\": \"record\", \"name\": \"I\", \"fields\": [{\"name\": \"score\", "
                    "\"type\": \"float\"}, {\"name\": \"more\", \"type\": \"string\"}, {\"name\": "
                    "\"stars\", \"type\": \"float\"}, {\"name\": \"stats\", \"type\": {\"type\": "
                    "\"record\", \"name\": \"S\", \"fields\": [{\"name\": \"cost\", \"type\": "
                    "[\"null\", \"double\"]}]}}]}"),
               NULL, EK_FRAME_NEVER, &mapping);
    put_long(&a, 1);
    put_long(&a, 1);
    put_floats(&a, (float[]){1}, 1);
    put_text(&a, "more");
    put_floats(&a, (float[]){4}, 1);
    put_long(&a, 1);
    put(&a, &(double){99.5}, 8);
    put(&a, "\0", 1);
    takes(&a);
    ck_assert(a.r.q.x[0] == 99.5f && a.r.q.x[1] == 4 && a.r.q.score[0] == 1);
    is_text(ek_list_segment(&a.r.q, "arm"), "B");
    struct ek_message_schema *s;
    struct ek_error e;
    struct ek_text text = ek_text_from(SIMPLE);
    wrong.segment_paths.count = 0;
    ck_assert_int_eq(ek_avro_new(&s, &text, 1, &wrong, &e), EK_ECONFIG);
    ck_assert_str_eq(e.message, "'message.features' is 'stats.cost', but the schema has no field "
                                "'stats' there; it has: id, score, features");
    avro_end(&a);
}
END_TEST

START_TEST(a_message_may_be_one_item)
{
    const struct ek_mapping mapping = {.layout = EK_LAYOUT_ITEM, .query = "list.id"};
    struct avro a;
    avro_start(
        &a,
        "{\"type\": \"record\", \"name\": \"L\", \"fields\": [{\"name\": \"list\", \"type\": "
        "{\"type\": \"record\", \"name\": \"Q\", \"fields\": [{\"name\": \"id\", \"type\": "
        "\"long\"}]}}, {\"name\": \"item\", \"type\": [\"null\", " ITEM("[\"null\", \"float\"]",
                                                                        FLOATS) "]}]}",
        NULL, EK_FRAME_NEVER, &mapping);
    put_long(&a, 77);
    put_long(&a, 1);
    put_text(&a, "h1");
    put_long(&a, 1);
    put_floats(&a, (float[]){1.5f}, 1);
    put_long(&a, 2);
    put_floats(&a, (float[]){3, 4}, 2);
    put(&a, "\0", 1);
    takes(&a);
    is_text(a.r.q.id, "77");
    ck_assert(a.r.q.one_item && a.r.q.x[1] == 4 && a.r.q.score[0] == 1.5);
    put_long(&a, 77);
    put_long(&a, 0);
    refuses(&a, EK_EFORMAT, "item: null, expected a record or a map");
    avro_end(&a);
}
END_TEST

START_TEST(columns_are_read_and_patched)
{
    const struct ek_mapping mapping = {.layout = EK_LAYOUT_COLUMNS};
    struct avro a;
    avro_start(&a,
               "{\"type\": \"record\", \"name\": \"C\", \"fields\": [{\"name\": \"ids\", "
               "\"type\": {\"type\": \"array\", \"items\": \"string\"}}, {\"name\": \"scores\", "
               "\"type\": {\"type\": \"array\", \"items\": \"double\"}}, {\"name\": "
               "\"features\", \"type\": {\"type\": \"map\", \"values\": {\"type\": \"array\", "
               "\"items\": \"float\"}}}]}",
               NULL, EK_FRAME_NEVER, &mapping);
    put_long(&a, 2);
    put_text(&a, "a");
    put_text(&a, "b");
    put_long(&a, 0);
    put_long(&a, 2);
    put(&a, (double[]){1, 2}, 16);
    put_long(&a, 0);
    put_long(&a, 1);
    put_text(&a, "price");
    put_long(&a, 2);
    put_floats(&a, (float[]){7, 8}, 2);
    put(&a, "\0\0", 2);
    takes(&a);
    ck_assert_int_eq(a.r.q.items, 2);
    ck_assert(a.r.q.x[0] == 7 && a.r.q.x[2] == 8 && a.r.q.score[1] == 2);
    ck_assert_int_eq(
        ek_codec_patch(&a.r.q, a.r.bytes, a.r.length, (double[]){3, 4}, &a.r.out, NULL), EK_OK);
    ck_assert_mem_eq(a.r.out.data + 7, ((double[]){3, 4}), 16);
    avro_end(&a);
}
END_TEST

START_TEST(a_decimal_is_no_number)
{
    struct avro a;
    avro_start(&a,
               LIST("", ITEM("\"float\"", "{\"type\": \"map\", \"values\": {\"type\": \"bytes\", "
                                          "\"logicalType\": \"decimal\", \"precision\": 9}}")),
               NULL, EK_FRAME_NEVER, NULL);
    put_long(&a, 1);
    put_text(&a, "h1");
    put_floats(&a, (float[]){1}, 1);
    put_long(&a, 1);
    put_text(&a, "price");
    put_text(&a, "ab");
    put(&a, "\0\0", 2);
    refuses(&a, EK_EFORMAT, "items[0].features.price: bin, expected a number or null");
    avro_end(&a);
}
END_TEST

START_TEST(a_wrong_number_of_features_is_refused)
{
    struct avro a;
    avro_start(&a, SIMPLE, NULL, EK_FRAME_NEVER, NULL);
    put_long(&a, 1);
    put_text(&a, "h1");
    put_floats(&a, (float[]){1}, 1);
    put_long(&a, 3);
    put_floats(&a, (float[]){1, 2, 3}, 3);
    put(&a, "\0\0", 2);
    refuses(&a, EK_EFORMAT, "items[0].features: 3 values, the manifest has 2");
    avro_end(&a);
}
END_TEST

Suite *suite_codec_avro(void)
{
    return ek_suite(
        "codec, Avro", invalid_schemas_name_their_fault, a_path_that_no_field_has_names_the_nearest,
        a_schema_has_a_limited_size_depth_and_number_of_types,
        each_message_has_the_schema_of_its_id, a_schema_uses_the_types_of_those_before_it,
        arrays_may_have_several_blocks_with_sizes, damaged_messages_name_the_byte,
        an_invalid_branch_of_a_feature_is_refused, recursive_types_are_read_up_to_the_depth,
        values_without_bytes_are_limited, names_of_fields_need_no_more_memory_than_the_limit,
        a_score_without_a_fixed_width_is_read_and_not_replaced,
        a_score_is_replaced_within_its_frame, features_and_segments_have_paths_of_their_own,
        a_message_may_be_one_item, columns_are_read_and_patched, a_decimal_is_no_number,
        a_wrong_number_of_features_is_refused);
}
