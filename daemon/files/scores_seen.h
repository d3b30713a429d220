/* Whether lists have the scores that a configuration says they have.
 *
 * A wrong `message.score` is not seen while nothing is routed, and then no list can get new scores.
 * So it is told when lists come, not when they are to be routed. Scores are expected where the
 * configuration has a model or says what the score is called; who only watches may have none.
 * Owner: the caller; all zero at first. Threads: any.
 */
#ifndef EK_DAEMON_SCORES_SEEN_H
#define EK_DAEMON_SCORES_SEEN_H

#include "daemon/config/config.h"
#include "lists/query.h"

#include <stdatomic.h>
#include <stdbool.h>

struct ek_scores_seen {
    atomic_bool some;     /* an item had one */
    atomic_ulong without; /* lists none of whose items had one, while there was none at all */
};

bool ek_scores_expected(const struct ek_config *c);
/* Looks at a list that was decoded. Returns how many there were, this one among them, if none has
 * ever had a score; else 0. */
unsigned long ek_scores_missing(struct ek_scores_seen *s, const struct ek_query *q);
/* What is wrong then, and where to look. */
void ek_scores_text(const struct ek_config *c, unsigned long lists, char *text, size_t size);

/* Says so on standard error where lists came, none has had a score, and they are expected. c may be
 * NULL: then nothing is. */
void ek_scores_note(const struct ek_scores_seen *s, const struct ek_config *c);

#endif
