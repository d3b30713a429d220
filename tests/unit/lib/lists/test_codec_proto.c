/* Protobuf descriptors and messages: errors, frames, order and parts of fields, absent values,
 * limits and patches. Random messages of Google's library are in tests/schemas. */
#include "lists/message_schema.h"
#include "tests/check.h"
#include "tests/descriptors.h"
#include "tests/reading.h"

#include <math.h>

static const char FEATURES[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: rating, index: 2, role: item}\n";

#define LIST "message List\n one query 1 string\n repeated items 2 .shop.Item\n end\n"
#define ITEM3                                                                                      \
    "message Item\n one id 1 string\n one score 2 float\n repeated features 3 float\n end\n"

static const char SIMPLE[] = "syntax proto3\npackage shop\n" LIST ITEM3;

static const struct ek_message_schema *find(void *context, int64_t key, struct ek_error *e);

/* A codec of one schema, and the key of the last message. */
struct proto {
    struct ek_message_schema *schema;
    struct ek_schema_set source;
    struct ek_mapping mapping;
    struct ek_buf item;
    int64_t key;
    struct reading r;
};

static const struct ek_message_schema *find(void *context, int64_t key, struct ek_error *e)
{
    struct proto *p = context;
    (void)e;
    p->key = key;
    return p->schema;
}

static int compile(const char *file, const struct ek_proto_type *type,
                   const struct ek_mapping *mapping, struct ek_message_schema **out,
                   struct ek_error *e)
{
    const struct ek_proto_type first = {NULL, 0};
    struct ek_buf set;
    ek_buf_init(&set, 0);
    descriptor_set(&set, file);
    int rc = ek_proto_new(out, (struct ek_text){(const char *)set.data, set.length},
                          type ? type : &first, mapping, e);
    ek_buf_release(&set);
    return rc;
}

static void proto_start(struct proto *p, const char *file, enum ek_schema_frame frame,
                        const struct ek_mapping *mapping)
{
    struct ek_error e;
    *p = (struct proto){.source = {.find = find, .frame = frame, .is_proto = true}};
    p->mapping = mapping ? *mapping : (struct ek_mapping){0};
    p->mapping.encoding = EK_MESSAGES_PROTOBUF;
    p->mapping.schemas = &p->source;
    p->source.context = p;
    ck_assert_msg(!compile(file, NULL, &p->mapping, &p->schema, &e), "%s", e.message);
    p->r = reading_of(FEATURES, &p->mapping, NULL);
    ek_buf_init(&p->item, 0);
}

static void proto_end(struct proto *p)
{
    reading_end(&p->r);
    ek_buf_release(&p->item);
    ek_message_schema_free(p->schema);
}

static int take(struct proto *p)
{
    int rc = reading_take(&p->r, p->r.message.data, p->r.message.length);
    ek_buf_clear(&p->r.message);
    return rc;
}

static void takes(struct proto *p)
{
    reading_gave(&p->r, "a message", take(p));
}

static void refuses(struct proto *p, int code, const char *message)
{
    reading_failed(&p->r, "a message", take(p), code, message);
}

/* An item with two features. */
static void put_item(struct proto *p, float score, float price)
{
    proto_text(&p->item, 1, "h1");
    proto_float(&p->item, 2, score);
    proto_bytes(&p->item, 3, (float[]){price, 4.5f}, 2 * sizeof(float));
    proto_message(&p->r.message, 2, &p->item);
}

static void cannot_compile(const char *file, const struct ek_proto_type *type,
                           const struct ek_mapping *mapping, int code, const char *message)
{
    struct ek_message_schema *s;
    struct ek_error e = {0};
    ck_assert_int_eq(compile(file, type, mapping, &s, &e), code);
    ck_assert_str_eq(e.message, message);
}

