#include "base/sort.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_value_descending(const void *a, const void *b)
{
    return by_value(b, a);
}

void ek_sort_doubles(double *x, size_t count)
{
    qsort(x, count, sizeof *x, by_value);
}

void ek_sort_doubles_descending(double *x, size_t count)
{
    qsort(x, count, sizeof *x, by_value_descending);
}
