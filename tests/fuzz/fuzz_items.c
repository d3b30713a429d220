/* Messages of one item, msgpack or JSON: decoded and patched; only the score changes. */
#include "lists/codec.h"
#include "tests/codec_oracle.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

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

static void check_patched(const struct ek_codec *codec, const struct ek_list *q,
                          const uint8_t *data, size_t size)
{
    static struct ek_list again;
    static struct ek_buf out;
    struct ek_error e = {0};
    const double score = 1 / 3.;
    if (!out.data)
        ek_buf_init(&out, 0);
    if (ek_codec_patch(q, data, size, &score, &out, &e)) {
        ek_fuzz_require(e.message[0], "not patched, without a word");
        return;
    }
    struct ek_place was = q->place[0];
    size_t behind = size - was.offset - was.length;
    ek_fuzz_require(out.length >= behind && !memcmp(out.data, data, was.offset) &&
                        !memcmp(out.data + out.length - behind, data + size - behind, behind),
                    "something else than the score has changed");
    ek_fuzz_require(!ek_codec_decode(codec, out.data, out.length, &again, &e), "patched to pieces");
    ek_fuzz_require(again.score[0] == score || again.score[0] == (double)(float)score,
                    "a patched score is not the one asked for");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ek_manifest *manifest;
    static struct ek_codec *codec;
    static struct ek_list q;
    const struct ek_mapping mapping = {.layout = EK_LAYOUT_ITEM};
    struct ek_error e = {0};
    if (!codec) {
        ek_fuzz_require(!ek_manifest_parse(&manifest, "m", EK_ORACLE_FEATURES,
                                           strlen(EK_ORACLE_FEATURES), NULL),
                        "the manifest cannot be read");
        ek_fuzz_require(!ek_codec_new(&codec, manifest, &mapping, NULL, NULL), "no codec");
    }
    if (ek_codec_decode(codec, data, size, &q, &e)) {
        ek_fuzz_require(e.message[0], "refused without a word");
        return 0;
    }
    ek_fuzz_require(q.items == 1 && q.one_item && q.id.text && q.list_items >= 1,
                    "accepted what is no item of a list");
    check_patched(codec, &q, data, size);
    return 0;
}
