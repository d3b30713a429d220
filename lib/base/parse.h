/* Strict number parsers, for which the whole text must be the number, without a locale; and the
 * nearest name for a misspelled word.
 *
 * EK_EFORMAT: not a number, or trailing characters; EK_ELIMIT: out of range. `out` is unchanged on
 * error. Text need not be terminated.
 */
#ifndef EK_BASE_PARSE_H
#define EK_BASE_PARSE_H

#include <stddef.h>
#include <stdint.h>

/* Parse a number, or exactly "nan", "inf" or "-inf". A number out of range, such as 1e999, gives an
 * infinity or 0 without an error. Return 0, or EK_EFORMAT with *out unchanged. */
int ek_parse_double(const char *text, size_t length, double *out);
/* Parse a finite number. Return 0, EK_EFORMAT, or EK_ELIMIT for NaN, infinities and numbers beyond
 * the range, with *out unchanged. */
int ek_parse_finite(const char *text, size_t length, double *out);
/* Parse an unsigned decimal integer. Return 0, EK_EFORMAT or EK_ELIMIT with *out unchanged. */
int ek_parse_u64(const char *text, size_t length, uint64_t *out);
/* Parse a signed decimal integer. Return 0, EK_EFORMAT or EK_ELIMIT with *out unchanged. */
int ek_parse_i64(const char *text, size_t length, int64_t *out);
/* Parse a 64-bit hash: 16 hexadecimal digits in upper or lower case. Return 0, or EK_EFORMAT with
 * *out unchanged. */
int ek_parse_hash(const char *text, size_t length, uint64_t *out);
/* Parse a whole number with a unit, `250ms`, `10s`, `5m`, `2h`, `7d`, into milliseconds. Return 0,
 * EK_EFORMAT or EK_ELIMIT with *out unchanged. */
int ek_parse_duration_ms(const char *text, size_t length, int64_t *out);
/* Parse a whole number with an optional unit, `123`, `64KiB`, `4MiB`, `1GiB`, into bytes. Return 0,
 * EK_EFORMAT or EK_ELIMIT with *out unchanged. */
int ek_parse_bytes(const char *text, size_t length, uint64_t *out);
/* Length of a nul-terminated text. */
#define EK_WHOLE ((size_t)-1)

/* Return the candidate nearest to `word` by edit distance if close enough for a typo, else NULL.
 * The result is one of `candidates`. */
const char *ek_nearest_name(const char *word, const char *const *candidates, size_t count);

/* Fast parser of decimal numbers, for files with millions of them. Results equal strtod's,
 * correctly rounded, without hexadecimal. */

/* Parse the number at the start of `text` (nul-terminated). Return the position after it, or NULL
 * with *out unchanged. The next character is never a letter, digit, sign or point; the caller
 * checks it. */
const char *ek_decimal(const char *text, double *out);

#endif
