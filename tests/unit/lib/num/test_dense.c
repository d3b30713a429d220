/* Dense layers: equal to sums in double, identical in every batch, without writes past the end. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/rng.h"
#include "num/dense_isa.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { ROWS_MAX = 23, GAP = 3 };

static const struct {
    int inputs, outputs;
} shapes[] = {{1, 1},    {1, 17},   {3, 5},    {46, 64},  {64, 32},  {32, 1},
              {136, 64}, {151, 96}, {410, 64}, {50, 112}, {50, 130}, {600, 200}};

struct data {
    int inputs, outputs;
    float *weight, *bias, *x, *y;
    struct ek_dense *d;
};

static void make(struct data *t, int inputs, int outputs, struct ek_rng *r)
{
    size_t in = (size_t)inputs, out = (size_t)outputs;
    *t = (struct data){inputs, outputs, NULL, NULL, NULL, NULL, NULL};
    t->weight = ek_calloc(in * out, sizeof(float));
    t->bias = ek_calloc(out, sizeof(float));
    t->x = ek_calloc(ROWS_MAX * (in + GAP), sizeof(float));
    t->y = ek_calloc(ROWS_MAX * (out + GAP), sizeof(float));
    for (size_t i = 0; i < in * out; i++)
        t->weight[i] = (float)ek_rng_normal(r);
    for (size_t i = 0; i < out; i++)
        t->bias[i] = (float)ek_rng_normal(r);
    for (size_t i = 0; i < ROWS_MAX * (in + GAP); i++)
        t->x[i] = (float)(3 * ek_rng_normal(r));
    ck_assert_int_eq(ek_dense_new(&t->d, inputs, outputs, t->weight, t->bias), EK_OK);
}

static void release(struct data *t)
{
    ek_free(t->weight);
    ek_free(t->bias);
    ek_free(t->x);
    ek_free(t->y);
    ek_dense_free(t->d);
}

static void apply(struct data *t, enum ek_isa isa, int rows, int relu)
{
    const struct ek_dense_rows all = {
        t->x, t->y, (size_t)t->inputs + GAP, (size_t)t->outputs + GAP, rows, relu, NULL, 0};
    for (size_t i = 0; i < ROWS_MAX * ((size_t)t->outputs + GAP); i++)
        t->y[i] = 77;
    ek_dense_fn_get(isa)(t->d, &all);
}

/* Check every output, and that floats between and after the rows are unchanged. */
static void verify(const struct data *t, int rows, int relu)
{
    for (int r = 0; r < ROWS_MAX; r++) {
        const float *y = t->y + (size_t)r * ((size_t)t->outputs + GAP);
        const float *x = t->x + (size_t)r * ((size_t)t->inputs + GAP);
        for (int o = 0; o < t->outputs + GAP; o++) {
            if (r >= rows || o >= t->outputs) {
                ck_assert(y[o] == 77.f);
                continue;
            }
            double sum = (double)t->bias[o], size = fabs(sum);
            for (int i = 0; i < t->inputs; i++) {
                double product = (double)x[i] * (double)t->weight[o * t->inputs + i];
                sum += product;
                size += fabs(product);
            }
            double want = relu && sum < 0 ? 0 : sum;
            ck_assert_double_eq_tol((double)y[o], want, 1e-5 * size);
        }
    }
}

START_TEST(every_instruction_set_and_shape_is_right)
{
    struct ek_rng r;
    ek_rng_seed(&r, 1);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        struct data t;
        make(&t, shapes[s].inputs, shapes[s].outputs, &r);
        for (enum ek_isa isa = 0; isa < EK_ISAS; isa++)
            for (int rows = 0; ek_isa_has(isa) && rows <= ROWS_MAX; rows += rows < 8 ? 1 : 5) {
                apply(&t, isa, rows, rows % 2);
                verify(&t, rows, rows % 2);
            }
        release(&t);
    }
}
END_TEST

START_TEST(a_row_does_not_depend_on_the_others)
{
    struct ek_rng r;
    struct data t;
    float together[ROWS_MAX][70], alone[70];
    ek_rng_seed(&r, 2);
    make(&t, 50, 70, &r);
    ek_dense_apply(t.d, t.x, ROWS_MAX, 50 + GAP, together[0], 70, 1);
    for (size_t i = 0; i < ROWS_MAX; i++) {
        ek_dense_apply(t.d, t.x + i * (50 + GAP), 1, 50 + GAP, alone, 70, 1);
        ck_assert_mem_eq(together[i], alone, sizeof alone);
    }
    release(&t);
}
END_TEST

