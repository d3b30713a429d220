/* Plan: active entries, their version, and their lists. */
#include "plan/plan.h"
#include "tests/check.h"

#include <string.h>

static const struct ek_treatment ROUTE = {EK_ACT_ROUTE, 0};
static const struct ek_treatment SILENCE = {EK_ACT_BLANK, 0};
static const int ROUTABLE_OF_ITEM[] = {0, -1, 1};

/* A plan for one list of two routable features; arm is in cells 1 and 2, app in 3 and 4. */
struct scene {
    struct ek_plan plan;
    struct ek_treatment acts[2], would[2];
    struct ek_plan_routing routing;
};

static int apply_in(struct scene *s, const int16_t *cells, int count, int bucket, bool sources)
{
    struct ek_plan_list list = {cells, count, bucket, sources};
    s->routing.acts = s->acts;
    s->routing.would = s->would;
    ek_plan_treat(&s->plan, &list, ROUTABLE_OF_ITEM, 2, &s->routing);
    return s->routing.acted;
}

/* Return the outcome of a list in arm and app (-1: without), in a bucket. */
static enum ek_list_outcome word_of(struct scene *s, int arm, int app, int bucket)
{
    int16_t cells[] = {0, (int16_t)arm, (int16_t)app};
    apply_in(s, cells, 3, bucket, true);
    return s->routing.outcome;
}

static struct ek_plan_entry *add(struct scene *s, int feature, int cell, enum ek_mode mode,
                                 int percent)
{
    struct ek_plan_entry *e = &s->plan.entry[s->plan.count++];
    *e = ek_plan_entry_init(feature, cell, ROUTE);
    e->mode = mode;
    e->percent = percent;
    return e;
}

static void say(struct scene *s, int feature, int cell, enum ek_mode mode, bool own)
{
    s->plan.mode[s->plan.modes++] = (struct ek_plan_mode){feature, cell, mode, own};
}

START_TEST(a_plan_is_empty_and_of_version_0_at_first)
{
    struct scene s = {.plan.version = 0};
    int16_t cells[] = {0};
    ck_assert_int_eq(apply_in(&s, cells, 1, 0, true), 0);
    ck_assert_int_eq(s.routing.desired, 0);
    ck_assert_int_eq(s.routing.outcome, EK_LIST_PASSED);
    ck_assert_uint_eq(s.plan.version, 0);
}
END_TEST

START_TEST(an_entry_counts_for_its_cell_only)
{
    struct scene s = {.plan.version = 0};
    int16_t in_arm_b[] = {0, 2}, in_arm_a[] = {0, 1}, without_arm[] = {0, -1};
    ek_plan_set(&s.plan, 2, 2, ROUTE, 10);
    ck_assert_int_eq(apply_in(&s, in_arm_b, 2, 0, true), 1);
    ck_assert_int_eq(s.acts[0].action, EK_ACT_NONE);
    ck_assert_int_eq(s.acts[1].action, EK_ACT_ROUTE);
    ck_assert_int_eq(s.routing.entries, 1);
    ck_assert_int_eq(s.routing.entry[0], 0);
    ck_assert_int_eq(apply_in(&s, in_arm_a, 2, 0, true), 0);
    ck_assert_int_eq(apply_in(&s, without_arm, 2, 0, true), 0);
}
END_TEST

START_TEST(a_segment_wins_over_all_traffic)
{
    struct scene s = {.plan.version = 0};
    int16_t cells[] = {0, 3};
    ek_plan_set(&s.plan, 0, 3, SILENCE, 0);
    ek_plan_set(&s.plan, 0, 0, ROUTE, 0);
    ck_assert_int_eq(apply_in(&s, cells, 2, 0, true), 1);
    ck_assert_int_eq(s.acts[0].action, EK_ACT_BLANK);
}
END_TEST

START_TEST(the_version_rises_with_every_change_of_action_only)
{
    struct ek_plan p = {0};
    ck_assert_int_eq(ek_plan_set(&p, 0, 0, ROUTE, 0), 1);
    ck_assert_int_eq(ek_plan_set(&p, 0, 0, ROUTE, 5), 0);
    ck_assert_uint_eq(p.version, 1);
    ck_assert_int_eq(ek_plan_set(&p, 0, 0, (struct ek_treatment){EK_ACT_ROUTE_NORMALIZED, 2}, 6),
                     1);
    ck_assert_int_eq(ek_plan_set(&p, 0, 0, (struct ek_treatment){EK_ACT_ROUTE_NORMALIZED, 3}, 7),
                     0);
    ck_assert(p.entry[0].treatment.value == 3);
    ck_assert_int_eq(ek_plan_remove(&p, 0, 0), 1);
    ck_assert_int_eq(ek_plan_remove(&p, 0, 0), 0);
    ck_assert_uint_eq(p.version, 3);
}
END_TEST

