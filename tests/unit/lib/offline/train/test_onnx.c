/* ONNX export: Protocol Buffers fields, and an output file that is complete or absent.
 * tests/exchange covers its results. */
#include "offline/train/onnx.h"
#include "tests/check.h"
#include "tests/plain_model.h"

#include <string.h>

static struct ek_model *small_model(void)
{
    static const char text[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: nights, index: 2, role: query}\n";
    struct ek_manifest *manifest;
    ck_assert_int_eq(ek_manifest_parse(&manifest, "m", text, strlen(text), NULL), EK_OK);
    struct ek_model *m = ek_save_plain_model(manifest, "/dev/null");
    ek_manifest_free(manifest);
    return m;
}

START_TEST(fields_are_encoded_as_protocol_buffers_says)
{
    /* Examples of its documentation: 150 in field 1, "testing" in field 2; and a high field. */
    static const uint8_t expected[] = {0x08, 0x96, 0x01, 0x12, 0x07, 't',  'e',  's',
                                       't',  'i',  'n',  'g',  0xa2, 0x01, 0x01, 0x00};
    struct ek_buf b;
    ek_buf_init(&b, 0);
    ck_assert_int_eq(ek_protobuf_int(&b, 1, 150), EK_OK);
    ck_assert_int_eq(ek_protobuf_text(&b, 2, "testing"), EK_OK);
    ck_assert_int_eq(ek_protobuf_bytes(&b, 20, "", 1), EK_OK);
    ck_assert_uint_eq(b.length, sizeof expected);
    ck_assert_mem_eq(b.data, expected, b.length);
    ek_buf_release(&b);
}
END_TEST

START_TEST(the_largest_number_takes_ten_bytes)
{
    struct ek_buf b;
    ek_buf_init(&b, 0);
    ck_assert_int_eq(ek_protobuf_int(&b, 1, UINT64_MAX), EK_OK);
    ck_assert_uint_eq(b.length, 11);
    for (int i = 1; i < 10; i++)
        ck_assert_uint_eq(b.data[i], 0xff);
    ck_assert_uint_eq(b.data[10], 1);
    ek_buf_release(&b);
}
END_TEST

START_TEST(a_file_that_has_no_room_leaves_nothing)
{
    struct ek_model *m = small_model();
    struct ek_buf whole, small;
    struct ek_error e;
    ek_buf_init(&whole, 0);
    ck_assert_int_eq(ek_model_onnx(m, &whole, &e), EK_OK);
    ek_buf_init(&small, whole.length - 1);
    ck_assert_int_eq(ek_model_onnx(m, &small, &e), EK_ELIMIT);
    ck_assert(strstr(e.message, "larger than an ONNX file may be"));
    ck_assert_uint_eq(small.length, 0);
    ek_buf_release(&small);
    ek_buf_release(&whole);
    ek_model_free(m);
}
END_TEST

START_TEST(the_same_model_gives_the_same_bytes)
{
    struct ek_model *m = small_model();
    struct ek_buf b;
    ek_buf_init(&b, 0);
    ck_assert_int_eq(ek_model_onnx(m, &b, NULL), EK_OK);
    size_t half = b.length;
    ck_assert_int_eq(ek_model_onnx(m, &b, NULL), EK_OK);
    ck_assert_uint_eq(b.length, 2 * half);
    ck_assert_mem_eq(b.data, b.data + half, half);
    ek_buf_release(&b);
    ek_model_free(m);
}
END_TEST

Suite *suite_onnx(void)
{
    return ek_suite("onnx", fields_are_encoded_as_protocol_buffers_says,
                    the_largest_number_takes_ten_bytes, a_file_that_has_no_room_leaves_nothing,
                    the_same_model_gives_the_same_bytes);
}
