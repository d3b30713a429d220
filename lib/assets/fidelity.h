/* How faithfully a model ranks as the upstream scorer does: what training measures on held-out
 * messages, the model file keeps, and the guard watches.
 *
 * Figures of one list (lib/score/agreement.h has the formulas), each the better the higher:
 *   tau      Kendall's tau-b, -1 .. 1
 *   ndcg@10  NDCG of the model's order, the gain of an item 1 / its place in the upstream one, 0 ..
 * 1 top1     whether both have the same item first, 0 .. 1 Value type. */
#ifndef EK_DATA_FIDELITY_H
#define EK_DATA_FIDELITY_H

#include <stdint.h>

enum ek_figure { EK_FIGURE_TAU, EK_FIGURE_NDCG10, EK_FIGURE_TOP1, EK_FIGURES };

/* "tau", "ndcg@10", "top1". */
const char *ek_figure_name(enum ek_figure f);
/* The lowest value there is: -1 or 0. */
double ek_figure_low(enum ek_figure f);

struct ek_fidelity {
    uint64_t lists; /* that were compared; 0: not known, and the rest means nothing */
    double mean[EK_FIGURES], sd[EK_FIGURES]; /* over these lists */
};

#endif
