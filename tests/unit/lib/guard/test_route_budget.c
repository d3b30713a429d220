/* Route budget: lists that show the fault earn the lists that a route may affect. */
#include "base/rng.h"
#include "base/serialize.h"
#include "detect/fault_membership.h"
#include "plan/route_controller.h"
#include "fleet/evidence_report.h"
#include "guard/guard_internal.h"
#include "tests/check.h"
#include "tests/must.h"
#include "tests/state_world.h"
#include "tests/stream.h"

#include <math.h>
#include <string.h>

enum { EPISODE = 7, MINUTE = 60000 };

/* One feature, all traffic, a simulated detector. */
struct scene {
    struct ek_manifest *manifest;
    struct ek_rules *rules;
    struct ek_controller *control;
    uint32_t open;                      /* number of the change; 0: none */
    double membership, sum_memberships; /* the newest list; all */
    int64_t now;
    uint64_t query;
    char why[300]; /* of the last decision */
};

static double shows(void *context, int feature, int cell, uint32_t *episode)
{
    const struct scene *s = context;
    *episode = feature || cell ? 0 : s->open;
    return s->membership;
}

static double shown(void *context, int feature, int cell)
{
    (void)feature;
    (void)cell;
    return ((const struct scene *)context)->sum_memberships;
}

static int decided(void *context, const struct ek_decision_record *d)
{
    struct scene *s = context;
    snprintf(s->why, sizeof s->why, "%s", d->reason);
    return EK_OK;
}

static int dimension_of(void *context, int cell)
{
    (void)context;
    (void)cell;
    return -1;
}

/* counts: the controller has lists to count. */
static struct ek_controller *new_control(struct scene *s, bool counts)
{
    struct ek_controller *c;
    const struct ek_controller_setup setup = {
        .manifest = s->manifest,
        .rules = s->rules,
        .means = {.model = true},
        .cells = {.dimension_of = dimension_of, .context = s},
        .callbacks = {.decided = decided,
                      .membership = counts ? shows : NULL,
                      .sum_memberships = counts ? shown : NULL,
                      .context = s}};
    must(ek_controller_new(&c, &setup, NULL));
    return c;
}

static void begin(struct scene *s, const char *rules, bool counts)
{
    *s = (struct scene){.manifest = stream_manifest(), .open = EPISODE, .now = 100 * MINUTE};
    must(ek_rules_parse(&s->rules, s->manifest, "rules", rules, strlen(rules), NULL));
    s->control = new_control(s, counts);
}

static void end(struct scene *s)
{
    ek_controller_free(s->control);
    ek_rules_free(s->rules);
    ek_manifest_free(s->manifest);
}

static bool acts(const struct scene *s)
{
    return ek_controller_plan(s->control)->count > 0;
}

static void settle(struct scene *s)
{
    bool changed;
    must(ek_controller_update(s->control, s->now, s->query, &changed));
}

/* Return the action of the rules. */
static enum ek_action found(struct scene *s, enum ek_finding_state state, int passing)
{
    struct ek_finding f = {.state = state,
                           .episode = s->open ? s->open : EPISODE,
                           .class = EK_SCALE,
                           .factor = 100,
                           .factor_low = 99,
                           .factor_high = 101,
                           .share = .5,
                           .passing = passing,
                           .since_ms = s->now - 10000,
                           .query_feature = -1};
    ek_controller_add_finding(s->control, &f, s->now);
    settle(s);
    return ek_controller_decide(s->control, &f).treatment.action;
}

/* Return the lists until the route ends, at most `most`; each is a second later. */
static int lists(struct scene *s, int most)
{
    struct ek_treatment treatment[2][8];
    const int16_t all = 0;
    const struct ek_plan_list l = {&all, 1, 0, true};
    struct ek_plan_routing r = {.acts = treatment[0], .would = treatment[1]};
    int count = 0;
    while (count < most && acts(s)) {
        s->query++;
        s->now += 1000;
        ek_plan_treat(ek_controller_plan(s->control), &l, s->manifest->routable_of_item,
                      s->manifest->routable_count, &r);
        ek_controller_list(s->control, &r);
        settle(s);
        count++;
    }
    return count;
}

static const char RULES[] =
    "version: 1\ndefaults: {mode: enforce, action_min_fraction: 0.1, min_duration: 10h}\n";

