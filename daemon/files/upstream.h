/* What stands before evenkeel in a pipeline: faults come into the lists, then the upstream model
 * scores what it sees, faults included. For gen, convert and the demonstration.
 *
 * Scores: those of the model with nothing routed; 0 without a model. Numbers of queries count from
 * 0. Owner: the caller, ek_upstream_free; the manifest must outlive it. One thread at a time.
 */
#ifndef EK_DAEMON_UPSTREAM_H
#define EK_DAEMON_UPSTREAM_H

#include "lists/dataset.h"
#include "schema/manifest.h"
#include "lists/query.h"

struct ek_upstream;

struct ek_upstream_options {
    const struct ek_manifest *manifest;
    const char *model;         /* path of a model file; NULL: scores are 0 */
    const char *const *faults; /* specs (offline/faults.h), applied in this order */
    size_t fault_count;
    uint64_t seed; /* chooses the queries of faults with a share */
};

/* Says on stderr when the model always routes some features, which here nothing does.
 * EK_EUSAGE for a spec that cannot be read, the loader's error for a model, EK_ESTATE for a model
 * of other features, EK_ENOMEM. */
int ek_upstream_new(struct ek_upstream **out, const struct ek_upstream_options *o,
                    struct ek_error *e);
void ek_upstream_free(struct ek_upstream *u);

/* Whether a fault speaks of medians, so that ek_upstream_fit must come first. */
bool ek_upstream_needs_fit(const struct ek_upstream *u);
int ek_upstream_fit(struct ek_upstream *u, const struct ek_dataset *d, struct ek_error *e);

/* Changes x and sets the scores of query `number`. */
int ek_upstream_apply(struct ek_upstream *u, struct ek_query *q, uint64_t number,
                      struct ek_error *e);
/* Queries that fault number i has changed so far. */
uint64_t ek_upstream_hits(const struct ek_upstream *u, size_t i);

#endif
