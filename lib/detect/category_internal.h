/* State of the evidence on category features (category.h): tracked values, rows and cells, shared
 * by category.c and detector_state.c. */
#ifndef EK_DETECT_CATEGORY_INTERNAL_H
#define EK_DETECT_CATEGORY_INTERNAL_H

#include "detect/category.h"
#include "detect/history.h"

/* The heaviest values of a list: unknown values first, then known ones. */
struct ek_category_row {
    float unknown; /* share of values unknown to training */
    uint16_t stratum;
    uint8_t count;
    struct ek_category_share top[EK_CATEGORY_TOP];
};

struct ek_category_evidence {
    float unknown[2], gone[EK_CATEGORY_HEAVY];
    float r[EK_CATEGORY_SLOTS], value[EK_CATEGORY_SLOTS]; /* value NaN: free */
    float scale;                                          /* of the cell's means */
    uint32_t lists;
};

struct ek_category {
    int feature;
    float power; /* of the bets: 1 / design effect */
    const struct ek_category_table *table;
    float *bound;                              /* [S] bound of the share of unknown values */
    int heavy[EK_CATEGORY_HEAVY], heavy_count; /* values frequent enough to detect their absence */
    struct ek_category_list list;
    struct ek_category_row *row;           /* [EK_HISTORY] */
    struct ek_category_row *now;           /* row of the last list */
    struct ek_category_evidence *evidence; /* [cells] */
    float *mean; /* [cells, V] recent share of each value in the cell, divided by `scale` */
};

struct ek_categories {
    int count, capacity;
    int features, *number;  /* [features] index in `of`; -1: not a category */
    struct ek_category *of; /* [count] */
};

/* Minimum and maximum of a value's share in training (in the stratum) and recently in the cell.
 * Both are 0 for an unknown value (-1). */
struct ek_category_usual {
    float least, most;
};

/* Return row `row` of the history, which must be one of the last EK_HISTORY, valid until it is
 * overwritten. */
static inline const struct ek_category_row *ek_category_row_at(const struct ek_category *k,
                                                               uint64_t row)
{
    return &k->row[row % EK_HISTORY];
}

#endif