START_TEST(a_recovered_entry_is_held_for_its_time)
{
    struct ek_plan p = {0};
    ek_plan_set(&p, 0, 0, ROUTE, 1000);
    ek_plan_end(&p, 0, 0, 1500, 600);
    ck_assert_int_eq(ek_plan_expire(&p, 1599), 0);
    ck_assert_int_eq(ek_plan_expire(&p, 1600), 1);
    ck_assert_int_eq(p.count, 0);
}
END_TEST

START_TEST(a_relapse_during_the_hold_keeps_the_entry)
{
    struct ek_plan p = {0};
    ek_plan_set(&p, 0, 0, ROUTE, 1000);
    ek_plan_end(&p, 0, 0, 1500, 600);
    ek_plan_set(&p, 0, 0, ROUTE, 1550);
    ck_assert_int_eq(ek_plan_expire(&p, 99999), 0);
    ck_assert_int_eq(p.count, 1);
}
END_TEST

START_TEST(a_wrong_clock_does_not_hold_an_entry_for_ever)
{
    enum { NOW = 100000, HOLD = 600 };
    static const int64_t far = 9000000000000000;
    struct ek_plan p = {0};
    ek_plan_set(&p, 0, 0, ROUTE, far); /* one list with a time far ahead */
    ek_plan_end(&p, 0, 0, NOW, HOLD);
    ek_plan_set(&p, 2, 0, ROUTE, NOW);
    ek_plan_end(&p, 2, 0, far, HOLD);
    ck_assert_int_eq(ek_plan_expire(&p, NOW), 0);
    ck_assert_int_eq(ek_plan_expire(&p, NOW + HOLD - 1), 0);
    ck_assert_int_eq(ek_plan_expire(&p, NOW + HOLD), 1);
    ck_assert_int_eq(p.count, 0);
}
END_TEST

START_TEST(a_full_plan_takes_no_more)
{
    struct ek_plan p = {0};
    for (int i = 0; i < EK_PLAN_MAX; i++)
        ek_plan_set(&p, 0, i, ROUTE, 0);
    ck_assert_int_eq(ek_plan_set(&p, 0, EK_PLAN_MAX, ROUTE, 0), 0);
    ck_assert_int_eq(p.count, EK_PLAN_MAX);
    ck_assert(ek_plan_has_space(&p, 0, 0) && !ek_plan_has_space(&p, 0, EK_PLAN_MAX));
}
END_TEST

START_TEST(a_list_without_sources_keeps_the_less_specific_route)
{
    struct scene s = {.plan.version = 0};
    const int16_t in_arm_b[] = {0, 4};
    ek_plan_set(&s.plan, 2, 0, ROUTE, 0);
    ek_plan_set(&s.plan, 2, 4, (struct ek_treatment){EK_ACT_ROUTE_PER_SOURCE, 0}, 0);
    ck_assert_int_eq(apply_in(&s, in_arm_b, 2, 0, true), 1);
    ck_assert_int_eq(s.acts[1].action, EK_ACT_ROUTE_PER_SOURCE);
    ck_assert_int_eq(apply_in(&s, in_arm_b, 2, 0, false), 1);
    ck_assert_int_eq(s.acts[1].action, EK_ACT_ROUTE);
}
END_TEST

START_TEST(what_findings_ask_for_is_enforced_on_all_queries)
{
    struct scene s = {.plan.version = 0};
    ek_plan_set(&s.plan, 0, 0, ROUTE, 0);
    ck_assert_int_eq(s.plan.entry[0].mode, EK_MODE_ENFORCE);
    ck_assert_int_eq(s.plan.entry[0].by, EK_BY_FINDING);
    ck_assert_int_eq(word_of(&s, -1, -1, EK_PERCENT_WHOLE - 1), EK_LIST_ROUTED);
}
END_TEST

