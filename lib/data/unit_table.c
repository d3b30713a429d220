#include "data/unit_table.h"

static const struct ek_unit UNITS[] = {
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
    {"hours_to_minutes", 60},
    {"minutes_to_hours", 1 / 60.0},
    {"hours_to_seconds", 3600},
    {"seconds_to_hours", 1 / 3600.0},
    {"days_to_hours", 24},
    {"hours_to_days", 1 / 24.0},
    {"weeks_to_days", 7},
    {"days_to_weeks", 1 / 7.0},
};

const struct ek_unit *ek_unit_table(size_t *count)
{
    *count = sizeof UNITS / sizeof *UNITS;
    return UNITS;
}
