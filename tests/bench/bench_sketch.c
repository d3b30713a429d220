/* Updating the sketches of all features of a row: against the physical limits of the machine, and
 * against the usual ways of doing it, written as their authors would with the same counters. */
#include "base/alloc.h"
#include "base/rng.h"
#include "num/sketch_internal.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 136, ROWS = 40000, MESSAGE_ROWS = 20, SEGMENTS_MAX = 64 };

struct work {
    const float *x;
    int segments;
    struct ek_sketch_set *sets[SEGMENTS_MAX];
    int32_t *buckets; /* [segments][FEATURES][peer's buckets] */
    uint16_t *keys;   /* of one message, then of all rows */
    size_t features;
};

static int segment_of(const struct work *w, int row)
{
    return row / MESSAGE_ROWS % w->segments;
}

static void ours(void *context)
{
    struct work *w = context;
    for (int r = 0; r < ROWS; r += MESSAGE_ROWS)
        ek_sketch_set_add(w->sets[segment_of(w, r)], w->x + (size_t)r * FEATURES, MESSAGE_ROWS);
}

static void read_all(void *context)
{
    struct work *w = context;
    float sum[16] = {0};
    for (size_t i = 0; i < (size_t)ROWS * FEATURES; i += 16)
        for (size_t k = 0; k < 16; k++)
            sum[k] += w->x[i + k];
    ek_bench_use(sum);
}

static void index_only(void *context)
{
    struct work *w = context;
    uint32_t chunks[EK_KEY_LANES];
    ek_sketch_keys_fn *to_keys = ek_sketch_keys_of(ek_isa_best());
    for (int r = 0; r < ROWS; r += MESSAGE_ROWS)
        for (int f = 0; f + EK_KEY_LANES <= FEATURES; f += EK_KEY_LANES)
            to_keys(w->x + (size_t)r * FEATURES + f, FEATURES, MESSAGE_ROWS,
                    w->keys + (size_t)f * MESSAGE_ROWS, chunks);
    ek_bench_use(w->keys);
}

/* Eight counters of one row after the other, all in the first-level cache: no cheaper increments.
 */
static void increment_only(void *context)
{
    struct work *w = context;
    uint16_t *count = (uint16_t *)(void *)w->buckets;
    for (size_t i = 0; i < (size_t)ROWS * FEATURES / 8; i++)
        for (size_t k = 0; k < 8; k++)
            count[k * 1024 + (w->keys[(i & 511) * 8 + k] & 1023)]++;
    ek_bench_use(count);
}

/* HdrHistogram's integer buckets: 2 significant digits of the value in thousandths. */
enum { HDR_SUB_BITS = 8, HDR_BUCKETS = (64 - HDR_SUB_BITS + 2) << (HDR_SUB_BITS - 1) };

static void hdr_histogram(void *context)
{
    struct work *w = context;
    for (int r = 0; r < ROWS; r++) {
        const float *row = w->x + (size_t)r * FEATURES;
        int32_t *counts = w->buckets + (size_t)segment_of(w, r) * FEATURES * HDR_BUCKETS;
        for (int f = 0; f < FEATURES; f++, counts += HDR_BUCKETS) {
            uint64_t v = (uint64_t)(row[f] * 1000.f);
            int shift = 64 - HDR_SUB_BITS - __builtin_clzll(v | ((1u << HDR_SUB_BITS) - 1));
            counts[((size_t)shift << (HDR_SUB_BITS - 1)) + (v >> shift)]++;
        }
    }
}

/* DDSketch with logarithmic mapping at 1% error: a logarithm and a signed test per value. */
enum { DD_BUCKETS = 2 * 4608, DD_ZERO = DD_BUCKETS / 2 };

