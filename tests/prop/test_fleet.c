/* A fleet detects faults that no instance detects alone, and others as early as one instance. Lost
 * records, leader changes and restarts cause no false finding. */
#include "tests/fleet_world.h"

#include "tests/check.h"

enum {
    TRAINING = 20000,
    INSTANCES = 8,
    WARM = 16, /* reports before a fault */
    SEEDS = 10,
    LONG = 400, /* reports of healthy traffic */
    PRICE = 0,
    SIZE = 1
};

static void dearer(struct fleet *f, int i, struct ek_list *q)
{
    (void)f;
    (void)i;
    stream_scale(q, PRICE, 1.2);
}

static void double_in_a_tenth(struct fleet *f, int i, struct ek_list *q)
{
    (void)i;
    if (ek_rng_uniform(&f->rng) < .1)
        stream_scale(q, PRICE, 2);
}

static void cents(struct fleet *f, int i, struct ek_list *q)
{
    (void)f;
    (void)i;
    stream_scale(q, PRICE, 100);
}

static void cents_in_arm_b(struct fleet *f, int i, struct ek_list *q)
{
    if (f->instance[i].stream.arm_b)
        stream_scale(q, PRICE, 100);
}

static void dearer_in_arm_b(struct fleet *f, int i, struct ek_list *q)
{
    if (f->instance[i].stream.arm_b)
        stream_scale(q, PRICE, 1.4);
}

static void double_on_the_first(struct fleet *f, int i, struct ek_list *q)
{
    (void)f;
    if (i == 0)
        stream_scale(q, PRICE, 2);
}

static void dearer_on_the_first(struct fleet *f, int i, struct ek_list *q)
{
    (void)f;
    if (i == 0)
        stream_scale(q, PRICE, 1.2);
}

/* The last `idle` instances have no lists. */
static struct fleet *start_with(int instances, int idle, uint64_t seed)
{
    static struct fleet f;
    static struct stream_world each;
    struct stream_world world;
    if (!each.profile) /* the same for every seed */
        stream_world_start(&each, FLEET_RULES, TRAINING, seed);
    stream_world_lend(&world, &each, seed);
    fleet_begin(&f, instances, world, seed);
    for (int i = instances - idle; i < instances; i++)
        f.instance[i].idle = true;
    fleet_run(&f, WARM, NULL);
    f.since = WARM * FLEET_TICK_LISTS;
    return &f;
}

static struct fleet *start(int instances, uint64_t seed)
{
    return start_with(instances, 0, seed);
}

/* Return the mean lists per instance until the fleet suspects. */
static double pooled_delay(fleet_fault *harm, int most)
{
    double sum = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct fleet *f = start(INSTANCES, (uint64_t)seed);
        ck_assert_int_eq(f->count[EK_SUSPECTED], 0);
        fleet_run(f, most, harm);
        ck_assert_int_ge(f->first[EK_SUSPECTED], 0);
        ck_assert_int_eq(f->last[EK_SUSPECTED].feature, PRICE);
        sum += f->first[EK_SUSPECTED];
        fleet_end(f);
    }
    return sum / SEEDS;
}

/* scaling.py parses this line. */
static void hold_pooled_delay(const char *what, fleet_fault *harm, int most_ticks, int most_lists)
{
    double lists = pooled_delay(harm, most_ticks);
    printf("eight instances find %s in %.1f lists each, on average; to be held: %d\n", what, lists,
           most_lists);
    ck_assert_msg(lists <= most_lists, "%.1f lists", lists);
}

START_TEST(eight_instances_find_a_fifth_more_in_60_lists_each)
{
    hold_pooled_delay("x1.2", dearer, 8, 60);
}
END_TEST

START_TEST(eight_instances_find_a_double_in_a_tenth_in_110_lists_each)
{
    hold_pooled_delay("x2 in a tenth", double_in_a_tenth, 16, 110);
}
END_TEST

