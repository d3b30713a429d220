/* Endurance run over many lists, like weeks of traffic. Time advances, windows close, segments
 * exceed their cap, and faults start, are routed and end. Time per list and memory must not grow.
 * EK_BENCH_LISTS sets the count. */
#include "base/buf.h"
#include "lists/codec.h"
#include "serve/assets.h"
#include "tests/bench/bench.h"
#include "tests/bench/world.h"
#include "tests/measure.h"
#include "tests/must.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 136, ITEMS = 20, POOL = 1000, SEED = 4, LISTS_USUAL = 1000000 };
enum { ARM_LETTERS = 4, ARMS_AT_A_TIME = 40, LISTS_PER_ARM = 1000, PARTS = 10 };
enum { FAULT_EVERY = 50000, FAULT_LASTS = 5000, STEP_MS = 20 };
static const uint64_t began_ms = 1790000000000;
static const int64_t time_mark = 0x0102030405060708;

struct message {
    struct ek_buf bytes;
    size_t time_at, arm_at;
};

struct work {
    struct ek_assets assets;
    struct ek_guard *guard;
    struct message healthy[POOL], faulty[POOL];
    struct ek_rng r;
    int64_t lists; /* so far */
    uint64_t events;
};

static size_t place_of(const struct ek_buf *b, const void *mark, size_t length)
{
    const unsigned char *at = memmem(b->data, b->length, mark, length);
    if (!at)
        abort();
    return (size_t)(at - b->data);
}

static void make_message(struct message *m, const struct ek_manifest *manifest, struct ek_list *q)
{
    static const unsigned char time_bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};
    q->time_ms = time_mark;
    q->segments[0].value = (struct ek_text){"####", ARM_LETTERS};
    ek_buf_init(&m->bytes, 0);
    must(ek_codec_encode(manifest, q, EK_FEATURES_BIN, &m->bytes, NULL));
    m->time_at = place_of(&m->bytes, time_bytes, sizeof time_bytes);
    m->arm_at = place_of(&m->bytes, "####", ARM_LETTERS);
}

static void make_messages(struct work *w)
{
    struct ek_bench_list list;
    ek_bench_list_init(&list, SEED);
    for (int i = 0; i < POOL; i++) {
        ek_bench_list_next(&list, FEATURES, ITEMS);
        make_message(&w->healthy[i], w->assets.manifest, &list.q);
        ek_bench_fault(&list.q);
        make_message(&w->faulty[i], w->assets.manifest, &list.q);
    }
    ek_bench_list_release(&list);
}

static void begin(struct work *w)
{
    static const char rules[] =
        "version: 1\ndefaults: {dedup_key: [], mode: enforce}\nsegments: [arm]\n";
    struct ek_assets *a = &w->assets;
    ek_rng_seed(&w->r, 9);
    a->manifest = ek_bench_manifest_of(FEATURES, true);
    a->profile = ek_bench_list_profile(a->manifest, SEED, POOL, ITEMS, NULL);
    a->model = ek_bench_model(a->manifest);
    must(ek_rules_parse(&a->rules, a->manifest, "bench", rules, sizeof rules - 1, NULL));
    must(ek_codec_new(&a->codec, a->manifest, NULL, NULL, NULL));
    make_messages(w);
    must(ek_guard_new(&w->guard, a, NULL));
}

static void end(struct work *w)
{
    ek_guard_free(w->guard);
    for (int i = 0; i < POOL; i++) {
        ek_buf_release(&w->healthy[i].bytes);
        ek_buf_release(&w->faulty[i].bytes);
    }
    ek_assets_release(&w->assets);
}

/* Set the time of list n and one of the current arms; a new arm starts every 1,000 lists. */
static void date(struct work *w, struct message *m, int64_t n)
{
    uint64_t time = began_ms + (uint64_t)n * STEP_MS;
    unsigned arm =
        (unsigned)(n / LISTS_PER_ARM) + (unsigned)(ek_rng_uniform(&w->r) * ARMS_AT_A_TIME);
    unsigned char *text = m->bytes.data + m->arm_at, *bytes = m->bytes.data + m->time_at;
    for (int k = ARM_LETTERS - 1; k >= 0; k--, arm /= 10)
        text[k] = (unsigned char)('0' + arm % 10);
    for (int k = 7; k >= 0; k--, time >>= 8)
        bytes[k] = (unsigned char)time;
}

static void go_on(struct work *w, int64_t lists)
{
    const char *json;
    for (int64_t until = w->lists + lists; w->lists < until; w->lists++) {
        bool faulty = w->lists % FAULT_EVERY >= FAULT_EVERY - FAULT_LASTS;
        struct message *m = &(faulty ? w->faulty : w->healthy)[w->lists % POOL];
        size_t length = m->bytes.length;
        date(w, m, w->lists);
        must(ek_guard_observe(w->guard, m->bytes.data, length, 0, NULL));
        ek_bench_use(ek_guard_score(w->guard, &length, NULL));
        while (ek_guard_next_event(w->guard, &json) > 0)
            w->events++;
    }
}

void bench_long(struct ek_bench *b)
{
    const char *asked = getenv("EK_BENCH_LISTS");
    int64_t part = (asked ? ek_bench_number(asked) : LISTS_USUAL) / PARTS;
    struct work *w = ek_bench_memory(1, sizeof *w);
    char name[100];
    begin(w);
    malloc_trim(0);
    for (int i = 1; i <= PARTS; i++) {
        double began = ek_measure_seconds();
        go_on(w, part);
        double seconds = ek_measure_seconds() - began;
        snprintf(name, sizeof name, "guard, after %lld lists", (long long)w->lists);
        ek_bench_record(b, name, "us/list", 1e6 * seconds / (double)part, NULL, 0);
        ek_bench_record(b, name, "MiB", ek_measure_resident() / (1 << 20), NULL, 0);
    }
    ek_bench_record(b, "guard, events of all lists", "events", (double)w->events, NULL, 0);
    end(w);
    free(w);
}
