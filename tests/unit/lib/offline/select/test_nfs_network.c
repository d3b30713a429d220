/* Feature-selection re-ranker: gradients against differences, for every kind of parameter and for
 * the inputs. */
#include "tests/check.h"

#include "base/alloc.h"
#include "offline/select/nfs_network.h"

#include <math.h>
#include <string.h>

enum { F = 5, M = 2, PARTS = EK_NFS_PARTS, LISTS = 3, ITEMS = 27, ROWS_MAX = 40 };
static const size_t LENGTH[LISTS] = {1, 19, 7};

struct bench {
    struct ek_nfs_network n;
    struct ek_nfs_pass pass;
    float part[ITEMS * F * PARTS], query[LISTS * M];
    float *parameter, *turned, *gradient;
    double blame[ITEMS]; /* the test loss is blame . score */
};

static void bench_init(struct bench *b, uint64_t seed)
{
    struct ek_rng r;
    memset(b, 0, sizeof *b);
    ek_rng_seed(&r, seed);
    ek_nfs_network_init(&b->n, F, M);
    ck_assert_int_eq(ek_nfs_pass_init(&b->pass, &b->n, ROWS_MAX), 0);
    b->parameter = ek_calloc(b->n.parameters, sizeof(float));
    b->gradient = ek_calloc(b->n.parameters, sizeof(float));
    b->turned = ek_calloc(b->n.turned, sizeof(float));
    ek_nfs_network_start(&b->n, b->parameter, &r);
    for (size_t i = 0; i < (size_t)F * EK_NFS_WIDTH; i++)
        b->parameter[b->n.in.weight + i] = (float)(0.5 * ek_rng_normal(&r));
    for (size_t i = 0; i < (size_t)F * PARTS; i++)
        b->parameter[b->n.mixture + i] = (float)ek_rng_normal(&r);
    for (size_t i = 0; i < (size_t)ITEMS * F * PARTS; i++)
        b->part[i] = (float)ek_rng_normal(&r);
    for (size_t i = 0; i < (size_t)LISTS * M; i++)
        b->query[i] = (float)ek_rng_normal(&r);
    for (size_t i = 0; i < ITEMS; i++)
        b->blame[i] = ek_rng_normal(&r);
}

static void bench_release(struct bench *b)
{
    ek_nfs_pass_release(&b->pass);
    ek_free(b->parameter);
    ek_free(b->gradient);
    ek_free(b->turned);
}

static struct ek_nfs_list list_of(const struct bench *b, size_t list)
{
    size_t first = 0;
    for (size_t i = 0; i < list; i++)
        first += LENGTH[i];
    return (struct ek_nfs_list){
        .items = LENGTH[list], .part = b->part + first * F * PARTS, .query = b->query + list * M};
}

static void forward(struct bench *b)
{
    ek_nfs_network_transpose(&b->n, b->parameter, b->turned);
    ek_nfs_pass_clear(&b->pass);
    for (size_t i = 0; i < LISTS; i++) {
        struct ek_nfs_list l = list_of(b, i);
        ck_assert(ek_nfs_pass_add(&b->pass, &b->n, b->turned, &l));
    }
    ek_nfs_forward(&b->n, b->parameter, &b->pass);
}

static double loss(struct bench *b)
{
    double sum = 0;
    forward(b);
    for (size_t i = 0; i < ITEMS; i++)
        sum += b->blame[i] * b->pass.score[i];
    return sum;
}

static void learn(struct bench *b)
{
    forward(b);
    memcpy(b->pass.slope, b->blame, sizeof b->blame);
    ek_nfs_backward(&b->n, b->parameter, b->turned, &b->pass, b->gradient);
}

/* Compare the slope along a random direction within [from, from + count), by the gradient and by
 * differences. A short step, so that few ReLU units change sides. */
static void check_direction(struct bench *b, size_t from, size_t count, uint64_t seed)
{
    struct ek_rng r;
    float *direction = ek_calloc(count, sizeof *direction);
    float *held = ek_calloc(count, sizeof *held);
    double slope = 0, length = 0, h = 0x1p-9;
    ek_rng_seed(&r, seed);
    memcpy(held, b->parameter + from, count * sizeof *held);
    for (size_t i = 0; i < count; i++) {
        direction[i] = (float)ek_rng_normal(&r);
        length += pow((double)direction[i], 2);
    }
    for (size_t i = 0; i < count; i++)
        slope += (double)direction[i] * (double)b->gradient[from + i] / sqrt(length);
    double side[2];
    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; i < count; i++)
            b->parameter[from + i] =
                (float)((double)held[i] + (s ? h : -h) * (double)direction[i] / sqrt(length));
        side[s] = loss(b);
    }
    memcpy(b->parameter + from, held, count * sizeof *held);
    double difference = (side[1] - side[0]) / (2 * h);
    ck_assert_msg(fabs(difference - slope) <= 2e-3 + 0.01 * fabs(slope),
                  "parameters %zu to %zu: %g by the gradient, %g by differences", from,
                  from + count, slope, difference);
    ek_free(direction);
    ek_free(held);
}

