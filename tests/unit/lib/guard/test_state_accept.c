/* Accepted shifts in a guard's state and in merged guards. */
#include "tests/check.h"
#include "tests/state_bench.h"
#include "tests/state_capture.h"

#include "detect/detector_internal.h"
#include "guard/guard_internal.h"

enum { FOUND = 400, PRICE = 0 };

/* Run lists of which arm B has prices in cents. Return the suspected changes of the price. */
static int run(struct bench *b, struct ek_guard *g, int lists)
{
    const char *event;
    int suspected = 0;
    for (int i = 0; i < lists; i++) {
        bench_next(b);
        must(ek_guard_observe(g, b->message.data, b->message.length, 0, NULL));
        while (ek_guard_next_event(g, &event))
            suspected += strstr(event, "\"state\":\"suspected\"") && strstr(event, "\"price\"");
    }
    return suspected;
}

static struct bench *bench_of(int lists)
{
    struct bench *b = bench_new();
    run(b, b->guard, lists);
    return b;
}

static uint64_t accept(struct ek_guard *g)
{
    uint64_t version = 0;
    struct ek_error e = {0};
    int rc = ek_guard_accept(g, "price", "arm", "B", "ana", NULL, &version, &e);
    ck_assert_msg(!rc, "%s", e.message);
    return version;
}

static const struct ek_level_offsets *accepts(const struct ek_guard *g)
{
    return ek_detector_offsets(g->detector);
}

static void save(struct bench *b)
{
    must(ek_guard_save(b->guard, 0, "", 0, state_put, &b->store, NULL));
}

static struct ek_guard *load(const struct state_store *store, const struct ek_assets *assets,
                             enum ek_restore_result *fit)
{
    struct ek_guard *g = NULL;
    struct ek_error e = {0};
    struct ek_state *state = state_of(store, 1);
    int rc = ek_guard_load(&g, assets, state, fit, &e);
    ck_assert_msg(!rc, "%s", e.message);
    ek_state_free(state);
    return g;
}

static void ck_same_rows(const struct ek_detector *a, const struct ek_detector *b)
{
    ck_assert_uint_eq(ek_history_count(a->history), ek_history_count(b->history));
    for (uint64_t i = 0; i < ek_history_count(a->history); i++)
        ck_assert_mem_eq(&ek_history_records(a->history, i)[PRICE].r,
                         &ek_history_records(b->history, i)[PRICE].r, sizeof(float));
}

START_TEST(a_guard_that_nobody_told_anything_writes_no_part_of_it)
{
    struct bench *b = bench_of(FOUND);
    save(b);
    ck_assert_int_eq(state_find(&b->store, "accepts.000"), b->store.count);
    bench_free(b);
}
END_TEST

/* Earlier rows are written again. */
START_TEST(what_was_accepted_comes_back_with_the_state)
{
    struct bench *b = bench_of(FOUND);
    enum ek_restore_result fit;
    save(b);
    accept(b->guard);
    save(b);
    ck_assert_int_lt(state_find(&b->store, "accepts.000"), b->store.count);
    struct ek_guard *g = load(&b->store, &b->assets, &fit);
    ck_assert_int_eq(fit, EK_RESTORE_FULL);
    ck_assert_int_eq(accepts(g)->count, 1);
    ck_assert_mem_eq(&accepts(g)->one[0], &accepts(b->guard)->one[0], sizeof *accepts(g)->one);
    ck_same_rows(g->detector, b->guard->detector);
    ck_assert_int_eq(run(b, g, 1000), 0);
    must(ek_guard_revert(g, 1, NULL, NULL, NULL));
    ck_assert_int_ge(run(b, g, 200), 1);
    ek_guard_free(g);
    bench_free(b);
}
END_TEST

START_TEST(with_another_profile_nothing_is_accepted)
{
    struct bench *b = bench_of(FOUND);
    struct ek_assets other;
    enum ek_restore_result fit;
    accept(b->guard);
    save(b);
    state_assets_open(&other, STATE_RULES, TRAINING / 2);
    struct ek_guard *g = load(&b->store, &other, &fit);
    ck_assert_int_eq(fit, EK_RESTORE_COUNTERS_ONLY);
    ck_assert_uint_eq(accepts(g)->version, 0);
    ek_guard_free(g);
    ek_assets_release(&other);
    bench_free(b);
}
END_TEST

