/* Sketch updates for all features of a row, compared with physical limits and with the usual
 * algorithms, written from their definitions. */
#include "base/alloc.h"
#include "base/rng.h"
#include "num/sketch_internal.h"
#include "num/sketch_io.h"
#include "tests/bench/bench.h"
#include "tests/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 136, ROWS = 40000, MESSAGE_ROWS = 20, SEGMENTS_MAX = 64 };

struct hdr;

struct work {
    const float *x;
    int segments;
    struct ek_sketch_set *sets[SEGMENTS_MAX];
    int32_t *buckets; /* [segments][FEATURES][peer's buckets] */
    uint16_t *keys;   /* of one message, then of all rows */
    struct hdr *hdr;  /* [segments][FEATURES] */
    int64_t *hdr_counts;
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
    ek_sketch_keys_fn *to_keys = ek_sketch_kernels_get(ek_isa_best()).keys;
    for (int r = 0; r < ROWS; r += MESSAGE_ROWS)
        for (int f = 0; f + EK_KEY_LANES <= FEATURES; f += EK_KEY_LANES)
            to_keys(w->x + (size_t)r * FEATURES + f, FEATURES, MESSAGE_ROWS,
                    w->keys + (size_t)f * MESSAGE_ROWS, chunks);
    ek_bench_use(w->keys);
}

/* Eight counters per value row, all in L1: the lower bound for increments. */
static void increment_only(void *context)
{
    struct work *w = context;
    uint16_t *count = (uint16_t *)(void *)w->buckets;
    for (size_t i = 0; i < (size_t)ROWS * FEATURES / 8; i++)
        for (size_t k = 0; k < 8; k++)
            count[k * 1024 + (w->keys[(i & 511) * 8 + k] & 1023)]++;
    ek_bench_use(count);
}

/* HdrHistogram with 2 significant digits of the value in thousandths: only the buckets ... */
enum { HDR_SUB_BITS = 8, HDR_BUCKETS = (64 - HDR_SUB_BITS + 2) << (HDR_SUB_BITS - 1) };

static size_t hdr_bucket(uint64_t v)
{
    int shift = 64 - HDR_SUB_BITS - __builtin_clzll(v | ((1u << HDR_SUB_BITS) - 1));
    return ((size_t)shift << (HDR_SUB_BITS - 1)) + (v >> shift);
}

static void hdr_buckets(void *context)
{
    struct work *w = context;
    for (int r = 0; r < ROWS; r++) {
        const float *row = w->x + (size_t)r * FEATURES;
        int32_t *counts = w->buckets + (size_t)segment_of(w, r) * FEATURES * HDR_BUCKETS;
        for (int f = 0; f < FEATURES; f++, counts += HDR_BUCKETS)
            counts[hdr_bucket((uint64_t)(row[f] * 1000.f))]++;
    }
}

/* ... and its recording function as defined: range checks, 64-bit counts, total, extremes, one
 * library call per value. */
struct hdr {
    int64_t lowest, highest, total, minimum, maximum;
    int64_t *counts;
    size_t length;
};

static __attribute__((noinline)) int hdr_record(struct hdr *h, int64_t value, int64_t count)
{
    if (value < h->lowest || value > h->highest)
        return 0;
    size_t bucket = hdr_bucket((uint64_t)value);
    if (bucket >= h->length)
        return 0;
    h->counts[bucket] += count;
    h->total += count;
    h->minimum = value && value < h->minimum ? value : h->minimum;
    h->maximum = value > h->maximum ? value : h->maximum;
    return 1;
}

static void hdr_histogram(void *context)
{
    struct work *w = context;
    for (int r = 0; r < ROWS; r++) {
        const float *row = w->x + (size_t)r * FEATURES;
        struct hdr *h = w->hdr + (size_t)segment_of(w, r) * FEATURES;
        for (int f = 0; f < FEATURES; f++)
            hdr_record(h + f, (int64_t)(row[f] * 1000.f), 1);
    }
}

