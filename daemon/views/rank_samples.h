/* Rank samples: recent lists with upstream order and order under the plan, for the API. No other
 * view stores items of the traffic or their values.
 *
 * A worker copies a list before its message is released (ek_rank_sample_new) and adds it after
 * shadow scoring (ek_rank_samples_add), a few per second, each for one routed feature. Capacity:
 * EK_SAMPLE_FEATURES features with EK_SAMPLE_LISTS lists of EK_SAMPLE_ITEMS items; the feature
 * without a sample for the longest time is evicted. Threads: any; a sample belongs to one thread.
 */
#ifndef EK_DAEMON_VIEWS_RANK_SAMPLES_H
#define EK_DAEMON_VIEWS_RANK_SAMPLES_H

#include "base/buf.h"
#include "serve/context.h"

enum {
    EK_SAMPLE_FEATURES = 32,
    EK_SAMPLE_LISTS = 8,
    EK_SAMPLE_ITEMS = 40,     /* per list, the first in upstream order */
    EK_SAMPLE_TEXT = 64,      /* bytes of an id or a segment; cut */
    EK_SAMPLE_EVERY_MS = 500, /* shortest interval of a worker */
    EK_SAMPLE_RETRY_MS = 20,  /* interval after a list without a sample */
    EK_SAMPLE_ROUTES = 8
};

struct ek_rank_samples;
struct ek_rank_sample;

/* Create an empty set of samples. Return NULL if memory runs out. */
struct ek_rank_samples *ek_rank_samples_new(void);
void ek_rank_samples_free(struct ek_rank_samples *s);

/* Copy a list that needs shadow scoring, while its message is valid. Set *out to the sample, which
 * the caller passes to ek_rank_samples_add or frees; NULL if `s` is NULL, no feature is routed, or
 * on error. Return 0 or EK_ENOMEM. */
int ek_rank_sample_new(struct ek_rank_sample **out, const struct ek_rank_samples *s,
                       const struct ek_context *c);
void ek_rank_sample_free(struct ek_rank_sample *one);
/* Add a sample with the scores under the plan [items of the list]. Takes ownership. Return 0, or
 * EK_ENOMEM with the sample dropped. */
int ek_rank_samples_add(struct ek_rank_samples *s, struct ek_rank_sample *one, const double *scores,
                        int64_t now_ms);
/* Append the samples of a feature as a JSON array, newest first. Return 0 or EK_ENOMEM. */
int ek_rank_samples_json(struct ek_rank_samples *s, const char *feature, struct ek_buf *out);

#endif
