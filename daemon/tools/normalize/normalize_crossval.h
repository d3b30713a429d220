/* Cross-validation of scalings by `normalize --cross-validate`, and its report: a table, or JSON
 * with all values. */
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
    bool files; /* the parts are the given files */
    const struct ek_crossval_options *options;
    const struct ek_crossval_scores *of;
    int count;
    int against; /* method that the others are tested against, by NDCG@1 */
};

/* Ranking quality of each scaling with a linear ranker over five folds (offline/scale/crossval.h).
 *
 * Five files are the five parts; any other number is read as one and split into five. Called by one
 * thread; uses as many as there are CPUs.
 */
/* Cross-validate methods on the files and print the report to standard output. methods: names
 * separated by commas; NULL: all. Return 0, EK_EUSAGE for an unknown or duplicate name, or an error
 * of the files or the cross-validation. */
int ek_normalize_crossval(const struct ek_files *letor, const struct ek_manifest *m,
                          const char *methods, enum ek_empty empty, bool json, struct ek_error *e);

#endif
