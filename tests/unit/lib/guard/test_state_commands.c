/* Operator commands in a guard's state: the golden file. */
#include "tests/check.h"
#include "tests/state_bench.h"
#include "tests/state_capture.h"

#include "guard/operator_json.h"
#include "guard/operator_commands.h"

enum { FOUND = 150 };

static struct bench *bench_of_orders(void)
{
    struct bench *b = bench_new();
    for (int i = 0; i < FOUND; i++) {
        const char *event;
        bench_next(b);
        must(ek_guard_observe(b->guard, b->message.data, b->message.length, 0, NULL));
        while (ek_guard_next_event(b->guard, &event))
            ck_assert_ptr_nonnull(event);
    }
    must(ek_guard_pin(b->guard, "price", "market", "M1", "none", 0, "ana", "odd", NULL));
    must(ek_guard_pin(b->guard, "price", NULL, NULL, "alert", INT64_MAX, NULL, NULL, NULL));
    must(ek_guard_pause(b->guard, "bo", "looks odd", NULL));
    return b;
}

START_TEST(the_golden_file_of_orders_is_what_this_version_writes)
{
    struct bench *b = bench_of_orders();
    struct ek_guard *g = NULL;
    struct ek_decision_record since;
    struct ek_buf shown[2];
    enum ek_restore_result fit;
    struct ek_error e = {0};
    struct ek_state *state = state_capture_golden(b->guard, "told", "state-orders-1.ekc");
    int rc = ek_guard_load(&g, &b->assets, state, &fit, &e);
    ck_assert_msg(!rc, "%s", e.message);
    ck_assert_int_eq(fit, EK_RESTORE_FULL);
    ck_assert(ek_guard_paused(g, &since));
    ck_assert_str_eq(since.actor, "bo");
    for (int i = 0; i < 2; i++) {
        ek_buf_init(&shown[i], 0);
        must(ek_guard_pins_json(i ? g : b->guard, &shown[i]));
    }
    ck_assert_str_eq(ek_buf_string(&shown[0]), ek_buf_string(&shown[1]));
    for (int i = 0; i < 2; i++)
        ek_buf_release(&shown[i]);
    ek_state_free(state);
    ek_guard_free(g);
    bench_free(b);
}
END_TEST

static void pins_of(const struct ek_guard *g, struct ek_buf *out)
{
    ek_buf_init(out, 0);
    must(ek_guard_pins_json(g, out));
}

/* Restore under a new profile: operator commands are independent of it. */
static struct ek_guard *load_other(struct bench *b, const char *rules, struct ek_assets *other)
{
    struct ek_guard *g = NULL;
    struct ek_error e = {0};
    enum ek_restore_result fit;
    must(ek_guard_save(b->guard, 0, "", 0, state_put, &b->store, NULL));
    struct ek_state *state = state_of(&b->store, 1);
    state_assets_open(other, rules, TRAINING / 2);
    int rc = ek_guard_load(&g, other, state, &fit, &e);
    ck_assert_msg(!rc, "%s", e.message);
    ck_assert_int_eq(fit, EK_RESTORE_COUNTERS_ONLY);
    ek_state_free(state);
    return g;
}

START_TEST(with_another_profile_pins_of_people_go_on)
{
    struct bench *b = bench_of_orders();
    struct ek_assets other;
    struct ek_buf was, is;
    struct ek_guard *g = load_other(b, STATE_RULES, &other);
    pins_of(b->guard, &was);
    pins_of(g, &is);
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&is), "{\"market\":\"M1\"}"));
    ck_assert_str_eq(ek_buf_string(&was), ek_buf_string(&is));
    ek_buf_release(&was);
    ek_buf_release(&is);
    ek_guard_free(g);
    ek_assets_release(&other);
    bench_free(b);
}
END_TEST

START_TEST(a_pin_whose_segment_is_no_more_is_told_as_gone)
{
    struct bench *b = bench_of_orders();
    struct ek_assets other;
    struct ek_buf is;
    struct ek_guard *g = load_other(b, "version: 1\nsegments: [arm]\n", &other);
    pins_of(g, &is);
    ck_assert_ptr_null(strstr(ek_buf_string(&is), "M1"));
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&is), "\"action\":\"alert\""));
    ek_buf_clear(&is);
    must(ek_guard_history(g, &(struct ek_history_request){.count = 100}, &is, NULL));
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&is), "\"type\":\"unpin\""));
    ck_assert_ptr_nonnull(
        strstr(ek_buf_string(&is), "the pin of ana is gone, there is no such segment any more"));
    ek_buf_release(&is);
    ek_guard_free(g);
    ek_assets_release(&other);
    bench_free(b);
}
END_TEST

Suite *suite_state_commands(void)
{
    return ek_suite("state_orders", the_golden_file_of_orders_is_what_this_version_writes,
                    with_another_profile_pins_of_people_go_on,
                    a_pin_whose_segment_is_no_more_is_told_as_gone);
}
