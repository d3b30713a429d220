/* Self-attention against explicit sums, and its gradients against differences. */
#include "tests/check.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "offline/select/nfs_network.h"

#include <math.h>
#include <string.h>

enum { HEADS = 2, D = EK_ATTENTION_HEAD, W = HEADS * D, ROW = 3 * W };

struct bench {
    size_t n;
    float *qkv, *out, *d_out, *d_qkv;
    struct ek_attention a;
};

static void bench_init(struct bench *b, size_t n)
{
    struct ek_rng r;
    ek_rng_seed(&r, n);
    b->n = n;
    b->qkv = ek_calloc(n * ROW, sizeof *b->qkv);
    b->out = ek_calloc(n * W, sizeof *b->out);
    b->d_out = ek_calloc(n * W, sizeof *b->d_out);
    b->d_qkv = ek_calloc(n * ROW, sizeof *b->d_qkv);
    b->a = (struct ek_attention){.items = n,
                                 .heads = HEADS,
                                 .qkv = b->qkv,
                                 .weight = ek_calloc(ek_attention_weights(n, HEADS), sizeof(float)),
                                 .scratch = ek_calloc(ek_attention_scratch(n), sizeof(float))};
    for (size_t i = 0; i < n * ROW; i++)
        b->qkv[i] = (float)ek_rng_normal(&r);
    for (size_t i = 0; i < n * W; i++)
        b->d_out[i] = (float)ek_rng_normal(&r);
}

static void bench_release(struct bench *b)
{
    ek_free(b->qkv);
    ek_free(b->out);
    ek_free(b->d_out);
    ek_free(b->d_qkv);
    ek_free(b->a.weight);
    ek_free(b->a.scratch);
}

/* Return column c of item i's output, in double. */
static double expected(const struct bench *b, size_t i, size_t c)
{
    size_t head = c / D * D;
    double sum = 0, value = 0;
    for (size_t j = 0; j < b->n; j++) {
        double dot = 0;
        for (size_t d = head; d < head + D; d++)
            dot += (double)b->qkv[i * ROW + d] * (double)b->qkv[j * ROW + W + d];
        double weight = exp(dot / sqrt(D));
        sum += weight;
        value += weight * (double)b->qkv[j * ROW + 2 * (size_t)W + c];
    }
    return value / sum;
}

/* Return d_out . O, of one item or (item = n) of all. */
static double blamed(const struct bench *b, size_t item)
{
    double sum = 0;
    for (size_t i = 0; i < b->n; i++)
        for (size_t c = 0; c < W && (item == b->n || item == i); c++)
            sum += (double)b->d_out[i * W + c] * expected(b, i, c);
    return sum;
}

static double difference(struct bench *b, size_t at, size_t item)
{
    float held = b->qkv[at], h = 0x1p-10f;
    b->qkv[at] = held + h;
    double above = blamed(b, item);
    b->qkv[at] = held - h;
    double below = blamed(b, item);
    b->qkv[at] = held;
    return (above - below) / (2 * (double)h);
}

START_TEST(every_item_gets_the_weighted_mean_of_all_values)
{
    for (size_t n = 1; n <= 35; n += 17) {
        struct bench b;
        bench_init(&b, n);
        ek_attention_forward(&b.a, b.out);
        for (size_t i = 0; i < n; i++)
            for (size_t c = 0; c < W; c++)
                ck_assert_double_eq_tol((double)b.out[i * W + c], expected(&b, i, c), 1e-5);
        bench_release(&b);
    }
}
END_TEST

START_TEST(one_item_attends_to_itself)
{
    struct bench b;
    bench_init(&b, 1);
    ek_attention_forward(&b.a, b.out);
    ck_assert_mem_eq(b.out, b.qkv + 2 * (size_t)W, W * sizeof(float));
    bench_release(&b);
}
END_TEST

START_TEST(large_products_do_not_overflow)
{
    struct bench b;
    bench_init(&b, 20);
    for (size_t i = 0; i < 20 * ROW; i++)
        b.qkv[i] *= 100;
    ek_attention_forward(&b.a, b.out);
    for (size_t i = 0; i < (size_t)20 * W; i++)
        ck_assert(isfinite(b.out[i]));
    bench_release(&b);
}
END_TEST

START_TEST(gradients_are_those_of_differences)
{
    struct bench b;
    bench_init(&b, 18);
    ek_attention_forward(&b.a, b.out);
    ek_attention_backward(&b.a, b.d_out, false, b.d_qkv);
    for (size_t at = 0; at < b.n * ROW; at += 5)
        ck_assert_double_eq_tol((double)b.d_qkv[at], difference(&b, at, b.n), 1e-4);
    bench_release(&b);
}
END_TEST

START_TEST(own_gradients_are_those_of_each_item_alone)
{
    struct bench b;
    bench_init(&b, 18);
    ek_attention_forward(&b.a, b.out);
    ek_attention_backward(&b.a, b.d_out, true, b.d_qkv);
    for (size_t at = 0; at < b.n * ROW; at += 5)
        ck_assert_double_eq_tol((double)b.d_qkv[at], difference(&b, at, at / ROW), 1e-4);
    bench_release(&b);
}
END_TEST

Suite *suite_attention(void)
{
    return ek_suite("attention", every_item_gets_the_weighted_mean_of_all_values,
                    one_item_attends_to_itself, large_products_do_not_overflow,
                    gradients_are_those_of_differences, own_gradients_are_those_of_each_item_alone);
}
