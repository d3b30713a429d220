/* Scores of another model as labels, so that a routable model can learn to rank like it.
 *
 * y = log2(1 + exp(s - the list's highest s)): the gain 2^y - 1 is then exp(s - max), and ListNet's
 * target the softmax of the scores. A model that has learned it scores on the teacher's scale, up
 * to a constant per list. Labels lie in (0, 1]; far below the highest score they become 0.
 */
#ifndef EK_OFFLINE_TEACHER_H
#define EK_OFFLINE_TEACHER_H

#include "lists/query.h"

/* Sets the labels of a list from its upstream scores. EK_EFORMAT when a score is absent or not
 * finite; the labels are then untouched. */
int ek_teach(struct ek_query *q, struct ek_error *e);

#endif
