/* Two processes of a fleet that go by one name, and those that only look like it. */
#include "guard/fleet_instances.h"

#include "tests/check.h"

#include <string.h>

enum { FIRST = 1000, SECOND = 2000, TICK_MS = 1000 };

struct told {
    struct ek_fleet_instances *all;
    int64_t clock_ms;
};

static void begin(struct told *t)
{
    ck_assert_int_eq(ek_fleet_instances_new(&t->all), EK_OK);
    t->clock_ms = 7 * EK_FLEET_GONE_MS;
}

/* A tick of that name and start comes, half a second later. */
static enum ek_fleet_arrival comes(struct told *t, const char *name, uint64_t start,
                                   uint64_t number)
{
    const struct ek_fleet_head head = {
        .instance = {name, strlen(name)}, .start = start, .number = number};
    t->clock_ms += TICK_MS / 2;
    struct ek_fleet_instance *i = ek_fleet_instances_find(t->all, head.instance, t->clock_ms);
    ck_assert_ptr_nonnull(i);
    return ek_fleet_instance_arrives(i, &head, t->clock_ms);
}

static size_t shared(const struct told *t, const char **name)
{
    return ek_fleet_instances_shared(t->all, 0, t->clock_ms, name);
}

START_TEST(a_name_that_two_processes_go_by_is_told_until_one_of_them_is_gone)
{
    struct told t;
    const char *name = "";
    begin(&t);
    comes(&t, "other", SECOND, 1);
    comes(&t, "same", FIRST, 1);
    for (uint64_t n = 1; n <= EK_FLEET_TURNS; n++) {
        comes(&t, "same", SECOND, n);
        ck_assert_uint_eq(shared(&t, &name), 0);
        ck_assert_int_eq(comes(&t, "same", FIRST, n + 1), EK_FLEET_LATE);
    }
    ck_assert_uint_gt(shared(&t, &name), 0);
    ck_assert_str_eq(name, "same");
    ck_assert_uint_eq(ek_fleet_instances_shared(t.all, 2, t.clock_ms, &name), 0);
    t.clock_ms += EK_FLEET_GONE_MS;
    ck_assert_uint_gt(shared(&t, &name), 0);
    t.clock_ms++;
    ck_assert_uint_eq(shared(&t, &name), 0);
    ek_fleet_instances_free(t.all);
}
END_TEST

/* What it had sent comes behind the first of its successor, and at once. */
START_TEST(an_instance_that_was_restarted_is_not_told_whatever_it_left_on_the_way)
{
    struct told t;
    const char *name;
    begin(&t);
    comes(&t, "a", FIRST, 1);
    comes(&t, "a", SECOND, 1);
    for (uint64_t n = 2; n < 20; n++)
        comes(&t, "a", FIRST, n);
    comes(&t, "a", SECOND, 2);
    comes(&t, "a", FIRST, 20);
    comes(&t, "a", SECOND, 3);
    ck_assert_uint_eq(shared(&t, &name), 0);
    ek_fleet_instances_free(t.all);
}
END_TEST

START_TEST(restarts_that_lie_apart_do_not_add_up)
{
    struct told t;
    const char *name;
    begin(&t);
    comes(&t, "a", FIRST, 1);
    for (uint64_t n = 1; n < 20; n++) {
        comes(&t, "a", FIRST + n, 1);
        comes(&t, "a", FIRST + n - 1, 2);
        ck_assert_uint_eq(shared(&t, &name), 0);
        t.clock_ms += EK_FLEET_GONE_MS;
    }
    ek_fleet_instances_free(t.all);
}
END_TEST

Suite *suite_fleet_names(void)
{
    return ek_suite("fleet_names",
                    a_name_that_two_processes_go_by_is_told_until_one_of_them_is_gone,
                    an_instance_that_was_restarted_is_not_told_whatever_it_left_on_the_way,
                    restarts_that_lie_apart_do_not_add_up);
}