START_TEST(invalid_descriptors_name_their_fault)
{
    static const char no_set[] = "it has no valid descriptors; write it with `protoc "
                                 "--include_imports --descriptor_set_out=FILE`";
    static const struct {
        const char *file, *message;
    } bad[] = {
        {"package shop\nmessage List\n one x 1 .shop.Other\n end\n",
         "unknown type 'shop.Other' of field 'x'; write the file with `protoc --include_imports`"},
        {"message List\n one x 1 enum.List\n end\n",
         "unknown type 'List' of field 'x'; write the file with `protoc --include_imports`"},
        {"message List\n one x 0 int32\n end\n", no_set},
        {"message List\n one x 1 nothing\n end\n", no_set},
        {"message List\n message MEntry\n one key 1 string\n end\n repeated m 1 .List.MEntry\n "
         "end\n",
         no_set},
        {"enum E\n = A 0\n end\n", "the schema has no message with the indexes of the frame"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cannot_compile(bad[i].file, NULL, NULL, EK_ECONFIG, bad[i].message);
    struct ek_message_schema *s;
    struct ek_error e;
    static const char *const texts[] = {"", "syntax = \"proto3\";", "\x0a\x03\x22\x05x",
                                        "\x0a\x04\x22\x02\x0a\x05", "{\"type\": \"record\"}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ck_assert_int_eq(
            ek_proto_new(&s, ek_text_from(texts[i]), &(struct ek_proto_type){0}, NULL, &e),
            EK_ECONFIG);
        ck_assert_str_eq(e.message, no_set);
    }
}
END_TEST

START_TEST(a_message_is_found_by_its_name_or_its_indexes)
{
    static const char file[] = "package shop\nmessage A\n one x 1 int32\n end\nmessage B\n "
                               "message MEntry\n one key 1 string\n one value 2 int32\n end\n "
                               "message C\n one items 5 int32\n end\n repeated m 1 "
                               ".shop.B.MEntry\n end\n";
    static const struct ek_proto_type named = {"shop.B.C", 0}, unknown = {"shop.D", 0},
                                      nested = {NULL, 1 << 24 | 1 << 16},
                                      none = {NULL, 1 << 24 | 1 << 16 | 1 << 8};
    const struct ek_mapping mapping = {.items = "items.x"};
    static const char no_items[] = "'message.items' is 'items.x', but the schema has no field "
                                   "'items' there, did you mean 'items'?";
    cannot_compile(file, &named, &mapping, EK_ECONFIG, no_items);
    cannot_compile(file, &nested, &mapping, EK_ECONFIG, no_items);
    cannot_compile(file, &unknown, &mapping, EK_ECONFIG,
                   "the schema has no message 'shop.D'; it has: shop.A, shop.B, shop.B.C");
    cannot_compile(file, &none, &mapping, EK_ECONFIG,
                   "the schema has no message with the indexes of the frame");
}
END_TEST

START_TEST(a_path_that_no_field_has_names_the_nearest)
{
    const struct ek_mapping near = {.score = "skore"}, text = {.score = "id"};
    cannot_compile(SIMPLE, NULL, &near, EK_ECONFIG,
                   "'message.score' is 'skore', but the schema has no field 'skore' there, did you "
                   "mean 'score'?");
    cannot_compile(SIMPLE, NULL, &text, EK_ECONFIG,
                   "'message.score' is 'id', which is of type string; use float or double");
}
END_TEST

START_TEST(descriptors_have_a_limited_size_depth_and_number_of_types)
{
    struct ek_message_schema *s;
    struct ek_error e;
    struct ek_buf file;
    char *zeros = calloc(EK_SCHEMA_BYTES_MAX + 1, 1);
    struct ek_text large = {zeros, EK_SCHEMA_BYTES_MAX + 1};
    ck_assert_int_eq(ek_proto_new(&s, large, &(struct ek_proto_type){0}, NULL, &e), EK_ELIMIT);
    ck_assert_str_eq(e.message, "the schema has 1048577 bytes, the limit is 1048576");
    free(zeros);
    for (int depth = 64; depth <= 65; depth++) {
        ek_buf_init(&file, 0);
        for (int i = 0; i < depth; i++)
            ek_buf_text(&file, "message M\n");
        for (int i = 0; i < depth; i++)
            ek_buf_text(&file, "end\n");
        ck_assert_int_eq(compile(ek_buf_string(&file), NULL, NULL, &s, &e),
                         depth == 64 ? EK_OK : EK_ELIMIT);
        if (depth == 64)
            ek_message_schema_free(s);
        ek_buf_release(&file);
    }
    ck_assert_str_eq(e.message, "more than 4096 types, or nested deeper than 64 levels");
    for (int count = EK_SCHEMA_NAMED_MAX; count <= EK_SCHEMA_NAMED_MAX + 1; count++) {
        ek_buf_init(&file, 0);
        for (int i = 0; i < count; i++)
            ek_buf_printf(&file, "message M%d\nend\n", i);
        int rc = compile(ek_buf_string(&file), NULL, NULL, &s, &e);
        ck_assert_int_eq(rc, count == EK_SCHEMA_NAMED_MAX ? EK_OK : EK_ELIMIT);
        if (!rc)
            ek_message_schema_free(s);
        ek_buf_release(&file);
    }
}
END_TEST

START_TEST(a_list_has_these_bytes)
{
    static const uint8_t bytes[] = {0x0a, 2,    'q',  '7', 0x12, 19,   0x0a, 2, 'h',
                                    '1',  0x15, 0,    0,   0xc0, 0x3f, 0x1a, 8, 0,
                                    0,    0xe0, 0x40, 0,   0,    0x90, 0x40};
    struct proto p;
    proto_start(&p, SIMPLE, EK_FRAME_NEVER, NULL);
    reading_gave(&p.r, "bytes", reading_take(&p.r, bytes, sizeof bytes));
    is_text(p.r.q.id, "q7");
    is_text(p.r.q.item_id[0], "h1");
    ck_assert(p.r.q.score[0] == 1.5 && p.r.q.x[0] == 7 && p.r.q.x[1] == 4.5f);
    ck_assert_int_eq(p.key, -1);
    proto_end(&p);
}
END_TEST

START_TEST(each_message_has_the_type_of_its_frame)
{
    static const struct {
        uint8_t bytes[10];
        size_t length;
        uint32_t indexes;
    } frames[] = {{{0, 0, 0, 1, 0, 0}, 6, 0},
                  {{0, 0, 0, 1, 0, 2, 0}, 7, 0},
                  {{0, 0, 0, 1, 0, 2, 4}, 7, 2 << 16},
                  {{0, 0, 0, 1, 0, 4, 2, 6}, 8, 1 << 24 | 1 << 16 | 3 << 8},
                  {{0, 0, 0, 1, 0, 6, 0, 2, 0xfe, 3}, 10, 2 << 24 | 1 << 8 | 255}};
    static const struct {
        uint8_t bytes[9];
        size_t length;
    } bad[] = {{{0, 0, 0, 1, 0}, 5},       {{0, 0, 0, 1, 0, 2}, 6},
               {{0, 0, 0, 1, 0, 8}, 6},    {{0, 0, 0, 1, 0, 1}, 6},
               {{0, 0, 0, 1, 0, 2, 1}, 7}, {{0, 0, 0, 1, 0, 2, 0x80, 4}, 8}};
    struct proto p;
    proto_start(&p, SIMPLE, EK_FRAME_ALWAYS, NULL);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        ek_buf_add(&p.r.message, frames[i].bytes, frames[i].length);
        put_item(&p, 1.5f, (float)i);
        takes(&p);
        ck_assert(p.r.q.x[0] == (float)i);
        ck_assert_uint_eq(ek_schema_key_id(p.key), 256);
        ck_assert_uint_eq(ek_schema_key_indexes(p.key), frames[i].indexes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ek_buf_add(&p.r.message, bad[i].bytes, bad[i].length);
        refuses(&p, EK_EFORMAT,
                "message: the frame has no message type of at most 3 indexes up to 255");
    }
    put_item(&p, 1, 1);
    ck_assert_int_eq(take(&p), EK_EFORMAT);
    proto_end(&p);
}
END_TEST

START_TEST(damaged_messages_name_the_byte)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *message;
    } bad[] = {
        {"\x12", 1, "message: the message of 1 bytes is cut short"},
        {"\x12\x05\x0a", 3, "message: the message of 3 bytes is cut short"},
        {"\x12\x01\x0a", 3, "message: the message of 3 bytes is cut short"},
        {"\x15\x00\x00", 3, "message: the message of 3 bytes is cut short"},
        {"\x1b\x08\x01", 3, "message: the message of 3 bytes is cut short"},
        {"\x00\x00", 2, "message: byte 1 does not fit the schema: a field with an invalid number"},
        {"\x0e", 1, "message: byte 1 does not fit the schema: an invalid wire type"},
        {"\x0c", 1,
         "message: byte 1 does not fit the schema: the end of a group that did not begin"},
        {"\x1b\x24", 2,
         "message: byte 2 does not fit the schema: the end of a group that did not begin"},
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x00", 12,
         "message: byte 11 does not fit the schema: an integer of more than 64 bits"},
        {"\x12\x04\x1a\x02\x00\x00", 6,
         "message: byte 6 does not fit the schema: a packed field is cut short"},
    };
    struct proto p;
    proto_start(&p, SIMPLE, EK_FRAME_NEVER, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ek_buf_add(&p.r.message, bad[i].bytes, bad[i].length);
        refuses(&p, EK_EFORMAT, bad[i].message);
    }
    proto_end(&p);
}
END_TEST