/* Compare with a detector that has the whole budget: the pool uses a part of it. */
static double local_delay(fleet_fault *harm, bool alone)
{
    double sum = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct fleet *f = start(alone ? 1 : INSTANCES, (uint64_t)seed);
        if (alone)
            ck_assert_int_eq(ek_detector_join(f->instance[0].detector, 1, NULL), EK_OK);
        fleet_run(f, 24, harm);
        ck_assert_int_ge(f->instance[0].local, 0);
        sum += f->instance[0].local;
        fleet_end(f);
    }
    return sum / SEEDS;
}

START_TEST(a_fault_on_one_instance_is_found_as_fast_as_without_the_fleet)
{
    double twice[2] = {local_delay(double_on_the_first, true),
                       local_delay(double_on_the_first, false)};
    double fifth[2] = {local_delay(dearer_on_the_first, true),
                       local_delay(dearer_on_the_first, false)};
    printf("one instance finds x2 in %.1f lists alone, %.1f in a fleet; x1.2 in %.1f and %.1f\n",
           twice[0], twice[1], fifth[0], fifth[1]);
    ck_assert(twice[1] <= twice[0] + 1 && fifth[1] <= 1.02 * fifth[0]);
}
END_TEST

START_TEST(what_one_instance_confirms_is_in_the_plan_of_all)
{
    struct fleet *f = start(INSTANCES, 3);
    fleet_run(f, 8, double_on_the_first);
    ck_assert_int_eq(f->count[EK_CONFIRMED], 1);
    ck_assert_int_eq(f->last[EK_CONFIRMED].class, EK_SCALE);
    for (int i = 0; i < INSTANCES; i++) {
        const struct ek_plan *plan = fleet_plan(f, i);
        ck_assert_int_eq(plan->count, 1);
        ck_assert_int_eq(plan->entry[0].feature, PRICE);
        ck_assert_int_eq(plan->entry[0].cell, 0);
        ck_assert_int_eq(plan->entry[0].treatment.action, EK_ACT_ROUTE);
    }
    fleet_end(f);
}
END_TEST

static void reset_state(struct fleet *f, int i, uint64_t start)
{
    struct fleet_instance *o = &f->instance[i];
    ek_fleet_instance_free(o->member);
    ek_detector_free(o->detector);
    ck_assert_int_eq(
        ek_detector_new(&o->detector, f->world.manifest, f->world.profile, f->world.rules, NULL),
        EK_OK);
    fleet_join(f, i, start);
}

/* The instance with the finding has lost it after its restart. */
START_TEST(what_an_instance_found_stands_while_it_begins_anew)
{
    enum { GONE_TICKS = EK_FLEET_EXPIRED_MS / FLEET_TICK_MS };
    struct fleet *f = start(INSTANCES, 3);
    fleet_run(f, 8, double_on_the_first);
    reset_state(f, 0, 2);
    fleet_run(f, 8, double_on_the_first);
    ck_assert_int_eq(f->count[EK_CONFIRMED], 1);
    ck_assert_int_eq(f->count[EK_RECOVERED], 0);
    for (int i = 0; i < INSTANCES; i++)
        ck_assert_int_eq(fleet_plan(f, i)->count, 1);
    reset_state(f, 0, 3);
    fleet_run(f, GONE_TICKS - 1, NULL);
    ck_assert_int_eq(f->count[EK_RECOVERED], 0);
    fleet_run(f, 3, NULL);
    ck_assert_int_eq(f->count[EK_RECOVERED], 1);
    fleet_end(f);
}
END_TEST

/* The rows of all instances together give class and segment. */
START_TEST(what_no_instance_saw_alone_is_named_by_the_lists_of_all)
{
    struct fleet *f = start(INSTANCES, 5);
    fleet_run(f, 12, double_in_a_tenth);
    const struct ek_finding *o = &f->last[EK_CONFIRMED];
    ck_assert_int_eq(f->count[EK_CONFIRMED], 1);
    ck_assert_int_eq(o->class, EK_SCALE);
    ck_assert(o->factor_low < 2 && 2 < o->factor_high);
    ck_assert(o->share > .04 && o->share < .2);
    ck_assert(!o->dimension);
    for (int i = 0; i < INSTANCES; i++)
        ck_assert_int_eq(f->instance[i].local, -1);
    fleet_end(f);
}
END_TEST

