/* What the watch over model and upstream says, kept for those who ask.
 *
 * Owner: the caller. Threads: any; a page is of one moment.
 */
#ifndef EK_DAEMON_VIEWS_AGREEMENT_CACHE_H
#define EK_DAEMON_VIEWS_AGREEMENT_CACHE_H

#include "base/buf.h"
#include "serve/agreement_watch.h"

struct ek_agreement_cache;

/* Empty; NULL without memory. */
struct ek_agreement_cache *ek_agreement_cache_new(void);
void ek_agreement_cache_free(struct ek_agreement_cache *b);
/* Takes what the watch says now; NULL, as of a guard without one, changes nothing. */
void ek_agreement_cache_set(struct ek_agreement_cache *b, const struct ek_agreement_watch *w);

/* Empty again. */
void ek_agreement_cache_clear(struct ek_agreement_cache *b);

/* Append to `out`; EK_ENOMEM. Prometheus text, nothing while empty. */
int ek_agreement_cache_metrics(struct ek_agreement_cache *b, struct ek_buf *out);
/* A JSON object, null while empty. */
int ek_agreement_cache_json(struct ek_agreement_cache *b, struct ek_buf *out);

#endif
