/* Traffic of the demo: hotel searches with upstream scores, and the evaluation of the output.
 *
 * A plain model scores each list with the features as sent, wrong prices included. The source keeps
 * NDCG@10 (exponential gain) of that ranking, of the routable model's ranking without routes, and
 * of the plain model's ranking with the true prices.
 * The manifest must outlive it. One thread.
 */
#ifndef EK_DAEMON_DEMO_DEMO_SOURCE_H
#define EK_DAEMON_DEMO_DEMO_SOURCE_H

#include "daemon/demo/demo_report.h"
#include "schema/manifest.h"

#include <stddef.h>

struct ek_demo_source;

/* Create a source. upstream, routable: paths of the models. The manifest must outlive it. Return 0,
 * EK_ENOMEM, or the error of a model. */
int ek_demo_source_new(struct ek_demo_source **out, const struct ek_manifest *m,
                       const char *upstream, const char *routable, uint64_t seed,
                       struct ek_error *e);
void ek_demo_source_free(struct ek_demo_source *f);

/* Make the next message: *bytes and *length, valid until the next call. faulty: arm B has the price
 * of the whole stay. now_ms: time of the list. Return 0 or EK_ENOMEM. */
int ek_demo_source_next(struct ek_demo_source *f, bool faulty, int64_t now_ms, const void **bytes,
                        size_t *length, struct ek_error *e);

/* Set *out to the evaluation of an output message. routed: its header says that scores were
 * replaced. Return 0, EK_ENOMEM, or EK_EFORMAT for a message that was not sent. */
int ek_demo_source_evaluate(struct ek_demo_source *f, const void *bytes, size_t length, bool routed,
                            struct ek_demo_result *out, struct ek_error *e);

#endif
