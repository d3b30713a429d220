/* Schemas and messages. The input is an Avro schema, a zero byte, and a message; or, after a zero
 * byte, the length of Protobuf descriptors in two bytes, these and a message. The message is
 * decoded with and without a frame, patched, and converted as a whole for `inspect`. */
#include "lists/message_schema.h"
#include "lists/codec_shape.h"
#include "tests/codec_oracle.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

enum { ITEMS_MOST = 200, FEATURES_MOST = 64 };

static struct ek_message_schema *schema, *whole;
static bool is_proto;

enum { PROTO_HEAD = 3 };

static const struct ek_message_schema *find(void *context, int64_t id, struct ek_error *e)
{
    (void)id, (void)e;
    return *(struct ek_message_schema *const *)context;
}

static double tripled(void *context, int item, int feature, double value, bool narrow)
{
    (void)context, (void)item, (void)feature, (void)narrow;
    return 3 * value;
}

/* Patched messages have the same length, and read back. */
static void check_patches(const struct ek_codec *codec, struct ek_list *q, const uint8_t *bytes,
                          size_t length)
{
    static struct ek_list again;
    static struct ek_buf out;
    static const uint8_t wanted[FEATURES_MOST] = {1, 1, 1, 1};
    struct ek_feature_patch patch = {.wanted = wanted, .value = tripled};
    struct ek_error e = {0};
    double scores[ITEMS_MOST];
    if (!out.data)
        ek_buf_init(&out, 0);
    for (int i = 0; i < q->items; i++)
        scores[i] = i / 4. - 1;
    if (!ek_codec_patch_features(codec, q, bytes, length, &patch, &out, &e) && patch.changed) {
        ek_fuzz_require(out.length == length, "repaired features have another length");
        ek_fuzz_require(!ek_codec_decode(codec, out.data, length, &again, &e), e.message);
    }
    if (ek_codec_patch(q, bytes, length, scores, &out, &e))
        return;
    ek_fuzz_require(out.length == length, "patched scores have another length");
    ek_fuzz_require(!ek_codec_decode(codec, out.data, length, &again, &e), e.message);
    for (int i = 0; i < q->items; i++)
        ek_fuzz_require(again.score[i] == scores[i], "a patched score is not the one asked for");
}

static enum ek_message_encoding encoding(void)
{
    return is_proto ? EK_MESSAGES_PROTOBUF : EK_MESSAGES_AVRO;
}

static void read_message(const struct ek_manifest *m, enum ek_schema_frame frame,
                         const uint8_t *bytes, size_t length)
{
    static struct ek_list q;
    const struct ek_schema_set source = {find, &schema, frame, is_proto};
    const struct ek_mapping mapping = {.encoding = encoding(), .schemas = &source};
    const struct ek_codec_limits limits = {.items = ITEMS_MOST};
    struct ek_codec *codec;
    struct ek_error e = {0};
    ek_fuzz_require(!ek_codec_new(&codec, m, &mapping, &limits, NULL), "no codec");
    if (ek_codec_decode(codec, bytes, length, &q, &e)) {
        ek_fuzz_require(e.message[0], "refused without a word");
    } else {
        ek_fuzz_take();
        check_patches(codec, &q, bytes, length);
    }
    ek_codec_free(codec);
}

static void look(const uint8_t *bytes, size_t length)
{
    const struct ek_schema_set source = {find, &whole, EK_FRAME_EITHER, is_proto};
    const struct ek_mapping mapping = {.encoding = encoding(), .schemas = &source};
    struct ek_shape *shape;
    struct ek_error e = {0};
    ek_fuzz_require(!ek_shape_new(&shape, &mapping, NULL), "no memory");
    ek_fuzz_require(!ek_shape_add(shape, bytes, length, &e) || e.message[0],
                    "refused without a word");
    ek_shape_free(shape);
}

static struct ek_message_schema *compile(const uint8_t *data, size_t size,
                                         const struct ek_mapping *mapping)
{
    const struct ek_text text = {(const char *)data, size};
    struct ek_message_schema *s = NULL;
    struct ek_error e = {0};
    int rc = is_proto ? ek_proto_new(&s, text, &(struct ek_proto_type){0}, mapping, &e)
                      : ek_avro_new(&s, &text, 1, mapping, &e);
    ek_fuzz_require(!rc || e.message[0], "refused without a word");
    return s;
}

/* Divide the input into a schema and a message. */
static void divide(const uint8_t *data, size_t size, struct ek_text *first, struct ek_text *second)
{
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    is_proto = size >= PROTO_HEAD && zero == data;
    size_t head = is_proto ? PROTO_HEAD : 0;
    size_t length = is_proto ? (size_t)(data[1] << 8 | data[2])
                    : zero   ? (size_t)(zero - data)
                             : size;
    length = length < size - head ? length : size - head;
    size_t rest = head + length + (zero && !is_proto);
    *first = (struct ek_text){(const char *)data + head, length};
    *second = (struct ek_text){(const char *)data + rest, size - rest};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ek_manifest *manifest;
    struct ek_text text, rest;
    divide(data, size, &text, &rest);
    const struct ek_mapping mapping = {.encoding = encoding()};
    uint8_t *described = ek_fuzz_exact(text.text, text.length);
    uint8_t *message = ek_fuzz_exact(rest.text, rest.length);
    if (!manifest)
        ek_fuzz_require(!ek_manifest_parse(&manifest, "m", EK_ORACLE_FEATURES,
                                           strlen(EK_ORACLE_FEATURES), NULL),
                        "the manifest cannot be read");
    schema = compile(described, text.length, &mapping);
    whole = compile(described, text.length, NULL);
    for (int frame = EK_FRAME_ALWAYS; schema && frame <= EK_FRAME_NEVER; frame++)
        read_message(manifest, (enum ek_schema_frame)frame, message, rest.length);
    if (whole)
        look(message, rest.length);
    ek_message_schema_free(schema);
    ek_message_schema_free(whole);
    free(described);
    free(message);
    return 0;
}
