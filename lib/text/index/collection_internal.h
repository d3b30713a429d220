/* State of a text collection that its readers of JSON lines and of TREC text share. Internal to
 * lib/text/index/collection*. */
#ifndef EK_TEXT_INDEX_COLLECTION_INTERNAL_H
#define EK_TEXT_INDEX_COLLECTION_INTERNAL_H

#include "base/buf.h"
#include "base/file.h"
#include "text/index/collection.h"

enum { EK_TEXT_ID = EK_FIELDS, EK_TEXT_URL, EK_TEXT_PARTS };

struct ek_collection {
    struct ek_reader *reader;
    enum ek_collection_format format;
    char *line; /* read but not yet consumed; NULL: none */
    size_t length;
    bool ended;
    struct ek_buf part[EK_TEXT_PARTS]; /* fields, id and URL of the document */
    struct ek_buf document;            /* TREC: raw text */
    long begin;                        /* first line of the document */
    uint64_t unknown;                  /* ignored keys */
    char first_unknown[EK_KEY_BYTES];  /* truncated if necessary */
};

/* Set c->line to the pending or the next line, or NULL at the end. Return 0, EK_EFORMAT with a
 * position, EK_ELIMIT, EK_EIO or EK_ENOMEM. */
int ek_collection_line(struct ek_collection *c, struct ek_error *e);
/* Append a copy of a string to a part, after a line feed if the part is not empty. Return 0,
 * EK_ELIMIT beyond the limit of the part, or EK_ENOMEM. */
int ek_collection_add(struct ek_collection *c, int part, const char *text, size_t length,
                      struct ek_error *e);
/* Fail with the message `what` at the first line of the document. Return EK_EFORMAT. */
int ek_collection_fault(const struct ek_collection *c, struct ek_error *e, const char *what);
/* Read the parts of the next document of JSON lines into c->part; *more is false after the last.
 * Return 0, EK_EFORMAT with a position, EK_ELIMIT, EK_EIO or EK_ENOMEM. */
int ek_collection_json(struct ek_collection *c, bool *more, struct ek_error *e);
/* Read the parts of the next document of TREC text into c->part; *more is false after the last.
 * Return 0, EK_EFORMAT with a position, EK_ELIMIT, EK_EIO or EK_ENOMEM. */
int ek_collection_trec(struct ek_collection *c, bool *more, struct ek_error *e);

#endif
