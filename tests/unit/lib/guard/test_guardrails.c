/* Canary steps and rollbacks by guardrails in a complete guard. */
#include "guard/event_json.h"
#include "lists/codec.h"
#include "detect/dedup.h"
#include "serve/assets.h"
#include "guard/guard_internal.h"
#include "guard/guard_trials.h"
#include "guard/replay_open.h"
#include "tests/check.h"
#include "tests/stream_assets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEFORE = 200, FACTOR = 100, PRICE = 0, ROUTED_WITHIN = 2000 };

struct scene {
    struct ek_assets assets;
    struct stream stream;
    struct ek_guard *guard;
    struct ek_buf message, events;
    bool tries; /* compares each due list */
};

#define RULES                                                                                      \
    "version: 1\n"                                                                                 \
    "defaults:\n"                                                                                  \
    "  mode: %s\n"                                                                                 \
    "  confirmation_lists: 64\n"                                                                   \
    "  min_duration: 1h\n"                                                                         \
    "  canary: {initial_percent: 20, step_percent: 40, step_interval: 1m, max_percent: 90, "       \
    "min_lists: %d, abort_if: {%s}}\n"

static void begin(struct scene *s, const char *mode, int min_lists, const char *abort_if)
{
    struct ek_assets *a = &s->assets;
    char rules[600];
    memset(s, 0, sizeof *s);
    snprintf(rules, sizeof rules, RULES, mode, min_lists, abort_if);
    stream_assets_open(a, rules, NULL);
    ck_assert_int_eq(ek_guard_new(&s->guard, a, NULL), EK_OK);
    stream_start(&s->stream, 21);
    ek_buf_init(&s->message, 0);
    ek_buf_init(&s->events, 0);
    s->tries = true;
}

static void end(struct scene *s)
{
    ek_guard_free(s->guard);
    ek_buf_release(&s->message);
    ek_buf_release(&s->events);
    stream_end(&s->stream);
    ek_assets_release(&s->assets);
}

/* Encode one list per second of event time, with prices in cents from BEFORE on. */
static void make(struct scene *s, int more_items)
{
    struct ek_list *q = stream_next(&s->stream);
    if (s->stream.number > BEFORE)
        stream_scale(q, PRICE, FACTOR);
    if (more_items)
        q->list_items = q->items + more_items;
    ek_buf_clear(&s->message);
    ck_assert_int_eq(ek_codec_encode(s->assets.manifest, q, EK_FEATURES_ARRAY, &s->message, NULL),
                     EK_OK);
}

/* Take that message. Return whether it could be scored. */
static bool take(struct scene *s)
{
    const char *text;
    struct ek_comparison t;
    size_t length;
    bool valid;
    ck_assert_int_eq(ek_guard_observe(s->guard, s->message.data, s->message.length, 1, NULL), 0);
    bool scored = ek_guard_score(s->guard, &length, NULL) != NULL;
    if (s->tries)
        ck_assert_int_eq(ek_guard_compare(s->guard, &t, &valid, NULL), EK_OK);
    while (ek_guard_next_event(s->guard, &text))
        ck_assert_int_eq(ek_buf_printf(&s->events, "%s\n", text), EK_OK);
    return scored;
}

/* Send one list. Return its outcome. */
static const char *pass(struct scene *s)
{
    make(s, 0);
    ck_assert(take(s));
    return ek_guard_action(s->guard);
}

static const struct ek_rollout *rollout(struct scene *s)
{
    return ek_controller_rollout(s->guard->control, PRICE, 0);
}

static const struct ek_plan *plan(struct scene *s)
{
    return ek_controller_plan(s->guard->control);
}

/* Run until the price is routed. */
static void find_fault(struct scene *s)
{
    for (int i = 0; i < ROUTED_WITHIN && !plan(s)->count; i++)
        pass(s);
    ck_assert(plan(s)->count == 1 && rollout(s) && rollout(s)->rolled_back == EK_GUARDRAIL_NONE);
}

START_TEST(a_canary_grows_with_the_lists_that_are_tried)
{
    struct scene s;
    int steps = 0, percent = 2000;
    begin(&s, "canary", 20, "error_rate: 0.01");
    find_fault(&s);
    ck_assert_int_eq(rollout(&s)->percent, 2000);
    for (int i = 0; i < 2000 && percent < 9000; i++) {
        const char *became = pass(&s);
        int bucket = ek_canary_bucket(&s.stream.query);
        int now = plan(&s)->entry[0].percent;
        ck_assert_str_eq(became, bucket < now ? "canary" : "pass");
        ck_assert_int_eq(now, rollout(&s)->percent);
        if (now == percent)
            continue;
        steps++;
        percent = now;
        ck_assert_int_eq(percent, steps == 1 ? 6000 : 9000);
    }
    ck_assert_int_eq(steps, 2);
    for (int i = 0; i < 300; i++)
        pass(&s);
    ck_assert_int_eq(rollout(&s)->percent, 9000);
    end(&s);
}
END_TEST