START_TEST(a_message_may_end_at_any_byte)
{
    struct proto p;
    struct ek_buf whole;
    proto_start(&p, SIMPLE, EK_FRAME_NEVER, NULL);
    ek_buf_init(&whole, 0);
    put_item(&p, 1, 2);
    put_item(&p, 3, 4);
    ek_buf_add(&whole, p.r.message.data, p.r.message.length);
    ek_buf_clear(&p.r.message);
    for (size_t length = 1; length <= whole.length; length++) {
        int rc = reading_take(&p.r, whole.data, length);
        bool is_whole = length == whole.length || length == whole.length / 2;
        ck_assert_int_eq(rc, is_whole ? EK_OK : EK_EFORMAT);
    }
    ek_buf_release(&whole);
    proto_end(&p);
}
END_TEST

START_TEST(fields_come_in_any_order_and_in_parts)
{
    struct proto p;
    proto_start(&p, SIMPLE, EK_FRAME_NEVER, NULL);
    proto_bytes(&p.item, 3, &(float){7}, 4); /* a part of the features */
    proto_number(&p.item, 2, 5);             /* another wire type: as unknown */
    proto_float(&p.item, 2, 2.5f);
    proto_varint(&p.item, 9 << 3 | PROTO_GROUP);
    proto_number(&p.item, 1, 1);
    proto_varint(&p.item, 10 << 3 | PROTO_GROUP);
    proto_varint(&p.item, 10 << 3 | PROTO_GROUP_END);
    proto_varint(&p.item, 9 << 3 | PROTO_GROUP_END);
    proto_float(&p.item, 3, 8); /* not packed */
    proto_text(&p.item, 1, "h1");
    proto_message(&p.r.message, 2, &p.item);
    proto_double(&p.r.message, 500, 1);
    proto_text(&p.r.message, 1, "\xff");
    put_item(&p, 1, 9);
    takes(&p);
    ck_assert_int_eq(p.r.q.items, 2);
    ck_assert(p.r.q.x[0] == 7 && p.r.q.x[1] == 8 && p.r.q.x[2] == 9 && p.r.q.score[0] == 2.5);
    is_text(p.r.q.id, "\xff");
    ck_assert_int_eq(
        ek_codec_patch(&p.r.q, p.r.bytes, p.r.length, (double[]){3, 4}, &p.r.out, NULL), EK_OK);
    ck_assert_uint_eq(p.r.out.length, p.r.length);
    proto_text(&p.r.message, 1, "a");
    proto_text(&p.r.message, 1, "b");
    put_item(&p, 1, 9);
    refuses(&p, EK_EFORMAT, "query: given twice");
    proto_end(&p);
}
END_TEST

