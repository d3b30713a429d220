/* Levels by segment without memory: a profile is fitted with them, written and read again. */
#include "assets/profile.h"
#include "base/error.h"
#include "base/rng.h"
#include "offline/fit/profile_fit.h"
#include "tests/alloc/sweep.h"
#include "tests/check.h"
#include "tests/temporary.h"

#include <math.h>
#include <string.h>

static const char MANIFEST[] = "features:\n  - {name: price, index: 1, role: item}\n";
enum { LISTS = 400, ITEMS = 3 };

static struct ek_manifest *manifest;
static struct temporary file;

static int add_lists(struct ek_profile_fit *fit, struct ek_list *q, struct ek_error *e)
{
    struct ek_rng rng;
    ek_rng_seed(&rng, 1);
    if (ek_list_resize(q, ITEMS, 1, 0))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = EK_OK;
    for (int i = 0; !rc && i < LISTS; i++) {
        for (int j = 0; j < ITEMS; j++)
            q->x[j] = (float)exp(i % 2 + .2 * ek_rng_normal(&rng));
        q->segment_count = 1;
        q->segments[0] =
            (struct ek_segment){ek_text_from("market"), ek_text_from(i % 2 ? "A" : "B")};
        rc = ek_profile_fit_add(fit, q, e);
    }
    return rc;
}

static int make_profile(struct ek_profile **out, struct ek_error *e)
{
    struct ek_profile_fit *fit;
    struct ek_list q;
    int rc = ek_profile_fit_new(&fit, manifest, NULL, e);
    if (rc)
        return rc;
    ek_list_init(&q);
    rc = add_lists(fit, &q, e);
    if (!rc)
        rc = ek_profile_fit_finish(fit, out, e);
    ek_list_release(&q);
    ek_profile_fit_free(fit);
    return rc;
}

static int fit_and_read(struct ek_error *e)
{
    struct ek_profile *made = NULL, *read = NULL;
    int rc = make_profile(&made, e);
    if (!rc && !made->segment_levels)
        rc = ek_fail(e, EK_ESTATE, "the markets do not differ");
    if (!rc)
        rc = ek_profile_save(made, file.path, e);
    if (!rc)
        rc = ek_profile_load(&read, file.path, e);
    ek_profile_free(made);
    ek_profile_free(read);
    return rc;
}

START_TEST(levels_by_segment_without_memory_leave_nothing)
{
    ck_assert_int_eq(ek_manifest_parse(&manifest, "m", MANIFEST, strlen(MANIFEST), NULL), EK_OK);
    file = temporary_file();
    ek_sweep(fit_and_read);
    unlink(file.path);
    ek_manifest_free(manifest);
}
END_TEST

Suite *suite_segment_levels(void)
{
    return ek_suite("segment levels", levels_by_segment_without_memory_leave_nothing);
}
