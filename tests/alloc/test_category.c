/* Allocation failures while a profile is made, its halves are compared, and new values of a
 * category are found. */
#include "tests/alloc/scratch.h"
#include "tests/alloc/sweep.h"
#include "tests/check.h"
#include "tests/shop.h"

#include "daemon/commands/profile_halves.h"
#include "detect/detector.h"

enum { LISTS = 40, FAULT_FROM = 20, KIND = 1 };

static struct ek_manifest *manifest;
static struct ek_profile *profile;
static struct ek_rules *rules;
static struct shop shops[LISTS]; /* one list each, as creating one allocates too */

static int fit_table(struct ek_error *e)
{
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    int rc = ek_profile_fit_new(&fit, manifest, "market", e);
    for (int i = 0; !rc && i < FAULT_FROM; i++)
        rc = ek_profile_fit_add(fit, &shops[i].query, e);
    if (!rc)
        rc = ek_profile_fit_finish(fit, &p, e);
    ek_profile_free(p);
    ek_profile_fit_free(fit);
    return rc;
}

static int compare_halves(struct ek_error *e)
{
    struct ek_profile_halves *h = NULL;
    int rc = ek_profile_halves_new(&h, manifest, "market", LISTS, e);
    for (int i = 0; !rc && i < LISTS; i++)
        rc = ek_profile_halves_add(h, &shops[i].query, e);
    ek_profile_halves_free(h);
    return rc;
}

static struct ek_profile *kept;

/* Save the profile with its lists. */
static int keep_profile(struct ek_error *e)
{
    struct ek_profile_fit *fit = NULL;
    int rc = ek_profile_fit_new(&fit, manifest, "market", e);
    for (int i = 0; !rc && i < FAULT_FROM; i++)
        rc = ek_profile_fit_add(fit, &shops[i].query, e);
    if (!rc) {
        ek_profile_fit_retain_lists(fit);
        rc = ek_profile_fit_finish(fit, &kept, e);
    }
    ek_profile_fit_free(fit);
    return rc ? rc : ek_profile_save(kept, ek_scratch("kept.ekp").path, e);
}

static int read_lists(struct ek_error *e)
{
    struct ek_profile *p = NULL;
    int rc = ek_profile_load_lists(&p, ek_scratch("kept.ekp").path, e);
    ek_profile_free(p);
    return rc;
}

static int join_profiles(struct ek_error *e)
{
    struct ek_profile *joined = NULL;
    struct ek_profile_fit *fit = NULL;
    int rc = ek_profile_fit_new(&fit, manifest, "market", e);
    for (int i = 0; !rc && i < 2; i++)
        rc = ek_profile_fit_merge(fit, kept, e);
    if (!rc) {
        ek_profile_fit_retain_lists(fit);
        rc = ek_profile_fit_finish(fit, &joined, e);
    }
    ek_profile_fit_free(fit);
    ek_profile_free(joined);
    return rc;
}

static int find_code(struct ek_error *e)
{
    struct ek_detector *d = NULL;
    struct ek_finding f;
    int rc = ek_detector_new(&d, manifest, profile, rules, e), found = 0;
    for (int i = 0; !rc && i < LISTS; i++) {
        rc = ek_detector_observe(d, &shops[i].query, i, e);
        while (!rc && ek_detector_next(d, &f))
            found += f.feature == KIND;
    }
    ek_detector_free(d);
    if (!rc && !found)
        return ek_fail(e, EK_ESTATE, "nothing was found, so finding was not tried");
    return rc;
}

/* The first half has many values, so that the table grows; the second half has the new one. */
static void make_lists(void)
{
    for (int i = 0; i < LISTS; i++) {
        shop_open(&shops[i], 10 + (uint64_t)i, 4);
        struct ek_list *q = shop_next(&shops[i]);
        for (int k = 0; k < q->items; k++)
            if (i >= FAULT_FROM || k < 3)
                q->x[2 * k + KIND] = i >= FAULT_FROM ? 99 : (float)(1000 + 10 * i + k);
    }
}

static void set_up(void)
{
    make_lists();
    static const char text[] = "version: 1\nsegments: [arm, market]\n";
    manifest = shop_manifest();
    profile = shop_profile(manifest, 500, 1, NULL);
    ck_assert_int_eq(ek_rules_parse(&rules, manifest, "rules", text, strlen(text), NULL), EK_OK);
}

static void tear_down(void)
{
    ek_rules_free(rules);
    ek_profile_free(profile);
    ek_manifest_free(manifest);
    for (int i = 0; i < LISTS; i++)
        shop_close(&shops[i]);
}

START_TEST(a_table_without_memory_leaves_nothing)
{
    set_up();
    ek_sweep(fit_table);
    tear_down();
}
END_TEST

START_TEST(profiles_joined_without_memory_leave_nothing)
{
    set_up();
    ck_assert_int_eq(keep_profile(NULL), EK_OK);
    ek_sweep(read_lists);
    ek_sweep(join_profiles);
    ek_profile_free(kept);
    tear_down();
}
END_TEST

START_TEST(halves_compared_without_memory_leave_nothing)
{
    set_up();
    ek_sweep(compare_halves);
    tear_down();
}
END_TEST

START_TEST(a_search_for_new_codes_without_memory_leaves_nothing)
{
    set_up();
    ek_sweep(find_code);
    tear_down();
}
END_TEST

Suite *suite_category(void)
{
    return ek_suite("category without memory", a_table_without_memory_leaves_nothing,
                    halves_compared_without_memory_leave_nothing,
                    profiles_joined_without_memory_leave_nothing,
                    a_search_for_new_codes_without_memory_leaves_nothing);
}
