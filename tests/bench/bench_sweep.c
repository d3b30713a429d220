/* Scaling of the guard: with features, items, segments, number formats, open findings and routed
 * features; and the memory of a hundred segments. */
#include "base/alloc.h"
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

enum { FEATURES = 136, ITEMS = 20, LISTS_MAX = 1000, VALUES_MAX = 20000000 };
enum { ARM_LETTERS = 3, NO_ARMS = 1, SEED = 4, FIRST_LISTS = 4000 };

enum written { AS_BIN, AS_FLOATS, AS_FLOATS_AND_NIL, AS_INTEGERS };

struct shape {
    int features, items, arms;
    enum written written;
    bool faulty, scored, wide;
};

struct work {
    struct shape shape;
    struct ek_assets assets;
    struct ek_guard *guard;
    struct ek_buf *message;
    size_t *arm_at; /* position of the arm in each message */
    int lists;
    uint64_t events;
    struct ek_rng r;
};

/* Rotates the arm, so that each segment sees varied lists. */
static void set_arm(struct work *w, int i)
{
    unsigned arm = (unsigned)(ek_rng_uniform(&w->r) * w->shape.arms);
    unsigned char *text = w->message[i].data + w->arm_at[i];
    for (int k = ARM_LETTERS - 1; k >= 0; k--, arm /= 10)
        text[k] = (unsigned char)('0' + arm % 10);
}

static void drain(struct work *w)
{
    const char *json;
    while (ek_guard_next_event(w->guard, &json) > 0)
        w->events++;
}

static void guard(void *context)
{
    struct work *w = context;
    for (int i = 0; i < w->lists; i++) {
        size_t length = w->message[i].length;
        if (w->shape.arms > NO_ARMS)
            set_arm(w, i);
        must(ek_guard_observe(w->guard, w->message[i].data, length, 0, NULL));
        if (w->shape.scored)
            ek_bench_use(ek_guard_score(w->guard, &length, NULL));
    }
    drain(w);
}

/* Replace an array of float32 by integers of the same size. */
static void to_integers(struct ek_buf *b, int features)
{
    static const char key[] = "features";
    unsigned char *end = b->data + b->length, *at = b->data;
    while ((at = memmem(at, (size_t)(end - at), key, sizeof key - 1)) != NULL) {
        at += sizeof key - 1;
        if (*at != 0xdc)
            continue; /* those of the query */
        at += 3;
        for (int f = 0; f < features; f++, at += 5) {
            uint32_t bits =
                (uint32_t)at[1] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 8 | at[4];
            float x;
            memcpy(&x, &bits, sizeof x);
            uint32_t whole = (uint32_t)(x + .5f);
            for (int k = 0; k < 4; k++)
                at[1 + k] = (unsigned char)(whole >> (24 - 8 * k));
            at[0] = 0xce;
        }
    }
}

static void make_messages(struct work *w)
{
    const struct shape *s = &w->shape;
    struct ek_bench_list list;
    w->message = ek_bench_memory((size_t)w->lists, sizeof *w->message);
    w->arm_at = ek_bench_memory((size_t)w->lists, sizeof *w->arm_at);
    ek_bench_list_init(&list, SEED);
    list.missing = s->written == AS_FLOATS_AND_NIL ? EK_BENCH_MISSING : 0;
    list.wide = s->wide;
    for (int i = 0; i < w->lists; i++) {
        ek_bench_list_next(&list, s->features, s->items);
        list.q.time_ms = 0;
        list.q.segments[0].value = (struct ek_text){"###", ARM_LETTERS};
        if (s->faulty)
            ek_bench_fault(&list.q);
        ek_buf_init(&w->message[i], 0);
        must(ek_codec_encode(w->assets.manifest, &list.q,
                             s->written == AS_BIN ? EK_FEATURES_BIN : EK_FEATURES_ARRAY,
                             &w->message[i], NULL));
        if (s->written == AS_INTEGERS)
            to_integers(&w->message[i], s->features);
        unsigned char *arm = memmem(w->message[i].data, w->message[i].length, "###", ARM_LETTERS);
        w->arm_at[i] = (size_t)(arm - w->message[i].data);
        set_arm(w, i);
    }
    ek_bench_list_release(&list);
}

