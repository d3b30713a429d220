/* How well our network ranks with each set of features: trained as `evenkeel train` would with the
 * reduced manifest, and measured on other lists.
 *
 * Owner: the caller, ek_judged_release.
 */
#ifndef EK_DAEMON_TOOLS_SELECT_SELECT_CROSSVAL_H
#define EK_DAEMON_TOOLS_SELECT_SELECT_CROSSVAL_H

#include "daemon/tools/select/select_choose.h"

struct ek_crossval_result {
    double ndcg3[EK_SHARES_MAX + 1], ndcg10[EK_SHARES_MAX + 1]; /* by set; behind them: all */
};

/* text: that of the manifest's file. lists: what is measured on. Shows progress. EK_EUSAGE and
 * others as ek_train has them. */
int ek_selection_crossval(struct ek_crossval_result *j, const struct ek_selection *s,
                          struct ek_select_args *a, const struct ek_select_data *d,
                          const struct ek_buf *text, const struct ek_dataset *lists);

#endif
