/* Decisions of a guard: in events, in the API, in its state, and merged. */
#include "tests/check.h"
#include "tests/state_world.h"

#include "guard/operator_json.h"
#include "guard/guard_internal.h"

enum { TRAINING = 1200, SEED = 8, LISTS = 70 };

struct bench {
    struct ek_assets assets;
    struct ek_guard *guard;
    struct shop shop;
    struct ek_buf message, text;
    struct state_store store;
};

static struct bench *bench_new(void)
{
    struct bench *b = calloc(1, sizeof *b);
    state_assets_open(&b->assets, STATE_RULES, TRAINING);
    must(ek_guard_new(&b->guard, &b->assets, NULL));
    shop_open(&b->shop, SEED, STATE_MARKETS);
    ek_buf_init(&b->message, 0);
    ek_buf_init(&b->text, 0);
    for (int i = 0; i < LISTS; i++) {
        state_message(&b->shop, &b->assets, &b->message, NULL);
        must(ek_guard_observe(b->guard, b->message.data, b->message.length, 0, NULL));
    }
    return b;
}

static void bench_free(struct bench *b)
{
    ek_guard_free(b->guard);
    shop_close(&b->shop);
    ek_buf_release(&b->message);
    ek_buf_release(&b->text);
    state_clear(&b->store);
    ek_assets_release(&b->assets);
    free(b);
}

/* Add that many steps of a feature's route. */
static void decide(struct ek_guard *g, const char *feature, int count)
{
    for (int i = 0; i < count; i++) {
        struct ek_decision_record m = ek_decision_get(EK_DECIDED_STEP);
        m.feature = feature;
        must(ek_guard_add_decision(g, &m));
    }
}

static const char *shown(struct bench *b, const struct ek_guard *g, struct ek_history_request w)
{
    ek_buf_clear(&b->text);
    must(ek_guard_history(g, &w, &b->text, NULL));
    return ek_buf_string(&b->text);
}

/* Return the numbers of the shown decisions. */
static const char *numbers(struct bench *b, struct ek_history_request w)
{
    static char all[200];
    const char *at = shown(b, b->guard, w);
    all[0] = 0;
    while ((at = strstr(at, "\"sequence\":"))) {
        size_t length = strlen(all);
        at += strlen("\"sequence\":");
        snprintf(all + length, sizeof all - length, "%s%ld", length ? " " : "",
                 strtol(at, NULL, 10));
    }
    return all;
}

START_TEST(a_decision_is_told_as_it_is_kept)
{
    struct bench *b = bench_new();
    struct ek_decision_record m = ek_decision_get(EK_DECIDED_PAUSE);
    char kept[600];
    const char *event, *last = NULL;
    m.actor = "ana";
    m.reason = "ranking looks odd";
    must(ek_guard_add_decision(b->guard, &m));
    snprintf(kept, sizeof kept, "%s", shown(b, b->guard, (struct ek_history_request){.count = 9}));
    while (ek_guard_next_event(b->guard, &event))
        last = event;
    ck_assert_ptr_nonnull(last);
    ck_assert_uint_eq(strlen(kept), strlen(last) + 2);
    ck_assert_mem_eq(kept + 1, last, strlen(last));
    ck_assert_ptr_nonnull(strstr(last, "\"sequence\":1,\"list\":70,\"time_ms\":"));
    ck_assert_ptr_null(strstr(last, "\"time_ms\":0,"));
    ck_assert_ptr_nonnull(strstr(last, "\"actor\":\"ana\""));
    bench_free(b);
}
END_TEST

START_TEST(what_is_asked_for_is_shown_oldest_first)
{
    struct bench *b = bench_new();
    decide(b->guard, "price", 3);
    decide(b->guard, "kind", 2);
    decide(b->guard, NULL, 1);
    decide(b->guard, "price", 2);
    ck_assert_str_eq(numbers(b, (struct ek_history_request){.count = 3}), "6 7 8");
    ck_assert_str_eq(numbers(b, (struct ek_history_request){.count = 100}), "1 2 3 4 5 6 7 8");
    ck_assert_str_eq(numbers(b, (struct ek_history_request){.count = 2, .has_after = true}), "1 2");
    ck_assert_str_eq(
        numbers(b, (struct ek_history_request){.count = 9, .has_after = true, .after = 6}), "7 8");
    ck_assert_str_eq(
        numbers(b, (struct ek_history_request){.count = 9, .has_after = true, .after = UINT64_MAX}),
        "");
    ck_assert_str_eq(numbers(b, (struct ek_history_request){.count = 3, .feature = "price"}),
                     "3 7 8");
    ck_assert_str_eq(numbers(b,
                             (struct ek_history_request){
                                 .count = 1, .has_after = true, .after = 3, .feature = "price"}),
                     "7");
    decide(b->guard, "kind", EK_DECISIONS_RETAINED);
    ck_assert_str_eq(numbers(b, (struct ek_history_request){.count = 2, .has_after = true}),
                     "9 10");
    ck_assert_str_eq(numbers(b, (struct ek_history_request){.count = 2, .feature = "price"}), "");
    bench_free(b);
}
END_TEST