START_TEST(a_canary_whose_lists_are_not_tried_stays_where_it_is)
{
    struct scene s;
    begin(&s, "canary", 20, "error_rate: 0.01");
    find_fault(&s);
    s.tries = false;
    for (int i = 0; i < 600; i++)
        pass(&s);
    ck_assert_int_eq(rollout(&s)->percent, 2000);
    end(&s);
}
END_TEST

/* Routes are evaluated with lists: enough for one evaluation. */
static bool is_rolled_back(struct scene *s)
{
    for (int i = 0; i < 80 && rollout(s)->rolled_back == EK_GUARDRAIL_NONE; i++)
        pass(s);
    return rollout(s)->rolled_back != EK_GUARDRAIL_NONE;
}

static void assert_rolled_back(struct scene *s, enum ek_guardrail by)
{
    ck_assert(is_rolled_back(s));
    ck_assert_int_eq(rollout(s)->rolled_back, by);
    ck_assert_str_eq(pass(s), "pass");
    for (int i = 0; i < plan(s)->count; i++)
        ck_assert(plan(s)->entry[i].feature != PRICE);
    ck_assert_msg(rollout(s)->observed > rollout(s)->limit || by == EK_GUARDRAIL_WORSE, "%g %g",
                  rollout(s)->observed, rollout(s)->limit);
    for (int i = 0; i < 300; i++) /* and it stays so */
        ck_assert_str_eq(pass(s), "pass");
}

/* Report `lists` more lists of the current plan, `failed` of which could not be scored, with that
 * latency each. */
static void tell_acts(struct scene *s, uint32_t lists, uint32_t failed, uint64_t ns)
{
    struct ek_route_stats a = {.plan = plan(s)->version, .lists = lists, .entries = 1};
    a.acted[0] = lists;
    a.failed[0] = failed;
    a.latency[ek_latency_window_bin(ns)] = lists;
    ck_assert_int_eq(ek_guard_add_route_stats(s->guard, &a, NULL), EK_OK);
}

/* Return the largest number of failures that does not trip the guardrail. */
static uint32_t just_not(uint32_t lists)
{
    struct ek_canary c = {.min_lists = 1, .abort_if = {.error_rate = .01}};
    struct ek_rollout_stats f = {.acted = lists,
                                 .dead_rate_elsewhere = (double)NAN,
                                 .rank_change_p95 = (double)NAN,
                                 .latency_p99_ms = (double)NAN,
                                 .latency_before_ms = (double)NAN};
    double observed, limit;
    while (!ek_rollout_check_guardrails(&c, &f, &observed, &limit))
        f.failed++;
    return (uint32_t)f.failed - 1;
}

enum { FED = 100000 }; /* lists: a hundred of the stream change little */

START_TEST(lists_that_cannot_be_scored_take_a_route_back)
{
    uint32_t most = just_not(FED);
    for (uint32_t more = 0; more < 2; more++) {
        struct scene s;
        begin(&s, "enforce", 20, "error_rate: 0.01");
        find_fault(&s);
        s.tries = false;
        tell_acts(&s, FED, most + more, 1);
        if (more)
            assert_rolled_back(&s, EK_GUARDRAIL_ERRORS);
        else
            ck_assert(!is_rolled_back(&s));
        end(&s);
    }
}
END_TEST

/* Replaces the key, so that its values are ignored: in each position, or the last. */
static void misspell(struct ek_buf *message, const char *word, bool each)
{
    size_t length = strlen(word), found = 0;
    for (size_t i = message->length - length; i-- > 0 && (each || !found);)
        if (!memcmp(message->data + i, word, length)) {
            message->data[i] = '?';
            found++;
        }
    ck_assert_uint_gt(found, 0);
}

enum { FORGED = 400 };

/* Lists without the required inputs depend on their producer: they are excluded from a route's
 * statistics. */
