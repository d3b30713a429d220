/* Mapped text index (index.h): sections, dictionary entries and ranges of documents, for its
 * readers in lib/text/index. All reads are checked. */
#ifndef EK_TEXT_INDEX_INDEX_INTERNAL_H
#define EK_TEXT_INDEX_INDEX_INTERNAL_H

#include "text/index/index.h"
#include "text/index/index_file.h"
#include "text/index/varint.h"

struct ek_index {
    char *path;
    const uint8_t *map;
    size_t size;
    struct ek_index_footer footer;
    const uint32_t *lengths, *slots, *ranks;
    const struct ek_index_row *rows;
    const uint64_t *term_at;
    size_t slot_count;
};

/* Dictionary entry of a term. */
struct ek_index_entry {
    const char *text;
    size_t length;
    struct ek_term_statistics statistics[EK_FIELDS_AND_DOCUMENT];
    uint64_t postings, postings_bytes;
};

/* Return the bytes of a section from offset `from`, which point into the map; beyond its end there
 * are none, and `bad` is set. */
struct ek_bytes ek_index_section(const struct ek_index *x, enum ek_section section, uint64_t from);
/* Set *entry to the dictionary entry of a term; its text points into the map. Return false, with
 * *entry undefined, if it is damaged. */
bool ek_index_entry(const struct ek_index *x, uint32_t term, struct ek_index_entry *entry);

/* Cursor over the blocks of a term's postings (lib/text/index/build_merge.c).
 *
 * Blocks are validated while reading: documents ascend and exist, sums fit.
 */

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
/* Read the header of the next block; count is 0 after the last. Documents stay encoded. Return 0,
 * or EK_EFORMAT for a damaged index. */
int ek_blocks_next(struct ek_blocks *b, struct ek_error *e);
/* Decode the documents and counts of this block into *b. Required before the next block if this one
 * has no summary. Return 0, or EK_EFORMAT for a damaged index. */
int ek_blocks_documents(struct ek_blocks *b, struct ek_error *e);

#endif
