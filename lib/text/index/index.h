/* An index of a collection of texts, as its file has it (docs/format/index.md): a dictionary with
 * statistics per field, per term the documents, counts and positions (inverted), per document its
 * fields' terms in order (forward), both as compressed integers.
 *
 * Shapes: D documents, 0 .. D-1 in the order of the collection; T terms, 0 .. T-1 in the order of
 * their bytes. Positions are those in a field, from 0.
 * The file is mapped, not read: what a call needs is what is touched. It is checked as it is read;
 * a damaged one gives EK_EFORMAT, never memory beyond it.
 * Owner: the caller, ek_index_close. Threads: any number may read, each with cursors and documents
 * of its own.
 */
#ifndef EK_TEXT_INDEX_INDEX_H
#define EK_TEXT_INDEX_INDEX_H

#include "base/error.h"
#include "text/index/field.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_index;

/* Of one field (or the whole documents). */
struct ek_field_statistics {
    uint64_t tokens;    /* in the collection */
    uint32_t documents; /* that have any */
    uint32_t longest;   /* tokens */
};

/* Of one term in one field (or the whole documents). */
struct ek_term_statistics {
    uint32_t documents; /* df */
    uint64_t tokens;    /* cf */
    uint32_t most;      /* the highest count in one document */
};

#define EK_NO_TERM UINT32_MAX

int ek_index_open(struct ek_index **out, const char *path, struct ek_error *e);
void ek_index_close(struct ek_index *x);
/* Reads all of it and holds it against the hashes it has. EK_EFORMAT. */
int ek_index_check(const struct ek_index *x, struct ek_error *e);
uint32_t ek_index_documents(const struct ek_index *x);
uint32_t ek_index_terms(const struct ek_index *x);
/* How its texts became terms (words.h); queries are to be treated alike. */
const char *ek_index_stemmer(const struct ek_index *x);
struct ek_field_statistics ek_index_field(const struct ek_index *x, enum ek_field field);
/* Number of a term as it stands in the index (folded, stemmed); EK_NO_TERM when no document has it.
 */
uint32_t ek_index_find(const struct ek_index *x, const char *term, size_t length);
/* Text of a term: not terminated, *length bytes, valid as long as the index. */
const char *ek_index_term(const struct ek_index *x, uint32_t term, size_t *length);
struct ek_term_statistics ek_index_statistics(const struct ek_index *x, uint32_t term,
                                              enum ek_field field);
/* Number of the document with that id, or -1. */
int64_t ek_index_document(const struct ek_index *x, const char *id, size_t length);

/* A document. Arrays and texts live until the next call that fills it, or its release. */
struct ek_document {
    uint32_t number;
    const char *id, *url; /* not terminated; url_length 0: has none */
    size_t id_length, url_length;
    /* Terms of a field in order; those of the whole document are all of them, one behind the
     * other. */
    const uint32_t *term[EK_FIELDS_AND_DOCUMENT];
    uint32_t length[EK_FIELDS_AND_DOCUMENT];
    uint32_t *memory; /* its own */
    size_t capacity;
};

void ek_document_init(struct ek_document *d);
void ek_document_release(struct ek_document *d);
int ek_index_read(const struct ek_index *x, uint32_t number, struct ek_document *d,
                  struct ek_error *e);
/* Tokens of a document's field, without reading the document. */
uint32_t ek_index_length(const struct ek_index *x, uint32_t number, enum ek_field field);

/* The documents of a term in one field, rising. For the whole documents: EK_FIELD_DOCUMENT;
 * positions are then those in the fields one behind the other. */
struct ek_postings {
    uint32_t document, count;
    const uint32_t *position; /* [count]; NULL unless asked for */
    void *memory;
};

int ek_postings_begin(struct ek_postings *p, const struct ek_index *x, uint32_t term,
                      enum ek_field field, bool positions, struct ek_error *e);
/* The next document; *more = false behind the last. */
int ek_postings_next(struct ek_postings *p, bool *more, struct ek_error *e);
void ek_postings_end(struct ek_postings *p);

#endif
