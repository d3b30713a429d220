/* Guard with a watched query feature: one finding with its segment, the repair in messages,
 * sketches of one value per list, and a state that continues. */
#include "guard/guard_internal.h"
#include "guard/live_sketches.h"
#include "tests/check.h"
#include "tests/state_world.h"

enum { TRAINING = 4000, FROM = 300, LISTS = 900, NIGHTS = 2 };

static const char MANIFEST[] =
    "features:\n"
    "  - {name: price, index: 1, role: item, routable: true}\n"
    "  - {name: kind, index: 2, role: item, type: category}\n"
    "  - {name: nights, index: 3, role: query, unit: nights, watch: true}\n";
static const char RULES[] = "version: 1\n"
                            "defaults: {mode: enforce}\n"
                            "segments: [arm]\n";

struct world {
    struct ek_assets a;
    struct ek_guard *guard;
    struct shop shop;
    struct ek_buf message;
    int confirmed, repaired, passed;
};

static void begin(struct world *w)
{
    memset(w, 0, sizeof *w);
    must(ek_manifest_parse(&w->a.manifest, "m", MANIFEST, strlen(MANIFEST), NULL));
    w->a.profile = shop_profile(w->a.manifest, TRAINING, 1, NULL);
    must(ek_rules_parse(&w->a.rules, w->a.manifest, "r", RULES, strlen(RULES), NULL));
    must(ek_codec_new(&w->a.codec, w->a.manifest, NULL, NULL, NULL));
    ek_assets_write_features(&w->a);
    must(ek_guard_new(&w->guard, &w->a, NULL));
    shop_open(&w->shop, 2, 1);
    ek_buf_init(&w->message, 0);
}

static void end(struct world *w)
{
    ek_guard_free(w->guard);
    ek_assets_release(&w->a);
    shop_close(&w->shop);
    ek_buf_release(&w->message);
}

/* Hours in arm B from list FROM on. */
static void hours(struct shop *s, struct ek_list *q)
{
    if (s->arm_b && s->number > FROM)
        q->query[0] *= 24;
}

/* Return the confirmed findings of the events so far, all of them of nights in arm B. */
static int count_confirmed(struct ek_guard *g)
{
    const char *event;
    int confirmed = 0;
    while (ek_guard_next_event(g, &event)) {
        if (!strstr(event, "\"state\":\"confirmed\""))
            continue;
        confirmed++;
        ck_assert_ptr_nonnull(strstr(event, "\"feature\":\"nights\",\"segment\":{\"arm\":\"B\"}"));
        ck_assert_ptr_nonnull(strstr(event, "\"units\":[\"days_to_hours\"]"));
        ck_assert_ptr_nonnull(strstr(event, "\"mitigation\":\"repair\""));
    }
    return confirmed;
}

/* Process the next list. A repaired message has the query of before the fault. */
static void process(struct world *w, struct ek_guard *g, bool count)
{
    struct ek_list q;
    size_t length;
    must(ek_guard_observe(g, w->message.data, w->message.length, 0, NULL));
    const void *out = ek_guard_score(g, &length, NULL);
    ck_assert_ptr_nonnull(out);
    if (!count)
        return;
    bool repaired = !strcmp(ek_guard_action(g), "repaired");
    w->repaired += repaired;
    w->passed += !repaired && w->shop.arm_b && w->shop.number > FROM;
    ek_list_init(&q);
    must(ek_codec_decode(w->a.codec, out, length, &q, NULL));
    if (repaired)
        ck_assert_float_eq_tol(q.query[0], w->shop.query.query[0] / 24, 1e-5);
    else
        ck_assert_float_eq(q.query[0], w->shop.query.query[0]);
    ek_list_release(&q);
}

static void next(struct world *w)
{
    struct ek_list *q = shop_next(&w->shop);
    hours(&w->shop, q);
    ek_buf_clear(&w->message);
    must(ek_codec_encode(w->a.manifest, q, EK_FEATURES_ARRAY, &w->message, NULL));
}

static void run(struct world *w, int lists)
{
    for (int i = 0; i < lists; i++) {
        next(w);
        process(w, w->guard, true);
    }
    w->confirmed += count_confirmed(w->guard);
}

START_TEST(hours_in_one_arm_are_found_and_repaired)
{
    struct world w;
    begin(&w);
    run(&w, LISTS);
    ck_assert_int_eq(w.confirmed, 1);
    ck_assert_int_gt(w.repaired, 200);
    ck_assert_int_lt(w.passed, 60);
    const char *plan = ek_guard_plan(w.guard, NULL, NULL);
    ck_assert_ptr_nonnull(strstr(plan, "\"feature\":\"nights\""));
    ck_assert_ptr_nonnull(strstr(plan, "\"index\":0,\"role\":\"query\""));
    end(&w);
}
END_TEST

