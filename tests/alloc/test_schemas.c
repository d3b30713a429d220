/* Allocation failures while a schema file is compiled and a message is decoded and patched. */
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include "daemon/files/schema_source.h"
#include "lists/codec.h"

#include <string.h>

static const char FEATURES[] = "features:\n"
                               "  - {name: price, index: 1, role: item}\n"
                               "  - {name: rating, index: 2, role: item}\n";
/* Kind B, one item: score 1, features 1 and null. */
static const char AVRO[] = "\2\2\0\0\x80\x3f\4\2\0\0\x80\x3f\0\0";
/* Likewise, with a time; written by Google's library. */
static const uint8_t PROTO[] = {0x08, 0x01, 0x12, 0x0b, 0x08, 0x80, 0xf7, 0xc4, 0xd5, 0x06,
                                0x10, 0xc0, 0xa9, 0xd3, 0x3a, 0x1a, 0x15, 0x0a, 0x05, 0x0d,
                                0x00, 0x00, 0x80, 0x3f, 0x12, 0x0c, 0x0a, 0x05, 0x70, 0x72,
                                0x69, 0x63, 0x65, 0x15, 0x00, 0x00, 0x80, 0x3f};

static struct ek_manifest *manifest;

static int decode_and_patch(const struct ek_mapping *mapping, const void *bytes, size_t length,
                            struct ek_error *e)
{
    struct ek_codec *codec;
    struct ek_list q;
    struct ek_buf out;
    int rc = ek_codec_new(&codec, manifest, mapping, NULL, e);
    if (rc)
        return rc;
    ek_list_init(&q);
    ek_buf_init(&out, 0);
    rc = ek_codec_decode(codec, bytes, length, &q, e);
    if (!rc)
        rc = ek_codec_patch(&q, bytes, length, &(double){2}, &out, e);
    ek_buf_release(&out);
    ek_list_release(&q);
    ek_codec_free(codec);
    return rc;
}

static int read_one(enum ek_message_encoding encoding, const char *file, const void *bytes,
                    size_t length, struct ek_error *e)
{
    static const struct ek_named_path paths[] = {{"kind", "kind"}};
    struct ek_mapping mapping = {.encoding = encoding, .segment_paths = {paths, 1}};
    const struct ek_schema_settings settings = {
        .encoding = encoding, .file = file, .frame = EK_FRAME_NEVER};
    struct ek_schema_source *source;
    int rc = ek_schema_source_open(&source, &settings, &mapping, e);
    if (rc)
        return rc;
    mapping.schemas = ek_schema_source_get(source);
    rc = decode_and_patch(&mapping, bytes, length, e);
    ek_schema_source_close(source);
    return rc;
}

static int read_avro(struct ek_error *e)
{
    return read_one(EK_MESSAGES_AVRO, "tests/schemas/small.avsc", AVRO, sizeof AVRO, e);
}

static int read_proto(struct ek_error *e)
{
    return read_one(EK_MESSAGES_PROTOBUF, "tests/schemas/small.desc", PROTO, sizeof PROTO, e);
}

START_TEST(a_message_with_a_schema_without_memory_leaves_nothing)
{
    ck_assert_int_eq(ek_manifest_parse(&manifest, "m", FEATURES, strlen(FEATURES), NULL), EK_OK);
    ek_sweep(read_avro);
    ek_sweep(read_proto);
    ek_manifest_free(manifest);
}
END_TEST

Suite *suite_schemas(void)
{
    return ek_suite("Schemas without memory",
                    a_message_with_a_schema_without_memory_leaves_nothing);
}
