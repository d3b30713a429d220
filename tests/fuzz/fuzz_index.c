/* Text indexes: a damaged index is rejected or returns valid data, and no read leaves its sections.
 *
 * The input is an index or edits of a valid one, 8 bytes each: section (1, one past the last: the
 * footer), position (2), width (1) and value (4). With the highest bit of the width, the byte at
 * the position changes by the first byte of the value. Each is also tried with corrected hashes, to
 * reach the code after the check.
 */
#include "base/hash.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/indexed.h"
#include "text/features/features.h"
#include "text/index/index_internal.h"
#include "text/features/retrieve.h"

#include <string.h>

#if defined __SANITIZE_ADDRESS__
#define WATCHED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define WATCHED 1
#endif
#endif
#ifdef WATCHED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, length)   ((void)(at), (void)(length))
#define ASAN_UNPOISON_MEMORY_REGION(at, length) ((void)(at), (void)(length))
#endif

enum { EDIT = 8, HITS = 5, PAGE = 4096, ASKED_ONE_OF = 4, ADDED = 0x80 };

static struct ek_feature_choice *choice;

/* Protect the bytes outside all sections, as a sanitizer does not check mapped files. The last
 * page's remainder stays readable. */
static void watch(const struct ek_index *x, size_t mapped)
{
    ASAN_POISON_MEMORY_REGION(x->map, mapped);
    for (int i = 0; i < EK_SECTIONS; i++)
        ASAN_UNPOISON_MEMORY_REGION(x->map + x->footer.section[i].offset,
                                    x->footer.section[i].length);
}

static void read_documents(const struct ek_index *x)
{
    struct ek_document d;
    struct ek_error e = {0};
    uint32_t documents = ek_index_documents(x), terms = ek_index_terms(x);
    ek_document_init(&d);
    for (uint32_t i = 0; i < documents; i++) {
        uint32_t all = ek_index_length(x, i, EK_FIELD_DOCUMENT);
        for (int f = 0; f < EK_FIELDS; f++)
            ek_fuzz_require(ek_index_length(x, i, (enum ek_field)f) <= all,
                            "a field that is longer than its document");
        if (ek_index_read(x, i, &d, &e)) {
            ek_fuzz_require(e.code == EK_EFORMAT && e.message[0], "refused without a word");
            continue;
        }
        for (uint32_t k = 0; k < d.length[EK_FIELD_DOCUMENT]; k++)
            ek_fuzz_require(d.term[EK_FIELD_DOCUMENT][k] < terms, "a term that there is not");
        for (int f = 0; f < EK_FIELDS_AND_DOCUMENT; f++)
            ek_fuzz_require(d.length[f] == ek_index_length(x, i, (enum ek_field)f),
                            "two lengths of a field");
        int64_t found = ek_index_document(x, d.id, d.id_length);
        ek_fuzz_require(found >= -1 && found < documents, "a document that there is not");
    }
    ek_document_release(&d);
}

static void read_postings(const struct ek_index *x, uint32_t term, enum ek_field field,
                          bool positions)
{
    struct ek_postings p;
    struct ek_error e = {0};
    bool more;
    int64_t last = -1;
    int rc = ek_postings_begin(&p, x, term, field, positions, &e);
    while (!rc && !(rc = ek_postings_next(&p, &more, &e)) && more) {
        ek_fuzz_require(p.count && p.document > last && p.document < ek_index_documents(x),
                        "documents that do not rise");
        last = p.document;
        for (uint32_t i = 0; positions && i < p.count; i++)
            ek_fuzz_require(p.position[i] < ek_index_length(x, p.document, field) &&
                                (!i || p.position[i] > p.position[i - 1]),
                            "positions that do not rise");
    }
    ek_fuzz_require(!rc || (e.code == EK_EFORMAT && e.message[0]), "refused without a word");
    ek_postings_end(&p);
}

static void read_terms(const struct ek_index *x)
{
    for (uint32_t term = 0; term < ek_index_terms(x); term++) {
        size_t length;
        const char *text = ek_index_term(x, term, &length);
        uint32_t found = ek_index_find(x, text, length);
        ek_fuzz_require(found == EK_NO_TERM || found < ek_index_terms(x), "no such term");
        read_postings(x, term, EK_FIELD_DOCUMENT, term % 2);
        read_postings(x, term, (enum ek_field)(term % EK_FIELDS), true);
        ek_index_statistics(x, term, (enum ek_field)(term % EK_FIELDS));
    }
}

