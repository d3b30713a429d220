/* Accepted shifts in a fleet: commanded at the leader, published in its plan, equal at every
 * instance and for the next leader, until reverted. */
#include "tests/fleet_people.h"

#include <math.h>

enum { SIZE = 1, WARM = 20, ENOUGH = 60 /* reports in which a fault is found */ };

static void cents_in_arm_b(struct fleet *f, int i, struct ek_list *q)
{
    if (f->instance[i].stream.arm_b)
        stream_scale(q, PRICE, 100);
}

/* Too small for detection by one instance. */
static void dearer(struct fleet *f, int i, struct ek_list *q)
{
    (void)f, (void)i;
    stream_scale(q, PRICE, 1.3);
}

/* The accepted shift and another fault in the same lists. */
static void cents_and_sizes(struct fleet *f, int i, struct ek_list *q)
{
    cents_in_arm_b(f, i, q);
    if (f->instance[i].stream.arm_b)
        stream_scale(q, SIZE, 100);
}

static struct fleet *found_under(const char *rules, int instances, fleet_fault *harm)
{
    struct fleet *f = calloc(1, sizeof *f);
    struct stream_world world;
    stream_world_start(&world, rules, TRAINING, 7);
    fleet_begin(f, instances, world, 7);
    fleet_run(f, WARM, quiet);
    for (int i = 0; i < ENOUGH && !f->count[EK_CONFIRMED]; i++)
        fleet_tick(f, harm);
    ck_assert_int_eq(f->count[EK_CONFIRMED], 1);
    fleet_run(f, 3, harm);
    ck_assert_int_eq(fleet_plan(f, 0)->count, 1);
    return f;
}

static struct fleet *found(int instances, fleet_fault *harm)
{
    return found_under(FLEET_RULES, instances, harm);
}

static struct ek_order revert_of(uint64_t version, uint64_t number)
{
    struct ek_order w = order_of(EK_DECIDED_PAUSE, number);
    w.kind = EK_DECIDED_REVERT;
    w.version = version;
    return w;
}

/* Return the leader's reply to one command. */
static struct ek_fleet_reply *say(struct fleet *f, int decider, const struct ek_order *w,
                                  fleet_fault *harm)
{
    static struct answers a;
    static struct ek_fleet_reply r;
    ek_buf_release(&a.bytes);
    ek_buf_init(&a.bytes, 0);
    give(f, decider, w);
    fleet_tick(f, harm);
    r = answered(f, decider, &a, 1);
    return &r;
}

/* Return the factor of the accept. */
static double accept(struct fleet *f, int decider, uint64_t version, fleet_fault *harm)
{
    const struct ek_order w = order_of(EK_DECIDED_ACCEPT, 100 + version);
    const struct ek_decision_record *is = &say(f, decider, &w, harm)->decided.is;
    ck_assert_int_eq(is->kind, EK_DECIDED_ACCEPT);
    ck_assert_uint_eq(is->accept, version);
    ck_assert_uint_eq(is->normal, version);
    ck_assert_uint_eq(is->after, is->before + 1);
    ck_assert(fabs(log(is->factor / 100)) < .1);
    ck_assert_str_eq(is->actor, "ana");
    return is->factor;
}

static const struct ek_level_offsets *normal_of(const struct fleet *f, int i)
{
    return ek_detector_offsets(f->instance[i].detector);
}

/* Check that all instances have the same levels, bit for bit, in that number. */
static void ck_normal(const struct fleet *f, uint64_t version, int count)
{
    for (int i = 0; i < f->instances; i++) {
        ck_assert_uint_eq(normal_of(f, i)->version, version);
        ck_assert_int_eq(normal_of(f, i)->count, count);
        for (int k = 0; k < count; k++)
            ck_assert(normal_of(f, i)->one[k].shift_ln == normal_of(f, 0)->one[k].shift_ln);
    }
}

/* Check a long run without findings and actions. */
static void ck_quiet(struct fleet *f, fleet_fault *harm)
{
    int confirmed = f->count[EK_CONFIRMED];
    struct ek_finding open;
    fleet_run(f, ENOUGH, harm);
    ck_assert_int_eq(f->count[EK_CONFIRMED], confirmed);
    for (int i = 0; i < f->instances; i++) {
        ck_assert_int_eq(fleet_plan(f, i)->count, 0);
        ck_assert_int_eq(ek_detector_confirmed(f->instance[i].detector, 0, &open), 0);
    }
}

