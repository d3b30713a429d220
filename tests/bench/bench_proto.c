/* Decoding of Protobuf messages by type of the features, compared with the same lists as
 * MessagePack arrays. */
#include "base/alloc.h"
#include "base/rng.h"
#include "lists/codec.h"
#include "lists/message_schema.h"
#include "tests/bench/bench.h"
#include "tests/descriptors.h"

#include <math.h>

enum { FEATURES = 136, ITEMS = 20, MESSAGES = 64 };
enum form { PACKED, SINGLE, DOUBLES, INTEGERS, MAP, PAIRS };

struct work {
    struct ek_buf message[MESSAGES];
    const struct ek_manifest *m;
    struct ek_codec *codec;
    struct ek_message_schema *schema;
    struct ek_schema_set source;
    struct ek_list q;
};

static const char *const TYPES[] = {"float",     "float", "double", "int64", ".Item.FeaturesEntry",
                                    ".Item.Pair"};

static const struct ek_message_schema *find(void *context, int64_t key, struct ek_error *e)
{
    (void)key, (void)e;
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

static void put_value(struct ek_buf *item, struct ek_buf *row, enum form form, const char *name,
                      float x)
{
    if (form == PACKED)
        must(ek_buf_add(row, &x, sizeof x));
    else if (form == SINGLE)
        proto_float(item, 3, x);
    else if (form == DOUBLES)
        must(ek_buf_add(row, &(double){(double)x}, sizeof(double)));
    else if (form == INTEGERS)
        proto_varint(row, (uint64_t)x);
    if (form < MAP)
        return;
    proto_text(row, 1, name);
    proto_float(row, 2, x);
    proto_message(item, 3, row);
}

/* Write the decoded list of w->q. */
static void put_list(struct ek_buf *b, const struct work *w, enum form form)
{
    const struct ek_list *q = &w->q;
    struct ek_buf item, row;
    ek_buf_init(&item, 0);
    ek_buf_init(&row, 0);
    must(ek_buf_add(b, "\0\0\0\0\1\0", 6));
    proto_text(b, 1, "q-00000012");
    proto_number(b, 2, 1790000000000);
    proto_bytes(b, 3, q->query, sizeof *q->query);
    for (int i = 0; i < q->items; i++) {
        proto_text(&item, 1, "h-00000001");
        proto_float(&item, 2, (float)q->score[i]);
        for (int f = 0; f < FEATURES; f++)
            put_value(&item, &row, form, w->m->item[f]->name, q->x[i * FEATURES + f]);
        if (row.length)
            proto_message(&item, 3, &row);
        proto_message(b, 4, &item);
    }
    ek_buf_release(&item);
    ek_buf_release(&row);
}

static void make_schema(struct work *w, enum form form)
{
    static const struct ek_proto_type type = {"List", 0};
    const struct ek_mapping mapping = {.encoding = EK_MESSAGES_PROTOBUF, .schemas = &w->source};
    struct ek_buf set;
    char file[500];
    snprintf(file, sizeof file,
             "syntax proto3\nmessage List\n one query 1 string\n one time_ms 2 int64\n repeated "
             "query_features 3 float\n repeated items 4 .Item\n end\nmessage Item\n message "
             "FeaturesEntry\n one key 1 string\n one value 2 float\n end\n message Pair\n one name "
             "1 string\n one value 2 float\n end\n one id 1 string\n one score 2 float\n repeated "
             "features 3 %s\n end\n",
             TYPES[form]);
    ek_buf_init(&set, 0);
    descriptor_set(&set, file);
    w->source = (struct ek_schema_set){find, w, EK_FRAME_ALWAYS, true};
    must(ek_proto_new(&w->schema, (struct ek_text){(const char *)set.data, set.length}, &type,
                      &mapping, NULL));
    must(ek_codec_new(&w->codec, w->m, &mapping, NULL, NULL));
    ek_buf_release(&set);
}

static void fill(struct ek_list *q, struct ek_rng *r)
{
    must(ek_list_resize(q, ITEMS, FEATURES, 1));
    q->id = (struct ek_text){"q-00000012", 10};
    q->time_ms = 1790000000000;
    q->segment_count = 0;
    q->query[0] = 3;
    q->has_label = false;
    for (int i = 0; i < ITEMS; i++) {
        q->item_id[i] = (struct ek_text){"h-00000001", 10};
        q->score[i] = (double)(float)ek_rng_normal(r);
        for (int f = 0; f < FEATURES; f++)
            q->x[i * FEATURES + f] = (float)exp(3 + ek_rng_normal(r));
    }
}

/* Lists as MessagePack arrays (`proto` false) or as Protobuf. */
static void make_work(struct work *w, const struct ek_manifest *m, enum form form, bool proto)
{
    struct ek_rng r;
    ek_rng_seed(&r, 1);
    ek_list_init(&w->q);
    w->m = m;
    for (int i = 0; i < MESSAGES; i++) {
        ek_buf_init(&w->message[i], 0);
        fill(&w->q, &r);
        if (proto)
            put_list(&w->message[i], w, form);
        else
            must(ek_codec_encode(m, &w->q, EK_FEATURES_ARRAY, &w->message[i], NULL));
    }
    if (proto)
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

void bench_proto(struct ek_bench *b)
{
    static const char *const names[] = {"packed float",  "float",
                                        "packed double", "packed int64",
                                        "map of float",  "messages of name and value"};
    struct ek_manifest *m = ek_bench_manifest(FEATURES);
    for (int form = PACKED; form <= PAIRS; form++) {
        struct work *ours = ek_bench_memory(1, sizeof *ours),
                    *other = ek_bench_memory(1, sizeof *other);
        char title[120];
        make_work(ours, m, (enum form)form, true);
        make_work(other, m, (enum form)form, false);
        const struct ek_contender all[] = {{NULL, decode, ours},
                                           {"MessagePack array", decode, other}};
        snprintf(title, sizeof title, "decode, %d features, %d items, %s", FEATURES, ITEMS,
                 names[form]);
        ek_bench_case(b, title, "ns/value", (double)MESSAGES * ITEMS * FEATURES, all, 2);
        free_work(ours);
        free_work(other);
    }
    ek_manifest_free(m);
}
