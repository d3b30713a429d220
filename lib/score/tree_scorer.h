/* Scores of tree models (assets/trees.h), equal in each bit to those of the library that trained
 * the model: LightGBM adds the leaves of all trees in double, XGBoost in float32. Not thread-safe;
 * scorers may share a model.
 */
#ifndef EK_SCORE_TREE_SCORER_H
#define EK_SCORE_TREE_SCORER_H

#include "assets/trees.h"
#include "lists/list.h"

struct ek_tree_scorer;

/* Create a scorer. The model must be bound to a manifest and outlive it. Return 0 or EK_ENOMEM. */
int ek_tree_scorer_new(struct ek_tree_scorer **out, const struct ek_trees *t);
void ek_tree_scorer_free(struct ek_tree_scorer *s);
/* Compute scores [n] of a list. x [n, F]: values of its items in place of those of the list, in
 * the precision of the message; NULL: the list's. */
void ek_tree_scorer_score(struct ek_tree_scorer *s, const struct ek_list *q, const double *x,
                          double *scores);

#endif
