/* Buffers with limits, strict number parsing, errors with positions. */
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/parse.h"
#include "base/rng.h"
#include "tests/check.h"

#include <math.h>

START_TEST(a_buffer_grows_to_its_limit_and_no_further)
{
    struct ek_buf b;
    ek_buf_init(&b, 300);
    for (int i = 0; i < 30; i++)
        ck_assert_int_eq(ek_buf_add(&b, "0123456789", 10), EK_OK);
    ck_assert_int_eq(ek_buf_add(&b, "x", 1), EK_ELIMIT);
    ck_assert_uint_eq(b.length, 300);
    ek_buf_release(&b);
}
END_TEST

START_TEST(a_buffer_keeps_its_first_error_and_nothing_after_it)
{
    struct ek_buf b;
    ek_buf_init(&b, 8);
    ck_assert_int_eq(ek_buf_text(&b, "1234"), EK_OK);
    ck_assert_int_eq(ek_buf_text(&b, "56789"), EK_ELIMIT);
    ck_assert_int_eq(ek_buf_text(&b, "5"), EK_ELIMIT);
    ck_assert_int_eq(ek_buf_printf(&b, "%d", 5), EK_ELIMIT);
    ck_assert_int_eq(ek_buf_json(&b, "5", 1), EK_ELIMIT);
    ck_assert_int_eq(ek_buf_reserve(&b, 1), EK_ELIMIT);
    ck_assert_int_eq(b.rc, EK_ELIMIT);
    ck_assert_uint_eq(b.length, 4);
    ck_assert_ptr_null(ek_buf_string(&b));
    ek_buf_truncate(&b, 3);
    ck_assert_int_eq(ek_buf_text(&b, "x"), EK_OK);
    ck_assert_str_eq(ek_buf_string(&b), "123x");
    ck_assert_int_eq(ek_buf_text(&b, "56789"), EK_ELIMIT);
    ek_buf_clear(&b);
    ck_assert_int_eq(ek_buf_text(&b, "1234567"), EK_OK);
    ek_buf_release(&b);
}
END_TEST

START_TEST(a_json_writer_sets_commas_keys_and_lines)
{
    struct ek_buf b;
    struct ek_json_writer w;
    ek_buf_init(&b, 0);
    ek_json_init(&w, &b);
    ek_json_open(&w, NULL, '{');
    ek_json_add_text(&w, "a", NULL);
    ek_json_add_raw(&w, "b", "[1]", 3);
    ek_json_open(&w, "c", '[');
    for (int i = 0; i < 2; i++) {
        ek_json_break_line(&w);
        ek_json_add_rounded(&w, NULL, i ? INFINITY : 1. / 3, 4);
    }
    ek_json_close(&w, ']');
    ek_json_close(&w, '}');
    ck_assert_int_eq(w.rc, EK_OK);
    ck_assert_str_eq(ek_buf_string(&b), "{\"a\":null,\"b\":[1],\"c\":[\n0.3333,\nnull]}");
    ek_buf_release(&b);
}
END_TEST

START_TEST(json_text_is_escaped_and_always_valid)
{
    struct ek_buf b;
    ek_buf_init(&b, 0);
    ck_assert_int_eq(ek_buf_json(&b, "a\"b\\\n\x01\xff\xc3\xa9", 9), EK_OK);
    ck_assert_str_eq(ek_buf_string(&b), "\"a\\\"b\\\\\\u000a\\u0001\xef\xbf\xbd\xc3\xa9\"");
    ek_buf_clear(&b);
    ck_assert_int_eq(ek_buf_json(&b, "\x7f\xc2\x90\xc2\xa0\xef\xbf\xbf", 8), EK_OK);
    ck_assert_str_eq(ek_buf_string(&b), "\"\\u007f\\u0090\xc2\xa0\\uffff\"");
    ek_buf_release(&b);
}
END_TEST

START_TEST(an_error_tells_its_place)
{
    struct ek_error e;
    char text[300];
    ck_assert_int_eq(ek_fail_at(&e, EK_ECONFIG, "rules.yaml", 14, 7, "unknown key '%s'", "x"),
                     EK_ECONFIG);
    ck_assert_str_eq(ek_error_text(&e, text, sizeof text), "rules.yaml:14:7: unknown key 'x'");
}
END_TEST

START_TEST(numbers_are_read_strictly)
{
    static const char *const bad[] = {"",    " 1",    "1 ",       "0x10", "1e",
                                      "--1", "1.5.2", "infinity", "NAN"};
    double d = 7;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(ek_parse_double(bad[i], EK_WHOLE, &d), EK_EFORMAT);
    ck_assert(d == 7);
    ck_assert_int_eq(ek_parse_double("-1.5e3", EK_WHOLE, &d), EK_OK);
    ck_assert(d == -1500);
    ck_assert_int_eq(ek_parse_double("nan", EK_WHOLE, &d), EK_OK);
    ck_assert(isnan(d));
    ck_assert_int_eq(ek_parse_finite("inf", EK_WHOLE, &d), EK_ELIMIT);
}
END_TEST

