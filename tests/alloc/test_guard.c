/* Allocation failures while a guard is set up, finds a fault, and scores under its plan. */
#include "tests/alloc/scratch.h"
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include "base/alloc.h"
#include "base/file.h"
#include "lists/codec.h"
#include "assets/model.h"
#include "evenkeel.h"
#include "offline/world/faults.h"
#include "offline/world/hotel.h"
#include "offline/fit/profile_fit.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { TRAINING_LISTS = 600, LISTS = 260, FAULT_FROM = 20 };

static const char RULES[] = "version: 1\n"
                            "segments: [arm]\n"
                            "features: {price: {mode: enforce, units: [cents]}}\n";

/* A value that no list contains needs its own segment. */
static const char MODES[] = "version: 1\n"
                            "segments: [arm]\n"
                            "limits: {max_routed_share: 0.9}\n"
                            "features: {price: {mode: canary, mode_in: {arm: {Z: shadow}}}}\n";

static struct ek_manifest *manifest;
static struct ek_assets *assets;
static struct ek_buf message[LISTS];

static void write_text(const char *name, const char *text)
{
    struct ek_writer *w;
    ck_assert_int_eq(ek_writer_open(&w, ek_scratch(name).path, NULL), EK_OK);
    ck_assert_int_eq(ek_writer_write(w, text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_writer_close(w, NULL), EK_OK);
}

static void write_model(void)
{
    static const struct ek_model_shape shape = {
        .hidden_count = 1, .hidden = {8}, .gate_size = 4, .log_input = EK_LOG_ALWAYS};
    struct ek_model *model;
    ck_assert_int_eq(ek_model_new(&model, manifest, &shape, NULL), EK_OK);
    for (int i = 0; i < model->item_features; i++)
        model->item_sd[i] = 1;
    for (int i = 0; i < model->query_features; i++)
        model->query_sd[i] = 1;
    for (int i = 0; i < model->routable_count; i++)
        model->log_sd[i] = 1;
    ck_assert_int_eq(ek_model_save(model, ek_scratch("m.safetensors").path, NULL), EK_OK);
    ek_model_free(model);
}

static void write_profile(struct ek_hotel *hotel, struct ek_list *q)
{
    struct ek_profile_fit *fit;
    struct ek_profile *profile;
    ck_assert_int_eq(ek_profile_fit_new(&fit, manifest, NULL, NULL), EK_OK);
    for (uint64_t i = 0; i < TRAINING_LISTS; i++) {
        ck_assert_int_eq(ek_hotel_list(hotel, i, q, NULL), EK_OK);
        ck_assert_int_eq(ek_profile_fit_add(fit, q, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_profile_fit_finish(fit, &profile, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_save(profile, ek_scratch("p.ekp").path, NULL), EK_OK);
    ek_profile_free(profile);
    ek_profile_fit_free(fit);
}

static void make_messages(struct ek_hotel *hotel, struct ek_list *q)
{
    struct ek_fault fault;
    ck_assert_int_eq(ek_fault_parse(&fault, manifest, "price=x100", NULL), EK_OK);
    for (uint64_t i = 0; i < LISTS; i++) {
        ck_assert_int_eq(ek_hotel_list(hotel, TRAINING_LISTS + i, q, NULL), EK_OK);
        for (int k = 0; k < q->items; k++)
            q->score[k] = k;
        if (i >= FAULT_FROM)
            ek_fault_apply(&fault, q, i, 1);
        ek_buf_init(&message[i], 0);
        ck_assert_int_eq(ek_codec_encode(manifest, q, EK_FEATURES_ARRAY, &message[i], NULL), EK_OK);
    }
    ek_fault_release(&fault);
}

static void set_up(void)
{
    struct ek_hotel *hotel;
    struct ek_list q;
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&manifest, "hotel", text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_hotel_new(&hotel, 5, NULL), EK_OK);
    ek_list_init(&q);
    write_text("features.yaml", text);
    write_text("rules.yaml", RULES);
    write_model();
    write_profile(hotel, &q);
    make_messages(hotel, &q);
    ek_list_release(&q);
    ek_hotel_free(hotel);
}

static void tear_down(void)
{
    for (int i = 0; i < LISTS; i++)
        ek_buf_release(&message[i]);
    ek_manifest_free(manifest);
}

static int load_assets(struct ek_error *e)
{
    struct ek_scratch m = ek_scratch("features.yaml"), p = ek_scratch("p.ekp"),
                      r = ek_scratch("rules.yaml"), s = ek_scratch("m.safetensors");
    struct ek_assets *a;
    int rc = ek_assets_load(&a, m.path, p.path, r.path, s.path, e);
    if (!rc)
        ek_assets_free(a);
    return rc;
}

START_TEST(assets_without_memory_leave_nothing)
{
    set_up();
    ek_sweep(load_assets);
    tear_down();
}
END_TEST

static int guard_one(struct ek_guard *g, const struct ek_buf *bytes, int *routed,
                     struct ek_error *e)
{
    const char *json;
    size_t length;
    int rc = ek_guard_observe(g, bytes->data, bytes->length, 1000, e);
    if (rc)
        return rc;
    if (!ek_guard_score(g, &length, e))
        return (int)e->code;
    *routed += !strcmp(ek_guard_action(g), "routed");
    int more;
    while ((more = ek_guard_next_event(g, &json)) > 0)
        ;
    return more < 0 ? ek_fail(e, EK_ENOMEM, "no memory for an event")
                    : ek_guard_advance(g, 1000, e);
}

static int guard_stream(struct ek_error *e)
{
    struct ek_guard *g;
    int routed = 0;
    uint64_t version;
    int rc = ek_guard_new(&g, assets, e);
    if (rc)
        return rc;
    for (int i = 0; i < LISTS && !rc; i++)
        rc = guard_one(g, &message[i], &routed, e);
    if (!rc && !ek_guard_plan(g, NULL, e))
        rc = (int)e->code;
    if (!rc)
        rc = ek_guard_accept(g, "price", NULL, NULL, "ana", "meant", &version, e);
    if (!rc)
        rc = ek_guard_revert(g, version, "ana", "not meant", e);
    ek_guard_free(g);
    if (!rc && !routed)
        return ek_fail(e, EK_ESTATE, "nothing was routed, so routing was not tried");
    return rc;
}

START_TEST(a_guard_without_memory_leaves_nothing)
{
    set_up();
    ck_assert_int_eq(ek_assets_load(&assets, ek_scratch("features.yaml").path,
                                    ek_scratch("p.ekp").path, ek_scratch("rules.yaml").path,
                                    ek_scratch("m.safetensors").path, NULL),
                     EK_OK);
    ek_sweep(guard_stream);
    ek_assets_free(assets);
    tear_down();
}
END_TEST

static int guard_modes(struct ek_error *e)
{
    struct ek_guard *g;
    int routed = 0;
    int rc = ek_guard_new(&g, assets, e);
    if (rc)
        return rc;
    for (int i = 0; i < LISTS && !rc; i++)
        rc = guard_one(g, &message[i], &routed, e);
    ek_guard_free(g);
    return rc;
}

START_TEST(modes_of_segments_without_memory_leave_nothing)
{
    set_up();
    write_text("modes.yaml", MODES);
    ck_assert_int_eq(ek_assets_load(&assets, ek_scratch("features.yaml").path,
                                    ek_scratch("p.ekp").path, ek_scratch("modes.yaml").path,
                                    ek_scratch("m.safetensors").path, NULL),
                     EK_OK);
    ek_sweep(guard_modes);
    ek_assets_free(assets);
    tear_down();
}
END_TEST

/* A message rejected for lack of memory is accepted on a retry. */
START_TEST(a_guard_goes_on_when_memory_is_back)
{
    set_up();
    struct ek_error e;
    ck_assert_int_eq(ek_assets_load(&assets, ek_scratch("features.yaml").path,
                                    ek_scratch("p.ekp").path, ek_scratch("rules.yaml").path,
                                    ek_scratch("m.safetensors").path, &e),
                     EK_OK);
    for (long n = 1; n < 60; n++) {
        struct ek_guard *g;
        int routed = 0, again = 0;
        ck_assert_int_eq(ek_guard_new(&g, assets, &e), EK_OK);
        ek_sweep_fail(n);
        for (int i = 0; i < LISTS; i++) {
            int rc = guard_one(g, &message[i], &routed, &e);
            if (rc == EK_ENOMEM && again++ == 0)
                rc = guard_one(g, &message[i], &routed, &e);
            if (rc)
                break;
        }
        ek_sweep_fail(0);
        ck_assert_int_le(again, 1);
        ck_assert_int_gt(routed, 0);
        ek_guard_free(g);
    }
    ek_assets_free(assets);
    tear_down();
}
END_TEST

static void load(struct ek_guard **g)
{
    ck_assert_int_eq(ek_assets_load(&assets, ek_scratch("features.yaml").path,
                                    ek_scratch("p.ekp").path, ek_scratch("rules.yaml").path,
                                    ek_scratch("m.safetensors").path, NULL),
                     EK_OK);
    ck_assert_int_eq(ek_guard_new(g, assets, NULL), EK_OK);
}

/* Healthy lists in sequence, msgpack and JSON alternating. */
struct traffic {
    struct ek_hotel *hotel;
    struct ek_list q;
    struct ek_buf bytes;
    uint64_t number;
};

static void start_traffic(struct traffic *t)
{
    ck_assert_int_eq(ek_hotel_new(&t->hotel, 5, NULL), EK_OK);
    ek_list_init(&t->q);
    ek_buf_init(&t->bytes, 0);
    t->number = TRAINING_LISTS;
}

static void end_traffic(struct traffic *t)
{
    ek_hotel_free(t->hotel);
    ek_list_release(&t->q);
    ek_buf_release(&t->bytes);
}

/* Return the number of allocation calls of the guard. */
static long send_one(struct traffic *t, struct ek_guard *g)
{
    struct ek_error e;
    int routed = 0;
    ck_assert_int_eq(ek_hotel_list(t->hotel, t->number, &t->q, NULL), EK_OK);
    ek_buf_clear(&t->bytes);
    ck_assert_int_eq(ek_codec_encode(manifest, &t->q,
                                     t->number++ % 2 ? EK_FEATURES_JSON : EK_FEATURES_ARRAY,
                                     &t->bytes, NULL),
                     EK_OK);
    long before = ek_sweep_calls();
    int rc = guard_one(g, &t->bytes, &routed, &e);
    long calls = ek_sweep_calls() - before; /* Check allocates too */
    ck_assert_msg(!rc, "%s", e.message);
    return calls;
}

/* Stays within one window, because closing one allocates its summary. */
START_TEST(a_warm_guard_asks_for_no_memory_while_nothing_happens)
{
    enum { WARM = 250, MEASURED = 150 };
    struct traffic t;
    struct ek_guard *g;
    long calls = 0;
    set_up();
    load(&g);
    start_traffic(&t);
    for (int i = 0; i < WARM; i++)
        calls += send_one(&t, g);
    ck_assert_int_gt(calls, 0); /* the counter works */
    calls = 0;
    for (int i = 0; i < MEASURED; i++)
        calls += send_one(&t, g);
    ck_assert_int_eq(calls, 0);
    end_traffic(&t);
    ek_guard_free(g);
    ek_assets_free(assets);
    tear_down();
}
END_TEST

/* EK_FLAT_LISTS sets the count. The first half fills windows, segments and caches. */
START_TEST(memory_stays_flat_over_many_lists)
{
    const char *text = getenv("EK_FLAT_LISTS");
    long lists = text ? strtol(text, NULL, 10) : 12000;
    struct traffic t;
    struct ek_guard *g;
    set_up();
    load(&g);
    start_traffic(&t);
    for (long i = 0; i < lists / 2; i++)
        send_one(&t, g);
    struct mallinfo2 half = mallinfo2();
    for (long i = lists / 2; i < lists; i++)
        send_one(&t, g);
    struct mallinfo2 all = mallinfo2();
    size_t before = half.uordblks + half.hblkhd, after = all.uordblks + all.hblkhd;
    ck_assert_msg(after <= before + before / 50, "%zu bytes at half, %zu at the end", before,
                  after);
    end_traffic(&t);
    ek_guard_free(g);
    ek_assets_free(assets);
    tear_down();
}
END_TEST

Suite *suite_guard(void)
{
    return ek_suite("guard without memory", assets_without_memory_leave_nothing,
                    modes_of_segments_without_memory_leave_nothing,
                    a_guard_without_memory_leaves_nothing, a_guard_goes_on_when_memory_is_back,
                    a_warm_guard_asks_for_no_memory_while_nothing_happens,
                    memory_stays_flat_over_many_lists);
}
