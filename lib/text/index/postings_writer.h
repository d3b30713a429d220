/* The postings of a term on their way into the file: documents with their positions are taken one
 * after another and written as blocks, statistics counted. Internal to lib/text/index/build.
 *
 * A block: varint `documents << 1 | summary`, varint bytes of documents and counts, varint bytes of
 * positions; with a summary (blocks that are not a term's last): varint gap from the last document
 * before to its last one, varint highest count, varint fewest terms of a document; then packed gaps
 * of documents (wide), packed counts less 1 (small), packed gaps of positions (wide). Gaps are
 * differences less 1, from -1; positions begin anew with each document.
 */
#ifndef EK_TEXT_INDEX_POSTINGS_WRITER_H
#define EK_TEXT_INDEX_POSTINGS_WRITER_H

#include "base/buf.h"
#include "text/index/build_internal.h"

/* Of a term in a field; `documents` 0: it is not there. */
struct ek_field_count {
    uint32_t documents, most;
    uint64_t tokens;
};

struct ek_postings_writer {
    const uint32_t *lengths; /* of all documents */
    struct ek_field_count field[EK_FIELDS_AND_DOCUMENT];
    uint32_t last;                    /* document of the block before, -1 at first */
    uint32_t document, in[EK_FIELDS]; /* the one that is being taken */
    bool open;
    uint32_t documents[EK_INDEX_BLOCK], counts[EK_INDEX_BLOCK], count;
    struct ek_numbers positions;
    struct ek_buf bytes; /* those of the term so far */
};

void ek_postings_writer_init(struct ek_postings_writer *o, const uint32_t *lengths);
void ek_postings_writer_release(struct ek_postings_writer *o);
/* For the next term; takes back nothing but what is known of the last. */
void ek_postings_writer_clear(struct ek_postings_writer *o);
/* EK_ENOMEM, EK_ELIMIT; so the next three. */
int ek_postings_writer_document(struct ek_postings_writer *o, uint32_t document);
int ek_postings_writer_position(struct ek_postings_writer *o, enum ek_field field,
                                uint32_t position);
int ek_postings_writer_end(struct ek_postings_writer *o);

#endif
