/* Fit of query slopes (assets/query_slopes.h), and the choice of the features that use them.
 *
 * Least squares of ln of a list's level on ln of the query features, within strata, by forward
 * selection. A slope is kept if it moves the level by more than the smallest dead band over the
 * usual range of the query feature, is far beyond its error, and is the same in both halves of
 * training.
 */
#ifndef EK_OFFLINE_FIT_QUERY_SLOPE_FIT_H
#define EK_OFFLINE_FIT_QUERY_SLOPE_FIT_H

#include "assets/profile.h"

struct ek_query_slope_fit;

/* Create a fit for the query features of a manifest, which is not kept: the first
 * EK_SLOPE_QUERIES_MAX that are numbers. Return 0 or EK_ENOMEM. */
int ek_query_slope_fit_new(struct ek_query_slope_fit **out, const struct ek_manifest *m);
/* Free a fit. NULL is allowed. */
void ek_query_slope_fit_free(struct ek_query_slope_fit *fit);
/* Add a copy of the query features of the next list of training. Return 0 or EK_ENOMEM. */
int ek_query_slope_fit_add(struct ek_query_slope_fit *fit, const struct ek_list *q);
/* Set *out to the ranges of the query features, without those of few lists. Return 0 or
 * EK_ENOMEM. */
int ek_query_slope_fit_ranges(const struct ek_query_slope_fit *fit, struct ek_query_ranges *out);
/* Measure means and ranges after the last list, for lists of `strata` strata. Call it once, before
 * the functions below. Return 0 or EK_ENOMEM. */
int ek_query_slope_fit_prepare(struct ek_query_slope_fit *fit, int strata);
/* Fit the slopes of a column of levels x [queries of the fit], NaN for lists without one, and
 * subtract their effect from it. stratum [queries] is below the number of strata. Set slope to one
 * number per query feature of the fit, 0: independent. Return true if any is not 0. */
bool ek_query_slope_fit_column(struct ek_query_slope_fit *fit, double *x, const int *stratum,
                               float slope[EK_SLOPE_QUERIES_MAX]);
/* Fit the slopes of all item features, subtract their effect from r in record [queries of the fit,
 * features], and set *out to the table, NULL if no feature has slopes; the caller frees it. Watched
 * query features have none: their own change must not explain them. Return 0 or EK_ENOMEM.
 */
int ek_query_slope_fit_finish(struct ek_query_slope_fit *fit, struct ek_list_stats *record,
                              int features, const int *stratum, struct ek_query_slopes **out);

#endif