/* Return a guard with the same finding from other lists. */
static struct ek_guard *another(struct bench *b, uint64_t seed)
{
    struct ek_guard *other;
    shop_close(&b->shop);
    shop_open(&b->shop, seed, STATE_MARKETS);
    must(ek_guard_new(&other, &b->assets, NULL));
    run(b, other, FOUND);
    return other;
}

/* Return the rows of arm B at the level of cents, as the detector has them. */
static int far_rows(const struct ek_guard *g)
{
    const struct ek_detector *d = g->detector;
    int far = 0;
    for (uint64_t i = ek_history_first(d->history); i < ek_history_count(d->history); i++)
        far += fabsf(ek_history_records(d->history, i)[PRICE].r) > 2;
    return far;
}

static void ck_joined(struct bench *b, struct ek_guard *into, struct ek_guard *from)
{
    must(ek_guard_merge(into, from, NULL));
    ck_assert_int_eq(ek_controller_plan(into->control)->count, 0); /* without a minimum duration */
    ck_assert_int_eq(accepts(into)->count, 1);
    ck_assert_double_eq_tol(accepts(into)->one[0].shift_ln, log(100), .1);
    ck_assert_int_eq(into->open.count, 0);
    ck_assert_int_le(far_rows(into), 4);
    ck_assert_int_eq(run(b, into, 1000), 0);
    ck_assert_int_eq(ek_controller_plan(into->control)->count, 0);
}

START_TEST(an_accept_of_one_guard_holds_for_what_both_have_seen)
{
    for (int mine = 0; mine < 2; mine++) {
        struct bench *b = bench_of(FOUND);
        struct ek_guard *other = another(b, SEED + 1);
        accept(mine ? b->guard : other);
        ck_joined(b, b->guard, other);
        ek_guard_free(other);
        bench_free(b);
    }
}
END_TEST

START_TEST(an_accept_that_both_guards_have_is_one)
{
    struct bench *b = bench_of(FOUND);
    struct ek_guard *other = another(b, SEED + 1);
    accept(b->guard);
    accept(other);
    ck_joined(b, b->guard, other);
    ek_guard_free(other);
    bench_free(b);
}
END_TEST

/* The merge creates a cell for an unknown value, and its result can be saved. */
START_TEST(an_accept_goes_to_a_guard_that_knows_nothing_of_its_segment)
{
    struct bench *b = bench_of(FOUND);
    struct ek_guard *empty;
    enum ek_restore_result fit;
    must(ek_guard_new(&empty, &b->assets, NULL));
    accept(b->guard);
    must(ek_guard_revert(b->guard, 1, NULL, NULL, NULL));
    run(b, b->guard, FOUND);
    ck_assert_uint_eq(accept(b->guard), 3);
    must(ek_guard_merge(empty, b->guard, NULL));
    ck_assert_uint_eq(accepts(empty)->one[0].version, 3);
    ck_same_rows(empty->detector, b->guard->detector);
    ek_guard_free(b->guard);
    b->guard = empty;
    save(b);
    struct ek_guard *g = load(&b->store, &b->assets, &fit);
    ck_assert_int_eq(run(b, g, 1000), 0);
    ek_guard_free(g);
    bench_free(b);
}
END_TEST

/* 150 lists, an accepted price in cents in arm B. */
START_TEST(the_golden_file_is_what_this_version_writes)
{
    struct bench *b = bench_of(150);
    enum ek_restore_result fit;
    struct ek_guard *g = NULL;
    accept(b->guard);
    struct ek_state *state = state_capture_golden(b->guard, "accepted", "state-accepts-1.ekc");
    must(ek_guard_load(&g, &b->assets, state, &fit, NULL));
    ck_assert_int_eq(fit, EK_RESTORE_FULL);
    ck_assert_int_eq(accepts(g)->count, 1);
    ek_guard_free(g);
    ek_state_free(state);
    bench_free(b);
}
END_TEST

Suite *suite_state_accept(void)
{
    return ek_suite("state_accept", a_guard_that_nobody_told_anything_writes_no_part_of_it,
                    what_was_accepted_comes_back_with_the_state,
                    with_another_profile_nothing_is_accepted,
                    an_accept_of_one_guard_holds_for_what_both_have_seen,
                    an_accept_that_both_guards_have_is_one,
                    an_accept_goes_to_a_guard_that_knows_nothing_of_its_segment,
                    the_golden_file_is_what_this_version_writes);
}