START_TEST(what_is_accepted_is_normal_at_every_instance)
{
    struct fleet *f = found(3, cents_in_arm_b);
    accept(f, 0, 1, cents_in_arm_b);
    ck_assert_int_eq(f->count[EK_DISMISSED], 1);
    ck_assert_str_eq(f->last[EK_DISMISSED].reason, "accepted as normal");
    ck_assert_int_eq(f->count[EK_RECOVERED], 0);
    fleet_tick(f, cents_in_arm_b);
    ck_normal(f, 1, 1);
    ck_quiet(f, cents_in_arm_b);
    for (int i = 0; i < ENOUGH && f->count[EK_CONFIRMED] == 1; i++)
        fleet_tick(f, cents_and_sizes); /* hides no other fault */
    ck_assert_int_eq(f->count[EK_CONFIRMED], 2);
    ck_assert_int_eq(f->last[EK_CONFIRMED].feature, SIZE);
    finish(f);
}
END_TEST

START_TEST(a_unit_of_the_rules_is_accepted_and_not_the_estimate)
{
    char rules[600];
    snprintf(rules, sizeof rules, "%sfeatures: {price: {units: [cents]}}\n", FLEET_RULES);
    struct fleet *f = found_under(rules, 2, cents_in_arm_b);
    ck_assert(f->last[EK_CONFIRMED].factor != 100);
    ck_assert(fabs(accept(f, 0, 1, cents_in_arm_b) - 100) < 1e-9);
    ck_quiet(f, cents_in_arm_b);
    finish(f);
}
END_TEST

START_TEST(one_that_comes_later_has_it_from_the_plan_alone)
{
    struct fleet *f = found(2, cents_in_arm_b);
    struct fleet_instance *late = &f->instance[1];
    accept(f, 0, 1, cents_in_arm_b);
    fleet_run(f, 3, cents_in_arm_b);
    ek_fleet_instance_free(late->member);
    ek_detector_free(late->detector);
    must(ek_detector_new(&late->detector, f->world.manifest, f->world.profile, f->world.rules,
                         NULL));
    fleet_join(f, 1, 2);
    fleet_run(f, 2, cents_in_arm_b);
    ck_normal(f, 1, 1);
    ck_quiet(f, cents_in_arm_b);
    finish(f);
}
END_TEST

START_TEST(the_next_decider_keeps_it_and_takes_it_back)
{
    struct fleet *f = found(2, cents_in_arm_b);
    fleet_decider(f, 1);
    fleet_run(f, 2, cents_in_arm_b); /* received by it */
    accept(f, 0, 1, cents_in_arm_b);
    f->dead[0] = true; /* at once */
    ek_leader_start(f->decider[1], f->clock_ms);
    ck_quiet(f, cents_in_arm_b);
    ck_normal(f, 1, 1);
    const struct ek_order w = revert_of(1, 2);
    const struct ek_decision_record *is = &say(f, 1, &w, cents_in_arm_b)->decided.is;
    ck_assert_int_eq(is->kind, EK_DECIDED_REVERT);
    ck_assert_uint_eq(is->accept, 1);
    ck_assert_uint_eq(is->normal, 2);
    ck_assert_str_eq(is->feature, "price");
    ck_assert_str_eq(is->dimension, "arm");
    ck_assert_str_eq(is->value, "B");
    int confirmed = f->count[EK_CONFIRMED];
    fleet_run(f, ENOUGH, cents_in_arm_b);
    ck_normal(f, 2, 0);
    ck_assert_int_eq(f->count[EK_CONFIRMED], confirmed + 1);
    ck_assert_int_eq(fleet_plan(f, 0)->count, 1);
    accept(f, 1, 3, cents_in_arm_b); /* numbers are never reused */
    ck_quiet(f, cents_in_arm_b);
    finish(f);
}
END_TEST

