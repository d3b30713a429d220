/* JSON messages: decoding, error messages, and patches that change only scores. */
#include "lists/codec_json.h"

#include "tests/check.h"
#include "tests/reading.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct reading setup_with(const struct ek_mapping *mapping)
{
    return reading_of(READING_FEATURES, mapping, NULL);
}

static struct reading setup(void)
{
    return setup_with(&(struct ek_mapping){.encoding = EK_MESSAGES_JSON});
}

static void accepts(struct reading *b, const char *text)
{
    reading_gave(b, text, reading_take(b, text, strlen(text)));
}

static void refuses(struct reading *b, const char *text, int code, const char *message)
{
    reading_failed(b, text, reading_take(b, text, strlen(text)), code, message);
}

START_TEST(a_message_is_read_field_by_field)
{
    struct reading b = setup();
    accepts(&b, " {\"query\":\"q\\u002d1\", \"time_ms\":1790000000000,\r\n"
                "\t\"segments\": {\"arm\":\"B\",\"n\":5,\"new\":true,\"none\":null},"
                "\"other\":[{\"deep\":[[]]}], \"query_features\":[3],\n"
                "\"items\":[{\"id\":\"h\\\"1\\n\\u00e9\\ud83d\\ude00\",\"score\":1.25,"
                "\"features\":[129,null]},"
                "{\"features\":{\"rating\":-0.0,\"other\":{},\"price\":1e-3},\"id\":-7,"
                "\"score\":null,\"label\":2}]}\n");
    is_text(b.q.id, "q-1");
    ck_assert_int_eq(b.q.time_ms, 1790000000000);
    ck_assert_int_eq(b.q.segment_count, 3);
    is_text(ek_list_segment(&b.q, "n"), "5");
    is_text(ek_list_segment(&b.q, "new"), "true");
    ck_assert_int_eq(b.q.items, 2);
    is_text(b.q.item_id[0], "h\"1\n\xc3\xa9\xf0\x9f\x98\x80");
    is_text(b.q.item_id[1], "-7");
    ck_assert(b.q.score[0] == 1.25 && isnan(b.q.score[1]));
    ck_assert(b.q.x[0] == 129 && isnan(b.q.x[1]) && b.q.x[2] == 1e-3f);
    ck_assert(b.q.x[3] == 0 && signbit(b.q.x[3]));
    ck_assert(b.q.query[0] == 3);
    ck_assert(!b.q.has_label);
    reading_end(&b);
}
END_TEST

/* Each "0," of two bytes becomes nine. The parser has the memory of a message before. */
START_TEST(a_larger_message_of_short_numbers_fits_into_the_memory_of_a_smaller_one)
{
    enum { FIRST = 20000, ZEROS = 16900 };
    struct ek_json *json = NULL;
    struct ek_json_fault fault;
    struct ek_buf text;
    size_t length;
    ek_buf_init(&text, 0);
    ek_buf_printf(&text, "{\"x\":\"%*s\"}", FIRST, "");
    ck_assert_int_eq(ek_json_read(&json, text.data, text.length, 100, &fault), 0);
    ek_buf_clear(&text);
    ek_buf_text(&text, "{\"x\":[0");
    for (int i = 1; i < ZEROS; i++)
        ek_buf_text(&text, ",0");
    ek_buf_text(&text, "]}");
    ck_assert_int_eq(ek_json_read(&json, text.data, text.length, 100, &fault), 0);
    ck_assert_ptr_nonnull(ek_json_wire(json, &length));
    ck_assert_uint_ge(length, 9 * (size_t)ZEROS);
    ek_json_free(json);
    ek_buf_release(&text);
}
END_TEST

