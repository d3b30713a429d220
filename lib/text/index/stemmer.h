/* Words to their stems. The only module that includes Snowball (libstemmer).
 *
 * Owner: the caller. Threads: one each.
 */
#ifndef EK_TEXT_INDEX_STEMMER_H
#define EK_TEXT_INDEX_STEMMER_H

#include "base/error.h"

#include <stddef.h>

struct ek_stemmer;

/* *out = NULL for "none". EK_EUSAGE for a name that is none, EK_ENOMEM. */
int ek_stemmer_new(struct ek_stemmer **out, const char *name, struct ek_error *e);
void ek_stemmer_free(struct ek_stemmer *s);
/* The stem of a folded word, until the next one; *length in and out. NULL without memory. */
const char *ek_stemmer_stem(struct ek_stemmer *s, const char *word, size_t *length);

#endif
