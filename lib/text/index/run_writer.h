/* Where terms stand, gathered in memory until it is full, then written as a run: the terms in the
 * order of their numbers, each with its places as they came.
 *
 * A run: per term `varint gap of the number, varint bytes, places`; a place: `varint gap of the
 * position << 2 | kind`, then `varint gap of the document` when EK_PLACE_DOCUMENT is in the kind, a
 * byte for the field when EK_PLACE_FIELD is. Gaps are differences less 1, from -1; each document
 * begins anew with positions, each run with everything, and with the field EK_FIELD_BODY.
 * Owner: the caller. Internal to lib/text/index/build.
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
    size_t slab_count, slab_room, slab; /* slab: the one being filled; == slab_count: none */
    uint32_t room, count;
    uint32_t used; /* units of that slab */
};

void ek_run_writer_init(struct ek_run_writer *g);
void ek_run_writer_release(struct ek_run_writer *g);
/* Position: in the document, its fields one behind the other. Documents and positions never fall.
 * EK_ENOMEM, EK_ELIMIT. */
int ek_run_writer_add(struct ek_run_writer *g, uint32_t term, uint32_t document,
                      enum ek_field field, uint32_t position);
/* Appends a run, and forgets everything but the memory. */
int ek_run_writer_spill(struct ek_run_writer *g, struct ek_spill_file *to, struct ek_error *e);
/* Bytes of what a spill makes free, and of what it does not. */
uint64_t ek_run_writer_places(const struct ek_run_writer *g);
uint64_t ek_run_writer_table(const struct ek_run_writer *g);

#endif
