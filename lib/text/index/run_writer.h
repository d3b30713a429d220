/* Collector of term positions in memory, which spills them as a run sorted by term number.
 *
 * A run has per term `varint gap of the number, varint bytes, places`. A place is:
 * - varint `gap of the position << 2 | kind`
 * - varint gap of the document, if kind has EK_PLACE_DOCUMENT
 * - one byte for the field, if kind has EK_PLACE_FIELD
 * Gaps are differences minus 1, starting from -1. Positions restart with each document, everything
 * with each run; the initial field is EK_FIELD_BODY. Internal to lib/text/index/build*.
 */
#ifndef EK_TEXT_INDEX_RUN_WRITER_H
#define EK_TEXT_INDEX_RUN_WRITER_H

#include "base/error.h"
#include "text/index/field.h"

#include <stddef.h>
#include <stdint.h>

enum { EK_PLACE_DOCUMENT = 1, EK_PLACE_FIELD = 2, EK_PLACE_BITS = 2 };

struct ek_spill_file;
struct ek_places;

struct ek_run_writer {
    struct ek_places *terms; /* [room] */
    uint8_t **slabs;
    size_t slab_count, slab_room, slab; /* slab: being filled; == slab_count: none */
    uint32_t room, count;
    uint32_t used; /* units of that slab in use */
};

void ek_run_writer_init(struct ek_run_writer *g);
void ek_run_writer_release(struct ek_run_writer *g);
/* Add a term at a position in the document, whose fields are concatenated. Documents and positions
 * must not descend. Return 0, EK_ENOMEM or EK_ELIMIT. */
int ek_run_writer_add(struct ek_run_writer *g, uint32_t term, uint32_t document,
                      enum ek_field field, uint32_t position);
/* Append a run to `to` and reset, keeping the memory. Return 0, or EK_EIO. */
int ek_run_writer_spill(struct ek_run_writer *g, struct ek_spill_file *to, struct ek_error *e);
/* Return the bytes that a spill frees, and those that it does not. */
uint64_t ek_run_writer_places(const struct ek_run_writer *g);
uint64_t ek_run_writer_table(const struct ek_run_writer *g);

#endif
