/* Scorer of a model for one list with treatments: the routable SIR network (docs/format/model.md),
 * or trees (score/tree_scorer.h), which cannot be routed.
 *
 * A routed feature enters only through z and the zero indicator, so scores are invariant under x ->
 * c x. A missing value (NaN) has t = 0, z = 0, b = 0; the list's mean ignores it and infinities. A
 * zero has z = 0, b = 1. z has the sign of x.
 *
 * A part of a list (list_items above items) is scored as within the complete list, given its
 * log_mean; a list-free model needs no mean. Not thread-safe; scorers may share a model.
 */
#ifndef EK_SCORE_SCORER_H
#define EK_SCORE_SCORER_H

#include "assets/model.h"
#include "lists/list.h"
#include "schema/enum_names.h"

struct ek_scorer;

/* Create a scorer. The model must outlive it. Return 0 or EK_ENOMEM. */
int ek_scorer_new(struct ek_scorer **out, const struct ek_model *m, struct ek_error *e);
void ek_scorer_free(struct ek_scorer *s);

/* Return whether `route_per_source` is possible: a complete list with sources, and a model that is
 * not list-free. */
bool ek_scorer_uses_sources(const struct ek_scorer *s, const struct ek_list *q);
/* Compute scores [n]. treatment [K]; NULL: none. Return 0; EK_ESTATE for other features than the
 * model's, an invalid treatment value, `route_per_source` without sources or a route of the
 * user's own ranker;
 * EK_EFORMAT for a partial list without log_mean; or EK_ENOMEM. Allocates only when lists grow. */
int ek_scorer_score(struct ek_scorer *s, const struct ek_list *q,
                    const struct ek_treatment *treatment, double *scores, struct ek_error *e);
/* Compute scores [n] of the user's own ranker from values [n, F] in place of those of the list.
 * Return 0, EK_ESTATE for other features than the model's or a score that is not finite, or
 * EK_ENOMEM. */
int ek_scorer_score_values(struct ek_scorer *s, const struct ek_list *q, const double *values,
                           double *scores, struct ek_error *e);
/* Compute scores [n] as ek_scorer_score, and check that they are finite. Return 0, EK_ESTATE if one
 * is not, or an error of ek_scorer_score. */
int ek_scorer_score_finite(struct ek_scorer *s, const struct ek_list *q,
                           const struct ek_treatment *treatment, double *scores,
                           struct ek_error *e);

#endif
