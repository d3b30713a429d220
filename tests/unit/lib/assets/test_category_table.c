/* Categories in training: weights of values, the values a profile retains, and rejected tables. */
#include "base/alloc.h"
#include "num/misra_gries.h"
#include "offline/fit/category_fit.h"
#include "tests/check.h"
#include "tests/shop.h"

#include <stdlib.h>
#include <unistd.h>

enum { KIND = 1 };

START_TEST(heavy_keys_are_counted_exactly_and_in_any_order)
{
    enum { KEYS = 500 };
    struct ek_misra_gries *forward, *backward;
    struct ek_misra_gries_key a[KEYS], z[KEYS];
    ck_assert_int_eq(ek_misra_gries_new(&forward, 1024), EK_OK);
    ck_assert_int_eq(ek_misra_gries_new(&backward, 1024), EK_OK);
    for (uint64_t i = 0; i < 20 * KEYS; i++) {
        uint64_t j = 20 * KEYS - 1 - i;
        ck_assert_int_eq(ek_misra_gries_add(forward, i * i % KEYS, i), EK_OK);
        ck_assert_int_eq(ek_misra_gries_add(backward, j * j % KEYS, j), EK_OK);
    }
    size_t count = ek_misra_gries_count(forward);
    ck_assert_uint_eq(count, ek_misra_gries_count(backward));
    ek_misra_gries_list(forward, a);
    ek_misra_gries_list(backward, z);
    for (size_t i = 0; i < count; i++) {
        ck_assert(i == 0 || a[i - 1].key < a[i].key);
        ck_assert_uint_eq(a[i].key, z[i].key);
        ck_assert_uint_eq(a[i].weight, z[i].weight);
        ck_assert_uint_eq(a[i].times, z[i].times);
    }
    ek_misra_gries_free(forward);
    ek_misra_gries_free(backward);
}
END_TEST

START_TEST(a_million_keys_take_no_more_room_and_hide_no_heavy_one)
{
    enum { MOST = 1024, LIGHT = 1000000, EVERY = 200 };
    struct ek_misra_gries *h;
    struct ek_misra_gries_key *keys = ek_calloc(MOST, sizeof *keys);
    ck_assert_int_eq(ek_misra_gries_new(&h, MOST), EK_OK);
    for (uint64_t i = 0; i < LIGHT; i++) {
        ck_assert_int_eq(ek_misra_gries_add(h, 1000 + i, 1), EK_OK);
        if (i % EVERY == 0)
            ck_assert_int_eq(ek_misra_gries_add(h, 7, 1), EK_OK);
        ck_assert_uint_le(ek_misra_gries_count(h), MOST);
    }
    size_t count = ek_misra_gries_count(h);
    ek_misra_gries_list(h, keys);
    ck_assert_uint_eq(keys[0].key, 7);
    uint64_t whole = LIGHT / EVERY, short_by = (LIGHT + whole) / (MOST / 2);
    ck_assert(keys[0].weight <= whole && keys[0].weight >= whole - short_by);
    ck_assert_uint_gt(count, 0);
    ek_free(keys);
    ek_misra_gries_free(h);
}
END_TEST

/* Return the table of `lists` lists of one or two items each. */
static struct ek_category_table table_of(const struct ek_category_share *of, int lists, int step)
{
    static const int number[] = {0};
    struct ek_category_fit *fit;
    struct ek_category_table t;
    ck_assert_int_eq(ek_category_fit_new(&fit), EK_OK);
    for (int i = 0; i < lists; i++) {
        int at = (int)((long)i * step % lists);
        struct ek_category_list l = {.of = (struct ek_category_share *)(uintptr_t)&of[2 * at],
                                     .count = 2};
        ck_assert_int_eq(ek_category_fit_add(fit, &l, 0), EK_OK);
    }
    ck_assert_int_eq(ek_category_fit_finish(fit, number, 1, &t), EK_OK);
    ek_category_fit_free(fit);
    return t;
}

START_TEST(a_table_keeps_mean_shares_of_lists_and_what_one_list_alone_had)
{
    static const struct ek_category_share of[] = {{-3, .5f},  {4, .5f},  {-3, .25f}, {4, .75f},
                                                  {-3, .75f}, {9, .25f}, {-3, .5f},  {4, .5f}};
    struct ek_category_table a = table_of(of, 4, 1), b = table_of(of, 4, 3);
    ck_assert_int_eq(a.count, 3);
    ck_assert_int_eq(ek_category_find(&a, -3), 0);
    ck_assert_int_eq(ek_category_find(&a, 5), -1);
    ck_assert(fabsf(a.share[0] - .5f) < 1e-5f);
    ck_assert(fabsf(a.share[1] - .4375f) < 1e-5f);
    ck_assert(fabsf(a.share[2] - .0625f) < 1e-5f);
    ck_assert(fabsf(a.unknown[0] - .0625f) < 1e-5f);
    ck_assert_int_eq(memcmp(a.share, b.share, 3 * sizeof *a.share), 0);
    ek_category_table_release(&a);
    ek_category_table_release(&b);
}
END_TEST