START_TEST(a_feature_that_is_none_is_refused_with_the_nearest)
{
    struct bench *b = bench_new();
    struct ek_history_request w = {.count = 9, .feature = "prise"};
    struct ek_error e = {0};
    ck_assert_int_eq(ek_guard_history(b->guard, &w, &b->text, &e), EK_EUSAGE);
    ck_assert_str_eq(e.message, "no item feature 'prise', did you mean 'price'?");
    ck_assert_uint_eq(b->text.length, 0);
    bench_free(b);
}
END_TEST

static void save(struct bench *b)
{
    must(ek_guard_save(b->guard, 0, "", 0, state_put, &b->store, NULL));
}

static struct ek_guard *load(const struct bench *b, const struct ek_assets *assets)
{
    struct ek_guard *g = NULL;
    enum ek_restore_result fit;
    struct ek_state *state = state_of(&b->store, 1);
    must(ek_guard_load(&g, assets, state, &fit, NULL));
    ek_state_free(state);
    return g;
}

static bool is_in(const struct bench *b, const char *key)
{
    return state_find(&b->store, key) < b->store.count;
}

/* Also under another profile, as decisions are independent of it. */
START_TEST(decisions_come_back_with_the_state_and_their_numbers_go_on)
{
    struct bench *b = bench_new();
    struct ek_assets other;
    struct ek_history_request all = {.count = 200};
    save(b);
    ck_assert(!is_in(b, "history/00000.000"));
    decide(b->guard, "price", 70);
    save(b);
    ck_assert(is_in(b, "history/00000.000") && is_in(b, "history/00001.000"));
    ck_assert(!is_in(b, "history/00002.000"));
    char *before = strdup(shown(b, b->guard, all));
    state_assets_open(&other, STATE_RULES, TRAINING / 2);
    for (int i = 0; i < 2; i++) {
        struct ek_guard *g = load(b, i ? &other : &b->assets);
        ck_assert_str_eq(shown(b, g, all), before);
        decide(g, "kind", 1);
        ck_assert_uint_eq(ek_decisions_last(g->decisions), 71);
        ek_guard_free(g);
    }
    free(before);
    ek_assets_release(&other);
    bench_free(b);
}
END_TEST

/* Part 0 has the numbers 1 to 63. */
START_TEST(a_decision_writes_one_part_anew)
{
    struct bench *b = bench_new();
    decide(b->guard, "price", 100);
    save(b);
    state_clear(&b->store);
    decide(b->guard, "price", 1);
    save(b);
    ck_assert(!is_in(b, "history/00000.000") && is_in(b, "history/00001.000"));
    bench_free(b);
}
END_TEST

START_TEST(those_of_a_guard_that_is_joined_come_behind)
{
    struct bench *b = bench_new(), *other = bench_new();
    decide(b->guard, "price", 2);
    decide(other->guard, "kind", 3);
    struct ek_error e = {0};
    int rc = ek_guard_merge(b->guard, other->guard, &e);
    ck_assert_msg(!rc, "%s", e.message);
    ck_assert_str_eq(numbers(b, (struct ek_history_request){.count = 9}), "1 2 3 4 5");
    ck_assert_str_eq(numbers(b, (struct ek_history_request){.count = 9, .feature = "kind"}),
                     "3 4 5");
    bench_free(other);
    bench_free(b);
}
END_TEST

Suite *suite_guard_history(void)
{
    return ek_suite("guard_history", a_decision_is_told_as_it_is_kept,
                    what_is_asked_for_is_shown_oldest_first,
                    a_feature_that_is_none_is_refused_with_the_nearest,
                    decisions_come_back_with_the_state_and_their_numbers_go_on,
                    a_decision_writes_one_part_anew, those_of_a_guard_that_is_joined_come_behind);
}
