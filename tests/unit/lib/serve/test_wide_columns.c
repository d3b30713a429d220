/* Wide columns: their selection by the profile, and their values. */
#include "serve/wide_columns.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

static const char MANIFEST[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: flag, index: 2, role: item}\n"
                               "  - {name: change, index: 3, role: item, routable: true}\n";
enum { ITEMS = 3, FEATURES = 3, COLUMNS = 4 };

struct scene {
    struct ek_manifest *m;
    struct ek_profile *p;
    struct ek_wide_columns *w;
    struct ek_list q;
};

/* Prices have some zeros, changes some negative values. */
static void setup(struct scene *s, const char *manifest)
{
    memset(s, 0, sizeof *s);
    ck_assert_int_eq(ek_manifest_parse(&s->m, "m", manifest, strlen(manifest), NULL), EK_OK);
    ck_assert_int_eq(ek_profile_new(&s->p, s->m, 1, NULL, NULL), EK_OK);
    s->p->baseline[0].share[1] = .25f;
    s->p->baseline[2].share[1] = 0;
    s->p->baseline[2].share[2] = .5f;
    s->p->baseline[0].share[2] = 0;
    ek_list_init(&s->q);
    ck_assert_int_eq(ek_list_resize(&s->q, ITEMS, FEATURES, 0), EK_OK);
}

static void teardown(struct scene *s)
{
    ek_wide_columns_free(s->w);
    ek_list_release(&s->q);
    ek_profile_free(s->p);
    ek_manifest_free(s->m);
}

/* Check a column of three items; NAN: missing. */
static void check_column(const double *out, int column, double a, double b, double c)
{
    const double expected[ITEMS] = {a, b, c};
    for (int i = 0; i < ITEMS; i++) {
        double x = out[i * COLUMNS + column];
        ck_assert_msg(x == expected[i] || (isnan(x) && isnan(expected[i])),
                      "column %d, item %d: %g", column, i, x);
    }
}

START_TEST(flags_stand_for_what_training_has_in_part)
{
    static const char *const names[COLUMNS] = {"z:price", "z:change", "zero:price", "neg:change"};
    struct scene s;
    setup(&s, MANIFEST);
    ck_assert_int_eq(ek_wide_columns_new(&s.w, s.m, s.p, NULL), EK_OK);
    ck_assert_int_eq(s.w->count, COLUMNS);
    for (int i = 0; i < COLUMNS; i++)
        ck_assert_str_eq(s.w->name[i], names[i]);
    ek_wide_columns_free(s.w);
    s.p->baseline[0].share[1] = 1; /* only zeros */
    ck_assert_int_eq(ek_wide_columns_new(&s.w, s.m, s.p, NULL), EK_OK);
    ck_assert_int_eq(s.w->count, COLUMNS - 1);
    teardown(&s);
}
END_TEST

START_TEST(z_is_the_centered_logarithm_of_usable_values)
{
    static const double x[ITEMS * FEATURES] = {2, 1, -3, 0, 1, NAN, 8, 1, INFINITY};
    double out[ITEMS * COLUMNS], z = rint(log(2) * 0x1p16) * 0x1p-16;
    struct scene s;
    setup(&s, MANIFEST);
    ck_assert_int_eq(ek_wide_columns_new(&s.w, s.m, s.p, NULL), EK_OK);
    ek_wide_columns_compute(s.w, s.m, &s.q, x, true, out);
    check_column(out, 0, -z, 0, z);
    check_column(out, 1, 0, NAN, NAN);
    check_column(out, 2, 0, 1, 0);
    check_column(out, 3, 1, NAN, NAN);
    ek_wide_columns_compute(s.w, s.m, &s.q, x, false, out); /* a part of a list has no mean */
    check_column(out, 0, NAN, 0, NAN);
    check_column(out, 2, 0, 1, 0);
    teardown(&s);
}
END_TEST

/* The means of the message are those of its values, before a repair. */
START_TEST(means_of_the_message_take_precedence)
{
    static const double x[ITEMS * FEATURES] = {2, 1, 1, 4, 1, 1, NAN, 1, 1};
    double out[ITEMS * COLUMNS], z = rint(log(2) * 0x1p16) * 0x1p-16;
    struct scene s;
    setup(&s, MANIFEST);
    ck_assert_int_eq(ek_wide_columns_new(&s.w, s.m, s.p, NULL), EK_OK);
    ck_assert_int_eq(ek_list_reserve_means(&s.q, 2), EK_OK);
    s.q.has_log_means = true;
    s.q.log_mean[0] = log(200);
    s.q.log_mean[1] = 0;
    for (int i = 0; i < ITEMS * FEATURES; i++)
        s.q.x[i] = (float)(100 * x[i]);
    ek_wide_columns_compute(s.w, s.m, &s.q, x, false, out);
    check_column(out, 0, 0, z, NAN);
    teardown(&s);
}
END_TEST

START_TEST(a_manifest_without_columns_is_an_error)
{
    static const char none[] =
        "features:\n  - {name: a, index: 1, role: item}\n"
        "  - {name: b, index: 2, role: item}\n  - {name: c, index: 3, role: item}\n";
    static const char taken[] = "features:\n  - {name: a, index: 1, role: item, routable: true}\n"
                                "  - {name: \"z:a\", index: 2, role: item}\n"
                                "  - {name: c, index: 3, role: item}\n";
    struct ek_error e;
    struct scene s;
    setup(&s, none);
    ck_assert_int_eq(ek_wide_columns_new(&s.w, s.m, s.p, &e), EK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(e.message, "no feature of the manifest is 'routable: true'"));
    teardown(&s);
    setup(&s, taken);
    ck_assert_int_eq(ek_wide_columns_new(&s.w, s.m, s.p, &e), EK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(e.message, "feature 'z:a' has the name of a wide column"));
    teardown(&s);
}
END_TEST

Suite *suite_wide_columns(void)
{
    return ek_suite("wide_columns", flags_stand_for_what_training_has_in_part,
                    z_is_the_centered_logarithm_of_usable_values,
                    means_of_the_message_take_precedence, a_manifest_without_columns_is_an_error);
}
