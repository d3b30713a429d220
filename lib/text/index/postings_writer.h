/* Encoder for the postings of a term: blocks of documents with positions, and statistics. Internal
 * to lib/text/index/build*.
 *
 * A block has, in this order:
 * - varint `documents << 1 | summary`
 * - varint bytes of documents and counts, varint bytes of positions
 * - the summary, in all blocks of a term but the last: varint gap from the previous block's last
 *   document to its own, varint highest count, varint fewest terms of a document
 * - packed gaps of documents (wide), packed counts minus 1 (small), packed gaps of positions (wide)
 * Gaps are differences minus 1, starting from -1; positions restart with each document.
 */
#ifndef EK_TEXT_INDEX_POSTINGS_WRITER_H
#define EK_TEXT_INDEX_POSTINGS_WRITER_H

#include "base/buf.h"
#include "text/index/build_internal.h"

/* Statistics of a term in a field; `documents` 0: absent. */
struct ek_field_count {
    uint32_t documents, most;
    uint64_t tokens;
};

struct ek_postings_writer {
    const uint32_t *lengths; /* of all documents */
    struct ek_field_count field[EK_FIELDS_AND_DOCUMENT];
    uint32_t last;                    /* last document of the previous block, initially -1 */
    uint32_t document, in[EK_FIELDS]; /* the current document */
    bool open;
    uint32_t documents[EK_INDEX_BLOCK], counts[EK_INDEX_BLOCK], count;
    struct ek_numbers positions;
    struct ek_buf bytes; /* of the term so far */
};

void ek_postings_writer_init(struct ek_postings_writer *o, const uint32_t *lengths);
void ek_postings_writer_release(struct ek_postings_writer *o);
/* Reset for the next term, keeping the memory. */
void ek_postings_writer_clear(struct ek_postings_writer *o);
/* Begin a document; add a position to it; finish the term. Return 0, EK_ENOMEM or EK_ELIMIT. */
int ek_postings_writer_document(struct ek_postings_writer *o, uint32_t document);
int ek_postings_writer_position(struct ek_postings_writer *o, enum ek_field field,
                                uint32_t position);
int ek_postings_writer_end(struct ek_postings_writer *o);

#endif
