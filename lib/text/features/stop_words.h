/* Stop words as an index has words: folded, and stemmed where it stems. Of two that become one
 * there is one. They are English (document_features.h), whatever the stemmer.
 *
 * Owner: the caller, ek_stops_release even after a failure. Read-only afterwards, any thread.
 */
#ifndef EK_TEXT_FEATURES_STOP_WORDS_H
#define EK_TEXT_FEATURES_STOP_WORDS_H

#include "base/buf.h"
#include "text/index/words.h"

#include <stdbool.h>

enum { EK_STOPS_MAX = 256 };

struct ek_stops {
    size_t count;
    struct ek_buf letters; /* of all, one behind the other */
    size_t end[EK_STOPS_MAX];
};

/* EK_ENOMEM, EK_ELIMIT. */
int ek_stops_read(struct ek_stops *s, struct ek_words *w);
void ek_stops_release(struct ek_stops *s);
/* Number i of them; not terminated. */
const char *ek_stops_text(const struct ek_stops *s, size_t i, size_t *length);
bool ek_stops_has(const struct ek_stops *s, const char *term, size_t length);

#endif
