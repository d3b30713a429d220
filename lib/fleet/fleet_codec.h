/* Field codec of fleet records: numbers, strings, cells by name (docs/dev/formats/fleet.md).
 *
 * As in base/serialize.h, one function both reads and writes a field. Most numbers are varints.
 * Writing does not check limits. Decoded strings are views into the record, empty after an error.
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

/* Limit of times in records: distance from 1970 in ms. */
#define EK_FLEET_TIME_MAX ((int64_t)1 << 53)

/* Fourth byte of a record. The first three are EK and the version. */
enum ek_fleet_kind {
    EK_FLEET_REPORT = 'T',
    EK_FLEET_PLAN = 'P',
    EK_FLEET_ROWS = 'R',
    EK_FLEET_COMPARISONS = 'U',
    EK_FLEET_COMMAND = 'O',
    EK_FLEET_REPLY = 'A'
};

/* Start a record of this kind at the end of `buf`; *w is set. Errors are in w->rc, as for all
 * functions below. */
void ek_record_writer_start(struct ek_serialize *w, struct ek_buf *buf, enum ek_fleet_kind kind);
/* Append the checksum. Return 0 or the error of the record; on error the record is removed. */
int ek_record_writer_finish(struct ek_serialize *w);
/* Open a record. Return 0, or EK_EFORMAT unless it is complete, of this kind and version, with a
 * valid checksum. */
int ek_record_reader_open(struct ek_serialize *w, const void *bytes, size_t length,
                          enum ek_fleet_kind kind, struct ek_error *e);
/* Return whether the bytes start as a record of this kind. */
bool ek_record_has_kind(const void *bytes, size_t length, enum ek_fleet_kind kind);
/* Return 0, or EK_EFORMAT with a message about the record named `what` if a read failed or bytes
 * are left. */
int ek_record_reader_is_done(const struct ek_serialize *w, const char *what, struct ek_error *e);
/* Set EK_EFORMAT in w->rc if reading and not `good`. */
void ek_record_reader_require(struct ek_serialize *w, bool good);

/* Read or write *v as an unsigned varint; reading fails above `most` and sets *v to 0. */
void ek_wire_number(struct ek_serialize *w, uint64_t *v, uint64_t most);
/* Write an unsigned varint; only when writing. */
void ek_record_write(struct ek_serialize *w, uint64_t v);
/* Read and return an unsigned varint, only when reading; 0 on error, also above `most`. */
uint64_t ek_record_get(struct ek_serialize *w, uint64_t most);
/* Read or write *v as an unsigned varint; reading fails above 32 bits and sets *v to 0. */
void ek_wire_u32(struct ek_serialize *w, uint32_t *v);
/* Read or write *v, 0 to `most`, as an unsigned varint; reading fails above `most` and sets *v to
 * 0. */
void ek_wire_int(struct ek_serialize *w, int *v, int most);
/* Read or write a flag; reading fails unless it is 0 or 1. */
void ek_wire_flag(struct ek_serialize *w, bool *flag);
/* Read or write a signed varint; reading fails outside -most to most. */
void ek_wire_signed(struct ek_serialize *w, int64_t *v, int64_t most);
/* Read or write a time; reading fails beyond EK_FLEET_TIME_MAX. */
void ek_wire_time(struct ek_serialize *w, int64_t *ms);
/* Read or write the four bytes of *v. */
void ek_wire_f32(struct ek_serialize *w, float *v);
/* Read or write a string; reading fails above `most` bytes or with a NUL byte. A string read is a
 * view into the record. */
void ek_wire_text(struct ek_serialize *w, struct ek_text *text, size_t most);
/* Write `word`, or read a word that `parse` knows, that is, returns a number >= 0 for. Return its
 * number; 0 after an error. */
int ek_wire_word(struct ek_serialize *w, const char *word, int (*parse)(const char *word));

/* Cell by its names. */
struct ek_fleet_cell {
    struct ek_text dimension; /* NULL: all traffic */
    struct ek_text value;     /* NULL: all values without a separate cell */
};

/* Segment dimensions of the cells in a record. */
struct ek_fleet_dimensions {
    int count;
    struct ek_text name[EK_DIMENSIONS_MAX];
};

/* Read or write the segment dimensions; strings read are views into the record. */
void ek_wire_dimensions(struct ek_serialize *w, struct ek_fleet_dimensions *d);
/* Read or write a cell by its names. Writing fails with EK_ESTATE if the dimension is not in `d`.
 */
void ek_wire_cell(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                  struct ek_fleet_cell *cell);

#endif