START_TEST(numbers_of_all_types_are_features)
{
    static const char *const types[] = {"int64",  "uint64",   "int32",    "fixed64", "fixed32",
                                        "uint32", "sfixed32", "sfixed64", "sint32",  "sint64"};
    char file[300];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct proto p;
        snprintf(file, sizeof file,
                 "syntax proto3\npackage shop\n" LIST
                 "message Item\n one score 2 double\n repeated features 3 %s\n end\n",
                 types[i]);
        proto_start(&p, file, EK_FRAME_NEVER, NULL);
        bool is_fixed = strstr(types[i], "fixed"), is_wide = strstr(types[i], "64");
        uint64_t seven = *types[i] == 's' && types[i][1] == 'i' ? 14 : 7;
        ek_buf_clear(&p.item);
        for (int k = 0; k < 2; k++) {
            if (is_fixed)
                proto_varint(&p.item, 3 << 3 | (is_wide ? PROTO_FIXED64 : PROTO_FIXED32));
            if (is_fixed)
                ek_buf_add(&p.item, &seven, is_wide ? 8 : 4);
            else
                proto_number(&p.item, 3, seven);
        }
        proto_double(&p.item, 2, 1);
        proto_message(&p.r.message, 2, &p.item);
        takes(&p);
        ck_assert_msg(p.r.q.x[0] == 7 && p.r.q.x[1] == 7, "%s", types[i]);
        proto_end(&p);
    }
}
END_TEST

