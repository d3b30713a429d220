/* Cached versions of a fleet's plan. */
#include "daemon/guard/guard_service.h"

#include "tests/check.h"

static void add(struct ek_plan_cache *l, uint64_t version, const char *text)
{
    ck_assert_int_eq(ek_plan_cache_add(l, version, text, strlen(text), 1000), EK_OK);
}

static void assert_is(const struct ek_plan_cache *l, int i, const char *text)
{
    const struct ek_buf *record = ek_plan_cache_get(l, i);
    ck_assert_uint_eq(record->length, strlen(text));
    ck_assert_mem_eq(record->data, text, record->length);
}

START_TEST(of_each_version_the_newest_record_is_kept)
{
    struct ek_plan_cache l = {0};
    ck_assert_int_eq(ek_plan_cache_count(&l), 0);
    add(&l, 7, "seven");
    add(&l, 8, "eight");
    add(&l, 8, "eight again");
    ck_assert_int_eq(ek_plan_cache_count(&l), 2);
    assert_is(&l, 0, "seven");
    assert_is(&l, 1, "eight again");
    ek_plan_cache_release(&l);
}
END_TEST

START_TEST(the_oldest_versions_go)
{
    struct ek_plan_cache l = {0};
    char text[2] = "A";
    for (int i = 0; i < EK_FLEET_PLANS + 3; i++, text[0]++)
        add(&l, (uint64_t)i + 1, text);
    ck_assert_int_eq(ek_plan_cache_count(&l), EK_FLEET_PLANS);
    assert_is(&l, 0, "D");
    text[0]--;
    assert_is(&l, EK_FLEET_PLANS - 1, text);
    ek_plan_cache_release(&l);
}
END_TEST

Suite *suite_plan_cache(void)
{
    return ek_suite("plan log", of_each_version_the_newest_record_is_kept, the_oldest_versions_go);
}
