/* Rows of one kind of elements: every instruction set reads the same values and stops at the same
 * one.
 */
#include "base/alloc.h"
#include "base/rng.h"
#include "data/codec_inner.h"
#include "num/isa.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { LONGEST = 50, ELEMENT_MOST = 9 };

struct row {
    uint8_t bytes[LONGEST * ELEMENT_MOST];
    size_t length, count;
};

/* A row of elements of one tag, with nil and with other bytes at some of them. */
static void make_row(struct row *row, struct ek_rng *r, uint8_t tag, unsigned other_per_mille)
{
    size_t payload = tag == EK_TAG_FLOAT32 ? 4 : 8;
    row->count = ek_rng_below(r, LONGEST + 1);
    row->length = 0;
    for (size_t i = 0; i < row->count; i++) {
        bool nil = ek_rng_below(r, 1000) < 2 * other_per_mille;
        bool other = ek_rng_below(r, 1000) < other_per_mille;
        uint8_t *to = row->bytes + row->length;
        to[0] = other ? (uint8_t)ek_rng_u64(r) : nil ? EK_TAG_NIL : tag;
        ek_store_be64(to + 1, ek_rng_u64(r));
        row->length += to[0] == EK_TAG_NIL ? 1 : 1 + payload;
    }
}

/* What a reader should say: element by element. */
static size_t expected(const struct row *row, uint8_t tag, float *out, size_t *bytes)
{
    size_t payload = tag == EK_TAG_FLOAT32 ? 4 : 8, i = 0;
    const uint8_t *p = row->bytes, *end = p + row->length;
    for (; i < row->count && p < end; i++) {
        if (*p == EK_TAG_NIL)
            out[i] = NAN;
        else if (*p != tag || (size_t)(end - p) < 1 + payload)
            break;
        else
            out[i] = payload == 4 ? ek_float_of_bits(ek_load_be32(p + 1))
                                  : (float)ek_double_of_bits(ek_load_be64(p + 1));
        p += *p == EK_TAG_NIL ? 1 : 1 + payload;
    }
    *bytes = (size_t)(p - row->bytes);
    return i;
}

/* In memory of just its size, for the sanitizers. */
static void check_row(const struct row *row, uint8_t tag, ek_swap_fn *swap)
{
    float want[LONGEST];
    size_t bytes, count = expected(row, tag, want, &bytes);
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
            ck_assert_uint_eq(ek_bits_of_float(out[i]), ek_bits_of_float(want[i]));
    ek_free(exact);
    ek_free(out);
}

static void check_version(ek_swap_fn *swap, uint8_t tag)
{
    struct ek_rng r;
    struct row row;
    ek_rng_seed(&r, 7);
    for (int round = 0; round < 20000; round++) {
        make_row(&row, &r, tag, (unsigned)(round % 4) * 40);
        if (row.length && round % 5 == 0)
            row.length -= ek_rng_below(&r, row.length); /* cut short */
        check_row(&row, tag, swap);
    }
}

START_TEST(the_portable_versions_read_up_to_the_first_other_tag)
{
    check_version(ek_swap_portable, EK_TAG_FLOAT32);
    check_version(ek_swap64_portable, EK_TAG_FLOAT64);
}
END_TEST

START_TEST(the_vector_versions_read_just_the_same)
{
    if (ek_isa_has(EK_ISA_AVX2)) {
        check_version(ek_swap_avx2, EK_TAG_FLOAT32);
        check_version(ek_swap64_avx2, EK_TAG_FLOAT64);
    }
}
END_TEST

START_TEST(the_chosen_versions_read_just_the_same)
{
    check_version(ek_swap_best(), EK_TAG_FLOAT32);
    check_version(ek_swap64_best(), EK_TAG_FLOAT64);
}
END_TEST

START_TEST(integers_of_every_width_are_read_as_one_by_one)
{
    struct ek_rng r;
    ek_rng_seed(&r, 9);
    for (int round = 0; round < 50000; round++) {
        uint8_t bytes[ELEMENT_MOST];
        struct ek_wire w = {bytes, bytes, bytes + ek_rng_below(&r, sizeof bytes + 1)};
        struct ek_head h;
        float out;
        bytes[0] = (uint8_t)ek_rng_u64(&r);
        ek_store_be64(bytes + 1, ek_rng_u64(&r));
        const uint8_t *p = bytes;
        size_t got = ek_swap_whole(&p, w.end, &out, 1);
        bool whole = !ek_wire_head(&w, &h) && (h.kind == EK_WIRE_UINT || h.kind == EK_WIRE_INT);
        ck_assert_uint_eq(got, whole);
        ck_assert_ptr_eq(p, whole ? w.p : bytes);
        if (whole)
            ck_assert(ek_bits_of_float(out) == ek_bits_of_float((float)ek_head_number(&h)));
    }
}
END_TEST

Suite *suite_codec_swap(void)
{
    return ek_suite("codec_swap", the_portable_versions_read_up_to_the_first_other_tag,
                    the_vector_versions_read_just_the_same, the_chosen_versions_read_just_the_same,
                    integers_of_every_width_are_read_as_one_by_one);
}
