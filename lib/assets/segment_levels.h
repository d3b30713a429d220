/* Levels of segments: how far the lists of a segment value are from their stratum in training (ln),
 * by dimension and value, for features whose values differ.
 *
 * The levels of several dimensions add up, and the fit (offline/fit/segment_level_fit.h) counts a
 * difference that two dimensions share only once. A list without a known value in a dimension in
 * which a feature has levels has no level of that feature. Immutable after loading; shareable
 * between threads.
 */
#ifndef EK_ASSETS_SEGMENT_LEVELS_H
#define EK_ASSETS_SEGMENT_LEVELS_H

#include "assets/tensors.h"
#include "base/json.h"
#include "base/text.h"
#include "lists/list.h"
#include "num/list_stats.h"
#include "yaml/json_parse.h"

#include <stdbool.h>

/* Bounds of the table: dimensions, and values of each. */
enum { EK_SEGMENT_LEVEL_DIMENSIONS_MAX = 4, EK_SEGMENT_LEVEL_VALUES_MAX = 256 };

struct ek_segment_levels {
    int dimensions; /* D; one without levels differs only as much as the others explain */
    char *dimension[EK_SEGMENT_LEVEL_DIMENSIONS_MAX];
    int first[EK_SEGMENT_LEVEL_DIMENSIONS_MAX + 1]; /* values of each dimension; the last is V */
    char **value;                                   /* [V] ascending within a dimension */
    int features;                                   /* A */
    int *feature;                                   /* [A] item features, ascending */
    float *level;                                   /* [V, A] ln; NaN: none */
    bool *has;                                      /* [D, A] whether a feature has levels */
};

/* Allocate a table without names and levels for `dimensions` dimensions, `values` values in total
 * and `features` features. The caller fills all but `has`, then calls ek_segment_levels_index.
 * Return 0 or EK_ENOMEM. */
int ek_segment_levels_new(struct ek_segment_levels **out, int dimensions, int values, int features);
/* Free a table. NULL is allowed. */
void ek_segment_levels_free(struct ek_segment_levels *t);
/* Compute `has` from the levels. Call once, before the functions below. */
void ek_segment_levels_index(struct ek_segment_levels *t);
/* Return whether `name` is a dimension of the table. NULL: false. */
bool ek_segment_levels_differ(const struct ek_segment_levels *t, const char *name);
/* Return whether an item feature has levels in a dimension. */
bool ek_segment_levels_has(const struct ek_segment_levels *t, int dimension, int item_feature);
/* Return the number of features with levels in a dimension. */
int ek_segment_levels_features(const struct ek_segment_levels *t, int dimension);
/* Return the row of a value of dimension 0 .. D-1 in `level`, or -1 if it is unknown. */
int ek_segment_levels_find(const struct ek_segment_levels *t, int dimension, struct ek_text value);
/* Subtract the level of a feature from r of its record. feature: 0 .. A-1; row [D]: rows of the
 * list's values, -1: unknown. Return true if the list has a level; otherwise the record has no r
 * and no spread afterwards. */
bool ek_segment_levels_subtract(const struct ek_segment_levels *t, const int *row, int feature,
                                struct ek_list_stats *record);
/* Subtract the levels of a list's segments from r in record [item features]. Return true if the
 * list has a level of each feature of the table; records without one have no r and no spread
 * afterwards. */
bool ek_segment_levels_apply(const struct ek_segment_levels *t, const struct ek_list *q,
                             struct ek_list_stats *record);
/* Return the level of an item feature for a list: 0 if it has none in the table, NaN if a value is
 * unknown. NULL: 0. */
double ek_segment_levels_of(const struct ek_segment_levels *t, const struct ek_list *q,
                            int item_feature);
/* Return a hash of the table, from `seed`. NULL: seed. */
uint64_t ek_segment_levels_hash(const struct ek_segment_levels *t, uint64_t seed);

/* Append the names of dimensions and values to the description of a profile. NULL: nothing. Errors
 * are in w->rc. */
void ek_segment_levels_describe(const struct ek_segment_levels *t, struct ek_json_writer *w);
/* Append the levels to a profile file. NULL: nothing. Return 0 or EK_ENOMEM. */
int ek_segment_levels_write(const struct ek_segment_levels *t, struct ek_tensors *file);
/* Read the table of a profile of `features` item features; the caller frees *out, which is NULL if
 * the description has none. Return 0, EK_ENOMEM, or EK_EFORMAT for names or features out of order
 * and levels that are not finite. */
int ek_segment_levels_read(struct ek_segment_levels **out, yyjson_val *description,
                           const struct ek_tensors *file, int features, struct ek_error *e);

#endif
