/* What the records of a fleet are made of: numbers, texts, cells by name (docs/format/fleet.md).
 *
 * The first failure stays: writing, nothing follows it and ek_wire_seal reports it; reading,
 * numbers are 0 and texts empty from there on, and ek_wire_done reports it. So nobody asks number
 * by number. Texts that were read are views into the bytes. Owner: the caller, on the stack.
 */
#ifndef EK_FLEET_FLEET_CODEC_H
#define EK_FLEET_FLEET_CODEC_H

#include "base/buf.h"
#include "base/error.h"
#include "lists/list.h"
#include "rules/rules.h"

#include <stdbool.h>

enum { EK_FLEET_TEXT_MAX = 1024, EK_FLEET_NAME_MAX = 200 };

/* Times in records are within this of 1970, in ms. */
#define EK_FLEET_TIME_MAX ((int64_t)1 << 53)

/* The fourth letter of a record; the first three are EK3, those of version 2 are EK2, and of
 * version 1 they were EKF. */
enum ek_fleet_kind {
    EK_FLEET_TICK = 'T',
    EK_FLEET_PLAN = 'P',
    EK_FLEET_ROWS = 'R',
    EK_FLEET_TRIALS = 'U',
    EK_FLEET_ORDER = 'O',
    EK_FLEET_ANSWER = 'A'
};

struct ek_wire_out {
    struct ek_buf *buf;
    size_t start;
    int rc;
};

void ek_wire_begin(struct ek_wire_out *w, struct ek_buf *buf, enum ek_fleet_kind kind);
void ek_wire_put(struct ek_wire_out *w, uint64_t v);
void ek_wire_put_signed(struct ek_wire_out *w, int64_t v);
/* 64 bits as they are, little-endian. */
void ek_wire_put_u64(struct ek_wire_out *w, uint64_t v);
void ek_wire_put_f32(struct ek_wire_out *w, float v);
void ek_wire_put_f64(struct ek_wire_out *w, double v);
void ek_wire_put_text(struct ek_wire_out *w, struct ek_text text);
/* At most EK_FLEET_TEXT_MAX bytes of it; NULL: empty. */
void ek_wire_put_said(struct ek_wire_out *w, const char *text);
void ek_wire_put_word(struct ek_wire_out *w, const char *word);
void ek_wire_put_flag(struct ek_wire_out *w, bool flag);
/* Adds the checksum. Of a record that failed nothing is left in the buffer. */
int ek_wire_seal(struct ek_wire_out *w);

struct ek_wire_in {
    const uint8_t *at, *end;
    bool bad;
    bool elder; /* of version 2, which knows no accepts */
};

/* EK_EFORMAT unless it is a whole record of that kind, of this version or the one before, with the
 * right checksum. */
int ek_wire_open(struct ek_wire_in *w, const void *bytes, size_t length, enum ek_fleet_kind kind,
                 struct ek_error *e);
/* Whether bytes begin as a record of that kind does. */
bool ek_wire_is(const void *bytes, size_t length, enum ek_fleet_kind kind);
/* A number that is refused beyond `most`. */
uint64_t ek_wire_get(struct ek_wire_in *w, uint64_t most);
/* One that is refused below -most and beyond most. */
int64_t ek_wire_get_signed(struct ek_wire_in *w, int64_t most);
uint64_t ek_wire_get_u64(struct ek_wire_in *w);
float ek_wire_get_f32(struct ek_wire_in *w);
double ek_wire_get_f64(struct ek_wire_in *w);
/* A text of at most so many bytes, none of them 0. */
struct ek_text ek_wire_get_text(struct ek_wire_in *w, size_t most);
bool ek_wire_get_flag(struct ek_wire_in *w);
/* One of the words that parse knows, as its number. */
int ek_wire_get_word(struct ek_wire_in *w, int (*parse)(const char *word));
void ek_wire_require(struct ek_wire_in *w, bool good);
/* EK_EFORMAT when something failed or bytes are left. */
int ek_wire_done(const struct ek_wire_in *w, const char *what, struct ek_error *e);

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

void ek_wire_put_dimensions(struct ek_wire_out *w, const struct ek_fleet_dimensions *d);
void ek_wire_get_dimensions(struct ek_wire_in *w, struct ek_fleet_dimensions *d);
/* The cell's dimension must be one of them. */
void ek_wire_put_cell(struct ek_wire_out *w, const struct ek_fleet_dimensions *d,
                      const struct ek_fleet_cell *cell);
void ek_wire_get_cell(struct ek_wire_in *w, const struct ek_fleet_dimensions *d,
                      struct ek_fleet_cell *cell);

#endif
