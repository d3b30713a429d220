/* All that changes while a model is trained, and its checkpoint file; internal to training.
 *
 * A checkpoint is a safetensors file with every number of the state, so that a run that goes on
 * from it ends with the same bits as one that was never stopped. Its text `evenkeel_training` says
 * line by line, as `key=value`, what the run is: options, features and data (not the patience).
 * Owner: the caller.
 */
#ifndef EK_OFFLINE_TRAIN_TRAIN_STATE_H
#define EK_OFFLINE_TRAIN_TRAIN_STATE_H

#include "base/buf.h"
#include "base/rng.h"
#include "offline/train/optimizer.h"
#include "offline/train/training.h"

struct ek_train_state {
    size_t count;                      /* of the parameters */
    float *parameter, *average, *best; /* [count]; average: over the steps so far */
    struct ek_optimizer optimiser;
    uint64_t *order; /* [lists] of the training data in this epoch */
    size_t lists;
    struct ek_rng order_rng;
    struct ek_train_progress at;
    double epoch_loss; /* sum over the steps of the epoch */
};

/* `count` parameters, the first `learned` of which the optimiser moves. EK_ENOMEM. */
int ek_train_state_init(struct ek_train_state *s, enum ek_optimizer_kind kind, size_t count,
                        size_t learned, size_t lists);
void ek_train_state_release(struct ek_train_state *s);

/* Appends the lines that say what a run is, and a terminator. EK_ENOMEM. */
int ek_train_identity(struct ek_buf *to, const struct ek_manifest *m,
                      const struct ek_train_options *o, const struct ek_dataset *train,
                      const struct ek_dataset *vali);
/* On failure nothing of that name changed. */
int ek_train_state_save(const struct ek_train_state *s, const char *identity, const char *path,
                        struct ek_error *e);
/* Into an initialised state of the same run. EK_EUSAGE when it is of another one, naming the first
 * difference; EK_EFORMAT for a file that is no checkpoint. The state is undefined after failure. */
int ek_train_state_load(struct ek_train_state *s, const char *identity, const char *path,
                        struct ek_error *e);

#endif