START_TEST(numbers_are_rounded_to_a_double_and_then_to_a_float)
{
    struct reading b = setup();
    accepts(&b, "{\"query_features\":[16777217],\"items\":["
                "{\"features\":[0.1,1e39]},{\"features\":[-1e300,1e-46]},"
                "{\"features\":[1e-45,123456789012345678901234567890]},"
                "{\"features\":{\"price\":9007199254740993,\"rating\":18446744073709551616}},"
                "{\"features\":{\"price\":-0,\"rating\":2.2250738585072011e-308},"
                "\"score\":0.1000000000000000055511151231257827021181583404541015625}]}");
    ck_assert(b.q.query[0] == 16777216);
    ck_assert(b.q.x[0] == 0.1f && b.q.x[1] == INFINITY);
    ck_assert(b.q.x[2] == -INFINITY && b.q.x[3] == 0);
    ck_assert(b.q.x[4] == 1e-45f && b.q.x[5] == 1.2345679e29f);
    ck_assert(b.q.x[6] == 9007199254740992.f && b.q.x[7] == 18446744073709551616.f);
    ck_assert(b.q.x[8] == 0 && signbit(b.q.x[8]) && b.q.x[9] == 0);
    ck_assert_double_eq(b.q.score[4], 0.1);
    reading_end(&b);
}
END_TEST

/* simdjson 3.0 rounds some of these incorrectly. */
START_TEST(numbers_of_many_digits_are_read_as_correctly_as_others)
{
    static const char *const numbers[] = {"0.95000000000000000000",
                                          "-0.1000000000000000055511151231257827021181583404541",
                                          "123456789012345678901234567890.5",
                                          "1000000000.000000000000000000001",
                                          "0.000000000000000000000000000000000001",
                                          "9007199254740993.0000000000000000000",
                                          "1.7976931348623157000000000000000000e308",
                                          "4.9406564584124654000000000000000e-324",
                                          "1.00000000000000000000000e-400",
                                          "-0.00000000000000000000000",
                                          "0.0000000000000000000000e999"};
    static const char *const bad[] = {"0.95000000000000000000e309", "01.9500000000000000000",
                                      "1.95000000000000000000e",    "1.95000000000000000000.",
                                      "-.95000000000000000000",     "195000000000000000000.",
                                      "1.9500000000000000000f",     "1.95000000000000000000e+-1"};
    char text[400];
    struct reading b = setup();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(text, sizeof text,
                 "{\"query_features\":[1],\"items\":[{\"score\": %s ,\"features\":[%s,%s]}]}",
                 numbers[i], numbers[i], numbers[i]);
        accepts(&b, text);
        double value = strtod(numbers[i], NULL);
        ck_assert_msg(b.q.score[0] == value, "%s: %.17g", numbers[i], b.q.score[0]);
        ck_assert(b.q.x[0] == (float)value && !signbit(b.q.x[1]) == !signbit(value));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "{\"x\":[%s]}", bad[i]);
        refuses(&b, text, EK_EFORMAT,
                "message: byte 6 is no JSON: no number, or one beyond the range of a double");
    }
    reading_end(&b);
}
END_TEST

START_TEST(what_is_no_json_is_refused_with_its_place)
{
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"{\"a\":1,}",
         "message: byte 5 is no JSON: expected a value, a comma, a colon or a bracket"},
        {"{\"a\":1e999}",
         "message: byte 5 is no JSON: no number, or one beyond the range of a double"},
        {"{\"a\":01}",
         "message: byte 5 is no JSON: no number, or one beyond the range of a double"},
        {"{\"a\":NaN}",
         "message: byte 5 is no JSON: expected a value, a comma, a colon or a bracket"},
        {"{\"a\":Infinity}",
         "message: byte 5 is no JSON: expected a value, a comma, a colon or a bracket"},
        {"{\"a\":-Infinity}",
         "message: byte 5 is no JSON: no number, or one beyond the range of a double"},
        {"{\"a\":nulll}", "message: byte 5 is no JSON: neither true, false nor null"},
        {"{\"a\":[1, tru]}", "message: byte 9 is no JSON: neither true, false nor null"},
        {"{\"a\":\"\\q\"}", "message: byte 5 is no JSON: a wrong escape within a text"},
        {"{\"a\":\"\\ud800\"}", "message: byte 5 is no JSON: a wrong escape within a text"},
        {"{\"\\x\":1}", "message: byte 1 is no JSON: a wrong escape within a text"},
        {"{\"a\":\"\t\"}", "message: the 9 bytes are no JSON: a control character within a text"},
        {"{\"a\":\"\xff\"}", "message: the 9 bytes are no JSON: not UTF-8"},
        {"{\"a\":\"x", "message: the 7 bytes are no JSON: a text does not end"},
        {"{\"a\":[1", "message: the 7 bytes are no JSON: it does not end with the bracket that "
                      "closes it"},
        {"{\"a\":1} x", "message: the 9 bytes are no JSON: it does not end with the bracket that "
                        "closes it"},
        {"{\"a\":1} {}", "message: byte 8 is no JSON: something follows the end of the object"},
        {"[1]", "message: the 3 bytes are no JSON: expected an object"},
        {"12", "message: the 2 bytes are no JSON: expected an object"},
        {"  ", "message: the 2 bytes are no JSON: expected a value, a comma, a colon or a bracket"},
        {"", "message: it is empty"},
    };
    struct reading b = setup();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses(&b, bad[i].text, EK_EFORMAT, bad[i].error);
    reading_end(&b);
}
END_TEST

