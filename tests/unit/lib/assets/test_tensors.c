/* Arrays survive saving and loading; damaged files are rejected with a reason. */
#include "base/buf.h"
#include "assets/tensors.h"
#include "tests/check.h"

#include <string.h>

static struct ek_tensors *sample(void)
{
    struct ek_tensors *t;
    const size_t shape[] = {2, 3};
    ck_assert_int_eq(ek_tensors_new(&t), EK_OK);
    struct ek_tensor *a = ek_tensors_add(t, "b.floats", EK_F32, 2, shape);
    struct ek_tensor *b = ek_tensors_add(t, "a.counts", EK_U64, 1, shape);
    struct ek_tensor *c = ek_tensors_add(t, "bytes", EK_U8, 1, shape + 1);
    ck_assert(a && b && c);
    for (int i = 0; i < 6; i++)
        ((float *)a->data)[i] = (float)i / 4;
    ((uint64_t *)b->data)[1] = UINT64_MAX;
    memcpy(c->data, "xyz", 3);
    ck_assert_int_eq(ek_tensors_set_text(t, "what", "a \"quoted\" text\n"), EK_OK);
    return t;
}

static void bytes_of(const struct ek_tensors *t, struct ek_buf *out)
{
    struct ek_error e = {0};
    ek_buf_init(out, 0);
    ck_assert_int_eq(ek_tensors_format(t, out, &e), EK_OK);
}

START_TEST(arrays_and_texts_come_back_as_written)
{
    struct ek_tensors *t = sample(), *back;
    struct ek_buf bytes, again;
    struct ek_error e;
    const struct ek_tensor *a;
    const size_t shape[] = {2, 3};
    bytes_of(t, &bytes);
    ck_assert_int_eq(ek_tensors_parse(&back, "x", bytes.data, bytes.length, &e), EK_OK);
    ck_assert_uint_eq(ek_tensors_count(back), 3);
    ck_assert_str_eq(ek_tensors_text(back, "what"), "a \"quoted\" text\n");
    ck_assert_ptr_null(ek_tensors_text(back, "other"));
    ck_assert_int_eq(ek_tensors_expect(back, "b.floats", EK_F32, 2, shape, &a, &e), EK_OK);
    ck_assert(((float *)a->data)[5] == 1.25f);
    ck_assert_uint_eq(((uint64_t *)ek_tensors_find(back, "a.counts")->data)[1], UINT64_MAX);
    bytes_of(back, &again);
    ck_assert_uint_eq(again.length, bytes.length);
    ck_assert_mem_eq(again.data, bytes.data, bytes.length);
    ek_buf_release(&bytes);
    ek_buf_release(&again);
    ek_tensors_free(t);
    ek_tensors_free(back);
}
END_TEST

START_TEST(a_file_cut_anywhere_is_refused)
{
    struct ek_tensors *t = sample(), *back = NULL;
    struct ek_buf bytes;
    struct ek_error e;
    bytes_of(t, &bytes);
    for (size_t length = 0; length < bytes.length; length++)
        ck_assert_int_eq(ek_tensors_parse(&back, "x", bytes.data, length, &e), EK_EFORMAT);
    ck_assert_ptr_null(back);
    ek_buf_release(&bytes);
    ek_tensors_free(t);
}
END_TEST

START_TEST(a_changed_byte_never_does_harm)
{
    struct ek_tensors *t = sample();
    struct ek_buf bytes;
    bytes_of(t, &bytes);
    for (size_t at = 0; at < bytes.length; at++) {
        uint8_t old = bytes.data[at];
        for (int change = 1; change < 256; change *= 2) {
            struct ek_tensors *back = NULL;
            bytes.data[at] = (uint8_t)(old ^ change);
            if (ek_tensors_parse(&back, "x", bytes.data, bytes.length, NULL) == EK_OK)
                ek_tensors_free(back);
        }
        bytes.data[at] = old;
    }
    ek_buf_release(&bytes);
    ek_tensors_free(t);
}
END_TEST

