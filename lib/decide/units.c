#include "decide/units.h"

#include <math.h>
#include <stddef.h>

static const double ERRORS = 2.5, TOLERANCE_LN = .03;

static const struct unit {
    const char *id;
    double factor;
} UNITS[] = {
    {"cents", 100},
    {"from_cents", .01},
    {"thousands", 1000},
    {"from_thousands", 1e-3},
    {"tenfold", 10},
    {"tenth", .1},
    {"double", 2},
    {"half", .5},
    {"mi_to_km", 1.609344},
    {"km_to_mi", 1 / 1.609344},
    {"ft_to_m", .3048},
    {"m_to_ft", 1 / .3048},
    {"lb_to_kg", .45359237},
    {"kg_to_lb", 1 / .45359237},
    {"minutes_to_seconds", 60},
    {"seconds_to_minutes", 1 / 60.0},
    {"hours_to_seconds", 3600},
    {"seconds_to_hours", 1 / 3600.0},
    {"days_to_hours", 24},
    {"hours_to_days", 1 / 24.0},
    {"weeks_to_days", 7},
    {"days_to_weeks", 1 / 7.0},
};

int ek_units_match(double shift_ln, double error_ln, const char **ids)
{
    double distance[EK_UNIT_MATCHES], reach = fmax(ERRORS * error_ln, TOLERANCE_LN);
    int count = 0;
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++) {
        double d = fabs(shift_ln - log(UNITS[i].factor));
        if (d > reach || (count == EK_UNIT_MATCHES && d >= distance[count - 1]))
            continue;
        int at = count < EK_UNIT_MATCHES ? count++ : count - 1;
        for (; at > 0 && distance[at - 1] > d; at--) {
            distance[at] = distance[at - 1];
            ids[at] = ids[at - 1];
        }
        distance[at] = d;
        ids[at] = UNITS[i].id;
    }
    return count;
}
