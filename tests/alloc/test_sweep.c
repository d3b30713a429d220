/* Self-test of the sweep: it detects each kind of failure. */
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include "base/alloc.h"

#include <string.h>

static int no_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

static int careful(struct ek_error *e)
{
    void *a = ek_calloc(1, 8), *b = ek_calloc(1, 8);
    int rc = a && b ? EK_OK : no_memory(e);
    ek_free(a);
    ek_free(b);
    return rc;
}

static void *forgotten; /* freed by the test, so that leak checkers report nothing */

static int leaking(struct ek_error *e)
{
    void *a = ek_calloc(1, 8);
    if (!a)
        return no_memory(e);
    forgotten = a;
    void *b = ek_calloc(1, 8);
    if (!b)
        return no_memory(e);
    ek_free(b);
    ek_free(a);
    return EK_OK;
}

static int careless(struct ek_error *e)
{
    (void)e;
    ek_free(ek_calloc(1, 8));
    return EK_OK;
}

static int mute(struct ek_error *e)
{
    void *a = ek_calloc(1, 8);
    (void)e;
    ek_free(a);
    return a ? EK_OK : EK_ENOMEM;
}

START_TEST(a_careful_scenario_passes)
{
    ek_sweep(careful);
}
END_TEST

START_TEST(a_leak_and_an_ignored_failure_are_seen)
{
    char fault[EK_SWEEP_TEXT];
    ck_assert_ptr_nonnull(strstr(ek_sweep_fault(leaking, fault), "allocation 2: memory is left"));
    ek_free(forgotten);
    ck_assert_ptr_nonnull(strstr(ek_sweep_fault(careless, fault), "another code"));
    ck_assert_ptr_nonnull(strstr(ek_sweep_fault(mute, fault), "does not say so"));
}
END_TEST

Suite *suite_sweep(void)
{
    return ek_suite("the sweep itself", a_careful_scenario_passes,
                    a_leak_and_an_ignored_failure_are_seen);
}
