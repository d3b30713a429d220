/* Profiles with retained lists: a merge equals the profile of all lists, and a damaged array is
 * named. */
#include "base/error.h"
#include "assets/profile.h"
#include "assets/tensors.h"
#include "tests/check.h"
#include "tests/shop.h"
#include "tests/temporary.h"

#include <math.h>
#include <string.h>

enum { LISTS = 1200, PARTS = 3, MARKETS = 5, KIND = 1 };
static const double ROUNDING = 1e-5;

/* Return a profile of the shop's lists `from` .. `to`, with the lists. */
static struct ek_profile *kept(const struct ek_manifest *m, int from, int to, const char *field)
{
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    struct shop s;
    shop_open(&s, 1, MARKETS);
    ck_assert_int_eq(ek_profile_fit_new(&fit, m, field, NULL), EK_OK);
    for (int i = 0; i < to; i++) {
        struct ek_list *q = shop_next(&s);
        if (i >= from)
            ck_assert_int_eq(ek_profile_fit_add(fit, q, NULL), EK_OK);
    }
    ek_profile_fit_retain_lists(fit);
    ck_assert_int_eq(ek_profile_fit_finish(fit, &p, NULL), EK_OK);
    ek_profile_fit_free(fit);
    shop_close(&s);
    return p;
}

