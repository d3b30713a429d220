/* Columns of a table that holds some of the item features of a profile: numbers of features,
 * ascending. */
#ifndef EK_ASSETS_FEATURE_COLUMNS_H
#define EK_ASSETS_FEATURE_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

/* Return the column of a feature among column [count], or -1. */
static inline int ek_feature_columns_find(const int *column, int count, int feature)
{
    for (int a = 0; a < count; a++)
        if (column[a] == feature)
            return a;
    return -1;
}

/* Copy the columns of a file to column [count]. Return false, with column undefined, unless they
 * ascend below `features`. */
static inline bool ek_feature_columns_read(int *column, const uint64_t *file, int count,
                                           int features)
{
    for (int a = 0; a < count; a++) {
        if (file[a] >= (uint64_t)features || (a && file[a] <= file[a - 1]))
            return false;
        column[a] = (int)file[a];
    }
    return true;
}

/* Copy column [count] to those of a file. */
static inline void ek_feature_columns_write(const int *column, int count, uint64_t *file)
{
    for (int a = 0; a < count; a++)
        file[a] = (uint64_t)column[a];
}

#endif
