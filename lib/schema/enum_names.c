#include "schema/enum_names.h"

#include <string.h>

static const char *const CLASSES[EK_CLASS_COUNT] = {"none",  "scale",   "power", "offset",
                                                    "items", "missing", "zero",  "sign",
                                                    "stuck", "clip",    "shape", "new_category"};
static const char *const ACTIONS[EK_ACTION_COUNT] = {
    "none", "alert", "route", "route_normalized", "repair", "blank", "route_per_source",
    "fill", "auto"};
static const char *const MODES[EK_MODE_COUNT] = {"observe", "shadow", "canary", "enforce"};

static int find(const char *const *words, int count, const char *text)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(words[i], text))
            return i;
    return -1;
}

const char *ek_class_name(enum ek_class c)
{
    return CLASSES[c];
}

const char *ek_action_name(enum ek_action a)
{
    return ACTIONS[a];
}

const char *ek_mode_name(enum ek_mode m)
{
    return MODES[m];
}

int ek_class_parse(const char *text)
{
    return find(CLASSES, EK_CLASS_COUNT, text);
}

int ek_action_parse(const char *text)
{
    return find(ACTIONS, EK_ACTION_COUNT, text);
}

int ek_mode_parse(const char *text)
{
    return find(MODES, EK_MODE_COUNT, text);
}

bool ek_class_inverts(int class)
{
    return class == EK_SCALE || class == EK_POWER || class == EK_OFFSET || class == EK_ITEMS ||
           class == EK_SIGN;
}

bool ek_class_loses(int class)
{
    return class == EK_MISSING || class == EK_ZERO || class == EK_STUCK;
}

bool ek_action_treats(enum ek_action a)
{
    return a != EK_ACT_NONE && a != EK_ACT_ALERT;
}

bool ek_action_routes(enum ek_action a)
{
    return a == EK_ACT_ROUTE || a == EK_ACT_ROUTE_NORMALIZED || a == EK_ACT_ROUTE_PER_SOURCE;
}

bool ek_action_masks(enum ek_action a)
{
    return ek_action_routes(a) || a == EK_ACT_BLANK;
}

bool ek_mode_acts(enum ek_mode m)
{
    return m >= EK_MODE_CANARY;
}

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