START_TEST(what_is_no_message_is_refused_in_words_of_json)
{
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"{}", "items: missing"},
        {"{\"items\":{}}", "items: an object, expected an array"},
        {"{\"items\":[null]}", "items[0]: null, expected an object"},
        {"{\"items\":[{\"features\":[1,2]}]}", "query_features: missing"},
        {"{\"items\":[{\"features\":[1]}]}", "items[0].features: 1 values, the manifest has 2"},
        {"{\"items\":[{\"features\":\"x\"}]}",
         "items[0].features: text, expected an array or an object"},
        {"{\"items\":[{\"features\":[1,\"2\"]}]}",
         "items[0].features[1]: text, expected a number or null"},
        {"{\"items\":[{\"features\":{\"price\":1,\"price\":2}}]}",
         "items[0].features.price: given twice"},
        {"{\"items\":[{\"id\":1.5}]}", "items[0].id: a number, expected text or an integer"},
        {"{\"items\":[{\"score\":\"1\"}]}", "items[0].score: text, expected a number or null"},
        {"{\"query\":1,\"query\":2}", "query: given twice"},
    };
    struct reading b = setup();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refuses(&b, bad[i].text, EK_EFORMAT, bad[i].error);
    reading_end(&b);
}
END_TEST

/* Make a message with that many nested arrays in an unknown field. */
static void nest(char *text, size_t size, int count)
{
    char open[2001] = "", close[2001] = "";
    memset(open, '[', (size_t)count);
    memset(close, ']', (size_t)count);
    snprintf(text, size, "{\"x\":%.*s%.*s,\"query_features\":[1],\"items\":[]}", count, open, count,
             close);
}

START_TEST(nesting_beyond_the_limit_is_refused)
{
    char text[5000];
    struct reading b = setup();
    nest(text, sizeof text, 33);
    accepts(&b, text);
    nest(text, sizeof text, 34); /* the innermost is empty and does not count */
    refuses(&b, text, EK_ELIMIT, "x: nested deeper than 32 levels");
    nest(text, sizeof text, 2000);
    refuses(&b, text, EK_ELIMIT, "message: nested deeper than 32 levels");
    reading_end(&b);
}
END_TEST

START_TEST(every_prefix_of_a_message_is_refused)
{
    static const char whole[] =
        "{\"query\":\"q\\n1\",\"extra\":[1,{\"a\":true}],\"query_features\":"
        "[3],\"items\":[{\"score\":-1.5e2,\"features\":[1,null]}]}";
    struct reading b = setup();
    accepts(&b, whole);
    for (size_t length = 1; length + 1 < sizeof whole; length++) {
        ck_assert_int_eq(reading_take(&b, whole, length), EK_EFORMAT);
        ck_assert_msg(strstr(b.e.message, "no JSON: ") != NULL, "%zu: %s", length, b.e.message);
    }
    reading_end(&b);
}
END_TEST

static void patches(struct reading *b, const double *scores, const char *expected)
{
    int rc = ek_codec_patch(&b->q, b->bytes, b->length, scores, &b->out, &b->e);
    ck_assert_msg(rc == EK_OK, "%s", b->e.message);
    ck_assert_msg(b->out.length == strlen(expected) &&
                      !memcmp(b->out.data, expected, b->out.length),
                  "%.*s", (int)b->out.length, (const char *)b->out.data);
}

