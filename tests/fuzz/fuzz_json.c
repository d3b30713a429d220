/* JSON messages: jansson and this parser accept the same texts, and the resulting msgpack equals
 * jansson's value. fuzz_codec covers decoding of that msgpack; here it must only decode, and
 * patched scores must read back. */
#include "base/alloc.h"
#include "lists/codec.h"
#include "lists/codec_json.h"
#include "lists/codec_wire.h"
#include "tests/codec_oracle.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>

enum { DEPTH = 40 };

/* Return the depth of jansson's value, which has no such limit. */
static int depth_of(const json_t *j)
{
    int deepest = 0, inside;
    const char *key;
    json_t *value;
    size_t i;
    if (json_is_object(j))
        json_object_foreach((json_t *)j, key, value) deepest =
            (inside = depth_of(value)) > deepest ? inside : deepest;
    else if (json_is_array(j))
        json_array_foreach(j, i, value) deepest =
            (inside = depth_of(value)) > deepest ? inside : deepest;
    else
        return 0;
    return deepest + 1;
}

static bool same(struct ek_wire *w, const json_t *j);

static bool same_text(struct ek_wire *w, const struct ek_head *h, const char *text, size_t length)
{
    bool equal = h->kind == EK_WIRE_TEXT && h->count == length && !memcmp(w->p, text, length);
    w->p += h->count;
    return equal;
}

static bool same_object(struct ek_wire *w, const struct ek_head *h, const json_t *j)
{
    if (h->kind != EK_WIRE_MAP || h->count != json_object_size(j))
        return false;
    for (uint32_t i = 0; i < h->count; i++) {
        struct ek_head key;
        if (ek_wire_head(w, &key) || key.kind != EK_WIRE_TEXT)
            return false;
        json_t *value = json_object_getn(j, (const char *)w->p, key.count);
        w->p += key.count;
        if (!value || !same(w, value))
            return false;
    }
    return true;
}

static bool same_array(struct ek_wire *w, const struct ek_head *h, const json_t *j)
{
    if (h->kind != EK_WIRE_ARRAY || h->count != json_array_size(j))
        return false;
    for (size_t i = 0; i < h->count; i++)
        if (!same(w, json_array_get(j, i)))
            return false;
    return true;
}

/* jansson reads numbers as doubles: an integer of this parser is rounded once. */
static bool same_number(const struct ek_head *h, const json_t *j)
{
    return ek_head_is_number(h) && ek_head_number(h) == json_real_value(j);
}

static bool same(struct ek_wire *w, const json_t *j)
{
    struct ek_head h;
    if (ek_wire_head(w, &h))
        return false;
    switch (json_typeof(j)) {
    case JSON_OBJECT:
        return same_object(w, &h, j);
    case JSON_ARRAY:
        return same_array(w, &h, j);
    case JSON_STRING:
        return same_text(w, &h, json_string_value(j), json_string_length(j));
    case JSON_REAL:
        return same_number(&h, j);
    case JSON_NULL:
        return h.kind == EK_WIRE_NIL;
    default:
        return h.kind == EK_WIRE_BOOL && (h.bits == 1) == json_is_true(j);
    }
}

static void check_text(const uint8_t *data, size_t size)
{
    static struct ek_json *ours;
    const size_t flags = JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL;
    struct ek_json_fault fault;
    int rc = ek_json_read(&ours, data, size, DEPTH, &fault);
    size_t frame = ek_json_frame(data, size); /* of a schema registry */
    json_error_t why;
    data += frame;
    size -= frame;
    json_t *theirs = json_loadb((const char *)data, size, flags, &why);
    /* A name with \u0000 in it is JSON, but jansson cannot store it. */
    if (!theirs && json_error_code(&why) == json_error_null_byte_in_key)
        return;
    if (rc) {
        /* jansson skips a zero byte after a number. */
        bool good = json_is_object(theirs) && depth_of(theirs) <= DEPTH && !memchr(data, 0, size);
        ek_fuzz_require(!good, fault.what);
    } else {
        size_t length;
        const uint8_t *wire = ek_json_wire(ours, &length);
        struct ek_wire w = {wire, wire, wire + length};
        ek_fuzz_require(json_is_object(theirs), "accepted what jansson refuses");
        json_t *once = json_loadb((const char *)data, size, flags | JSON_REJECT_DUPLICATES, NULL);
        if (once)
            ek_fuzz_require(same(&w, once) && w.p == w.end, "read something else than jansson");
        json_decref(once);
    }
    json_decref(theirs);
}

static void check_message(const struct ek_codec *codec, const uint8_t *data, size_t size)
{
    static struct ek_list q;
    static struct ek_buf out;
    static double scores[1000];
    struct ek_error e = {0};
    if (!out.data)
        ek_buf_init(&out, 0);
    if (ek_codec_decode(codec, data, size, &q, &e)) {
        ek_fuzz_require(e.message[0], "refused without a word");
        return;
    }
    for (int i = 0; i < q.items; i++)
        scores[i] = i / 3.0 - 1;
    if (ek_codec_patch(&q, data, size, scores, &out, &e))
        return;
    ek_fuzz_require(!ek_codec_decode(codec, out.data, out.length, &q, &e), "patched to pieces");
    for (int i = 0; i < q.items; i++)
        ek_fuzz_require(q.score[i] == scores[i], "a patched score is not the one asked for");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ek_manifest *manifest;
    static struct ek_codec *codec;
    const struct ek_mapping mapping = {.encoding = EK_MESSAGES_JSON};
    const struct ek_codec_limits limits = {.items = 1000};
    if (!codec) {
        ek_fuzz_require(!ek_manifest_parse(&manifest, "m", EK_ORACLE_FEATURES,
                                           strlen(EK_ORACLE_FEATURES), NULL),
                        "the manifest cannot be read");
        ek_fuzz_require(!ek_codec_new(&codec, manifest, &mapping, &limits, NULL), "no codec");
    }
    if (size)
        check_text(data, size);
    check_message(codec, data, size);
    return 0;
}
