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
/* Set *begin and *end to the range of a field in the terms of a document. Return false if the row
 * is damaged. */
bool ek_index_bounds(const struct ek_index *x, uint32_t number, enum ek_field field,
                     uint32_t *begin, uint32_t *end);
/* Fail with the damage `what` and the path of the index. Return EK_EFORMAT. */
int ek_index_damaged(const struct ek_index *x, const char *what, struct ek_error *e);

#endif
