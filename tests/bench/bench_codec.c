/* Decoding of messages by value format, list size and encoding, compared with msgpack-c, jansson
 * and a plain copy. */
#include "base/alloc.h"
#include "base/rng.h"
#include "lists/codec.h"
#include "lists/codec_wire.h"
#include "tests/bench/bench.h"
#include "tests/must.h"

#include <jansson.h>
#include <math.h>
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 136, ITEMS = 20, ITEMS_MOST = 10000, MESSAGES = 64 };

struct work {
    struct ek_buf message[MESSAGES], out;
    int features, items, messages;
    struct ek_codec *codec;
    struct ek_list q;
    float *row;
    double scores[ITEMS_MOST];
};

static void decode(void *context)
{
    struct work *w = context;
    for (int i = 0; i < w->messages; i++) {
        must(ek_codec_decode(w->codec, w->message[i].data, w->message[i].length, &w->q, NULL));
        ek_bench_use(w->q.x);
    }
}

static void decode_and_patch(void *context)
{
    struct work *w = context;
    for (int i = 0; i < w->messages; i++) {
        const struct ek_buf *m = &w->message[i];
        must(ek_codec_decode(w->codec, m->data, m->length, &w->q, NULL));
        must(ek_codec_patch(&w->q, m->data, m->length, w->scores, &w->out, NULL));
        ek_bench_use(w->out.data);
    }
}

static void copy_bytes(void *context)
{
    struct work *w = context;
    for (int i = 0; i < w->messages; i++) {
        memcpy(w->out.data, w->message[i].data, w->message[i].length);
        ek_bench_use(w->out.data);
    }
}

static float number_of(const msgpack_object *o)
{
    if (o->type == MSGPACK_OBJECT_FLOAT32 || o->type == MSGPACK_OBJECT_FLOAT64)
        return (float)o->via.f64;
    if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
        return (float)o->via.u64;
    return NAN;
}

