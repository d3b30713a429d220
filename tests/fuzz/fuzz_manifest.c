/* Manifests: an accepted one has valid numbers and orders, and messages can be encoded and decoded
 * with it. */
#include "lists/codec.h"
#include "schema/manifest.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

#include <string.h>

enum { WIDTH_TRIED = 300, ITEMS = 2 };

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static const char keys[] =
        "version set features name index role type routable positive unit note missing "
        "derived_query_features main_feature nights_feature currency_features training hidden "
        "epochs batch_size learning_rate weight_decay";
    static const char values[] = "item query number category true false never expected price "
                                 "nights log_list_size [log_list_size] 1 2 1048576 EUR [64,32]";
    static struct ek_fuzz_words w;
    if (!w.keys) {
        ek_fuzz_keys(&w, keys);
        ek_fuzz_values(&w, values);
    }
    return ek_fuzz_mutate_lines(data, size, most, seed, &w);
}

static void check(const struct ek_manifest *m)
{
    int routable = 0;
    ek_fuzz_require(m->feature_count == m->item_count + m->query_count &&
                        m->feature_count <= EK_FEATURES_MAX && m->width <= EK_INDEX_MAX &&
                        m->derived_count <= m->query_count,
                    "counts that do not fit");
    for (int i = 0; i < m->item_count; i++) {
        ek_fuzz_require(!i || m->item[i - 1]->index < m->item[i]->index, "not by index");
        ek_fuzz_require(ek_manifest_item(m, m->item[i]->name) == i, "not found by its name");
        routable += m->routable_of_item[i] >= 0;
    }
    for (int i = 0; i < m->query_count; i++)
        ek_fuzz_require(ek_manifest_query(m, m->query[i]->name) == i, "not found by its name");
    ek_fuzz_require(routable == m->routable_count, "not all that is routable");
    for (int i = 0; i < m->feature_count; i++)
        ek_fuzz_require(ek_manifest_feature(m, m->features[i].name) == i &&
                            strlen(m->features[i].name) <= EK_NAME_BYTES_MAX,
                        "a name that is not unique");
}

/* A list must survive encoding and decoding. */
static void carry(const struct ek_manifest *m)
{
    struct ek_codec *codec;
    struct ek_list q, back;
    struct ek_buf out;
    struct ek_error e = {0};
    if (m->feature_count > WIDTH_TRIED)
        return;
    ek_list_init(&q);
    ek_list_init(&back);
    ek_buf_init(&out, 0);
    ek_fuzz_require(!ek_codec_new(&codec, m, NULL, NULL, &e), e.message);
    ek_fuzz_require(!ek_list_resize(&q, ITEMS, m->item_count, m->query_count), "no memory");
    for (int i = 0; i < ITEMS; i++) {
        q.score[i] = i;
        q.item_id[i] = ek_text_from("an item");
    }
    for (int i = 0; i < ITEMS * m->item_count; i++)
        q.x[i] = (float)i - 1;
    for (int i = 0; i < m->query_count; i++)
        q.query[i] = (float)i;
    ek_list_derive(&q, m);
    for (int i = EK_FEATURES_ARRAY; i <= EK_FEATURES_JSON_MAP; i++) {
        ek_buf_clear(&out);
        ek_fuzz_require(!ek_codec_encode(m, &q, (enum ek_feature_encoding)i, &out, &e), e.message);
        ek_fuzz_require(!ek_codec_decode(codec, out.data, out.length, &back, &e), e.message);
        ek_fuzz_require(back.items == ITEMS &&
                            !memcmp(back.x, q.x, sizeof *q.x * ITEMS * (size_t)m->item_count) &&
                            !memcmp(back.query, q.query, sizeof *q.query * (size_t)m->query_count),
                        "a list comes back as another");
    }
    ek_codec_free(codec);
    ek_buf_release(&out);
    ek_list_release(&back);
    ek_list_release(&q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ek_manifest *m, *again;
    struct ek_error_list faults;
    struct ek_error e = {0};
    const char *text = (const char *)data;
    ek_error_list_init(&faults);
    int rc = ek_manifest_parse(&m, "input", text, size, &e);
    ek_fuzz_require(!rc || e.message[0], "refused without a word");
    int all = ek_manifest_parse_all(&again, "input", text, size, &faults, &e);
    ek_fuzz_require(!rc == !all, "taken by one reading and refused by the other");
    if (!rc) {
        ek_fuzz_take();
        ek_fuzz_require(m->hash == again->hash, "two hashes");
        check(m);
        carry(m);
        ek_manifest_free(again);
        ek_manifest_free(m);
    }
    ek_error_list_release(&faults);
    return 0;
}
