/* Sorting of numbers. NaN is not allowed. */
#ifndef EK_BASE_SORT_H
#define EK_BASE_SORT_H

#include <stddef.h>

/* Sort x [count] ascending. */
void ek_sort_doubles(double *x, size_t count);
/* Sort x [count] descending. */
void ek_sort_doubles_descending(double *x, size_t count);

#endif