START_TEST(a_change_of_one_segment_is_put_on_it_by_the_lists_of_all)
{
    struct fleet *f = start(INSTANCES, 6);
    fleet_run(f, 12, dearer_in_arm_b);
    int on_arm_b = 0;
    for (int i = 0; i < INSTANCES; i++) {
        const struct ek_plan *plan = fleet_plan(f, i);
        const struct ek_cells *cells = ek_detector_registry(f->instance[i].detector);
        ck_assert_int_eq(plan->count, 1);
        const char *value = ek_cells_value(cells, plan->entry[0].cell);
        on_arm_b += value && !strcmp(value, "B");
    }
    ck_assert_int_eq(on_arm_b, INSTANCES);
    fleet_end(f);
}
END_TEST

/* Return the lists per instance until the fleet confirms; the last instance has none. Reports are
 * sent every `lists` lists, counted in reports of FLEET_TICK_LISTS. */
static int delay_between_ticks(uint64_t seed, int lists, fleet_fault *harm)
{
    struct fleet *f = start_with(INSTANCES, 1, seed);
    f->tick_lists = lists;
    for (int told = lists; told < 4 * FLEET_TICK_LISTS && !f->count[EK_CONFIRMED]; told += lists)
        if (told % FLEET_TICK_LISTS)
            fleet_between(f, lists, harm);
        else
            fleet_tick(f, harm);
    int delay = f->first[EK_CONFIRMED];
    fleet_end(f);
    return delay;
}

/* Return the lists per instance that one detector with all lists needs. */
static int delay_of_one(uint64_t seed, fleet_fault *harm)
{
    struct fleet *f = start(1, seed);
    struct ek_finding told = {.state = EK_SUSPECTED};
    int lists = 0;
    ck_assert_int_eq(ek_detector_join(f->instance[0].detector, 1, NULL), EK_OK);
    while (told.state != EK_CONFIRMED && lists < 1000) {
        struct ek_list *q = stream_next(&f->instance[0].stream);
        harm(f, 0, q);
        ck_assert_int_eq(ek_detector_observe(f->instance[0].detector, q, q->time_ms, NULL), EK_OK);
        while (ek_detector_next(f->instance[0].detector, &told) && told.state != EK_CONFIRMED)
            ;
        lists++;
    }
    fleet_end(f);
    return (lists + INSTANCES - 2) / (INSTANCES - 1);
}

START_TEST(all_know_what_it_is_within_a_tick_of_one_that_had_all_lists)
{
    fleet_fault *const harm[] = {cents, cents_in_arm_b};
    for (uint64_t seed = 60; seed < 63; seed++)
        for (size_t i = 0; i < sizeof harm / sizeof *harm; i++) {
            int one = delay_of_one(seed, harm[i]), all = delay_between_ticks(seed, 5, harm[i]);
            ck_assert_msg(all >= 0 && all <= one + FLEET_TICK_LISTS, "%d lists of each, not %d",
                          all, one);
        }
}
END_TEST

START_TEST(between_ticks_only_what_is_new_is_told)
{
    struct fleet *f = start(INSTANCES, 65);
    f->published = 0;
    for (int i = 0; i < 4; i++)
        fleet_between(f, 5, NULL);
    ck_assert_int_eq(f->published + f->records, 0);
    while (!f->count[EK_CONFIRMED] && f->ticks < 2 * WARM)
        fleet_tick(f, cents);
    fleet_run(f, 2, cents); /* each has received it and found the same */
    f->published = 0;
    for (int i = 0; i < 4; i++)
        fleet_between(f, 5, cents);
    ck_assert_int_eq(f->published, 0);
    fleet_end(f);
}
END_TEST