START_TEST(in_shadow_nothing_acts_and_all_is_known)
{
    struct scene s = {.plan.version = 0};
    add(&s, 0, 0, EK_MODE_SHADOW, EK_PERCENT_WHOLE);
    ck_assert_int_eq(word_of(&s, -1, -1, 0), EK_LIST_SHADOW);
    ck_assert_int_eq(s.routing.acted, 0);
    ck_assert_int_eq(s.routing.desired, 1);
    ck_assert_int_eq(s.acts[0].action, EK_ACT_NONE);
    ck_assert_int_eq(s.would[0].action, EK_ACT_ROUTE);
}
END_TEST

START_TEST(a_canary_acts_on_the_buckets_below_its_percentage)
{
    struct scene s = {.plan.version = 0};
    add(&s, 0, 0, EK_MODE_CANARY, 500);
    ck_assert_int_eq(word_of(&s, -1, -1, 499), EK_LIST_CANARY);
    ck_assert_int_eq(s.routing.acted, 1);
    ck_assert_int_eq(word_of(&s, -1, -1, 500), EK_LIST_PASSED);
    ck_assert_int_eq(s.routing.acted, 0);
    ck_assert_int_eq(s.routing.desired, 1);
    s.plan.entry[0].percent = EK_PERCENT_WHOLE;
    ck_assert_int_eq(word_of(&s, -1, -1, EK_PERCENT_WHOLE - 1), EK_LIST_CANARY);
    s.plan.entry[0].percent = 0;
    ck_assert_int_eq(word_of(&s, -1, -1, 0), EK_LIST_PASSED);
}
END_TEST

START_TEST(the_strongest_word_of_a_list_is_told)
{
    struct scene s = {.plan.version = 0};
    add(&s, 0, 0, EK_MODE_CANARY, 500);
    add(&s, 2, 1, EK_MODE_ENFORCE, EK_PERCENT_WHOLE);
    add(&s, 2, 2, EK_MODE_SHADOW, EK_PERCENT_WHOLE);
    ck_assert_int_eq(word_of(&s, 1, -1, 10), EK_LIST_ROUTED);
    ck_assert_int_eq(s.routing.acted, 2);
    ck_assert_int_eq(word_of(&s, 2, -1, 10), EK_LIST_CANARY);
    ck_assert_int_eq(word_of(&s, 2, -1, 900), EK_LIST_SHADOW);
    ck_assert_str_eq(ek_list_outcome_name(EK_LIST_CANARY), "canary");
    ck_assert_str_eq(ek_list_outcome_name(EK_LIST_PAUSED), "paused");
}
END_TEST

START_TEST(a_list_gets_the_most_careful_of_its_modes)
{
    struct scene s = {.plan.version = 0};
    add(&s, 0, 0, EK_MODE_OBSERVE, EK_PERCENT_WHOLE);
    say(&s, 0, 2, EK_MODE_ENFORCE, true);
    say(&s, 0, 4, EK_MODE_SHADOW, true);
    say(&s, 2, 1, EK_MODE_ENFORCE, true); /* of another feature */
    ck_assert_int_eq(word_of(&s, 1, -1, 0), EK_LIST_PASSED);
    ck_assert_int_eq(s.routing.desired, 0);
    ck_assert_int_eq(word_of(&s, 2, -1, 0), EK_LIST_ROUTED);
    ck_assert_int_eq(word_of(&s, 2, 4, 0), EK_LIST_SHADOW);
    ck_assert_int_eq(word_of(&s, 1, 4, 0), EK_LIST_SHADOW);
}
END_TEST

START_TEST(a_word_for_the_feature_goes_before_one_for_all)
{
    struct scene s = {.plan.version = 0};
    add(&s, 0, 0, EK_MODE_OBSERVE, EK_PERCENT_WHOLE);
    say(&s, 0, 2, EK_MODE_SHADOW, false);
    say(&s, 0, 4, EK_MODE_ENFORCE, true);
    say(&s, 0, 3, EK_MODE_OBSERVE, false);
    ck_assert_int_eq(word_of(&s, 2, 4, 0), EK_LIST_ROUTED);
    ck_assert_int_eq(word_of(&s, 2, -1, 0), EK_LIST_SHADOW);
    ck_assert_int_eq(word_of(&s, 2, 3, 0), EK_LIST_PASSED);
}
END_TEST

