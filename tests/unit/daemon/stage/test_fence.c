/* Decision whether the owner of an open transaction may be fenced. */
#include "daemon/stage/fence.h"

#include "tests/check.h"

#define ID(name) "evenkeel-1-g-" name

static enum ek_owner_state find(const char *owner, const char *const *client_ids, size_t count)
{
    struct ek_config c = {.group = (char *)(uintptr_t) "g"};
    const struct ek_fence_tools tools = {.config = &c, .transactional_id = ID("one")};
    return ek_fence_find_owner(&tools, owner, client_ids, count);
}

START_TEST(an_owner_that_is_no_member_is_gone)
{
    const char *const members[] = {ID("one"), ID("three")};
    ck_assert_int_eq(find(ID("two"), members, 2), EK_OWNER_GONE);
    ck_assert_int_eq(find(ID("threes"), members, 2), EK_OWNER_GONE);
}
END_TEST

START_TEST(a_member_is_present)
{
    const char *const members[] = {ID("one"), ID("two")};
    ck_assert_int_eq(find(ID("two"), members, 2), EK_OWNER_PRESENT);
    ck_assert_int_eq(find(ID("one"), members, 2), EK_OWNER_PRESENT);
}
END_TEST

START_TEST(a_member_without_a_transactional_id_may_be_the_owner)
{
    const char *const former[] = {ID("one"), "evenkeel"},
                      *const other[] = {ID("one"), "evenkeel-2-g-a-b"},
                      *const none[] = {ID("one"), ""};
    ck_assert_int_eq(find(ID("two"), former, 2), EK_OWNER_UNKNOWN);
    ck_assert_int_eq(find(ID("two"), other, 2), EK_OWNER_UNKNOWN);
    ck_assert_int_eq(find(ID("two"), none, 2), EK_OWNER_UNKNOWN);
}
END_TEST

START_TEST(an_answer_without_this_instance_decides_nothing)
{
    const char *const members[] = {ID("three")};
    ck_assert_int_eq(find(ID("two"), members, 1), EK_OWNER_UNKNOWN);
    ck_assert_int_eq(find(ID("two"), NULL, 0), EK_OWNER_UNKNOWN);
}
END_TEST

Suite *suite_fence(void)
{
    return ek_suite("fence", an_owner_that_is_no_member_is_gone, a_member_is_present,
                    a_member_without_a_transactional_id_may_be_the_owner,
                    an_answer_without_this_instance_decides_nothing);
}
