/* Cache of the agreement of model and upstream, for metrics and API. Threads: any. */
#ifndef EK_DAEMON_VIEWS_AGREEMENT_CACHE_H
#define EK_DAEMON_VIEWS_AGREEMENT_CACHE_H

#include "base/buf.h"
#include "serve/agreement_watch.h"

struct ek_agreement_cache;

/* Create an empty cache. Return NULL if memory runs out. */
struct ek_agreement_cache *ek_agreement_cache_new(void);
void ek_agreement_cache_free(struct ek_agreement_cache *b);
/* Copy the current values of a watch. NULL (the guard has no watch) has no effect. */
void ek_agreement_cache_set(struct ek_agreement_cache *b, const struct ek_agreement_watch *w);
/* Make the cache empty. */
void ek_agreement_cache_clear(struct ek_agreement_cache *b);

/* Append the metric families, none while empty. Return 0 or EK_ENOMEM. */
int ek_agreement_cache_metrics(struct ek_agreement_cache *b, struct ek_buf *out);
/* Append a JSON object, null while empty. Return 0 or EK_ENOMEM. */
int ek_agreement_cache_json(struct ek_agreement_cache *b, struct ek_buf *out);

#endif