START_TEST(a_pin_wins_over_what_is_found_and_over_every_mode)
{
    struct scene s = {.plan.version = 0};
    add(&s, 0, 4, EK_MODE_ENFORCE, EK_PERCENT_WHOLE)->treatment = SILENCE;
    add(&s, 0, 2, EK_MODE_ENFORCE, EK_PERCENT_WHOLE)->by = EK_BY_OPERATOR;
    say(&s, 0, 2, EK_MODE_OBSERVE, true);
    ck_assert_int_eq(word_of(&s, 2, 4, 0), EK_LIST_ROUTED);
    ck_assert_int_eq(s.acts[0].action, EK_ACT_ROUTE);
    word_of(&s, 1, 4, 0);
    ck_assert_int_eq(s.acts[0].action, EK_ACT_BLANK);
}
END_TEST

/* A canary advances by its own statistics, and a list has statistics for a limited number of
 * entries. */
START_TEST(what_findings_ask_for_has_figures_however_many_pins_there_are)
{
    struct ek_treatment acts[EK_ROUTING_ENTRIES + 1], would[EK_ROUTING_ENTRIES + 1];
    struct ek_plan_routing r = {.acts = acts, .would = would};
    struct ek_plan_list list = {(const int16_t[]){0}, 1, 0, true};
    int routable[EK_ROUTING_ENTRIES + 1];
    struct scene s = {.plan.version = 0};
    for (int i = 0; i <= EK_ROUTING_ENTRIES; i++) {
        routable[i] = i;
        add(&s, i, 0, EK_MODE_CANARY, 500)->by =
            i < EK_ROUTING_ENTRIES ? EK_BY_OPERATOR : EK_BY_FINDING;
    }
    ek_plan_treat(&s.plan, &list, routable, EK_ROUTING_ENTRIES + 1, &r);
    ck_assert(r.desired == EK_ROUTING_ENTRIES + 1 && r.entries == EK_ROUTING_ENTRIES);
    ck_assert_int_eq(r.entry[0], EK_ROUTING_ENTRIES);
    ck_assert_int_eq(r.entry[1], 0);
    for (int i = 0; i <= EK_ROUTING_ENTRIES; i++) /* each is charged for the list */
        ck_assert(ek_routing_has(&r, i));
    ck_assert(!ek_routing_has(&r, EK_ROUTING_ENTRIES + 1));
}
END_TEST

START_TEST(a_pin_of_none_keeps_a_list_as_it_came)
{
    struct scene s = {.plan.version = 0};
    add(&s, 0, 0, EK_MODE_ENFORCE, EK_PERCENT_WHOLE);
    struct ek_plan_entry *pin = add(&s, 0, 2, EK_MODE_ENFORCE, EK_PERCENT_WHOLE);
    pin->by = EK_BY_RULES;
    pin->treatment.action = EK_ACT_NONE;
    ck_assert_int_eq(word_of(&s, 2, -1, 0), EK_LIST_PASSED);
    ck_assert_int_eq(s.routing.desired, 0);
    ck_assert_int_eq(s.acts[0].action, EK_ACT_NONE);
    ck_assert_int_eq(word_of(&s, 1, -1, 0), EK_LIST_ROUTED);
    pin->treatment.action = EK_ACT_ALERT;
    ck_assert_int_eq(word_of(&s, 2, -1, 0), EK_LIST_PASSED);
}
END_TEST

START_TEST(a_paused_plan_says_so)
{
    struct scene s = {.plan.paused = true};
    ck_assert_int_eq(word_of(&s, 2, -1, 0), EK_LIST_PAUSED);
    ck_assert_int_eq(s.routing.acted, 0);
}
END_TEST

