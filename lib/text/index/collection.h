/* Collections of texts, one document after another: JSON lines or TREC text, plain, gzip or zstd.
 *
 * JSON: an object a line, {"id", "url", "title", "body", "heading", "inlink", "anchor"}; a field is
 * a text, null or an array of texts; other keys are passed over and counted; the id may be a whole
 * number. TREC: <DOC> ... </DOC>, which may have attributes, with <DOCNO>, <TITLE>, <H1> to <H6> or
 * <HEADING>, <URL>, <ANCHOR>, <INLINK>, <BODY>, <TEXT>; <SCRIPT>, <STYLE> and <DOCHDR> are dropped
 * with what is in them; other tags are dropped and their text stays with the field around them, of
 * its own it is body. Limits: EK_TEXT_BYTES_MAX for a document as it stands in the file,
 * EK_ID_BYTES_MAX for its id. Errors have file and line, those of TREC the line at which the
 * document begins. Owner: the caller. Threads: one each.
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

/* A document as it was read; texts live until the next one. Texts of an array stand one behind the
 * other, with a line end between them. */
struct ek_record_text {
    struct ek_text id, url, field[EK_FIELDS];
    long line; /* at which it begins */
};

struct ek_collection;

/* AUTO decides by the first character that is no space. */
int ek_collection_open(struct ek_collection **out, const char *path,
                       enum ek_collection_format format, struct ek_error *e);
void ek_collection_close(struct ek_collection *c);
/* The next document; *more = false behind the last. EK_EFORMAT, EK_ELIMIT. */
int ek_collection_next(struct ek_collection *c, struct ek_record_text *r, bool *more,
                       struct ek_error *e);
const char *ek_collection_name(const struct ek_collection *c);
/* How many keys of JSON were passed over so far, and the first of them (""; maybe cut). */
uint64_t ek_collection_unknown(const struct ek_collection *c, const char **first);
/* As ek_reader_position. */
void ek_collection_position(const struct ek_collection *c, uint64_t *done, uint64_t *total);

#endif
