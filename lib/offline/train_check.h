/* Whether data can be trained on, and what is odd about it; internal to training.
 *
 * A list teaches something when two of its items have different labels, one of them positive.
 * Threads: no state.
 */
#ifndef EK_OFFLINE_TRAIN_CHECK_H
#define EK_OFFLINE_TRAIN_CHECK_H

#include "offline/train.h"

/* EK_EUSAGE names the first option that is out of its range. */
int ek_train_check_options(const struct ek_manifest *m, const struct ek_train_options *o,
                           struct ek_error *e);
/* EK_EUSAGE when no list teaches anything; `name` is "training" or "validation". What is odd but
 * can be trained on goes to o->warn: lists that teach nothing and, with `features`, features that
 * never occur, never change, or never differ within a list. */
int ek_train_check_data(const char *name, const struct ek_manifest *m, const struct ek_dataset *d,
                        bool features, const struct ek_train_options *o, struct ek_error *e);

#endif
