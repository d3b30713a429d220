/* Losses of one ranked list and their gradients.
 *
 * With gains g = 2^y - 1 and scores s, items i of a list:
 *   ListNet     - sum_i p_i ln softmax(s)_i, p = g / sum g
 *   ListMLE     items ordered by y + noise, falling; sum over the ranks r with y > 0 of
 *               ln(sum_{t >= r} exp s_t) - s_r. noise in [0, 0.5) draws an order among equal labels
 *   ApproxNDCG  1 - sum_i g_i h_i / log2(1 + rank_i) / IDCG (Qin, Liu and Li 2010), with
 *               rank_i = 1 + sum_{j != i} sigmoid((s_j - s_i) / 0.1), h_i = 1. With a cut-off k,
 *               h_i = sigmoid(k + 1/2 - rank_i) and IDCG is that of the first k
 * The stochastic ApproxNDCG is the mean of it over samples in which each score has standard Gumbel
 * noise of its own (Bruch, Han, Bendersky and Najork 2020; TF-Ranking's form).
 * A list without a positive label has loss and gradient 0.
 * Scores are finite, labels finite and not negative. Threads: no state. Owner: all arrays are the
 * caller's.
 */
#ifndef EK_OFFLINE_TRAIN_LOSS_H
#define EK_OFFLINE_TRAIN_LOSS_H

#include "base/rng.h"

#include <stdbool.h>

enum ek_loss { EK_LISTNET, EK_LISTMLE, EK_APPROX_NDCG };

/* One list of n items. gradient [n] is written: d loss / d s. */
struct ek_list_loss {
    int n;
    const double *score;
    const float *label;
    const double *noise; /* ListMLE only */
    double *gradient;
    double *scratch; /* [n] */
    int *order;      /* [n], scratch, ListMLE only */
    int cutoff;      /* ApproxNDCG only; 0: none */
};

/* As on the command line: "listmle". */
const char *ek_loss_name(enum ek_loss loss);

double ek_loss_compute(enum ek_loss loss, const struct ek_list_loss *list);

/* The stochastic ApproxNDCG of a list over `samples` samples; shifted, sum [n] are scratch. */
double ek_loss_stochastic(const struct ek_list_loss *list, int samples, struct ek_rng *r,
                          double *shifted, double *sum);

/* Whether the loss of a batch is divided by the number of all its lists (ListMLE), or by that of
 * the lists with a positive label. */
bool ek_loss_counts_empty(enum ek_loss loss);
bool ek_has_positive(const float *label, int n);

#endif
