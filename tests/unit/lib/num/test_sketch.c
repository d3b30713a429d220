/* One sketch: bucket of every value, guarantees of quantiles and summaries, and its bytes. */
#include "base/alloc.h"
#include "base/file.h"
#include "base/rng.h"
#include "num/sketch.h"
#include "tests/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct ek_sketch *empty(void)
{
    struct ek_sketch *s = NULL;
    ck_assert_int_eq(ek_sketch_new(&s), EK_OK);
    return s;
}

static float of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

START_TEST(special_values_have_keys_of_their_own)
{
    ck_assert_uint_eq(ek_sketch_key(0.f), 0);
    ck_assert_uint_eq(ek_sketch_key(-0.f), EK_SKETCH_NEG_ZERO);
    ck_assert_uint_eq(ek_sketch_key(INFINITY), EK_SKETCH_INF);
    ck_assert_uint_eq(ek_sketch_key(-INFINITY), EK_SKETCH_NEG_INF);
    ck_assert_uint_eq(ek_sketch_key(FLT_MAX), EK_SKETCH_INF - 1);
    ck_assert_uint_eq(ek_sketch_key(-FLT_MAX), EK_SKETCH_NEG_INF - 1);
    ck_assert_uint_eq(ek_sketch_key(1e-41f), 0);
    ck_assert_uint_eq(ek_sketch_key(FLT_MIN), 64);
    ck_assert_uint_eq(ek_sketch_key(1.f), 127 * 64);
}
END_TEST

START_TEST(every_nan_is_the_same_nan)
{
    static const uint32_t nans[] = {0x7fc00000, 0xffc00000, 0x7f800001,
                                    0xff800001, 0x7fffffff, 0xffffffff};
    for (size_t i = 0; i < sizeof nans / sizeof *nans; i++)
        ck_assert_uint_eq(ek_sketch_key(of_bits(nans[i])), EK_SKETCH_NAN);
}
END_TEST

START_TEST(the_value_of_a_key_is_the_middle_of_its_range)
{
    for (uint32_t key = 64; key < EK_SKETCH_INF; key++) {
        double low = (double)of_bits(key << 17), v = ek_sketch_value((uint16_t)key);
        double last = (double)of_bits((key << 17) + 0x1ffff);
        ck_assert(low < v && v <= last);
        ck_assert((v - low) / low <= ek_sketch_max_rel_error());
        ck_assert((last - v) / last <= ek_sketch_max_rel_error());
        ck_assert(ek_sketch_value((uint16_t)(key | EK_SKETCH_NEG_ZERO)) == -v);
        ck_assert_uint_eq(ek_sketch_key((float)v), key);
    }
    ck_assert(ek_sketch_value(0) == 0 && ek_sketch_value(EK_SKETCH_NEG_ZERO) == 0);
    ck_assert(isinf(ek_sketch_value(EK_SKETCH_INF)) && ek_sketch_value(EK_SKETCH_NEG_INF) < 0);
    ck_assert(isnan(ek_sketch_value(EK_SKETCH_NAN)));
}
END_TEST

START_TEST(the_logarithm_of_a_key_is_that_of_the_geometric_middle)
{
    for (uint32_t key = 1; key < EK_SKETCH_INF - 1; key += 7) {
        double low = (double)of_bits(key << 17), high = (double)of_bits((key + 1) << 17);
        ck_assert_double_eq_tol(ek_sketch_ln((uint16_t)key), log(sqrt(low) * sqrt(high)), 1e-12);
    }
    ck_assert(isfinite(ek_sketch_ln(EK_SKETCH_INF - 1)));
    ck_assert(ek_sketch_ln(0) == -INFINITY && ek_sketch_ln(EK_SKETCH_NEG_ZERO) == -INFINITY);
    ck_assert(ek_sketch_ln(EK_SKETCH_NEG_INF) == INFINITY && isnan(ek_sketch_ln(EK_SKETCH_NAN)));
}
END_TEST

START_TEST(an_empty_sketch_has_no_quantiles)
{
    struct ek_sketch *s = empty();
    struct ek_sketch_summary sum;
    ek_sketch_summarize(s, &sum);
    ck_assert(sum.total == 0 && sum.missing == 0 && sum.zero == 0);
    ck_assert(isnan(sum.log_mean) && isnan(sum.log_sd) && isnan(sum.p50) && isnan(sum.low));
    ck_assert(isnan(ek_sketch_quantile(s, 0.5)));
    ek_sketch_free(s);
}
END_TEST

