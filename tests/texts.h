/* Synthetic text collections with counts known by construction, and indexes of them. */
#ifndef EK_TESTS_TEXTS_H
#define EK_TESTS_TEXTS_H

#include "base/rng.h"
#include "tests/check.h"
#include "text/index/build.h"
#include "text/index/index.h"

#include <stdio.h>
#include <string.h>

enum { EK_TEXTS_MAX = 3000, EK_TEXTS_WORDS = 60, EK_TEXTS_FIELD = 24 };

/* Word numbers; word 17 is spelled "w17". */
struct ek_texts {
    int count;
    struct {
        int length[EK_FIELDS];
        int word[EK_FIELDS][EK_TEXTS_FIELD];
    } document[EK_TEXTS_MAX];
};

/* Create documents in which low word numbers are frequent. Some fields and some documents are
 * empty. */
static inline void ek_texts_make(struct ek_texts *t, int count, uint64_t seed)
{
    struct ek_rng r;
    ek_rng_seed(&r, seed);
    t->count = count;
    for (int d = 0; d < count; d++)
        for (int f = 0; f < EK_FIELDS; f++) {
            int length = (int)ek_rng_uniform_int(&r, EK_TEXTS_FIELD + 1);
            t->document[d].length[f] = ek_rng_uniform_int(&r, 3) && d % 17 ? length : 0;
            for (int i = 0; i < length; i++)
                t->document[d].word[f][i] = (int)ek_rng_uniform_int(
                    &r, 1 + (uint32_t)ek_rng_uniform_int(&r, EK_TEXTS_WORDS));
        }
}

static inline void ek_texts_add(const struct ek_texts *t, int d, struct ek_build *b)
{
    char id[16], text[EK_FIELDS][EK_TEXTS_FIELD * 5 + 1];
    struct ek_record_text r = {.line = d + 1};
    snprintf(id, sizeof id, "doc-%d", d);
    r.id = r.url = (struct ek_text){id, strlen(id)};
    if (d % 2)
        r.url = (struct ek_text){NULL, 0};
    for (int f = 0; f < EK_FIELDS; f++) {
        size_t n = 0;
        for (int i = 0; i < t->document[d].length[f]; i++)
            n += (size_t)snprintf(text[f] + n, sizeof text[f] - n, "W%d ",
                                  t->document[d].word[f][i]);
        r.field[f] = (struct ek_text){text[f], n};
    }
    ck_assert_int_eq(ek_build_add(b, &r, "texts", NULL), EK_OK);
}

/* Write the index. Return how often the memory limit was reached. */
static inline uint32_t ek_texts_index(const struct ek_texts *t, const char *path,
                                      uint64_t memory_bytes)
{
    struct ek_build *b;
    struct ek_error e = {0};
    ck_assert_int_eq(ek_build_new(&b, path, "none", memory_bytes, &e), EK_OK);
    for (int d = 0; d < t->count; d++)
        ek_texts_add(t, d, b);
    ck_assert_msg(ek_build_finish(b, NULL, NULL, &e) == EK_OK, "%s", e.message);
    uint32_t spills = ek_build_spills(b);
    ek_build_free(b);
    return spills;
}

/* Return the word at a position of a field, or of the whole document; -1 past its end. */
static inline int ek_texts_word(const struct ek_texts *t, int d, int field, int at)
{
    if (field < EK_FIELDS)
        return at < t->document[d].length[field] ? t->document[d].word[field][at] : -1;
    for (int f = 0; f < EK_FIELDS; f++) {
        if (at < t->document[d].length[f])
            return t->document[d].word[f][at];
        at -= t->document[d].length[f];
    }
    return -1;
}

static inline int ek_texts_count(const struct ek_texts *t, int d, int field, int word)
{
    int count = 0, here;
    for (int i = 0; (here = ek_texts_word(t, d, field, i)) >= 0; i++)
        count += here == word;
    return count;
}

static inline uint32_t ek_texts_find(const struct ek_index *x, int word)
{
    char name[16];
    snprintf(name, sizeof name, "w%d", word);
    return ek_index_find(x, name, strlen(name));
}

#endif
