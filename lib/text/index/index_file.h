/* How an index lies in its file (docs/format/index.md): what its writer and its readers share.
 *
 * Numbers are little-endian, as the machines are that it is mapped on; another has the wrong
 * byte_order and is refused. Internal to text/.
 */
#ifndef EK_TEXT_INDEX_INDEX_FILE_H
#define EK_TEXT_INDEX_INDEX_FILE_H

#include "text/index/field.h"

#include <stdint.h>

#define EK_INDEX_MAGIC "EKINDEX\n"

enum {
    EK_INDEX_VERSION = 1,
    EK_INDEX_BYTE_ORDER = 0x01020304,
    EK_INDEX_ALIGN = 64,      /* of sections; what is between them is 0 */
    EK_INDEX_BLOCK = 128,     /* documents of a block of postings, but for the last */
    EK_INDEX_STEMMER = 32,    /* bytes of its name, padded with 0 */
    EK_INDEX_HASHED = 1 << 20 /* bytes that are hashed at a time, the hash before as seed */
};

enum ek_section {
    EK_SECTION_FORWARD,  /* per document: id, URL, terms by their number of appearance */
    EK_SECTION_POSTINGS, /* per term: blocks of documents, counts, positions */
    EK_SECTION_LENGTHS,  /* uint32 [D]: terms of a document */
    EK_SECTION_ROWS,     /* struct ek_index_row [D] */
    EK_SECTION_SLOTS,    /* uint32 [2^n]: number of a document + 1 by the hash of its id, 0: free */
    EK_SECTION_RANKS,    /* uint32 [T]: number of appearance -> number by bytes */
    EK_SECTION_TERMS,    /* per term, by bytes: itself, its statistics, where its postings are */
    EK_SECTION_TERM_AT,  /* uint64 [T + 1]: where they begin in the section before, its length */
    EK_SECTIONS
};

struct ek_index_row {
    uint64_t forward;            /* where its record begins in the section */
    uint32_t end[EK_FIELDS - 1]; /* where a field ends; the last one ends with the document */
};

struct ek_index_section {
    uint64_t offset, length, hash;
};

/* The last bytes of the file. */
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
    uint64_t hash; /* xxh64 of the footer up to here */
};

_Static_assert(sizeof(struct ek_index_row) == 24 && sizeof(struct ek_index_footer) == 352,
               "as the format has it");

#endif
