/* Mutable state of a training run and its checkpoint file; internal to training.
 *
 * A checkpoint is a safetensors file with all values of the state, so a resumed run ends with the
 * same bits as an uninterrupted one. Its metadata `evenkeel_training` identifies the run by
 * `key=value` lines: options, features and data, but not the patience.
 */
#ifndef EK_OFFLINE_TRAIN_TRAIN_STATE_H
#define EK_OFFLINE_TRAIN_TRAIN_STATE_H

#include "base/buf.h"
#include "base/rng.h"
#include "offline/train/optimizer.h"
#include "offline/train/training.h"

struct ek_train_state {
    size_t count;                      /* parameters */
    float *parameter, *average, *best; /* [count]; average: over all steps so far */
    struct ek_optimizer optimizer;
    uint64_t *order; /* [lists], order of the training data in this epoch */
    size_t lists;
    struct ek_rng order_rng;
    struct ek_train_progress at;
    double epoch_loss; /* sum over the steps of the epoch */
};

/* Set *s to the state of `count` parameters before the first epoch; the optimizer changes the first
 * `learned`. Release it with ek_train_state_release. Return 0, or EK_ENOMEM. */
int ek_train_state_init(struct ek_train_state *s, enum ek_optimizer_kind kind, size_t count,
                        size_t learned, size_t lists);
void ek_train_state_release(struct ek_train_state *s);

/* Append the lines that identify a run, and a nul, to `to`. Return 0 or EK_ENOMEM. */
int ek_train_identity(struct ek_buf *to, const struct ek_manifest *m,
                      const struct ek_train_options *o, const struct ek_dataset *train,
                      const struct ek_dataset *vali);
/* Write a checkpoint. On error, an existing file stays unchanged. Return 0, EK_EIO or EK_ENOMEM. */
int ek_train_state_save(const struct ek_train_state *s, const char *identity, const char *path,
                        struct ek_error *e);
/* Load a checkpoint into an initialized state of the same run. Return 0, EK_EUSAGE naming the first
 * difference if it is from another run, EK_EFORMAT if the file is no checkpoint, EK_EIO, EK_ELIMIT
 * or EK_ENOMEM. On error the state is undefined. */
int ek_train_state_load(struct ek_train_state *s, const char *identity, const char *path,
                        struct ek_error *e);

#endif