START_TEST(patching_replaces_nothing_but_the_digits_of_the_scores)
{
    struct reading b = setup();
    accepts(&b, " { \"query_features\" : [ 1 ], \"x\":{\"score\":9},\n"
                "\"items\":[ {\"score\" : 1.50 , \"features\":[1,2.000]},"
                "{\"features\":[1,2],\"score\":null\t,\"u\":\"\\u00e9\"},"
                "{\"score\":-1234567890123,\"features\":{\"price\":5}}] }  ");
    patches(&b, (double[]){0.1, -3, 1e-9},
            " { \"query_features\" : [ 1 ], \"x\":{\"score\":9},\n"
            "\"items\":[ {\"score\" : 0.1 , \"features\":[1,2.000]},"
            "{\"features\":[1,2],\"score\":-3\t,\"u\":\"\\u00e9\"},"
            "{\"score\":1e-09,\"features\":{\"price\":5}}] }  ");
    ck_assert_int_eq(ek_codec_patch(&b.q, b.bytes, b.length, (double[]){1, NAN, 1}, &b.out, &b.e),
                     EK_ESTATE);
    ck_assert_str_eq(b.e.message, "items[1]: JSON has no score that is no number");
    reading_end(&b);
}
END_TEST

START_TEST(the_frame_of_a_registry_is_skipped_and_kept)
{
    static const char text[] =
        "{\"query_features\":[1],\"items\":[{\"score\":1.5,\"features\":[1,2]}]}";
    static const char frame[] = {0, 0, 0, 1, '\n'};
    static const enum ek_message_encoding encodings[] = {EK_MESSAGES_JSON, EK_MESSAGES_EITHER};
    uint8_t bytes[sizeof frame + sizeof text];
    size_t length = sizeof bytes - 1;
    memcpy(bytes, frame, sizeof frame);
    memcpy(bytes + sizeof frame, text, sizeof text);
    ck_assert(ek_codec_has_json(bytes, length) && !ek_codec_is_json(bytes, length));
    ck_assert(!ek_codec_has_json(bytes, sizeof frame));
    for (int i = 0; i < 2; i++) {
        const struct ek_mapping mapping = {.encoding = encodings[i]};
        struct reading b = setup_with(&mapping);
        ck_assert_int_eq(ek_codec_decode(b.codec, bytes, length, &b.q, &b.e), EK_OK);
        ck_assert_double_eq(b.q.score[0], 1.5);
        ck_assert_int_eq(ek_codec_patch(&b.q, bytes, length, (double[]){-3}, &b.out, &b.e), EK_OK);
        ck_assert_uint_eq(b.out.length, length - 1);
        ck_assert_mem_eq(b.out.data, frame, sizeof frame);
        ck_assert_ptr_nonnull(strstr(ek_buf_string(&b.out) + sizeof frame, "\"score\":-3,"));
        reading_end(&b);
    }
}
END_TEST

START_TEST(an_item_without_a_score_cannot_be_patched)
{
    struct reading b = setup();
    accepts(&b, "{\"query_features\":[1],\"items\":[{\"features\":[1,2]}]}");
    ck_assert_int_eq(ek_codec_patch(&b.q, b.bytes, b.length, (double[]){1}, &b.out, &b.e),
                     EK_EFORMAT);
    ck_assert_str_eq(b.e.message, "items[0]: no score to replace");
    reading_end(&b);
}
END_TEST

START_TEST(fields_can_have_other_names_and_depths)
{
    const struct ek_mapping mapping = {.encoding = EK_MESSAGES_JSON,
                                       .items = "result.hits",
                                       .query_features = "search.f",
                                       .score = "rank.score"};
    struct reading b = setup_with(&mapping);
    accepts(&b, "{\"search\":{\"f\":[1]},\"result\":{\"hits\":"
                "[{\"rank\":{\"score\":5},\"features\":[1,2]}]}}");
    patches(&b, (double[]){7.5},
            "{\"search\":{\"f\":[1]},\"result\":{\"hits\":"
            "[{\"rank\":{\"score\":7.5},\"features\":[1,2]}]}}");
    reading_end(&b);
}
END_TEST

