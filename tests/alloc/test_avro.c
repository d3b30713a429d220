/* Allocation failures while a schema file is compiled and an Avro message is decoded and patched.
 */
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include "daemon/files/schema_source.h"
#include "lists/codec.h"

#include <string.h>

static const char FEATURES[] = "features:\n"
                               "  - {name: price, index: 1, role: item}\n"
                               "  - {name: rating, index: 2, role: item}\n";
/* Kind B, one item: score 1, features 1 and null. */
static const char MESSAGE[] = "\2\2\0\0\x80\x3f\4\2\0\0\x80\x3f\0\0";

static struct ek_manifest *manifest;

static int decode_and_patch(const struct ek_mapping *mapping, struct ek_error *e)
{
    struct ek_codec *codec;
    struct ek_list q;
    struct ek_buf out;
    int rc = ek_codec_new(&codec, manifest, mapping, NULL, e);
    if (rc)
        return rc;
    ek_list_init(&q);
    ek_buf_init(&out, 0);
    rc = ek_codec_decode(codec, MESSAGE, sizeof MESSAGE, &q, e);
    if (!rc)
        rc = ek_codec_patch(&q, MESSAGE, sizeof MESSAGE, &(double){2}, &out, e);
    ek_buf_release(&out);
    ek_list_release(&q);
    ek_codec_free(codec);
    return rc;
}

static int read_one(struct ek_error *e)
{
    static const struct ek_named_path paths[] = {{"kind", "kind"}};
    struct ek_mapping mapping = {.encoding = EK_MESSAGES_AVRO, .segment_paths = {paths, 1}};
    const struct ek_schema_settings settings = {.file = "tests/schemas/small.avsc",
                                                .frame = EK_FRAME_NEVER};
    struct ek_schema_source *source;
    int rc = ek_schema_source_open(&source, &settings, &mapping, e);
    if (rc)
        return rc;
    mapping.schemas = ek_schema_source_get(source);
    rc = decode_and_patch(&mapping, e);
    ek_schema_source_close(source);
    return rc;
}

START_TEST(an_avro_message_without_memory_leaves_nothing)
{
    ck_assert_int_eq(ek_manifest_parse(&manifest, "m", FEATURES, strlen(FEATURES), NULL), EK_OK);
    ek_sweep(read_one);
    ek_manifest_free(manifest);
}
END_TEST

Suite *suite_avro(void)
{
    return ek_suite("Avro messages without memory", an_avro_message_without_memory_leaves_nothing);
}