START_TEST(a_change_that_is_over_leaves_the_plan_of_all)
{
    struct fleet *f = start(INSTANCES, 7);
    fleet_run(f, 10, cents);
    ck_assert_int_eq(fleet_plan(f, 2)->count, 1);
    fleet_run(f, 40,
              NULL); /* 1,000 s of event time, including the minimum duration of ten minutes */
    ck_assert_int_ge(f->count[EK_RECOVERED], 1);
    for (int i = 0; i < INSTANCES; i++)
        ck_assert_int_eq(fleet_plan(f, i)->count, 0);
    ck_assert_uint_eq(fleet_plan(f, 0)->version, fleet_plan(f, 5)->version);
    fleet_end(f);
}
END_TEST

START_TEST(healthy_traffic_raises_nothing)
{
    for (int seed = 1; seed <= 3; seed++) {
        struct fleet *f = start(INSTANCES, 40 + (uint64_t)seed);
        fleet_run(f, LONG, NULL);
        for (int state = 0; state < 5; state++)
            ck_assert_int_eq(f->count[state], 0);
        for (int i = 0; i < INSTANCES; i++)
            ck_assert_int_eq(f->instance[i].local, -1);
        fleet_end(f);
    }
}
END_TEST

/* One record in ten is lost, one in five duplicated, some are up to 5 reports late. */
static int bad_network(struct fleet *f, int *late)
{
    double u = ek_rng_uniform(&f->rng);
    int copies = u < .1 ? 0 : u < .3 ? 2 : 1;
    for (int i = 0; i < copies; i++)
        late[i] = ek_rng_uniform_int(&f->rng, 3) ? 0 : (int)ek_rng_uniform_int(&f->rng, 6);
    return copies;
}

/* The other arm is unrouted at once, before the minimum duration ends. */
START_TEST(a_change_that_goes_on_in_one_segment_leaves_the_others_at_once)
{
    struct fleet *f = start(2, 15);
    fleet_run(f, 10, cents);
    ck_assert_int_eq(fleet_plan(f, 1)->count, 1);
    ck_assert_int_eq(fleet_plan(f, 1)->entry[0].cell, 0);
    fleet_run(f, 14, cents_in_arm_b);
    ck_assert_int_eq(fleet_plan(f, 1)->count, 1);
    const struct ek_cells *cells = ek_detector_registry(f->instance[1].detector);
    ck_assert_str_eq(ek_cells_value(cells, fleet_plan(f, 1)->entry[0].cell), "B");
    fleet_end(f);
}
END_TEST

/* Reports of one list each and an alarm level of 200 lists: some alarms occur, within the budget.
 */
START_TEST(alarms_of_the_pool_are_no_more_frequent_than_its_budget)
{
    struct fleet *f = start(INSTANCES, 44);
    struct ek_fleet_pool *pool;
    int alarms = 0;
    double level = 200, share = 453333333. * 3 * 2 / level, lists = 0;
    ck_assert_int_eq(ek_fleet_pool_new(&pool, f->world.manifest, f->world.profile, f->world.rules,
                                       share, 16, NULL),
                     EK_OK);
    f->tick_lists = 1;
    for (int tick = 0; tick < 10 * LONG; tick++) {
        struct ek_fleet_alarm alarm[16];
        for (int i = 0; i < INSTANCES; i++)
            fleet_observe(f, i, NULL);
        for (int i = 0; i < f->records; i++)
            ek_fleet_pool_add(pool, f->log[i].bytes, f->log[i].length, 0, NULL);
        fleet_deliver(f);
        alarms += ek_fleet_pool_advance(pool, alarm, 16);
        lists += INSTANCES;
    }
    double budget = 2 * 3 * lists / level; /* all traffic and the arms; three features */
    ck_assert_msg(alarms <= budget + 4 * sqrt(budget), "%d alarms, budget %.0f", alarms, budget);
    ck_assert_int_gt(alarms, 0);
    ek_fleet_pool_free(pool);
    fleet_end(f);
}
END_TEST

