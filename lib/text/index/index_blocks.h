/* The blocks of a term's postings (lib/text/index/postings_writer.h), one after another. Internal
 * to text/.
 *
 * Owner: the caller; ek_blocks_end. What is read is checked: documents rise and are there, sums
 * fit.
 */
#ifndef EK_TEXT_INDEX_INDEX_BLOCKS_H
#define EK_TEXT_INDEX_INDEX_BLOCKS_H

#include "text/index/index_internal.h"

struct ek_blocks {
    const struct ek_index *index;
    struct ek_bytes bytes; /* behind this block */
    uint32_t left;         /* documents behind this block */
    int64_t last;          /* document of the block before */
    /* This block. */
    uint32_t count, highest, most, shortest; /* the last three: with a summary */
    bool summary;
    struct ek_bytes body, places; /* documents and counts, positions: not unpacked yet */
    uint32_t document[EK_INDEX_BLOCK], tf[EK_INDEX_BLOCK];
    uint32_t *position; /* gaps, of all documents one behind the other */
    size_t position_count, position_room;
};

int ek_blocks_begin(struct ek_blocks *b, const struct ek_index *x, uint32_t term,
                    struct ek_error *e);
void ek_blocks_end(struct ek_blocks *b);
/* The head of the next block; count 0 behind the last. Documents stay packed. */
int ek_blocks_next(struct ek_blocks *b, struct ek_error *e);
/* Unpacks documents and counts of this block. Needed before the next one, unless it has a summary.
 */
int ek_blocks_documents(struct ek_blocks *b, struct ek_error *e);
/* Unpacks its positions: after the documents. */
int ek_blocks_positions(struct ek_blocks *b, struct ek_error *e);

#endif