/* Parse a file of that header and `data` zero bytes. Return the code. */
static int parse_header(const char *header, size_t data, struct ek_error *e)
{
    struct ek_buf b;
    struct ek_tensors *t = NULL;
    uint64_t length = strlen(header);
    static const uint8_t zeros[64];
    ek_buf_init(&b, 0);
    ck_assert_int_eq(ek_buf_add(&b, &length, 8), EK_OK);
    ck_assert_int_eq(ek_buf_text(&b, header), EK_OK);
    ck_assert_int_eq(ek_buf_add(&b, zeros, data), EK_OK);
    int code = ek_tensors_parse(&t, "m.safetensors", b.data, b.length, e);
    if (!code)
        ek_tensors_free(t);
    ek_buf_release(&b);
    return code;
}

START_TEST(headers_that_lie_are_refused_with_a_reason)
{
    static const struct {
        const char *header;
        size_t data;
        const char *part;
    } cases[] = {
        {"[]", 0, "not a JSON object"},
        {"{", 0, "not JSON"},
        {"{\"a\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[0,2]}}", 2, "'BF16'"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, "do not agree"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 4, "outside"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4, "outside"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4, "sizes"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4,4],\"data_offsets\":[0,0]}}",
         0, "do not agree"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1],\"data_offsets\":[0,4]}}", 4, "shape"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8, "gap"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
         "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}",
         4, "overlaps"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 5, "1 bytes after"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
         "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
         8, "duplicate"},
        {"{\"__metadata__\":{\"k\":1}}", 0, "not a text"},
        {"{\"\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "empty"},
        {"{\"a\":7}", 0, "not supported"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ek_error e;
        ck_assert_int_eq(parse_header(cases[i].header, cases[i].data, &e), EK_EFORMAT);
        ck_assert_msg(strstr(e.message, cases[i].part), "case %zu: %s", i, e.message);
        ck_assert_str_eq(e.file, "m.safetensors");
    }
}
END_TEST

START_TEST(scalars_and_empty_arrays_are_allowed)
{
    struct ek_error e;
    ck_assert_int_eq(
        parse_header("{\"s\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8]},"
                     "\"none\":{\"dtype\":\"F32\",\"shape\":[0,7],\"data_offsets\":[8,8]}}",
                     8, &e),
        EK_OK);
    ck_assert_int_eq(parse_header("{}", 0, &e), EK_OK);
}
END_TEST

START_TEST(a_wrong_shape_is_told_with_both_shapes)
{
    struct ek_tensors *t = sample();
    struct ek_error e;
    const struct ek_tensor *a = NULL;
    const size_t shape[] = {3, 2};
    ck_assert_int_eq(ek_tensors_expect(t, "b.floats", EK_F32, 2, shape, &a, &e), EK_EFORMAT);
    ck_assert_str_eq(e.message, "tensor 'b.floats' is F32 [2, 3], expected F32 [3, 2]");
    ck_assert_int_eq(ek_tensors_expect(t, "none", EK_F32, 1, shape, &a, &e), EK_EFORMAT);
    ck_assert_str_eq(e.message, "no tensor 'none', expected F32 [3]");
    ck_assert_ptr_null(a);
    ek_tensors_free(t);
}
END_TEST

START_TEST(a_name_is_given_once)
{
    struct ek_tensors *t = sample();
    const size_t shape[] = {1};
    ck_assert_ptr_null(ek_tensors_add(t, "bytes", EK_U8, 1, shape));
    ck_assert_ptr_null(ek_tensors_add(t, "", EK_U8, 1, shape));
    ck_assert_int_eq(ek_tensors_set_text(t, "what", "new"), EK_OK);
    ck_assert_str_eq(ek_tensors_text(t, "what"), "new");
    ek_tensors_free(t);
}
END_TEST

Suite *suite_tensors(void)
{
    return ek_suite("tensors", arrays_and_texts_come_back_as_written,
                    a_file_cut_anywhere_is_refused, a_changed_byte_never_does_harm,
                    headers_that_lie_are_refused_with_a_reason,
                    scalars_and_empty_arrays_are_allowed, a_wrong_shape_is_told_with_both_shapes,
                    a_name_is_given_once);
}