START_TEST(a_summary_counts_each_kind_of_value)
{
    struct ek_sketch *s = empty();
    struct ek_sketch_summary sum;
    ek_sketch_add(s, NAN, 5);
    ek_sketch_add(s, INFINITY, 2);
    ek_sketch_add(s, -INFINITY, 1);
    ek_sketch_add(s, 0.f, 3);
    ek_sketch_add(s, -0.f, 4);
    ek_sketch_add(s, -8.f, 6);
    ek_sketch_add(s, 8.f, 2);
    ek_sketch_add(s, 1.f, 0);
    ek_sketch_summarize(s, &sum);
    ck_assert_uint_eq(sum.total, 23);
    ck_assert_uint_eq(sum.missing, 5);
    ck_assert_uint_eq(sum.infinite, 3);
    ck_assert_uint_eq(sum.zero, 7);
    ck_assert_uint_eq(sum.negative, 6);
    ck_assert_double_eq_tol(sum.log_mean, log(8), 0.01);
    ck_assert_double_eq_tol(sum.log_sd, 0, 1e-9);
    ck_assert_double_eq_tol(sum.low, -8, 0.1);
    ck_assert_double_eq_tol(sum.high, 8, 0.1);
    ck_assert(sum.p50 == 0);
    ek_sketch_free(s);
}
END_TEST

START_TEST(quantiles_are_in_the_order_of_the_values)
{
    static const float rising[] = {-INFINITY, -1e20f, -3.f, -1e-20f, 0.f, 1e-20f, 3.f, INFINITY};
    struct ek_sketch *s = empty();
    for (int i = 0; i < 8; i++)
        ek_sketch_add(s, rising[i], 1);
    ek_sketch_add(s, NAN, 100);
    for (int i = 0; i < 8; i++) {
        double q = ek_sketch_quantile(s, (i + 1) / 8.0);
        ck_assert_uint_eq(ek_sketch_key((float)q), ek_sketch_key(rising[i]));
    }
    ck_assert(ek_sketch_quantile(s, 0) == -INFINITY);
    ek_sketch_free(s);
}
END_TEST

START_TEST(several_quantiles_at_once_are_those_one_by_one)
{
    static const double shares[] = {0, .01, .25, .5, .5, .99, 1};
    struct ek_sketch *s = empty();
    double got[7];
    for (int i = -400; i < 1000; i++)
        ek_sketch_add(s, (float)i, 1);
    ek_sketch_add(s, NAN, 5000);
    ek_sketch_quantiles(s, shares, 7, got);
    for (int i = 0; i < 7; i++)
        ck_assert(got[i] == ek_sketch_quantile(s, shares[i]));
    ek_sketch_add(s, INFINITY, 5000);
    double before = got[6];
    ek_sketch_quantiles(s, shares, 7, got);
    ck_assert(got[6] == before);
    ek_sketch_clear(s);
    ek_sketch_quantiles(s, shares, 7, got);
    ck_assert(isnan(got[0]) && isnan(got[6]));
    ek_sketch_free(s);
}
END_TEST

START_TEST(a_cleared_sketch_is_empty_and_can_be_used_again)
{
    struct ek_sketch *s = empty();
    ek_sketch_add(s, 5.f, 7);
    ek_sketch_clear(s);
    ck_assert_uint_eq(ek_sketch_total(s), 0);
    ck_assert_uint_eq(ek_sketch_count(s, ek_sketch_key(5.f)), 0);
    ek_sketch_add(s, 5.f, 2);
    ck_assert_uint_eq(ek_sketch_count(s, ek_sketch_key(5.f)), 2);
    ck_assert_uint_eq(ek_sketch_count(s, 40000), 0);
    ek_sketch_free(s);
}
END_TEST

/* A sketch of few entries as bytes: magic, 3, (0 1) (5 300) (16378 2^63), crc. */
static void write_example(struct ek_buf *out)
{
    struct ek_sketch *s = empty();
    ek_sketch_add(s, 0.f, 1);
    ek_sketch_add(s, of_bits(6u << 17), 300);
    ek_sketch_add(s, of_bits(16385u << 17), UINT64_C(1) << 63);
    ck_assert_int_eq(ek_sketch_write(s, out), EK_OK);
    ek_sketch_free(s);
}

START_TEST(bytes_are_as_the_document_says)
{
    static const uint8_t want[] = {'E',  'K',  'S',  '1',  3,    0,    1,    5,    0xac, 2,    0xfa,
                                   0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1};
    struct ek_buf b;
    ek_buf_init(&b, 0);
    write_example(&b);
    ck_assert_uint_eq(b.length, sizeof want + 4);
    ck_assert_mem_eq(b.data, want, sizeof want);
    ek_buf_release(&b);
}
END_TEST