START_TEST(an_absent_number_is_0_and_an_absent_text_is_missing)
{
    static const struct ek_named_path segments[] = {{"kind", "kind"}, {"arm", "arm"}};
    static const struct ek_named_path features[] = {{"price", "cost"}, {"rating", "stars"}};
    const struct ek_mapping mapping = {
        .time_ms = "at", .segment_paths = {segments, 2}, .feature_paths = {features, 2}};
    struct proto p;
    struct ek_error e;
    proto_start(
        &p,
        "syntax proto3\nenum Kind\n = NONE 0\n = SOME 1\n end\nmessage List\n one query 1 "
        "int64\n repeated items 2 .Item\n one at 3 int64\n one kind 4 enum.Kind\n one arm 5 "
        "string\n end\nmessage Item\n one id 1 int32\n one score 2 float\n one cost 3 "
        "double\n optional stars 4 double\n end\n",
        EK_FRAME_NEVER, &mapping);
    proto_number(&p.item, 1, 0);
    proto_message(&p.r.message, 2, &p.item);
    proto_float(&p.item, 2, 2);
    proto_double(&p.item, 4, 3);
    proto_message(&p.r.message, 2, &p.item);
    takes(&p);
    ck_assert(!p.r.q.id.text && p.r.q.time_ms == -1);
    ck_assert_int_eq(p.r.q.segment_count, 1);
    is_text(ek_list_segment(&p.r.q, "kind"), "NONE");
    is_text(p.r.q.item_id[1], "0");
    ck_assert(p.r.q.x[0] == 0 && isnan(p.r.q.x[1]) && p.r.q.x[3] == 3 && p.r.q.score[0] == 0);
    ck_assert_int_eq(ek_codec_patch(&p.r.q, p.r.bytes, p.r.length, (double[]){3, 4}, &p.r.out, &e),
                     EK_EFORMAT);
    ck_assert_str_eq(e.message,
                     "items[0]: no score to replace: it is missing, an integer, or 0, which proto3 "
                     "leaves out; use `optional float` or `optional double`");
    proto_end(&p);
}
END_TEST

START_TEST(an_empty_list_has_other_fields)
{
    struct proto p;
    proto_start(&p, SIMPLE, EK_FRAME_NEVER, NULL);
    proto_text(&p.r.message, 1, "q1");
    takes(&p);
    ck_assert_int_eq(p.r.q.items, 0);
    proto_text(&p.r.message, 77, "of another type");
    refuses(&p, EK_EFORMAT, "items: missing");
    proto_end(&p);
}
END_TEST

START_TEST(timestamps_and_wrappers_need_no_file)
{
    const struct ek_mapping mapping = {.time_ms = "at"};
    struct proto p;
    struct ek_buf at;
    proto_start(
        &p,
        "syntax proto3\nmessage List\n one at 1 .google.protobuf.Timestamp\n repeated items "
        "2 .Item\n one more 3 .google.protobuf.Struct\n end\nmessage Item\n one score 1 "
        ".google.protobuf.DoubleValue\n repeated features 2 float\n end\n",
        EK_FRAME_NEVER, &mapping);
    ek_buf_init(&at, 0);
    for (int i = 0; i < 3; i++) {
        if (i)
            proto_number(&at, 1, 1790000000);
        if (i == 2)
            proto_number(&at, 2, 123999999);
        proto_message(&p.r.message, 1, &at);
        if (i == 2)
            proto_double(&at, 1, 2.5);
        if (i)
            proto_message(&p.item, 1, &at);
        proto_bytes(&p.item, 2, (float[]){1, 2}, 8);
        proto_message(&p.r.message, 2, &p.item);
        takes(&p);
        ck_assert_int_eq(p.r.q.time_ms, i == 2 ? 1790000000123 : i ? 1790000000000 : 0);
        ck_assert(i == 2 ? p.r.q.score[0] == 2.5 : i ? p.r.q.score[0] == 0 : isnan(p.r.q.score[0]));
        ck_assert_int_eq(
            ek_codec_patch(&p.r.q, p.r.bytes, p.r.length, &(double){4}, &p.r.out, NULL),
            i == 2 ? EK_OK : EK_EFORMAT);
    }
    ek_buf_release(&at);
    proto_end(&p);
}
END_TEST

