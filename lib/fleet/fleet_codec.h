/* Fields of the records of a fleet: numbers, texts, cells by name (docs/format/fleet.md).
 *
 * Walks as those of base/serialize.h: each goes over a record's fields in their order and writes or
 * reads them. Most numbers are of varying length. Writing, limits are not checked. Texts that were
 * read are views into the bytes; after a failure they are empty. Owner: the caller, on the stack.
 */
#ifndef EK_FLEET_FLEET_CODEC_H
#define EK_FLEET_FLEET_CODEC_H

#include "base/buf.h"
#include "base/error.h"
#include "base/serialize.h"
#include "lists/list.h"
#include "rules/rules.h"

#include <stdbool.h>

enum { EK_FLEET_TEXT_MAX = 1024, EK_FLEET_NAME_MAX = 200 };

/* Times in records are within this of 1970, in ms. */
#define EK_FLEET_TIME_MAX ((int64_t)1 << 53)

/* The fourth letter of a record; the first three are EK4, EK3 and EK2 in the versions before, and
 * EKF in version 1. */
enum ek_fleet_kind {
    EK_FLEET_REPORT = 'T',
    EK_FLEET_PLAN = 'P',
    EK_FLEET_ROWS = 'R',
    EK_FLEET_COMPARISONS = 'U',
    EK_FLEET_COMMAND = 'O',
    EK_FLEET_REPLY = 'A'
};

/* Begin to write a record. */
void ek_record_writer_start(struct ek_serialize *w, struct ek_buf *buf, enum ek_fleet_kind kind);
/* Add the checksum. Of a record that failed nothing is left in the buffer. */
int ek_record_writer_finish(struct ek_serialize *w);
/* Begin to read. EK_EFORMAT unless it is a whole record of that kind, of version 2 to this one,
 * with the right checksum. Version 2 has no accepts, version 3 no incidents. */
int ek_record_reader_open(struct ek_serialize *w, const void *bytes, size_t length,
                          enum ek_fleet_kind kind, struct ek_error *e);
/* Return whether bytes begin as a record of that kind does. */
bool ek_record_has_kind(const void *bytes, size_t length, enum ek_fleet_kind kind);
/* EK_EFORMAT when something failed or bytes are left. */
int ek_record_reader_is_done(const struct ek_serialize *w, const char *what, struct ek_error *e);
/* What was read is refused when it is not `good`. */
void ek_record_reader_require(struct ek_serialize *w, bool good);

/* A number that is refused beyond `most`. */
void ek_wire_number(struct ek_serialize *w, uint64_t *v, uint64_t most);
/* The same, only written or only read. */
void ek_record_put(struct ek_serialize *w, uint64_t v);
uint64_t ek_record_get(struct ek_serialize *w, uint64_t most);
void ek_wire_u32(struct ek_serialize *w, uint32_t *v);
/* 0 to most. */
void ek_wire_int(struct ek_serialize *w, int *v, int most);
void ek_wire_flag(struct ek_serialize *w, bool *flag);
/* Refused below -most and beyond most. */
void ek_wire_signed(struct ek_serialize *w, int64_t *v, int64_t most);
/* Refused beyond EK_FLEET_TIME_MAX of 1970. */
void ek_wire_time(struct ek_serialize *w, int64_t *ms);
void ek_wire_f32(struct ek_serialize *w, float *v);
/* A text; reading, of at most so many bytes, none of them 0. */
void ek_wire_text(struct ek_serialize *w, struct ek_text *text, size_t most);
/* Write a word, or read one of those that `parse` knows. Returns its number. */
int ek_wire_word(struct ek_serialize *w, const char *word, int (*parse)(const char *word));

/* A cell by its names. */
struct ek_fleet_cell {
    struct ek_text dimension; /* text NULL: all traffic */
    struct ek_text value;     /* text NULL: all values without a cell of their own */
};

/* The dimensions that a record's cells are of. */
struct ek_fleet_dimensions {
    int count;
    struct ek_text name[EK_DIMENSIONS_MAX];
};

void ek_wire_dimensions(struct ek_serialize *w, struct ek_fleet_dimensions *d);
/* The cell's dimension must be one of them. */
void ek_wire_cell(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                  struct ek_fleet_cell *cell);

#endif
