/* Messages: decode, patch, decode again; msgpack-c must agree. A sample is encoded in every form
 * and must decode to the same list. */
#include "base/hash.h"
#include "tests/codec_oracle.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

/* Encoding in five forms takes ten times as long as all other checks. */
enum { WRITTEN_ONE_OF = 8 };

/* Mutates trees of values with the field names of messages. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static const char words[] =
        "query time_ms segments manifest query_features items item list_items log_means id score "
        "features label source price rating stars nights guests other "
        "a_feature_with_a_name_too_long_for_a_short_text";
    static struct ek_fuzz_words w;
    if (!w.keys)
        ek_fuzz_keys(&w, words);
    return ek_fuzz_mutate_msgpack(data, size, most, seed, &w);
}

static bool same_floats(const float *a, const float *b, size_t count, bool finite)
{
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i])) && !(finite && isinf(a[i])))
            return false;
    return true;
}

/* A list marked as complete is encoded without the mark. */
static int length_of(const struct ek_list *q)
{
    return q->list_items ? q->list_items : q->items;
}

/* JSON has no infinite number and no invalid UTF-8, hence no such ids. */
static void same_list(const struct ek_list *a, const struct ek_list *b, bool json)
{
    ek_fuzz_require(a->items == b->items && length_of(a) == length_of(b),
                    "another length comes back");
    ek_fuzz_require(a->time_ms == b->time_ms, "another time comes back");
    ek_fuzz_require(a->segment_count == b->segment_count, "other segments come back");
    ek_fuzz_require(a->has_label == b->has_label, "other labels come back");
    ek_fuzz_require(a->sources == b->sources, "other sources come back");
    ek_fuzz_require(json || ek_text_same(a->id, b->id), "another id comes back");
    ek_fuzz_require(same_floats(a->x, b->x, (size_t)(a->items * a->item_features), json) &&
                        same_floats(a->query, b->query, (size_t)a->query_features, json),
                    "other values come back");
    for (int i = 0; i < a->items; i++)
        ek_fuzz_require((isnan(a->score[i]) && isnan(b->score[i])) || a->score[i] == b->score[i] ||
                            (json && isinf(a->score[i])),
                        "another score comes back");
}

/* Two names of invalid UTF-8 may coincide in JSON, which replaces them by U+FFFD. */
static bool json_has_names(const struct ek_list *q)
{
    for (int i = 0; i < q->segment_count; i++) {
        const unsigned char *name = (const unsigned char *)q->segments[i].name.text;
        for (size_t at = 0, size; at < q->segments[i].name.length; at += size)
            if (!(size = ek_utf8_length(name + at, q->segments[i].name.length - at)))
                return false;
    }
    return true;
}

static void write_in_each_form(const struct ek_codec *codec, const struct ek_manifest *m,
                               const uint8_t *data, size_t size)
{
    static struct ek_list q, back;
    static struct ek_buf out;
    struct ek_error e = {0};
    if (!out.limit)
        ek_buf_init(&out, 0);
    ek_fuzz_require(!ek_codec_decode(codec, data, size, &q, &e), e.message);
    int last = json_has_names(&q) ? EK_FEATURES_JSON_MAP : EK_FEATURES_JSON - 1;
    for (int form = EK_FEATURES_ARRAY; form <= last; form++) {
        ek_buf_clear(&out);
        ek_fuzz_require(!ek_codec_encode(m, &q, (enum ek_feature_encoding)form, &out, &e),
                        e.message);
        ek_fuzz_require(!ek_codec_decode(codec, out.data, out.length, &back, &e), e.message);
        same_list(&q, &back, form >= EK_FEATURES_JSON);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ek_manifest *manifest;
    static struct ek_codec *codec;
    const struct ek_codec_limits limits = {.depth = EK_ORACLE_DEPTH, .items = 1000};
    bool accepted;
    if (!codec) {
        ek_fuzz_require(!ek_manifest_parse(&manifest, "m", EK_ORACLE_FEATURES,
                                           strlen(EK_ORACLE_FEATURES), NULL),
                        "the manifest cannot be read");
        ek_fuzz_require(!ek_codec_new(&codec, manifest, NULL, &limits, NULL), "no codec");
    }
    const char *fault = ek_oracle_fault(codec, manifest, data, size, &accepted);
    ek_fuzz_require(!fault, fault);
    if (accepted && ek_crc32(data, size) % WRITTEN_ONE_OF == 0)
        write_in_each_form(codec, manifest, data, size);
    return 0;
}
