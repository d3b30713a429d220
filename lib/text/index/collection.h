/* Reader for text collections: JSON lines or TREC text, plain, gzip or zstd.
 *
 * JSON: one object per line, {"id", "url", "title", "body", "heading", "inlink", "anchor"}. A field
 * is a string, null or an array of strings. The id may be an integer. Other keys are ignored and
 * counted.
 *
 * TREC: <DOC> ... </DOC>, optionally with attributes, containing <DOCNO>, <TITLE>, <H1> to <H6> or
 * <HEADING>, <URL>, <ANCHOR>, <INLINK>, <BODY>, <TEXT>. <SCRIPT>, <STYLE> and <DOCHDR> are dropped
 * with their content. Other tags are dropped, and their text belongs to the enclosing field, by
 * default the body.
 *
 * Limits: EK_TEXT_BYTES_MAX per document in the file, EK_ID_BYTES_MAX per id. Errors have the file
 * and line, for TREC the first line of the document. Not thread-safe.
 */
#ifndef EK_TEXT_INDEX_COLLECTION_H
#define EK_TEXT_INDEX_COLLECTION_H

#include "base/error.h"
#include "lists/list.h"
#include "text/index/field.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_TEXT_BYTES_MAX = 16 << 20, EK_ID_BYTES_MAX = 512, EK_KEY_BYTES = 48 };

enum ek_collection_format { EK_COLLECTION_AUTO, EK_COLLECTION_JSON, EK_COLLECTION_TREC };

/* A document. Strings are valid until the next one. Strings of an array are joined by line
 * feeds. */
struct ek_record_text {
    struct ek_text id, url, field[EK_FIELDS];
    long line; /* first line */
};

struct ek_collection;

/* Open a collection. AUTO detects the format by the first non-blank character. Return 0, EK_EIO,
 * EK_EFORMAT or EK_ENOMEM. */
int ek_collection_open(struct ek_collection **out, const char *path,
                       enum ek_collection_format format, struct ek_error *e);
/* Close the file and free the collection. NULL is allowed. */
void ek_collection_close(struct ek_collection *c);
/* Read the next document; *more is false after the last. Its strings are valid until the next call.
 * Return 0, EK_EFORMAT, EK_ELIMIT for a document that is too long, EK_EIO or EK_ENOMEM; after an
 * error only close it. */
int ek_collection_next(struct ek_collection *c, struct ek_record_text *r, bool *more,
                       struct ek_error *e);
/* Return the file name in errors, valid as long as the collection. */
const char *ek_collection_name(const struct ek_collection *c);
/* Return the number of ignored JSON keys, and set *first to the first one ("" for none; may be
 * truncated), valid as long as the collection. */
uint64_t ek_collection_unknown(const struct ek_collection *c, const char **first);
/* Set *done to the bytes read and *total to the file size (0 if unknown), for progress. */
void ek_collection_position(const struct ek_collection *c, uint64_t *done, uint64_t *total);

/* SGML character references: &amp; &lt; &gt; &quot; &apos; &nbsp; &#38; &#x26;. */

/* Decode references in place to UTF-8. Return the new length, never larger. Unknown names and
 * invalid code points stay unchanged. */
size_t ek_entities(char *text, size_t length);

#endif
