/* Effect of forged lists: with any timing, each forged list routes at most 1 / action_min_fraction
 * genuine lists. */
#include "tests/check.h"
#include "tests/state_world.h"

enum { TRAINING = 2000, HEALTHY = 300, LISTS = 3000, SEEDS = 12, LISTS_EACH = 20 };

/* Minimum duration longer than the test. */
static const char RULES[] =
    "version: 1\n"
    "defaults: {mode: enforce, action_min_fraction: 0.05, min_duration: 20h, max_duration: 24h}\n"
    "segments: [arm, market]\n";

struct scene {
    struct ek_assets assets;
    struct shop shop;
    struct ek_guard *guard;
    struct ek_buf message;
    struct ek_rng rng;
    int64_t now_ms, step_ms;
    int forged, routed; /* forged lists, and routed genuine lists */
};

static struct scene *scene_with(uint64_t seed, const char *rules)
{
    struct scene *s = calloc(1, sizeof *s);
    ck_assert_ptr_nonnull(s);
    state_assets_open(&s->assets, rules, TRAINING);
    shop_open(&s->shop, seed, STATE_MARKETS);
    ek_buf_init(&s->message, 0);
    ek_rng_seed(&s->rng, seed);
    must(ek_guard_new(&s->guard, &s->assets, NULL));
    s->step_ms = 1000;
    return s;
}

static struct scene *scene_of(uint64_t seed)
{
    return scene_with(seed, RULES);
}

static void scene_free(struct scene *s)
{
    ek_guard_free(s->guard);
    ek_buf_release(&s->message);
    shop_close(&s->shop);
    ek_assets_release(&s->assets);
    free(s);
}

static void in_cents(struct shop *s, struct ek_list *q)
{
    (void)s;
    for (int i = 0; i < q->items; i++)
        q->x[2 * i] *= 100;
}

static void in_cents_in_arm_b(struct shop *s, struct ek_list *q)
{
    if (s->arm_b)
        in_cents(s, q);
}

static void closer(struct shop *s, struct ek_list *q)
{
    (void)s;
    for (int i = 0; i < q->items; i++)
        q->x[2 * i] = sqrtf(q->x[2 * i]);
}

static void with_a_fee(struct shop *s, struct ek_list *q)
{
    (void)s;
    for (int i = 0; i < q->items; i++)
        q->x[2 * i] += 100;
}

static void without(struct shop *s, struct ek_list *q)
{
    (void)s;
    for (int i = 0; i < q->items; i++)
        q->x[2 * i] = NAN;
}

/* Pass a list to the guard and count it. */
static void take(struct scene *s, struct ek_list *q, bool forged)
{
    q->time_ms = s->now_ms += s->step_ms;
    ek_buf_clear(&s->message);
    must(ek_codec_encode(s->assets.manifest, q, EK_FEATURES_ARRAY, &s->message, NULL));
    must(ek_guard_observe(s->guard, s->message.data, s->message.length, s->now_ms, NULL));
    size_t length;
    ck_assert_ptr_nonnull(ek_guard_score(s->guard, &length, NULL));
    s->forged += forged;
    s->routed += !forged && !strcmp(ek_guard_action(s->guard), "routed");
}

static void list(struct scene *s, shop_change *change)
{
    bool forged = change != NULL;
    struct ek_list *q = shop_next(&s->shop);
    if (change)
        change(&s->shop, q);
    if (change == in_cents_in_arm_b)
        forged = s->shop.arm_b;
    take(s, q, forged);
}

static void lists(struct scene *s, int count, shop_change *change)
{
    for (int i = 0; i < count; i++)
        list(s, change);
}

/* Tolerate 3%, because some genuine lists look like forged ones. */
static void ck_bound(const struct scene *s)
{
    ck_assert_msg(s->routed <= LISTS_EACH * (1.03 * s->forged + 1),
                  "%d genuine lists routed for %d forged", s->routed, s->forged);
}

START_TEST(bursts_at_random_route_no_more_genuine_lists_than_they_earn)
{
    int routed = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct scene *s = scene_of(seed);
        shop_change *change = seed % 2 ? in_cents : in_cents_in_arm_b;
        int longest = 1 << (1 + seed % 6), rarest = 40 << seed % 5;
        s->step_ms = seed % 3 ? 1000 : 1;
        lists(s, HEALTHY, NULL);
        for (int done = 0; done < LISTS;) {
            int burst = 1 + (int)ek_rng_uniform_int(&s->rng, (uint64_t)longest);
            int pause = 1 + (int)ek_rng_uniform_int(&s->rng, (uint64_t)rarest);
            lists(s, burst, change);
            lists(s, pause, NULL);
            ck_bound(s);
            done += burst + pause;
        }
        routed += s->routed;
        scene_free(s);
    }
    ck_assert_int_gt(routed, SEEDS * LISTS / 50);
}
END_TEST

/* Forge enough lists to raise the alarm, and later just enough to seem lasting at the
 * confirmation. */
START_TEST(who_knows_when_a_fault_is_asked_for_gets_no_more_either)
{
    int routed = 0;
    for (int apart = 100; apart <= 1600; apart *= 2)
        for (int after = 1; after <= 3; after++) {
            struct scene *s = scene_of((uint64_t)apart);
            lists(s, HEALTHY, NULL);
            for (int done = 0; done < LISTS; done += apart) {
                lists(s, 4, in_cents);
                lists(s, 40, NULL);
                lists(s, after, in_cents);
                lists(s, apart - 44 - after, NULL);
                ck_bound(s);
            }
            routed += s->routed;
            scene_free(s);
        }
    ck_assert_int_gt(routed, 0);
}
END_TEST

