/* Logarithms and matrix products: right, and the same bits on every instruction set. */
#include "base/rng.h"
#include "num/gemm_isa.h"
#include "num/ln.h"
#include "num/ln_isa.h"
#include "tests/check.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { MANY = 4096, SIDE = 48 };

static void fill_positive(double *x, struct ek_rng *r)
{
    for (int i = 0; i < MANY; i++)
        x[i] = i % 3 ? exp(1400 * (ek_rng_uniform(r) - 0.5)) : 1 + 0.01 * ek_rng_normal(r);
    x[0] = 1;
    x[1] = DBL_MIN;
    x[2] = DBL_MAX;
    x[3] = 0.5;
    x[4] = sqrt(2);
}

START_TEST(logarithms_are_those_of_the_c_library)
{
    static double x[MANY], y[MANY];
    struct ek_rng r;
    ek_rng_seed(&r, 3);
    fill_positive(x, &r);
    ek_ln_of(x, y, MANY);
    ck_assert(y[0] == 0);
    for (int i = 0; i < MANY; i++)
        ck_assert_msg(fabs(y[i] - log(x[i])) <= 6e-16 * fabs(log(x[i])), "ln %a is %a, not %a",
                      x[i], y[i], log(x[i]));
}
END_TEST

START_TEST(logarithms_have_the_same_bits_everywhere)
{
    static double x[MANY], expected[MANY], y[MANY + 1];
    struct ek_rng r;
    ek_rng_seed(&r, 4);
    fill_positive(x, &r);
    ek_ln_portable.of(x, expected, MANY);
    for (int isa = 0; isa < EK_ISAS; isa++) {
        if (!ek_isa_has((enum ek_isa)isa))
            continue;
        for (size_t count = 0; count < 40; count++) {
            y[count] = 7;
            ek_ln_kernels_of((enum ek_isa)isa)->of(x, y, count);
            ck_assert_mem_eq(y, expected, count * sizeof *y);
            ck_assert(y[count] == 7);
        }
        ek_ln_kernels_of((enum ek_isa)isa)->of(x, y, MANY);
        ck_assert_mem_eq(y, expected, sizeof expected);
    }
}
END_TEST

/* Values of every kind there is. */
static void fill_any(double *x, int count, struct ek_rng *r)
{
    static const double special[] = {0, -0.0, NAN,     INFINITY,   -INFINITY,
                                     1, -1,   DBL_MIN, DBL_MIN / 2};
    for (int i = 0; i < count; i++)
        x[i] = i % 5 ? exp(20 * ek_rng_normal(r)) * (i % 3 ? 1 : -1)
                     : special[i / 5 % (int)(sizeof special / sizeof *special)];
}

static bool usable(double x)
{
    return fabs(x) >= DBL_MIN && fabs(x) <= DBL_MAX;
}

/* Equal but for the rounding to float. */
static bool near(double rounded, double exact)
{
    return fabs(rounded - exact) <= 1e-7 * fabs(exact);
}

START_TEST(transforms_are_their_definitions)
{
    enum { COUNT = 203 };
    double x[COUNT], mean[COUNT], scale[COUNT], octave[COUNT];
    double whole[COUNT] = {0}, part[COUNT] = {0};
    float y[COUNT], z[COUNT], zero[COUNT];
    struct ek_rng r;
    ek_rng_seed(&r, 6);
    fill_any(x, COUNT, &r);
    for (int i = 0; i < COUNT; i++) {
        mean[i] = ek_rng_normal(&r);
        scale[i] = exp(ek_rng_normal(&r));
    }
    struct ek_ln_sums sums = {whole, part};
    const struct ek_ln_row row = {octave, z, zero, sums};
    ek_signed_ln(x, mean, scale, y, COUNT);
    ek_ln_take(x, &row, COUNT);
    ek_ln_take(x, &row, COUNT);
    for (int i = 0; i < COUNT; i++) {
        double t = (copysign(log(1 + fabs(x[i])), x[i]) - mean[i]) * scale[i];
        double want = usable(x[i]) ? log2(fabs(x[i])) : 0;
        ck_assert(fabs(x[i]) <= DBL_MAX ? near((double)y[i], t) : y[i] == 0);
        ck_assert(fabs(octave[i] - want) <= 0x1p-40);
        double exponents = whole[i] - (usable(x[i]) ? 0x1p31 : 0);
        ck_assert(exponents + part[i] == 2 * octave[i] && exponents == rint(exponents));
        ck_assert(fabs(part[i]) <= 1 && zero[i] == (x[i] == 0));
        ck_assert(z[i] == (usable(x[i]) ? copysign(1, x[i]) : 0));
    }
    ek_ln_centre(octave, mean, scale, z, COUNT);
    for (int i = 0; i < COUNT; i++) {
        double want = copysign(1, x[i]) * (octave[i] - mean[i]) * scale[i];
        ck_assert(near((double)z[i], usable(x[i]) ? want : 0));
    }
}
END_TEST