/* Duplicates each report of the second instance, in time and late. */
static int twice(struct fleet *f, int *late)
{
    late[0] = f->teller == 1 ? 3 : 0;
    late[1] = 4;
    return 2;
}

START_TEST(what_was_held_against_the_level_before_is_no_evidence_any_more)
{
    struct fleet *f = found(2, cents_in_arm_b);
    f->fate = twice;
    fleet_run(f, 6, cents_in_arm_b);
    accept(f, 0, 1, cents_in_arm_b);
    for (int tick = 0; tick < 6; tick++) { /* while such reports arrive */
        fleet_tick(f, cents_in_arm_b);
        ck_assert_int_eq(f->count[EK_CONFIRMED], 1);
        ck_assert_int_eq(f->count[EK_DISMISSED], 1);
    }
    ck_quiet(f, cents_in_arm_b);
    finish(f);
}
END_TEST

/* A disconnected instance continues to report its findings. */
START_TEST(an_instance_that_is_cut_off_brings_nothing_back)
{
    struct fleet *f = found(3, cents_in_arm_b);
    f->instance[2].cut = true;
    accept(f, 0, 1, cents_in_arm_b);
    fleet_run(f, ENOUGH, cents_in_arm_b);
    ck_assert_int_eq(f->count[EK_CONFIRMED], 1);
    ck_assert_int_eq(fleet_plan(f, 0)->count, 0);
    f->instance[2].cut = false;
    fleet_run(f, 2, cents_in_arm_b);
    ck_normal(f, 1, 1);
    ck_quiet(f, cents_in_arm_b);
    finish(f);
}
END_TEST

START_TEST(what_only_all_could_see_can_be_accepted_too)
{
    struct fleet *f = found(8, dearer);
    struct ek_order w = order_of(EK_DECIDED_ACCEPT, 1);
    w.segment = w.value = NULL;
    ck_assert_int_eq(say(f, 0, &w, dearer)->code, EK_OK);
    fleet_tick(f, dearer);
    ck_normal(f, 1, 1);
    ck_assert(fabs(normal_of(f, 0)->one[0].shift_ln - log(1.3)) < .1);
    ck_quiet(f, dearer);
    finish(f);
}
END_TEST

/* A report of each instance, long enough for a suspicion. */
static void fleet_lists_of_all(struct fleet *f, fleet_fault *harm)
{
    f->tick_lists = 200;
    for (int i = 0; i < f->instances; i++)
        fleet_observe(f, i, harm);
    f->tick_lists = FLEET_TICK_LISTS;
}

static int late(struct fleet *f, int *ticks)
{
    (void)f;
    *ticks = 8;
    return 1;
}

/* Sums from before the accept are still in transit: they cause no suspicion. */
START_TEST(sums_of_before_an_accept_suspect_nothing_after_it)
{
    struct fleet *f = found(8, dearer);
    struct ek_order w = order_of(EK_DECIDED_ACCEPT, 1);
    w.segment = w.value = NULL;
    f->fate = late;
    for (int i = 0; i < 8; i++) /* counts as evidence, as from instances that are not yet updated */
        must(ek_detector_set_fleet_findings(f->instance[i].detector, NULL, 0));
    fleet_lists_of_all(f, dearer);
    f->fate = NULL;
    ck_assert_int_eq(say(f, 0, &w, dearer)->code, EK_OK);
    int suspected = f->count[EK_SUSPECTED];
    fleet_run(f, 12, dearer);
    ck_assert_int_eq(f->count[EK_SUSPECTED], suspected);
    finish(f);
}
END_TEST

START_TEST(levels_end_with_the_profile_that_they_were_accepted_under)
{
    struct fleet *f = found(2, cents_in_arm_b);
    struct ek_profile *old = f->world.profile,
                      *other = stream_profile(f->world.manifest, TRAINING + 100);
    f->world.profile = other;
    fleet_decider(f, 1);
    f->world.profile = old;
    f->misses[1] = UINT64_MAX; /* reports of the others do not reach it */
    accept(f, 0, 1, cents_in_arm_b);
    fleet_run(f, 2, cents_in_arm_b);
    ck_normal(f, 1, 1);
    f->dead[0] = true;
    ek_leader_start(f->decider[1], f->clock_ms);
    fleet_run(f, 10, cents_in_arm_b);
    ck_normal(f, 2, 0);
    finish(f);
    ek_profile_free(other);
}
END_TEST

