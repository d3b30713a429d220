/* Observe: cost of the detector per decoded list (statistics, evidence, history), of the live
 * sketches, and of the whole path from bytes. Also the time to move a detector. */
#include "lists/codec.h"
#include "detect/evidence_export.h"
#include "serve/assets.h"
#include "guard/live_sketches.h"
#include "num/windows.h"
#include "tests/bench/bench.h"
#include "tests/measure.h"

#include "base/buf.h"
#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 136, ITEMS = 20, LISTS = 1000, TRAINING = 10000, ARMS = 8 };

struct work {
    struct ek_detector *detector;
    struct ek_list *lists;
    struct ek_live_sketches *traffic;
    struct ek_cells *cells;
    struct ek_guard *guard;
    struct ek_buf *messages;
    int arms; /* 0: all traffic only */
    float values[ITEMS * FEATURES];
};

static void fill(struct ek_list *q, int features, struct ek_rng *r)
{
    if (ek_list_resize(q, ITEMS, features, 1))
        abort();
    q->query[0] = 1;
    q->time_ms = 0;
    q->segment_count = 1;
    q->segments[0] = (struct ek_segment){{"arm", 3}, {ek_rng_uniform(r) < .5 ? "A" : "B", 1}};
    for (int i = 0; i < ITEMS; i++)
        q->item_id[i] = (struct ek_text){NULL, 0};
    for (int f = 0; f < features; f++) {
        double level = 3 + .3 * ek_rng_normal(r);
        for (int i = 0; i < ITEMS; i++)
            q->x[i * features + f] = (float)exp(level + .4 * ek_rng_normal(r));
    }
}

/* Copy the values first, so that they are in cache as after decoding. The result includes the copy.
 */
static void observe(void *context)
{
    struct work *w = context;
    for (int i = 0; i < LISTS; i++) {
        struct ek_list q = w->lists[i];
        memcpy(w->values, q.x, sizeof w->values);
        q.x = w->values;
        if (ek_detector_observe(w->detector, &q, 0, NULL))
            abort();
    }
}

/* Time with cold caches, as in a stage with other work between lists. Keeps the best of several
 * rounds; eviction and the clock are excluded, except for 20 ns per list. */
static void cold_case(struct ek_bench *b, struct work *w, const char *name)
{
    enum { ROUNDS = 10, COLD_LISTS = 100, EVICTED = 8 << 20, LINE = 64 };
    char *other = ek_bench_memory(EVICTED, 1);
    double best = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double sum = 0;
        for (int i = 0; i < COLD_LISTS; i++) {
            struct ek_list q = w->lists[i];
            for (int at = 0; at < EVICTED; at += LINE)
                other[at]++;
            ek_bench_use(other);
            memcpy(w->values, q.x, sizeof w->values);
            q.x = w->values;
            double start = ek_measure_seconds();
            if (ek_detector_observe(w->detector, &q, 0, NULL))
                abort();
            sum += ek_measure_seconds() - start;
        }
        best = sum < best ? sum : best;
    }
    ek_bench_record(b, name, "ns/value", 1e9 * best / (COLD_LISTS * ITEMS * FEATURES), NULL, 0);
    free(other);
}

static void one_case(struct ek_bench *b, struct ek_manifest *m, struct ek_profile *p,
                     struct ek_list *lists, const char *text, const char *name, const char *cold)
{
    bool alone = cold != NULL; /* in a fleet the warm case covers the sums */
    struct ek_rules *rules;
    struct work w = {.lists = lists};
    struct ek_buf yaml;
    ek_buf_init(&yaml, 0);
    ek_buf_text(&yaml, text);
    if (ek_rules_parse(&rules, m, "bench", text, yaml.length, NULL) ||
        ek_detector_new(&w.detector, m, p, rules, NULL) ||
        (!alone && ek_detector_join(w.detector, 1, NULL)))
        abort();
    const struct ek_contender ours = {NULL, observe, &w};
    ek_bench_case(b, name, "ns/value", (double)LISTS * ITEMS * FEATURES, &ours, 1);
    if (alone)
        cold_case(b, &w, cold);
    ek_detector_free(w.detector);
    ek_rules_free(rules);
    ek_buf_release(&yaml);
}

static void sketch(void *context)
{
    struct work *w = context;
    int16_t ids[2] = {0, -1};
    for (int i = 0; i < LISTS; i++) {
        ids[1] = (int16_t)(1 + i % ARMS);
        if (ek_live_sketches_list(w->traffic, ids, w->arms ? 2 : 1, 0, &w->lists[i], NULL))
            abort();
    }
}

