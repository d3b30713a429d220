/* Scores of another model as labels, so that a routable model can learn to rank like it.
 *
 * y = log2(1 + exp(s - the list's highest s)): the gain 2^y - 1 is then exp(s - max), and ListNet's
 * target the softmax of the scores. A model that has learned it scores on the teacher's scale, up
 * to a constant per list. Labels lie in (0, 1]; far below the highest score they become 0.
 */
#ifndef EK_OFFLINE_TRAIN_DISTILLATION_H
#define EK_OFFLINE_TRAIN_DISTILLATION_H

#include "assets/model.h"
#include "lists/dataset.h"
#include "lists/list.h"

/* Sets the labels of a list from its upstream scores. EK_EFORMAT when a score is absent or not
 * finite; the labels are then untouched. */
int ek_distill(struct ek_list *q, struct ek_error *e);

/* How faithful a model is to the scorer whose lists are at hand: the report after training with a
 * teacher, and that of a model beside captured messages.
 *
 * Owner: the caller. Threads: no state.
 */
/* Upstream scores of all items of a dataset, as they came: [N]. {0} is empty. */
struct ek_upstream_scores {
    double *value;
    size_t count, capacity;
};

/* Appends those of a list. EK_ENOMEM. */
int ek_upstream_scores_add(struct ek_upstream_scores *s, const struct ek_list *q);
void ek_upstream_scores_release(struct ek_upstream_scores *s);

/* Scores every list of `d` and compares with `upstream`, which has a score for each item.
 * treatment [K]; NULL: as the model was trained, which is nothing routed unless it was a fixed
 * choice. Lists that say nothing (score/agreement.h) are left out. EK_ESTATE when the model is for
 * other features, EK_ENOMEM. */
int ek_model_agreement_measure(const struct ek_model *m, const struct ek_dataset *d,
                               const struct ek_upstream_scores *upstream,
                               const struct ek_treatment *treatment, struct ek_model_agreement *out,
                               struct ek_error *e);

#endif
