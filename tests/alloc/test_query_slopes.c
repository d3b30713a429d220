/* Slopes on query features without memory: a profile is fitted, written and read again. */
#include "assets/query_slopes.h"
#include "base/error.h"
#include "offline/fit/query_slope_fit.h"
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

static const char MANIFEST[] = "features:\n"
                               "  - {name: total, index: 1, role: item}\n"
                               "  - {name: nights, index: 2, role: query}\n";
enum { LISTS = 2500 };

struct scene {
    struct ek_manifest *m;
    struct ek_query_slope_fit *fit;
    struct ek_query_slopes *made, *read;
    struct ek_query_ranges ranges;
    struct ek_tensors *file;
    struct ek_list q;
    struct ek_list_stats record[LISTS];
    int stratum[LISTS];
};

static int fit_lists(struct scene *s)
{
    int rc = ek_query_slope_fit_new(&s->fit, s->m);
    for (int i = 0; !rc && i < LISTS; i++) {
        s->q.query[0] = (float)(1 + i % 7);
        s->record[i] =
            (struct ek_list_stats){.r = logf(s->q.query[0]) + .1f * (float)(i % 3), .usable = 5};
        rc = ek_query_slope_fit_add(s->fit, &s->q);
    }
    if (!rc)
        rc = ek_query_slope_fit_prepare(s->fit, 1);
    if (!rc)
        rc = ek_query_slope_fit_ranges(s->fit, &s->ranges);
    return rc ? rc : ek_query_slope_fit_finish(s->fit, s->record, 1, s->stratum, &s->made);
}

static int use_slopes(struct ek_error *e)
{
    static struct scene s;
    memset(&s, 0, sizeof s);
    ek_list_init(&s.q);
    int rc = ek_manifest_parse(&s.m, "m", MANIFEST, strlen(MANIFEST), e);
    if (!rc)
        rc = ek_list_resize(&s.q, 1, 1, 1);
    if (!rc)
        rc = fit_lists(&s);
    if (!rc && !s.made) /* ck_assert needs memory itself */
        rc = EK_ESTATE;
    if (!rc)
        rc = ek_tensors_new(&s.file);
    if (!rc)
        rc = ek_query_slopes_write(s.made, s.file);
    if (rc)
        ek_fail(e, (enum ek_code)rc, "out of memory");
    else
        rc = ek_query_slopes_read(&s.read, s.file, 1, e);
    ek_query_slope_fit_free(s.fit);
    ek_tensors_free(s.file);
    ek_list_release(&s.q);
    ek_query_slopes_free(s.made);
    ek_query_slopes_free(s.read);
    ek_manifest_free(s.m);
    return rc;
}

START_TEST(slopes_without_memory_leave_nothing)
{
    ek_sweep(use_slopes);
}
END_TEST

Suite *suite_query_slopes(void)
{
    return ek_suite("query slopes", slopes_without_memory_leave_nothing);
}
