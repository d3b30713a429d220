/* Avro schemas and messages: the input is a schema, a zero byte, and a message. The message is
 * decoded with and without a frame, patched, and converted as a whole for `inspect`. */
#include "lists/message_schema.h"
#include "lists/codec_shape.h"
#include "tests/codec_oracle.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

enum { ITEMS_MOST = 200, FEATURES_MOST = 64 };

static struct ek_message_schema *schema, *whole;

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

static void read_message(const struct ek_manifest *m, enum ek_schema_frame frame,
                         const uint8_t *bytes, size_t length)
{
    static struct ek_list q;
    const struct ek_schema_set source = {find, &schema, frame};
    const struct ek_mapping mapping = {.encoding = EK_MESSAGES_AVRO, .schemas = &source};
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
    const struct ek_schema_set source = {find, &whole, EK_FRAME_EITHER};
    const struct ek_mapping mapping = {.encoding = EK_MESSAGES_AVRO, .schemas = &source};
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
    ek_fuzz_require(!ek_avro_new(&s, &text, 1, mapping, &e) || e.message[0],
                    "refused without a word");
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ek_manifest *manifest;
    const struct ek_mapping mapping = {.encoding = EK_MESSAGES_AVRO};
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    size_t head = zero ? (size_t)(zero - data) : size, length = size - head - (zero != NULL);
    uint8_t *message = ek_fuzz_exact(data + size - length, length);
    if (!manifest)
        ek_fuzz_require(!ek_manifest_parse(&manifest, "m", EK_ORACLE_FEATURES,
                                           strlen(EK_ORACLE_FEATURES), NULL),
                        "the manifest cannot be read");
    schema = compile(data, head, &mapping);
    whole = compile(data, head, NULL);
    for (int frame = EK_FRAME_ALWAYS; schema && frame <= EK_FRAME_NEVER; frame++)
        read_message(manifest, (enum ek_schema_frame)frame, message, length);
    if (whole)
        look(message, length);
    ek_message_schema_free(schema);
    ek_message_schema_free(whole);
    free(message);
    return 0;
}
