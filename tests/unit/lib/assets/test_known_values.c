/* A profile has all values of a feature of few values, and none of a feature of many. */
#include "base/error.h"
#include "offline/fit/profile_fit.h"
#include "tests/check.h"
#include "tests/temporary.h"

#include <math.h>
#include <string.h>

static const char MANIFEST[] = "features:\n"
                               "  - {name: few, index: 1, role: item}\n"
                               "  - {name: many, index: 2, role: item}\n";

enum { MOST = EK_KNOWN_VALUES_MAX };

/* Return a profile of lists with MOST values of the one feature and one more of the other, which
 * begin at `first`, larger ones first. */
static struct ek_profile *profile_from(const struct ek_manifest *m, int first,
                                       const struct ek_profile *with)
{
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    struct ek_list q;
    ek_list_init(&q);
    ck_assert_int_eq(ek_list_resize(&q, 4, 2, 0), EK_OK);
    ck_assert_int_eq(ek_profile_fit_new(&fit, m, NULL, NULL), EK_OK);
    ek_profile_fit_retain_lists(fit);
    for (int i = 0; i <= MOST; i++) {
        for (int j = 0; j < 4; j++) {
            q.x[2 * j] = j ? (float)(first + MOST - 1 - i % MOST) : NAN;
            q.x[2 * j + 1] = (float)(first + MOST - i);
        }
        ck_assert_int_eq(ek_profile_fit_add(fit, &q, NULL), EK_OK);
    }
    if (with)
        ck_assert_int_eq(ek_profile_fit_merge(fit, with, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_finish(fit, &p, NULL), EK_OK);
    ek_profile_fit_free(fit);
    ek_list_release(&q);
    return p;
}

static struct ek_manifest *manifest(void)
{
    struct ek_manifest *m = NULL;
    ck_assert_int_eq(ek_manifest_parse(&m, "m", MANIFEST, strlen(MANIFEST), NULL), EK_OK);
    return m;
}

START_TEST(sixty_four_values_are_kept_and_one_more_is_too_many)
{
    struct ek_manifest *m = manifest();
    struct ek_profile *made = profile_from(m, 1, NULL), *read = NULL;
    struct temporary f = temporary_file();
    ck_assert_int_eq(ek_profile_save(made, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, NULL), EK_OK);
    ck_assert_int_eq(read->known_count[0], MOST);
    ck_assert_int_eq(read->known_count[1], 0);
    for (int i = 0; i < MOST; i++)
        ck_assert_float_eq(read->known[i], (float)(1 + i));
    ek_profile_free(read);
    read = NULL;
    made->known[1] = 9;
    ck_assert_int_eq(ek_profile_save(made, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, NULL), EK_EFORMAT);
    ek_profile_free(made);
    ek_manifest_free(m);
    unlink(f.path);
}
END_TEST

START_TEST(merged_profiles_have_the_values_of_both_or_too_many)
{
    struct ek_manifest *m = manifest();
    struct ek_profile *one = profile_from(m, 1, NULL), *same = profile_from(m, 1, one),
                      *other = profile_from(m, 2, one);
    ck_assert_int_eq(same->known_count[0], MOST);
    ck_assert_int_eq(other->known_count[0], 0);
    ek_profile_free(one);
    ek_profile_free(same);
    ek_profile_free(other);
    ek_manifest_free(m);
}
END_TEST

Suite *suite_known_values(void)
{
    return ek_suite("known_values", sixty_four_values_are_kept_and_one_more_is_too_many,
                    merged_profiles_have_the_values_of_both_or_too_many);
}
