/* Memory runs out while a detector is saved, and while it is restored. */
#include "tests/alloc/sweep.h"
#include "tests/check.h"
#include "tests/shop.h"

#include "detect/snapshot.h"
#include "detect/snapshot_view.h"

enum { LISTS = 60, CELLS = 8, KIND = 1 };

static struct ek_manifest *manifest;
static struct ek_profile *profile;
static struct ek_rules *rules;
static struct ek_detector *detector;
static struct ek_buf bytes;

static int save(struct ek_error *e)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    int rc = ek_detector_save(detector, &out, e);
    int same = rc || (out.length == bytes.length && !memcmp(out.data, bytes.data, out.length));
    size_t left = out.length;
    ek_buf_release(&out);
    if (rc && left)
        return ek_fail(e, EK_ESTATE, "a part of a snapshot was left");
    return same ? rc : ek_fail(e, EK_ESTATE, "another snapshot");
}

static int restore(struct ek_error *e)
{
    struct ek_detector *d = NULL;
    int rc = ek_detector_restore(&d, manifest, profile, rules, CELLS, bytes.data, bytes.length, e);
    if (rc && d)
        return ek_fail(e, EK_ESTATE, "a part of a detector was left");
    ek_detector_free(d);
    return rc;
}

static int view(struct ek_error *e)
{
    struct ek_snapshot_view *v = NULL;
    int rc = ek_snapshot_view_new(&v, bytes.data, bytes.length, e);
    ek_snapshot_view_free(v);
    return rc;
}

/* Findings wait in it: a price with a unit, and a code that is new. */
static void set_up(void)
{
    static const char text[] = "version: 1\nsegments: [arm, market]\n";
    struct shop s;
    manifest = shop_manifest();
    profile = shop_profile(manifest, 500, 4, NULL);
    ck_assert_int_eq(ek_rules_parse(&rules, manifest, "rules", text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new_with(&detector, manifest, profile, rules, CELLS, NULL), EK_OK);
    shop_open(&s, 5, 4);
    for (int n = 0; n < LISTS; n++) {
        struct ek_query *q = shop_next(&s);
        for (int i = 0; n > LISTS / 3 && i < q->items; i++) {
            q->x[2 * i] *= 100;
            q->x[2 * i + KIND] = 99;
        }
        ck_assert_int_eq(ek_detector_observe(detector, q, n, NULL), EK_OK);
    }
    shop_close(&s);
    ek_buf_init(&bytes, 0);
    ck_assert_int_eq(ek_detector_save(detector, &bytes, NULL), EK_OK);
}

static void tear_down(void)
{
    ek_buf_release(&bytes);
    ek_detector_free(detector);
    ek_rules_free(rules);
    ek_profile_free(profile);
    ek_manifest_free(manifest);
}

START_TEST(saving_without_memory_leaves_nothing)
{
    set_up();
    ek_sweep(save);
    tear_down();
}
END_TEST

START_TEST(restoring_without_memory_leaves_nothing)
{
    set_up();
    ek_sweep(restore);
    tear_down();
}
END_TEST

START_TEST(looking_into_one_without_memory_leaves_nothing)
{
    set_up();
    ek_sweep(view);
    tear_down();
}
END_TEST

Suite *suite_snapshot(void)
{
    return ek_suite("snapshot without memory", saving_without_memory_leaves_nothing,
                    restoring_without_memory_leaves_nothing,
                    looking_into_one_without_memory_leaves_nothing);
}