START_TEST(the_golden_file_is_read_and_written_the_same)
{
    struct ek_buf file, again;
    struct ek_sketch *s = empty();
    size_t first = 0, second = 0;
    ek_buf_init(&file, 0);
    ek_buf_init(&again, 0);
    ck_assert_int_eq(ek_file_read("tests/format/golden/sketch-1.bin", &file, NULL), EK_OK);
    ck_assert_int_eq(ek_sketch_read(s, file.data, file.length, &first, NULL), EK_OK);
    ck_assert_uint_eq(ek_sketch_total(s), 0);
    ck_assert_int_eq(ek_sketch_write(s, &again), EK_OK);
    ck_assert_int_eq(ek_sketch_read(s, file.data + first, file.length - first, &second, NULL),
                     EK_OK);
    ck_assert_uint_eq(ek_sketch_count(s, EK_SKETCH_NEG_INF), UINT64_C(1) << 40);
    ck_assert_uint_eq(ek_sketch_count(s, EK_SKETCH_NAN), 70000);
    ck_assert_int_eq(ek_sketch_write(s, &again), EK_OK);
    ck_assert_uint_eq(again.length, file.length);
    ck_assert_mem_eq(again.data, file.data, file.length);
    ek_buf_release(&file);
    ek_buf_release(&again);
    ek_sketch_free(s);
}
END_TEST

