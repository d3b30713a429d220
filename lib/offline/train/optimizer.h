/* Optimizers AdamW and AdaGrad.
 *
 * AdamW: Adam (Kingma and Ba 2015) with decoupled weight decay (Loshchilov and Hutter 2019), betas
 * 0.9 and 0.999, epsilon 1e-8. AdaGrad (Duchi, Hazan and Singer 2011): steps decrease with the root
 * of the sum of all squared gradients, from 0; epsilon 1e-10, same decay. Every parameter decays.
 * Elements are independent, so zero padding with gradient 0 stays 0.
 */
#ifndef EK_OFFLINE_TRAIN_OPTIMIZER_H
#define EK_OFFLINE_TRAIN_OPTIMIZER_H

#include <stddef.h>
#include <stdint.h>

enum ek_optimizer_kind { EK_ADAMW, EK_ADAGRAD };

struct ek_optimizer {
    enum ek_optimizer_kind kind;
    float *mean, *square; /* running mean (AdamW); running mean or sum of squares */
    size_t count;
    uint64_t step;
};

/* Set *o to an optimizer of `count` parameters before its first step; release it with
 * ek_optimizer_release. Return 0, or EK_ENOMEM with nothing to release. */
int ek_optimizer_init(struct ek_optimizer *o, enum ek_optimizer_kind kind, size_t count);
void ek_optimizer_release(struct ek_optimizer *o);
/* Apply one step to parameter [count]. AdamW: p <- p (1 - rate decay) - rate m / (sqrt(v) +
 * epsilon), bias-corrected; AdaGrad: p <- p (1 - rate decay) - rate g / (sqrt(v) + epsilon). */
void ek_optimizer_step(struct ek_optimizer *o, float *parameter, const float *gradient, double rate,
                       double decay);

#endif
