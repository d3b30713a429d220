/* Messages under a field mapping: the input is a configuration, a zero byte, and a message. The
 * message is decoded as a list and by `inspect`, which has no manifest. */
#include "daemon/files/field_mapping.h"
#include "lists/codec_draft.h"
#include "lists/codec_json.h"
#include "lists/codec_shape.h"
#include "tests/codec_oracle.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

#include <math.h>
#include <string.h>

enum { ITEMS_MOST = 200 };

/* Mutates the part before the zero by lines, or the message by values. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static const char words[] = "query time_ms segments manifest query_features items item "
                                "list_items log_means item_id score features label source "
                                "encoding layout message price rating stars nights guests "
                                "numeric_strings name value ids scores labels sources";
    static const char values[] =
        "search.id search.query a.b.c items score msgpack json auto list item columns data.x "
        "features a.0.b * true price rating stars";
    static struct ek_fuzz_words w;
    static uint8_t part[1 << 16];
    uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    if (!w.keys) {
        ek_fuzz_keys(&w, words);
        ek_fuzz_values(&w, values);
    }
    size_t head = zero ? (size_t)(zero - data) + 1 : 0, tail = size - head;
    /* Without room for a byte libFuzzer writes one all the same. */
    if (!zero || size > sizeof part || head == most || tail + 1 == most)
        return LLVMFuzzerMutate(data, size, most);
    if (seed % 2)
        return head + ek_fuzz_mutate_msgpack(zero + 1, tail, most - head, seed / 2, &w);
    size_t room = most - tail - 1 < sizeof part ? most - tail - 1 : sizeof part;
    memcpy(part, data, head - 1);
    size_t length = ek_fuzz_mutate_lines(part, head - 1, room, seed / 2, &w);
    memmove(data + length + 1, zero + 1, tail);
    memcpy(data, part, length);
    data[length] = 0;
    return length + 1 + tail;
}

static void read_message(const struct ek_codec *codec, const uint8_t *bytes, size_t length)
{
    static struct ek_list q, again;
    static struct ek_buf out;
    struct ek_error e = {0};
    double scores[ITEMS_MOST];
    if (!out.data)
        ek_buf_init(&out, 0);
    if (ek_codec_decode(codec, bytes, length, &q, &e)) {
        ek_fuzz_require(e.message[0], "refused without a word");
        return;
    }
    ek_fuzz_require(q.items <= ITEMS_MOST, "more items than the limit");
    for (int i = 0; i < q.items; i++)
        scores[i] = i / 4. - 1;
    if (ek_codec_patch(&q, bytes, length, scores, &out, &e))
        return;
    ek_fuzz_require(!ek_codec_decode(codec, out.data, out.length, &again, &e), "patched to pieces");
    for (int i = 0; i < q.items; i++)
        ek_fuzz_require(again.score[i] == scores[i], "a patched score is not the one asked for");
}

static double seven(void *context, int item, int feature, double value, bool narrow)
{
    (void)context;
    (void)item;
    (void)feature;
    (void)value;
    (void)narrow;
    return 7;
}

/* Patched features are in the output, and the others are missing. */
static void patch_features(const struct ek_codec *codec, const uint8_t *bytes, size_t length)
{
    static const uint8_t wanted[] = {1, 1, 1, 1};
    static struct ek_list q, again;
    static struct ek_buf out;
    struct ek_feature_patch p = {.wanted = wanted, .value = seven};
    struct ek_error e = {0};
    if (!out.data)
        ek_buf_init(&out, 0);
    if (ek_codec_decode(codec, bytes, length, &q, NULL))
        return;
    ek_fuzz_require(!ek_codec_patch_features(codec, &q, bytes, length, &p, &out, &e), e.message);
    if (!p.changed)
        return;
    ek_fuzz_require(!ek_codec_decode(codec, out.data, out.length, &again, &e), e.message);
    for (int i = 0; i < q.items * q.item_features; i++)
        ek_fuzz_require(again.x[i] == 7 || (isnan(again.x[i]) && isnan(q.x[i])),
                        "a patched value is not the one asked for");
}

