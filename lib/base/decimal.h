/* Fast reading of decimal numbers at the start of a text, for files with millions of them.
 *
 * Results are those of strtod, correctly rounded, whatever the digits. No locale, no hexadecimal;
 * "nan", "inf" and "-inf" as in base/parse.h.
 */
#ifndef EK_BASE_DECIMAL_H
#define EK_BASE_DECIMAL_H

/* Reads one number at `text` (terminated). Returns what follows it, NULL when no number stands
 * there; *out is then untouched. What may follow is for the caller to say, but it is never a
 * letter, a digit, a sign or a point. */
const char *ek_decimal(const char *text, double *out);

#endif