START_TEST(ticks_that_are_lost_doubled_or_late_are_no_false_evidence)
{
    struct fleet *f = start(INSTANCES, 8);
    f->fate = bad_network;
    fleet_run(f, LONG, NULL);
    for (int state = 0; state < 5; state++)
        ck_assert_int_eq(f->count[state], 0);
    struct ek_fleet_pool_counts counts = ek_fleet_pool_counts(ek_leader_pool(f->decider[0]));
    ck_assert(counts.twice > 100 && counts.refused == 0 && counts.beyond == 0);
    f->since = f->ticks * FLEET_TICK_LISTS;
    fleet_run(f, 16, dearer);
    ck_assert_int_ge(f->count[EK_CONFIRMED], 1);
    ck_assert_int_le(f->first[EK_SUSPECTED], 150);
    fleet_end(f);
}
END_TEST

/* Duplicated and reordered records give the same evidence, bit for bit. */
START_TEST(a_record_that_comes_again_changes_nothing)
{
    struct fleet *f = start(2, 9);
    struct ek_fleet_pool *once, *often;
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(ek_fleet_pool_new(i ? &often : &once, f->world.manifest, f->world.profile,
                                           f->world.rules, 1, 16, NULL),
                         EK_OK);
    for (int round = 0; round < 30; round++) {
        for (int i = 0; i < 2; i++)
            fleet_observe(f, i, cents_in_arm_b);
        for (int i = 0; i < f->records; i++)
            ek_fleet_pool_add(once, f->log[i].bytes, f->log[i].length, 0, NULL);
        for (int i = 3 * f->records - 1; i >= 0; i--)
            ek_fleet_pool_add(often, f->log[i % f->records].bytes, f->log[i % f->records].length, 0,
                              NULL);
        struct ek_fleet_alarm alarm[4];
        ck_assert_int_eq(ek_fleet_pool_advance(once, alarm, 4),
                         ek_fleet_pool_advance(often, alarm, 4));
        for (int place = 0; place < ek_fleet_pool_places(once); place++) {
            struct ek_fleet_cell cell = ek_fleet_pool_cell(once, place);
            int same;
            ck_assert_int_eq(ek_fleet_pool_place(often, &cell, &same), EK_OK);
            ck_assert(ek_fleet_pool_evidence(once, place, PRICE) ==
                      ek_fleet_pool_evidence(often, same, PRICE));
        }
        for (int i = 0; i < f->records; i++)
            free(f->log[i].bytes);
        f->records = 0;
    }
    ck_assert_uint_eq(ek_fleet_pool_counts(often).twice, 2 * ek_fleet_pool_counts(often).taken);
    ek_fleet_pool_free(once);
    ek_fleet_pool_free(often);
    fleet_end(f);
}
END_TEST

/* Check that a version has the same content everywhere. */
static void assert_one_plan_per_version(struct fleet *f, const struct ek_plan *known, int count)
{
    for (int i = 0; i < f->instances; i++) {
        const struct ek_plan *plan = fleet_plan(f, i);
        for (int k = 0; k < count; k++)
            if (known[k].version == plan->version)
                ck_assert_int_eq(known[k].count, plan->count);
    }
}

