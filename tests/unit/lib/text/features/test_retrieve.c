/* The best documents by BM25 equal those of scoring every document. */
#include "base/alloc.h"
#include "tests/check.h"
#include "tests/texts.h"
#include "text/features/retrieve.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define PATH "test_retrieve.ekx"

static struct ek_texts texts;

static int best_first(const void *a, const void *b)
{
    const struct ek_hit *p = a, *q = b;
    if (p->score != q->score)
        return p->score < q->score ? 1 : -1;
    return (p->document > q->document) - (p->document < q->document);
}

/* Order words by name, which is the order of term numbers. */
static int by_name(const void *a, const void *b)
{
    char p[16], q[16];
    snprintf(p, sizeof p, "%d", *(const int *)a);
    snprintf(q, sizeof q, "%d", *(const int *)b);
    return strcmp(p, q);
}

static double idf(int word)
{
    int df = 0;
    for (int d = 0; d < texts.count; d++)
        df += ek_texts_count(&texts, d, EK_FIELD_DOCUMENT, word) > 0;
    return df ? log(1 + (texts.count - df + 0.5) / (df + 0.5)) : 0;
}

static int length_of(int d)
{
    int length = 0;
    while (ek_texts_word(&texts, d, EK_FIELD_DOCUMENT, length) >= 0)
        length++;
    return length;
}

/* Score every document by the formula. Return the number with a score. */
static uint32_t score_all(int *words, int count, struct ek_bm25 s, struct ek_hit *hits)
{
    double tokens = 0, weights[16];
    uint32_t found = 0;
    qsort(words, (size_t)count, sizeof *words, by_name);
    for (int i = 0; i < count; i++)
        weights[i] = idf(words[i]);
    for (int d = 0; d < texts.count; d++)
        tokens += length_of(d);
    double slope = s.k1 * s.b * texts.count / tokens;
    for (int d = 0; d < texts.count; d++) {
        double score = 0;
        for (int i = 0; i < count; i++) {
            uint32_t tf = (uint32_t)ek_texts_count(&texts, d, EK_FIELD_DOCUMENT, words[i]);
            if (tf)
                score += weights[i] * tf / (tf + s.k1 * (1 - s.b) + slope * length_of(d));
        }
        if (score > 0)
            hits[found++] = (struct ek_hit){(uint32_t)d, score};
    }
    qsort(hits, found, sizeof *hits, best_first);
    return found;
}

static void compare(struct ek_retrieve *r, const struct ek_index *x, int *words, int count,
                    struct ek_bm25 s, uint32_t k)
{
    static struct ek_hit all[EK_TEXTS_MAX], hits[EK_TEXTS_MAX];
    uint32_t terms[16], found;
    struct ek_error e = {0};
    for (int i = 0; i < count; i++)
        terms[i] = ek_texts_find(x, words[i]);
    uint32_t there = score_all(words, count, s, all);
    ck_assert_msg(ek_retrieve(r, terms, (uint32_t)count, k, hits, &found, &e) == EK_OK, "%s",
                  e.message);
    ck_assert_uint_eq(found, there < k ? there : k);
    for (uint32_t i = 0; i < found; i++) {
        ck_assert_uint_eq(hits[i].document, all[i].document);
        ck_assert(hits[i].score == all[i].score);
    }
}

START_TEST(the_best_are_those_that_scoring_every_document_finds)
{
    struct ek_index *x;
    struct ek_retrieve *r;
    struct ek_rng rng;
    static const struct ek_bm25 settings[] = {{0.9, 0.4}, {1.2, 0.75}, {2, 0}, {0, 0.5}};
    ek_rng_seed(&rng, 3);
    ek_texts_make(&texts, 2000, 3);
    ek_texts_index(&texts, PATH, EK_BUILD_MEMORY);
    ck_assert_int_eq(ek_index_open(&x, PATH, NULL), EK_OK);
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        ck_assert_int_eq(ek_retrieve_new(&r, x, settings[s], NULL), EK_OK);
        for (int round = 0; round < 12; round++) {
            int words[16], count = 1 + (int)ek_rng_uniform_int(&rng, 6);
            for (int i = 0; i < count; i++) /* different words */
                words[i] = (i * 10 + (int)ek_rng_uniform_int(&rng, 10)) % EK_TEXTS_WORDS;
            static const uint32_t K[] = {1, 3, 10, 100, EK_TEXTS_MAX};
            compare(r, x, words, count, settings[s], K[round % 5]);
        }
        ek_retrieve_free(r);
    }
    ek_index_close(x);
    unlink(PATH);
}
END_TEST

