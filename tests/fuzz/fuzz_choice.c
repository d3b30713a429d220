/* Text feature selections: in catalog order, without duplicates, with parameters in range. The
 * selected names select the same features. */
#include "text/features/feature_choice.h"
#include "base/buf.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

#include <math.h>
#include <string.h>

/* Uses catalog names: whole, and mutated by patterns. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static const char keys[] = "version features except parameters bm25_atire bm25_trec3 "
                               "bm25_trec3_kmax dfr sdm k1 b c terms ordered unordered mu";
    static const char values[] = "[all] [core] [query] [\"*\"] [\"*.title\"] [\"bm25*\",idf] "
                                 "[\"s?m*\"] 0 1 0.001 1e9 100";
    static struct ek_fuzz_words w;
    struct ek_feature_list *l;
    if (!w.keys) {
        ek_fuzz_keys(&w, keys);
        ek_fuzz_values(&w, values);
        ek_fuzz_require(!ek_feature_list_new(&l, NULL), "no catalog");
        for (size_t i = 0; i < l->count; i += 7)
            ek_fuzz_values(&w, l->features[i].name);
        ek_feature_list_free(l);
    }
    return ek_fuzz_mutate_lines(data, size, most, seed, &w);
}

static void check(const struct ek_feature_choice *c)
{
    ek_fuzz_require(c->count > 0 && c->count <= c->list->count, "so many features");
    for (size_t i = 0; i < c->count; i++) {
        const struct ek_text_feature *f = c->feature[i];
        ek_fuzz_require(!i || c->feature[i - 1] < f, "out of order");
        ek_fuzz_require(c->needs[f->family] && ek_feature_choice_has(c, f->family, f->kind),
                        "a family that is not needed");
        char changed[EK_CHANGED_BYTES];
        ek_feature_choice_changed(c, f, changed);
        ek_fuzz_require(strlen(changed) < sizeof changed, "no text");
    }
    ek_fuzz_require(c->sdm.terms + c->sdm.ordered + c->sdm.unordered > 0 && c->sdm.mu > 0 &&
                        isfinite(c->sdm.mu) && c->unigram.c > 0,
                    "parameters out of range");
}

/* Select by the names alone. */
static void again(const struct ek_feature_choice *c)
{
    struct ek_feature_choice *back;
    struct ek_buf text;
    struct ek_error e = {0};
    ek_buf_init(&text, 0);
    ek_fuzz_require(!ek_buf_text(&text, "features:\n"), "no memory");
    for (size_t i = 0; i < c->count; i++)
        ek_fuzz_require(!ek_buf_printf(&text, "- %s\n", c->feature[i]->name), "no memory");
    ek_fuzz_require(!ek_feature_choice_parse(&back, "again", (char *)text.data, text.length, &e),
                    e.message);
    ek_fuzz_require(back->count == c->count, "others come back");
    for (size_t i = 0; i < c->count; i++)
        ek_fuzz_require(!strcmp(back->feature[i]->name, c->feature[i]->name), "others come back");
    ek_feature_choice_free(back);
    ek_buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { FEW = 40 };
    struct ek_feature_choice *c;
    struct ek_error e = {0};
    if (ek_feature_choice_parse(&c, "input", (const char *)data, size, &e)) {
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
        return 0;
    }
    check(c);
    if (c->count <= FEW) /* many take long */
        again(c);
    ek_feature_choice_free(c);
    return 0;
}