static void ddsketch(void *context)
{
    struct work *w = context;
    const float per_log2 = 1 / log2f(1.01f / 0.99f);
    for (int r = 0; r < ROWS; r++) {
        const float *row = w->x + (size_t)r * FEATURES;
        int32_t *counts = w->buckets + (size_t)segment_of(w, r) * FEATURES * DD_BUCKETS;
        for (int f = 0; f < FEATURES; f++, counts += DD_BUCKETS) {
            float x = row[f], magnitude = fabsf(x);
            int place = 0;
            if (magnitude > 1e-19f)
                place = DD_ZERO / 2 + (int)ceilf(log2f(magnitude) * per_log2);
            counts[x < 0 ? DD_ZERO - place : DD_ZERO + place]++;
        }
    }
}

static void case_of(struct ek_bench *b, struct work *w, int segments)
{
    char name[80];
    w->segments = segments;
    for (int i = 0; i < segments; i++)
        if (ek_sketch_set_new(w->sets + i, FEATURES, NULL))
            abort();
    const struct ek_contender all[] = {
        {NULL, ours, w},
        {"HdrHistogram buckets, 2 digits", hdr_histogram, w},
        {"DDSketch, log2, 1%", ddsketch, w},
        {"limit: read all", read_all, w},
        {"limit: index only", index_only, w},
        {"limit: increment only", increment_only, w},
    };
    snprintf(name, sizeof name, "136 features, %d segment%s, row-major", segments,
             segments > 1 ? "s" : "");
    ek_bench_case(b, name, "ns/value", (double)ROWS * FEATURES, all, sizeof all / sizeof *all);
    for (int i = 0; i < segments; i++)
        ek_sketch_set_free(w->sets[i]);
}

static struct ek_sketch *single;

static void merge_one(void *context)
{
    struct work *w = context;
    ek_sketch_set_get(w->sets[0], 0, single);
}

static void summarize_one(void *context)
{
    struct ek_sketch_summary summary;
    (void)context;
    ek_sketch_summarize(single, &summary);
    ek_bench_use(&summary);
}

static void single_sketch(struct ek_bench *b, struct work *w)
{
    struct ek_buf bytes;
    w->segments = 1;
    if (ek_sketch_set_new(w->sets, FEATURES, NULL) || ek_sketch_new(&single))
        abort();
    ours(w);
    const struct ek_contender merge[] = {{NULL, merge_one, w}};
    const struct ek_contender summary[] = {{NULL, summarize_one, w}};
    ek_bench_case(b, "merge of one feature", "ns/merge", 1, merge, 1);
    ek_bench_case(b, "summary of one feature", "us/summary", 1, summary, 1);
    ek_buf_init(&bytes, 0);
    if (ek_sketch_write(single, &bytes))
        abort();
    ek_bench_record(b, "one feature, serialised", "bytes", (double)bytes.length, NULL, 0);
    ek_buf_release(&bytes);
    ek_sketch_free(single);
    ek_sketch_set_free(w->sets[0]);
}

void bench_sketch(struct ek_bench *b)
{
    struct ek_rng r;
    struct work w = {.features = FEATURES};
    float *x = ek_bench_memory((size_t)ROWS * FEATURES, sizeof *x);
    ek_rng_seed(&r, 1);
    for (size_t i = 0; i < (size_t)ROWS * FEATURES; i++)
        x[i] = (float)exp(3 + 1.5 * ek_rng_normal(&r));
    w.x = x;
    w.keys = ek_bench_memory((size_t)MESSAGE_ROWS * (FEATURES + EK_KEY_LANES), sizeof *w.keys);
    /* calloc, as the peers do: pages that are not counted in are not resident */
    w.buckets = ek_calloc((size_t)SEGMENTS_MAX * FEATURES * DD_BUCKETS, sizeof *w.buckets);
    if (!w.buckets)
        abort();
    for (int i = 0; i < MESSAGE_ROWS * FEATURES; i++)
        w.keys[i] = (uint16_t)(ek_sketch_key(x[i]));
    case_of(b, &w, 1);
    case_of(b, &w, 8);
    case_of(b, &w, 64);
    single_sketch(b, &w);
    ek_free(w.buckets);
    ek_free(w.keys);
    ek_free(x);
}
