/* Tokenizer: splits text into words, normalizes them (NFKC and case folding by utf8proc) and
 * optionally stems them (Snowball).
 *
 * A word is a maximal run of letters (L*), marks (M*) and numbers (N*). Soft hyphens and joiners
 * within it are dropped. In scripts without spaces each ideograph (Han) and each Hiragana character
 * is a word, with the marks that follow it. If folding splits a word (a single-character 1/2), its
 * parts are words. Invalid UTF-8 separates words.
 *
 * A folded word is truncated to EK_NAME_TEXT_BYTES_MAX bytes at a character. Only the first
 * EK_RUN_BYTES_MAX bytes of a run are used. Not thread-safe.
 */
#ifndef EK_TEXT_INDEX_WORDS_H
#define EK_TEXT_INDEX_WORDS_H

#include "base/error.h"

#include <stddef.h>

enum { EK_NAME_TEXT_BYTES_MAX = 64, EK_RUN_BYTES_MAX = 256 };

struct ek_words;

/* Create a tokenizer. stemmer: "none" or a Snowball name ("english"). Return 0, EK_EUSAGE for
 * another name, or EK_ENOMEM. */
int ek_words_new(struct ek_words **out, const char *stemmer, struct ek_error *e);
void ek_words_free(struct ek_words *w);
/* Call `each` for every term of a text in order, until it fails. Return 0, the error of `each`, or
 * EK_ENOMEM from the stemmer. A term is valid during the call. */
int ek_words_each(struct ek_words *w, const char *text, size_t length,
                  int (*each)(void *context, const char *term, size_t length), void *context);

#endif
