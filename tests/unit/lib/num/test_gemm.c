/* Products with sums longer than a copy block (small ones: test_kernels.c). */
#include "base/rng.h"
#include "num/gemm_isa.h"
#include "tests/check.h"

#include <string.h>

enum { ROWS = 19, COLUMNS = 48, DEPTH = 600 };

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

START_TEST(long_sums_keep_their_order)
{
    static float a[ROWS * DEPTH], b[DEPTH * COLUMNS], want[ROWS * COLUMNS], c[ROWS * COLUMNS];
    struct ek_rng r;
    ek_rng_seed(&r, 6);
    for (int i = 0; i < ROWS * DEPTH; i++)
        a[i] = (float)ek_rng_normal(&r);
    for (int i = 0; i < DEPTH * COLUMNS; i++)
        b[i] = (float)ek_rng_normal(&r);
    for (int form = 0; form < 6; form++) {
        struct ek_gemm g = {.a = a,
                            .b = b,
                            .a_row = form < 3 ? DEPTH : 1,
                            .a_step = form < 3 ? 1 : ROWS,
                            .b_row = COLUMNS,
                            .c_row = COLUMNS,
                            .rows = ROWS,
                            .columns = COLUMNS,
                            .depth = DEPTH,
                            .add = form % 3 == 1,
                            .start = form % 3 == 2 ? b : NULL};
        memcpy(want, b + 7, sizeof want);
        product(&g, want);
        for (int isa = 0; isa < EK_ISAS; isa++) {
            if (!ek_isa_has((enum ek_isa)isa))
                continue;
            memcpy(c, b + 7, sizeof c);
            g.c = c;
            ek_gemm_fn_get((enum ek_isa)isa)(&g);
            ck_assert_mem_eq(c, want, sizeof c);
        }
    }
}
END_TEST

Suite *suite_gemm(void)
{
    return ek_suite("gemm", long_sums_keep_their_order);
}
