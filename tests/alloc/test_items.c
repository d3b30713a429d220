/* Allocation failures with messages of one item: a fault is found and routed; the guard is saved,
 * loaded and merged. */
#include "tests/alloc/sweep.h"
#include "tests/check.h"
#include "tests/items.h"
#include "tests/state_world.h"

enum { LISTS = 60, TRAINING = 400, FAULT_FROM = 10, ITEMS_MAX = LISTS * 30 };
enum { WARM = 400 }; /* lists, of which one was compared with the model */

static const char RULES[] = "version: 1\n"
                            "defaults: {mode: enforce, confirmation_lists: 16}\n"
                            "segments: [arm]\n"
                            "windows: {length: 20s, retention: 2, max_segments: 2}\n";

static struct ek_assets assets;
static struct ek_buf message[ITEMS_MAX];
static int messages;
static struct state_store store;
static struct ek_state *state;

static void make_messages(void)
{
    struct shop s;
    shop_open(&s, 3, STATE_MARKETS);
    for (int n = 0; n < LISTS; n++) {
        struct ek_list *q = shop_next(&s);
        for (int i = 0; n >= FAULT_FROM && i < q->items; i++)
            q->x[2 * i] *= 100;
        item_means(q, assets.manifest);
        for (int i = 0; i < q->items; i++) {
            ek_buf_init(&message[messages], 0);
            ck_assert_int_eq(ek_codec_encode_item(assets.manifest, q, i, EK_FEATURES_ARRAY,
                                                  &message[messages++], NULL),
                             EK_OK);
        }
    }
    shop_close(&s);
}

static int pass(struct ek_guard *g, int i, int *routed, struct ek_error *e)
{
    const char *json;
    size_t length;
    int rc = ek_guard_observe(g, message[i].data, message[i].length, 1000, e);
    if (rc)
        return rc;
    if (!ek_guard_score(g, &length, e))
        return (int)e->code;
    *routed += !strcmp(ek_guard_action(g), "routed");
    int more;
    while ((more = ek_guard_next_event(g, &json)) > 0)
        ;
    return more < 0 ? ek_fail(e, EK_ENOMEM, "no memory for an event") : EK_OK;
}

static void set_up(void)
{
    const struct ek_mapping items = {.layout = EK_LAYOUT_ITEM};
    struct ek_guard *g;
    int routed = 0;
    state_assets_open(&assets, RULES, TRAINING);
    ek_codec_free(assets.codec);
    ck_assert_int_eq(ek_codec_new(&assets.codec, assets.manifest, &items, NULL, NULL), EK_OK);
    assets.assembly.queries = 64;
    make_messages();
    ck_assert_int_eq(ek_guard_new(&g, &assets, NULL), EK_OK);
    for (int i = 0; i < messages - 3; i++)
        ck_assert_int_eq(pass(g, i, &routed, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_save(g, 0, NULL, 0, state_put, &store, NULL), EK_OK);
    state = state_of(&store, 1);
    ek_guard_free(g);
}

static void tear_down(void)
{
    ek_state_free(state);
    state_clear(&store);
    for (int i = 0; i < messages; i++)
        ek_buf_release(&message[i]);
    messages = 0;
    ek_assets_release(&assets);
}

static int stream(struct ek_error *e)
{
    struct ek_guard *g;
    int routed = 0;
    int rc = ek_guard_new(&g, &assets, e);
    if (rc)
        return rc;
    for (int i = 0; i < messages && !rc; i++)
        rc = pass(g, i, &routed, e);
    if (!rc)
        rc = ek_guard_advance(g, 100000, e);
    ek_guard_free(g);
    if (!rc && !routed)
        return ek_fail(e, EK_ESTATE, "nothing was routed, so routing was not tried");
    return rc;
}

START_TEST(items_without_memory_leave_nothing)
{
    set_up();
    ek_sweep(stream);
    tear_down();
}
END_TEST

/* An item rejected for lack of memory is accepted on a retry. */
START_TEST(a_guard_of_items_goes_on_when_memory_is_back)
{
    struct ek_error e;
    set_up();
    for (long n = 1; n < 60; n++) {
        struct ek_guard *g;
        int routed = 0, again = 0;
        ck_assert_int_eq(ek_guard_new(&g, &assets, &e), EK_OK);
        ek_sweep_fail(n);
        for (int i = 0; i < messages; i++) {
            int rc = pass(g, i, &routed, &e);
            if (rc == EK_ENOMEM && again++ == 0)
                rc = pass(g, i, &routed, &e);
            if (rc)
                break;
        }
        ek_sweep_fail(0);
        ck_assert_int_le(again, 1);
        ck_assert_int_gt(routed, 0);
        ck_assert_uint_eq(ek_guard_list_count(g), LISTS);
        ek_guard_free(g);
    }
    tear_down();
}
END_TEST

static int load(struct ek_guard **g, struct ek_error *e)
{
    enum ek_restore_result fit;
    *g = NULL;
    return ek_guard_load(g, &assets, state, &fit, e);
}

static int load_join_and_save(struct ek_error *e)
{
    struct ek_guard *a, *b = NULL;
    size_t bytes = 0;
    int rc = load(&a, e);
    if (!rc)
        rc = load(&b, e);
    if (!rc)
        rc = ek_guard_merge(a, b, e);
    if (!rc)
        rc = ek_guard_save(a, 1, NULL, 0, state_count, &bytes, e);
    ek_guard_free(a);
    ek_guard_free(b);
    return rc;
}

START_TEST(a_state_of_items_without_memory_leaves_nothing)
{
    set_up();
    ek_sweep(load_join_and_save);
    tear_down();
}
END_TEST

/* New lists reuse the memory of completed lists of the same size. */
START_TEST(a_warm_guard_of_items_asks_for_no_memory)
{
    struct ek_guard *g;
    struct ek_list q;
    char id[16], item[16];
    long calls = 0;
    int routed = 0;
    set_up();
    ek_list_init(&q);
    ck_assert_int_eq(ek_guard_new(&g, &assets, NULL), EK_OK);
    for (int n = 0; n < 2 * WARM; n++) {
        calls = n == WARM ? 0 : calls;
        for (int i = 0; i < 20; i++) {
            snprintf(id, sizeof id, "q%d", n);
            snprintf(item, sizeof item, "i%d", i);
            item_make(&q, id, item, 20, 90 + (float)((7 * n + i) % 20));
            q.x[1] = (float)(1 + i % 4);
            q.time_ms = 0;
            ek_buf_clear(&message[0]);
            ck_assert_int_eq(
                ek_codec_encode_item(assets.manifest, &q, 0, EK_FEATURES_ARRAY, &message[0], NULL),
                EK_OK);
            long before = ek_sweep_calls();
            struct ek_error e;
            int rc = pass(g, 0, &routed, &e);
            calls += ek_sweep_calls() - before;
            /* The model cannot score an item without its list. */
            ck_assert_msg(rc == EK_OK || rc == EK_EFORMAT, "%d: %s", rc, e.message);
        }
    }
    ck_assert_int_eq(calls, 0);
    ck_assert_uint_eq(ek_guard_list_count(g), 2 * WARM);
    ek_list_release(&q);
    ek_guard_free(g);
    tear_down();
}
END_TEST

Suite *suite_items(void)
{
    return ek_suite("items without memory", items_without_memory_leave_nothing,
                    a_guard_of_items_goes_on_when_memory_is_back,
                    a_state_of_items_without_memory_leaves_nothing,
                    a_warm_guard_of_items_asks_for_no_memory);
}