START_TEST(a_sketch_has_one_value_of_the_query_per_list)
{
    struct world w;
    struct ek_feature_view v[EK_SPANS];
    begin(&w);
    run(&w, FROM);
    ck_assert(ek_live_sketches_view(ek_guard_traffic(w.guard), 0, NIGHTS, v));
    ck_assert_uint_eq(v[EK_SPAN_LIFE].lists, FROM);
    ck_assert_uint_eq(v[EK_SPAN_LIFE].values.items, FROM);
    ck_assert_double_eq(v[EK_SPAN_LIFE].values.infinite, 0);
    ck_assert_double_eq(v[EK_SPAN_LIFE].values.missing, 0);
    ck_assert_double_eq_tol(v[EK_SPAN_LIFE].scale_ratio, 1, .15);
    ck_assert_double_eq_tol(v[EK_SPAN_LIFE].values.quantile[EK_MEDIAN], 5, 1);
    ck_assert(ek_live_sketches_view(ek_guard_traffic(w.guard), 0, 0, v));
    ck_assert_uint_gt(v[EK_SPAN_LIFE].values.items, 10 * FROM);
    end(&w);
}
END_TEST

START_TEST(a_restored_guard_continues)
{
    struct world w;
    struct state_store *store = calloc(1, sizeof *store);
    struct ek_guard *restored = NULL;
    enum ek_restore_result fit;
    begin(&w);
    run(&w, LISTS);
    must(ek_guard_save(w.guard, 0, "", 0, state_put, store, NULL));
    struct ek_state *state = state_of(store, 1);
    must(ek_guard_load(&restored, &w.a, state, &fit, NULL));
    ck_assert_int_eq(fit, EK_RESTORE_FULL);
    for (int i = 0; i < LISTS; i++) {
        const char *a, *b;
        next(&w);
        process(&w, restored, true);
        process(&w, w.guard, false);
        ck_assert_str_eq(ek_guard_action(restored), ek_guard_action(w.guard));
        while (ek_guard_next_event(w.guard, &a)) {
            ck_assert_int_eq(ek_guard_next_event(restored, &b), 1);
            ck_assert_str_eq(a, b);
        }
    }
    ek_state_free(state);
    ek_guard_free(restored);
    state_clear(store);
    free(store);
    end(&w);
}
END_TEST

/* The hash of the manifest does not cover what it watches. */
START_TEST(a_state_of_other_watched_features_is_refused)
{
    static const char plain[] = "features:\n"
                                "  - {name: price, index: 1, role: item, routable: true}\n"
                                "  - {name: kind, index: 2, role: item, type: category}\n"
                                "  - {name: nights, index: 3, role: query}\n";
    struct world w;
    struct state_store *store = calloc(1, sizeof *store);
    struct ek_assets other = {0};
    struct ek_guard *restored = NULL;
    enum ek_restore_result fit;
    struct ek_error e;
    begin(&w);
    run(&w, 20);
    must(ek_guard_save(w.guard, 0, "", 0, state_put, store, NULL));
    must(ek_manifest_parse(&other.manifest, "m", plain, strlen(plain), NULL));
    ck_assert_uint_eq(other.manifest->hash, w.a.manifest->hash);
    other.profile = shop_profile(other.manifest, 300, 1, NULL);
    must(ek_rules_parse(&other.rules, other.manifest, "r", RULES, strlen(RULES), NULL));
    must(ek_codec_new(&other.codec, other.manifest, NULL, NULL, NULL));
    struct ek_state *state = state_of(store, 1);
    ck_assert_int_eq(ek_guard_load(&restored, &other, state, &fit, &e), EK_ESTATE);
    ck_assert_int_eq(fit, EK_RESTORE_OTHER_MANIFEST);
    ck_assert_ptr_nonnull(strstr(e.message, "it watches 3 features, here 2"));
    ck_assert_int_eq(ek_guard_set_assets(w.guard, &other, &fit, &e), EK_ESTATE);
    ck_assert_int_eq(fit, EK_RESTORE_OTHER_MANIFEST);
    ck_assert_ptr_nonnull(strstr(e.message, "watches other query features"));
    ek_state_free(state);
    ek_assets_release(&other);
    state_clear(store);
    free(store);
    end(&w);
}
END_TEST

START_TEST(longer_stays_are_accepted_as_normal)
{
    struct world w;
    begin(&w);
    run(&w, LISTS);
    int before = w.repaired;
    must(ek_guard_accept(w.guard, "nights", "arm", "B", "ana", NULL, NULL, NULL));
    run(&w, LISTS);
    ck_assert_int_eq(w.confirmed, 1);
    ck_assert_int_le(w.repaired, before + 1);
    end(&w);
}
END_TEST

Suite *suite_guard_queries(void)
{
    return ek_suite("guard_queries", hours_in_one_arm_are_found_and_repaired,
                    a_sketch_has_one_value_of_the_query_per_list, a_restored_guard_continues,
                    a_state_of_other_watched_features_is_refused,
                    longer_stays_are_accepted_as_normal);
}
