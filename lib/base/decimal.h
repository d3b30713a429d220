/* Fast parser of decimal numbers, for files with millions of them.
 *
 * Results equal strtod's, correctly rounded. No locale, no hexadecimal; "nan", "inf" and "-inf" as
 * in base/parse.h.
 */
#ifndef EK_BASE_DECIMAL_H
#define EK_BASE_DECIMAL_H

/* Parse the number at the start of `text` (nul-terminated). Return the position after it, or NULL
 * with *out unchanged. The next character is never a letter, digit, sign or point; the caller
 * checks it. */
const char *ek_decimal(const char *text, double *out);

#endif