START_TEST(a_layer_may_start_from_what_other_inputs_gave)
{
    struct ek_rng r;
    struct data t;
    struct ek_dense *first, *rest;
    float cut[2][70 * 50], start[80], whole[3 * 70], parts[3 * 70];
    ek_rng_seed(&r, 6);
    make(&t, 50, 70, &r);
    for (int o = 0; o < 70; o++) {
        memcpy(cut[0] + o * 20, t.weight + o * 50, 20 * sizeof(float));
        memcpy(cut[1] + o * 30, t.weight + o * 50 + 20, 30 * sizeof(float));
    }
    ck_assert_int_eq(ek_dense_new(&first, 20, 70, cut[0], t.bias), EK_OK);
    ck_assert_int_eq(ek_dense_new(&rest, 30, 70, cut[1], NULL), EK_OK);
    ck_assert_int_eq(ek_dense_start(rest), 80);
    for (size_t i = 0; i < 3; i++) {
        const float *x = t.x + i * (50 + GAP);
        ek_dense_apply(first, x, 1, 0, start, 0, 0);
        ek_dense_apply_from(rest, start, 0, x + 20, 1, 0, parts + i * 70, 70, 1);
    }
    ek_dense_apply(t.d, t.x, 3, 50 + GAP, whole, 70, 1);
    ck_assert_mem_eq(whole, parts, sizeof whole);
    ek_dense_free(first);
    ek_dense_free(rest);
    release(&t);
}
END_TEST

START_TEST(inputs_that_are_zero_in_all_rows_may_be_left_out)
{
    struct ek_rng r;
    struct data t;
    float whole[ROWS_MAX * 70], without[ROWS_MAX * 70];
    ek_rng_seed(&r, 8);
    make(&t, 50, 70, &r);
    for (size_t i = 0; i < ROWS_MAX; i++)
        memset(t.x + i * (50 + GAP) + 37, 0, 13 * sizeof(float));
    ek_dense_apply_from(t.d, NULL, 0, t.x, ROWS_MAX, 50 + GAP, whole, 70, 1);
    for (size_t i = 0; i < ROWS_MAX; i++) /* nor are they read */
        memset(t.x + i * (50 + GAP) + 37, 0x7f, 13 * sizeof(float));
    ek_dense_apply_from(t.d, NULL, 13, t.x, ROWS_MAX, 50 + GAP, without, 70, 1);
    ck_assert_mem_eq(whole, without, sizeof whole);
    release(&t);
}
END_TEST

START_TEST(fused_instruction_sets_give_the_same_bits)
{
    struct ek_rng r;
    struct data t;
    float want[ROWS_MAX * (130 + GAP)];
    ek_rng_seed(&r, 3);
    make(&t, 151, 130, &r);
    apply(&t, ek_isa_best(), ROWS_MAX, 1);
    memcpy(want, t.y, sizeof want);
    for (enum ek_isa isa = EK_ISA_PORTABLE + 1; isa < EK_ISAS; isa++) {
        if (!ek_isa_has(isa))
            continue;
        apply(&t, isa, ROWS_MAX, 1);
        ck_assert_mem_eq(want, t.y, sizeof want);
    }
    release(&t);
}
END_TEST

START_TEST(nan_passes_through_relu_and_stays_in_its_row)
{
    static const float weight[4] = {1, 1, -1, 2}, x[4] = {NAN, 1, 1, 1};
    struct ek_dense *d;
    ck_assert_int_eq(ek_dense_new(&d, 2, 2, weight, NULL), EK_OK);
    for (enum ek_isa isa = 0; isa < EK_ISAS; isa++) {
        float y[4];
        const struct ek_dense_rows all = {x, y, 2, 2, 2, 1, NULL, 0};
        if (!ek_isa_has(isa))
            continue;
        ek_dense_fn_get(isa)(d, &all);
        ck_assert(isnan(y[0]) && isnan(y[1]));
        ck_assert(y[2] == 2.f && y[3] == 1.f);
    }
    ek_dense_free(d);
}
END_TEST

START_TEST(a_layer_without_inputs_or_outputs_is_refused)
{
    struct ek_dense *d = NULL;
    ck_assert_int_eq(ek_dense_new(&d, 0, 1, NULL, NULL), EK_ELIMIT);
    ck_assert_int_eq(ek_dense_new(&d, 1, 0, NULL, NULL), EK_ELIMIT);
    ck_assert_int_eq(ek_dense_new(&d, 1, 0x7fffffff, NULL, NULL), EK_ELIMIT);
    ck_assert_ptr_null(d);
}
END_TEST

Suite *suite_dense(void)
{
    return ek_suite(
        "dense", every_instruction_set_and_shape_is_right, a_row_does_not_depend_on_the_others,
        a_layer_may_start_from_what_other_inputs_gave,
        inputs_that_are_zero_in_all_rows_may_be_left_out, fused_instruction_sets_give_the_same_bits,
        nan_passes_through_relu_and_stays_in_its_row, a_layer_without_inputs_or_outputs_is_refused);
}
