#include "schema/transform_names.h"

static const char *const NAMES[] = {
    [EK_SCALE_NONE] = "none",     [EK_SCALE_MINMAX] = "minmax",
    [EK_SCALE_LOG] = "log",       [EK_SCALE_LOG_REVERSED] = "log_reversed",
    [EK_SCALE_ARCTAN] = "arctan", [EK_SCALE_ZSCORE] = "zscore",
    [EK_SCALE_CDF] = "cdf",       [EK_SCALE_LOG1P] = "log1p",
    [EK_SCALE_MERGE] = "merge",
};

const char *const *ek_transform_kind_names(void)
{
    return NAMES;
}

const char *ek_transform_kind_name(enum ek_transform_kind s)
{
    return NAMES[s];
}
