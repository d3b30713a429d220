/* Default units, generated from rules/units.yaml by deploy/unit_table.c. */
#include "schema/units.h"

static const struct ek_unit UNITS[] = {
#include "units_built_in.inc"
};

const struct ek_unit *ek_units_built_in(size_t *count)
{
    *count = sizeof UNITS / sizeof *UNITS;
    return UNITS;
}