START_TEST(a_million_codes_leave_a_small_table_that_says_how_much_it_leaves_out)
{
    enum { LISTS = 1000000 };
    struct ek_category_share *of = ek_calloc(2 * LISTS, sizeof *of);
    for (int i = 0; i < LISTS; i++) {
        of[2 * i] = (struct ek_category_share){-1, .5f};
        of[2 * i + 1] = (struct ek_category_share){(float)i, .5f};
    }
    struct ek_category_table t = table_of(of, LISTS, 1);
    ck_assert_int_le(t.count, EK_CATEGORIES_MAX);
    int heavy = ek_category_find(&t, -1);
    ck_assert_int_eq(heavy, 0);
    ck_assert(fabsf(t.share[heavy] - .5f) < 1e-3f);
    ck_assert(fabsf(t.unknown[0] - .5f) < 2e-3f);
    ek_category_table_release(&t);
    ek_free(of);
}
END_TEST

START_TEST(strata_have_shares_of_their_own)
{
    struct ek_manifest *m = shop_manifest();
    struct ek_profile *p = shop_profile(m, 6000, 24, "market");
    struct shop s;
    shop_open(&s, 1, 24);
    const struct ek_category_table *t = &p->category[KIND];
    ck_assert_int_eq(t->strata, 25);
    ck_assert_int_eq(t->count, SHOP_KINDS);
    for (int market = 0; market < 24; market++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", market);
        int stratum = ek_profile_stratum(p, name, strlen(name));
        ck_assert_int_gt(stratum, 0);
        for (int k = 0; k < SHOP_KINDS; k++) {
            double liked = s.liked[market][k] - (k ? s.liked[market][k - 1] : 0);
            double pulled = (double)t->share[k * 25];
            double want = (250 * liked + 20 * pulled) / 270;
            ck_assert(fabs((double)t->share[k * 25 + stratum] - want) < .05);
        }
        ck_assert(t->unknown[stratum] < .001f);
    }
    shop_close(&s);
    ek_profile_free(p);
    ek_manifest_free(m);
}
END_TEST

static struct ek_profile *saved_and_loaded(const struct ek_profile *p, struct ek_error *e)
{
    struct ek_profile *read = NULL;
    char path[] = "/tmp/ek-category-XXXXXX";
    close(mkstemp(path));
    ck_assert_int_eq(ek_profile_save(p, path, NULL), EK_OK);
    ek_profile_load(&read, path, e);
    unlink(path);
    return read;
}

START_TEST(a_table_is_read_as_it_was_written)
{
    struct ek_manifest *m = shop_manifest();
    struct ek_profile *p = shop_profile(m, 400, 3, "market");
    struct ek_profile *read = saved_and_loaded(p, NULL);
    const struct ek_category_table *a = &p->category[KIND], *b = &read->category[KIND];
    ck_assert_int_eq(read->category[0].strata, 0);
    ck_assert_int_eq(a->count, b->count);
    ck_assert_int_eq(a->strata, b->strata);
    size_t values = (size_t)a->count, strata = (size_t)a->strata;
    ck_assert_int_eq(memcmp(a->value, b->value, values * sizeof(float)), 0);
    ck_assert_int_eq(memcmp(a->share, b->share, values * strata * sizeof(float)), 0);
    ck_assert_int_eq(memcmp(a->unknown, b->unknown, strata * sizeof(float)), 0);
    ck_assert_int_eq(ek_profile_check(read, m, NULL), EK_OK);
    ek_profile_free(read);
    ek_profile_free(p);
    ek_manifest_free(m);
}
END_TEST

START_TEST(a_damaged_table_is_refused_by_name)
{
    struct ek_manifest *m = shop_manifest();
    struct ek_profile *p = shop_profile(m, 400, 1, NULL);
    struct ek_category_table *t = &p->category[KIND];
    struct {
        float *at, bad;
        const char *name;
    } faults[] = {{&t->value[2], t->value[1], "'category_value'"},
                  {&t->value[0], NAN, "'category_value'"},
                  {&t->share[1], 1.5f, "'category_share'"},
                  {&t->share[1], NAN, "'category_share'"},
                  {&t->unknown[0], -.5f, "'category_unknown'"}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct ek_error e = {0};
        float kept = *faults[i].at;
        *faults[i].at = faults[i].bad;
        ck_assert_ptr_null(saved_and_loaded(p, &e));
        ck_assert_int_eq(e.code, EK_EFORMAT);
        ck_assert_msg(strstr(e.message, faults[i].name) != NULL, "'%s' does not name %s", e.message,
                      faults[i].name);
        *faults[i].at = kept;
    }
    ek_profile_free(p);
    ek_manifest_free(m);
}
END_TEST

