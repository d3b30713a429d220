/* Leader election of a fleet. */
#include "daemon/fleet/fleet.h"

#include "tests/check.h"

enum { SILENT_MS = 10000, GRACE_MS = 1000 };

/* Return the action of an instance after that many assignments of the first partition (0: not
 * assigned). */
static enum ek_leader_election_action look(struct ek_leader_election *d, uint64_t gain,
                                           bool decides, int64_t age_ms, int64_t now_ms)
{
    const struct ek_leader_election_view v = {gain, decides, age_ms, SILENT_MS, GRACE_MS, now_ms};
    return ek_leader_election_step(d, &v);
}

START_TEST(who_gets_the_first_partition_begins_and_who_has_it_not_never_does)
{
    struct ek_leader_election d = {0};
    ck_assert_int_eq(look(&d, 0, false, 100000, 0), EK_ELECTION_NONE);
    ck_assert_int_eq(look(&d, 1, false, 0, 10), EK_ELECTION_START);
    ck_assert_int_eq(look(&d, 1, false, 0, 20), EK_ELECTION_START); /* the log is not read yet */
    ek_leader_election_started(&d);
    ck_assert_int_eq(look(&d, 1, true, 0, 30), EK_ELECTION_NONE);
}
END_TEST

START_TEST(a_partition_that_is_away_for_a_moment_ends_nothing)
{
    struct ek_leader_election d = {0};
    look(&d, 1, false, 0, 0);
    ek_leader_election_started(&d);
    ck_assert_int_eq(look(&d, 0, true, 0, 1000), EK_ELECTION_NONE);
    ck_assert_int_eq(look(&d, 0, true, 0, 1900), EK_ELECTION_NONE);
    ck_assert_int_eq(look(&d, 2, true, 0, 1950), EK_ELECTION_NONE);
    ck_assert_int_eq(look(&d, 0, true, 0, 3000), EK_ELECTION_NONE); /* restarts the timeout */
    ck_assert_int_eq(look(&d, 0, true, 0, 4000), EK_ELECTION_RESIGN);
    ck_assert_int_eq(look(&d, 0, false, 0, 4010), EK_ELECTION_NONE);
    ck_assert_int_eq(look(&d, 3, false, 0, 4020), EK_ELECTION_START);
}
END_TEST

START_TEST(who_was_followed_by_mistake_goes_on_when_the_other_falls_silent)
{
    struct ek_leader_election d = {0};
    look(&d, 1, false, 0, 0);
    ek_leader_election_started(&d);
    look(&d, 1, true, 0, 10);
    ck_assert_int_eq(look(&d, 1, false, 100, 20), EK_ELECTION_NONE); /* a later leader is active */
    ck_assert_int_eq(look(&d, 1, false, SILENT_MS, 9000), EK_ELECTION_NONE);
    ck_assert_int_eq(look(&d, 1, false, SILENT_MS + 1, 10100), EK_ELECTION_START);
}
END_TEST

Suite *suite_leader_election(void)
{
    return ek_suite("fleet duty", who_gets_the_first_partition_begins_and_who_has_it_not_never_does,
                    a_partition_that_is_away_for_a_moment_ends_nothing,
                    who_was_followed_by_mistake_goes_on_when_the_other_falls_silent);
}
