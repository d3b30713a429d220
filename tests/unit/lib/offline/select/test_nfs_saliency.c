/* Saliency of a batch of lists, against each list alone. */
#include "tests/check.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "offline/select/nfs_saliency.h"

#include <math.h>
#include <string.h>

enum { F = 4, M = 1, LISTS = 40, ITEMS_MAX = 12, PARTS = EK_NFS_PARTS };

struct bench {
    struct ek_nfs_ranker r;
    struct ek_nfs_data d;
    struct ek_nfs_options o;
};

static void draw(float *x, size_t count, struct ek_rng *r)
{
    for (size_t i = 0; i < count; i++)
        x[i] = (float)ek_rng_normal(r);
}

/* A network of random weights; one list in four has one item. */
static void bench_init(struct bench *b)
{
    struct ek_rng r;
    struct ek_nfs_data *d = &b->d;
    memset(b, 0, sizeof *b);
    ek_rng_seed(&r, 1);
    ek_nfs_defaults(&b->o);
    ek_nfs_network_init(&b->r.network, F, M);
    b->r.rows_max = 30; /* a shard needs several passes */
    b->r.parameter = ek_calloc(b->r.network.parameters, sizeof(float));
    b->r.turned = ek_calloc(b->r.network.turned, sizeof(float));
    draw(b->r.parameter, b->r.network.parameters, &r);
    ek_nfs_network_transpose(&b->r.network, b->r.parameter, b->r.turned);
    *d = (struct ek_nfs_data){.lists = LISTS, .features = F, .queries = M, .longest = ITEMS_MAX};
    d->offset = ek_calloc(LISTS + 1, sizeof *d->offset);
    for (size_t q = 0; q < LISTS; q++)
        d->offset[q + 1] = d->offset[q] + (q % 4 ? 2 + ek_rng_uniform_int(&r, ITEMS_MAX - 1) : 1);
    d->items = d->offset[LISTS];
    d->part = ek_calloc(d->items * F * PARTS, sizeof *d->part);
    d->query = ek_calloc((size_t)LISTS * M, sizeof *d->query);
    d->there = ek_calloc(d->items * F, sizeof *d->there);
    draw(d->part, d->items * F * PARTS, &r);
    draw(d->query, (size_t)LISTS * M, &r);
    for (size_t i = 0; i < d->items * F; i++)
        d->there[i] = ek_rng_uniform_int(&r, 10) > 0;
}

static void bench_release(struct bench *b)
{
    ek_nfs_ranker_release(&b->r);
    ek_nfs_data_release(&b->d);
}

static const bool LIVE[F] = {true, true, true, true};

/* Add the maps of one list to sum [F] and its groups to g. */
static void look_alone(const struct bench *b, size_t list, double *sum, struct ek_nfs_groups *g)
{
    const struct ek_nfs_network *n = &b->r.network;
    struct ek_nfs_list l = ek_nfs_data_list(&b->d, list);
    struct ek_nfs_pass p;
    double map[F];
    uint64_t bits;
    ck_assert_int_eq(ek_nfs_pass_init(&p, n, ITEMS_MAX), 0);
    ck_assert(ek_nfs_pass_add(&p, n, b->r.turned, &l));
    ek_nfs_forward(n, b->r.parameter, &p);
    ek_nfs_item_gradient(n, b->r.parameter, b->r.turned, &p);
    for (size_t i = 0; i < l.items; i++) {
        if (ek_nfs_map(p.d_input + i * n->in.stride, b->d.there + (b->d.offset[list] + i) * F, LIVE,
                       F, b->o.threshold, map, &bits))
            ck_assert_int_eq(ek_nfs_groups_add(g, &bits, 1), 0);
        for (size_t f = 0; f < F; f++)
            sum[f] += map[f];
    }
    ek_nfs_pass_release(&p);
}

START_TEST(all_lists_but_those_of_one_item_are_looked_at)
{
    struct bench b;
    struct ek_nfs_saliency look;
    struct ek_nfs_groups g;
    struct ek_error e;
    double sum[F] = {0};
    size_t items = 0;
    bench_init(&b);
    ek_nfs_groups_init(&g, F);
    for (size_t q = 0; q < LISTS; q++)
        if (q % 4) {
            look_alone(&b, q, sum, &g);
            items += b.d.offset[q + 1] - b.d.offset[q];
        }
    ck_assert_int_eq(ek_nfs_saliency(&look, &b.r, &b.d, LIVE, &b.o, &e), EK_OK);
    ck_assert_uint_eq(look.items, items);
    for (size_t f = 0; f < F; f++)
        ck_assert_double_eq_tol(look.saliency[f], sum[f] / (double)items, 1e-12);
    ck_assert_uint_eq(look.groups.maps, g.maps);
    ck_assert_uint_eq(look.groups.count, g.count);
    for (size_t i = 0; i < g.count; i++) {
        ck_assert_uint_eq(look.groups.bits[i], g.bits[i]);
        ck_assert_uint_eq(look.groups.seen[i], g.seen[i]);
    }
    ek_nfs_groups_release(&g);
    ek_nfs_saliency_release(&look);
    bench_release(&b);
}
END_TEST

Suite *suite_nfs_saliency(void)
{
    return ek_suite("nfs_look", all_lists_but_those_of_one_item_are_looked_at);
}