static struct ek_profile *saved_and_loaded(struct ek_profile *p)
{
    struct ek_profile *read = NULL;
    struct temporary f = temporary_file();
    ck_assert_int_eq(ek_profile_save(p, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load_lists(&read, f.path, NULL), EK_OK);
    unlink(f.path);
    ek_profile_free(p);
    return read;
}

static struct ek_profile *joined(const struct ek_manifest *m, const char *field,
                                 struct ek_profile **part, int parts, bool keep)
{
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    ck_assert_int_eq(ek_profile_fit_new(&fit, m, field, NULL), EK_OK);
    for (int i = 0; i < parts; i++)
        ck_assert_int_eq(ek_profile_fit_merge(fit, part[i], NULL), EK_OK);
    if (keep)
        ek_profile_fit_retain_lists(fit);
    ck_assert_int_eq(ek_profile_fit_finish(fit, &p, NULL), EK_OK);
    ek_profile_fit_free(fit);
    return p;
}

static void are_near(const float *a, const float *b, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(fabs((double)a[i] - (double)b[i]) <= ROUNDING, "%s[%zu]: %g and %g", what, i,
                      (double)a[i], (double)b[i]);
}

static void are_the_same(const struct ek_profile *a, const struct ek_profile *b)
{
    size_t features = (size_t)a->features, strata = (size_t)a->strata;
    ck_assert_int_eq(a->strata, b->strata);
    ck_assert_uint_eq(a->queries, b->queries);
    ck_assert_uint_eq(a->items, b->items);
    ck_assert_int_eq(a->span_ms, b->span_ms);
    for (size_t s = 0; s < strata; s++)
        ck_assert_str_eq(a->stratum[s], b->stratum[s]);
    are_near(a->level, b->level, features * strata, "level");
    are_near(a->band, b->band, features * strata, "stratum_band");
    are_near(a->calibration, b->calibration, features * strata * EK_CALIBRATED, "calibration");
    for (int f = 0; f < a->features; f++) {
        const struct ek_baseline *x = &a->baseline[f], *y = &b->baseline[f];
        const struct ek_category_table *c = &a->category[f], *d = &b->category[f];
        ck_assert_uint_eq(x->queries, y->queries);
        are_near(&x->level, &y->level, 1, "feature_level");
        are_near(x->inv_sd, y->inv_sd, EK_SD_SIZES, "inv_sd");
        are_near(x->spread_mean, y->spread_mean, EK_SIZE_CLASSES, "spread_mean");
        are_near(x->share, y->share, EK_SHARES, "share");
        are_near(x->season, y->season, EK_SEASON, "season");
        are_near(x->deff, y->deff, EK_RESPECTS, "design_effect");
        are_near(&x->band, &y->band, 1, "band");
        are_near(&x->range, &y->range, 1, "range");
        are_near(x->share_wander, y->share_wander, EK_SHARES, "share_wander");
        ck_assert_uint_eq(ek_sketch_total(a->sketch[f]), ek_sketch_total(b->sketch[f]));
        ck_assert_int_eq(c->count, d->count);
        are_near(c->value, d->value, (size_t)c->count, "category_value");
        are_near(c->share, d->share, (size_t)c->count * (size_t)c->strata, "category_share");
        are_near(c->unknown, d->unknown, (size_t)c->strata, "category_unknown");
    }
}

static void parts_of(const struct ek_manifest *m, const char *field, struct ek_profile **part)
{
    /* The first part is too short for all markets, so that strata differ. */
    static const int BOUND[PARTS + 1] = {0, 3, LISTS / 2, LISTS};
    for (int i = 0; i < PARTS; i++)
        part[i] = saved_and_loaded(kept(m, BOUND[i], BOUND[i + 1], field));
}

START_TEST(parts_joined_are_the_profile_of_all_lists)
{
    static const char *const FIELDS[] = {NULL, "market"};
    struct ek_manifest *m = shop_manifest();
    for (int i = 0; i < 2; i++) {
        struct ek_profile *part[PARTS], *all = kept(m, 0, LISTS, FIELDS[i]);
        parts_of(m, FIELDS[i], part);
        struct ek_profile *together = joined(m, FIELDS[i], part, PARTS, false);
        are_the_same(together, all);
        ck_assert_ptr_null(together->lists);
        for (int k = 0; k < PARTS; k++)
            ek_profile_free(part[k]);
        ek_profile_free(together);
        ek_profile_free(all);
    }
    ek_manifest_free(m);
}
END_TEST

START_TEST(what_was_joined_and_keeps_its_lists_can_be_joined_again)
{
    struct ek_manifest *m = shop_manifest();
    struct ek_profile *part[PARTS], *all = kept(m, 0, LISTS, "market");
    parts_of(m, "market", part);
    struct ek_profile *two[] = {saved_and_loaded(joined(m, "market", part, 2, true)), part[2]};
    struct ek_profile *together = joined(m, "market", two, 2, false);
    are_the_same(together, all);
    ek_profile_free(two[0]);
    for (int k = 0; k < PARTS; k++)
        ek_profile_free(part[k]);
    ek_profile_free(together);
    ek_profile_free(all);
    ek_manifest_free(m);
}
END_TEST

START_TEST(kept_lists_change_nothing_of_the_profile)
{
    struct ek_manifest *m = shop_manifest();
    struct ek_profile *with = kept(m, 0, 300, "market"), *plain = NULL;
    struct temporary f = temporary_file();
    ck_assert_int_eq(ek_profile_save(with, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&plain, f.path, NULL), EK_OK);
    unlink(f.path);
    ck_assert_ptr_null(plain->lists);
    ck_assert_uint_eq(ek_profile_hash(plain), ek_profile_hash(with));
    ek_profile_free(plain);
    ek_profile_free(with);
    ek_manifest_free(m);
}
END_TEST

START_TEST(a_profile_without_lists_or_of_another_baseline_cannot_be_joined)
{
    struct ek_manifest *m = shop_manifest();
    struct ek_profile *plain = shop_profile(m, 300, MARKETS, NULL), *read = NULL;
    struct ek_profile *by_arm = kept(m, 0, 300, "arm"), *none = kept(m, 0, 300, NULL);
    struct temporary f = temporary_file();
    struct ek_profile_fit *fit = NULL;
    struct ek_error e = {0};
    ck_assert_int_eq(ek_profile_save(plain, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load_lists(&read, f.path, &e), EK_ESTATE);
    unlink(f.path);
    ck_assert_ptr_nonnull(strstr(e.message, "keeps no lists"));
    ck_assert_int_eq(ek_profile_fit_new(&fit, m, "market", NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_merge(fit, by_arm, &e), EK_ESTATE);
    ck_assert_ptr_nonnull(strstr(e.message, "the baseline 'arm', not 'market'"));
    ck_assert_int_eq(ek_profile_fit_merge(fit, none, &e), EK_ESTATE);
    ck_assert_ptr_nonnull(strstr(e.message, "without the baseline 'market'"));
    ek_profile_fit_free(fit);
    ek_profile_free(plain);
    ek_profile_free(by_arm);
    ek_profile_free(none);
    ek_manifest_free(m);
}
END_TEST

/* Overwrite the first element of an array, or its last, by one byte pattern. */
static void spoil(const char *path, const char *array, const void *with, size_t bytes, bool last)
{
    struct ek_tensors *t = NULL;
    ck_assert_int_eq(ek_tensors_read(&t, path, NULL), EK_OK);
    const struct ek_tensor *found = ek_tensors_find(t, array);
    ck_assert_msg(found != NULL, "no '%s'", array);
    char *at = found->data;
    memcpy(last ? at + (found->count - 1) * bytes : at, with, bytes);
    ck_assert_int_eq(ek_tensors_write(t, path, NULL), EK_OK);
    ek_tensors_free(t);
}

START_TEST(lists_that_no_training_gives_are_refused_by_name)
{
    static const float huge = 1e30f, nothing = NAN;
    static const uint8_t share = 65;
    static const uint16_t stratum = MARKETS + 1;
    static const uint64_t none = 0, far = UINT64_MAX;
    static const struct {
        const char *array;
        const void *with;
        size_t bytes;
        bool last;
    } BAD[] = {{"list_level", &huge, 4, false},     {"list_level", &nothing, 4, false},
               {"list_spread", &huge, 4, false},    {"list_share", &share, 1, false},
               {"list_stratum", &stratum, 2, true}, {"count_weight", &none, 8, false},
               {"count_times", &none, 8, true},     {"count_pair", &far, 8, false},
               {"count_offset", &far, 8, false},    {"count_offset", &far, 8, true}};
    struct ek_manifest *m = shop_manifest();
    struct ek_profile *p = kept(m, 0, 300, "market"), *read = NULL;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct temporary f = temporary_file();
        struct ek_error e = {0};
        ck_assert_int_eq(ek_profile_save(p, f.path, NULL), EK_OK);
        spoil(f.path, BAD[i].array, BAD[i].with, BAD[i].bytes, BAD[i].last);
        ck_assert_int_eq(ek_profile_load_lists(&read, f.path, &e), EK_EFORMAT);
        const char *named =
            strncmp(BAD[i].array, "count_w", 7) && strncmp(BAD[i].array, "count_t", 7)
                ? BAD[i].array
                : "count_pair";
        ck_assert_msg(strstr(e.message, named) != NULL, "'%s' does not name '%s'", e.message,
                      named);
        ck_assert_int_eq(ek_profile_load(&read, f.path, NULL), EK_OK);
        unlink(f.path);
        ek_profile_free(read);
    }
    ek_profile_free(p);
    ek_manifest_free(m);
}
END_TEST

START_TEST(a_profile_that_says_it_keeps_the_lists_of_none_is_refused)
{
    struct ek_manifest *m = shop_manifest();
    struct ek_profile *p = kept(m, 0, 300, NULL), *read = NULL;
    struct temporary f = temporary_file();
    struct ek_error e = {0};
    p->queries = p->lists->queries = 0;
    ck_assert_int_eq(ek_profile_save(p, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load_lists(&read, f.path, &e), EK_EFORMAT);
    ck_assert_ptr_nonnull(strstr(e.message, "'queries'"));
    unlink(f.path);
    ek_profile_free(p);
    ek_manifest_free(m);
}
END_TEST

Suite *suite_profile_merge(void)
{
    return ek_suite("profile_merge", parts_joined_are_the_profile_of_all_lists,
                    what_was_joined_and_keeps_its_lists_can_be_joined_again,
                    kept_lists_change_nothing_of_the_profile,
                    a_profile_without_lists_or_of_another_baseline_cannot_be_joined,
                    lists_that_no_training_gives_are_refused_by_name,
                    a_profile_that_says_it_keeps_the_lists_of_none_is_refused);
}
