/* Sequential reader for a run (lib/text/index/run_writer.h). Internal to lib/text/index/build*. */
#ifndef EK_TEXT_INDEX_RUN_READER_H
#define EK_TEXT_INDEX_RUN_READER_H

#include "base/error.h"
#include "text/index/field.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_spill_file;
struct ek_postings_writer;

struct ek_run_reader {
    struct ek_spill_file *spool;
    uint64_t at, end; /* bytes not yet read into the buffer */
    uint8_t *buffer;
    size_t room, next, held;
    bool more;
    uint32_t term; /* current term, if `more` */
    uint64_t left; /* bytes left of its places */
};

/* Read the run in spool[at, end) through a buffer of `room` bytes. Return 0, EK_ENOMEM or EK_EIO.
 * Release it in any case. */
int ek_run_reader_begin(struct ek_run_reader *r, struct ek_spill_file *spool, uint64_t at,
                        uint64_t end, size_t room, struct ek_error *e);
void ek_run_reader_release(struct ek_run_reader *r);
/* Append the places of the current term to `out` and advance to the next term. Return 0, EK_EIO or
 * EK_ENOMEM. */
int ek_run_reader_copy_postings(struct ek_run_reader *r, struct ek_postings_writer *out,
                                struct ek_error *e);

#endif
