/* State of the profile fit (profile_fit.h): training lists, strata and the fits of each feature,
 * shared by its source files. */
#ifndef EK_OFFLINE_FIT_PROFILE_FIT_INTERNAL_H
#define EK_OFFLINE_FIT_PROFILE_FIT_INTERNAL_H

#include "detect/category.h"
#include "detect/list_stats_builder.h"
#include "offline/fit/category_fit.h"
#include "offline/fit/item_level_fit.h"
#include "offline/fit/known_fit.h"
#include "offline/fit/profile_fit.h"
#include "offline/fit/query_slope_fit.h"
#include "offline/fit/stratum_fit.h"

/* Segment values whose lists are looked at by themselves. */
enum { EK_FIT_DIMENSIONS = EK_FIT_VIEWS - 2, EK_FIT_VALUES_MAX = 256 };

struct ek_profile_fit {
    const struct ek_manifest *manifest;
    struct ek_stratum_field field;
    char *field_name; /* memory of field.name; NULL: one stratum */
    int features;     /* W of the manifest */
    size_t queries, capacity;
    uint64_t items;
    struct ek_list_stats *record; /* [capacity, features] */
    int64_t *time_ms;             /* [capacity] -1: unknown */
    struct ek_segment_values {
        char *name, *value[EK_FIT_VALUES_MAX];
        int values;
        int16_t *of; /* [capacity] number of the value, -1: none */
    } dimension[EK_FIT_DIMENSIONS];
    int dimensions;
    int *stratum; /* [capacity] in order of appearance; 0 without the field */
    char **name;  /* [names]; name[0] is "" */
    int names;
    bool keep;   /* store the lists in the profile */
    bool merged; /* has lists without their items */
    float *pivot;
    struct ek_list_moments *sums;
    struct ek_sketch_set *sketches;    /* item features */
    struct ek_sketch **query_sketches; /* [W - F] watched query features */
    struct ek_category_fit **category; /* [features]; NULL: not a category */
    struct ek_category_list list;
    struct ek_known_fit *known;
    struct ek_item_level_fit *item_levels;
    struct ek_query_slope_fit *query_slopes;
};

/* Return whether the name of a stratum or segment can be stored as a JSON string. */
bool ek_profile_fit_is_storable(struct ek_text name);
/* Set *stratum to the number of a stratum, adding it if it is new; 0 for the empty name. Return 0,
 * EK_ELIMIT beyond EK_STRATA_MAX strata, or EK_ENOMEM. */
int ek_profile_fit_stratum(struct ek_profile_fit *fit, struct ek_text name, int *stratum,
                           struct ek_error *e);

#endif
