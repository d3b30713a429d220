/* What people have said in the state of a guard: the golden file of it. */
#include "tests/check.h"
#include "tests/state_bench.h"
#include "tests/state_capture.h"

#include "guard/guard_orders.h"
#include "guard/guard_pins.h"

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
    struct ek_decided since;
    struct ek_buf shown[2];
    enum ek_state_fit fit;
    struct ek_error e = {0};
    struct ek_state *state = state_capture_golden(b->guard, "told", "state-orders-1.ekc");
    int rc = ek_guard_load(&g, &b->assets, state, &fit, &e);
    ck_assert_msg(!rc, "%s", e.message);
    ck_assert_int_eq(fit, EK_STATE_WHOLE);
    ck_assert(ek_guard_paused(g, &since));
    ck_assert_str_eq(since.who, "bo");
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

Suite *suite_state_orders(void)
{
    return ek_suite("state_orders", the_golden_file_of_orders_is_what_this_version_writes);
}
