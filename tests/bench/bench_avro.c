/* Decoding of Avro messages by type of the features, compared with the same lists as MessagePack
 * arrays. */
#include "base/alloc.h"
#include "base/rng.h"
#include "lists/message_schema.h"
#include "lists/codec.h"
#include "tests/bench/bench.h"
#include "tests/must.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FEATURES = 136, ITEMS = 20, MESSAGES = 64 };
enum form { FLOATS, NULLABLE, DOUBLES, LONGS, MAP };

struct work {
    struct ek_buf message[MESSAGES];
    const struct ek_manifest *m;
    struct ek_codec *codec;
    struct ek_message_schema *schema;
    struct ek_schema_set source;
    struct ek_list q;
};

static const char *const ELEMENTS[] = {"\"float\"", "[\"null\", \"float\"]", "\"double\"",
                                       "\"long\"", "\"float\""};

static const struct ek_message_schema *find(void *context, int64_t id, struct ek_error *e)
{
    (void)id, (void)e;
    return ((struct work *)context)->schema;
}

static void decode(void *context)
{
    struct work *w = context;
    for (int i = 0; i < MESSAGES; i++) {
        must(ek_codec_decode(w->codec, w->message[i].data, w->message[i].length, &w->q, NULL));
        ek_bench_use(w->q.x);
    }
}

static void put_long(struct ek_buf *b, int64_t value)
{
    uint64_t bits = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
    for (; bits >> 7; bits >>= 7)
        must(ek_buf_add(b, &(uint8_t){(uint8_t)(bits | 0x80)}, 1));
    must(ek_buf_add(b, &(uint8_t){(uint8_t)bits}, 1));
}

static void put_text(struct ek_buf *b, const char *text)
{
    put_long(b, (int64_t)strlen(text));
    must(ek_buf_text(b, text));
}

static void put_value(struct ek_buf *b, enum form form, const char *name, float x)
{
    if (form == MAP)
        put_text(b, name);
    if (form == NULLABLE)
        put_long(b, !isnan(x));
    if (form == NULLABLE && isnan(x))
        return;
    if (form == LONGS)
        put_long(b, (int64_t)x);
    else if (form == DOUBLES)
        must(ek_buf_add(b, &(double){(double)x}, sizeof(double)));
    else
        must(ek_buf_add(b, &x, sizeof x));
}

/* Write the decoded list of w->q. */
static void put_list(struct ek_buf *b, const struct work *w, enum form form)
{
    const struct ek_list *q = &w->q;
    must(ek_buf_add(b, "\0\0\0\0\1", 5));
    put_text(b, "q-00000012");
    put_long(b, 1790000000000);
    put_long(b, 2);
    put_text(b, "market");
    put_text(b, "s07");
    put_text(b, "arm");
    put_text(b, "A");
    put_long(b, 0);
    put_long(b, 1);
    must(ek_buf_add(b, q->query, sizeof *q->query));
    put_long(b, 0);
    put_long(b, q->items);
    for (int i = 0; i < q->items; i++) {
        put_text(b, "h-00000001");
        must(ek_buf_add(b, &(float){(float)q->score[i]}, sizeof(float)));
        put_long(b, FEATURES);
        for (int f = 0; f < FEATURES; f++)
            put_value(b, form, w->m->item[f]->name, q->x[i * FEATURES + f]);
        put_long(b, 0);
    }
    put_long(b, 0);
}