START_TEST(what_the_newest_lists_do_not_show_begins_no_route_and_ends_none)
{
    struct scene s;
    begin(&s, RULES, true);
    s.sum_memberships = 10;
    ck_assert_int_eq(found(&s, EK_CONFIRMED, 1), EK_ACT_ALERT);
    ck_assert(!acts(&s));
    ck_assert_int_eq(found(&s, EK_UPDATED, 0), EK_ACT_ROUTE);
    ck_assert(acts(&s));
    ck_assert_int_eq(found(&s, EK_UPDATED, 1), EK_ACT_ROUTE);
    ck_assert(acts(&s));
    end(&s);
}
END_TEST

START_TEST(a_route_acts_on_as_many_lists_as_its_fault_has_earned)
{
    struct scene s;
    begin(&s, RULES, true);
    s.sum_memberships = 5;
    found(&s, EK_CONFIRMED, 0);
    found(&s, EK_RECOVERED, 0);
    s.open = 0;
    ck_assert_int_eq(lists(&s, 1000), 50);
    ck_assert_ptr_nonnull(strstr(s.why, "its budget is used up"));
    end(&s);
}
END_TEST

/* Run lists of which a fraction has the fault. Return how often the route ended. */
static int walk(struct scene *s, struct ek_rng *rng, double share, int *acted)
{
    const struct ek_plan_routing none = {.desired = 0};
    int ended = 0;
    for (int i = 0; i < 3000; i++) {
        bool before = acts(s);
        s->membership = ek_rng_uniform(rng) < share;
        if (before)
            lists(s, 1);
        else
            ek_controller_list(s->control, &none);
        *acted += before;
        ended += before && !acts(s);
        if (i % 32 == 0)
            found(s, EK_UPDATED, 0);
    }
    return ended;
}

/* The budget is a random walk: this reserve is beyond chance. */
START_TEST(a_fault_in_well_more_than_act_share_of_the_lists_never_spends_all)
{
    struct ek_rng rng;
    int acted = 0;
    ek_rng_seed(&rng, 1);
    for (int run = 0; run < 20; run++) {
        struct scene s;
        begin(&s, RULES, true);
        s.sum_memberships = 13; /* a fifth of 64 lists */
        found(&s, EK_CONFIRMED, 0);
        ck_assert_int_eq(walk(&s, &rng, .2, &acted), 0);
        end(&s);
    }
}
END_TEST

START_TEST(one_in_hardly_more_ends_at_times_and_is_back)
{
    struct ek_rng rng;
    int ended = 0, acted = 0;
    ek_rng_seed(&rng, 1);
    for (int run = 0; run < 20; run++) {
        struct scene s;
        begin(&s, RULES, true);
        s.sum_memberships = 4;
        found(&s, EK_CONFIRMED, 0);
        ended += walk(&s, &rng, .11, &acted);
        end(&s);
    }
    ck_assert_int_gt(ended, 0);
    ck_assert_int_gt(acted, 20 * 3000 * 9 / 10);
}
END_TEST

START_TEST(one_in_fewer_ends_and_is_back_when_it_has_earned_as_much_as_decides)
{
    struct scene s;
    begin(&s, RULES, true);
    s.sum_memberships = 5;
    s.membership = .05;
    found(&s, EK_CONFIRMED, 0);
    ck_assert_int_eq(lists(&s, 1000), 99);
    ck_assert_ptr_nonnull(strstr(s.why, "its budget is used up"));
    ck_assert_int_eq(found(&s, EK_UPDATED, 0), EK_ACT_ALERT);
    s.membership = 1;
    const struct ek_plan_routing none = {.desired = 0};
    for (int i = 0; i < 6; i++)
        ek_controller_list(s.control, &none);
    ck_assert_int_eq(found(&s, EK_UPDATED, 0), EK_ACT_ALERT); /* 60 of confirmation_lists: 64 */
    ek_controller_list(s.control, &none);
    ck_assert_int_eq(found(&s, EK_UPDATED, 0), EK_ACT_ROUTE);
    end(&s);
}
END_TEST

START_TEST(what_is_to_be_ended_by_hand_does_not_end_by_itself)
{
    struct scene s;
    begin(&s, "version: 1\ndefaults: {mode: enforce, action_min_fraction: 0.1, recover: manual}\n",
          true);
    s.sum_memberships = 5;
    found(&s, EK_CONFIRMED, 0);
    found(&s, EK_RECOVERED, 0);
    s.open = 0;
    ck_assert_int_eq(lists(&s, 1000), 1000);
    end(&s);
}
END_TEST

