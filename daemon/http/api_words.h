/* What somebody says with a call that changes something: the keys of its body, a JSON object.
 *
 * Of the keys below a call knows some and needs some of those; any other one is a fault with its
 * hint. A segment is written as in rules and events: {"arm": "B"}, or null for all traffic. Texts
 * are good until _release. Threads: any.
 */
#ifndef EK_DAEMON_API_WORDS_H
#define EK_DAEMON_API_WORDS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum ek_api_key {
    EK_API_AUTHOR = 1 << 0,
    EK_API_REASON = 1 << 1,
    EK_API_FEATURE = 1 << 2,
    EK_API_SEGMENT = 1 << 3,
    EK_API_VERSION = 1 << 4,
    EK_API_ACTION = 1 << 5,
    EK_API_UNTIL = 1 << 6,
    EK_API_BEGIN_ANEW = 1 << 7
};

struct ek_api_words {
    const char *author, *reason, *feature; /* NULL: not said */
    const char *dimension, *value;         /* of the segment; both NULL: all traffic */
    uint64_t version;
    bool begin_anew;
    const char *action; /* one that there is */
    int64_t until_ms;   /* 0: for good */
    bool strange;       /* the guard knows no list of that segment, as was found out */
    void *body;         /* what the texts live in */
};

/* knows, needs: of enum ek_api_key. An empty body says nothing. EK_EUSAGE: what is wrong with it,
 * and what to write. To be released either way. */
int ek_api_words_read(struct ek_api_words *w, const void *body, size_t length, unsigned knows,
                      unsigned needs, struct ek_error *e);
void ek_api_words_release(struct ek_api_words *w);

#endif
