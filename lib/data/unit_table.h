/* The conversions of units that are known by name: what rules may list and findings may be called.
 *
 * Factors are what the values are multiplied by; positive, never 1. Ids are unique.
 */
#ifndef EK_DATA_UNIT_TABLE_H
#define EK_DATA_UNIT_TABLE_H

#include <stddef.h>

struct ek_unit {
    const char *id;
    double factor;
};

/* All of them; *count tells how many. */
const struct ek_unit *ek_unit_table(size_t *count);

#endif
