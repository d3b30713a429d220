/* A guard continues with new rules, profile or model. */
#include "guard/guard_assets.h"

#include "guard/guard_fleet.h"
#include "guard/guard_internal.h"
#include "tests/check.h"
#include "tests/state_world.h"

#include <jansson.h>
#include <math.h>

enum { TRAINING = 3000, HEALTHY = 200, FAULTY = 300 };

static const char HEAD[] = "version: 1\n"
                           "segments: [arm]\n"
                           "defaults: {confirmation_lists: 32, min_duration: 60s, mode: ";
static const char OBSERVE[] = "observe}\n", ENFORCE[] = "enforce}\n";
static const char ALERT[] = "enforce, actions: {scale: alert}}\n";
static const char UNWATCHED[] = "enforce}\nfeatures: {price: {watch: false}}\n";

struct bench {
    struct ek_assets assets, other;
    struct ek_guard *guard;
    struct shop shop;
    struct ek_buf message;
    json_t *finding, *plan; /* the last of each */
    int findings, plans;
    bool cents;
};

static void open_assets(struct ek_assets *a, const char *mode, int training)
{
    char rules[400];
    snprintf(rules, sizeof rules, "%s%s", HEAD, mode);
    state_assets_open(a, rules, training);
}

static void setup(struct bench *b, const char *mode, const char *other)
{
    memset(b, 0, sizeof *b);
    open_assets(&b->assets, mode, TRAINING);
    open_assets(&b->other, other, TRAINING);
    must(ek_guard_new(&b->guard, &b->assets, NULL));
    shop_open(&b->shop, 5, STATE_MARKETS);
    ek_buf_init(&b->message, 0);
}

static void teardown(struct bench *b)
{
    json_decref(b->finding);
    json_decref(b->plan);
    ek_guard_free(b->guard);
    shop_close(&b->shop);
    ek_buf_release(&b->message);
    ek_assets_release(&b->assets);
    ek_assets_release(&b->other);
}