START_TEST(two_plans_are_the_same_when_they_treat_lists_alike)
{
    static struct scene a, b;
    add(&a, 0, 0, EK_MODE_CANARY, 500);
    add(&a, 2, 0, EK_MODE_ENFORCE, EK_PERCENT_WHOLE);
    add(&b, 2, 0, EK_MODE_ENFORCE, EK_PERCENT_WHOLE)->since_ms = 77;
    add(&b, 0, 0, EK_MODE_CANARY, 500)->treatment.value = 3;
    b.plan.version = 9;
    ck_assert(ek_plan_same(&a.plan, &b.plan));
    b.plan.entry[1].percent = 1000;
    ck_assert(!ek_plan_same(&a.plan, &b.plan));
    b.plan.entry[1].percent = 500;
    b.plan.entry[0].by = EK_BY_OPERATOR;
    ck_assert(!ek_plan_same(&a.plan, &b.plan));
    b.plan.entry[0].by = EK_BY_FINDING;
    a.plan.entry[0].repair.factor = 3; /* for comparisons alone */
    ck_assert(ek_plan_same(&a.plan, &b.plan));
    a.plan.entry[0].repair.by = b.plan.entry[1].repair.by = EK_REPAIR_NUMBER;
    a.plan.entry[0].repair.number = b.plan.entry[1].repair.number = 100;
    ck_assert(ek_plan_same(&a.plan, &b.plan));
    b.plan.entry[1].repair.number = 101; /* lists get other values */
    ck_assert(!ek_plan_same(&a.plan, &b.plan));
    b.plan.entry[1].repair.number = 100;
    say(&b, 0, 2, EK_MODE_ENFORCE, true);
    ck_assert(!ek_plan_same(&a.plan, &b.plan));
    say(&a, 0, 2, EK_MODE_SHADOW, true);
    ck_assert(!ek_plan_same(&a.plan, &b.plan));
    a.plan.mode[0].mode = EK_MODE_ENFORCE;
    ck_assert(ek_plan_same(&a.plan, &b.plan));
    b.plan.paused = true;
    ck_assert(!ek_plan_same(&a.plan, &b.plan));
}
END_TEST

/* Write a plan, and read it back. Return the bytes. */
static size_t through_state(const struct ek_plan *from, struct ek_plan *to)
{
    struct ek_buf buf;
    ek_buf_init(&buf, 0);
    static struct ek_plan copy;
    copy = *from;
    struct ek_serialize out = {.out = &buf};
    ek_plan_serialize(&copy, &out, 3, 5);
    ck_assert_int_eq(out.rc, EK_OK);
    struct ek_serialize in = {.at = buf.data, .end = buf.data + buf.length};
    memset(to, 0, sizeof *to);
    ek_plan_serialize(to, &in, 3, 5);
    ck_assert_int_eq(in.rc, EK_OK);
    ck_assert(in.at == in.end);
    size_t length = buf.length;
    ek_buf_release(&buf);
    return length;
}

START_TEST(a_repair_goes_with_its_entry)
{
    static struct ek_plan plan, read;
    plan = (struct ek_plan){.count = 2};
    plan.entry[0] = ek_plan_entry_init(0, 1, (struct ek_treatment){EK_ACT_REPAIR, 100});
    plan.entry[1] = ek_plan_entry_init(2, 0, ROUTE);
    plan.entry[1].by = EK_BY_RULES;
    size_t without = through_state(&plan, &read);
    plan.entry[0].repair.by = EK_REPAIR_LIST;
    plan.entry[0].repair.number = 100;
    plan.entry[0].repair.exact = true;
    ck_assert_uint_gt(through_state(&plan, &read), without);
    ck_assert_int_eq(read.entry[0].by, EK_BY_FINDING);
    ck_assert_int_eq(read.entry[0].repair.by, EK_REPAIR_LIST);
    ck_assert(read.entry[0].repair.exact && read.entry[0].repair.number == 100);
    ck_assert_int_eq(read.entry[1].by, EK_BY_RULES);
    ck_assert_int_eq(read.entry[1].repair.by, EK_REPAIR_UNKNOWN);
}
END_TEST

Suite *suite_plan(void)
{
    return ek_suite(
        "plan", a_plan_is_empty_and_of_version_0_at_first, an_entry_counts_for_its_cell_only,
        a_segment_wins_over_all_traffic, the_version_rises_with_every_change_of_action_only,
        a_recovered_entry_is_held_for_its_time, a_relapse_during_the_hold_keeps_the_entry,
        a_wrong_clock_does_not_hold_an_entry_for_ever, a_full_plan_takes_no_more,
        a_list_without_sources_keeps_the_less_specific_route,
        what_findings_ask_for_is_enforced_on_all_queries, in_shadow_nothing_acts_and_all_is_known,
        a_canary_acts_on_the_buckets_below_its_percentage, the_strongest_word_of_a_list_is_told,
        a_list_gets_the_most_careful_of_its_modes, a_word_for_the_feature_goes_before_one_for_all,
        a_pin_wins_over_what_is_found_and_over_every_mode,
        what_findings_ask_for_has_figures_however_many_pins_there_are,
        a_pin_of_none_keeps_a_list_as_it_came, a_paused_plan_says_so,
        two_plans_are_the_same_when_they_treat_lists_alike, a_repair_goes_with_its_entry);
}
