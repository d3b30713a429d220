/* Allocation failures during pin, pause and resume, and while their state is saved, loaded and
 * merged. */
#include "tests/alloc/sweep.h"
#include "tests/check.h"
#include "tests/state_world.h"

#include "guard/operator_json.h"
#include "guard/operator_commands.h"

enum { LISTS = 6, TRAINING = 400 };

static const char RULES[] =
    "version: 1\n"
    "segments: [arm]\n"
    "windows: {length: 20s, retention: 2, max_segments: 2}\n"
    "pins: [{feature: price, segment: {arm: B}, action: route, actor: bo, reason: miles}]\n";

static struct ek_assets assets;
static struct ek_buf message[LISTS];

static int order(struct ek_guard *g, struct ek_error *e)
{
    int rc = EK_OK;
    for (int i = 0; i < LISTS && !rc; i++)
        rc = ek_guard_observe(g, message[i].data, message[i].length, 0, e);
    if (!rc)
        rc = ek_guard_pin(g, "price", "arm", "C", "route", 0, "ana", "odd", e);
    if (!rc)
        rc = ek_guard_pin(g, "price", "arm", "C", "none", 6500, "ana", NULL, e);
    if (!rc)
        rc = ek_guard_pin(g, "price", NULL, NULL, "route", 0, NULL, "odd", e);
    if (!rc)
        rc = ek_guard_unpin(g, "price", NULL, NULL, "ana", NULL, e);
    return rc ? rc : ek_guard_pause(g, "ana", "odd", e);
}

static int order_alone(struct ek_error *e)
{
    struct ek_guard *g;
    struct ek_buf shown;
    const struct ek_history_request wish = {.count = 100};
    int rc = ek_guard_new(&g, &assets, e);
    if (rc)
        return rc;
    ek_buf_init(&shown, 0);
    rc = order(g, e);
    if (!rc)
        rc = ek_guard_resume(g, NULL, NULL, e);
    if (!rc)
        rc = ek_guard_advance(g, 1000, e);
    if (!rc)
        rc = ek_guard_history(g, &wish, &shown, e);
    ek_buf_release(&shown);
    ek_guard_free(g);
    return rc;
}

static struct ek_state *state;

static int load_and_join(struct ek_error *e)
{
    struct ek_guard *a, *b = NULL;
    enum ek_restore_result fit;
    size_t bytes = 0;
    int rc = ek_guard_new(&a, &assets, e);
    if (rc)
        return rc;
    rc = ek_guard_load(&b, &assets, state, &fit, e);
    if (!rc)
        rc = ek_guard_copy_pause(a, b, e);
    if (!rc)
        rc = ek_guard_merge(a, b, e);
    if (!rc)
        rc = ek_guard_save(a, 0, NULL, 0, state_count, &bytes, e);
    ek_guard_free(a);
    ek_guard_free(b);
    return rc;
}

static void set_up(void)
{
    struct shop s;
    state_assets_open(&assets, RULES, TRAINING);
    shop_open(&s, 3, STATE_MARKETS);
    for (int i = 0; i < LISTS; i++) {
        ek_buf_init(&message[i], 0);
        state_message(&s, &assets, &message[i], NULL);
    }
    shop_close(&s);
}

static void tear_down(void)
{
    for (int i = 0; i < LISTS; i++)
        ek_buf_release(&message[i]);
    ek_assets_release(&assets);
}

START_TEST(orders_without_memory_leave_nothing)
{
    set_up();
    ek_sweep(order_alone);
    tear_down();
}
END_TEST

START_TEST(what_was_ordered_is_loaded_and_joined_without_memory)
{
    static struct state_store store;
    struct ek_guard *g;
    set_up();
    ck_assert_int_eq(ek_guard_new(&g, &assets, NULL), EK_OK);
    ck_assert_int_eq(order(g, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_save(g, 0, NULL, 0, state_put, &store, NULL), EK_OK);
    ek_guard_free(g);
    state = state_of(&store, 1);
    ek_sweep(load_and_join);
    ek_state_free(state);
    state_clear(&store);
    tear_down();
}
END_TEST

Suite *suite_commands(void)
{
    return ek_suite("orders without memory", orders_without_memory_leave_nothing,
                    what_was_ordered_is_loaded_and_joined_without_memory);
}
