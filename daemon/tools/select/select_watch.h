/* Selection of features to watch (`select --watch`), and rules for them. */
#ifndef EK_DAEMON_TOOLS_SELECT_SELECT_WATCH_H
#define EK_DAEMON_TOOLS_SELECT_SELECT_WATCH_H

#include "daemon/tools/select/select_args.h"
#include "offline/select/importance.h"

struct ek_pool;

/* Measure the impact of unit changes, print it, and write the rules of -o. `pool` runs the trials.
 * Return 0, EK_EIO, EK_ENOMEM, or EK_EUSAGE or EK_ESTATE of ek_shift_impact_measure, with the error
 * in *a; on error no file is replaced. */
int ek_select_watch(struct ek_select_args *a, const struct ek_manifest *m,
                    const struct ek_model *model, const struct ek_dataset *d, struct ek_pool *pool);

#endif
