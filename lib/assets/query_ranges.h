/* Ranges of the query features in training: a list with a value far outside asks for something that
 * training did not contain, or its unit has changed. Plain value; a count of 0 means unknown. */
#ifndef EK_ASSETS_QUERY_RANGES_H
#define EK_ASSETS_QUERY_RANGES_H

#include "assets/tensors.h"
#include "base/error.h"

enum { EK_QUERY_RANGES_MAX = 16 };

struct ek_query_ranges {
    int count;
    int query[EK_QUERY_RANGES_MAX];                            /* ascending */
    float low[EK_QUERY_RANGES_MAX], high[EK_QUERY_RANGES_MAX]; /* of positive values */
};

/* Return the first query feature whose value in query [query features] is positive and outside its
 * range, or -1. */
int ek_query_ranges_find_outside(const struct ek_query_ranges *r, const float *query);
/* Append the ranges to a profile file, nothing if there are none. Return 0 or EK_ENOMEM. */
int ek_query_ranges_write(const struct ek_query_ranges *r, struct ek_tensors *file);
/* Set *r to the ranges in a profile file, none if it has none. Return 0, or EK_EFORMAT for features
 * out of order and numbers that no training gives. */
int ek_query_ranges_read(struct ek_query_ranges *r, const struct ek_tensors *file,
                         struct ek_error *e);

#endif