static void open_one(struct ek_index **x, struct ek_retrieve **r)
{
    ek_texts_make(&texts, 300, 4);
    ek_texts_index(&texts, PATH, EK_BUILD_MEMORY);
    ck_assert_int_eq(ek_index_open(x, PATH, NULL), EK_OK);
    ck_assert_int_eq(ek_retrieve_new(r, *x, EK_BM25_DEFAULT, NULL), EK_OK);
}

START_TEST(a_term_twice_in_the_query_counts_twice)
{
    struct ek_index *x;
    struct ek_retrieve *r;
    struct ek_hit once[10], twice[10];
    uint32_t found;
    open_one(&x, &r);
    uint32_t terms[] = {ek_texts_find(x, 5), ek_texts_find(x, 5)};
    ck_assert_int_eq(ek_retrieve(r, terms, 1, 10, once, &found, NULL), EK_OK);
    ck_assert_int_eq(ek_retrieve(r, terms, 2, 10, twice, &found, NULL), EK_OK);
    ck_assert_uint_eq(found, 10);
    for (int i = 0; i < 10; i++) {
        ck_assert_uint_eq(once[i].document, twice[i].document);
        ck_assert(fabs(2 * once[i].score - twice[i].score) < 1e-12);
    }
    ek_retrieve_free(r);
    ek_index_close(x);
    unlink(PATH);
}
END_TEST

START_TEST(a_query_of_unknown_or_no_terms_finds_nothing)
{
    struct ek_index *x;
    struct ek_retrieve *r;
    struct ek_hit hits[10];
    struct ek_error e;
    uint32_t found = 7, many[EK_RETRIEVE_TERMS_MAX + 1], unknown[] = {EK_NO_TERM, EK_NO_TERM};
    open_one(&x, &r);
    ck_assert_int_eq(ek_retrieve(r, NULL, 0, 10, hits, &found, NULL), EK_OK);
    ck_assert_uint_eq(found, 0);
    ck_assert_int_eq(ek_retrieve(r, unknown, 2, 10, hits, &found, NULL), EK_OK);
    ck_assert_uint_eq(found, 0);
    for (uint32_t i = 0; i <= EK_RETRIEVE_TERMS_MAX; i++)
        many[i] = 0; /* one term, very often: valid */
    ck_assert_int_eq(ek_retrieve(r, many, EK_RETRIEVE_TERMS_MAX + 1, 10, hits, &found, &e), EK_OK);
    ck_assert_uint_gt(found, 0);
    ck_assert_int_eq(ek_retrieve(r, many, 1, 0, NULL, &found, &e), EK_OK);
    ck_assert_uint_eq(found, 0);
    ek_retrieve_free(r);
    ck_assert_int_eq(ek_retrieve_new(&r, x, (struct ek_bm25){-1, 0.4}, &e), EK_EUSAGE);
    ck_assert_int_eq(ek_retrieve_new(&r, x, (struct ek_bm25){1, NAN}, &e), EK_EUSAGE);
    ek_index_close(x);
    unlink(PATH);
}
END_TEST

Suite *suite_retrieve(void);
Suite *suite_retrieve(void)
{
    return ek_suite("retrieve", the_best_are_those_that_scoring_every_document_finds,
                    a_term_twice_in_the_query_counts_twice,
                    a_query_of_unknown_or_no_terms_finds_nothing);
}
