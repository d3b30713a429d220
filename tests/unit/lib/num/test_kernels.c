/* Logarithms and matrix products: correct, and bit-identical on every instruction set. */
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
    ek_ln_compute(x, y, MANY);
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
        for (size_t count = 0; count < 68; count++) {
            size_t at = count % 7; /* unaligned */
            y[at + count] = 7;
            ek_ln_kernels_get((enum ek_isa)isa)->of(x + at, y + at, count);
            ck_assert_mem_eq(y + at, expected + at, count * sizeof *y);
            ck_assert(y[at + count] == 7);
        }
        ek_ln_kernels_get((enum ek_isa)isa)->of(x, y, MANY);
        ck_assert_mem_eq(y, expected, sizeof expected);
    }
}
END_TEST

/* Fill with values of every kind. */
static void fill_any(float *x, int count, struct ek_rng *r)
{
    static const float special[] = {0,  -0.0f,   NAN,         INFINITY, -INFINITY, 1,
                                    -1, FLT_MIN, FLT_MIN / 8, FLT_MAX,  0x1p-149f};
    for (int i = 0; i < count; i++)
        x[i] = i % 5 ? (float)(exp(12 * ek_rng_normal(r)) * (i % 3 ? 1 : -1))
                     : special[i / 5 % (int)(sizeof special / sizeof *special)];
}

static bool usable(float x)
{
    return isfinite(x) && x != 0;
}

/* Return whether they are equal up to float rounding of the value and of its logarithm. scale: of
 * an octave. */
static bool near(double rounded, double exact, double scale)
{
    return fabs(rounded - exact) <= 2e-7 * fabs(exact) + 1.5e-7 * scale;
}

enum { ROWS = 7, COLUMNS = 29 };

/* A list, the transforms of its columns, and the outputs, which have room past the columns. */
struct list {
    float x[ROWS][COLUMNS], y[ROWS][COLUMNS + 2], z[ROWS][COLUMNS + 2], zero[ROWS][COLUMNS + 2];
    double about[COLUMNS], scale[COLUMNS], mean[COLUMNS];
};

static void fill_list(struct list *l, struct ek_rng *r)
{
    memset(l, 0, sizeof *l);
    fill_any(l->x[0], ROWS * COLUMNS, r);
    for (int i = 0; i < COLUMNS; i++) {
        l->about[i] = ek_rng_normal(r);
        l->scale[i] = exp(ek_rng_normal(r));
    }
}

/* Transform the first `count` columns with the kernels of an instruction set. */
static void transform(struct list *l, size_t count, bool given, enum ek_isa isa)
{
    const struct ek_ln_kernels *k = ek_ln_kernels_get(isa);
    float octave[ROWS * 2 * EK_LN_LANES_MAX];
    struct ek_ln_rows rows = {l->x[0], l->y[0], COLUMNS, COLUMNS + 2, ROWS, count};
    k->signed_ln(&rows, l->about, l->scale);
    rows.y = l->z[0];
    k->center(&(struct ek_ln_list){.rows = rows,
                                   .zero = l->zero[0],
                                   .scale = l->scale,
                                   .mean = l->mean,
                                   .given = given,
                                   .octave = octave});
}

/* Return the mean of log2|x| over the usable values of a column. */
static double mean_of(const struct list *l, int column)
{
    double sum = 0, count = 0;
    for (int i = 0; i < ROWS; i++)
        if (usable(l->x[i][column])) {
            sum += log2(fabs((double)l->x[i][column]));
            count++;
        }
    return count > 0 ? sum / count : 0;
}

static void check_value(const struct list *l, int row, int column)
{
    float x = l->x[row][column];
    double size = fabs((double)x), scale = l->scale[column];
    double t = (copysign(log1p(size), (double)x) - l->about[column]) * scale;
    double z = copysign(1, (double)x) * (log2(size) - l->mean[column]) * scale;
    ck_assert(isfinite(x) ? near((double)l->y[row][column], t, EK_LN_2 * scale)
                          : l->y[row][column] == 0);
    ck_assert(usable(x) ? near((double)l->z[row][column], z, scale) : l->z[row][column] == 0);
    ck_assert(l->zero[row][column] == (x == 0));
}

START_TEST(transforms_are_their_definitions)
{
    struct ek_rng r;
    struct list l;
    ek_rng_seed(&r, 6);
    for (int round = 0; round < 100; round++) {
        bool given = round % 2;
        fill_list(&l, &r);
        memcpy(l.mean, l.about, sizeof l.mean);
        transform(&l, COLUMNS, given, ek_isa_best());
        for (int c = 0; c < COLUMNS; c++) {
            ck_assert(given ? l.mean[c] == l.about[c] : fabs(l.mean[c] - mean_of(&l, c)) <= 1.1e-7);
            for (int i = 0; i < ROWS; i++)
                check_value(&l, i, c);
        }
    }
}
END_TEST