START_TEST(who_counts_no_lists_holds_a_route_for_the_time_that_its_fault_has_earned)
{
    struct scene s;
    begin(&s, RULES, false);
    found(&s, EK_CONFIRMED, 0);
    found(&s, EK_RECOVERED, 0); /* 10 s, half of the lists */
    ck_assert_int_eq(lists(&s, 1000), 50);
    end(&s);
}
END_TEST

static void restart(struct scene *s)
{
    struct ek_buf bytes;
    ek_buf_init(&bytes, 0);
    struct ek_serialize out = {.out = &bytes};
    ek_controller_desired_serialize(s->control, &out, 2, 1);
    ek_controller_serialize(s->control, &out, 2, 1);
    ek_controller_free(s->control);
    s->control = new_control(s, true);
    struct ek_serialize in = {.at = bytes.data, .end = bytes.data + bytes.length};
    ek_controller_desired_serialize(s->control, &in, 2, 1);
    ek_controller_serialize(s->control, &in, 2, 1);
    must(in.rc);
    ck_assert_ptr_eq(in.at, in.end);
    ek_controller_restored(s->control, s->now);
    ek_buf_release(&bytes);
}

START_TEST(an_account_goes_with_the_state)
{
    struct scene s;
    begin(&s, RULES, true);
    s.sum_memberships = 5;
    found(&s, EK_CONFIRMED, 0);
    ck_assert_int_eq(lists(&s, 20), 20);
    restart(&s);
    ck_assert_int_eq(lists(&s, 1000), 30);
    end(&s);
}
END_TEST

static void give_rules(struct scene *s, const char *rules)
{
    struct ek_rules *had = s->rules;
    must(ek_rules_parse(&s->rules, s->manifest, "rules", rules, strlen(rules), NULL));
    restart(s);
    ek_rules_free(had);
}

static const char MANUAL[] = "version: 1\ndefaults: {mode: enforce, action_min_fraction: 0.1, "
                             "min_duration: 10h, recover: manual}\n";

START_TEST(an_account_is_kept_under_manual_for_rules_that_let_routes_end)
{
    struct scene s;
    begin(&s, MANUAL, true);
    s.sum_memberships = 5;
    s.membership = .2;
    found(&s, EK_CONFIRMED, 0);
    found(&s, EK_UPDATED, 0);
    ck_assert_int_eq(lists(&s, 100), 100);
    give_rules(&s, RULES);
    ck_assert_int_eq(lists(&s, 1000), 1000);
    give_rules(&s, MANUAL);
    s.membership = 0;
    ck_assert_int_eq(lists(&s, 2000), 2000);
    give_rules(&s, RULES);
    ck_assert_int_eq(lists(&s, 1000), 1); /* it was used up long ago */
    end(&s);
}
END_TEST

START_TEST(what_a_route_owes_from_manual_does_not_stop_that_of_a_later_fault)
{
    struct scene s;
    begin(&s, MANUAL, true);
    s.sum_memberships = 5;
    found(&s, EK_CONFIRMED, 0);
    ck_assert_int_eq(lists(&s, 2000), 2000);
    give_rules(&s, RULES);
    ck_assert_int_eq(lists(&s, 1000), 1);
    ck_assert_int_eq(found(&s, EK_UPDATED, 0), EK_ACT_ALERT); /* the same fault */
    found(&s, EK_RECOVERED, 0);
    s.open = EPISODE + 1;
    ck_assert_int_eq(found(&s, EK_CONFIRMED, 0), EK_ACT_ROUTE);
    ck_assert_int_eq(lists(&s, 1000), 50);
    end(&s);
}
END_TEST

/* Run lists until an arm is routed. Return the number of faulty ones. */
static int route(struct shop *shop, const struct ek_assets *a, struct ek_guard *g, bool arm_b)
{
    struct ek_buf message;
    int faulty = 0;
    ek_buf_init(&message, 0);
    for (int i = 0; i < 1000 && !ek_controller_plan(g->control)->count; i++) {
        struct ek_list *q = shop_next(shop);
        bool fault = shop->arm_b == arm_b && i >= 300;
        for (int k = 0; fault && k < q->items; k++)
            q->x[2 * k] *= 100;
        faulty += fault;
        ek_buf_clear(&message);
        must(ek_codec_encode(a->manifest, q, EK_FEATURES_ARRAY, &message, NULL));
        must(ek_guard_observe(g, message.data, message.length, q->time_ms, NULL));
    }
    ck_assert_int_eq(ek_controller_plan(g->control)->count, 1);
    ek_buf_release(&message);
    return faulty;
}

