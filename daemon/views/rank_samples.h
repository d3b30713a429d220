/* The last few lists that a route was tried on, before and after, for people: the only place where
 * items of the traffic and values of theirs are kept and shown.
 *
 * A worker writes down what it needs of a list before its message goes (_take), and hands it over
 * once the list was ranked as the plan wants it (_put); a few a second at most, each for one of the
 * features that it is routed for. Bounded: EK_SAMPLE_FEATURES features with EK_SAMPLE_LISTS lists
 * of EK_SAMPLE_ITEMS items; of more features those go that had none for longest. Owner: the caller.
 * Threads: a sample belongs to one, the rest is for any.
 */
#ifndef EK_DAEMON_VIEWS_RANK_SAMPLES_H
#define EK_DAEMON_VIEWS_RANK_SAMPLES_H

#include "base/buf.h"
#include "serve/context.h"

enum {
    EK_SAMPLE_FEATURES = 32,
    EK_SAMPLE_LISTS = 8,
    EK_SAMPLE_ITEMS = 40,     /* of a list, the first of upstream */
    EK_SAMPLE_TEXT = 64,      /* bytes of an id or a segment; the rest is cut off */
    EK_SAMPLE_EVERY_MS = 500, /* of a worker, at most */
    EK_SAMPLE_RETRY_MS = 20,  /* where the list was not tried after all */
    EK_SAMPLE_ROUTES = 8
};

struct ek_rank_samples;
struct ek_rank_sample;

/* NULL without memory. */
struct ek_rank_samples *ek_rank_samples_new(void);
/* NULL is allowed. */
void ek_rank_samples_free(struct ek_rank_samples *s);

/* A list that wants a trial, while its message is there. NULL without memory, or where there is
 * nothing to show. ek_rank_sample_free, unless it is put. */
struct ek_rank_sample *ek_rank_sample_new(const struct ek_rank_samples *s,
                                          const struct ek_context *c);
void ek_rank_sample_free(struct ek_rank_sample *one);
/* With the scores [items of the list] it has as the plan wants it. The sample is theirs. */
void ek_rank_samples_add(struct ek_rank_samples *s, struct ek_rank_sample *one,
                         const double *scores, int64_t now_ms);
/* Appends those of a feature as a JSON array, the newest first. EK_ENOMEM. */
int ek_rank_samples_json(struct ek_rank_samples *s, const char *feature, struct ek_buf *out);

#endif
