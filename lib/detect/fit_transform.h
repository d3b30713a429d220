/* Explanations of a change of the spread: which transformation of the values makes the lists look
 * like training again.
 *
 * Each explanation turns what a list says (its absolute level, its spread) back into what it would
 * have been, and is worth the ln likelihood of that under training against that of the lists as
 * they are: the density of the residual against the list's stratum times a normal law of the
 * spread, per size of list, both with a little of a uniform so that no single list decides. A power
 * moves a list in proportion to its level, an offset the less the higher it is, a change of shape
 * not at all; where only some items are on another scale neither level nor spread know of the
 * stratum. Penalised by half a ln(lists) per free number (Schwarz 1978).
 */
#ifndef EK_DETECT_FIT_TRANSFORM_H
#define EK_DETECT_FIT_TRANSFORM_H

#include "assets/residual_grid.h"
#include "num/list_stats.h"

enum { EK_EXPLAIN_LISTS = 192 };

/* What the newest lists say. */
struct ek_fit_target {
    const float *density;
    int lists;
    double level[EK_EXPLAIN_LISTS];   /* ln, of the values as they are */
    double usual[EK_EXPLAIN_LISTS];   /* ln, what training expects of the list */
    double move[EK_EXPLAIN_LISTS];    /* ln spread over the usual; NaN: no spread is known */
    double sd[EK_EXPLAIN_LISTS];      /* of that in training */
    double spread[EK_EXPLAIN_LISTS];  /* sd of the ln values; a typical one where none is known */
    double typical[EK_EXPLAIN_LISTS]; /* that in training */
    int items[EK_EXPLAIN_LISTS];      /* values */
    double inv_sd[EK_EXPLAIN_LISTS];  /* 1 / sd */
    double peak[EK_EXPLAIN_LISTS];    /* of the law of the spread */
    double normal[EK_EXPLAIN_LISTS];  /* density in training of the list as it is */
};

struct ek_explanation {
    double worth; /* ln likelihood ratio less the penalty */
    double value; /* exponent, what was added, ratio of spreads, share of items */
    double share; /* of the lists */
};

/* Fills `inv_sd`, `peak` and `normal` from the rest. */
void ek_fit_target_prepare(struct ek_fit_target *t);

/* about_ln: where the ln of the factor is looked for. */
struct ek_explanation ek_explain_scale(const struct ek_fit_target *t, double about_ln);
struct ek_explanation ek_explain_power(const struct ek_fit_target *t);
struct ek_explanation ek_explain_offset(const struct ek_fit_target *t);
struct ek_explanation ek_explain_shape(const struct ek_fit_target *t);
/* Each item is hit with the same probability (value) and multiplied by the same factor. Lists of
 * the same number of items and the same training have the same `typical` and `sd`. */
struct ek_explanation ek_explain_items(const struct ek_fit_target *t);

/* The law of the spread: a normal one, and some lists that follow none. */
#define EK_UNEXPLAINED  .02 /* of the lists */
#define EK_SPREAD_RANGE 8.  /* ln, over which those are spread evenly */
#define EK_SPREAD_PEAK  ((1 - EK_UNEXPLAINED) * .39894228040143268) /* times 1 / sd */

#endif
