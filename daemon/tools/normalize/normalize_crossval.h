/* What the judge of scalings found (offline/scale/crossval.h): a table for people, JSON with
 * everything.
 *
 * Owner: all is the caller's. One thread at a time.
 */
#ifndef EK_DAEMON_TOOLS_NORMALIZE_NORMALIZE_CROSSVAL_H
#define EK_DAEMON_TOOLS_NORMALIZE_NORMALIZE_CROSSVAL_H

#include "daemon/files/list_input.h"
#include "offline/scale/crossval.h"
#include "score/metrics.h"

#include <stdbool.h>
#include <stdio.h>

struct ek_crossval_report {
    const struct ek_dataset *data;
    const struct ek_folds *folds;
    bool files; /* the parts are files as they were given */
    const struct ek_crossval_options *options;
    const struct ek_crossval_scores *of;
    int count;
    int against; /* whom the table tests each against by NDCG@1 */
};

/* evenkeel normalize --cross-validate: which way of scaling ranks best on given lists, by a linear
 * ranker over five folds (offline/scale/crossval.h).
 *
 * Five files are the five parts, as they are; any other number is read as one and cut into five.
 * Owner: all is the caller's. Threads: one calls; as many as there are processors work.
 */
/* methods: names with commas between, NULL for all. Prints to standard output. EK_EUSAGE for an
 * unknown name, or one that comes twice; what reading and the judge fail with. */
int ek_normalize_crossval(const struct ek_files *letor, const struct ek_manifest *m,
                          const char *methods, enum ek_empty empty, bool json, struct ek_error *e);

#endif
