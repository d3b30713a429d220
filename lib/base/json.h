/* JSON writer that appends members to a buffer and keeps the first error.
 *
 * Members appear in the order of the calls. After an error of the writer or its buffer, calls do
 * nothing, so callers check once at the end. Keys are NULL for elements of an array.
 */
#ifndef EK_BASE_JSON_H
#define EK_BASE_JSON_H

#include "base/buf.h"
#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct ek_json_writer {
    struct ek_buf *to;
    int rc;            /* first error: EK_ENOMEM, or EK_ELIMIT of the buffer */
    const char *comma; /* before the next member: "" or "," */
    bool spaced;       /* a space after commas and colons */
    bool line;         /* the next member starts a line */
};

/* Initialize a writer that appends to `to`, which must outlive it, without writing. Nothing needs a
 * release. */
void ek_json_init(struct ek_json_writer *w, struct ek_buf *to);
/* Initialize a writer with a space after commas and colons, and ASCII only, for model files. */
void ek_json_init_spaced(struct ek_json_writer *w, struct ek_buf *to);
/* Start the next member on a new line. */
void ek_json_break_line(struct ek_json_writer *w);
/* Open an array or an object as the next member; bracket is '[' or '{'. Close it with
 * ek_json_close. */
void ek_json_open(struct ek_json_writer *w, const char *key, char bracket);
/* Close the innermost array or object; bracket is ']' or '}'. */
void ek_json_close(struct ek_json_writer *w, char bracket);
/* Append a nul-terminated string; NULL becomes null, invalid UTF-8 becomes U+FFFD. */
void ek_json_add_text(struct ek_json_writer *w, const char *key, const char *text);
/* Append an unsigned integer. */
void ek_json_add_count(struct ek_json_writer *w, const char *key, uint64_t count);
/* Append a signed integer. */
void ek_json_add_integer(struct ek_json_writer *w, const char *key, int64_t number);
/* Append nine significant digits; a number that is not finite becomes null. */
void ek_json_add_number(struct ek_json_writer *w, const char *key, double number);
/* Append a number with `digits` significant digits, at most 17; null if it is not finite. */
void ek_json_add_rounded(struct ek_json_writer *w, const char *key, double number, int digits);
/* Append 17 significant digits, always with a point or an exponent. Infinities and NaN set
 * EK_EFORMAT. */
void ek_json_add_real(struct ek_json_writer *w, const char *key, double number);
/* Append true or false. */
void ek_json_add_flag(struct ek_json_writer *w, const char *key, bool flag);
/* Append null. */
void ek_json_add_null(struct ek_json_writer *w, const char *key);
/* Append `length` bytes that are already valid JSON; they are not checked. */
void ek_json_add_raw(struct ek_json_writer *w, const char *key, const char *json, size_t length);

/* Start one object in `line`, which need not be initialized. */
void ek_json_begin_line(struct ek_json_writer *w, struct ek_buf *line);
/* Close the object, print it with a newline, and release the line. Return 0, or the error of the
 * writer (EK_ENOMEM) with no output. */
int ek_json_end_line(struct ek_json_writer *w, FILE *to, struct ek_error *e);
/* Print `text` as a quoted JSON string. Return 0 or EK_ENOMEM. */
int ek_json_print_text(const char *text, FILE *to);

#endif
