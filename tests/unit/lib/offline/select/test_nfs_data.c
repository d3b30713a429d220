/* Inputs of the feature-selection re-ranker. */
#include "tests/check.h"

#include "base/rng.h"
#include "offline/select/nfs_train.h"
#include "offline/train/evaluate.h"

#include <math.h>
#include <string.h>

static const char FEATURES[] = "features:\n"
                               "  - {name: a, index: 1, role: item}\n"
                               "  - {name: b, index: 2, role: item}\n"
                               "  - {name: c, index: 3, role: item}\n"
                               "  - {name: q, index: 4, role: query}\n";
enum { F = 3, M = 1, PARTS = EK_NFS_PARTS, LONG = 2 * EK_NFS_LIST_ITEMS_MAX + 5 };

struct bench {
    struct ek_manifest *m;
    struct ek_model *model;
    struct ek_dataset set;
    struct ek_nfs_data data;
    double mean[F * PARTS], scale[F * PARTS];
};

/* Lists of `lengths`; the label counts the items of a list. Feature 1 is sometimes missing, feature
 * 2 constant. */
static void draw(struct ek_dataset *d, const int *lengths, int lists)
{
    struct ek_rng r;
    struct ek_list q;
    struct ek_error e;
    ek_rng_seed(&r, 1);
    ek_list_init(&q);
    ek_dataset_init(d, F, M);
    for (int l = 0; l < lists; l++) {
        ck_assert_int_eq(ek_list_resize(&q, lengths[l], F, M), EK_OK);
        q.has_label = true;
        q.query[0] = (float)l;
        for (int i = 0; i < lengths[l]; i++) {
            q.x[i * F] = (float)(1e4 * exp(ek_rng_normal(&r)));
            q.x[i * F + 1] = ek_rng_uniform_int(&r, 3) ? (float)ek_rng_normal(&r) : NAN;
            q.x[i * F + 2] = 7;
            q.label[i] = (float)i;
        }
        ck_assert_int_eq(ek_dataset_add(d, &q, &e), EK_OK);
    }
    ek_list_release(&q);
}

static void bench_init(struct bench *b, const int *lengths, int lists)
{
    const struct ek_model_shape shape = {.gate_size = 1, .transform = EK_TRANSFORM_MIXTURE};
    struct ek_error e;
    ck_assert_int_eq(ek_manifest_parse(&b->m, "m", FEATURES, strlen(FEATURES), &e), EK_OK);
    draw(&b->set, lengths, lists);
    ck_assert_int_eq(ek_model_new(&b->model, b->m, &shape, &e), EK_OK);
    ck_assert_int_eq(ek_statistics_fit(b->model, &b->set, &e), EK_OK);
    ck_assert_int_eq(ek_nfs_data_init(&b->data, b->model, &b->set, &e), EK_OK);
    ek_nfs_data_measure(&b->data, b->mean, b->scale);
    ek_nfs_data_standardize(&b->data, b->mean, b->scale);
}

static void bench_release(struct bench *b)
{
    ek_nfs_data_release(&b->data);
    ek_dataset_release(&b->set);
    ek_model_free(b->model);
    ek_manifest_free(b->m);
}

START_TEST(parts_have_mean_0_and_deviation_1_over_what_is_there)
{
    struct bench b;
    double mean[F * PARTS], scale[F * PARTS];
    bench_init(&b, (const int[]){300, 1, 500}, 3);
    ek_nfs_data_measure(&b.data, mean, scale);
    for (size_t i = 0; i < (size_t)2 * PARTS; i++) {
        ck_assert_double_eq_tol(mean[i], 0, .02); /* clipping shifts it */
        ck_assert_double_eq_tol(scale[i], 1, .05);
    }
    bench_release(&b);
}
END_TEST

START_TEST(missing_values_and_constant_features_are_0)
{
    struct bench b;
    bench_init(&b, (const int[]){300}, 1);
    for (size_t i = 0; i < b.data.items; i++) {
        const float *part = b.data.part + i * F * PARTS;
        bool missing = isnan(b.set.x[i * F + 1]);
        ck_assert_int_eq(b.data.there[i * F + 1], !missing);
        for (size_t k = 0; k < PARTS; k++) {
            ck_assert(!missing || part[PARTS + k] == 0);
            ck_assert_double_eq((double)part[(size_t)2 * PARTS + k], 0);
        }
    }
    for (size_t k = 0; k < PARTS; k++)
        ck_assert_double_eq(b.scale[2 * PARTS + k], 0);
    bench_release(&b);
}
END_TEST

START_TEST(no_part_is_beyond_10_deviations)
{
    struct bench b;
    struct ek_error e;
    bench_init(&b, (const int[]){300}, 1);
    b.set.x[0] = 1e30f;
    ek_nfs_data_release(&b.data);
    ck_assert_int_eq(ek_nfs_data_init(&b.data, b.model, &b.set, &e), EK_OK);
    ek_nfs_data_standardize(&b.data, b.mean, b.scale);
    ck_assert_double_eq((double)b.data.part[0], 10);
    bench_release(&b);
}
END_TEST

START_TEST(a_long_list_is_dealt_out)
{
    struct bench b;
    for (int more = -1; more <= 1; more++) {
        bench_init(&b, (const int[]){EK_NFS_LIST_ITEMS_MAX + more}, 1);
        ck_assert_uint_eq(b.data.lists, more > 0 ? 2 : 1);
        bench_release(&b);
    }
    bench_init(&b, (const int[]){3, LONG, 4}, 3);
    const struct ek_nfs_data *d = &b.data;
    size_t offset[] = {0, 3, 3 + 685, 3 + 1369, 3 + LONG, 7 + LONG};
    ck_assert_uint_eq(LONG, 2053);
    ck_assert_uint_eq(d->lists, 5);
    ck_assert_uint_eq(d->longest, 685);
    ck_assert_mem_eq(d->offset, offset, sizeof offset);
    for (size_t i = 0; i < 685; i++)
        ck_assert_double_eq((double)d->label[3 + i], 3.0 * (double)i);
    for (size_t q = 1; q <= 3; q++)
        ck_assert_double_eq((double)d->query[q], (double)d->query[1]);
    ck_assert(d->query[4] > d->query[3]);
    bench_release(&b);
}
END_TEST

Suite *suite_nfs_data(void)
{
    return ek_suite("nfs_data", parts_have_mean_0_and_deviation_1_over_what_is_there,
                    missing_values_and_constant_features_are_0, no_part_is_beyond_10_deviations,
                    a_long_list_is_dealt_out);
}
