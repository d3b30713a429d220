/* Changes that return at the same hours of another day. */
#include "daemon/commands/daily_changes.h"
#include "tests/check.h"

enum { HOUR = 3600000 };

static bool has(const struct ek_daily_changes *c, int hours)
{
    return ek_daily_changes_has(c, 1, EK_MISSING, (int64_t)hours * HOUR);
}

START_TEST(a_change_returns_at_its_hours_of_a_later_day)
{
    struct ek_daily_changes c = {0};
    ek_daily_changes_add(&c, 1, EK_MISSING, 20 * HOUR);
    ck_assert(!has(&c, 21)); /* the same day */
    ck_assert(has(&c, 44));
    ck_assert(has(&c, 42));
    ck_assert(has(&c, 46));
    ck_assert(!has(&c, 41));
    ck_assert(!has(&c, 47));
    ek_daily_changes_end(&c, 1, (int64_t)28 * HOUR);
    ck_assert(has(&c, 54)); /* within its hours */
    ck_assert(!has(&c, 55));
    ck_assert(has(&c, 44 + 24 * 5));
    ck_assert(!ek_daily_changes_has(&c, 2, EK_MISSING, (int64_t)44 * HOUR));
    ck_assert(!ek_daily_changes_has(&c, 1, EK_ZERO, (int64_t)44 * HOUR));
}
END_TEST

START_TEST(a_change_of_a_day_or_without_a_time_has_no_hours)
{
    struct ek_daily_changes c = {0};
    ek_daily_changes_add(&c, 1, EK_MISSING, -1);
    ck_assert(!has(&c, 24));
    ek_daily_changes_add(&c, 1, EK_MISSING, 2 * HOUR);
    ek_daily_changes_end(&c, 1, (int64_t)23 * HOUR);
    ck_assert(!has(&c, 26));
}
END_TEST

START_TEST(the_oldest_change_is_forgotten)
{
    struct ek_daily_changes c = {0};
    ek_daily_changes_add(&c, 1, EK_MISSING, 0);
    for (int i = 1; i < EK_DAILY_CHANGES; i++)
        ek_daily_changes_add(&c, 2, EK_MISSING, 0);
    ck_assert(has(&c, 24));
    ek_daily_changes_add(&c, 2, EK_MISSING, 0);
    ck_assert(!has(&c, 24));
    ck_assert(ek_daily_changes_has(&c, 2, EK_MISSING, (int64_t)24 * HOUR));
}
END_TEST

Suite *suite_daily_changes(void)
{
    return ek_suite("daily_changes", a_change_returns_at_its_hours_of_a_later_day,
                    a_change_of_a_day_or_without_a_time_has_no_hours,
                    the_oldest_change_is_forgotten);
}
