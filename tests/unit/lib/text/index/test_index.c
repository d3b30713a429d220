/* Text indexes: all input is found, also after spills to disk, and damage is detected. */
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

START_TEST(what_had_to_go_to_disk_makes_the_same_index)
{
    struct ek_buf roomy, tight;
    ek_buf_init(&roomy, 0);
    ek_buf_init(&tight, 0);
    ek_texts_make(&texts, EK_TEXTS_MAX, 5);
    ck_assert_uint_eq(ek_texts_index(&texts, PATH, EK_BUILD_MEMORY), 0);
    ck_assert_int_eq(ek_file_read(PATH, &roomy, NULL), EK_OK);
    /* Below the minimum of a command: the ids alone take more than half of it. */
    ck_assert_uint_gt(ek_texts_index(&texts, PATH, 310 << 10), 1);
    ck_assert_int_eq(ek_file_read(PATH, &tight, NULL), EK_OK);
    ck_assert_uint_eq(roomy.length, tight.length);
    ck_assert_mem_eq(roomy.data, tight.data, roomy.length);
    struct ek_index *x = open_index();
    check_all(x);
    ek_index_close(x);
    ek_buf_release(&roomy);
    ek_buf_release(&tight);
    unlink(PATH);
}
END_TEST

START_TEST(words_that_do_not_fit_into_the_memory_are_told)
{
    struct ek_build *b;
    struct ek_error e = {0};
    char id[16], text[64];
    int rc = EK_OK;
    unlink(PATH);
    ck_assert_int_eq(ek_build_new(&b, PATH, "none", 64 << 10, NULL), EK_OK);
    for (int d = 0; d < 100000 && !rc; d++) {
        struct ek_record_text r = {.line = d + 1};
        snprintf(id, sizeof id, "%d", d);
        snprintf(text, sizeof text, "a%d b%d c%d d%d", d, d, d, d);
        r.id = (struct ek_text){id, strlen(id)};
        r.field[EK_FIELD_BODY] = (struct ek_text){text, strlen(text)};
        rc = ek_build_add(b, &r, "texts", &e);
    }
    ck_assert_int_eq(rc, EK_ELIMIT);
    ck_assert_ptr_nonnull(strstr(e.message, "words and ids alone need"));
    ck_assert_str_eq(e.file, "texts");
    ek_build_free(b);
    ck_assert_int_ne(access(PATH, F_OK), 0);
}
END_TEST

static int add(struct ek_build *b, const char *id, const char *body, struct ek_error *e)
{
    struct ek_record_text r = {.id = {id, strlen(id)}, .line = 3};
    r.field[EK_FIELD_BODY] = (struct ek_text){body, strlen(body)};
    return ek_build_add(b, &r, "texts", e);
}

START_TEST(an_id_that_comes_twice_is_told)
{
    struct ek_build *b;
    struct ek_error e;
    char full[700];
    ck_assert_int_eq(ek_build_new(&b, PATH, "none", EK_BUILD_MEMORY, NULL), EK_OK);
    ck_assert_int_eq(add(b, "a", "x", NULL), EK_OK);
    ck_assert_int_eq(add(b, "a", "y", &e), EK_EFORMAT);
    ck_assert_str_eq(ek_error_text(&e, full, sizeof full),
                     "texts:3: there is a document 'a' already");
    ek_build_free(b);
}
END_TEST

START_TEST(collections_of_nothing_and_of_empty_documents_have_an_index)
{
    struct ek_build *b;
    struct ek_document d;
    ck_assert_int_eq(ek_build_new(&b, PATH, "none", EK_BUILD_MEMORY, NULL), EK_OK);
    ck_assert_int_eq(ek_build_finish(b, NULL, NULL, NULL), EK_OK);
    ek_build_free(b);
    struct ek_index *x = open_index();
    ck_assert_uint_eq(ek_index_documents(x), 0);
    ck_assert_int_eq(ek_index_document(x, "a", 1), -1);
    ck_assert_uint_eq(ek_index_find(x, "a", 1), EK_NO_TERM);
    ek_index_close(x);
    ck_assert_int_eq(ek_build_new(&b, PATH, "none", EK_BUILD_MEMORY, NULL), EK_OK);
    ck_assert_int_eq(add(b, "a", "...", NULL), EK_OK);
    ck_assert_int_eq(ek_build_finish(b, NULL, NULL, NULL), EK_OK);
    ek_build_free(b);
    x = open_index();
    ek_document_init(&d);
    ck_assert_int_eq(ek_index_read(x, 0, &d, NULL), EK_OK);
    ck_assert_uint_eq(d.length[EK_FIELD_DOCUMENT], 0);
    ck_assert_int_eq(ek_index_read(x, 1, &d, NULL), EK_EUSAGE);
    ek_document_release(&d);
    ek_index_close(x);
    unlink(PATH);
}
END_TEST