START_TEST(integers_know_their_range)
{
    uint64_t u = 1;
    int64_t i = 1;
    ck_assert_int_eq(ek_parse_u64("18446744073709551615", EK_WHOLE, &u), EK_OK);
    ck_assert_int_eq(ek_parse_u64("18446744073709551616", EK_WHOLE, &u), EK_ELIMIT);
    ck_assert_int_eq(ek_parse_u64("-1", EK_WHOLE, &u), EK_EFORMAT);
    ck_assert_int_eq(ek_parse_i64("-9223372036854775808", EK_WHOLE, &i), EK_OK);
    ck_assert(i == INT64_MIN);
    ck_assert_int_eq(ek_parse_i64("9223372036854775808", EK_WHOLE, &i), EK_ELIMIT);
}
END_TEST

START_TEST(durations_and_sizes_have_units)
{
    int64_t ms;
    uint64_t bytes;
    ck_assert_int_eq(ek_parse_duration_ms("10m", EK_WHOLE, &ms), EK_OK);
    ck_assert_int_eq(ms, 600000);
    ck_assert_int_eq(ek_parse_duration_ms("10", EK_WHOLE, &ms), EK_EFORMAT);
    ck_assert_int_eq(ek_parse_duration_ms("99999999999999999999d", EK_WHOLE, &ms), EK_ELIMIT);
    ck_assert_int_eq(ek_parse_duration_ms("99999999999999999999", EK_WHOLE, &ms), EK_EFORMAT);
    ck_assert_int_eq(ek_parse_duration_ms("999999999999999d", EK_WHOLE, &ms), EK_ELIMIT);
    ck_assert_int_eq(ek_parse_bytes("4MiB", EK_WHOLE, &bytes), EK_OK);
    ck_assert_uint_eq(bytes, 4u << 20);
    ck_assert_int_eq(ek_parse_bytes("4MB", EK_WHOLE, &bytes), EK_EFORMAT);
}
END_TEST

START_TEST(a_hash_has_sixteen_hexadecimal_digits_and_nothing_else)
{
    uint64_t hash = 1;
    static const char *const wrong[] = {"",
                                        "0123456789abcde",
                                        "0123456789abcdef0",
                                        "0x23456789abcdef",
                                        " 123456789abcdef",
                                        "-123456789abcdef",
                                        "0123456789abcdeg",
                                        "012345678\x19"
                                        "abcdef"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_int_eq(ek_parse_hash(wrong[i], EK_WHOLE, &hash), EK_EFORMAT);
    ck_assert(hash == 1);
    ck_assert_int_eq(ek_parse_hash("0123456789abcDEF more", 16, &hash), EK_OK);
    ck_assert(hash == 0x0123456789abcdef);
}
END_TEST

START_TEST(a_typing_error_finds_its_word)
{
    static const char *const words[] = {"thresholds", "mode", "min_duration"};
    ck_assert_str_eq(ek_nearest_name("tresholds", words, 3), "thresholds");
    ck_assert_ptr_null(ek_nearest_name("banana", words, 3));
}
END_TEST

START_TEST(random_numbers_have_the_moments_they_should)
{
    struct ek_rng r;
    double sum = 0, squares = 0, gamma = 0;
    int n = 200000;
    ek_rng_seed(&r, 1);
    for (int i = 0; i < n; i++) {
        double x = ek_rng_normal(&r);
        sum += x;
        squares += x * x;
        gamma += ek_rng_gamma(&r, 8);
    }
    ck_assert(fabs(sum / n) < 0.01);
    ck_assert(fabs(squares / n - 1) < 0.02);
    ck_assert(fabs(gamma / n - 8) < 0.05);
}
END_TEST

START_TEST(streams_of_one_seed_differ)
{
    struct ek_rng a, b;
    ek_rng_seed_stream(&a, 5, 1);
    ek_rng_seed_stream(&b, 5, 2);
    ck_assert(ek_rng_u64(&a) != ek_rng_u64(&b));
}
END_TEST

Suite *suite_base(void)
{
    return ek_suite("base", a_buffer_grows_to_its_limit_and_no_further,
                    a_buffer_keeps_its_first_error_and_nothing_after_it,
                    a_json_writer_sets_commas_keys_and_lines, json_text_is_escaped_and_always_valid,
                    an_error_tells_its_place, numbers_are_read_strictly, integers_know_their_range,
                    a_hash_has_sixteen_hexadecimal_digits_and_nothing_else,
                    durations_and_sizes_have_units, a_typing_error_finds_its_word,
                    random_numbers_have_the_moments_they_should, streams_of_one_seed_differ);
}
