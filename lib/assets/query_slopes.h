/* Slopes of list levels on query features: the total price of a stay grows with its nights, so a
 * change of the requested nights is no change of scale.
 *
 * ln of the level moves by slope * (ln of the query value - its mean in training). Training decides
 * which features depend on which query features (offline/fit/query_slope_fit.h). A list whose value
 * is missing or outside the range of training has no level for the features that depend on it.
 * Immutable after loading; shareable between threads.
 */
#ifndef EK_ASSETS_QUERY_SLOPES_H
#define EK_ASSETS_QUERY_SLOPES_H

#include "assets/tensors.h"
#include "num/list_stats.h"

#include <stdint.h>

enum { EK_SLOPE_QUERIES_MAX = 16 };

struct ek_query_slopes {
    int features;                         /* A */
    int *feature;                         /* [A] item features, ascending */
    int queries;                          /* C */
    int query[EK_SLOPE_QUERIES_MAX];      /* [C] query features, ascending */
    float mean[EK_SLOPE_QUERIES_MAX];     /* [C] of ln in training */
    float low[EK_SLOPE_QUERIES_MAX];      /* [C] range of ln in training */
    float high[EK_SLOPE_QUERIES_MAX];     /* [C] */
    float (*slope)[EK_SLOPE_QUERIES_MAX]; /* [A, C] 0: independent */
};

/* Allocate a table of zeros for `features` dependent item features; the caller fills it. Return 0
 * or EK_ENOMEM. */
int ek_query_slopes_new(struct ek_query_slopes **out, int features);
/* Free a table. NULL is allowed. */
void ek_query_slopes_free(struct ek_query_slopes *t);
/* Subtract the effect of the query features, query [query features], from r in record [item
 * features]. A list with a value outside the range of training has no level and no spread of the
 * dependent features afterwards. */
void ek_query_slopes_apply(const struct ek_query_slopes *t, const float *query,
                           struct ek_list_stats *record);
/* Return the effect of the query features on the level of a feature (ln): 0 if it depends on none,
 * NAN outside the range of training. NULL: 0. */
double ek_query_slopes_of(const struct ek_query_slopes *t, const float *query, int feature);
/* Return a hash of the table, from `seed`. NULL: seed. */
uint64_t ek_query_slopes_hash(const struct ek_query_slopes *t, uint64_t seed);
/* Append the table to a profile file. NULL: nothing. Return 0 or EK_ENOMEM. */
int ek_query_slopes_write(const struct ek_query_slopes *t, struct ek_tensors *file);
/* Read the table of a profile of `features` item features; the caller frees *out, which is NULL if
 * the file has none. Return 0, EK_ENOMEM, or EK_EFORMAT for features out of order and numbers that
 * are not finite. */
int ek_query_slopes_read(struct ek_query_slopes **out, const struct ek_tensors *file, int features,
                         struct ek_error *e);

#endif
