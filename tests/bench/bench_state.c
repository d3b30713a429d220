/* Guard state: pause for a full and an incremental checkpoint, and time to restore. */
#include "base/buf.h"
#include "lists/codec.h"
#include "evenkeel.h"
#include "serve/assets.h"
#include "tests/bench/bench.h"
#include "tests/bench/world.h"
#include "tests/must.h"
#include "tests/state_world.h"

#include <stdlib.h>

enum { FEATURES = 136, ITEMS = 20, TRAINING = 3000, LISTS = 5000, ARMS = 7, LIST_MS = 1000 };

struct work {
    struct ek_assets assets;
    struct ek_guard *guard;
    struct ek_bench_list list;
    struct ek_buf message;
    struct state_store store;
    size_t bytes; /* of the last save */
};

static void observe(struct work *w)
{
    static const char arms[ARMS] = "ABCDEFG";
    ek_bench_list_next(&w->list, FEATURES, ITEMS);
    w->list.q.segments[0].value = (struct ek_text){&arms[w->list.number % ARMS], 1};
    w->list.q.time_ms = LIST_MS * w->list.number;
    ek_buf_clear(&w->message);
    must(ek_codec_encode(w->assets.manifest, &w->list.q, EK_FEATURES_BIN, &w->message, NULL));
    must(ek_guard_observe(w->guard, w->message.data, w->message.length, 0, NULL));
}

static void save(struct work *w, int whole)
{
    w->bytes = 0;
    must(ek_guard_save(w->guard, whole, NULL, 0, state_count, &w->bytes, NULL));
}

static void save_whole(void *context)
{
    save(context, 1);
}

/* Afterwards all segments have changed. */
static void observe_100(void *context)
{
    for (int i = 0; i < 100; i++)
        observe(context);
}

static void save_changed(void *context)
{
    observe_100(context);
    save(context, 0);
}

static void load(void *context)
{
    const struct work *w = context;
    struct ek_state *state = state_of(&w->store, 1);
    struct ek_guard *g;
    enum ek_restore_result fit;
    must(ek_guard_load(&g, &w->assets, state, &fit, NULL));
    ek_guard_free(g);
    ek_state_free(state);
}

static void open_work(struct work *w)
{
    static const char text[] = "version: 1\nsegments: [arm]\n";
    w->assets.manifest = ek_bench_manifest(FEATURES);
    w->assets.profile = ek_bench_list_profile(w->assets.manifest, 1, TRAINING, ITEMS, NULL);
    ek_bench_list_init(&w->list, 2);
    ek_buf_init(&w->message, 0);
    must(
        ek_rules_parse(&w->assets.rules, w->assets.manifest, "bench", text, sizeof text - 1, NULL));
    must(ek_codec_new(&w->assets.codec, w->assets.manifest, NULL, NULL, NULL));
    must(ek_guard_new(&w->guard, &w->assets, NULL));
    for (int i = 0; i < LISTS; i++)
        observe(w);
    must(ek_guard_save(w->guard, 1, NULL, 0, state_put, &w->store, NULL));
}

static void close_work(struct work *w)
{
    state_clear(&w->store);
    ek_guard_free(w->guard);
    ek_buf_release(&w->message);
    ek_bench_list_release(&w->list);
    ek_assets_release(&w->assets);
    free(w);
}

void bench_state(struct ek_bench *b)
{
    struct work *w = ek_bench_memory(1, sizeof *w);
    open_work(w);
    double load_s = ek_bench_seconds(b, load, w);
    double whole_s = ek_bench_seconds(b, save_whole, w);
    double whole_bytes = (double)w->bytes;
    double lists_s = ek_bench_seconds(b, observe_100, w);
    double changed_s = ek_bench_seconds(b, save_changed, w) - lists_s;
    ek_bench_record(b, "136 features, 8 cells, 12 windows, load", "ms", 1e3 * load_s, NULL, 0);
    ek_bench_record(b, "136 features, 8 cells, 12 windows, save all", "ms", 1e3 * whole_s, NULL, 0);
    ek_bench_record(b, "136 features, 8 cells, 12 windows, save after 100 lists", "ms",
                    1e3 * changed_s, NULL, 0);
    ek_bench_record(b, "136 features, 8 cells, 12 windows, all", "KiB", whole_bytes / 1024, NULL,
                    0);
    ek_bench_record(b, "136 features, 8 cells, 12 windows, after 100 lists", "KiB",
                    (double)w->bytes / 1024, NULL, 0);
    close_work(w);
}