/* DDSketch with logarithmic mapping at 1% error: a logarithm and a sign test per value. */
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
        {"HdrHistogram, 2 digits", hdr_histogram, w},
        {"HdrHistogram, 2 digits, its buckets alone", hdr_buckets, w},
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

/* Other work evicts the caches between two lists; the result is the time that the sketches add. */
enum { COLD_LISTS = 400, COLD_SEGMENTS = 8, COLD_BYTES = 1 << 20, CACHE_LINE = 64 };

struct cold {
    struct work *w;
    uint8_t *other;
    int counts; /* the sketches receive the lists */
};

static void cold_lists(void *context)
{
    const struct cold *c = context;
    const size_t list = (size_t)MESSAGE_ROWS * FEATURES;
    float sum = 0;
    for (size_t i = 0; i < COLD_LISTS; i++) {
        const float *x = c->w->x + i * list;
        for (size_t k = 0; k < COLD_BYTES; k += CACHE_LINE)
            c->other[k]++;
        for (size_t k = 0; k < list; k++) /* just decoded */
            sum += x[k];
        for (size_t s = 0; c->counts && s < 2; s++)
            ek_sketch_set_add(c->w->sets[s * (1 + i % COLD_SEGMENTS)], x, MESSAGE_ROWS);
    }
    ek_bench_use(&sum);
}

static void cold_case(struct ek_bench *b, struct work *w)
{
    struct cold with = {w, ek_bench_memory(COLD_BYTES, 1), 1}, without = {w, with.other, 0};
    for (int i = 0; i <= COLD_SEGMENTS; i++)
        if (ek_sketch_set_new(w->sets + i, FEATURES, NULL))
            abort();
    double seconds =
        ek_bench_seconds(b, cold_lists, &with) - ek_bench_seconds(b, cold_lists, &without);
    ek_bench_record(b, "136 features, all traffic and 8 segments, 1 MiB of other work per list",
                    "ns/value", seconds * 1e9 / (2. * COLD_LISTS * MESSAGE_ROWS * FEATURES), NULL,
                    0);
    for (int i = 0; i <= COLD_SEGMENTS; i++)
        ek_sketch_set_free(w->sets[i]);
    ek_free(with.other);
}

struct one_feature {
    const struct ek_sketch_set *set;
    struct ek_sketch *sketch, *into;
    struct ek_buf bytes;
};

static void read_one(void *context)
{
    struct one_feature *one = context;
    ek_sketch_set_get(one->set, 0, one->into);
}

static void merge_one(void *context)
{
    struct one_feature *one = context;
    ek_sketch_merge(one->into, one->sketch);
}

static void summarize_one(void *context)
{
    struct ek_sketch_summary summary;
    const struct one_feature *one = context;
    ek_sketch_summarize(one->sketch, &summary);
    ek_bench_use(&summary);
}

static void pack_one(void *context)
{
    struct one_feature *one = context;
    ek_buf_clear(&one->bytes);
    if (ek_sketch_pack(one->sketch, &one->bytes))
        abort();
}

static void unpack_one(void *context)
{
    struct one_feature *one = context;
    ek_sketch_unpack(one->into, one->bytes.data, one->bytes.length);
}

static void sizes_of_one(struct ek_bench *b, struct one_feature *one)
{
    ek_bench_record(b, "one feature, packed", "bytes", (double)one->bytes.length, NULL, 0);
    ek_buf_clear(&one->bytes);
    if (ek_sketch_write(one->sketch, &one->bytes))
        abort();
    ek_bench_record(b, "one feature, serialized", "bytes", (double)one->bytes.length, NULL, 0);
}

