/* Losses of one ranked list and their gradients.
 *
 * With gains g = 2^y - 1 and scores s, items i of a list:
 *   ListNet     - sum_i p_i ln softmax(s)_i, p = g / sum g
 *   ListMLE     items ordered by y + noise, descending; sum over the ranks r with y > 0 of
 *               ln(sum_{t >= r} exp s_t) - s_r. noise in [0, 0.5) orders equal labels randomly
 *   ApproxNDCG  1 - sum_i g_i h_i / log2(1 + rank_i) / IDCG (Qin, Liu and Li 2010), with
 *               rank_i = 1 + sum_{j != i} sigmoid((s_j - s_i) / 0.1), h_i = 1. With a cutoff k,
 *               h_i = sigmoid(k + 1/2 - rank_i) and IDCG is that of the first k
 *
 * The stochastic ApproxNDCG is its mean over samples with independent standard Gumbel noise on each
 * score (Bruch, Han, Bendersky and Najork 2020; TF-Ranking's form). A list without a positive label
 * has loss and gradient 0. Scores must be finite, labels finite and not negative.
 */
#ifndef EK_OFFLINE_TRAIN_LOSS_H
#define EK_OFFLINE_TRAIN_LOSS_H

#include "base/rng.h"

#include <stdbool.h>

enum ek_loss { EK_LISTNET, EK_LISTMLE, EK_APPROX_NDCG };

/* One list of n items; gradient [n] receives d loss / d s. */
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

/* Return the command-line name of a loss, a static string, for example "listmle". */
const char *ek_loss_name(enum ek_loss loss);

/* Return the loss of a list and write its gradient to the array in *list. */
double ek_loss_compute(enum ek_loss loss, const struct ek_list_loss *list);

/* Return the stochastic ApproxNDCG over `samples` samples and write its gradient to the array in
 * *list; shifted, sum [n] are scratch. */
double ek_loss_stochastic(const struct ek_list_loss *list, int samples, struct ek_rng *r,
                          double *shifted, double *sum);

/* Return true if the loss of a batch is divided by the number of all lists (ListMLE), false if by
 * the lists with a positive label. */
bool ek_loss_counts_empty(enum ek_loss loss);
/* Return true if a label is positive. */
bool ek_has_positive(const float *label, int n);

#endif