START_TEST(transforms_have_the_same_bits_everywhere_and_write_nothing_beyond)
{
    struct ek_rng r;
    ek_rng_seed(&r, 7);
    for (size_t count = 0; count <= COLUMNS; count++) {
        struct list start, want, got;
        fill_list(&start, &r);
        for (enum ek_isa isa = 0; isa < EK_ISAS; isa++) {
            if (!ek_isa_has(isa))
                continue;
            got = start;
            transform(&got, count, false, isa);
            if (isa == EK_ISA_PORTABLE)
                want = got;
            ck_assert_mem_eq(&want, &got, sizeof got);
            for (int i = 0; i < ROWS; i++)
                for (size_t c = count; c < COLUMNS + 2; c++)
                    ck_assert(got.y[i][c] == 0 && got.z[i][c] == 0 && got.zero[i][c] == 0);
        }
    }
}
END_TEST

START_TEST(what_is_1_has_the_logarithm_0_and_what_is_small_its_own_size)
{
    const float x[] = {1, -1, 0, 1e-6f, -1e-6f};
    const double mean[5] = {0}, scale[5] = {1, 1, 1, 1, 1};
    float octave[2 * EK_LN_LANES_MAX];
    double about[5] = {0};
    float y[5], zero[5];
    const struct ek_ln_rows rows = {x, y, 5, 5, 1, 5};
    const struct ek_ln_rows nonzero = {x, y, 5, 5, 1, 2};
    ck_assert(!ek_ln_center(&(struct ek_ln_list){nonzero, zero, scale, about, true, octave}));
    ck_assert(ek_ln_center(&(struct ek_ln_list){rows, zero, scale, about, true, octave}));
    ck_assert(y[0] == 0 && y[1] == 0);
    ek_signed_ln(&rows, mean, scale);
    ck_assert(y[2] == 0);
    ck_assert(fabs((double)y[3] - log1p((double)x[3])) <= 1e-13 && y[4] == -y[3]);
}
END_TEST

/* Return the mean octave of `count` values of one feature. */
static double mean_octave(const float *x, int count)
{
    static float octave[500 * 2 * EK_LN_LANES_MAX];
    static float z[500], zero[500];
    const double scale = 1;
    double mean;
    ek_ln_center(&(struct ek_ln_list){.rows = {x, z, 1, 1, (size_t)count, 1},
                                      .zero = zero,
                                      .scale = &scale,
                                      .mean = &mean,
                                      .octave = octave});
    return mean;
}

START_TEST(a_mean_moves_by_whole_octaves_and_heeds_no_order)
{
    enum { COUNT = 500 };
    float x[COUNT], scaled[COUNT], turned[COUNT];
    struct ek_rng r;
    ek_rng_seed(&r, 8);
    for (int list = 0; list < 200; list++) {
        int n = 1 + (int)ek_rng_uniform_int(&r, COUNT), j = (int)ek_rng_uniform_int(&r, 160) - 80;
        double sum = 0, usable = 0;
        for (int i = 0; i < n; i++) {
            x[i] = ek_rng_uniform_int(&r, 9) ? (float)exp(5 * ek_rng_normal(&r)) : 0;
            scaled[i] = (float)ldexp((double)x[i], j);
            turned[n - 1 - i] = x[i];
            sum += x[i] > 0 ? log2((double)x[i]) : 0;
            usable += x[i] > 0;
        }
        double mean = mean_octave(x, n);
        ck_assert(fabs(mean - (usable > 0 ? sum / usable : 0)) <= 1.1e-7);
        ck_assert(mean_octave(scaled, n) == (usable > 0 ? mean + j : 0));
        ck_assert(mean_octave(turned, n) == mean);
        ck_assert(ek_ln_to_octaves(ek_ln_from_octaves(mean)) == mean);
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
        ek_gemm_fn_get((enum ek_isa)isa)(g);
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
                    logarithms_have_the_same_bits_everywhere, transforms_are_their_definitions,
                    transforms_have_the_same_bits_everywhere_and_write_nothing_beyond,
                    what_is_1_has_the_logarithm_0_and_what_is_small_its_own_size,
                    a_mean_moves_by_whole_octaves_and_heeds_no_order,
                    products_are_the_definition_bit_for_bit);
}
