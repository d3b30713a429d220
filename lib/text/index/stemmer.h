/* Stemmer. The only module that includes Snowball (libstemmer). Not thread-safe. */
#ifndef EK_TEXT_INDEX_STEMMER_H
#define EK_TEXT_INDEX_STEMMER_H

#include "base/error.h"

#include <stddef.h>

struct ek_stemmer;

/* Create a stemmer; *out is NULL for "none". Return 0, EK_EUSAGE for an unknown name, or
 * EK_ENOMEM. */
int ek_stemmer_new(struct ek_stemmer **out, const char *name, struct ek_error *e);
void ek_stemmer_free(struct ek_stemmer *s);
/* Return the stem of a case-folded word, valid until the next call, or NULL if out of memory.
 * *length is the length of the word, then of the stem. */
const char *ek_stemmer_stem(struct ek_stemmer *s, const char *word, size_t *length);

#endif