/* Run the queries of `extract`. */
static void ask(const struct ek_index *x)
{
    static const char query[] = "w0 w1 w3 w0 w15 nothing";
    static const struct ek_bm25 usual = {0.9, 0.4};
    struct ek_text_features *f;
    struct ek_retrieve *r;
    struct ek_hit hit[HITS];
    struct ek_error e = {0};
    uint32_t terms[EK_QUERY_TOKENS_MAX], found = 0;
    float *row = calloc(choice->count, sizeof *row);
    ek_fuzz_require(row != NULL, "no memory");
    if (ek_text_features_new(&f, x, choice, &e)) {
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
        free(row);
        return;
    }
    ek_fuzz_require(!ek_retrieve_new(&r, x, usual, &e), e.message);
    int rc = ek_text_features_query(f, query, sizeof query - 1, &e);
    if (!rc)
        rc = ek_retrieve(r, terms, ek_text_features_terms(f, terms, EK_QUERY_TOKENS_MAX), HITS, hit,
                         &found, &e);
    for (uint32_t i = 0; !rc && i < found; i++) {
        ek_fuzz_require(hit[i].document < ek_index_documents(x), "no such document");
        rc = ek_text_features_document(f, hit[i].document, hit[i].score, row, &e);
    }
    ek_fuzz_require(!rc || e.message[0], "refused without a word");
    ek_retrieve_free(r);
    ek_text_features_free(f);
    free(row);
}

static void try(const uint8_t *data, size_t size)
{
    struct ek_index *x;
    struct ek_error e = {0};
    char path[EK_FUZZ_PATH_BYTES];
    int fd = ek_fuzz_file(data, size, path);
    int rc = ek_index_open(&x, path, &e);
    close(fd);
    if (rc) {
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
        return;
    }
    size_t mapped = (size + PAGE - 1) / PAGE * PAGE;
    watch(x, mapped);
    if (ek_index_check(x, &e))
        ek_fuzz_require(e.code == EK_EFORMAT, "refused without a word");
    read_documents(x);
    read_terms(x);
    if (ek_crc32(data, size) % ASKED_ONE_OF == 0)
        ask(x);
    ASAN_UNPOISON_MEMORY_REGION(x->map, mapped);
    ek_index_close(x);
}

static uint64_t hash_of(const uint8_t *at, uint64_t length)
{
    uint64_t hash = 0;
    for (uint64_t done = 0; done < length; done += EK_INDEX_HASHED) {
        uint64_t left = length - done;
        hash = ek_hash(at + done, left < EK_INDEX_HASHED ? (size_t)left : EK_INDEX_HASHED, hash);
    }
    return hash;
}

/* Correct the hashes of the sections and of the footer. */
static void seal(uint8_t *bytes, size_t size)
{
    struct ek_index_footer f;
    memcpy(&f, bytes + size - sizeof f, sizeof f);
    for (int i = 0; i < EK_SECTIONS; i++) {
        struct ek_index_section *s = &f.section[i];
        if (s->offset <= size && s->length <= size - s->offset)
            s->hash = hash_of(bytes + s->offset, s->length);
    }
    f.hash = ek_hash(&f, offsetof(struct ek_index_footer, hash), 0);
    memcpy(bytes + size - sizeof f, &f, sizeof f);
}

static void try_sealed(uint8_t *bytes, size_t size)
{
    if (size < sizeof(struct ek_index_footer))
        return;
    seal(bytes, size);
    try(bytes, size);
}

static void edit(uint8_t *bytes, size_t size, const uint8_t *data)
{
    struct ek_index_footer f;
    memcpy(&f, ek_fuzz_index()->data + size - sizeof f, sizeof f);
    int section = data[0] % (EK_SECTIONS + 1);
    size_t at = size - sizeof f, length = sizeof f;
    if (section < EK_SECTIONS) {
        at = (size_t)f.section[section].offset;
        length = (size_t)f.section[section].length;
    }
    size_t place = ((size_t)data[1] | (size_t)data[2] << 8) % length, width = data[3] % 4 + 1;
    if (data[3] & ADDED)
        bytes[at + place] = (uint8_t)(bytes[at + place] + data[4]);
    else
        memcpy(bytes + at + place, data + 4, width < length - place ? width : length - place);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct ek_buf *own = ek_fuzz_index();
    size_t magic = strlen(EK_INDEX_MAGIC);
    struct ek_error e = {0};
    if (!choice)
        ek_fuzz_require(!ek_feature_choice_default(&choice, &e), e.message);
    bool whole = size >= magic && !memcmp(data, EK_INDEX_MAGIC, magic);
    size_t length = whole ? size : own->length;
    uint8_t *copy = malloc(length);
    ek_fuzz_require(copy != NULL, "no memory");
    memcpy(copy, whole ? data : own->data, length);
    for (; !whole && size >= EDIT; data += EDIT, size -= EDIT)
        edit(copy, length, data);
    if (whole)
        try(copy, length);
    try_sealed(copy, length);
    free(copy);
    return 0;
}
