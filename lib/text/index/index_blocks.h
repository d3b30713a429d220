/* Cursor over the blocks of a term's postings (lib/text/index/build_merge.c). Internal to
 * text/.
 *
 * Blocks are validated while reading: documents ascend and exist, sums fit.
 */
#ifndef EK_TEXT_INDEX_INDEX_BLOCKS_H
#define EK_TEXT_INDEX_INDEX_BLOCKS_H

#include "text/index/index_internal.h"

struct ek_blocks {
    const struct ek_index *index;
    struct ek_bytes bytes; /* after this block */
    uint32_t left;         /* documents after this block */
    int64_t last;          /* last document of the previous block */
    /* The current block. */
    uint32_t count, highest, most, shortest; /* highest, most, shortest: only with a summary */
    bool summary;
    struct ek_bytes body, places; /* encoded documents with counts, and encoded positions */
    uint32_t document[EK_INDEX_BLOCK], tf[EK_INDEX_BLOCK];
    uint32_t *position; /* gaps of all documents, concatenated */
    size_t position_count, position_room;
};

/* Begin before the first block of a term; end with ek_blocks_end. Return 0, or EK_EFORMAT for a
 * damaged index. */
int ek_blocks_begin(struct ek_blocks *b, const struct ek_index *x, uint32_t term,
                    struct ek_error *e);
/* Free the cursor. */
void ek_blocks_end(struct ek_blocks *b);
/* Read the header of the next block; count is 0 after the last. Documents stay encoded. Return 0,
 * or EK_EFORMAT for a damaged index. */
int ek_blocks_next(struct ek_blocks *b, struct ek_error *e);
/* Decode the documents and counts of this block into *b. Required before the next block if this one
 * has no summary. Return 0, or EK_EFORMAT for a damaged index. */
int ek_blocks_documents(struct ek_blocks *b, struct ek_error *e);
/* Decode the positions of this block, after its documents. Return 0, EK_EFORMAT for a damaged
 * index, or EK_ENOMEM. */
int ek_blocks_positions(struct ek_blocks *b, struct ek_error *e);

#endif
