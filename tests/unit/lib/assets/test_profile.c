/* Profiles survive saving and loading, stratum names may hold any bytes, and a damaged file is
 * rejected with the name of the damaged array. */
#include "base/error.h"
#include "assets/profile.h"
#include "assets/residual_grid.h"
#include "tests/check.h"
#include "tests/stream.h"
#include "tests/temporary.h"

enum { LISTS = 300 };

/* Return a profile of lists with each of `arms` in turn. */
static struct ek_profile *profile_by_arm(const struct ek_manifest *m, const struct ek_text *arms,
                                         int count)
{
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    struct stream s;
    stream_start(&s, 5);
    ck_assert_int_eq(ek_profile_fit_new(&fit, m, "arm", NULL), EK_OK);
    for (int i = 0; i < LISTS; i++) {
        struct ek_list *q = stream_next(&s);
        q->segments[0].value = arms[i % count];
        ck_assert_int_eq(ek_profile_fit_add(fit, q, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_profile_fit_finish(fit, &p, NULL), EK_OK);
    ek_profile_fit_free(fit);
    stream_end(&s);
    return p;
}

START_TEST(names_of_strata_with_zeros_or_broken_utf8_are_any_other)
{
    static const char cut[] = {'B', 0, 'b', 'e', 'y', 'o', 'n', 'd', ' ', 't', 'h', 'e', ' ', 'e'};
    const struct ek_text arms[] = {{"A", 1},        {"B", 1},         {cut, sizeof cut},
                                   {"\xff\xfe", 2}, {"M\xc3\xbc", 3}, {"", 0}};
    struct ek_manifest *m = stream_manifest();
    struct ek_profile *made = profile_by_arm(m, arms, 6), *read = NULL;
    struct temporary f = temporary_file();
    ck_assert_int_eq(made->strata, 4);
    ck_assert_int_eq(ek_profile_save(made, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, NULL), EK_OK);
    ck_assert_int_eq(read->strata, 4);
    ck_assert_int_eq(ek_profile_stratum(read, "A", 1), 1);
    ck_assert_int_eq(ek_profile_stratum(read, "B", 1), 2);
    ck_assert_int_eq(ek_profile_stratum(read, "M\xc3\xbc", 3), 3);
    ck_assert_int_eq(ek_profile_stratum(read, cut, sizeof cut), 0);
    ck_assert_int_eq(ek_profile_stratum(read, "\xff\xfe", 2), 0);
    ck_assert_int_eq(ek_profile_stratum(read, "AB", 2), 0);
    ck_assert_int_eq(ek_profile_stratum(read, "", 0), 0);
    ck_assert_int_eq(ek_profile_stratum(read, NULL, 0), 0);
    ek_profile_free(read);
    ek_profile_free(made);
    ek_manifest_free(m);
    unlink(f.path);
}
END_TEST

/* Save the profile unchanged and expect the loader to name the array. */
static void is_refused_for(const struct ek_profile *p, const char *array)
{
    struct ek_profile *read = NULL;
    struct ek_error e = {0};
    struct temporary f = temporary_file();
    ck_assert_int_eq(ek_profile_save(p, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, &e), EK_EFORMAT);
    ck_assert_ptr_null(read);
    ck_assert_msg(strstr(e.message, array) != NULL, "'%s' does not name '%s'", e.message, array);
    unlink(f.path);
}

START_TEST(a_profile_with_numbers_no_training_gives_is_refused)
{
    struct ek_manifest *m = stream_manifest();
    struct ek_profile *p = stream_profile(m, LISTS);
    static const float bad[] = {NAN, INFINITY, -INFINITY, 1e30f};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        float kept = p->level[1];
        p->level[1] = bad[i];
        is_refused_for(p, "'level'");
        p->level[1] = kept;
        kept = p->baseline[2].share[0];
        p->baseline[2].share[0] = bad[i];
        is_refused_for(p, "'share'");
        p->baseline[2].share[0] = kept;
    }
    p->baseline[1].inv_sd[7] = 0;
    is_refused_for(p, "'inv_sd'");
    p->baseline[1].inv_sd[7] = 1;
    p->density[40] = 0;
    is_refused_for(p, "'density'");
    ek_profile_free(p);
    ek_manifest_free(m);
}
END_TEST

START_TEST(a_profile_with_strata_out_of_order_is_refused)
{
    const struct ek_text arms[] = {{"A", 1}, {"B", 1}};
    struct ek_manifest *m = stream_manifest();
    struct ek_profile *p = profile_by_arm(m, arms, 2);
    char *first = p->stratum[1];
    p->stratum[1] = p->stratum[2];
    p->stratum[2] = first;
    is_refused_for(p, "'strata'");
    ek_profile_free(p);
    ek_manifest_free(m);
}
END_TEST

/* Return a profile of lists whose query feature is `value` times their number. */
static struct ek_profile *profile_of_queries(const struct ek_manifest *m, float value)
{
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    struct ek_list q;
    ek_list_init(&q);
    ck_assert_int_eq(ek_profile_fit_new(&fit, m, NULL, NULL), EK_OK);
    for (int i = 0; i < LISTS; i++) {
        ck_assert_int_eq(ek_list_resize(&q, 2, 1, 2), EK_OK);
        q.segment_count = 0;
        q.x[0] = q.x[1] = 5;
        q.query[0] = value * (float)(1 + i % 4);
        q.query[1] = 1;
        ck_assert_int_eq(ek_profile_fit_add(fit, &q, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_profile_fit_finish(fit, &p, NULL), EK_OK);
    ek_profile_fit_free(fit);
    ek_list_release(&q);
    return p;
}

static struct ek_manifest *query_manifest(const char *nights, const char *mobile)
{
    char text[300];
    struct ek_manifest *m = NULL;
    snprintf(text, sizeof text,
             "features:\n  - {name: price, index: 1, role: item}\n"
             "  - {name: nights, index: 2, role: query%s}\n"
             "  - {name: mobile, index: 3, role: query%s}\n",
             nights, mobile);
    ck_assert_int_eq(ek_manifest_parse(&m, "m", text, strlen(text), NULL), EK_OK);
    return m;
}

START_TEST(a_watched_query_feature_has_one_value_per_list)
{
    struct ek_manifest *m = query_manifest(", watch: true", "");
    struct ek_profile *p = profile_of_queries(m, 2), *read = NULL;
    struct temporary f = temporary_file();
    ck_assert_int_eq(p->features, 2);
    ck_assert_str_eq(p->name[1], "nights");
    ck_assert_uint_eq(ek_sketch_total(p->sketch[1]), LISTS);
    ck_assert_uint_eq(ek_sketch_total(p->sketch[0]), 2 * LISTS);
    ck_assert_int_eq(p->known_count[1], 4);
    ck_assert_float_eq(p->known[EK_KNOWN_VALUES_MAX + 3], 8);
    ck_assert_float_eq_tol(p->baseline[1].log_mean, logf(384) / 4, .01);
    ck_assert_uint_eq(p->baseline[1].queries, LISTS);
    ck_assert_int_eq(ek_profile_save(p, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_check(read, m, NULL), EK_OK);
    ck_assert_uint_eq(ek_profile_hash(read), ek_profile_hash(p));
    ek_profile_free(read);
    ek_profile_free(p);
    ek_manifest_free(m);
    unlink(f.path);
}
END_TEST

START_TEST(a_profile_of_other_watched_query_features_is_refused)
{
    struct ek_manifest *none = query_manifest("", ""),
                       *nights = query_manifest(", watch: true", ""),
                       *mobile = query_manifest("", ", watch: true");
    struct ek_profile *plain = profile_of_queries(none, 1),
                      *watched = profile_of_queries(nights, 1);
    struct ek_error e;
    ck_assert_uint_eq(none->hash, nights->hash);
    ck_assert_int_eq(ek_profile_check(plain, nights, &e), EK_ESTATE);
    ck_assert_str_eq(e.message,
                     "other query features are watched: 'nights' in the manifest, 'none' in the "
                     "profile; make the profile again with this manifest");
    ck_assert_int_eq(ek_profile_check(watched, none, &e), EK_ESTATE);
    ck_assert_ptr_nonnull(strstr(e.message, "'none' in the manifest, 'nights' in the profile"));
    ck_assert_int_eq(ek_profile_check(watched, mobile, &e), EK_ESTATE);
    ck_assert_ptr_nonnull(strstr(e.message, "'mobile' in the manifest, 'nights' in the profile"));
    ek_profile_free(plain);
    ek_profile_free(watched);
    ek_manifest_free(none);
    ek_manifest_free(nights);
    ek_manifest_free(mobile);
}
END_TEST

START_TEST(a_watched_query_feature_is_no_stratum)
{
    struct ek_manifest *m = query_manifest(", watch: true", "");
    struct ek_profile_fit *fit = NULL;
    struct ek_error e;
    ck_assert_int_eq(ek_profile_fit_new(&fit, m, "nights", &e), EK_ESTATE);
    ck_assert_ptr_null(fit);
    ck_assert_str_eq(e.message,
                     "the profile cannot be stratified by 'nights', which the manifest watches: "
                     "relative to itself it never changes; stratify by another field, or remove "
                     "its 'watch'");
    ck_assert_int_eq(ek_profile_fit_new(&fit, m, "mobile", &e), EK_OK);
    ek_profile_fit_free(fit);
    ek_manifest_free(m);
}
END_TEST

START_TEST(every_residual_has_a_bin)
{
    ck_assert_int_eq(ek_residual_bin(0), EK_DENSITY_BINS / 2);
    ck_assert_int_eq(ek_residual_bin(-INFINITY), 0);
    ck_assert_int_eq(ek_residual_bin(-1e30f), 0);
    ck_assert_int_eq(ek_residual_bin(NAN), 0);
    ck_assert_int_eq(ek_residual_bin(INFINITY), EK_DENSITY_BINS - 1);
    ck_assert_int_eq(ek_residual_bin(1e30f), EK_DENSITY_BINS - 1);
}
END_TEST

Suite *suite_profile(void)
{
    return ek_suite("profile", names_of_strata_with_zeros_or_broken_utf8_are_any_other,
                    a_profile_with_numbers_no_training_gives_is_refused,
                    a_profile_with_strata_out_of_order_is_refused, every_residual_has_a_bin,
                    a_watched_query_feature_has_one_value_per_list,
                    a_profile_of_other_watched_query_features_is_refused,
                    a_watched_query_feature_is_no_stratum);
}
