/* Checks of training data and options; internal to training.
 *
 * A list is useful if two of its items have different labels, one of them positive. Lists and items
 * are counted from 1 in errors, over all files in order.
 */
#ifndef EK_OFFLINE_TRAIN_TRAIN_CHECK_H
#define EK_OFFLINE_TRAIN_TRAIN_CHECK_H

#include "offline/train/training.h"

/* Smallest highest label of a list unless it is 0: below, the gain is lost to rounding.
 * EK_LABEL_MAX is the upper limit. */
#define EK_TRAIN_LABEL_MIN 1e-9f
/* Largest fraction of item features that may be absent before the manifest is rejected. */
#define EK_TRAIN_ABSENT_MAX 0.5

/* Check the options. Return 0, or EK_EUSAGE naming the first option out of range. */
int ek_train_check_options(const struct ek_manifest *m, const struct ek_train_options *o,
                           struct ek_error *e);
/* Check the "training" or "validation" data (`name`). Return 0, or EK_EUSAGE if no list is useful
 * or a label is out of the limits above. With `features`, return EK_EUSAGE also if more than
 * EK_TRAIN_ABSENT_MAX of the item features never occur, or none differs within a list. o->warn
 * receives the rest: lists that are not useful, and features that never occur, are constant, or
 * never differ within a list. */
int ek_train_check_data(const char *name, const struct ek_manifest *m, const struct ek_dataset *d,
                        bool features, const struct ek_train_options *o, struct ek_error *e);

#endif
