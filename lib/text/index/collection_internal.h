/* What the readers of both formats share. Internal to lib/text/index/collection. */
#ifndef EK_TEXT_INDEX_COLLECTION_INTERNAL_H
#define EK_TEXT_INDEX_COLLECTION_INTERNAL_H

#include "base/buf.h"
#include "base/file.h"
#include "text/index/collection.h"

enum { EK_TEXT_ID = EK_FIELDS, EK_TEXT_URL, EK_TEXT_PARTS };

struct ek_collection {
    struct ek_reader *reader;
    enum ek_collection_format format;
    char *line; /* the one that was read and not yet taken; NULL: none */
    size_t length;
    bool ended;
    struct ek_buf part[EK_TEXT_PARTS]; /* fields, id, URL of the document */
    struct ek_buf document;            /* TREC: as it stands in the file */
    long begin;                        /* line of the document */
    uint64_t unknown;                  /* keys that were passed over */
    char first_unknown[EK_KEY_BYTES];  /* as much of it as fits */
};

/* The line that was kept, or the next one; c->line NULL at the end. */
int ek_collection_line(struct ek_collection *c, struct ek_error *e);
/* Adds a text to a part: behind a line end when there is one already. */
int ek_collection_add(struct ek_collection *c, int part, const char *text, size_t length,
                      struct ek_error *e);
/* EK_EFORMAT at the document. */
int ek_collection_fault(const struct ek_collection *c, struct ek_error *e, const char *what);
/* The next document's parts; *more = false behind the last. */
int ek_collection_json(struct ek_collection *c, bool *more, struct ek_error *e);
int ek_collection_trec(struct ek_collection *c, bool *more, struct ek_error *e);

#endif
