/* Stop words as an index has words: folded, and stemmed where it stems. Of two that become one
 * there is one. They are English (document_features.h), whatever the stemmer.
 *
 * Owner: the caller, ek_stop_words_release even after a failure. Read-only afterwards, any thread.
 */
#ifndef EK_TEXT_FEATURES_STOP_WORDS_H
#define EK_TEXT_FEATURES_STOP_WORDS_H

#include "base/buf.h"
#include "text/index/words.h"

#include <stdbool.h>

enum { EK_STOPS_MAX = 256 };

struct ek_stop_words {
    size_t count;
    struct ek_buf letters; /* of all, one behind the other */
    size_t end[EK_STOPS_MAX];
};

/* EK_ENOMEM, EK_ELIMIT. */
int ek_stop_words_read(struct ek_stop_words *s, struct ek_words *w);
void ek_stop_words_release(struct ek_stop_words *s);
/* Number i of them; not terminated. */
const char *ek_stop_words_text(const struct ek_stop_words *s, size_t i, size_t *length);
bool ek_stop_words_has(const struct ek_stop_words *s, const char *term, size_t length);

#endif
