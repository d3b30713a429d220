/* The demonstration's traffic: hotel searches with upstream scores on their way out, and what they
 * were worth when they come back.
 *
 * A search goes out scored by the plain model from the features as sent, wrong prices included.
 * For each one it is kept what that ranking was worth, and what the same model would have made of
 * the right prices; NDCG@10, exponential gain. Owner: the caller, ek_demo_source_free; the manifest
 * must outlive it. One thread.
 */
#ifndef EK_DAEMON_DEMO_DEMO_SOURCE_H
#define EK_DAEMON_DEMO_DEMO_SOURCE_H

#include "daemon/demo/demo_report.h"
#include "schema/manifest.h"

#include <stddef.h>

struct ek_demo_source;

/* `model`: path of the upstream model. EK_ENOMEM, or why the model cannot be used. */
int ek_demo_source_new(struct ek_demo_source **out, const struct ek_manifest *m, const char *model,
                       uint64_t seed, struct ek_error *e);
void ek_demo_source_free(struct ek_demo_source *f);

/* The next search as a message, valid until the next call. `faulty`: its arm B sees the price of
 * the full stay. Its time is now_ms. */
int ek_demo_source_next(struct ek_demo_source *f, bool faulty, int64_t now_ms, const void **bytes,
                        size_t *length, struct ek_error *e);

/* Judges a message that came back. EK_EFORMAT when it is none of those sent. */
int ek_demo_source_evaluate(struct ek_demo_source *f, const void *bytes, size_t length, bool routed,
                            struct ek_demo_result *out, struct ek_error *e);

#endif
