/* Allocation failures in the cross-validation of scalings. */
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include "base/rng.h"
#include "offline/scale/crossval.h"

enum { LISTS = 10, LENGTH = 4, FEATURES = 2 };

static size_t offset[LISTS + 1];
static float x[LISTS * LENGTH * FEATURES], label[LISTS * LENGTH];
static uint64_t id[LISTS];
static uint8_t source[LISTS * LENGTH], sources[LISTS];
static struct ek_dataset data;

static void plant(void)
{
    struct ek_rng r;
    ek_rng_seed(&r, 1);
    for (size_t q = 0; q < LISTS; q++)
        offset[q + 1] = (q + 1) * LENGTH;
    for (size_t i = 0; i < LISTS * LENGTH; i++) {
        x[2 * i] = (float)ek_rng_normal(&r);
        x[2 * i + 1] = (float)ek_rng_normal(&r);
        label[i] = x[2 * i] > 0;
    }
    data = (struct ek_dataset){.lists = LISTS,
                               .items = LISTS * LENGTH,
                               .item_features = FEATURES,
                               .offset = offset,
                               .x = x,
                               .label = label,
                               .id = id,
                               .source = source,
                               .sources = sources};
}

static int judge(struct ek_error *e)
{
    struct ek_crossval_method m[2] = {{.method = EK_METHOD_MERGE}, {.method = EK_METHOD_OSM}};
    struct ek_crossval_result of[2];
    struct ek_crossval_options o;
    struct ek_crossval_scores out[2];
    struct ek_folds folds;
    int rc = ek_folds_split(&folds, LISTS, 5, e);
    ek_crossval_defaults(&o);
    for (int i = 0; i < 2; i++) {
        ek_osm_defaults(&m[i].osm);
        of[i] = ek_crossval_from_method(&m[i]);
    }
    if (!rc)
        rc = ek_crossval(&data, &folds, of, 2, &o, out, e);
    for (int i = 0; i < 2 && !rc; i++)
        ek_crossval_scores_release(&out[i]);
    return rc;
}

START_TEST(a_judgement_without_memory_leaves_nothing)
{
    struct ek_error e;
    plant();
    ck_assert_msg(!judge(&e), "%s", e.message);
    ek_sweep(judge);
}
END_TEST

Suite *suite_crossval(void)
{
    return ek_suite("judge without memory", a_judgement_without_memory_leaves_nothing);
}
