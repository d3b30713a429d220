/* Reading messages of 20 items and 136 features, against msgpack-c and the bare copying of bytes.
 */
#include "base/alloc.h"
#include "base/rng.h"
#include "data/codec.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 136, ITEMS = 20, MESSAGES = 64, VALUES = MESSAGES * ITEMS * FEATURES };

struct work {
    struct ek_buf message[MESSAGES], out;
    struct ek_codec *codec;
    struct ek_query q;
    float *row;
    double scores[ITEMS];
};

static void must(int rc)
{
    if (rc)
        abort();
}

static void decode(void *context)
{
    struct work *w = context;
    for (int i = 0; i < MESSAGES; i++) {
        must(ek_codec_decode(w->codec, w->message[i].data, w->message[i].length, &w->q, NULL));
        ek_bench_use(w->q.x);
    }
}

static void decode_and_patch(void *context)
{
    struct work *w = context;
    for (int i = 0; i < MESSAGES; i++) {
        const struct ek_buf *m = &w->message[i];
        must(ek_codec_decode(w->codec, m->data, m->length, &w->q, NULL));
        must(ek_codec_patch(&w->q, m->data, m->length, w->scores, &w->out, NULL));
        ek_bench_use(w->out.data);
    }
}

static void copy_bytes(void *context)
{
    struct work *w = context;
    for (int i = 0; i < MESSAGES; i++) {
        memcpy(w->out.data, w->message[i].data, w->message[i].length);
        ek_bench_use(w->out.data);
    }
}

static float number_of(const msgpack_object *o)
{
    if (o->type == MSGPACK_OBJECT_FLOAT32 || o->type == MSGPACK_OBJECT_FLOAT64)
        return (float)o->via.f64;
    return NAN;
}

/* What a reader built on msgpack-c does with the features; the fields are taken by their place. */
static void take_item(struct work *w, const msgpack_object *item)
{
    const msgpack_object *f = &item->via.map.ptr[item->via.map.size - 1].val;
    if (f->type == MSGPACK_OBJECT_BIN)
        memcpy(w->row, f->via.bin.ptr, f->via.bin.size);
    else if (f->type == MSGPACK_OBJECT_ARRAY)
        for (uint32_t j = 0; j < f->via.array.size; j++)
            w->row[j] = number_of(&f->via.array.ptr[j]);
    ek_bench_use(w->row);
}

static void decode_by_msgpack(void *context)
{
    struct work *w = context;
    for (int i = 0; i < MESSAGES; i++) {
        msgpack_unpacked u;
        size_t at = 0;
        msgpack_unpacked_init(&u);
        if (msgpack_unpack_next(&u, (const char *)w->message[i].data, w->message[i].length, &at) !=
            MSGPACK_UNPACK_SUCCESS)
            abort();
        const msgpack_object *items = &u.data.via.map.ptr[u.data.via.map.size - 1].val;
        for (uint32_t k = 0; k < items->via.array.size; k++)
            take_item(w, &items->via.array.ptr[k]);
        msgpack_unpacked_destroy(&u);
    }
}

static void fill(struct ek_query *q, struct ek_rng *r, float missing)
{
    static const char ids[ITEMS][11] = {"h-00000001", "h-00000002", "h-00000003"};
    must(ek_query_resize(q, ITEMS, FEATURES, 1));
    q->id = (struct ek_text){"q-00000012", 10};
    q->time_ms = 1790000000000;
    q->segment_count = 2;
    q->segments[0] = (struct ek_segment){{"market", 6}, {"s07", 3}};
    q->segments[1] = (struct ek_segment){{"arm", 3}, {"A", 1}};
    q->query[0] = 3;
    q->has_label = false;
    for (int i = 0; i < ITEMS; i++) {
        q->item_id[i] = (struct ek_text){ids[i], 10};
        q->score[i] = (float)ek_rng_normal(r);
        for (int j = 0; j < FEATURES; j++)
            q->x[i * FEATURES + j] =
                ek_rng_uniform(r) < missing ? NAN : (float)exp(3 + ek_rng_normal(r));
    }
}

static void run_case(struct ek_bench *b, const struct ek_manifest *m, const char *name,
                     enum ek_feature_encoding encoding, float missing, bool peer)
{
    struct work *w = ek_bench_memory(1, sizeof *w);
    struct ek_rng r;
    char title[120];
    ek_rng_seed(&r, 1);
    ek_query_init(&w->q);
    ek_buf_init(&w->out, 0);
    w->row = ek_bench_memory(FEATURES, sizeof *w->row);
    must(ek_codec_new(&w->codec, m, NULL, NULL, NULL));
    for (int i = 0; i < MESSAGES; i++) {
        fill(&w->q, &r, missing);
        ek_buf_init(&w->message[i], 0);
        must(ek_codec_encode(m, &w->q, encoding, &w->message[i], NULL));
    }
    must(ek_buf_reserve(&w->out, w->message[0].length * 2));
    const struct ek_contender decoders[] = {{NULL, decode, w},
                                            {"limit: memcpy of the message", copy_bytes, w},
                                            {"msgpack-c", decode_by_msgpack, w}};
    snprintf(title, sizeof title, "decode, 136 features, 20 items, %s", name);
    ek_bench_case(b, title, "ns/value", VALUES, decoders, peer ? 3 : 2);
    const struct ek_contender patchers[] = {{NULL, decode_and_patch, w}};
    snprintf(title, sizeof title, "decode and patch, 136 features, 20 items, %s", name);
    ek_bench_case(b, title, "ns/value", VALUES, patchers, 1);
    for (int i = 0; i < MESSAGES; i++)
        ek_buf_release(&w->message[i]);
    ek_buf_release(&w->out);
    ek_query_release(&w->q);
    ek_codec_free(w->codec);
    ek_free(w->row);
    ek_free(w);
}

void bench_codec(struct ek_bench *b)
{
    struct ek_manifest *m = ek_bench_manifest(FEATURES);
    run_case(b, m, "float32 array", EK_FEATURES_ARRAY, 0, true);
    run_case(b, m, "float32 array with 5% nil", EK_FEATURES_ARRAY, 0.05f, true);
    run_case(b, m, "bin", EK_FEATURES_BIN, 0, true);
    run_case(b, m, "map", EK_FEATURES_MAP, 0, false);
    ek_manifest_free(m);
}
