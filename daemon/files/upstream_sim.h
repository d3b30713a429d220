/* Upstream simulator for `generate`, `convert` and `demo`: applies faults to lists, then scores
 * them with the upstream model, faults included.
 *
 * Scores are those of the model without routes; 0 without a model. List numbers count from 0. The
 * manifest must outlive the simulator. One thread at a time.
 */
#ifndef EK_DAEMON_FILES_UPSTREAM_SIM_H
#define EK_DAEMON_FILES_UPSTREAM_SIM_H

#include "lists/dataset.h"
#include "lists/list.h"
#include "schema/manifest.h"

struct ek_upstream_sim;

struct ek_upstream_sim_options {
    const struct ek_manifest *manifest;
    const char *model;         /* path of a model; NULL: scores are 0 */
    const char *const *faults; /* specifications (offline/world/faults.h), applied in order */
    size_t fault_count;
    uint64_t seed; /* selects the lists of faults with a fraction */
};

/* Create a simulator; the options are not kept. Warn on stderr if the model always routes features,
 * which is not done here. Return 0, EK_EUSAGE for an invalid specification, EK_ESTATE for a model
 * with other features, EK_ENOMEM, or an error of the model reader. */
int ek_upstream_sim_new(struct ek_upstream_sim **out, const struct ek_upstream_sim_options *o,
                        struct ek_error *e);
void ek_upstream_sim_free(struct ek_upstream_sim *u);

/* Return true if a fault depends on medians; call ek_upstream_sim_fit first. */
bool ek_upstream_sim_needs_fit(const struct ek_upstream_sim *u);
/* Set the medians of faults from lists. Return 0, or an error of ek_fault_fit. */
int ek_upstream_sim_fit(struct ek_upstream_sim *u, const struct ek_dataset *d, struct ek_error *e);

/* Change the values and set the scores of list `number`. Return 0, EK_ENOMEM, or EK_ESTATE if the
 * model does not fit the list. */
int ek_upstream_sim_apply(struct ek_upstream_sim *u, struct ek_list *q, uint64_t number,
                          struct ek_error *e);
/* Return the number of lists that fault i has changed. */
uint64_t ek_upstream_sim_matches(const struct ek_upstream_sim *u, size_t i);

#endif
