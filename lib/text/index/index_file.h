/* Layout of an index file (docs/dev/formats/text-index.md).
 *
 * Numbers are little-endian, because the file is mapped; another byte_order is rejected. Internal
 * to text/.
 */
#ifndef EK_TEXT_INDEX_INDEX_FILE_H
#define EK_TEXT_INDEX_INDEX_FILE_H

#include "text/index/field.h"

#include <stdint.h>

#define EK_INDEX_MAGIC "EKINDEX\n"

enum {
    EK_INDEX_VERSION = 1,
    EK_INDEX_BYTE_ORDER = 0x01020304,
    EK_INDEX_ALIGN = 64,      /* of sections; padding is 0 */
    EK_INDEX_BLOCK = 128,     /* documents per block of postings, except the last */
    EK_INDEX_STEMMER = 32,    /* bytes of its name, zero-padded */
    EK_INDEX_HASHED = 1 << 20 /* bytes per hash step, seeded with the previous hash */
};

enum ek_section {
    EK_SECTION_FORWARD,  /* per document: id, URL, terms by order of appearance */
    EK_SECTION_POSTINGS, /* per term: blocks of documents, counts, positions */
    EK_SECTION_LENGTHS,  /* uint32 [D]: terms per document */
    EK_SECTION_ROWS,     /* struct ek_index_row [D] */
    EK_SECTION_SLOTS,    /* uint32 [2^n]: document number + 1 by hash of its id, 0: free */
    EK_SECTION_RANKS,    /* uint32 [T]: order of appearance -> byte order */
    EK_SECTION_TERMS,    /* per term in byte order: text, statistics, offset of the postings */
    EK_SECTION_TERM_AT,  /* uint64 [T + 1]: offsets in the previous section and its length */
    EK_SECTIONS
};

struct ek_index_row {
    uint64_t forward;            /* offset of its record in the section */
    uint32_t end[EK_FIELDS - 1]; /* end of each field; the last one ends with the document */
};

struct ek_index_section {
    uint64_t offset, length, hash;
};

/* End of the file. */
struct ek_index_footer {
    char magic[8];
    uint32_t version, byte_order;
    uint32_t documents, terms;
    char stemmer[EK_INDEX_STEMMER];
    struct {
        uint64_t tokens;
        uint32_t documents, longest;
    } field[EK_FIELDS_AND_DOCUMENT];
    struct ek_index_section section[EK_SECTIONS];
    uint64_t hash; /* xxh64 of the preceding footer bytes */
};

_Static_assert(sizeof(struct ek_index_row) == 24 && sizeof(struct ek_index_footer) == 352,
               "as the format has it");

#endif