/* The profile is of the same lists: repeated lists of another would be a shift. */
static void begin(struct work *w, const struct shape *shape)
{
    char text[120];
    *w = (struct work){.shape = *shape};
    ek_rng_seed(&w->r, 9);
    w->assets.manifest = ek_bench_manifest_of(shape->features, true);
    int most = VALUES_MAX / (shape->features * shape->items);
    w->lists = most > LISTS_MAX ? LISTS_MAX : most;
    const struct ek_bench_list kind = {
        .missing = shape->written == AS_FLOATS_AND_NIL ? EK_BENCH_MISSING : 0, .wide = shape->wide};
    w->assets.profile =
        ek_bench_list_profile(w->assets.manifest, SEED, w->lists, shape->items, &kind);
    snprintf(text, sizeof text, "version: 1\ndefaults: {dedup_key: [], mode: %s}\n%s",
             shape->scored ? "enforce" : "observe",
             shape->arms > NO_ARMS ? "segments: [arm]\n" : "");
    must(ek_rules_parse(&w->assets.rules, w->assets.manifest, "bench", text, strlen(text), NULL));
    must(ek_codec_new(&w->assets.codec, w->assets.manifest, NULL, NULL, NULL));
    if (shape->scored)
        w->assets.model = ek_bench_model(w->assets.manifest);
    make_messages(w);
    must(ek_guard_new(&w->guard, &w->assets, NULL));
}

static void end(struct work *w)
{
    ek_guard_free(w->guard);
    for (int i = 0; i < w->lists; i++)
        ek_buf_release(&w->message[i]);
    free(w->message);
    free(w->arm_at);
    ek_assets_release(&w->assets);
}

/* Per value and per list, after warm-up (segments, findings). */
static void one_case(struct ek_bench *b, const char *name, struct shape shape)
{
    struct work w;
    begin(&w, &shape);
    for (int i = 0; i < FIRST_LISTS; i += w.lists)
        guard(&w);
    uint64_t before = w.events;
    double values = (double)shape.features * shape.items;
    double seconds = ek_bench_seconds(b, guard, &w) / w.lists;
    ek_bench_record(b, name, "ns/value", 1e9 * seconds / values, NULL, 0);
    ek_bench_record(b, name, "us/list", 1e6 * seconds, NULL, 0);
    if (!shape.faulty && w.events != before)
        fprintf(stderr, "sweep: '%s' saw %llu events in healthy lists\n", name,
                (unsigned long long)(w.events - before));
    end(&w);
}

static void grow(struct ek_bench *b)
{
    static const int features[] = {16, 64, 136, 512, 1024, 2048},
                     items[] = {1, 5, 20, 100, 1000, 5000}, arms[] = {2, 8, 32, 128, 255};
    char name[100];
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        snprintf(name, sizeof name, "guard, %d features, 20 items, bin", features[i]);
        one_case(b, name, (struct shape){features[i], ITEMS, NO_ARMS, AS_BIN, false, false, false});
    }
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        if (items[i] == ITEMS)
            continue;
        snprintf(name, sizeof name, "guard, 136 features, %d item%s, bin", items[i],
                 items[i] > 1 ? "s" : "");
        one_case(b, name, (struct shape){FEATURES, items[i], NO_ARMS, AS_BIN, false, false, false});
    }
    for (size_t i = 0; i < sizeof arms / sizeof *arms; i++) {
        snprintf(name, sizeof name, "guard, 136 features, 20 items, bin, %d cells", arms[i] + 1);
        one_case(b, name, (struct shape){FEATURES, ITEMS, arms[i], AS_BIN, false, false, false});
    }
}

/* All traffic and 99 arms, each with about 1,000 lists of wide features; no window closes. */
static void memory(struct ek_bench *b)
{
    struct work w;
    begin(&w, &(struct shape){FEATURES, ITEMS, 99, AS_BIN, false, false, true});
    malloc_trim(0);
    double before = ek_measure_resident();
    for (int i = 0; i < 100000; i += w.lists)
        guard(&w);
    ek_bench_record(b, "guard, 136 features, 100 cells, resident memory", "MiB",
                    (ek_measure_resident() - before) / (1 << 20), NULL, 0);
    end(&w);
}

void bench_sweep(struct ek_bench *b)
{
    memory(b);
    grow(b);
    one_case(b, "guard, 136 features, 20 items, float32 array",
             (struct shape){FEATURES, ITEMS, NO_ARMS, AS_FLOATS, false, false, false});
    one_case(b, "guard, 136 features, 20 items, float32 array with 5% nil",
             (struct shape){FEATURES, ITEMS, NO_ARMS, AS_FLOATS_AND_NIL, false, false, false});
    one_case(b, "guard, 136 features, 20 items, integers",
             (struct shape){FEATURES, ITEMS, NO_ARMS, AS_INTEGERS, false, false, false});
    one_case(b, "guard, 136 features, 20 items, bin, 5 findings open",
             (struct shape){FEATURES, ITEMS, NO_ARMS, AS_BIN, true, false, false});
    one_case(b, "guard, 136 features, 20 items, bin, 5 features routed, scored",
             (struct shape){FEATURES, ITEMS, NO_ARMS, AS_BIN, true, true, false});
}
