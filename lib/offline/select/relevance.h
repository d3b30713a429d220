/* What a feature says alone, and how alike two features are: what XGAS and HCAS choose by.
 *
 *   relevance    NDCG@cutoff (gain 2^y - 1, lists without a positive label skipped) of ranking by
 *                the values of the feature, the better of both directions. Equal values are in any
 *                order: what counts is the mean over all orders (McSherry and Najork 2008), so a
 *                constant has the relevance of chance
 *   likeness     |Spearman's rho|, with middle ranks for equal values, over all items together, or
 *                as the mean over the lists in which both features vary
 *
 * Missing values rank last in both directions, and for the likeness in the middle: there they say
 * nothing. Infinities rank as they are. A feature without two different values anywhere is
 * constant: it is like nothing.
 * Shapes: F item features. Owner: all arrays are the caller's. Threads: no state.
 */
#ifndef EK_OFFLINE_SELECT_RELEVANCE_H
#define EK_OFFLINE_SELECT_RELEVANCE_H

#include "lists/dataset.h"

struct ek_relevance {
    double ndcg;   /* NaN when no list has a positive label */
    bool falling;  /* the lowest value is ranked first */
    bool constant; /* over all items, missing ones left out */
};

enum ek_spearman { EK_SPEARMAN_ITEMS, EK_SPEARMAN_LISTS };

/* out [F]. cutoff 0: none. EK_EUSAGE when a label is above EK_LABEL_MAX, EK_ENOMEM. */
int ek_relevance_measure(const struct ek_dataset *d, int cutoff, struct ek_relevance *out,
                         struct ek_error *e);
/* likeness [F, F], symmetric, 1 on the diagonal. EK_ENOMEM. */
int ek_similarity_measure(const struct ek_dataset *d, enum ek_spearman how, double *likeness,
                          struct ek_error *e);

#endif
