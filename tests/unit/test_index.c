/* Indexes of texts: what was put in is found again, whatever had to go to disk on the way, and
 * damage is told. */
#include "base/alloc.h"
#include "base/file.h"
#include "tests/check.h"
#include "tests/texts.h"

#include <unistd.h>

#define PATH "test_index.ekx"

static struct ek_texts texts;

static struct ek_index *open_index(void)
{
    struct ek_index *x = NULL;
    struct ek_error e = {0};
    ck_assert_msg(ek_index_open(&x, PATH, &e) == EK_OK, "%s", e.message);
    return x;
}

static void check_postings(const struct ek_index *x, int word, int field, bool positions)
{
    struct ek_postings p;
    struct ek_term_statistics s = {0};
    uint32_t term = ek_texts_find(x, word);
    bool more;
    if (term == EK_NO_TERM)
        return;
    ck_assert_int_eq(ek_postings_begin(&p, x, term, (enum ek_field)field, positions, NULL), EK_OK);
    for (int d = 0; d < texts.count; d++) {
        int count = ek_texts_count(&texts, d, field, word);
        if (!count)
            continue;
        ck_assert_int_eq(ek_postings_next(&p, &more, NULL), EK_OK);
        ck_assert(more);
        ck_assert_uint_eq(p.document, (unsigned)d);
        ck_assert_uint_eq(p.count, (unsigned)count);
        for (int i = 0; positions && i < count; i++)
            ck_assert_int_eq(ek_texts_word(&texts, d, field, (int)p.position[i]), word);
        for (int i = 1; positions && i < count; i++)
            ck_assert_uint_gt(p.position[i], p.position[i - 1]);
        s.documents++;
        s.tokens += (unsigned)count;
        s.most = s.most > (unsigned)count ? s.most : (unsigned)count;
    }
    ck_assert_int_eq(ek_postings_next(&p, &more, NULL), EK_OK);
    ck_assert(!more);
    ek_postings_end(&p);
    struct ek_term_statistics told = ek_index_statistics(x, term, (enum ek_field)field);
    ck_assert_uint_eq(told.documents, s.documents);
    ck_assert_uint_eq(told.tokens, s.tokens);
    ck_assert_uint_eq(told.most, s.most);
}

static void check_document(const struct ek_index *x, struct ek_document *d, int number)
{
    char id[16], name[16];
    size_t length;
    snprintf(id, sizeof id, "doc-%d", number);
    ck_assert_int_eq(ek_index_document(x, id, strlen(id)), number);
    ck_assert_int_eq(ek_index_read(x, (uint32_t)number, d, NULL), EK_OK);
    ck_assert_uint_eq(d->id_length, strlen(id));
    ck_assert_mem_eq(d->id, id, d->id_length);
    ck_assert_uint_eq(d->url_length, number % 2 ? 0 : strlen(id));
    for (int f = 0; f < EK_FIELDS_AND_DOCUMENT; f++) {
        ck_assert_uint_eq(d->length[f], ek_index_length(x, (uint32_t)number, (enum ek_field)f));
        ck_assert_int_eq(ek_texts_word(&texts, number, f, (int)d->length[f]), -1);
        for (uint32_t i = 0; i < d->length[f]; i++) {
            const char *term = ek_index_term(x, d->term[f][i], &length);
            snprintf(name, sizeof name, "w%d", ek_texts_word(&texts, number, f, (int)i));
            ck_assert_uint_eq(length, strlen(name));
            ck_assert_mem_eq(term, name, length);
        }
    }
}

static void check_all(const struct ek_index *x)
{
    struct ek_document d;
    ck_assert_int_eq(ek_index_check(x, NULL), EK_OK);
    ck_assert_uint_eq(ek_index_documents(x), (unsigned)texts.count);
    ek_document_init(&d);
    for (int i = 0; i < texts.count; i++)
        check_document(x, &d, i);
    ek_document_release(&d);
    for (int word = 0; word < EK_TEXTS_WORDS; word++)
        for (int field = 0; field < EK_FIELDS_AND_DOCUMENT; field++) {
            check_postings(x, word, field, true);
            check_postings(x, word, field, false);
        }
}

START_TEST(what_was_put_in_is_found_again)
{
    ek_texts_make(&texts, 700, 1);
    ck_assert_uint_eq(ek_texts_index(&texts, PATH, EK_BUILD_MEMORY), 0);
    struct ek_index *x = open_index();
    check_all(x);
    ck_assert_int_eq(ek_index_document(x, "doc-700", 7), -1);
    ck_assert_uint_eq(ek_index_find(x, "w", 1), EK_NO_TERM);
    ck_assert_uint_eq(ek_index_find(x, "x", 1), EK_NO_TERM);
    ck_assert_str_eq(ek_index_stemmer(x), "none");
    ek_index_close(x);
    unlink(PATH);
}
END_TEST

START_TEST(terms_are_in_the_order_of_their_bytes)
{
    size_t m, n;
    ek_texts_make(&texts, 100, 2);
    ek_texts_index(&texts, PATH, EK_BUILD_MEMORY);
    struct ek_index *x = open_index();
    for (uint32_t i = 1; i < ek_index_terms(x); i++) {
        const char *a = ek_index_term(x, i - 1, &m), *b = ek_index_term(x, i, &n);
        int order = memcmp(a, b, m < n ? m : n);
        ck_assert(order < 0 || (!order && m < n));
        ck_assert_uint_eq(ek_index_find(x, b, n), i);
    }
    ek_index_close(x);
    unlink(PATH);
}
END_TEST

Suite *suite_index(void);
Suite *suite_index(void)
{
    return ek_suite("index", what_was_put_in_is_found_again, terms_are_in_the_order_of_their_bytes);
}