START_TEST(damaged_bytes_are_refused_and_change_nothing)
{
    struct ek_buf b;
    struct ek_sketch *s = empty();
    struct ek_error e;
    size_t used = 77;
    ek_buf_init(&b, 0);
    write_example(&b);
    ek_sketch_add(s, 1.f, 9);
    for (size_t cut = 0; cut < b.length; cut++)
        ck_assert_int_eq(ek_sketch_read(s, b.data, cut, &used, &e), EK_EFORMAT);
    for (size_t i = 0; i < b.length * 8; i++) {
        b.data[i / 8] ^= (uint8_t)(1 << i % 8);
        ck_assert_int_eq(ek_sketch_read(s, b.data, b.length, &used, &e), EK_EFORMAT);
        b.data[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    ck_assert_uint_eq(used, 77);
    ck_assert_uint_eq(ek_sketch_total(s), 9);
    ck_assert_int_eq(ek_sketch_read(s, b.data, b.length, &used, &e), EK_OK);
    ck_assert_uint_eq(used, b.length);
    ck_assert_uint_eq(ek_sketch_total(s), 301 + (UINT64_C(1) << 63));
    ek_buf_release(&b);
    ek_sketch_free(s);
}
END_TEST

/* Read bytes with a valid checksum and invalid content. */
static int read_forged(struct ek_sketch *s, const uint8_t *body, size_t length);

START_TEST(a_right_checksum_does_not_excuse_wrong_content)
{
    static const uint8_t zero_count[] = {1, 5, 0};
    static const uint8_t long_spelling[] = {1, 0x85, 0x00, 1};
    static const uint8_t beyond_keys[] = {1, 0x80, 0x80, 0x02, 1};
    static const uint8_t second_nan[] = {1, 0xe1, 0x7f, 1};
    static const uint8_t overflow[] = {2,    0,    0xff, 0xff, 0xff, 0xff, 0xff,
                                       0xff, 0xff, 0xff, 0xff, 1,    0,    1};
    static const uint8_t good[] = {1, 5, 1};
    struct ek_sketch *s = empty();
    ck_assert_int_eq(read_forged(s, zero_count, sizeof zero_count), EK_EFORMAT);
    ck_assert_int_eq(read_forged(s, long_spelling, sizeof long_spelling), EK_EFORMAT);
    ck_assert_int_eq(read_forged(s, beyond_keys, sizeof beyond_keys), EK_EFORMAT);
    ck_assert_int_eq(read_forged(s, second_nan, sizeof second_nan), EK_EFORMAT);
    ck_assert_int_eq(read_forged(s, overflow, sizeof overflow), EK_EFORMAT);
    ck_assert_int_eq(read_forged(s, good, sizeof good), EK_OK);
    ck_assert_uint_eq(ek_sketch_count(s, 5), 1);
    ek_sketch_free(s);
}
END_TEST

static uint32_t crc32_bitwise(const uint8_t *p, size_t length)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < length; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

static int read_forged(struct ek_sketch *s, const uint8_t *body, size_t length)
{
    uint8_t bytes[64] = {'E', 'K', 'S', '1'};
    memcpy(bytes + 4, body, length);
    uint32_t crc = crc32_bitwise(bytes, length + 4);
    for (size_t i = 0; i < 4; i++)
        bytes[4 + length + i] = (uint8_t)(crc >> (8 * i));
    return ek_sketch_read(s, bytes, length + 8, NULL, NULL);
}

START_TEST(writing_beyond_a_limit_leaves_the_buffer_as_it_was)
{
    struct ek_sketch *s = empty();
    struct ek_buf b;
    ek_buf_init(&b, 30);
    ck_assert_int_eq(ek_buf_text(&b, "before"), EK_OK);
    for (int i = 1; i < 50; i++)
        ek_sketch_add(s, (float)i, 1);
    ck_assert_int_eq(ek_sketch_write(s, &b), EK_ELIMIT);
    ck_assert_str_eq(ek_buf_string(&b), "before");
    ek_buf_release(&b);
    ek_sketch_free(s);
}
END_TEST

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Log-normal values of both signs with outliers: for any factor, a quantile equals that of the
 * values times the factor. */
START_TEST(a_translated_sketch_has_the_quantiles_of_the_values_times_the_factor)
{
    static const double factors[] = {1, 100, .01, 1.3, 1.60934, 3.7e9, 2e-12};
    const double most = (1 + ek_sketch_max_rel_error()) * (1 + ek_sketch_max_rel_error()) - 1;
    struct ek_sketch *s = empty(), *moved = empty();
    struct ek_rng r;
    double values[500];
    ek_rng_seed(&r, 3);
    for (int i = 0; i < 500; i++) {
        values[i] = (double)(float)(exp(3 * ek_rng_normal(&r)) * (i % 7 ? 1 : -1));
        ek_sketch_add(s, (float)values[i], 1);
    }
    qsort(values, 500, sizeof *values, by_value);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        ek_sketch_clear(moved);
        ek_sketch_translate(s, log(factors[i]), moved);
        ck_assert_uint_eq(ek_sketch_total(moved), 500);
        for (int n = 1; n <= 500; n++) {
            double want = values[n - 1] * factors[i],
                   got = ek_sketch_quantile(moved, (n - .5) / 500);
            ck_assert_double_eq_tol(got / want, 1, most);
        }
    }
    ek_sketch_free(s);
    ek_sketch_free(moved);
}
END_TEST

START_TEST(what_no_factor_moves_stays_when_a_sketch_is_translated)
{
    static const uint16_t same[] = {0, EK_SKETCH_NEG_ZERO, EK_SKETCH_INF, EK_SKETCH_NEG_INF,
                                    EK_SKETCH_NAN};
    struct ek_sketch *s = empty(), *moved = empty();
    ek_sketch_add(s, 0.f, 1);
    ek_sketch_add(s, -0.f, 2);
    ek_sketch_add(s, INFINITY, 3);
    ek_sketch_add(s, -INFINITY, 4);
    ek_sketch_add(s, NAN, 5);
    ek_sketch_translate(s, log(100), moved);
    ek_sketch_translate(s, log(.01), moved); /* adds */
    for (int i = 0; i < 5; i++)
        ck_assert_uint_eq(ek_sketch_count(moved, same[i]), 2 * (uint64_t)(i + 1));
    ck_assert_uint_eq(ek_sketch_total(moved), 30);
    ek_sketch_free(s);
    ek_sketch_free(moved);
}
END_TEST

START_TEST(values_that_leave_the_range_are_infinite_or_zero)
{
    struct ek_sketch *s = empty(), *moved = empty();
    ek_sketch_add(s, FLT_MAX, 1);
    ek_sketch_add(s, -FLT_MAX, 2);
    ek_sketch_translate(s, log(1.1), moved);
    ck_assert_uint_eq(ek_sketch_count(moved, EK_SKETCH_INF), 1);
    ck_assert_uint_eq(ek_sketch_count(moved, EK_SKETCH_NEG_INF), 2);
    ek_sketch_clear(s);
    ek_sketch_clear(moved);
    ek_sketch_add(s, 1e-35f, 3);
    ek_sketch_add(s, -1e-35f, 4);
    ek_sketch_translate(s, -800, moved);
    ck_assert_uint_eq(ek_sketch_count(moved, 0), 3);
    ck_assert_uint_eq(ek_sketch_count(moved, EK_SKETCH_NEG_ZERO), 4);
    ck_assert_uint_eq(ek_sketch_total(moved), 7);
    ek_sketch_free(s);
    ek_sketch_free(moved);
}
END_TEST

Suite *suite_sketch(void)
{
    return ek_suite(
        "sketch", special_values_have_keys_of_their_own, every_nan_is_the_same_nan,
        the_value_of_a_key_is_the_middle_of_its_range,
        the_logarithm_of_a_key_is_that_of_the_geometric_middle, an_empty_sketch_has_no_quantiles,
        a_summary_counts_each_kind_of_value, quantiles_are_in_the_order_of_the_values,
        several_quantiles_at_once_are_those_one_by_one,
        a_cleared_sketch_is_empty_and_can_be_used_again, bytes_are_as_the_document_says,
        the_golden_file_is_read_and_written_the_same, damaged_bytes_are_refused_and_change_nothing,
        a_right_checksum_does_not_excuse_wrong_content,
        writing_beyond_a_limit_leaves_the_buffer_as_it_was,
        a_translated_sketch_has_the_quantiles_of_the_values_times_the_factor,
        what_no_factor_moves_stays_when_a_sketch_is_translated,
        values_that_leave_the_range_are_infinite_or_zero);
}
