/* Scores of a list under a routing (design: routable SIR; docs/format/model.md has the formula).
 *
 * For a routed feature only z and the zero indicator enter; logs are taken in double, so that
 * scores do not move under x -> c x. A missing value (NaN) has t = 0, z = 0, b = 0 and is left out
 * of the list's mean, as are infinities. Zeros: z = 0, b = 1. Negatives: z has their sign.
 * A part of a list (list_items above items) is scored as within the whole, given its log_mean; a
 * list-free model needs no mean. Threads: one scorer per thread (it owns scratch memory); the model
 * may be shared.
 */
#ifndef EK_SCORE_SCORER_H
#define EK_SCORE_SCORER_H

#include "assets/model.h"
#include "lists/list.h"
#include "schema/enum_names.h"

struct ek_scorer;

/* The model must outlive the scorer. */
int ek_scorer_new(struct ek_scorer **out, const struct ek_model *m, struct ek_error *e);
void ek_scorer_free(struct ek_scorer *s);

/* Whether `route_per_source` can be done for a list: it is whole, its items say their sources, and
 * the model is one of lists. */
bool ek_scorer_uses_sources(const struct ek_scorer *s, const struct ek_list *q);
/* scores [n]. treatment [K], by routable number; NULL routes nothing. Query shape must be the
 * model's, and `route_per_source` needs the sources of the items (EK_ESTATE); a part of a list
 * needs its mean (EK_EFORMAT: the list lacks it). Allocates only while lists grow. */
int ek_scorer_score(struct ek_scorer *s, const struct ek_list *q,
                    const struct ek_treatment *treatment, double *scores, struct ek_error *e);
/* The same for scores that are to be used: EK_ESTATE, too, when one is not a finite number. */
int ek_scorer_score_finite(struct ek_scorer *s, const struct ek_list *q,
                           const struct ek_treatment *treatment, double *scores,
                           struct ek_error *e);

#endif