START_TEST(lists_that_lack_what_scoring_needs_say_nothing_of_a_route)
{
    enum { NO_SCORES, ONE_SCORE, PART, SHAPES };
    for (int shape = 0; shape < SHAPES; shape++) {
        struct scene s;
        begin(&s, "enforce", 20, "error_rate: 0.01");
        find_fault(&s);
        for (int i = 0; i < 50; i++)
            pass(&s);
        uint64_t acted = ek_comparisons_stats(s.guard->comparisons, &plan(&s)->entry[0]).acted;
        for (int i = 0; i < FORGED; i++) {
            make(&s, shape == PART);
            if (shape != PART)
                misspell(&s.message, "score", shape == NO_SCORES);
            ck_assert(!take(&s));
            ck_assert_str_eq(ek_guard_action(s.guard), "pass");
        }
        ck_assert(acted >= 50 && !is_rolled_back(&s));
        ck_assert_str_eq(pass(&s), "routed");
        struct ek_rollout_stats f = ek_comparisons_stats(s.guard->comparisons, &plan(&s)->entry[0]);
        ck_assert(f.acted == acted + 81 && !f.failed);
        end(&s);
    }
}
END_TEST

/* Model weights near the float maximum: scores are infinite or NaN. */
START_TEST(what_the_model_cannot_score_takes_a_route_back)
{
    struct scene s;
    int failed = 0;
    begin(&s, "enforce", 20, "error_rate: 0.01");
    for (int i = 0; i < 8; i++)
        s.assets.model->weight[1][i] = i % 2 ? 3e38f : -3e38f;
    ek_guard_free(s.guard);
    ck_assert_int_eq(ek_guard_new(&s.guard, &s.assets, NULL), EK_OK);
    for (int i = 0; i < ROUTED_WITHIN && !strstr(ek_buf_string(&s.events), "error_rate is"); i++) {
        make(&s, 0);
        failed += !take(&s);
    }
    ck_assert_int_gt(failed, 0);
    ck_assert_int_eq(rollout(&s)->rolled_back, EK_GUARDRAIL_ERRORS);
    end(&s);
}
END_TEST

/* Delivery results; half of the forwarded and of the routed lists are dead-lettered. */
START_TEST(dead_letters_take_a_route_back_unless_others_are_as_many)
{
    uint32_t most = just_not(FED);
    static const enum { BELOW, ABOVE, AS_ELSEWHERE } cases[] = {BELOW, ABOVE, AS_ELSEWHERE};
    for (int i = 0; i < 3; i++) {
        struct scene s;
        struct ek_output_counts load = {{FED, 0}, {0, 0}};
        begin(&s, "enforce", 20, "dead_letter_rate: 0.01");
        find_fault(&s);
        s.tries = false;
        tell_acts(&s, FED, 0, 1);
        load.dead[1] = most + (cases[i] != BELOW);
        load.lists[1] = FED - load.dead[1];
        load.dead[0] = cases[i] == AS_ELSEWHERE ? 100 : 0;
        ek_guard_add_output_counts(s.guard, &load);
        if (cases[i] == ABOVE)
            assert_rolled_back(&s, EK_GUARDRAIL_DEAD);
        else
            ck_assert(!is_rolled_back(&s));
        end(&s);
    }
}
END_TEST

START_TEST(lists_that_take_long_in_two_windows_take_a_route_back)
{
    enum { MS = 1000000 };
    static const struct {
        uint64_t first_ns, second_ns;
        bool hit;
    } cases[] = {{60 * MS, 60 * MS, true}, {60 * MS, 40 * MS, false}, {49 * MS, 49 * MS, false}};
    for (int i = 0; i < 3; i++) {
        struct scene s;
        begin(&s, "enforce", 20, "latency_p99: 50ms");
        find_fault(&s);
        s.tries = false;
        tell_acts(&s, EK_LATENCY_WINDOW_SIZE, 0, cases[i].first_ns);
        ck_assert(!is_rolled_back(&s));
        tell_acts(&s, EK_LATENCY_WINDOW_SIZE, 0, cases[i].second_ns);
        if (cases[i].hit)
            assert_rolled_back(&s, EK_GUARDRAIL_LATENCY);
        else
            ck_assert(!is_rolled_back(&s));
        end(&s);
    }
}
END_TEST

/* A random model displaces ranks by about two thirds of the maximum: 1 is never reached. */
START_TEST(ranks_that_move_too_far_take_a_route_back)
{
    struct scene s;
    begin(&s, "enforce", 50, "rank_change_p95: 0.2");
    find_fault(&s);
    assert_rolled_back(&s, EK_GUARDRAIL_RANKS);
    ck_assert(rollout(&s)->observed > .5 && rollout(&s)->limit == .2);
    end(&s);
    begin(&s, "enforce", 50, "rank_change_p95: 1");
    find_fault(&s);
    for (int i = 0; i < 300; i++)
        ck_assert_str_eq(pass(&s), "routed");
    end(&s);
}
END_TEST

