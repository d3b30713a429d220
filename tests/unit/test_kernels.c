/* Logarithms and matrix products: right, and the same bits on every instruction set. */
#include "base/rng.h"
#include "num/gemm_isa.h"
#include "num/ln.h"
#include "num/ln_isa.h"
#include "tests/check.h"

#include <float.h>
#include <math.h>
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
    ek_ln_portable(x, expected, MANY);
    for (int isa = 0; isa < EK_ISAS; isa++) {
        if (!ek_isa_has((enum ek_isa)isa))
            continue;
        for (size_t count = 0; count < 40; count++) {
            y[count] = 7;
            ek_ln_fn_of((enum ek_isa)isa)(x, y, count);
            ck_assert_mem_eq(y, expected, count * sizeof *y);
            ck_assert(y[count] == 7);
        }
        ek_ln_fn_of((enum ek_isa)isa)(x, y, MANY);
        ck_assert_mem_eq(y, expected, sizeof expected);
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
    return ek_suite("kernels", logarithms_are_those_of_the_c_library,
                    logarithms_have_the_same_bits_everywhere,
                    products_are_the_definition_bit_for_bit);
}
