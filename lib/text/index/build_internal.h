/* Shared state of build.c, which reads documents and writes the dictionary, and build_merge.c,
 * which writes postings. */
#ifndef EK_TEXT_INDEX_BUILD_INTERNAL_H
#define EK_TEXT_INDEX_BUILD_INTERNAL_H

#include "base/buf.h"
#include "text/index/build.h"
#include "text/index/index_writer.h"
#include "text/index/spill_file.h"

#include <stdint.h>

/* String interning: byte strings numbered 0, 1, 2, ... in order of first appearance.
 *
 * Limits: 2^32 - 2 strings, 4 GiB in total.
 */

struct ek_lexicon_entry;

struct ek_slot {
    uint32_t number; /* number plus 1, 0: free */
    uint32_t hash;   /* lower half of ek_hash of the bytes; determines the slot */
};

struct ek_lexicon {
    struct ek_lexicon_entry *names;
    struct ek_slot *slots; /* open addressing with linear probing, at most half full */
    char *bytes;
    uint32_t count, room;
    size_t slot_count, length, capacity;
};

/* Collector of term positions in memory, which spills them as a run sorted by term number.
 *
 * A run has per term `varint gap of the number, varint bytes, places`. A place is:
 * - varint `gap of the position << 2 | kind`
 * - varint gap of the document, if kind has EK_PLACE_DOCUMENT
 * - one byte for the field, if kind has EK_PLACE_FIELD
 * Gaps are differences minus 1, starting from -1. Positions restart with each document, everything
 * with each run; the initial field is EK_FIELD_BODY.
 */
enum { EK_PLACE_DOCUMENT = 1, EK_PLACE_FIELD = 2, EK_PLACE_BITS = 2 };

struct ek_places;

struct ek_run_writer {
    struct ek_places *terms; /* [room] */
    uint8_t **slabs;
    size_t slab_count, slab_room, slab; /* slab: being filled; == slab_count: none */
    uint32_t room, count;
    uint32_t used; /* units of that slab in use */
};

struct ek_words;

enum { EK_RUNS_MAX = 4096, EK_RUN_BUFFER_MIN = 4096, EK_RUN_BUFFER_MAX = 1 << 20 };

struct ek_run {
    uint64_t at, end;
};

/* Growable array of numbers. */
struct ek_numbers {
    uint32_t *data;
    size_t count, room;
};

struct ek_build {
    char *path;
    struct ek_index_writer out;
    struct ek_words *words;
    struct ek_lexicon terms, ids;
    struct ek_run_writer gather;
    struct ek_spill_file *runs, *rows;
    struct ek_run *run; /* [run_count] */
    uint32_t run_count;
    size_t run_room;
    uint64_t memory_bytes, bytes;
    struct ek_numbers lengths; /* of all documents */
    /* The current document. */
    struct ek_numbers tokens;
    uint8_t *packed;
    size_t packed_room;
    enum ek_field field;
    const char *file;
    long line;
    struct ek_error *error;
    /* Dictionary entries by order of appearance, as stored in the file: statistics and offset of
     * the postings. */
    struct ek_buf entries;
    uint64_t *entry_at; /* [terms + 1] */
};

/* Free the memory of the collector and leave it empty. */
void ek_run_writer_release(struct ek_run_writer *g);
/* Append a number. Return 0, or EK_ENOMEM without a change. */
int ek_numbers_add(struct ek_numbers *n, uint32_t number);
/* Return the bytes of memory that a spill does not free. */
uint64_t ek_build_resident_bytes(const struct ek_build *b);
/* Write the postings section, and set b->entries and b->entry_at, which ek_build_dictionary needs.
 * Return 0, EK_EIO or EK_ENOMEM. */
int ek_build_merge(struct ek_build *b,
                   void (*progress)(void *context, uint64_t done, uint64_t total), void *context,
                   struct ek_error *e);

#endif