/* Read the features with msgpack-c, by field position. */
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
    for (int i = 0; i < w->messages; i++) {
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

/* Read the features with jansson, by name in the tree. */
static void decode_by_jansson(void *context)
{
    struct work *w = context;
    for (int i = 0; i < w->messages; i++) {
        const struct ek_buf *m = &w->message[i];
        json_t *list = json_loadb((const char *)m->data, m->length, 0, NULL), *item, *value;
        size_t k, j;
        json_array_foreach(json_object_get(list, "items"), k, item)
        {
            json_array_foreach(json_object_get(item, "features"), j, value) w->row[j] =
                json_is_number(value) ? (float)json_number_value(value) : NAN;
            ek_bench_use(w->row);
        }
        json_decref(list);
    }
}

struct form {
    const char *name;
    enum ek_feature_encoding encoding;
    enum { FLOAT32, FLOAT64, INTEGERS } values;
    float missing;
};

/* Write a replacement of a float32. Return its bytes, at most 9. */
typedef size_t rewrite(uint8_t *to, float value);

/* For number formats without a writer. Also changes scores stored as float32. */
static void rewrite_floats(struct ek_buf *message, rewrite *form)
{
    struct ek_buf out;
    struct ek_wire w = {message->data, message->data, message->data + message->length};
    ek_buf_init(&out, 0);
    while (w.p < w.end) {
        const uint8_t *from = w.p;
        uint8_t value[9];
        struct ek_head h;
        must((int)ek_wire_head(&w, &h));
        if (h.kind == EK_WIRE_TEXT)
            w.p += h.count;
        if (h.kind == EK_WIRE_FLOAT32)
            must(ek_buf_add(&out, value, form(value, ek_float_from_bits((uint32_t)h.bits))));
        else
            must(ek_buf_add(&out, from, (size_t)(w.p - from)));
    }
    ek_buf_release(message);
    *message = out;
}

static size_t widen(uint8_t *to, float value)
{
    to[0] = EK_TAG_FLOAT64;
    ek_store_be64(to + 1, ek_double_to_bits((double)value));
    return 9;
}

/* Write an integer below 2^16 in its shortest form. */
static size_t shorten(uint8_t *to, float value)
{
    unsigned whole = (unsigned)fabsf(value) & 0xffff;
    if (whole < 128) {
        to[0] = (uint8_t)whole;
        return 1;
    }
    to[0] = EK_TAG_UINT8 + 1;
    to[1] = (uint8_t)(whole >> 8);
    to[2] = (uint8_t)whole;
    return 3;
}

static void fill(const struct work *w, struct ek_list *q, struct ek_rng *r, float missing)
{
    must(ek_list_resize(q, w->items, w->features, 1));
    q->id = (struct ek_text){"q-00000012", 10};
    q->time_ms = 1790000000000;
    q->segment_count = 2;
    q->segments[0] = (struct ek_segment){{"market", 6}, {"s07", 3}};
    q->segments[1] = (struct ek_segment){{"arm", 3}, {"A", 1}};
    q->query[0] = 3;
    q->has_label = false;
    for (int i = 0; i < w->items; i++) {
        q->item_id[i] = (struct ek_text){"h-00000001", 10};
        q->score[i] = (float)ek_rng_normal(r);
        for (int j = 0; j < w->features; j++)
            q->x[(size_t)i * (size_t)w->features + (size_t)j] =
                ek_rng_uniform(r) < missing ? NAN : (float)exp(3 + ek_rng_normal(r));
    }
}

static void make_message(struct work *w, const struct ek_manifest *m, const struct form *form,
                         struct ek_rng *r, struct ek_buf *message)
{
    fill(w, &w->q, r, form->missing);
    ek_buf_init(message, 0);
    must(ek_codec_encode(m, &w->q, form->encoding, message, NULL));
    if (form->values == FLOAT64)
        rewrite_floats(message, widen);
    else if (form->values == INTEGERS)
        rewrite_floats(message, shorten);
}

/* Keeps the total number of values about equal for all list sizes. */
static struct work *make_work(const struct ek_manifest *m, const struct form *form, int items)
{
    static const int ALL = MESSAGES * ITEMS * FEATURES;
    struct work *w = ek_bench_memory(1, sizeof *w);
    struct ek_rng r;
    ek_rng_seed(&r, 1);
    ek_list_init(&w->q);
    ek_buf_init(&w->out, 0);
    w->features = m->item_count;
    w->items = items;
    w->messages = ALL / (items * w->features);
    w->messages = w->messages < 1 ? 1 : w->messages > MESSAGES ? MESSAGES : w->messages;
    w->row = ek_bench_memory((size_t)w->features, sizeof *w->row);
    const struct ek_codec_limits limits = {.message_bytes = 1u << 30};
    must(ek_codec_new(&w->codec, m, NULL, &limits, NULL));
    size_t most = 0;
    for (int i = 0; i < w->messages; i++) {
        make_message(w, m, form, &r, &w->message[i]);
        most = w->message[i].length > most ? w->message[i].length : most;
    }
    must(ek_buf_reserve(&w->out, most * 2));
    return w;
}

static void free_work(struct work *w)
{
    for (int i = 0; i < w->messages; i++)
        ek_buf_release(&w->message[i]);
    ek_buf_release(&w->out);
    ek_list_release(&w->q);
    ek_codec_free(w->codec);
    ek_free(w->row);
    ek_free(w);
}

static void run_case(struct ek_bench *b, const struct ek_manifest *m, const struct form *form,
                     int items, bool peer)
{
    struct work *w = make_work(m, form, items);
    double values = (double)w->messages * w->items * w->features;
    bool json = form->encoding >= EK_FEATURES_JSON;
    char title[120];
    const struct ek_contender decoders[] = {
        {NULL, decode, w},
        {"limit: memcpy of the message", copy_bytes, w},
        {json ? "jansson" : "msgpack-c", json ? decode_by_jansson : decode_by_msgpack, w}};
    snprintf(title, sizeof title, "decode, %d features, %d items, %s", w->features, items,
             form->name);
    ek_bench_case(b, title, "ns/value", values, decoders, peer ? 3 : 2);
    const struct ek_contender patchers[] = {{NULL, decode_and_patch, w}};
    snprintf(title, sizeof title, "decode and patch, %d features, %d items, %s", w->features, items,
             form->name);
    ek_bench_case(b, title, "ns/value", values, patchers, 1);
    if (json) {
        double bytes = 0, seconds = ek_bench_seconds(b, decode, w);
        for (int i = 0; i < w->messages; i++)
            bytes += (double)w->message[i].length;
        snprintf(title, sizeof title, "decode, %d features, %d items, %s, bytes", w->features,
                 items, form->name);
        ek_bench_record(b, title, "GB/s", bytes / seconds / 1e9, NULL, 0);
    }
    free_work(w);
}

static void run_sizes(struct ek_bench *b)
{
    static const struct form array = {"float32 array", EK_FEATURES_ARRAY, FLOAT32, 0};
    static const int features[] = {16, 512, 2048};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        struct ek_manifest *m = ek_bench_manifest(features[i]);
        run_case(b, m, &array, ITEMS, false);
        ek_manifest_free(m);
    }
    struct ek_manifest *m = ek_bench_manifest(FEATURES);
    run_case(b, m, &array, ITEMS_MOST, false);
    ek_manifest_free(m);
}

void bench_codec(struct ek_bench *b)
{
    static const struct form forms[] = {
        {"float32 array", EK_FEATURES_ARRAY, FLOAT32, 0},
        {"float32 array with 5% nil", EK_FEATURES_ARRAY, FLOAT32, 0.05f},
        {"float64 array", EK_FEATURES_ARRAY, FLOAT64, 0},
        {"integers", EK_FEATURES_ARRAY, INTEGERS, 0},
        {"bin", EK_FEATURES_BIN, FLOAT32, 0},
        {"map", EK_FEATURES_MAP, FLOAT32, 0},
        {"JSON array", EK_FEATURES_JSON, FLOAT32, 0},
        {"JSON array with 5% null", EK_FEATURES_JSON, FLOAT32, 0.05f},
        {"JSON object", EK_FEATURES_JSON_MAP, FLOAT32, 0},
    };
    struct ek_manifest *m = ek_bench_manifest(FEATURES);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        run_case(b, m, &forms[i], ITEMS,
                 forms[i].encoding != EK_FEATURES_MAP && forms[i].encoding != EK_FEATURES_JSON_MAP);
    ek_manifest_free(m);
    run_sizes(b);
}