static const char *says(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

static void keep(json_t **held, json_t *event)
{
    json_decref(*held);
    *held = json_incref(event);
}

static void read_events(struct bench *b)
{
    const char *text;
    b->findings = b->plans = 0;
    while (ek_guard_next_event(b->guard, &text)) {
        json_t *event = json_loads(text, 0, NULL);
        ck_assert_ptr_nonnull(event);
        bool finding = !strcmp(says(event, "event"), "finding");
        bool plan = !strcmp(says(event, "event"), "plan");
        if (finding)
            keep(&b->finding, event);
        if (plan)
            keep(&b->plan, event);
        b->findings += finding;
        b->plans += plan;
        json_decref(event);
    }
}

static void cents(struct shop *s, struct ek_list *q)
{
    (void)s;
    for (int i = 0; i < q->items; i++)
        q->x[2 * i] *= 100;
}

static void next_message(struct bench *b)
{
    state_message(&b->shop, &b->assets, &b->message, b->cents ? cents : NULL);
}

/* Return whether the last of them was routed. */
static bool run(struct bench *b, int lists)
{
    size_t length;
    for (int i = 0; i < lists; i++) {
        next_message(b);
        must(ek_guard_observe(b->guard, b->message.data, b->message.length, 0, NULL));
        ck_assert_ptr_nonnull(ek_guard_score(b->guard, &length, NULL));
    }
    read_events(b);
    return !strcmp(ek_guard_action(b->guard), "routed");
}

static void find_cents(struct bench *b)
{
    run(b, HEALTHY);
    b->cents = true;
    run(b, FAULTY);
    ck_assert_str_eq(says(b->finding, "feature"), "price");
}

static enum ek_restore_result turn(struct bench *b)
{
    enum ek_restore_result fit;
    struct ek_error e = {0};
    int rc = ek_guard_set_assets(b->guard, &b->other, &fit, &e);
    ck_assert_msg(!rc, "%s", e.message);
    ck_assert_ptr_eq(ek_guard_assets(b->guard), &b->other);
    read_events(b);
    return fit;
}

/* Save the state and load it with the other assets, as a restart with other rules. */
static enum ek_restore_result restart(struct bench *b)
{
    struct state_store *store = calloc(1, sizeof *store);
    enum ek_restore_result fit;
    must(ek_guard_save(b->guard, 1, NULL, 0, state_put, store, NULL));
    ek_guard_free(b->guard);
    b->guard = NULL;
    struct ek_state *state = state_of(store, 1);
    must(ek_guard_load(&b->guard, &b->other, state, &fit, NULL));
    ek_state_free(state);
    state_clear(store);
    free(store);
    read_events(b);
    return fit;
}

static size_t routes(const struct bench *b)
{
    return json_array_size(json_object_get(b->plan, "entries"));
}

START_TEST(what_was_found_while_observing_is_routed_as_soon_as_the_rules_say_so)
{
    struct bench b;
    setup(&b, OBSERVE, ENFORCE);
    find_cents(&b);
    ck_assert_ptr_null(b.plan);
    ck_assert_int_eq(turn(&b), EK_RESTORE_FULL);
    ck_assert_int_eq(b.findings, 1);
    ck_assert_str_eq(says(b.finding, "state"), "updated");
    ck_assert_str_eq(says(b.finding, "mode"), "enforce");
    ck_assert_int_eq(b.plans, 1);
    ck_assert_uint_eq(routes(&b), 1);
    ck_assert(run(&b, 1));
    teardown(&b);
}
END_TEST

START_TEST(a_route_that_the_rules_take_away_ends_at_once)
{
    struct bench b;
    setup(&b, ENFORCE, OBSERVE);
    find_cents(&b);
    ck_assert_uint_eq(routes(&b), 1);
    ck_assert_int_eq(turn(&b), EK_RESTORE_FULL);
    ck_assert_str_eq(says(b.finding, "mode"), "observe");
    ck_assert_int_eq(b.plans, 1);
    ck_assert_uint_eq(routes(&b), 0);
    ck_assert(!run(&b, 1));
    teardown(&b);
}
END_TEST

START_TEST(a_restart_with_rules_that_only_alert_ends_the_route_at_once)
{
    struct bench b;
    setup(&b, ENFORCE, ALERT);
    find_cents(&b);
    ck_assert_uint_eq(routes(&b), 1);
    ck_assert_int_eq(restart(&b), EK_RESTORE_FULL);
    ck_assert_int_eq(b.findings, 1);
    ck_assert_str_eq(says(b.finding, "state"), "updated");
    ck_assert_str_eq(says(b.finding, "mitigation"), "alert");
    ck_assert_int_eq(b.plans, 1);
    ck_assert_uint_eq(routes(&b), 0);
    ck_assert(!run(&b, 1));
    teardown(&b);
}
END_TEST

START_TEST(a_restart_with_rules_that_route_routes_what_was_found_before)
{
    struct bench b;
    setup(&b, ALERT, ENFORCE);
    find_cents(&b);
    ck_assert_ptr_null(b.plan);
    ck_assert_int_eq(restart(&b), EK_RESTORE_FULL);
    ck_assert_int_eq(b.findings, 1);
    ck_assert_str_eq(says(b.finding, "mitigation"), "route");
    ck_assert_int_eq(b.plans, 1);
    ck_assert_uint_eq(routes(&b), 1);
    ck_assert(run(&b, 1));
    teardown(&b);
}
END_TEST

START_TEST(a_restart_with_the_same_rules_changes_nothing)
{
    struct bench b;
    setup(&b, ENFORCE, ENFORCE);
    find_cents(&b);
    uint64_t version = ek_guard_plan_version(b.guard);
    ck_assert_int_eq(restart(&b), EK_RESTORE_FULL);
    ck_assert_int_eq(b.findings + b.plans, 0);
    ck_assert_uint_eq(ek_guard_plan_version(b.guard), version);
    ck_assert(run(&b, 1));
    ck_assert_int_eq(b.findings + b.plans, 0);
    teardown(&b);
}
END_TEST

/* In a fleet the leader decides, and a plan record replaces the restored plan. */
START_TEST(a_restarted_instance_of_a_fleet_keeps_the_plan_of_the_leader)
{
    struct bench b;
    setup(&b, ENFORCE, ALERT);
    find_cents(&b);
    must(ek_guard_join(b.guard, "a", 1, STATE_CELLS, NULL));
    ck_assert_int_eq(restart(&b), EK_RESTORE_FULL);
    ck_assert_int_eq(b.findings + b.plans, 0);
    ck_assert_int_eq(ek_controller_plan(b.guard->control)->count, 1);
    teardown(&b);
}
END_TEST

START_TEST(without_a_model_nothing_is_routed_any_more)
{
    struct bench b;
    setup(&b, ENFORCE, ENFORCE);
    ek_model_free(b.other.model);
    b.other.model = NULL;
    find_cents(&b);
    ck_assert_int_eq(turn(&b), EK_RESTORE_FULL);
    ck_assert_uint_eq(routes(&b), 0);
    ck_assert(!run(&b, 1));
    teardown(&b);
}
END_TEST

START_TEST(changes_of_a_feature_that_is_not_watched_any_more_end)
{
    struct bench b;
    setup(&b, ENFORCE, UNWATCHED);
    find_cents(&b);
    ck_assert_int_eq(turn(&b), EK_RESTORE_FULL);
    ck_assert_int_eq(b.findings, 1);
    ck_assert_str_eq(says(b.finding, "state"), "dismissed");
    ck_assert_str_eq(says(b.finding, "reason"), "not watched any more");
    ck_assert_uint_eq(routes(&b), 0);
    ck_assert(!run(&b, FAULTY));
    ck_assert_int_eq(b.findings, 0);
    teardown(&b);
}
END_TEST

START_TEST(with_another_profile_it_begins_anew_and_says_that_nothing_is_routed)
{
    struct bench b;
    setup(&b, ENFORCE, ENFORCE);
    ek_assets_release(&b.other);
    open_assets(&b.other, ENFORCE, TRAINING / 2);
    find_cents(&b);
    uint64_t queries = ek_guard_list_count(b.guard), version = ek_guard_plan_version(b.guard);
    ck_assert_int_eq(turn(&b), EK_RESTORE_COUNTERS_ONLY);
    ck_assert_int_eq(b.plans, 1);
    ck_assert_uint_eq(routes(&b), 0);
    ck_assert_uint_gt(ek_guard_plan_version(b.guard), version);
    ck_assert_uint_eq(ek_guard_list_count(b.guard), queries);
    ck_assert(!run(&b, 1));
    teardown(&b);
}
END_TEST

START_TEST(assets_of_another_manifest_are_refused_and_nothing_changes)
{
    struct bench b;
    struct ek_error e = {0};
    enum ek_restore_result fit;
    setup(&b, ENFORCE, OBSERVE);
    find_cents(&b);
    b.other.manifest->hash++;
    ck_assert_int_eq(ek_guard_set_assets(b.guard, &b.other, &fit, &e), EK_ESTATE);
    ck_assert_int_eq(fit, EK_RESTORE_OTHER_MANIFEST);
    ck_assert_ptr_nonnull(strstr(e.message, "the manifest is another one"));
    read_events(&b);
    ck_assert_int_eq(b.findings + b.plans, 0);
    ck_assert(run(&b, 1));
    teardown(&b);
}
END_TEST

START_TEST(messages_read_before_are_read_again_and_those_taken_are_scored)
{
    struct bench b;
    struct ek_context *taken, *read, *again;
    struct ek_error e = {0};
    size_t length;
    setup(&b, ENFORCE, OBSERVE);
    find_cents(&b);
    must(ek_context_new(&taken, &b.assets, NULL));
    must(ek_context_new(&read, &b.assets, NULL));
    must(ek_context_new(&again, &b.other, NULL));
    next_message(&b);
    must(ek_context_decode(taken, b.message.data, b.message.length, NULL));
    must(ek_guard_update(b.guard, taken, 0, NULL));
    must(ek_context_decode(read, b.message.data, b.message.length, NULL));
    uint64_t queries = ek_guard_list_count(b.guard);
    turn(&b);
    ck_assert_int_eq(ek_guard_update(b.guard, read, 0, &e), EK_ESTATE);
    ck_assert_ptr_nonnull(strstr(e.message, "read it again"));
    ck_assert_int_eq(ek_guard_peek(b.guard, read, &e), EK_ESTATE);
    ck_assert_uint_eq(ek_guard_list_count(b.guard), queries);
    ck_assert_ptr_nonnull(ek_context_score(taken, &length, NULL));
    ck_assert_str_eq(ek_context_action(taken), "routed");
    ck_assert_ptr_null(ek_guard_score(b.guard, &length, NULL));
    must(ek_context_decode(again, b.message.data, b.message.length, NULL));
    must(ek_guard_update(b.guard, again, 0, NULL));
    ck_assert_uint_eq(ek_guard_list_count(b.guard), queries + 1);
    ek_context_free(taken);
    ek_context_free(read);
    ek_context_free(again);
    teardown(&b);
}
END_TEST

START_TEST(the_next_base_is_whole_and_has_the_next_number)
{
    struct bench b;
    size_t first = 0, second = 0, third = 0;
    setup(&b, OBSERVE, OBSERVE);
    run(&b, HEALTHY);
    must(ek_guard_save(b.guard, 0, NULL, 0, state_count, &first, NULL));
    turn(&b);
    ck_assert_uint_eq(b.guard->saved.base, 1);
    must(ek_guard_save(b.guard, 0, NULL, 0, state_count, &second, NULL));
    ck_assert_uint_eq(b.guard->saved.base, 2);
    must(ek_guard_save(b.guard, 0, NULL, 0, state_count, &third, NULL));
    ck_assert_uint_ge(second, first);
    ck_assert_uint_lt(third, second);
    teardown(&b);
}
END_TEST

START_TEST(model_and_profile_of_other_data_are_told)
{
    struct bench b;
    struct ek_error e = {0};
    setup(&b, ENFORCE, ENFORCE);
    struct ek_model *m = b.assets.model;
    float level = b.assets.profile->baseline[0].log_mean;
    m->log_mean[0] = level + .2f;
    ck_assert_int_eq(ek_assets_belong(&b.assets, &e), EK_OK);
    m->log_mean[0] = level - logf(100);
    ck_assert_int_eq(ek_assets_belong(&b.assets, &e), EK_ESTATE);
    ck_assert_ptr_nonnull(strstr(e.message, "price: the model was trained at a mean of "));
    ck_assert_ptr_nonnull(strstr(e.message, "(x100): make both from the same data"));
    m->log_sd[0] = 1e30f; /* constant in training */
    ck_assert_int_eq(ek_assets_belong(&b.assets, &e), EK_OK);
    b.assets.model = NULL;
    ck_assert_int_eq(ek_assets_belong(&b.assets, &e), EK_OK);
    b.assets.model = m;
    teardown(&b);
}
END_TEST

Suite *suite_guard_assets(void)
{
    return ek_suite(
        "assets of a guard", what_was_found_while_observing_is_routed_as_soon_as_the_rules_say_so,
        a_route_that_the_rules_take_away_ends_at_once,
        a_restart_with_rules_that_only_alert_ends_the_route_at_once,
        a_restart_with_rules_that_route_routes_what_was_found_before,
        a_restart_with_the_same_rules_changes_nothing,
        a_restarted_instance_of_a_fleet_keeps_the_plan_of_the_leader,
        without_a_model_nothing_is_routed_any_more,
        changes_of_a_feature_that_is_not_watched_any_more_end,
        with_another_profile_it_begins_anew_and_says_that_nothing_is_routed,
        assets_of_another_manifest_are_refused_and_nothing_changes,
        messages_read_before_are_read_again_and_those_taken_are_scored,
        the_next_base_is_whole_and_has_the_next_number, model_and_profile_of_other_data_are_told);
}