/* Return the one-stratum profile as one of many strata, with that many values of the category. */
static struct ek_profile *widened(const struct ek_manifest *m, const struct ek_profile *p,
                                  int strata, int values)
{
    struct ek_profile *wide = NULL;
    size_t features = (size_t)p->features, cells = features * (size_t)strata;
    ck_assert_int_eq(ek_profile_new(&wide, m, strata, "market", NULL), EK_OK);
    memcpy(wide->baseline, p->baseline, features * sizeof *p->baseline);
    memcpy(wide->density, p->density, features * EK_DENSITY_BINS * sizeof *p->density);
    for (size_t i = 0; i < cells * EK_CALIBRATED; i++)
        wide->calibration[i] = 1;
    for (int i = 1; i < strata; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%04d", i);
        wide->stratum[i] = ek_strdup(name);
    }
    struct ek_category_table *t = &wide->category[KIND];
    ck_assert_int_eq(ek_category_table_init(t, values, strata), EK_OK);
    for (int i = 0; i < values; i++)
        t->value[i] = (float)i;
    return wide;
}

START_TEST(a_file_of_larger_tables_than_training_makes_is_refused)
{
    enum { STRATA = 2048, MOST = EK_CATEGORY_CELLS_MAX / STRATA };
    static const int sizes[][3] = {{1, EK_CATEGORIES_MAX, true},
                                   {1, EK_CATEGORIES_MAX + 1, false},
                                   {STRATA, MOST - 1, true},
                                   {STRATA, MOST, true},
                                   {STRATA, MOST + 1, false}};
    struct ek_manifest *m = shop_manifest();
    struct ek_profile *p = shop_profile(m, 300, 1, NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct ek_profile *made = widened(m, p, sizes[i][0], sizes[i][1]);
        struct ek_error e = {0};
        struct ek_profile *read = saved_and_loaded(made, &e);
        ck_assert_msg(!read == !sizes[i][2], "case %zu: %s", i, e.message);
        ck_assert(read || strstr(e.message, "'category_offset'"));
        ek_profile_free(read);
        ek_profile_free(made);
    }
    ek_profile_free(p);
    ek_manifest_free(m);
}
END_TEST

START_TEST(a_profile_that_took_codes_for_numbers_is_refused)
{
    static const char numbers[] = "features:\n"
                                  "  - {name: price, index: 1, role: item, routable: true}\n"
                                  "  - {name: kind, index: 2, role: item}\n"
                                  "  - {name: nights, index: 3, role: query}\n";
    struct ek_manifest *codes = shop_manifest(), *plain;
    struct ek_error e = {0};
    ck_assert_int_eq(ek_manifest_parse(&plain, "m", numbers, strlen(numbers), NULL), EK_OK);
    struct ek_profile *of_codes = shop_profile(codes, 300, 1, NULL);
    struct ek_profile *of_numbers = shop_profile(plain, 300, 1, NULL);
    ck_assert_int_eq(ek_profile_check(of_codes, codes, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_check(of_numbers, plain, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_check(of_numbers, codes, &e), EK_ESTATE);
    ck_assert_ptr_nonnull(strstr(e.message, "'kind' is a category in the manifest"));
    ck_assert_int_eq(ek_profile_check(of_codes, plain, &e), EK_ESTATE);
    ck_assert_ptr_nonnull(strstr(e.message, "'kind' is a number in the manifest"));
    ek_profile_free(of_codes);
    ek_profile_free(of_numbers);
    ek_manifest_free(codes);
    ek_manifest_free(plain);
}
END_TEST

Suite *suite_category_table(void)
{
    return ek_suite("category table", heavy_keys_are_counted_exactly_and_in_any_order,
                    a_million_keys_take_no_more_room_and_hide_no_heavy_one,
                    a_table_keeps_mean_shares_of_lists_and_what_one_list_alone_had,
                    a_million_codes_leave_a_small_table_that_says_how_much_it_leaves_out,
                    strata_have_shares_of_their_own, a_table_is_read_as_it_was_written,
                    a_damaged_table_is_refused_by_name,
                    a_file_of_larger_tables_than_training_makes_is_refused,
                    a_profile_that_took_codes_for_numbers_is_refused);
}