static const char ARMS[] = "version: 1\ndefaults: {mode: enforce}\nsegments: [arm]\n";

START_TEST(the_list_that_begins_a_route_earns_once)
{
    struct ek_assets a;
    struct ek_guard *g;
    struct shop shop;
    state_assets_open(&a, ARMS, 1000);
    shop_open(&shop, 3, STATE_MARKETS);
    must(ek_guard_new(&g, &a, NULL));
    int faulty = route(&shop, &a, g, true);
    const struct ek_rollout *r = ek_controller_memory(g->control).rollouts->one;
    ck_assert_double_eq_tol(r->credit, 20 * faulty - 1, 10); /* and uses one */
    ek_guard_free(g);
    shop_close(&shop);
    ek_assets_release(&a);
}
END_TEST

/* Both number their changes from 1. */
START_TEST(a_route_earns_on_when_joining_guards_gives_its_change_another_number)
{
    struct ek_assets a;
    struct ek_guard *g[2];
    struct shop shop;
    double credit = 0;
    state_assets_open(&a, ARMS, 1000);
    shop_open(&shop, 3, STATE_MARKETS);
    for (int i = 0; i < 2; i++) {
        must(ek_guard_new(&g[i], &a, NULL));
        route(&shop, &a, g[i], i);
        credit += ek_controller_memory(g[i]->control).rollouts->one[0].credit;
    }
    must(ek_guard_merge(g[0], g[1], NULL));
    const struct ek_rollouts *r = ek_controller_memory(g[0]->control).rollouts;
    ck_assert_int_eq(r->count, 2);
    ck_assert_int_ne(r->one[0].context.episode, r->one[1].context.episode);
    for (int i = 0; i < 2; i++)
        ck_assert_uint_eq(r->one[i].context.episode,
                          ek_detector_finding_number(g[0]->detector, 0, r->one[i].cell));
    ck_assert_double_eq_tol(r->one[0].credit + r->one[1].credit, credit, 1e-6);
    for (int i = 0; i < 2; i++)
        ek_guard_free(g[i]);
    shop_close(&shop);
    ek_assets_release(&a);
}
END_TEST

START_TEST(an_instance_tells_others_that_a_fault_may_be_over)
{
    struct ek_manifest *m = stream_manifest();
    for (int flags = 0; flags < 4; flags++) {
        struct ek_finding told = {.class = EK_MISSING,
                                  .fewer = flags & 1,
                                  .passing = flags >> 1,
                                  .factor = (double)NAN,
                                  .factor_low = (double)NAN,
                                  .factor_high = (double)NAN,
                                  .share = 1,
                                  .spread_ratio = 1,
                                  .value_share = 1,
                                  .trained_share = .25,
                                  .query_feature = -1};
        struct ek_finding heard;
        struct ek_buf bytes;
        struct ek_serialize out;
        struct ek_serialize in;
        ek_buf_init(&bytes, 0);
        ek_record_writer_start(&out, &bytes, EK_FLEET_PLAN);
        ek_fleet_finding_walk(&out, m, &told);
        must(ek_record_writer_finish(&out));
        must(ek_record_reader_open(&in, bytes.data, bytes.length, EK_FLEET_PLAN, NULL));
        ek_fleet_finding_walk(&in, m, &heard);
        must(ek_record_reader_is_done(&in, "finding", NULL));
        ck_assert(heard.fewer == told.fewer && heard.passing == told.passing);
        ek_buf_release(&bytes);
    }
    ek_manifest_free(m);
}
END_TEST

Suite *suite_route_budget(void)
{
    return ek_suite("earned", what_the_newest_lists_do_not_show_begins_no_route_and_ends_none,
                    a_route_acts_on_as_many_lists_as_its_fault_has_earned,
                    a_fault_in_well_more_than_act_share_of_the_lists_never_spends_all,
                    one_in_hardly_more_ends_at_times_and_is_back,
                    one_in_fewer_ends_and_is_back_when_it_has_earned_as_much_as_decides,
                    what_is_to_be_ended_by_hand_does_not_end_by_itself,
                    who_counts_no_lists_holds_a_route_for_the_time_that_its_fault_has_earned,
                    an_account_goes_with_the_state,
                    an_account_is_kept_under_manual_for_rules_that_let_routes_end,
                    what_a_route_owes_from_manual_does_not_stop_that_of_a_later_fault,
                    the_list_that_begins_a_route_earns_once,
                    a_route_earns_on_when_joining_guards_gives_its_change_another_number,
                    an_instance_tells_others_that_a_fault_may_be_over);
}