START_TEST(one_burst_routes_no_more_than_it_earns)
{
    for (int burst = 1; burst <= 30; burst += 3)
        for (int64_t step_ms = 1; step_ms <= 1000; step_ms += 999) {
            struct scene *s = scene_of((uint64_t)burst);
            s->step_ms = step_ms;
            lists(s, HEALTHY, NULL);
            lists(s, burst, in_cents);
            lists(s, 600, NULL);
            if (burst <= 4) /* over when it is confirmed */
                ck_assert_int_eq(s->routed, 0);
            ck_bound(s);
            scene_free(s);
        }
}
END_TEST

START_TEST(long_bursts_route_what_they_earn)
{
    static const int BURST[] = {70, 150, 500};
    for (int i = 0; i < 6; i++) {
        struct scene *s = scene_of((uint64_t)i);
        s->step_ms = i < 3 ? 1 : 1000;
        lists(s, HEALTHY, NULL);
        for (int again = 0; again < 3; again++) {
            lists(s, BURST[i % 3], in_cents);
            lists(s, LISTS_EACH * BURST[i % 3] + 400, NULL);
            ck_bound(s);
        }
        ck_assert_int_gt(s->routed, LISTS_EACH * s->forged / 2);
        scene_free(s);
    }
}
END_TEST

/* Mix forged and genuine lists, so that the finding describes the mean of both. */
static void mixed(struct scene *s, int count, double share, shop_change *change)
{
    for (int i = 0; i < count; i++)
        list(s, ek_rng_uniform(&s->rng) < share ? change : NULL);
}

/* The membership of one list is noisier for a spread or a share than for a level. Its error
 * averages to 0, so single cases have a wider tolerance. */
START_TEST(forging_what_is_no_level_routes_no_more_either)
{
    static shop_change *const CHANGE[] = {closer, with_a_fee, without};
    static const char ANY[] = "version: 1\n"
                              "defaults: {mode: enforce, min_duration: 20h, max_duration: 24h, "
                              "actions: {missing: route}}\n"
                              "segments: [arm, market]\n";
    for (int c = 0; c < 3; c++) {
        int routed = 0, forged = 0;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct scene *s = scene_with(seed, ANY);
            lists(s, HEALTHY, NULL);
            mixed(s, 100 + 50 * (int)(seed % 4), .2 + .1 * (double)(seed % 3), CHANGE[c]);
            lists(s, LISTS, NULL);
            ck_assert_msg(s->routed <= LISTS_EACH * (1.2 * s->forged + 10),
                          "%d genuine lists routed for %d forged (%d)", s->routed, s->forged, c);
            routed += s->routed;
            forged += s->forged;
            scene_free(s);
        }
        ck_assert_int_gt(routed, 0);
        ck_assert_int_le(routed, LISTS_EACH * forged);
    }
}
END_TEST

/* Repeated lists add nothing to the budget of a route and consume nothing. */
START_TEST(a_fault_keeps_its_route_where_lists_repeat)
{
    struct scene *s = scene_of(5);
    int routed = 0;
    lists(s, HEALTHY, NULL);
    for (int i = 0; i < LISTS; i++) {
        struct ek_list *q = shop_next(&s->shop);
        if (i % 5 == 0)
            in_cents(&s->shop, q);
        for (int again = 0; again < 8; again++)
            take(s, q, false);
        routed += i >= LISTS / 4 && !strcmp(ek_guard_action(s->guard), "routed");
    }
    ck_assert_int_eq(routed, LISTS - LISTS / 4);
    scene_free(s);
}
END_TEST

START_TEST(faults_that_are_no_level_keep_their_routes)
{
    static shop_change *const CHANGE[] = {closer, with_a_fee};
    for (int c = 0; c < 2; c++) {
        struct scene *s = scene_of(3);
        lists(s, HEALTHY, NULL);
        mixed(s, 400, .3, CHANGE[c]);
        s->routed = 0;
        mixed(s, LISTS, .3, CHANGE[c]);
        ck_assert_int_gt(s->routed, LISTS * 6 / 10);
        scene_free(s);
    }
}
END_TEST

/* A fault of half of the lists is routed 64 lists after its alarm, or 128 while a segment may
 * explain it. A recurring fault keeps its route. */
START_TEST(faults_that_last_are_acted_on_as_ever)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct scene *s = scene_of(seed);
        int within = 0;
        lists(s, HEALTHY, NULL);
        while (strcmp(ek_guard_action(s->guard), "routed") != 0 && within < 200) {
            list(s, ek_rng_uniform_int(&s->rng, 2) ? in_cents : NULL);
            within++;
        }
        ck_assert_int_le(within, 16 + 64 + 64);
        scene_free(s);
    }
    struct scene *s = scene_of(9);
    lists(s, HEALTHY, NULL);
    lists(s, 100, in_cents);
    s->routed = 0;
    for (int i = 0; i < 10; i++) {
        lists(s, 300, NULL);
        lists(s, 100, in_cents);
    }
    ck_assert_int_eq(s->routed, 3000);
    scene_free(s);
}
END_TEST

Suite *suite_forged(void)
{
    return ek_suite(
        "forged", bursts_at_random_route_no_more_genuine_lists_than_they_earn,
        who_knows_when_a_fault_is_asked_for_gets_no_more_either,
        one_burst_routes_no_more_than_it_earns, long_bursts_route_what_they_earn,
        forging_what_is_no_level_routes_no_more_either, a_fault_keeps_its_route_where_lists_repeat,
        faults_that_are_no_level_keep_their_routes, faults_that_last_are_acted_on_as_ever);
}
