/* One list in the order it came with and in those of a model, held against each other.
 *
 *   was       by the scores in the list
 *   is        by the model under the treatments that are tried
 *   plain     by the model with nothing treated
 *   repaired  by the model with the fault undone: values over their factor, and nothing routed
 *
 * Nothing of the list changes, and none of its texts is read: its message may be gone.
 *
 * harm: whether the treatments are worse than the fault they are there for, -1 .. 1, above 0 in the
 * mean of lists when they are. With d(a, b) = (1 - tau) / 2, the share of pairs in opposite order,
 * and `gap` the root mean square of d between model and upstream scorer on lists without a fault:
 *   harm = 4 (2 gap^2 + d(is, repaired)^2 - d(was, repaired)^2)
 * Orders that differ for reasons of their own differ by about the sum of squares. So what the
 * treatments make is d(is, repaired)^2 + gap^2 from what upstream would say of the list without its
 * fault, the fault itself d(was, repaired)^2 - gap^2, and harm is the one less the other; 4 makes
 * what matters large enough to be found in some tens of lists. Without the gap a model that ranks
 * at random would look perfect: it is held against itself. tests/prop/test_harm.c holds it against
 * the truth on hotel lists. Owner: the caller. One thread at a time. Allocates only while lists
 * grow.
 */
#ifndef EK_SCORE_RANK_COMPARISON_H
#define EK_SCORE_RANK_COMPARISON_H

#include "score/rank_change.h"
#include "score/scorer.h"

#include <stdbool.h>

struct ek_rank_comparison; /* memory for lists; grows only */

struct ek_comparison_input { /* what is tried */
    const struct ek_list *list;
    const struct ek_treatment *treatment; /* [K] by routable number */
    const double *scores; /* [n] the model's under them, where they are known; NULL: made here */
    const double *out;    /* [n] those the list goes out with, where they are others; else NULL */
    bool plain;           /* `plain` is asked for */
    const struct ek_treatment *repaired; /* [K]; NULL: harm is not asked for */
    double gap;                          /* of harm */
};

struct ek_comparison_result {
    bool has_plain, has_harm;
    struct ek_rank_change moved, plain; /* from was to is; from was to plain */
    struct ek_rank_change out;          /* from was to `out`; the same as moved without one */
    double harm;
};

int ek_rank_comparison_new(struct ek_rank_comparison **out, struct ek_error *e);
void ek_rank_comparison_free(struct ek_rank_comparison *b);
/* *says as in score/rank_change.h. There is no harm where the repaired list has no order. EK_ESTATE
 * for a score under the treatments that is not a finite number, and as ek_scorer_score; EK_ENOMEM.
 */
int ek_rank_comparison_run(struct ek_rank_comparison *b, struct ek_scorer *scorer,
                           const struct ek_comparison_input *t, struct ek_comparison_result *out,
                           bool *says, struct ek_error *e);
/* The model's scores under the treatments of the list that was tried last, which are those it was
 * given where they were known; good until the next. NULL before the first. */
const double *ek_rank_comparison_scores(const struct ek_rank_comparison *b);

#endif