START_TEST(in_shadow_a_rail_that_is_hit_is_told_and_changes_nothing)
{
    struct scene s;
    struct ek_impact_view v;
    int at = 0;
    begin(&s, "shadow", 50, "rank_change_p95: 0.2");
    find_fault(&s);
    uint64_t version = plan(&s)->version;
    for (int i = 0; i < 300; i++)
        ck_assert_str_eq(pass(&s), "shadow");
    ck_assert(rollout(&s)->rolled_back == EK_GUARDRAIL_NONE && plan(&s)->version == version);
    ck_assert(ek_guard_impact(s.guard, &at, &v));
    ck_assert(v.guardrail == EK_GUARDRAIL_RANKS && !v.rolled_back && v.observed > v.limit &&
              v.limit == .2);
    ck_assert(v.sums->compared > 200 && !v.sums->acted.lists && !v.sums->acts);
    end(&s);
}
END_TEST

START_TEST(a_route_that_was_taken_back_is_shown_with_the_reason)
{
    struct scene s;
    struct ek_impact_view v;
    int at = 0;
    begin(&s, "enforce", 50, "rank_change_p95: 0.2");
    find_fault(&s);
    assert_rolled_back(&s, EK_GUARDRAIL_RANKS);
    ck_assert(ek_guard_impact(s.guard, &at, &v));
    ck_assert_str_eq(v.feature, "price");
    ck_assert(v.rolled_back && v.guardrail == EK_GUARDRAIL_RANKS && v.limit == .2 &&
              v.observed > .5);
    ck_assert_int_eq(v.mode, EK_MODE_OBSERVE);
    ck_assert(!ek_guard_impact(s.guard, &at, &v));
    end(&s);
}
END_TEST

static int keep(void *context, const struct ek_event *v)
{
    int rc = ek_event_json(v, context);
    return rc ? rc : ek_buf_text(context, "\n");
}

START_TEST(a_route_that_was_taken_back_is_recalled_as_it_was_decided)
{
    struct scene s;
    struct ek_buf told;
    begin(&s, "enforce", 50, "rank_change_p95: 0.2");
    find_fault(&s);
    ek_buf_init(&told, 0);
    ck_assert_int_eq(ek_guard_replay_inconsistent(s.guard, keep, &told), EK_OK);
    ck_assert_uint_eq(told.length, 0);
    assert_rolled_back(&s, EK_GUARDRAIL_RANKS);
    for (int i = 0; i < 50; i++)
        pass(&s); /* later than the decision */
    ck_assert_int_eq(ek_guard_replay_inconsistent(s.guard, keep, &told), EK_OK);
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&told), "\"type\":\"rollback\""));
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&s.events), ek_buf_string(&told)));
    ek_buf_release(&told);
    end(&s);
}
END_TEST

/* Evidence of an ended route must not roll back its successor. */
START_TEST(figures_of_a_route_that_ended_are_none_of_the_next)
{
    struct scene s;
    begin(&s, "enforce", 20, "error_rate: 0.01");
    find_fault(&s);
    s.tries = false;
    struct ek_plan_entry entry = plan(&s)->entry[0];
    tell_acts(&s, 100, 0, 1);
    ck_assert_uint_ge(ek_comparisons_stats(s.guard->comparisons, &entry).acted, 100);
    entry.since_ms++;
    ck_assert_uint_eq(ek_comparisons_stats(s.guard->comparisons, &entry).acted, 0);
    end(&s);
}
END_TEST

Suite *suite_guardrails(void)
{
    return ek_suite("rails", a_canary_grows_with_the_lists_that_are_tried,
                    a_canary_whose_lists_are_not_tried_stays_where_it_is,
                    lists_that_cannot_be_scored_take_a_route_back,
                    lists_that_lack_what_scoring_needs_say_nothing_of_a_route,
                    what_the_model_cannot_score_takes_a_route_back,
                    dead_letters_take_a_route_back_unless_others_are_as_many,
                    lists_that_take_long_in_two_windows_take_a_route_back,
                    ranks_that_move_too_far_take_a_route_back,
                    in_shadow_a_rail_that_is_hit_is_told_and_changes_nothing,
                    a_route_that_was_taken_back_is_shown_with_the_reason,
                    a_route_that_was_taken_back_is_recalled_as_it_was_decided,
                    figures_of_a_route_that_ended_are_none_of_the_next);
}
