/* Application of a plan without memory: the plan is read, and lists are repaired. */
#include "evenkeel.h"
#include "base/error.h"
#include "tests/alloc/sweep.h"
#include "tests/check.h"
#include "tests/plan_text.h"

#include <string.h>

static const char PLAN[] = EK_PLAN_OF("{" EK_PLAN_ARM_B EK_PLAN_PRICE(
    "enforce", "100", "") "},{\"segment\":null," EK_PLAN_PRICE("shadow", "100", "") "}");

static int use_plan(struct ek_error *e)
{
    static const struct ek_segment_value segment[] = {{"arm", "B"}, {"app", "1"}};
    const float query = 1;
    float x[] = {3, 12999, 4, 8050};
    const struct ek_array_list list = {.id = "q1",
                                       .segment = segment,
                                       .segments = 2,
                                       .query_features = &query,
                                       .query_count = 1,
                                       .features = x,
                                       .items = 2,
                                       .feature_count = 2,
                                       .item_stride = 2,
                                       .feature_stride = 1};
    struct ek_applier *a = NULL;
    size_t changed = 0;
    int rc = ek_applier_new(&a, PLAN, strlen(PLAN), e);
    if (!rc)
        rc = ek_plan_apply(a, &list, &changed, e);
    if (!rc && changed != 2) /* ck_assert needs memory itself */
        rc = ek_fail(e, EK_ESTATE, "the prices are not repaired");
    if (rc == EK_ENOMEM && (x[1] != 12999 || x[3] != 8050))
        rc = ek_fail(e, EK_ESTATE, "an error has changed a price");
    ek_applier_free(a);
    return rc;
}

START_TEST(a_plan_without_memory_changes_nothing)
{
    ek_sweep(use_plan);
}
END_TEST

Suite *suite_plan_applier(void)
{
    return ek_suite("plan_applier", a_plan_without_memory_changes_nothing);
}