/* A message with appended columns is whole. */
static void append_columns(const struct ek_codec *codec, const uint8_t *bytes, size_t length)
{
    static const char *const names[] = {"z:a", "zero:\"b\""};
    static const uint8_t wanted[] = {0, 0, 0, 0};
    static double column[2 * ITEMS_MOST];
    static struct ek_list q;
    static struct ek_buf out;
    static struct ek_json *json;
    struct ek_json_fault fault;
    struct ek_feature_patch p = {
        .wanted = wanted, .value = seven, .columns = 2, .name = names, .column = column};
    struct ek_error e = {0};
    size_t extent = 0;
    if (!out.data)
        ek_buf_init(&out, 0);
    for (size_t i = 0; i < sizeof column / sizeof *column; i++)
        column[i] = i % 3 ? (double)i / 8 : (double)NAN;
    if (ek_codec_decode(codec, bytes, length, &q, NULL))
        return;
    ek_fuzz_require(!ek_codec_patch_features(codec, &q, bytes, length, &p, &out, &e), e.message);
    if (!out.length)
        return;
    bool whole = q.from_json
                     ? !ek_json_read(&json, out.data, out.length, EK_JSON_DEPTH_MAX, &fault)
                     : !ek_codec_extent(out.data, out.length, &extent, &e) && extent == out.length;
    ek_fuzz_require(whole, "columns were appended to pieces");
}

/* A manifest derived from a message must be valid. */
static void look(const struct ek_mapping *mapping, const uint8_t *bytes, size_t length)
{
    struct ek_shape *shape;
    struct ek_manifest *m;
    struct ek_buf out;
    struct ek_error e = {0};
    ek_buf_init(&out, 0);
    ek_fuzz_require(!ek_shape_new(&shape, mapping, NULL), "no memory");
    int rc = ek_shape_add(shape, bytes, length, &e);
    if (!rc)
        rc = ek_shape_add(shape, bytes, length, &e);
    ek_fuzz_require(!rc || e.message[0], "refused without a word");
    if (!rc && !ek_shape_manifest(shape, &out, &e)) {
        rc = ek_manifest_parse(&m, "made", (char *)out.data, out.length, &e);
        ek_fuzz_require(!rc, e.message);
        ek_manifest_free(m);
    }
    ek_shape_free(shape);
    ek_buf_release(&out);
}

/* A mapping that is found in a message can be printed. */
static void propose(const uint8_t *bytes, size_t length)
{
    struct ek_draft *draft;
    struct ek_mapping mapping;
    struct ek_buf out;
    struct ek_error e = {0};
    ek_buf_init(&out, 0);
    ek_fuzz_require(!ek_draft_new(&draft, NULL), "no memory");
    int rc = ek_draft_add(draft, bytes, length, &e);
    ek_fuzz_require(!rc || e.message[0], "refused without a word");
    if (!rc)
        rc = ek_draft_add(draft, bytes, length, &e);
    ek_fuzz_require(!ek_draft_mapping(draft, &mapping, &e), e.message);
    ek_fuzz_require(!ek_draft_print(&mapping, "", &out, &e), e.message);
    if (!rc)
        look(&mapping, bytes, length);
    ek_draft_free(draft);
    ek_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ek_manifest *manifest;
    struct ek_field_mapping d;
    struct ek_codec *codec;
    struct ek_error e = {0};
    char path[EK_FUZZ_PATH_BYTES];
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    size_t head = zero ? (size_t)(zero - data) : size;
    const uint8_t *message = data + head + (zero != NULL);
    size_t length = size - head - (zero != NULL);
    if (!manifest)
        ek_fuzz_require(!ek_manifest_parse(&manifest, "m", EK_ORACLE_FEATURES,
                                           strlen(EK_ORACLE_FEATURES), NULL),
                        "the manifest cannot be read");
    int fd = ek_fuzz_file(data, head, path);
    if (ek_field_mapping_load(&d, path, &e)) {
        ek_fuzz_require(e.message[0], "refused without a word");
    } else {
        struct ek_codec_limits limits = d.limits;
        limits.items = ITEMS_MOST;
        if (ek_codec_new(&codec, manifest, &d.mapping, &limits, &e)) {
            ek_fuzz_require(e.message[0], "refused without a word");
        } else {
            ek_fuzz_take();
            read_message(codec, message, length);
            patch_features(codec, message, length);
            append_columns(codec, message, length);
            ek_codec_free(codec);
        }
        look(&d.mapping, message, length);
        ek_field_mapping_release(&d);
    }
    propose(message, length);
    close(fd);
    return 0;
}