/* Read everything; the sum keeps the compiler from removing it. */
static uint64_t read_everything(const struct ek_index *x, int *faults)
{
    struct ek_document d;
    struct ek_postings p;
    uint64_t sum = 0;
    size_t length;
    bool more = true;
    ek_document_init(&d);
    for (uint32_t i = 0; i < ek_index_documents(x); i++) {
        if (ek_index_read(x, i, &d, NULL))
            ++*faults;
        else
            for (uint32_t j = 0; j < d.length[EK_FIELD_DOCUMENT]; j++)
                sum += ek_index_statistics(x, d.term[EK_FIELD_DOCUMENT][j], EK_FIELD_BODY).tokens;
    }
    ek_document_release(&d);
    for (uint32_t t = 0; t < ek_index_terms(x); t++) {
        const char *text = ek_index_term(x, t, &length);
        sum += ek_index_find(x, text, length);
        for (int f = 0; f < EK_FIELDS_AND_DOCUMENT; f += EK_FIELDS / 2) {
            int rc = ek_postings_begin(&p, x, t, (enum ek_field)f, f % 2, NULL);
            for (more = !rc; more && !rc;) {
                rc = ek_postings_next(&p, &more, NULL);
                sum += more ? p.count + p.document : 0;
            }
            *faults += rc != EK_OK;
            ek_postings_end(&p);
        }
    }
    return sum;
}

/* Open and read a file of these bytes. Return the error, 0: none detected. */
static int try_bytes(const uint8_t *bytes, size_t length)
{
    struct ek_index *x;
    int faults = 0;
    FILE *f = fopen(PATH, "wb");
    ck_assert_uint_eq(fwrite(bytes, 1, length, f), length);
    fclose(f);
    if (ek_index_open(&x, PATH, NULL))
        return 1;
    faults = ek_index_check(x, NULL) != EK_OK;
    volatile uint64_t sum = read_everything(x, &faults);
    (void)sum;
    ek_index_close(x);
    return faults;
}

START_TEST(a_damaged_index_is_told_and_never_read_beyond)
{
    struct ek_buf b;
    struct ek_rng r;
    ek_rng_seed(&r, 6);
    ek_buf_init(&b, 0);
    ek_texts_make(&texts, 40, 6);
    ek_texts_index(&texts, PATH, EK_BUILD_MEMORY);
    ck_assert_int_eq(ek_file_read(PATH, &b, NULL), EK_OK);
    ck_assert_int_eq(try_bytes(b.data, b.length), 0);
    for (int i = 0; i < 400; i++)
        ck_assert_int_ne(try_bytes(b.data, (size_t)ek_rng_uniform_int(&r, b.length)), 0);
    for (int i = 0; i < 1500; i++) {
        size_t at = (size_t)ek_rng_uniform_int(&r, b.length);
        uint8_t kept = b.data[at];
        b.data[at] ^= (uint8_t)(1 + ek_rng_uniform_int(&r, 255));
        try_bytes(b.data, b.length); /* bytes between sections are unused */
        b.data[at] = kept;
    }
    ek_buf_release(&b);
    unlink(PATH);
}
END_TEST

START_TEST(an_index_is_a_plain_file)
{
    struct ek_build *b;
    struct ek_error e;
    ck_assert_int_eq(ek_build_new(&b, "x.ekx.zst", "none", EK_BUILD_MEMORY, &e), EK_EUSAGE);
    ck_assert_str_eq(e.message, "an index is mapped and cannot be compressed");
    ck_assert_int_eq(ek_build_new(&b, "-", "none", EK_BUILD_MEMORY, &e), EK_EUSAGE);
    ck_assert_int_eq(ek_build_new(&b, "no/such/folder/x", "none", EK_BUILD_MEMORY, &e), EK_EIO);
    ck_assert_int_eq(ek_build_new(&b, PATH, "klingon", EK_BUILD_MEMORY, &e), EK_EUSAGE);
}
END_TEST

Suite *suite_index(void);
Suite *suite_index(void)
{
    return ek_suite("index", what_was_put_in_is_found_again, terms_are_in_the_order_of_their_bytes,
                    what_had_to_go_to_disk_makes_the_same_index,
                    words_that_do_not_fit_into_the_memory_are_told, an_id_that_comes_twice_is_told,
                    collections_of_nothing_and_of_empty_documents_have_an_index,
                    a_damaged_index_is_told_and_never_read_beyond, an_index_is_a_plain_file);
}
