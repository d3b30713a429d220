/* The wide part: a gate over the query features gives each routed feature its slopes. */
#include "offline/train/network.h"

#include <string.h>

/* Gate values of a list, and the slopes of z and zero where a feature is routed. */
static void open_gate(const struct ek_network *n, const float *parameter, struct ek_pass *p,
                      const struct ek_network_list *l)
{
    const float *weight = parameter + n->gate_weight, *bias = parameter + n->gate_bias;
    memset(p->slope, 0, n->routable * sizeof *p->slope);
    memset(p->zero, 0, n->routable * sizeof *p->zero);
    for (size_t g = 0; g <= n->gate; g++) {
        double sum = g < n->gate ? (double)bias[g] : 1;
        for (size_t j = 0; g < n->gate && j < n->queries; j++)
            sum += (double)weight[g * n->queries + j] * (double)l->query[j];
        p->gate[g] = sum;
        for (size_t k = 0; k < n->routable; k++) {
            double open = (double)l->mask[k] * sum;
            p->slope[k] += open * (double)parameter[n->slope + g * n->routable + k];
            p->zero[k] += open * (double)parameter[n->zero + g * n->routable + k];
        }
    }
}

static const float *z_of(const struct ek_network *n, const struct ek_network_list *l, size_t item)
{
    return l->item + item * (n->items + 2 * n->routable) + n->items;
}

void ek_network_score(const struct ek_network *n, const float *parameter, struct ek_pass *p,
                      size_t row, const struct ek_network_list *l, double *score)
{
    const float *deep = p->active[n->layers - 1];
    size_t width = n->layer[n->layers - 1].width;
    open_gate(n, parameter, p, l);
    for (size_t i = 0; i < l->items; i++) {
        const float *z = z_of(n, l, i), *zero = z + n->routable;
        double sum = (double)deep[(row + i) * width];
        for (size_t k = 0; k < n->routable; k++)
            sum += (double)z[k] * p->slope[k] + (double)zero[k] * p->zero[k];
        score[i] = sum;
    }
}

/* Sums over the items of d loss / d score times z and zero, where routed; into p->slope, p->zero.
 */
static void blame_slopes(const struct ek_network *n, struct ek_pass *p,
                         const struct ek_network_list *l, const double *slope_of_score)
{
    memset(p->slope, 0, n->routable * sizeof *p->slope);
    memset(p->zero, 0, n->routable * sizeof *p->zero);
    for (size_t i = 0; i < l->items; i++) {
        const float *z = z_of(n, l, i), *zero = z + n->routable;
        for (size_t k = 0; k < n->routable; k++) {
            double share = slope_of_score[i] * (double)l->mask[k];
            p->slope[k] += share * (double)z[k];
            p->zero[k] += share * (double)zero[k];
        }
    }
}

void ek_network_blame(const struct ek_network *n, const float *parameter, struct ek_pass *p,
                      size_t row, const struct ek_network_list *l, const double *slope_of_score,
                      float *gradient)
{
    float *delta = p->delta[n->layers - 1];
    size_t width = n->layer[n->layers - 1].width;
    memset(delta + row * width, 0, l->items * width * sizeof *delta);
    for (size_t i = 0; i < l->items; i++)
        delta[(row + i) * width] = (float)slope_of_score[i];

    open_gate(n, parameter, p, l);
    blame_slopes(n, p, l, slope_of_score);
    for (size_t g = 0; g <= n->gate; g++) {
        size_t at = g * n->routable;
        double blame = 0;
        for (size_t k = 0; k < n->routable; k++) {
            gradient[n->slope + at + k] += (float)(p->gate[g] * p->slope[k]);
            gradient[n->zero + at + k] += (float)(p->gate[g] * p->zero[k]);
            blame += (double)parameter[n->slope + at + k] * p->slope[k] +
                     (double)parameter[n->zero + at + k] * p->zero[k];
        }
        if (g == n->gate)
            continue;
        gradient[n->gate_bias + g] += (float)blame;
        for (size_t j = 0; j < n->queries; j++)
            gradient[n->gate_weight + g * n->queries + j] += (float)(blame * (double)l->query[j]);
    }
}
