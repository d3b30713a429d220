/* Allocation failures while a guard's state is collected, loaded, saved and merged. */
#include "tests/alloc/sweep.h"
#include "tests/check.h"
#include "tests/state_world.h"

enum { LISTS = 90, TRAINING = 400, FAULT_FROM = 30 };

static struct ek_assets assets, twin;
static struct state_store store;
static struct ek_state *state;
static size_t saved; /* bytes */

static int gather(struct ek_error *e)
{
    struct ek_state *s = NULL;
    int rc = ek_state_new(&s, e), head = state_find(&store, "head");
    for (int i = 0; i < store.count && !rc; i++)
        if (i != head)
            rc = ek_state_add(s, store.record[i].key, store.record[i].bytes, store.record[i].length,
                              e);
    if (!rc)
        rc = ek_state_add(s, "head", store.record[head].bytes, store.record[head].length, e);
    int good = rc || ek_checkpoint_number(s) == 1;
    ek_state_free(s);
    return good ? rc : ek_fail(e, EK_ESTATE, "no base");
}

static int load(struct ek_guard **g, struct ek_error *e)
{
    enum ek_restore_result fit;
    *g = NULL;
    int rc = ek_guard_load(g, &assets, state, &fit, e);
    return rc && *g ? ek_fail(e, EK_ESTATE, "a part of a guard was left") : rc;
}

static int load_alone(struct ek_error *e)
{
    struct ek_guard *g;
    int rc = load(&g, e);
    ek_guard_free(g);
    return rc;
}

/* After a failure the next checkpoint is complete. */
static int save(struct ek_error *e)
{
    struct ek_guard *g;
    size_t bytes = 0;
    int rc = load(&g, e), again = EK_OK;
    if (!rc)
        rc = ek_guard_save(g, 0, NULL, 0, state_count, &bytes, e);
    if (rc && g) {
        bytes = 0;
        again = ek_guard_save(g, 0, NULL, 0, state_count, &bytes, NULL);
    }
    int whole = !g || again || bytes == saved;
    ek_guard_free(g);
    return whole ? rc : ek_fail(e, EK_ESTATE, "not all was written");
}

/* A failure leaves the guard unchanged. */
static int set_anew(struct ek_error *e)
{
    struct ek_guard *g;
    enum ek_restore_result fit;
    size_t bytes = 0;
    int rc = load(&g, e), good = 1;
    if (rc)
        return rc;
    rc = ek_guard_set_assets(g, &twin, &fit, e);
    if (rc)
        good = ek_guard_save(g, 1, NULL, 0, state_count, &bytes, NULL) || bytes == saved;
    ek_guard_free(g);
    return good ? rc : ek_fail(e, EK_ESTATE, "the guard is not as it was");
}

static int merge(struct ek_error *e)
{
    struct ek_guard *a, *b = NULL;
    int rc = load(&a, e);
    if (!rc)
        rc = load(&b, e);
    if (!rc)
        rc = ek_guard_merge(a, b, e);
    ek_guard_free(a);
    ek_guard_free(b);
    return rc;
}

/* Merge accepted shifts into a guard without segments. */
static int merge_accepted(struct ek_error *e)
{
    struct ek_guard *a, *b = NULL;
    uint64_t version;
    int rc = ek_guard_new(&a, &assets, e);
    if (rc)
        return rc;
    rc = load(&b, e);
    if (!rc)
        rc = ek_guard_accept(b, "price", NULL, NULL, NULL, NULL, &version, e);
    if (!rc)
        rc = ek_guard_merge(a, b, e);
    ek_guard_free(a);
    ek_guard_free(b);
    return rc;
}

static void cents(struct shop *s, struct ek_list *q)
{
    for (int i = 0; s->number > FAULT_FROM && i < q->items; i++)
        q->x[2 * i] *= 100;
}

static void set_up(void)
{
    static const char text[] = "version: 1\n"
                               "defaults: {mode: enforce, confirmation_lists: 16}\n"
                               "segments: [arm]\n"
                               "windows: {length: 20s, retention: 2, max_segments: 2}\n";
    static const char other[] = "version: 1\n"
                                "defaults: {mode: observe, confirmation_lists: 16}\n"
                                "segments: [arm]\n";
    struct ek_guard *g;
    struct shop s;
    struct ek_buf message;
    state_assets_open(&assets, text, TRAINING);
    state_assets_open(&twin, other, TRAINING);
    shop_open(&s, 3, STATE_MARKETS);
    ek_buf_init(&message, 0);
    ck_assert_int_eq(ek_guard_new(&g, &assets, NULL), EK_OK);
    for (int i = 0; i < LISTS; i++) {
        state_message(&s, &assets, &message, cents);
        ck_assert_int_eq(ek_guard_observe(g, message.data, message.length, 0, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_guard_save(g, 0, NULL, 0, state_put, &store, NULL), EK_OK);
    saved = store.bytes;
    state = state_of(&store, 1);
    ek_guard_free(g);
    shop_close(&s);
    ek_buf_release(&message);
}

static void tear_down(void)
{
    ek_state_free(state);
    state_clear(&store);
    ek_assets_release(&assets);
    ek_assets_release(&twin);
}

START_TEST(gathering_without_memory_leaves_nothing)
{
    set_up();
    ek_sweep(gather);
    tear_down();
}
END_TEST

START_TEST(loading_without_memory_leaves_nothing)
{
    set_up();
    ek_sweep(load_alone);
    tear_down();
}
END_TEST

START_TEST(saving_without_memory_leaves_nothing)
{
    set_up();
    ek_sweep(save);
    tear_down();
}
END_TEST

START_TEST(joining_without_memory_leaves_nothing)
{
    set_up();
    ek_sweep(merge);
    tear_down();
}
END_TEST

START_TEST(joining_accepts_without_memory_leaves_nothing)
{
    set_up();
    ek_sweep(merge_accepted);
    tear_down();
}
END_TEST

START_TEST(other_assets_without_memory_leave_the_guard_as_it_was)
{
    set_up();
    ek_sweep(set_anew);
    tear_down();
}
END_TEST

Suite *suite_state(void)
{
    return ek_suite("state without memory", gathering_without_memory_leaves_nothing,
                    loading_without_memory_leaves_nothing, saving_without_memory_leaves_nothing,
                    joining_without_memory_leaves_nothing,
                    joining_accepts_without_memory_leaves_nothing,
                    other_assets_without_memory_leave_the_guard_as_it_was);
}
