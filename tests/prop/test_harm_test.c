/* Harmful routes in a complete guard on hotel lists: those of a model with another ranking than
 * upstream are rolled back, those of a distilled model stay. */
#include "lists/codec.h"
#include "serve/assets.h"
#include "guard/guard_internal.h"
#include "guard/guard_trials.h"
#include "offline/fit/profile_fit.h"
#include "tests/taught_world.h"

enum { HEALTHY = 300, FOUND_WITHIN = 3000, WATCHED = 500, SEEDS = 8 };

static const char RULES[] =
    "version: 1\ndefaults: {mode: enforce, min_duration: 1h, action_threshold: 1.15}\n";

struct scene {
    struct taught_world world;
    struct ek_assets assets;
    struct ek_guard *guard;
    struct ek_buf message;
    upstream_scores *upstream;
};

static void fit_profile(struct scene *s)
{
    struct ek_profile_fit *fit;
    ck_assert_int_eq(ek_profile_fit_new(&fit, s->world.manifest, NULL, NULL), 0);
    for (uint64_t i = 0; i < TEACHING; i++)
        ck_assert_int_eq(ek_profile_fit_add(fit, taught_next(&s->world, i), NULL), 0);
    ck_assert_int_eq(ek_profile_fit_finish(fit, &s->assets.profile, NULL), 0);
    ek_profile_fit_free(fit);
}

/* Return the agreement in the form that training stores. */
static struct ek_model_agreement agreement(struct taught_world *w)
{
    struct ek_agreement_sums sums = {0};
    for (uint64_t i = 0; i < VALIDATION; i++) {
        struct ek_agreement a;
        bool valid;
        taught_next(w, TEACHING + i);
        by_network(w);
        ck_assert_int_eq(ek_scorer_score(w->of_taught, &w->list, NULL, w->scores, NULL), EK_OK);
        ck_assert_int_eq(
            ek_compare(w->comparer, w->scores, w->list.score, w->list.items, &a, &valid, NULL),
            EK_OK);
        ek_agreement_add(&sums, &a);
    }
    return ek_agreement_result(&sums);
}

static void begin(struct scene *s)
{
    struct ek_assets *a = &s->assets;
    memset(s, 0, sizeof *s);
    taught_begin(&s->world);
    s->world.taught->agreement = agreement(&s->world);
    fit_profile(s);
    a->manifest = s->world.manifest;
    a->model = s->world.taught;
    ck_assert_int_eq(ek_rules_parse(&a->rules, a->manifest, "rules", RULES, sizeof RULES - 1, NULL),
                     0);
    ck_assert_int_eq(ek_codec_new(&a->codec, a->manifest, NULL, NULL, NULL), EK_OK);
    ek_buf_init(&s->message, 0);
}

static void end(struct scene *s)
{
    ek_buf_release(&s->message);
    s->assets.manifest = NULL; /* owned by the world */
    s->assets.model = NULL;
    ek_assets_release(&s->assets);
    taught_end(&s->world);
}

static void pass(struct scene *s, uint64_t i, double factor)
{
    struct ek_list *q = taught_next(&s->world, i);
    struct ek_comparison t;
    const char *event;
    size_t length;
    bool valid;
    taught_spoil(q, factor);
    s->upstream(&s->world);
    q->has_label = false;
    ek_buf_clear(&s->message);
    ck_assert_int_eq(ek_codec_encode(s->world.manifest, q, EK_FEATURES_ARRAY, &s->message, NULL),
                     0);
    ck_assert_int_eq(ek_guard_observe(s->guard, s->message.data, s->message.length, 1, NULL), 0);
    ck_assert_ptr_nonnull(ek_guard_score(s->guard, &length, NULL));
    ck_assert_int_eq(ek_guard_compare(s->guard, &t, &valid, NULL), EK_OK);
    while (ek_guard_next_event(s->guard, &event))
        continue;
}

static enum ek_guardrail rolled_back(const struct scene *s)
{
    const struct ek_rollout *r = ek_controller_rollout(s->guard->control, PRICE, 0);
    return r ? r->rolled_back : EK_GUARDRAIL_NONE;
}

/* Send healthy lists, then the fault until it is routed. Return the lists until the rollback; 0:
 * not within WATCHED. */
static int taken_back(struct scene *s, uint64_t seed, double factor, int healthy)
{
    uint64_t i = 0;
    int at = 0;
    ek_hotel_free(s->world.hotel);
    ck_assert_int_eq(ek_hotel_new(&s->world.hotel, seed, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_new(&s->guard, &s->assets, NULL), EK_OK);
    while (i < (uint64_t)healthy)
        pass(s, i++, 1);
    ck_assert_int_eq(ek_controller_plan(s->guard->control)->count, 0);
    for (int k = 0; k < FOUND_WITHIN && !ek_controller_plan(s->guard->control)->count; k++)
        pass(s, i++, factor);
    ck_assert_int_eq(ek_controller_plan(s->guard->control)->count, 1);
    for (int k = 1; k <= WATCHED && !at; k++) {
        pass(s, i++, factor);
        at = rolled_back(s) == EK_GUARDRAIL_NONE ? 0 : k;
    }
    ck_assert(!at || rolled_back(s) == EK_GUARDRAIL_WORSE);
    ek_guard_free(s->guard);
    return at;
}

/* x1.3 does little harm, below the power of so many lists (docs/limitations.md). */
START_TEST(routes_of_a_model_that_upstream_has_taught_stay)
{
    static const double factors[] = {100, 2, 1.3};
    struct scene s;
    begin(&s);
    s.upstream = by_network;
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(taken_back(&s, 7, factors[i], HEALTHY), 0);
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        ck_assert_int_eq(taken_back(&s, 50 + seed, 100, HEALTHY), 0);
    end(&s);
}
END_TEST

/* The model claims the agreement of a distilled one. Clean lists, of which the guard compares about
 * one in a hundred, show that upstream differs. */
START_TEST(a_route_of_a_model_of_another_upstream_is_taken_back)
{
    static const double factors[] = {100, 1.3};
    struct scene s;
    begin(&s);
    s.upstream = by_popularity;
    for (int i = 0; i < 2; i++) {
        int at = taken_back(&s, 7, factors[i], 12000);
        ck_assert_msg(at > 0 && at <= 150, "x%g: %d", factors[i], at);
    }
    end(&s);
}
END_TEST

Suite *suite_harm_test(void)
{
    return ek_suite("worse", routes_of_a_model_that_upstream_has_taught_stay,
                    a_route_of_a_model_of_another_upstream_is_taken_back);
}
