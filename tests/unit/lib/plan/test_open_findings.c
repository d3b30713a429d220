/* Which fault went on in another segment, and which has ended. */
#include "plan/open_findings.h"
#include "tests/check.h"

/* Return whether the first of two findings of a feature, of which it is gone, was handed over. */
static bool is_handed_over(const char *gone, const char *present, bool is_same_feature)
{
    struct ek_open_findings o = {0};
    struct ek_finding first = {.feature = 1, .cell = 1, .dimension = gone},
                      second = {.feature = 2 - is_same_feature, .cell = 2, .dimension = present};
    ck_assert_ptr_nonnull(ek_open_findings_add(&o, &first));
    ek_open_findings_add(&o, &second)->present = true;
    bool result = ek_open_findings_is_handed_over(&o, &o.item[0]);
    ck_assert(!ek_open_findings_is_handed_over(&o, &o.item[1])); /* the first one is older */
    ek_open_findings_release(&o);
    return result;
}

START_TEST(a_fault_goes_on_in_a_segment_of_another_dimension)
{
    ck_assert(is_handed_over(NULL, "arm", true));
    ck_assert(is_handed_over("arm", NULL, true));
    ck_assert(is_handed_over("arm", "market", true));
    ck_assert(!is_handed_over(NULL, "arm", false));
}
END_TEST

START_TEST(a_fault_of_another_value_of_the_dimension_is_another_fault)
{
    ck_assert(!is_handed_over("arm", "arm", true));
}
END_TEST

Suite *suite_open_findings(void)
{
    return ek_suite("open_findings", a_fault_goes_on_in_a_segment_of_another_dimension,
                    a_fault_of_another_value_of_the_dimension_is_another_fault);
}