START_TEST(names_of_types_may_be_relative_and_their_kind_absent)
{
    struct proto p;
    proto_start(&p,
                "syntax proto3\npackage shop.v1\nmessage List\n message Item\n one score 1 float\n "
                "repeated features 2 ?Row\n end\n repeated items 2 ?Item\n end\nmessage Row\n one "
                "name 1 string\n one value 2 double\n end\n",
                EK_FRAME_NEVER, NULL);
    struct ek_buf row;
    ek_buf_init(&row, 0);
    proto_text(&row, 1, "price");
    proto_double(&row, 2, 12.5);
    proto_message(&p.item, 2, &row);
    proto_text(&row, 1, "rating");
    proto_message(&p.item, 2, &row);
    proto_message(&p.r.message, 2, &p.item);
    takes(&p);
    ck_assert(p.r.q.x[0] == 12.5f && p.r.q.x[1] == 0);
    ek_buf_release(&row);
    proto_end(&p);
}
END_TEST

static double doubled(void *context, int item, int feature, double value, bool narrow)
{
    (void)context, (void)item, (void)feature, (void)narrow;
    return 2 * value;
}

static int repair(struct proto *p, struct ek_error *e)
{
    static const uint8_t wanted[] = {1, 1};
    struct ek_feature_patch patch = {.wanted = wanted, .value = doubled};
    return ek_codec_patch_features(p->r.codec, &p->r.q, p->r.bytes, p->r.length, &patch, &p->r.out,
                                   e);
}

START_TEST(features_in_one_run_are_repaired_in_place)
{
    struct proto p;
    struct ek_error e;
    proto_start(&p, SIMPLE, EK_FRAME_NEVER, NULL);
    put_item(&p, 1, 100);
    takes(&p);
    ck_assert_int_eq(repair(&p, &e), EK_OK);
    ck_assert_uint_eq(p.r.out.length, p.r.length);
    ck_assert_mem_eq(p.r.out.data + p.r.length - 8, ((float[]){200, 9}), 8);
    proto_float(&p.item, 3, 1);
    proto_float(&p.item, 3, 2);
    proto_message(&p.r.message, 2, &p.item);
    takes(&p);
    ck_assert_int_eq(repair(&p, &e), EK_EFORMAT);
    ck_assert_str_eq(e.message,
                     "items[0]: a feature is an integer, or in several parts of the message, and "
                     "cannot be repaired in place; use float or double, packed if repeated");
    proto_end(&p);
}
END_TEST

START_TEST(interleaved_columns_are_read_and_not_repaired)
{
    static const struct ek_named_path features[] = {{"price", "price"}, {"rating", "rating"}};
    const struct ek_mapping mapping = {.layout = EK_LAYOUT_COLUMNS, .feature_paths = {features, 2}};
    struct proto p;
    struct ek_error e;
    proto_start(&p,
                "syntax proto3\nmessage List\n repeated ids 1 string\n repeated scores 2 double\n "
                "repeated price 3 float\n repeated rating 4 float\n end\n",
                EK_FRAME_NEVER, &mapping);
    for (int i = 0; i < 2; i++) {
        proto_text(&p.r.message, 1, "a");
        proto_double(&p.r.message, 2, i);
        proto_float(&p.r.message, 3, 10);
        proto_float(&p.r.message, 4, 20);
    }
    takes(&p);
    ck_assert(p.r.q.items == 2 && p.r.q.x[0] == 10 && p.r.q.x[3] == 20 && p.r.q.score[1] == 1);
    ck_assert_int_eq(
        ek_codec_patch(&p.r.q, p.r.bytes, p.r.length, (double[]){3, 4}, &p.r.out, NULL), EK_OK);
    ck_assert_int_eq(repair(&p, &e), EK_EFORMAT);
    ck_assert_str_eq(e.message, "items[0]: the parts of a repeated field are not in one place, so "
                                "that features cannot be repaired");
    proto_end(&p);
}
END_TEST

