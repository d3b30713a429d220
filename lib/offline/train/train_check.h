/* Whether data can be trained on, and what is odd about it; internal to training.
 *
 * A list teaches something when two of its items have different labels, one of them positive. Lists
 * and items are counted from 1 in errors, over all files in their order. Threads: no state.
 */
#ifndef EK_OFFLINE_TRAIN_TRAIN_CHECK_H
#define EK_OFFLINE_TRAIN_TRAIN_CHECK_H

#include "offline/train/training.h"

/* The highest label of a list is 0 or at least this: else its gain is lost to rounding. For the
 * other end see EK_LABEL_MAX. */
#define EK_TRAIN_LABEL_MIN 1e-9f
/* With more than this share of the item features never there, the manifest is that of other data.
 */
#define EK_TRAIN_ABSENT_MAX 0.5

/* EK_EUSAGE names the first option that is out of its range. */
int ek_train_check_options(const struct ek_manifest *m, const struct ek_train_options *o,
                           struct ek_error *e);
/* EK_EUSAGE when no list teaches anything or a label is beyond the limits above, the highest one of
 * a list below EK_TRAIN_LABEL_MIN; `name` is "training" or "validation". With `features` also
 * when more than EK_TRAIN_ABSENT_MAX of the item features never occur, or none ever differs within
 * a list. What is odd but can be trained on goes to o->warn: lists that teach nothing, features
 * that never occur, never change, or never differ within a list. */
int ek_train_check_data(const char *name, const struct ek_manifest *m, const struct ek_dataset *d,
                        bool features, const struct ek_train_options *o, struct ek_error *e);

#endif
