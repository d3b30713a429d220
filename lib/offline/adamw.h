/* AdamW: Adam (Kingma and Ba 2015) with decoupled weight decay (Loshchilov and Hutter 2019), betas
 * 0.9 and 0.999, epsilon 1e-8.
 *
 * Every parameter decays. Elements do not mix, so padding that is 0 with gradient 0 stays 0.
 * Owner: the caller, ek_adamw_release.
 */
#ifndef EK_OFFLINE_ADAMW_H
#define EK_OFFLINE_ADAMW_H

#include <stddef.h>

struct ek_adamw {
    float *mean, *square; /* running means of the gradient and of its square */
    size_t count;
    long step;
};

/* EK_ENOMEM. */
int ek_adamw_init(struct ek_adamw *a, size_t count);
void ek_adamw_release(struct ek_adamw *a);
/* One step: p <- p (1 - rate decay) - rate m / (sqrt(v) + epsilon), bias-corrected. */
void ek_adamw_step(struct ek_adamw *a, float *parameter, const float *gradient, double rate,
                   double decay);

#endif
