/* What category.c and category_state.c share. */
#ifndef EK_DETECT_CATEGORY_INTERNAL_H
#define EK_DETECT_CATEGORY_INTERNAL_H

#include "detect/category.h"
#include "detect/history.h"

/* What is remembered of a list: the heaviest unknown values, then the heaviest of the others. */
struct ek_category_row {
    float unknown; /* share of values that training did not have */
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

/* One category feature. */
struct ek_category {
    int feature;
    const struct ek_category_table *table;
    float *bound;                              /* [S] of the share of unknown values */
    int heavy[EK_CATEGORY_HEAVY], heavy_count; /* values that would be missed */
    struct ek_category_list list;
    struct ek_category_row *row;           /* [EK_HISTORY] */
    struct ek_category_row *now;           /* of the last list */
    struct ek_category_evidence *evidence; /* [cells] */
    float *mean; /* [cells, V] times scale: the share a value lately had in the cell */
};

struct ek_categories {
    int count, capacity;
    int features, *number;  /* [features] -1: no category */
    struct ek_category *of; /* [count] */
};

/* The least and the most that a value's share usually is, by training in the stratum and by what it
 * lately was in the cell; 0 for a value (-1) that training did not have. */
struct ek_category_usual {
    float least, most;
};
struct ek_category_usual ek_category_usual(const struct ek_category *k, int cell, int value,
                                           int stratum);

static inline const struct ek_category_row *ek_category_row_at(const struct ek_category *k,
                                                               uint64_t row)
{
    return &k->row[row % EK_HISTORY];
}

#endif
