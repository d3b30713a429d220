/* Distillation of an upstream scorer into a routable model with the same ranking: labels from its
 * scores, storage of the scores, and agreement of a model with them.
 *
 * Labels: y = log2(1 + exp(s - highest s of the list)). The gain 2^y - 1 is then exp(s - max), and
 * the target of ListNet is the softmax of the scores. The trained model scores on the upstream
 * scale, up to a constant per list. Labels are in (0, 1]; far below the highest score they become
 * 0.
 */
#ifndef EK_OFFLINE_TRAIN_DISTILLATION_H
#define EK_OFFLINE_TRAIN_DISTILLATION_H

#include "assets/model.h"
#include "lists/dataset.h"
#include "lists/list.h"

/* Set the labels of a list from its upstream scores. Return 0, or EK_EFORMAT with the labels
 * unchanged if a score is missing or not finite. */
int ek_distill(struct ek_list *q, struct ek_error *e);

/* Upstream scores of all items of a dataset [N]. {0} is empty. */
struct ek_upstream_scores {
    double *value;
    size_t count, capacity;
};

/* Append copies of the scores of a list. Return 0, or EK_ENOMEM without a change. */
int ek_upstream_scores_add(struct ek_upstream_scores *s, const struct ek_list *q);
void ek_upstream_scores_release(struct ek_upstream_scores *s);

/* Score every list of `d`, compare with `upstream`, which must have a score for each item, and set
 * *out to the mean agreement. treatment [K]; NULL means the fixed routing of training, if any, else
 * none. Lists without information (agreement.h) are skipped. Return 0, EK_ENOMEM, or EK_ESTATE if
 * the model is for other features. */
int ek_model_agreement_measure(const struct ek_model *m, const struct ek_dataset *d,
                               const struct ek_upstream_scores *upstream,
                               const struct ek_treatment *treatment, struct ek_model_agreement *out,
                               struct ek_error *e);

#endif
