/* Rows of one element type: every instruction set decodes the same values and stops at the same
 * element. */
#include "base/alloc.h"
#include "base/rng.h"
#include "lists/codec_internal.h"
#include "num/isa.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { LONGEST = 50, ELEMENT_MOST = 9 };

struct row {
    uint8_t bytes[LONGEST * ELEMENT_MOST];
    size_t length, count;
};

/* Make a row of elements of one tag, some of them nil or other bytes. */
static void make_row(struct row *row, struct ek_rng *r, uint8_t tag, unsigned other_per_mille)
{
    size_t payload = tag == EK_TAG_FLOAT64 ? 8 : 4;
    row->count = ek_rng_uniform_int(r, LONGEST + 1);
    row->length = 0;
    for (size_t i = 0; i < row->count; i++) {
        bool nil = ek_rng_uniform_int(r, 1000) < 2 * other_per_mille;
        bool other = ek_rng_uniform_int(r, 1000) < other_per_mille;
        uint8_t *to = row->bytes + row->length;
        to[0] = other ? (uint8_t)ek_rng_u64(r) : nil ? EK_TAG_NIL : tag;
        ek_store_be64(to + 1, ek_rng_u64(r));
        row->length += to[0] == EK_TAG_NIL ? 1 : 1 + payload;
    }
}

/* Return the expected result, element by element. */
static size_t expected(const struct row *row, enum ek_wire_kind real, float *out, size_t *bytes)
{
    struct ek_wire w = {row->bytes, row->bytes, row->bytes + row->length};
    size_t i = 0;
    for (; i < row->count; i++) {
        const uint8_t *start = w.p;
        struct ek_head h;
        bool cut = ek_wire_head(&w, &h) != EK_WIRE_OK;
        if (cut || (h.kind != EK_WIRE_NIL && h.kind != EK_WIRE_UINT && h.kind != EK_WIRE_INT &&
                    h.kind != real)) {
            w.p = start;
            break;
        }
        if (h.kind == EK_WIRE_FLOAT32)
            out[i] = ek_float_from_bits((uint32_t)h.bits);
        else
            out[i] = h.kind == EK_WIRE_NIL ? NAN : (float)ek_head_number(&h);
    }
    *bytes = (size_t)(w.p - row->bytes);
    return i;
}

/* Uses memory of exactly its size for the sanitizers. */
static void check_row(const struct row *row, enum ek_wire_kind real, ek_swap_fn *swap)
{
    float want[LONGEST];
    size_t bytes, count = expected(row, real, want, &bytes);
    uint8_t *exact = ek_realloc(NULL, row->length, 1);
    float *out = ek_realloc(NULL, row->count, sizeof *out);
    ck_assert(exact && out);
    memcpy(exact, row->bytes, row->length);
    const uint8_t *p = exact;
    ck_assert_uint_eq(swap(&p, exact + row->length, out, row->count), count);
    ck_assert_uint_eq((size_t)(p - exact), bytes);
    for (size_t i = 0; i < count; i++)
        if (isnan(want[i]))
            ck_assert(isnan(out[i]));
        else
            ck_assert_uint_eq(ek_float_to_bits(out[i]), ek_float_to_bits(want[i]));
    ek_free(exact);
    ek_free(out);
}

static void check_rows(ek_swap_fn *swap, enum ek_wire_kind real, uint8_t tag)
{
    struct ek_rng r;
    struct row row;
    ek_rng_seed(&r, 7);
    for (int round = 0; round < 20000; round++) {
        make_row(&row, &r, tag, (unsigned)(round % 4) * 40);
        if (row.length && round % 5 == 0)
            row.length -= ek_rng_uniform_int(&r, row.length); /* truncated */
        check_row(&row, real, swap);
    }
}

static void check_version(ek_swap_fn *swap, ek_swap_fn *swap64)
{
    check_rows(swap, EK_WIRE_FLOAT32, EK_TAG_FLOAT32);
    check_rows(swap, EK_WIRE_FLOAT32, EK_TAG_UINT32);
    check_rows(swap, EK_WIRE_FLOAT32, EK_TAG_INT32);
    check_rows(swap64, EK_WIRE_FLOAT64, EK_TAG_FLOAT64);
}

START_TEST(the_portable_versions_read_up_to_the_first_other_tag)
{
    check_version(ek_swap_portable, ek_swap64_portable);
}
END_TEST

START_TEST(the_vector_versions_read_just_the_same)
{
    if (ek_isa_has(EK_ISA_AVX2))
        check_version(ek_swap_avx2, ek_swap64_avx2);
}
END_TEST

START_TEST(the_chosen_versions_read_just_the_same)
{
    check_version(ek_swap_best(), ek_swap64_best());
}
END_TEST

START_TEST(integers_of_every_width_are_read_as_one_by_one)
{
    struct ek_rng r;
    ek_rng_seed(&r, 9);
    for (int round = 0; round < 50000; round++) {
        struct row row = {.count = 1};
        row.length = ek_rng_uniform_int(&r, ELEMENT_MOST + 1);
        row.bytes[0] = (uint8_t)ek_rng_u64(&r);
        ek_store_be64(row.bytes + 1, ek_rng_u64(&r));
        check_row(&row, EK_WIRE_FLOAT32, ek_swap_portable);
    }
}
END_TEST

/* Halfway between two floats, next to it, and at the extremes. */
START_TEST(integers_of_32_bits_are_rounded_once_and_to_the_even_float)
{
    static const uint32_t values[] = {0,          1,          0x01000001, 0x01000003,
                                      0x02000002, 0x02000003, 0x7fffffbf, 0x7fffffc0,
                                      0x7fffffff, 0x80000000, 0x80000001, 0xfeffffff,
                                      0xfefffffd, 0xffffff7f, 0xffffff80, 0xffffffff};
    enum { COUNT = sizeof values / sizeof *values };
    for (int tag = EK_TAG_UINT32; tag <= EK_TAG_INT32; tag += EK_TAG_INT32 - EK_TAG_UINT32) {
        struct row row = {.length = 5 * COUNT, .count = COUNT};
        float out[COUNT];
        const uint8_t *p = row.bytes;
        for (size_t i = 0; i < COUNT; i++) {
            row.bytes[5 * i] = (uint8_t)tag;
            ek_store_be32(row.bytes + 5 * i + 1, values[i]);
        }
        ck_assert_uint_eq(ek_swap_best()(&p, row.bytes + row.length, out, COUNT), COUNT);
        for (size_t i = 0; i < COUNT; i++)
            ck_assert(out[i] ==
                      (tag == EK_TAG_INT32 ? (float)(int32_t)values[i] : (float)values[i]));
    }
}
END_TEST

Suite *suite_codec_byteswap(void)
{
    return ek_suite("codec_swap", the_portable_versions_read_up_to_the_first_other_tag,
                    the_vector_versions_read_just_the_same, the_chosen_versions_read_just_the_same,
                    integers_of_every_width_are_read_as_one_by_one,
                    integers_of_32_bits_are_rounded_once_and_to_the_even_float);
}
