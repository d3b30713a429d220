#include "decide/units.h"

#include "data/unit_table.h"

#include <math.h>
#include <stddef.h>

static const double ERRORS = 2.5, TOLERANCE_LN = .03;

int ek_units_match(double shift_ln, double error_ln, const char **ids)
{
    double distance[EK_UNIT_MATCHES], reach = fmax(ERRORS * error_ln, TOLERANCE_LN);
    size_t known;
    const struct ek_unit *units = ek_unit_table(&known);
    int count = 0;
    for (size_t i = 0; i < known; i++) {
        double d = fabs(shift_ln - log(units[i].factor));
        if (d > reach || (count == EK_UNIT_MATCHES && d >= distance[count - 1]))
            continue;
        int at = count < EK_UNIT_MATCHES ? count++ : count - 1;
        for (; at > 0 && distance[at - 1] > d; at--) {
            distance[at] = distance[at - 1];
            ids[at] = ids[at - 1];
        }
        distance[at] = d;
        ids[at] = units[i].id;
    }
    return count;
}
