/* Rows of float32 elements: every instruction set reads the same values and stops at the same one.
 */
#include "base/alloc.h"
#include "base/rng.h"
#include "data/codec_inner.h"
#include "num/isa.h"
#include "tests/check.h"

enum { LONGEST = 50 };

/* A row of `count` elements, with other tags at some of them, in memory of just its size. */
static uint8_t *make_row(struct ek_rng *r, size_t count, unsigned other_per_mille)
{
    uint8_t *row = ek_realloc(NULL, 5 * count, 1);
    ck_assert_ptr_nonnull(row);
    for (size_t i = 0; i < count; i++) {
        bool other = ek_rng_below(r, 1000) < other_per_mille;
        row[5 * i] = other ? (uint8_t)ek_rng_u64(r) : EK_TAG_FLOAT32;
        ek_store_be32(row + 5 * i + 1, (uint32_t)ek_rng_u64(r));
    }
    return row;
}

static size_t run_of(const uint8_t *row, size_t count)
{
    size_t i = 0;
    while (i < count && row[5 * i] == EK_TAG_FLOAT32)
        i++;
    return i;
}

static void check_version(ek_swap_fn *swap)
{
    struct ek_rng r;
    ek_rng_seed(&r, 7);
    for (int round = 0; round < 20000; round++) {
        size_t count = ek_rng_below(&r, LONGEST + 1);
        uint8_t *row = make_row(&r, count, round % 4 * 40u);
        float *out = ek_realloc(NULL, count, sizeof *out);
        ck_assert_ptr_nonnull(out);
        size_t got = swap(row, out, count);
        ck_assert_uint_eq(got, run_of(row, count));
        for (size_t i = 0; i < got; i++)
            ck_assert_uint_eq(ek_bits_of_float(out[i]), ek_load_be32(row + 5 * i + 1));
        ek_free(row);
        ek_free(out);
    }
}

START_TEST(the_portable_version_reads_up_to_the_first_other_tag)
{
    check_version(ek_swap_portable);
}
END_TEST

START_TEST(the_vector_version_reads_just_the_same)
{
    if (ek_isa_has(EK_ISA_AVX2))
        check_version(ek_swap_avx2);
}
END_TEST

START_TEST(the_chosen_version_reads_just_the_same)
{
    check_version(ek_swap_best());
}
END_TEST

Suite *suite_codec_swap(void)
{
    return ek_suite("codec_swap", the_portable_version_reads_up_to_the_first_other_tag,
                    the_vector_version_reads_just_the_same, the_chosen_version_reads_just_the_same);
}