START_TEST(transforms_have_the_same_bits_everywhere)
{
    enum { COUNT = 61 };
    double x[COUNT], mean[COUNT] = {0.5}, scale[COUNT] = {2, 3};
    struct ek_rng r;
    ek_rng_seed(&r, 7);
    fill_any(x, COUNT, &r);
    struct {
        double octave[COUNT], whole[COUNT], part[COUNT], mean[COUNT];
        float y[COUNT], z[COUNT], zero[COUNT];
    } want = {0}, got;
    for (int isa = 0; isa < EK_ISAS; isa++) {
        if (!ek_isa_has((enum ek_isa)isa))
            continue;
        const struct ek_ln_kernels *k = ek_ln_kernels_of((enum ek_isa)isa);
        memset(&got, 0, sizeof got);
        k->signed_ln(x, mean, scale, got.y, COUNT);
        struct ek_ln_sums sums = {got.whole, got.part};
        for (int row = 0; row < 3; row++)
            k->take(x + row, &(struct ek_ln_row){got.octave, got.z, got.zero, sums}, COUNT - 2);
        k->mean(&sums, got.mean, COUNT);
        k->centre(got.octave, got.mean, scale, got.z, COUNT);
        if (isa == EK_ISA_PORTABLE)
            want = got;
        ck_assert_mem_eq(&want, &got, sizeof got);
    }
}
END_TEST

/* The mean octave of `count` values, one feature. */
static double mean_octave(const double *x, int count)
{
    double octave, whole = 0, part = 0, mean;
    float sign, zero;
    struct ek_ln_sums sums = {&whole, &part};
    for (int i = 0; i < count; i++)
        ek_ln_take(x + i, &(struct ek_ln_row){&octave, &sign, &zero, sums}, 1);
    ek_ln_mean(&sums, &mean, 1);
    return mean;
}

START_TEST(a_mean_moves_by_whole_octaves_and_heeds_no_order)
{
    enum { COUNT = 500 };
    double x[COUNT], scaled[COUNT], turned[COUNT];
    struct ek_rng r;
    ek_rng_seed(&r, 8);
    for (int list = 0; list < 200; list++) {
        int n = 1 + (int)ek_rng_below(&r, COUNT), j = (int)ek_rng_below(&r, 200) - 100;
        double sum = 0, usable = 0;
        for (int i = 0; i < n; i++) {
            x[i] = ek_rng_below(&r, 9) ? exp(5 * ek_rng_normal(&r)) : 0;
            scaled[i] = ldexp(x[i], j);
            turned[n - 1 - i] = x[i];
            sum += x[i] > 0 ? log2(x[i]) : 0;
            usable += x[i] > 0;
        }
        double mean = mean_octave(x, n);
        ck_assert(fabs(mean - (usable > 0 ? sum / usable : 0)) <= 0x1p-39);
        ck_assert(mean_octave(scaled, n) == (usable > 0 ? mean + j : 0));
        ck_assert(mean_octave(turned, n) == mean);
        ck_assert(ek_ln_to_octaves(ek_ln_of_octaves(mean)) == mean);
    }
}
END_TEST

/* The definition, one element at a time. */
static void product(const struct ek_gemm *g, float *c)
{
    for (size_t i = 0; i < g->rows; i++)
        for (size_t j = 0; j < g->columns; j++) {
            float sum = g->add ? c[i * g->c_row + j] : g->start ? g->start[j] : 0;
            for (size_t k = 0; k < g->depth; k++) {
                float term = g->a[i * g->a_row + k * g->a_step] * g->b[k * g->b_row + j];
                sum += term;
            }
            c[i * g->c_row + j] = sum;
        }
}

static void check_product(struct ek_gemm *g, struct ek_rng *r)
{
    static float start[SIDE * SIDE], expected[SIDE * SIDE], c[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        start[i] = (float)ek_rng_normal(r);
    memcpy(expected, start, sizeof start);
    product(g, expected);
    for (int isa = 0; isa < EK_ISAS; isa++) {
        if (!ek_isa_has((enum ek_isa)isa))
            continue;
        memcpy(c, start, sizeof start);
        g->c = c;
        ek_gemm_fn_of((enum ek_isa)isa)(g);
        ck_assert_mem_eq(c, expected, sizeof c);
    }
}

START_TEST(products_are_the_definition_bit_for_bit)
{
    static float a[SIDE * SIDE], b[SIDE * SIDE];
    struct ek_rng r;
    ek_rng_seed(&r, 5);
    for (int i = 0; i < SIDE * SIDE; i++) {
        a[i] = (float)ek_rng_normal(&r);
        b[i] = (float)ek_rng_normal(&r);
    }
    for (size_t rows = 0; rows < 10; rows++)
        for (size_t columns = 0; columns <= SIDE; columns += EK_GEMM_COLUMNS)
            for (int form = 0; form < 6; form++) {
                struct ek_gemm g = {.a = a,
                                    .b = b,
                                    .b_row = SIDE,
                                    .c_row = SIDE,
                                    .rows = rows,
                                    .columns = columns,
                                    .depth = rows * 3 % 17,
                                    .add = form % 3 == 1,
                                    .start = form % 3 == 2 ? b : NULL};
                g.a_row = form < 3 ? SIDE : 1;
                g.a_step = form < 3 ? 1 : SIDE;
                check_product(&g, &r);
            }
}
END_TEST

Suite *suite_kernels(void)
{
    return ek_suite(
        "kernels", logarithms_are_those_of_the_c_library, logarithms_have_the_same_bits_everywhere,
        transforms_are_their_definitions, transforms_have_the_same_bits_everywhere,
        a_mean_moves_by_whole_octaves_and_heeds_no_order, products_are_the_definition_bit_for_bit);
}