/* Windows of wide features (sd of ln x 1.5), as many as are retained. The remainder after the
 * closed windows and their sum is the open window. */
static void memory_case(struct ek_bench *b)
{
    enum { CELLS = 4, ROWS = 20000, WINDOWS = 14, KEPT = 12 };
    struct ek_windows *w[CELLS];
    float *x = ek_bench_memory((size_t)ROWS * FEATURES, sizeof *x);
    struct ek_rng r;
    ek_rng_seed(&r, 6);
    for (int i = 0; i < ROWS * FEATURES; i++)
        x[i] = (float)exp(3 + 1.5 * ek_rng_normal(&r));
    double before = ek_measure_resident(), packed = 0;
    for (int c = 0; c < CELLS; c++) {
        if (ek_windows_new(&w[c], FEATURES, KEPT, NULL))
            abort();
        for (int i = 0; i < WINDOWS * ROWS; i += ITEMS)
            if (ek_windows_add(w[c], i / ROWS, x + (size_t)(i % ROWS) * FEATURES, ITEMS))
                abort();
        packed += (double)ek_windows_packed_bytes(w[c]) / 1024;
    }
    double all = (ek_measure_resident() - before) / 1024 / CELLS;
    for (int c = 0; c < CELLS; c++)
        ek_windows_free(w[c]);
    free(x);
    ek_bench_record(b, "live sketch, 136 features, a cell with 12 windows", "KiB", all, NULL, 0);
    ek_bench_record(b, "live sketch, 136 features, the closed windows of a cell", "KiB",
                    packed / CELLS, NULL, 0);
}

static void sketch_cases(struct ek_bench *b, const struct ek_manifest *m, struct ek_profile *p,
                         struct ek_list *lists, const struct ek_rules *rules)
{
    struct work w = {.lists = lists, .arms = ARMS};
    if (ek_cells_new(&w.cells, NULL, 0, 1) ||
        ek_live_sketches_new(&w.traffic, m, p, rules, w.cells, NULL))
        abort();
    const struct ek_contender ours = {NULL, sketch, &w};
    ek_bench_case(b, "live sketch, 136 features, 20 items, all traffic and 8 arms",
                  "ns/value and cell", 2. * LISTS * ITEMS * FEATURES, &ours, 1);
    w.arms = 0;
    ek_bench_case(b, "live sketch, 136 features, 20 items, all traffic", "ns/value and cell",
                  (double)LISTS * ITEMS * FEATURES, &ours, 1);
    ek_live_sketches_free(w.traffic);
    ek_cells_free(w.cells);
}

static void observe_bytes(void *context)
{
    struct work *w = context;
    for (int i = 0; i < LISTS; i++)
        if (ek_guard_observe(w->guard, w->messages[i].data, w->messages[i].length, 0, NULL))
            abort();
}

static void guard_case(struct ek_bench *b, const struct ek_assets *assets, struct ek_list *lists,
                       const char *name)
{
    struct work w = {.messages = ek_bench_memory(LISTS, sizeof *w.messages)};
    for (int i = 0; i < LISTS; i++) {
        ek_buf_init(&w.messages[i], 0);
        if (ek_codec_encode(assets->manifest, &lists[i], EK_FEATURES_BIN, &w.messages[i], NULL))
            abort();
    }
    if (ek_guard_new(&w.guard, assets, NULL))
        abort();
    const struct ek_contender ours = {NULL, observe_bytes, &w};
    ek_bench_case(b, name, "ns/value", (double)LISTS * ITEMS * FEATURES, &ours, 1);
    ek_guard_free(w.guard);
    for (int i = 0; i < LISTS; i++)
        ek_buf_release(&w.messages[i]);
    free(w.messages);
}

/* Messages of one item, alternating between a few lists. Each pass has new query ids. */
enum { ITEM_LISTS = 240, LISTS_TOGETHER = 12, ID_DIGITS = 8 };

struct items_work {
    struct ek_guard *guard;
    struct ek_buf message[ITEM_LISTS * ITEMS];
    uint8_t *id[ITEM_LISTS * ITEMS]; /* position in the message */
    int pass;
};