START_TEST(an_integer_score_is_reported_by_check)
{
    struct ek_message_schema *s;
    struct ek_error e;
    const struct ek_mapping mapping = {0};
    ck_assert_int_eq(
        compile("syntax proto3\nmessage List\n repeated items 1 .Item\n "
                "end\nmessage Item\n one score 1 sint64\n one features 2 bytes\n end\n",
                NULL, &mapping, &s, &e),
        EK_OK);
    ck_assert_int_eq(ek_message_schema_check_score(s, &e), EK_ECONFIG);
    ck_assert_str_eq(e.message, "the score is of type integer, which cannot be replaced in place; "
                                "use float or double");
    ek_message_schema_free(s);
}
END_TEST

START_TEST(nested_messages_and_groups_are_read_up_to_the_depth)
{
    const struct ek_mapping all = {.features = "*"};
    struct proto p;
    struct ek_buf tree;
    ek_buf_init(&tree, 0);
    proto_start(&p,
                "syntax proto3\nmessage List\n repeated items 2 .Item\n end\nmessage Item\n one "
                "price 1 float\n one rating 2 float\n one tree 3 .Item\n end\n",
                EK_FRAME_NEVER, &all);
    for (int depth = 10; depth <= 100; depth += 90) {
        struct ek_buf inner;
        ek_buf_init(&inner, 0);
        for (int i = 0; i < depth; i++) {
            ek_buf_add(&inner, tree.data, tree.length);
            ek_buf_clear(&tree);
            proto_message(&tree, 3, &inner);
        }
        proto_message(&p.r.message, 2, &tree);
        int rc = take(&p);
        ck_assert_int_eq(rc, depth == 10 ? EK_OK : EK_ELIMIT);
        ek_buf_release(&inner);
    }
    for (int depth = 10; depth <= 100; depth += 90) {
        for (int i = 0; i < depth; i++)
            proto_varint(&p.r.message, 7 << 3 | PROTO_GROUP);
        for (int i = 0; i < depth; i++)
            proto_varint(&p.r.message, 7 << 3 | PROTO_GROUP_END);
        proto_float(&p.item, 1, 1);
        proto_message(&p.r.message, 2, &p.item);
        ck_assert_int_eq(take(&p), depth == 10 ? EK_OK : EK_EFORMAT);
    }
    ek_buf_release(&tree);
    proto_end(&p);
}
END_TEST

START_TEST(interleaved_parts_need_a_limited_time)
{
    enum { COLUMNS = 200, ROUNDS = 5000 };
    const struct ek_mapping mapping = {.layout = EK_LAYOUT_COLUMNS, .features = "rows"};
    struct ek_buf file;
    struct proto p;
    ek_buf_init(&file, 0);
    ek_buf_text(&file, "message List\n one rows 1 .Rows\n end\nmessage Rows\n");
    for (int i = 1; i <= COLUMNS; i++)
        ek_buf_printf(&file, " repeated c%d %d float\n", i, i);
    ek_buf_text(&file, "end\n");
    proto_start(&p, ek_buf_string(&file), EK_FRAME_NEVER, &mapping);
    for (int i = 0; i < ROUNDS; i++)
        for (uint32_t c = 1; c <= COLUMNS; c++)
            proto_bytes(&p.item, c, "", 0);
    proto_message(&p.r.message, 1, &p.item);
    int rc = take(&p);
    ck_assert_int_eq(rc, EK_ELIMIT);
    ck_assert_ptr_nonnull(strstr(p.r.e.message, "too many values"));
    ek_buf_release(&file);
    proto_end(&p);
}
END_TEST

Suite *suite_codec_proto(void)
{
    return ek_suite(
        "codec, Protobuf", invalid_descriptors_name_their_fault,
        a_message_is_found_by_its_name_or_its_indexes, a_path_that_no_field_has_names_the_nearest,
        descriptors_have_a_limited_size_depth_and_number_of_types, a_list_has_these_bytes,
        each_message_has_the_type_of_its_frame, damaged_messages_name_the_byte,
        a_message_may_end_at_any_byte, fields_come_in_any_order_and_in_parts,
        numbers_of_all_types_are_features, an_absent_number_is_0_and_an_absent_text_is_missing,
        an_empty_list_has_other_fields, timestamps_and_wrappers_need_no_file,
        names_of_types_may_be_relative_and_their_kind_absent,
        features_in_one_run_are_repaired_in_place, interleaved_columns_are_read_and_not_repaired,
        an_integer_score_is_reported_by_check, nested_messages_and_groups_are_read_up_to_the_depth,
        interleaved_parts_need_a_limited_time);
}
