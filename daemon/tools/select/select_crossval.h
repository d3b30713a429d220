/* Ranking quality of each feature set: a network is trained as by `train` with the reduced
 * manifest, and measured on other lists. */
#ifndef EK_DAEMON_TOOLS_SELECT_SELECT_CROSSVAL_H
#define EK_DAEMON_TOOLS_SELECT_SELECT_CROSSVAL_H

#include "daemon/tools/select/select_choose.h"

struct ek_crossval_result {
    double ndcg3[EK_SHARES_MAX + 1], ndcg10[EK_SHARES_MAX + 1]; /* by set; last: all features */
};

/* Set *j to the quality of each feature set. text: contents of the manifest's file. lists: for the
 * measurement. Shows progress. Return 0, EK_EUSAGE, or an error of ek_train, with the error in *a.
 */
int ek_selection_crossval(struct ek_crossval_result *j, const struct ek_selection *s,
                          struct ek_select_args *a, const struct ek_select_data *d,
                          const struct ek_buf *text, const struct ek_dataset *lists);

#endif
