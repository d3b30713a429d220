/* Texts to terms: what is between letters, marks and digits is left out, what is left is folded
 * (NFKC and case folding: utf8proc), and stemmed where that is asked for (Snowball).
 *
 * A word is a longest run of letters (L*), marks (M*) and numbers (N*). Soft hyphens and joiners
 * within are dropped. Scripts that write without spaces: each ideograph (Han) and each kana of
 * Hiragana is a word of its own, marks behind it included. Where folding makes several words of one
 * (1/2 of a single character), they are several. Bytes that are no UTF-8 separate words.
 * Limits: a folded word longer than EK_NAME_TEXT_BYTES_MAX is cut to so many bytes, at a character;
 * of a run EK_RUN_BYTES_MAX bytes are looked at. Owner: the caller. Threads: one each.
 */
#ifndef EK_TEXT_INDEX_WORDS_H
#define EK_TEXT_INDEX_WORDS_H

#include "base/error.h"

#include <stddef.h>

enum { EK_NAME_TEXT_BYTES_MAX = 64, EK_RUN_BYTES_MAX = 256 };

struct ek_words;

/* stemmer: "none" or one of Snowball's names ("english"). EK_EUSAGE for another, EK_ENOMEM. */
int ek_words_new(struct ek_words **out, const char *stemmer, struct ek_error *e);
void ek_words_free(struct ek_words *w);
/* Calls `each` with every term of a text, in order, until it fails; returns what it returned.
 * EK_ENOMEM, which comes of the stemmer alone. A term is valid during the call. */
int ek_words_each(struct ek_words *w, const char *text, size_t length,
                  int (*each)(void *context, const char *term, size_t length), void *context);

#endif
