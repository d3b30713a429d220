/* Comparison of a list's upstream order with those of a model.
 *
 *   was       by the scores in the list
 *   is        by the model under the given treatments
 *   plain     by the model without treatments
 *   repaired  by the model with the fault undone: values divided by their factor, nothing routed
 *
 * The list stays unchanged. Its strings are not read, because its message may be freed.
 *
 * harm, -1 .. 1: whether the treatments are worse than the fault. Its mean over lists is positive
 * if they are. With d(a, b) = (1 - tau) / 2, the fraction of discordant pairs, and `gap` the root
 * mean square of d between model and upstream scorer on lists without a fault:
 *   harm = 4 (2 gap^2 + d(is, repaired)^2 - d(was, repaired)^2)
 * Independent differences between orders add up approximately in squares. The treated order thus
 * differs from upstream without the fault by d(is, repaired)^2 + gap^2, and the faulty order by
 * d(was, repaired)^2 - gap^2. harm is their difference, scaled by 4 to be detectable in some tens
 * of lists. Without the gap, a model that ranks at random would look perfect, because it is
 * compared with itself. tests/prop/test_harm.c compares harm with the true effect on hotel lists.
 * Not thread-safe. Allocates only when lists grow.
 */
#ifndef EK_SCORE_RANK_COMPARISON_H
#define EK_SCORE_RANK_COMPARISON_H

#include "score/rank_change.h"
#include "score/scorer.h"

#include <stdbool.h>

struct ek_rank_comparison; /* scratch memory, only grows */

struct ek_comparison_input { /* Input of a comparison. */
    const struct ek_list *list;
    const struct ek_treatment *treatment; /* [K] */
    const double *scores; /* [n] of the model under `treatment`, if known; NULL: computed */
    const double *out;    /* [n] forwarded scores, if different; else NULL */
    bool plain;           /* also compare `plain` */
    const struct ek_treatment *repaired; /* [K]; NULL: no harm */
    double gap;                          /* of harm */
};

struct ek_comparison_result {
    bool has_plain, has_harm;
    struct ek_rank_change moved, plain; /* was to is; was to plain */
    struct ek_rank_change out;          /* was to `out`; equals `moved` without `out` */
    double harm;
};

/* Create the buffers of a comparison. Return 0 or EK_ENOMEM. */
int ek_rank_comparison_new(struct ek_rank_comparison **out, struct ek_error *e);
void ek_rank_comparison_free(struct ek_rank_comparison *b);
/* Compare one list and set *out; if *valid is false (see score/rank_change.h) *out is unchanged.
 * harm is absent if the repaired list has no order. Return 0, EK_ESTATE for a score that is not
 * finite, an error of ek_scorer_score, or EK_ENOMEM. */
int ek_rank_comparison_run(struct ek_rank_comparison *b, struct ek_scorer *scorer,
                           const struct ek_comparison_input *t, struct ek_comparison_result *out,
                           bool *valid, struct ek_error *e);
/* Return the model's scores [n] under the treatments of the last list: `scores` of its input if
 * given, else an array of `b` that is valid until the next comparison. NULL before the first. */
const double *ek_rank_comparison_scores(const struct ek_rank_comparison *b);

#endif