static void observe_items(void *context)
{
    struct items_work *w = context;
    char id[16];
    w->pass++;
    for (int first = 0; first < ITEM_LISTS; first += LISTS_TOGETHER)
        for (int i = 0; i < ITEMS; i++)
            for (int list = first; list < first + LISTS_TOGETHER; list++) {
                int at = list * ITEMS + i;
                snprintf(id, sizeof id, "%0*d", ID_DIGITS, w->pass * ITEM_LISTS + list);
                memcpy(w->id[at], id, ID_DIGITS);
                if (ek_guard_observe(w->guard, w->message[at].data, w->message[at].length, 0, NULL))
                    abort();
            }
}

static void items_case(struct ek_bench *b, const struct ek_assets *of_lists, struct ek_list *lists)
{
    static const char id[] = "--------";
    const struct ek_mapping mapping = {.layout = EK_LAYOUT_ITEM};
    struct ek_assets assets = *of_lists;
    struct items_work *w = ek_bench_memory(1, sizeof *w);
    *w = (struct items_work){.pass = 0};
    if (ek_codec_new(&assets.codec, assets.manifest, &mapping, NULL, NULL))
        abort();
    for (int at = 0; at < ITEM_LISTS * ITEMS; at++) {
        struct ek_list q = lists[at / ITEMS];
        q.id = (struct ek_text){id, ID_DIGITS};
        ek_buf_init(&w->message[at], 0);
        if (ek_codec_encode_item(assets.manifest, &q, at % ITEMS, EK_FEATURES_BIN, &w->message[at],
                                 NULL))
            abort();
        w->id[at] = memmem(w->message[at].data, w->message[at].length, id, ID_DIGITS);
    }
    if (ek_guard_new(&w->guard, &assets, NULL))
        abort();
    const struct ek_contender ours = {NULL, observe_items, w};
    ek_bench_case(b, "guard, 136 features, 20 items one by one, bin, all traffic", "ns/value",
                  (double)ITEM_LISTS * ITEMS * FEATURES, &ours, 1);
    ek_guard_free(w->guard);
    ek_codec_free(assets.codec);
    for (int at = 0; at < ITEM_LISTS * ITEMS; at++)
        ek_buf_release(&w->message[at]);
    free(w);
}

/* Compare a guard with and without live sketches. */
static void guard_cases(struct ek_bench *b, struct ek_manifest *m, struct ek_profile *p,
                        struct ek_list *lists)
{
    static const char text[] = "version: 1\ndefaults: {dedup_key: []}\n";
    struct ek_assets assets = {.manifest = m, .profile = p};
    if (ek_rules_parse(&assets.rules, m, "bench", text, sizeof text - 1, NULL) ||
        ek_codec_new(&assets.codec, m, NULL, NULL, NULL))
        abort();
    sketch_cases(b, m, p, lists, assets.rules);
    guard_case(b, &assets, lists, "guard, 136 features, 20 items, bin, all traffic");
    items_case(b, &assets, lists);
    assets.rules->windows.max_segments = 0;
    guard_case(b, &assets, lists, "guard, 136 features, 20 items, bin, no live sketch");
    ek_codec_free(assets.codec);
    ek_rules_free(assets.rules);
}

void bench_observe(struct ek_bench *b)
{
    struct ek_rng r;
    memory_case(b); /* first, while the allocator holds no idle memory */
    ek_rng_seed(&r, 5);
    struct ek_manifest *m = ek_bench_manifest(FEATURES);
    struct ek_profile *p = ek_bench_profile(m, TRAINING, fill, &r);
    struct ek_list *lists = ek_bench_memory(LISTS, sizeof *lists);
    for (int i = 0; i < LISTS; i++)
        fill(&lists[i], FEATURES, &r);
    one_case(b, m, p, lists, "version: 1\ndefaults: {dedup_key: []}\n",
             "observe, 136 features, 20 items, all traffic",
             "observe, 136 features, 20 items, all traffic, cold caches");
    one_case(b, m, p, lists, "version: 1\ndefaults: {dedup_key: []}\nsegments: [arm]\n",
             "observe, 136 features, 20 items, all traffic and 2 arms",
             "observe, 136 features, 20 items, all traffic and 2 arms, cold caches");
    one_case(b, m, p, lists, "version: 1\ndefaults: {dedup_key: []}\nsegments: [arm]\n",
             "observe, 136 features, 20 items, all traffic and 2 arms, in a fleet", NULL);
    guard_cases(b, m, p, lists);
    for (int i = 0; i < LISTS; i++)
        ek_list_release(&lists[i]);
    free(lists);
    ek_profile_free(p);
    ek_manifest_free(m);
}
