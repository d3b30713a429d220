/* Mapped index of a text collection (docs/dev/formats/text-index.md): a dictionary with statistics
 * per field, documents, counts and positions per term (inverted), and terms per document and field
 * in order (forward), as compressed integers.
 *
 * Shapes: D documents, 0 .. D-1 in collection order; T terms, 0 .. T-1 in byte order. Positions
 * count within a field, from 0. Data is validated as it is read: a damaged file returns EK_EFORMAT
 * and never causes reads beyond it. Threads may share an index, each with its own cursors and
 * documents.
 */
#ifndef EK_TEXT_INDEX_INDEX_H
#define EK_TEXT_INDEX_INDEX_H

#include "base/error.h"
#include "text/index/field.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_index;

/* Statistics of a field (or of whole documents). */
struct ek_field_statistics {
    uint64_t tokens;    /* in the collection */
    uint32_t documents; /* with tokens */
    uint32_t longest;   /* tokens */
};

/* Statistics of a term in a field (or in whole documents). */
struct ek_term_statistics {
    uint32_t documents; /* df */
    uint64_t tokens;    /* cf */
    uint32_t most;      /* highest count in one document */
};

#define EK_NO_TERM UINT32_MAX

/* Map an index and check its layout. Return 0, EK_EIO, EK_EFORMAT or EK_ENOMEM. */
int ek_index_open(struct ek_index **out, const char *path, struct ek_error *e);
/* Unmap the index. NULL is allowed. */
void ek_index_close(struct ek_index *x);
/* Read the whole file and verify its hashes. Return 0 or EK_EFORMAT. */
int ek_index_check(const struct ek_index *x, struct ek_error *e);
/* Return the number of documents. */
uint32_t ek_index_documents(const struct ek_index *x);
/* Return the number of terms. */
uint32_t ek_index_terms(const struct ek_index *x);
/* Return the stemmer of the index (words.h), valid as long as the index; queries must use the same.
 */
const char *ek_index_stemmer(const struct ek_index *x);
/* Return the statistics of a field, or of whole documents. */
struct ek_field_statistics ek_index_field(const struct ek_index *x, enum ek_field field);
/* Return the number of a folded and stemmed term, or EK_NO_TERM. */
uint32_t ek_index_find(const struct ek_index *x, const char *term, size_t length);
/* Return the text of a term, not terminated, and set *length; valid as long as the index. A damaged
 * entry gives an empty text. */
const char *ek_index_term(const struct ek_index *x, uint32_t term, size_t *length);
/* Return the statistics of a term in a field; zeros if the field lacks it. */
struct ek_term_statistics ek_index_statistics(const struct ek_index *x, uint32_t term,
                                              enum ek_field field);
/* Return the number of the document with this id, or -1 if there is none. */
int64_t ek_index_document(const struct ek_index *x, const char *id, size_t length);

/* A document. Arrays and strings are valid until it is read again or released. */
struct ek_document {
    uint32_t number;
    const char *id, *url; /* not terminated; url_length 0: no URL */
    size_t id_length, url_length;
    /* Terms of a field in order; those of the whole document are the concatenation of all
     * fields. */
    const uint32_t *term[EK_FIELDS_AND_DOCUMENT];
    uint32_t length[EK_FIELDS_AND_DOCUMENT];
    uint32_t *memory; /* owned */
    size_t capacity;
};

/* Initialize an empty document, without allocating. */
void ek_document_init(struct ek_document *d);
/* Free the arrays of a document; it is then empty. */
void ek_document_release(struct ek_document *d);
/* Read document `number`, 0 .. documents - 1, into `d`, which must be initialized and may be used
 * again. Return 0, EK_ENOMEM, EK_EUSAGE for another number, or EK_EFORMAT for a damaged index; on
 * error `d` is undefined but can be released. */
int ek_index_read(const struct ek_index *x, uint32_t number, struct ek_document *d,
                  struct ek_error *e);
/* Return the number of tokens of a document's field; 0 if the index is damaged there. */
uint32_t ek_index_length(const struct ek_index *x, uint32_t number, enum ek_field field);

/* Cursor over the documents of a term in one field, ascending. For EK_FIELD_DOCUMENT, positions
 * count in the concatenated fields. */
struct ek_postings {
    uint32_t document, count;
    const uint32_t *position; /* [count]; NULL unless requested */
    void *memory;
};

/* Begin a cursor before the first document of a term. `positions`: also decode positions. The index
 * must outlive it. End it with ek_postings_end, unless this call fails. Return 0, EK_ENOMEM, or
 * EK_EFORMAT for a damaged index. */
int ek_postings_begin(struct ek_postings *p, const struct ek_index *x, uint32_t term,
                      enum ek_field field, bool positions, struct ek_error *e);
/* Advance to the next document and set the members of *p, valid until the next call; *more is false
 * after the last. Return 0, EK_ENOMEM, or EK_EFORMAT for a damaged index. */
int ek_postings_next(struct ek_postings *p, bool *more, struct ek_error *e);
/* Free the cursor, also after an error. */
void ek_postings_end(struct ek_postings *p);

#endif