START_TEST(of_two_deciders_the_later_one_decides_and_versions_never_mean_two_things)
{
    static struct ek_plan known[64];
    struct fleet *f = start(INSTANCES, 10);
    int versions = 0;
    fleet_run(f, 5, cents);
    fleet_decider(f, 1); /* has read none of the log before the next records */
    fleet_run(f, 1, cents);
    ek_leader_start(f->decider[1], f->clock_ms);
    for (int tick = 0; tick < 10; tick++) {
        fleet_tick(f, tick < 5 ? cents : NULL);
        const struct ek_plan *plan = fleet_plan(f, tick % INSTANCES);
        assert_one_plan_per_version(f, known, versions);
        known[versions++] = *plan;
    }
    ck_assert(!ek_leader_is_active(f->decider[0]));
    ck_assert(ek_leader_is_active(f->decider[1]));
    for (int i = 0; i < INSTANCES; i++) {
        ck_assert_int_eq(fleet_plan(f, i)->count, 1);
        ck_assert_str_eq(
            ek_instance_plans_order(ek_fleet_instance_plans(f->instance[i].member))->decider,
            "node-1");
    }
    fleet_end(f);
}
END_TEST

/* The first instance has prices in cents, which only the next leader receives; the second has
 * changed sizes, which only the old leader receives. */
static void each_its_own(struct fleet *f, int i, struct ek_list *q)
{
    (void)f;
    stream_scale(q, i == 0 ? PRICE : SIZE, 100);
}

static int entries_of(const struct ek_plan *plan, int feature)
{
    int count = 0;
    for (int i = 0; i < plan->count; i++)
        count += plan->entry[i].feature == feature;
    return count;
}

/* A replaced leader continues to write without knowledge of its successor, possibly the same
 * version. */
START_TEST(a_decider_that_does_not_know_yet_is_not_listened_to)
{
    for (int at = 0; at < 9; at++) {
        struct fleet *f = start(2, 11);
        fleet_decider(f, 1);
        f->misses[0] = 1 << 0;
        f->misses[1] = 1 << 1;
        fleet_run(f, at, each_its_own);
        f->deaf[0] = true;
        ek_leader_start(f->decider[1], f->clock_ms);
        for (int tick = 0; tick < 14; tick++) {
            fleet_tick(f, each_its_own);
            for (int i = 0; i < 2 && tick > 1; i++)
                ck_assert_str_eq(
                    ek_instance_plans_order(ek_fleet_instance_plans(f->instance[i].member))
                        ->decider,
                    "node-1");
        }
        ck_assert(ek_leader_is_active(f->decider[0]));
        ck_assert_int_eq(entries_of(ek_leader_plan(f->decider[0]), SIZE), 1);
        for (int i = 0; i < 2; i++) {
            const struct ek_plan *plan = fleet_plan(f, i);
            ck_assert_int_eq(entries_of(plan, PRICE), 1);
            ck_assert_uint_eq(plan->version, ek_leader_version(f->decider[1]));
        }
        fleet_end(f);
    }
}
END_TEST

START_TEST(the_next_decider_goes_on_where_the_dead_one_stopped)
{
    struct fleet *f = start(INSTANCES, 12);
    fleet_decider(f, 1);
    fleet_run(f, 10, cents);
    const struct ek_plan *plan = fleet_plan(f, 0);
    uint64_t version = plan->version;
    uint32_t episode = f->last[EK_CONFIRMED].episode;
    ck_assert_int_eq(plan->count, 1);
    f->dead[0] = true;
    fleet_run(f, 5, cents);
    ck_assert_uint_eq(fleet_plan(f, 0)->version, version);
    ck_assert_int_eq(fleet_plan(f, 0)->count, 1);
    ek_leader_start(f->decider[1], f->clock_ms);
    fleet_run(f, 5, cents);
    for (int i = 0; i < INSTANCES; i++) {
        ck_assert_uint_eq(fleet_plan(f, i)->version, version + 1);
        ck_assert_int_eq(fleet_plan(f, i)->count, 1);
    }
    ck_assert_int_eq(f->count[EK_CONFIRMED], 1);
    ck_assert_uint_eq(episode, f->last[EK_CONFIRMED].episode);
    fleet_run(f, 40, NULL);
    ck_assert_int_eq(fleet_plan(f, 0)->count, 0);
    fleet_end(f);
}
END_TEST

