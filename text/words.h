/* Texts to terms: what is between letters and digits is left out, what is left is folded (NFKC,
 * case folding: utf8proc), and stemmed where that is asked for (Snowball).
 *
 * Bytes that are no UTF-8 separate words. A word longer than EK_WORD_BYTES_MAX is cut to so many
 * bytes. Owner: the caller. Threads: one each.
 */
#ifndef EK_TEXT_WORDS_H
#define EK_TEXT_WORDS_H

#include "base/error.h"

#include <stddef.h>

enum { EK_WORD_BYTES_MAX = 64 };

struct ek_words;

/* stemmer: "none" or one of Snowball's names ("english"). EK_EUSAGE for another, EK_ENOMEM. */
int ek_words_new(struct ek_words **out, const char *stemmer, struct ek_error *e);
void ek_words_free(struct ek_words *w);
/* Calls `each` with every term of a text, in order, until it fails; returns what it returned. */
int ek_words_of(struct ek_words *w, const char *text, size_t length,
                int (*each)(void *context, const char *term, size_t length), void *context);

#endif
