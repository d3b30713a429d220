/* Relevance of single features and similarity of feature pairs, the input of XGAS and HCAS.
 *
 *   relevance   NDCG@cutoff (gain 2^y - 1, lists without a positive label skipped) of ranking
 *               by the feature, in the better direction. Ties count as the mean over all
 *               orders (McSherry and Najork 2008), so a constant has the relevance of chance
 *   similarity  |Spearman's rho|, with midranks for ties, over all items, or as the mean over
 *               the lists in which both features vary
 *
 * Missing values rank last in both directions; for the similarity they have the middle rank.
 * Infinities rank by value. A feature without two distinct values is constant and has similarity 0.
 */
#ifndef EK_OFFLINE_SELECT_RELEVANCE_H
#define EK_OFFLINE_SELECT_RELEVANCE_H

#include "lists/dataset.h"

struct ek_relevance {
    double ndcg;   /* NaN if no list has a positive label */
    bool falling;  /* the lowest value ranks first */
    bool constant; /* over all items, without missing values */
};

enum ek_spearman { EK_SPEARMAN_ITEMS, EK_SPEARMAN_LISTS };

/* Set out [F] to the relevance of each item feature; cutoff 0 means none. Return 0, EK_ENOMEM, or
 * EK_EUSAGE if a label exceeds EK_LABEL_MAX. */
int ek_relevance_measure(const struct ek_dataset *d, int cutoff, struct ek_relevance *out,
                         struct ek_error *e);
/* Set likeness [F, F], symmetric, 1 on the diagonal, to the similarity of each pair. Return 0 or
 * EK_ENOMEM. */
int ek_similarity_measure(const struct ek_dataset *d, enum ek_spearman how, double *likeness,
                          struct ek_error *e);

#endif