START_TEST(an_instance_that_is_cut_off_keeps_its_plan_and_knows_for_how_long)
{
    struct fleet *f = start(INSTANCES, 13);
    fleet_run(f, 10, cents);
    f->instance[3].cut = true;
    fleet_run(f, 40, NULL);
    const struct ek_instance_plans *plans = ek_fleet_instance_plans(f->instance[3].member);
    ck_assert_int_eq(fleet_plan(f, 3)->count, 1);
    ck_assert_int_eq(fleet_plan(f, 0)->count, 0);
    ck_assert_int_eq(ek_instance_plans_age_ms(plans, f->clock_ms), 40 * FLEET_TICK_MS);
    ck_assert_int_ge(ek_instance_plans_age_ms(plans, f->clock_ms), EK_FLEET_SILENT_MS);
    f->instance[3].cut = false;
    fleet_run(f, 1, NULL);
    ck_assert_int_eq(fleet_plan(f, 3)->count, 0);
    fleet_end(f);
}
END_TEST

/* Lists of one event time are scored under the same plan everywhere, also when they are
 * redelivered. */
START_TEST(a_plan_holds_from_one_moment_of_the_stream_on_everywhere)
{
    struct fleet *f = start(INSTANCES, 14);
    while (fleet_plan(f, 0)->count == 0 && f->ticks < 2 * WARM)
        fleet_tick(f, cents);
    int64_t now = f->instance[0].stream_ms;
    for (int64_t t = now - 30000; t <= now + 5000; t += 500)
        for (int i = 1; i < INSTANCES; i++)
            ck_assert_uint_eq(
                ek_instance_plans_get(ek_fleet_instance_plans(f->instance[i].member), t, now)
                    ->version,
                ek_instance_plans_get(ek_fleet_instance_plans(f->instance[0].member), t, now)
                    ->version);
    const struct ek_instance_plans *p = ek_fleet_instance_plans(f->instance[0].member);
    int64_t from = now + 5000;
    uint64_t newest = ek_instance_plans_get(p, from, now)->version;
    while (ek_instance_plans_get(p, from - 1, now)->version == newest && from > now - 59000)
        from--;
    ck_assert_uint_gt(newest, ek_instance_plans_get(p, from - 1, now)->version);
    fleet_run(f, 1, cents);
    ck_assert_uint_gt(newest, ek_instance_plans_get(p, from - 1, now)->version);
    /* older than a minute: treated as current */
    ck_assert_uint_eq(ek_instance_plans_get(p, now - 3600000, now + 20000)->version, newest);
    fleet_end(f);
}
END_TEST

Suite *suite_fleet(void)
{
    return ek_suite(
        "fleet", eight_instances_find_a_fifth_more_in_60_lists_each,
        eight_instances_find_a_double_in_a_tenth_in_110_lists_each,
        a_fault_on_one_instance_is_found_as_fast_as_without_the_fleet,
        what_one_instance_confirms_is_in_the_plan_of_all,
        what_an_instance_found_stands_while_it_begins_anew,
        what_no_instance_saw_alone_is_named_by_the_lists_of_all,
        a_change_of_one_segment_is_put_on_it_by_the_lists_of_all,
        all_know_what_it_is_within_a_tick_of_one_that_had_all_lists,
        between_ticks_only_what_is_new_is_told, a_change_that_is_over_leaves_the_plan_of_all,
        a_change_that_goes_on_in_one_segment_leaves_the_others_at_once,
        alarms_of_the_pool_are_no_more_frequent_than_its_budget, healthy_traffic_raises_nothing,
        ticks_that_are_lost_doubled_or_late_are_no_false_evidence,
        a_record_that_comes_again_changes_nothing,
        of_two_deciders_the_later_one_decides_and_versions_never_mean_two_things,
        a_decider_that_does_not_know_yet_is_not_listened_to,
        the_next_decider_goes_on_where_the_dead_one_stopped,
        an_instance_that_is_cut_off_keeps_its_plan_and_knows_for_how_long,
        a_plan_holds_from_one_moment_of_the_stream_on_everywhere);
}
