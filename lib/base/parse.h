/* Strict reading of numbers from text: all of it must be the number, no locale, no surprises.
 *
 * Return 0 or EK_EFORMAT (not a number, or more than a number) or EK_ELIMIT (out of range); `out`
 * is untouched on failure. Text need not be terminated. NaN / infinity: accepted by ek_parse_double
 * as "nan", "inf", "-inf" only.
 */
#ifndef EK_BASE_PARSE_H
#define EK_BASE_PARSE_H

#include <stddef.h>
#include <stdint.h>

int ek_parse_double(const char *text, size_t length, double *out);
/* Finite only. */
int ek_parse_finite(const char *text, size_t length, double *out);
int ek_parse_u64(const char *text, size_t length, uint64_t *out);
int ek_parse_i64(const char *text, size_t length, int64_t *out);
/* A hash of 64 bits as files and messages have it: 16 hexadecimal digits, of either case. */
int ek_parse_hash(const char *text, size_t length, uint64_t *out);
/* `250ms`, `10s`, `5m`, `2h`, `7d` -> milliseconds. */
int ek_parse_duration_ms(const char *text, size_t length, int64_t *out);
/* `123`, `64KiB`, `4MiB`, `1GiB` -> bytes. */
int ek_parse_bytes(const char *text, size_t length, uint64_t *out);
/* Length of text when length is (size_t)-1; for calls with terminated strings. */
#define EK_WHOLE ((size_t)-1)

/* The candidate nearest to `word` by edit distance, when near enough to be a typing error; else
 * NULL. `count` candidates. */
const char *ek_nearest_name(const char *word, const char *const *candidates, size_t count);

#endif
