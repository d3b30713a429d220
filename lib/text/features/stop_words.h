/* English stop words (document_features.h), case-folded and stemmed like the index, without
 * duplicates.
 *
 * Release after a failure too. Read-only afterwards.
 */
#ifndef EK_TEXT_FEATURES_STOP_WORDS_H
#define EK_TEXT_FEATURES_STOP_WORDS_H

#include "base/buf.h"
#include "text/index/words.h"

#include <stdbool.h>

enum { EK_STOPS_MAX = 256 };

struct ek_stop_words {
    size_t count;
    struct ek_buf letters; /* of all words, concatenated */
    size_t end[EK_STOPS_MAX];
};

/* Set *s to the stop words as terms of `w`. Return 0, EK_ENOMEM, or EK_ELIMIT beyond EK_STOPS_MAX
 * words. Call ek_stop_words_release also after an error. */
int ek_stop_words_read(struct ek_stop_words *s, struct ek_words *w);
void ek_stop_words_release(struct ek_stop_words *s);
/* Return stop word i, not terminated, and set *length; valid until the release. */
const char *ek_stop_words_text(const struct ek_stop_words *s, size_t i, size_t *length);
/* Return whether a term of this length, folded and stemmed, is a stop word. */
bool ek_stop_words_has(const struct ek_stop_words *s, const char *term, size_t length);

#endif