START_TEST(each_encoding_refuses_the_other_and_either_takes_both)
{
    static const char json[] = "{\"query_features\":[1],\"items\":[]}";
    static const char msgpack[] = "\x82\xaequery_features\x91\x01\xa5items\x90";
    struct reading b = setup();
    ck_assert_int_eq(reading_take(&b, msgpack, sizeof msgpack - 1), EK_EFORMAT);
    ck_assert_str_eq(b.e.message, "message: it begins as MessagePack does, and JSON is expected");
    reading_end(&b);
    b = setup_with(&(struct ek_mapping){.encoding = EK_MESSAGES_MSGPACK});
    refuses(&b, json, EK_EFORMAT, "message: it begins as JSON does, and MessagePack is expected");
    ck_assert_int_eq(reading_take(&b, msgpack, sizeof msgpack - 1), EK_OK);
    reading_end(&b);
    b = setup_with(NULL);
    accepts(&b, json);
    accepts(&b, " \n{\"query_features\":[1],\"items\":[]}");
    ck_assert_int_eq(reading_take(&b, msgpack, sizeof msgpack - 1), EK_OK);
    reading_end(&b);
}
END_TEST

START_TEST(the_time_of_a_message_needs_no_manifest)
{
    static const char json[] = "{\"x\":{\"time_ms\":1},\"time_ms\":1790000000000,\"items\":[]}";
    ck_assert_int_eq(ek_codec_time(json, strlen(json)), 1790000000000);
    ck_assert_int_eq(ek_codec_time("{\"time_ms\":", 11), -1);
    ck_assert_int_eq(ek_codec_time("{}", 2), -1);
}
END_TEST

static void is_number(size_t length, const char *got, const char *expected)
{
    ck_assert_msg(length == strlen(expected) && !memcmp(got, expected, length), "%.*s", (int)length,
                  got);
}

START_TEST(numbers_are_written_as_short_as_they_can_be_read_back)
{
    char out[EK_JSON_NUMBER_BYTES];
    is_number(ek_json_double(out, 0.1), out, "0.1");
    is_number(ek_json_double(out, -0.0), out, "-0");
    is_number(ek_json_double(out, 1e22), out, "1e+22");
    is_number(ek_json_double(out, 1 / 3.0), out, "0.3333333333333333");
    is_number(ek_json_double(out, -2.2250738585072014e-308), out, "-2.2250738585072014e-308");
    is_number(ek_json_float(out, 0.1f), out, "0.1");
    is_number(ek_json_float(out, 16777216), out, "16777216");
    is_number(ek_json_float(out, -INFINITY), out, "-1e+39");
    ck_assert_uint_eq(ek_json_float(out, NAN), 0);
    ck_assert_uint_eq(ek_json_double(out, INFINITY), 0);
}
END_TEST

START_TEST(floats_are_printed_as_by_printf_with_the_fewest_digits)
{
    const float values[] = {0,         -0.0f,      0.1f,      123456,    1234567,  16777216, 1e9f,
                            123456789, 1048576.25, 0.0001f,   0.00001f,  -1e-5f,   1 / 3.0f, 1e20f,
                            FLT_MAX,   FLT_MIN,    1.000001f, 99999.99f, INFINITY, -2.5f};
    char out[EK_JSON_NUMBER_BYTES], text[EK_JSON_NUMBER_BYTES];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        int digits = 6;
        do
            snprintf(text, sizeof text, "%.*g", digits, (double)values[i]);
        while (strtof(text, NULL) != values[i] && digits++ < 9);
        is_number(ek_json_printed(out, values[i]), out, text);
    }
}
END_TEST

Suite *suite_codec_json(void)
{
    return ek_suite(
        "codec_json", a_message_is_read_field_by_field,
        a_larger_message_of_short_numbers_fits_into_the_memory_of_a_smaller_one,
        numbers_are_rounded_to_a_double_and_then_to_a_float,
        numbers_of_many_digits_are_read_as_correctly_as_others,
        what_is_no_json_is_refused_with_its_place, what_is_no_message_is_refused_in_words_of_json,
        nesting_beyond_the_limit_is_refused, every_prefix_of_a_message_is_refused,
        patching_replaces_nothing_but_the_digits_of_the_scores,
        the_frame_of_a_registry_is_skipped_and_kept, an_item_without_a_score_cannot_be_patched,
        fields_can_have_other_names_and_depths,
        each_encoding_refuses_the_other_and_either_takes_both,
        the_time_of_a_message_needs_no_manifest,
        numbers_are_written_as_short_as_they_can_be_read_back,
        floats_are_printed_as_by_printf_with_the_fewest_digits);
}