static void check_layer(struct bench *b, const struct ek_linear *l, uint64_t seed)
{
    check_direction(b, l->weight, l->inputs * l->outputs, seed);
    check_direction(b, l->bias, l->outputs, seed);
}

START_TEST(gradients_of_all_parameters_are_those_of_differences)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct bench b;
        bench_init(&b, seed);
        learn(&b);
        check_direction(&b, b.n.mixture, (size_t)F * PARTS, seed);
        check_direction(&b, b.n.score, EK_NFS_WIDTH, seed);
        check_layer(&b, &b.n.in, seed);
        check_layer(&b, &b.n.qkv, seed);
        check_layer(&b, &b.n.out, seed);
        check_layer(&b, &b.n.wide, seed);
        check_layer(&b, &b.n.narrow, seed);
        /* Queries, keys and values separately. */
        for (size_t k = 0; k < 3; k++)
            check_direction(&b, b.n.qkv.bias + k * EK_NFS_WIDTH, EK_NFS_WIDTH, seed);
        for (size_t i = 0; i < (size_t)F * PARTS; i++)
            check_direction(&b, b.n.mixture + i, 1, seed);
        bench_release(&b);
    }
}
END_TEST

/* Fractions sum to 1, so moving all parts of a feature moves the input equally. */
static void move(struct bench *b, size_t item, size_t feature, float by)
{
    for (size_t k = 0; k < PARTS; k++)
        b->part[(item * F + feature) * PARTS + k] += by;
}

/* Return the slope of item i's score by feature f between two steps. */
static double slope_between(struct bench *b, size_t i, size_t f, float from, float to)
{
    move(b, i, f, from);
    forward(b);
    double before = b->pass.score[i];
    move(b, i, f, to - from);
    forward(b);
    move(b, i, f, -to);
    return (b->pass.score[i] - before) / ((double)to - (double)from);
}

/* At a corner of the ReLU it is the slope of one side. */
static void check_own(struct bench *b, size_t i, size_t f, double own)
{
    const float h = 0x1p-10f;
    double below = slope_between(b, i, f, -h, 0), above = slope_between(b, i, f, 0, h);
    double off = fmin(fabs(own - below), fabs(own - above));
    ck_assert_msg(off <= 2e-3 + 0.01 * fabs(own),
                  "item %zu, feature %zu: %g by the gradient, %g and %g by differences", i, f, own,
                  below, above);
}

START_TEST(an_item_s_own_gradient_is_that_of_its_score_by_its_features)
{
    struct bench b;
    float own[ITEMS * F];
    bench_init(&b, 4);
    forward(&b);
    ek_nfs_item_gradient(&b.n, b.parameter, b.turned, &b.pass);
    for (size_t i = 0; i < ITEMS; i++)
        memcpy(own + i * F, b.pass.d_input + i * b.n.in.stride, F * sizeof *own);
    for (size_t i = 0; i < ITEMS; i++)
        for (size_t f = 0; f < F; f++)
            check_own(&b, i, f, (double)own[i * F + f]);
    bench_release(&b);
}
END_TEST

START_TEST(a_list_is_scored_the_same_beside_any_others)
{
    struct bench b;
    double together[ITEMS];
    bench_init(&b, 5);
    forward(&b);
    memcpy(together, b.pass.score, sizeof together);
    for (size_t q = 0, row = 0; q < LISTS; row += LENGTH[q++]) {
        struct ek_nfs_list l = list_of(&b, q);
        ek_nfs_pass_clear(&b.pass);
        ck_assert(ek_nfs_pass_add(&b.pass, &b.n, b.turned, &l));
        ek_nfs_forward(&b.n, b.parameter, &b.pass);
        ck_assert_mem_eq(b.pass.score, together + row, LENGTH[q] * sizeof(double));
    }
    bench_release(&b);
}
END_TEST

START_TEST(at_the_start_no_feature_is_looked_at)
{
    struct bench b;
    struct ek_rng r;
    bench_init(&b, 6);
    ek_rng_seed(&r, 6);
    ek_nfs_network_start(&b.n, b.parameter, &r);
    forward(&b);
    ek_nfs_item_gradient(&b.n, b.parameter, b.turned, &b.pass);
    for (size_t i = 0; i < ITEMS; i++)
        for (size_t f = 0; f < F; f++)
            ck_assert_double_eq((double)b.pass.d_input[i * b.n.in.stride + f], 0);
    bench_release(&b);
}
END_TEST

START_TEST(a_pass_that_is_full_takes_no_list)
{
    struct bench b;
    bench_init(&b, 7);
    forward(&b);
    struct ek_nfs_list l = list_of(&b, 1);
    ck_assert(!ek_nfs_pass_add(&b.pass, &b.n, b.turned, &l));
    ck_assert_uint_eq(b.pass.rows, ITEMS);
    bench_release(&b);
}
END_TEST

Suite *suite_nfs_network(void)
{
    return ek_suite("nfs_network", gradients_of_all_parameters_are_those_of_differences,
                    an_item_s_own_gradient_is_that_of_its_score_by_its_features,
                    a_list_is_scored_the_same_beside_any_others,
                    at_the_start_no_feature_is_looked_at, a_pass_that_is_full_takes_no_list);
}