static void single_sketch(struct ek_bench *b, struct work *w)
{
    static const struct {
        const char *name, *unit;
        void (*run)(void *);
    } all[] = {
        {"one feature read from a set", "ns/read", read_one},
        {"merge of one feature", "ns/merge", merge_one},
        {"summary of one feature", "us/summary", summarize_one},
        {"one feature packed", "us/pack", pack_one},
        {"one feature unpacked", "us/unpack", unpack_one},
    };
    struct one_feature one;
    w->segments = 1;
    if (ek_sketch_set_new(w->sets, FEATURES, NULL) || ek_sketch_new(&one.sketch) ||
        ek_sketch_new(&one.into))
        abort();
    ours(w);
    one.set = w->sets[0];
    ek_sketch_set_get(one.set, 0, one.sketch);
    ek_buf_init(&one.bytes, 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct ek_contender ours_alone[] = {{NULL, all[i].run, &one}};
        ek_bench_case(b, all[i].name, all[i].unit, 1, ours_alone, 1);
    }
    sizes_of_one(b, &one);
    ek_buf_release(&one.bytes);
    ek_sketch_free(one.sketch);
    ek_sketch_free(one.into);
    ek_sketch_set_free(w->sets[0]);
}

/* Peers use calloc: untouched counters are not resident. */
static void peers_new(struct work *w)
{
    w->buckets = ek_calloc((size_t)SEGMENTS_MAX * FEATURES * DD_BUCKETS, sizeof *w->buckets);
    w->hdr = ek_bench_memory((size_t)SEGMENTS_MAX * FEATURES, sizeof *w->hdr);
    w->hdr_counts = ek_calloc((size_t)SEGMENTS_MAX * FEATURES * HDR_BUCKETS, sizeof *w->hdr_counts);
    if (!w->buckets || !w->hdr_counts)
        abort();
    for (size_t i = 0; i < (size_t)SEGMENTS_MAX * FEATURES; i++)
        w->hdr[i] = (struct hdr){.highest = INT64_MAX / 2,
                                 .minimum = INT64_MAX,
                                 .counts = w->hdr_counts + i * HDR_BUCKETS,
                                 .length = HDR_BUCKETS};
}

/* A segment with more rows than the hot counters hold, so with hot, cold and buffered pages; a
 * tenth of the values is zero. */
static void memory_of_a_cell(struct ek_bench *b, float *x)
{
    struct ek_sketch_set *set;
    for (size_t i = 0; i < (size_t)ROWS * FEATURES; i += 10)
        x[i] = 0;
    double before = ek_measure_resident();
    if (ek_sketch_set_new(&set, FEATURES, NULL))
        abort();
    for (int i = 0; i < 4; i++)
        ek_sketch_set_add(set, x, ROWS);
    ek_bench_record(b, "136 features, resident memory of a cell", "KiB",
                    (ek_measure_resident() - before) / 1024, NULL, 0);
    ek_sketch_set_free(set);
}

void bench_sketch(struct ek_bench *b)
{
    struct ek_rng r;
    struct work w = {.segments = 1};
    float *x = ek_bench_memory((size_t)ROWS * FEATURES, sizeof *x);
    ek_rng_seed(&r, 1);
    for (size_t i = 0; i < (size_t)ROWS * FEATURES; i++)
        x[i] = (float)exp(3 + 1.5 * ek_rng_normal(&r));
    w.x = x;
    w.keys = ek_bench_memory((size_t)MESSAGE_ROWS * (FEATURES + EK_KEY_LANES), sizeof *w.keys);
    peers_new(&w);
    for (int i = 0; i < MESSAGE_ROWS * FEATURES; i++)
        w.keys[i] = (uint16_t)(ek_sketch_key(x[i]));
    case_of(b, &w, 1);
    case_of(b, &w, 8);
    case_of(b, &w, 64);
    cold_case(b, &w);
    single_sketch(b, &w);
    memory_of_a_cell(b, x);
    ek_free(w.buckets);
    ek_free(w.hdr);
    ek_free(w.hdr_counts);
    ek_free(w.keys);
    ek_free(x);
}