static void ck_refused(struct fleet *f, const struct ek_order *w, const char *why)
{
    const struct ek_fleet_reply *r = say(f, 0, w, cents_in_arm_b);
    uint64_t version = ek_leader_version(f->decider[0]);
    ck_assert_int_eq(r->code, EK_ESTATE);
    ck_assert_msg(ek_text_same(r->refusal, ek_text_from(why)), "%.*s", (int)r->refusal.length,
                  r->refusal.text);
    ck_assert_uint_eq(ek_leader_version(f->decider[0]), version);
}

START_TEST(what_cannot_be_accepted_is_refused_as_by_one_alone)
{
    struct fleet *f = found(2, cents_in_arm_b);
    struct ek_order w = order_of(EK_DECIDED_ACCEPT, 1);
    w.value = "A";
    ck_refused(f, &w, "no change of 'price' is confirmed in arm=A: accept it in arm=B");
    w.id.number++;
    w.value = "nobody";
    ck_refused(f, &w,
               "no lists of arm=nobody are watched on their own: wait for the first, or raise "
               "'limits.segments', above which values are watched together");
    w.id.number++;
    w.feature = "size";
    w.value = "B";
    ck_refused(f, &w,
               "no change of 'size' is confirmed in arm=B: what is normal there needs no accept");
    w = revert_of(1, 4);
    ck_refused(f, &w, "nothing was accepted that could be reverted");
    accept(f, 0, 1, cents_in_arm_b);
    w = revert_of(9, 5);
    ck_refused(f, &w, "there is no accept 9: there are 1");
    finish(f);
}
END_TEST

/* A number identifies each accept within a version. */
START_TEST(an_order_says_which_accept_it_is_about_and_no_other_does)
{
    struct fleet *f = start();
    struct ek_order wrong[] = {revert_of(0, 1), order_of(EK_DECIDED_ACCEPT, 1)};
    wrong[1].version = 3;
    for (int i = 0; i < 2; i++) {
        struct ek_buf out = record_of(f, &wrong[i]);
        struct ek_fleet_order_read read;
        ck_assert_int_eq(ek_fleet_order_open(&read, out.data, out.length, f->world.manifest, NULL),
                         EK_EFORMAT);
        ek_buf_release(&out);
    }
    finish(f);
}
END_TEST

/* Lists of one event time are scored alike, so accepted shifts start with the plan. */
START_TEST(a_list_has_the_levels_of_its_plan)
{
    struct fleet *f = found(2, cents_in_arm_b);
    const struct ek_instance_plans *plans = ek_fleet_instance_plans(f->instance[0].member);
    accept(f, 0, 1, cents_in_arm_b);
    int64_t now = f->instance[0].stream_ms;
    const struct ek_plan *before = ek_instance_plans_get(plans, now, now),
                         *after = ek_instance_plans_get(plans, now + EK_FLEET_LEAD_MS, now);
    ck_assert_uint_eq(after->version, before->version + 1);
    ck_assert_int_eq(ek_instance_plans_levels(plans, before)->count, 0);
    ck_assert_int_eq(ek_instance_plans_levels(plans, after)->count, 1);
    finish(f);
}
END_TEST

Suite *suite_fleet_accept(void)
{
    return ek_suite("fleet accept", what_is_accepted_is_normal_at_every_instance,
                    a_unit_of_the_rules_is_accepted_and_not_the_estimate,
                    one_that_comes_later_has_it_from_the_plan_alone,
                    the_next_decider_keeps_it_and_takes_it_back,
                    what_was_held_against_the_level_before_is_no_evidence_any_more,
                    an_instance_that_is_cut_off_brings_nothing_back,
                    what_only_all_could_see_can_be_accepted_too,
                    sums_of_before_an_accept_suspect_nothing_after_it,
                    levels_end_with_the_profile_that_they_were_accepted_under,
                    what_cannot_be_accepted_is_refused_as_by_one_alone,
                    an_order_says_which_accept_it_is_about_and_no_other_does,
                    a_list_has_the_levels_of_its_plan);
}
