/* The mixture of transforms (Zhuang et al. 2020): each feature's four parts enter as their weighted
 * mean, the weights being a softmax that is learned with the rest. */
#include "offline/train/network.h"

#include "score/transform.h"

#include <math.h>

static void softmax(const float *logit, float *share)
{
    double top = -INFINITY, sum = 0, power[EK_TRANSFORM_PARTS];
    for (int i = 0; i < EK_TRANSFORM_PARTS; i++)
        top = fmax(top, (double)logit[i]);
    for (int i = 0; i < EK_TRANSFORM_PARTS; i++)
        sum += power[i] = exp((double)logit[i] - top);
    for (int i = 0; i < EK_TRANSFORM_PARTS; i++)
        share[i] = (float)(power[i] / sum);
}

void ek_network_shares(const struct ek_network *n, const float *parameter, float *shares)
{
    for (size_t f = 0; f < n->items * EK_TRANSFORM_PARTS; f += EK_TRANSFORM_PARTS)
        softmax(parameter + n->mixture + f, shares + f);
}

/* Raw values of thousands would drown the other parts, and what is a step for those would be none
 * for theirs: such a part starts with as much less weight as it is larger. */
void ek_network_start_mixture(const struct ek_network *n, float *parameter)
{
    for (size_t f = 0; f < n->items; f++) {
        double size = hypot((double)n->model->raw_mean[f], (double)n->model->raw_sd[f]);
        parameter[n->mixture + f * EK_TRANSFORM_PARTS + EK_PART_RAW] = (float)-log(fmax(size, 1));
    }
}

void ek_network_mix(const struct ek_network *n, const float *turned, const float *part, float *u)
{
    const float *share = turned + n->shares;
    for (size_t f = 0; f < n->items; f++)
        u[f] = ek_transform_mix(part + f * EK_TRANSFORM_PARTS, share + f * EK_TRANSFORM_PARTS);
}

/* Sums over the list's items of d loss / d u times what a part differs from u. */
static void blame_feature(const struct ek_network *n, const struct ek_pass *p, size_t row,
                          const struct ek_network_list *l, size_t f, const float *share,
                          double *blame)
{
    for (size_t i = 0; i < l->items; i++) {
        const float *part = p->part + ((row + i) * n->items + f) * EK_TRANSFORM_PARTS;
        double u = (double)ek_transform_mix(part, share);
        double d = (double)p->below[(row + i) * n->layer[0].stride + f];
        for (int k = 0; k < EK_TRANSFORM_PARTS; k++)
            blame[k] += d * ((double)part[k] - u);
    }
}

static bool routed(const struct ek_network *n, const struct ek_network_list *l, size_t f)
{
    for (size_t k = 0; k < n->routable; k++)
        if ((size_t)n->model->routable[k] == f)
            return l->mask[k] > 0;
    return false;
}

void ek_network_blame_mixture(const struct ek_network *n, const float *turned, struct ek_pass *p,
                              size_t row, const struct ek_network_list *l, float *gradient)
{
    for (size_t f = 0; f < n->items; f++) {
        const float *share = turned + n->shares + f * EK_TRANSFORM_PARTS;
        double blame[EK_TRANSFORM_PARTS] = {0};
        if (routed(n, l, f))
            continue;
        blame_feature(n, p, row, l, f, share, blame);
        for (int k = 0; k < EK_TRANSFORM_PARTS; k++)
            gradient[n->mixture + f * EK_TRANSFORM_PARTS + (size_t)k] +=
                (float)((double)share[k] * blame[k]);
    }
}
