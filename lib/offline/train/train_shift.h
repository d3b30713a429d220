/* Scale faults thrown into training lists, so that one nobody has noticed yet does little harm;
 * internal to training.
 *
 * In a share of the lists a random subset of the routable features (its size uniform in 1 .. K) has
 * another scale: each of them times its own factor for the whole list, log-uniform from 1/1000 to
 * 1000, the range of the units people mix up. Centred logs do not move under a factor, so what the
 * network learns is to believe them where the level of a value is out of the ordinary.
 * Owner: the caller. Threads: one each.
 */
#ifndef EK_OFFLINE_TRAIN_SHIFT_H
#define EK_OFFLINE_TRAIN_SHIFT_H

#include "base/rng.h"
#include "offline/train/encoded.h"
#include "score/encode.h"

struct ek_train_shift {
    struct ek_encoder encoder;
    float *x;    /* [longest, F] */
    float *part; /* [longest, F, EK_TRANSFORM_PARTS] of a mixture, else NULL */
    int *pick;   /* [K] */
};

/* For lists of at most `longest` items. The model must outlive it. EK_ENOMEM. */
int ek_train_shift_init(struct ek_train_shift *s, const struct ek_model *m, size_t longest);
void ek_train_shift_release(struct ek_train_shift *s);
/* With probability `share`, lets l->item and l->part of list q point to its encoding with other
 * scales, valid until the next call. */
void ek_train_shift_list(struct ek_train_shift *s, double share, const struct ek_encoded *set,
                         size_t q, struct ek_rng *r, struct ek_network_list *l);

#endif