static void make_schema(struct work *w, enum form form)
{
    char text[1000];
    const struct ek_mapping mapping = {.encoding = EK_MESSAGES_AVRO, .schemas = &w->source};
    snprintf(
        text, sizeof text,
        "{\"type\": \"record\", \"name\": \"L\", \"fields\": [{\"name\": \"query\", \"type\": "
        "\"string\"}, {\"name\": \"time_ms\", \"type\": \"long\"}, {\"name\": \"segments\", "
        "\"type\": {\"type\": \"map\", \"values\": \"string\"}}, {\"name\": "
        "\"query_features\", \"type\": {\"type\": \"array\", \"items\": \"float\"}}, {\"name\": "
        "\"items\", \"type\": {\"type\": \"array\", \"items\": {\"type\": \"record\", \"name\": "
        "\"I\", \"fields\": [{\"name\": \"id\", \"type\": \"string\"}, {\"name\": \"score\", "
        "\"type\": \"float\"}, {\"name\": \"features\", \"type\": {\"type\": \"%s\", \"%s\": "
        "%s}}]}}}]}",
        form == MAP ? "map" : "array", form == MAP ? "values" : "items", ELEMENTS[form]);
    struct ek_text schema = ek_text_from(text);
    w->source = (struct ek_schema_set){find, w, EK_FRAME_ALWAYS, false};
    must(ek_avro_new(&w->schema, &schema, 1, &mapping, NULL));
    must(ek_codec_new(&w->codec, w->m, &mapping, NULL, NULL));
}

static void fill(struct ek_list *q, struct ek_rng *r, float missing)
{
    must(ek_list_resize(q, ITEMS, FEATURES, 1));
    q->id = (struct ek_text){"q-00000012", 10};
    q->time_ms = 1790000000000;
    q->segment_count = 2;
    q->segments[0] = (struct ek_segment){{"market", 6}, {"s07", 3}};
    q->segments[1] = (struct ek_segment){{"arm", 3}, {"A", 1}};
    q->query[0] = 3;
    q->has_label = false;
    for (int i = 0; i < ITEMS; i++) {
        q->item_id[i] = (struct ek_text){"h-00000001", 10};
        q->score[i] = (double)(float)ek_rng_normal(r);
        for (int f = 0; f < FEATURES; f++)
            q->x[i * FEATURES + f] =
                ek_rng_uniform(r) < missing ? NAN : (float)exp(3 + ek_rng_normal(r));
    }
}

/* Lists as MessagePack arrays (`avro` NULL) or as Avro. */
static void make_work(struct work *w, const struct ek_manifest *m, enum form form, float missing,
                      bool avro)
{
    struct ek_rng r;
    ek_rng_seed(&r, 1);
    ek_list_init(&w->q);
    w->m = m;
    for (int i = 0; i < MESSAGES; i++) {
        ek_buf_init(&w->message[i], 0);
        fill(&w->q, &r, missing);
        if (avro)
            put_list(&w->message[i], w, form);
        else
            must(ek_codec_encode(m, &w->q, EK_FEATURES_ARRAY, &w->message[i], NULL));
    }
    if (avro)
        make_schema(w, form);
    else
        must(ek_codec_new(&w->codec, m, NULL, NULL, NULL));
}

static void free_work(struct work *w)
{
    for (int i = 0; i < MESSAGES; i++)
        ek_buf_release(&w->message[i]);
    ek_list_release(&w->q);
    ek_codec_free(w->codec);
    ek_message_schema_free(w->schema);
    ek_free(w);
}

void bench_avro(struct ek_bench *b)
{
    static const struct {
        const char *name;
        enum form form;
        float missing;
    } cases[] = {
        {"array of float", FLOATS, 0},
        {"array of null or float", NULLABLE, 0},
        {"array of null or float with 5% null", NULLABLE, 0.05f},
        {"array of double", DOUBLES, 0},
        {"array of long", LONGS, 0},
        {"map of float", MAP, 0},
    };
    struct ek_manifest *m = ek_bench_manifest(FEATURES);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct work *ours = ek_bench_memory(1, sizeof *ours),
                    *other = ek_bench_memory(1, sizeof *other);
        char title[120];
        make_work(ours, m, cases[i].form, cases[i].missing, true);
        make_work(other, m, cases[i].form, cases[i].missing, false);
        const struct ek_contender all[] = {{NULL, decode, ours},
                                           {"MessagePack array", decode, other}};
        snprintf(title, sizeof title, "decode, %d features, %d items, %s", FEATURES, ITEMS,
                 cases[i].name);
        ek_bench_case(b, title, "ns/value", (double)MESSAGES * ITEMS * FEATURES, all, 2);
        free_work(ours);
        free_work(other);
    }
    ek_manifest_free(m);
}
