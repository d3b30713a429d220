/* Finding classes, actions and modes with their names. Numbers are part of no file format; files
 * contain the names. */
#ifndef EK_SCHEMA_ENUM_NAMES_H
#define EK_SCHEMA_ENUM_NAMES_H

#include <stdbool.h>
#include <stddef.h>

enum ek_class {
    EK_CLASS_NONE,
    EK_SCALE,
    EK_POWER,
    EK_OFFSET,
    EK_ITEMS,
    EK_MISSING,
    EK_ZERO,
    EK_SIGN,
    EK_STUCK,
    EK_CLIP,
    EK_SHAPE,
    EK_NEW_CATEGORY,
    EK_CLASS_COUNT
};

enum ek_action {
    EK_ACT_NONE,
    EK_ACT_ALERT,
    EK_ACT_ROUTE,            /* deep path off, wide path on */
    EK_ACT_ROUTE_NORMALIZED, /* as ROUTE, with z divided by the spread ratio */
    EK_ACT_REPAIR,           /* the value divided by the factor */
    EK_ACT_BLANK,            /* z = 0, deep path off */
    EK_ACT_ROUTE_PER_SOURCE, /* as ROUTE, with logs centered among the items of one source */
    EK_ACT_FILL,             /* lost values replaced by a typical one; in features only */
    EK_ACT_AUTO,             /* in rules only: the action that suits the finding */
    EK_ACTION_COUNT
};

enum ek_mode { EK_MODE_OBSERVE, EK_MODE_SHADOW, EK_MODE_CANARY, EK_MODE_ENFORCE, EK_MODE_COUNT };

/* Return the name of a finding class, a static string: "scale", "power", ... */
const char *ek_class_name(enum ek_class c);
/* Return the name of an action, a static string: "none", "route", ... */
const char *ek_action_name(enum ek_action a);
/* Return the name of a mode, a static string: "observe", "shadow", ... */
const char *ek_mode_name(enum ek_mode m);
/* Return the class (enum ek_class) with this name, or -1. */
int ek_class_parse(const char *text);
/* Return the action (enum ek_action) with this name, or -1. */
int ek_action_parse(const char *text);
/* Return the mode (enum ek_mode) with this name, or -1. */
int ek_mode_parse(const char *text);

/* Return true if faults of the class change values by an invertible function. */
bool ek_class_inverts(int c);
/* Return true if faults of the class replace values, so that only a fill helps. */
bool ek_class_loses(int c);
/* Return true if the action changes scores or feature values. */
bool ek_action_treats(enum ek_action a);
/* Return true if the action is a route. */
bool ek_action_routes(enum ek_action a);
/* Return true if the action masks the deep path of a feature. */
bool ek_action_masks(enum ek_action a);
/* Return true if the mode changes outputs. */
bool ek_mode_acts(enum ek_mode m);

/* Treatment of one routable feature of one list. `value` is the spread ratio rho for
 * EK_ACT_ROUTE_NORMALIZED and the factor c for EK_ACT_REPAIR, else unused. */
struct ek_treatment {
    enum ek_action action;
    double value;
};

/* Feature transforms applied before training, and their names. Numbers are part of no file format;
 * files contain the names. Formulas: offline/scale/scaling.h and docs/normalize.md. */

enum ek_transform_kind {
    EK_SCALE_NONE, /* unchanged, or not set */
    EK_SCALE_MINMAX,
    EK_SCALE_LOG,
    EK_SCALE_LOG_REVERSED,
    EK_SCALE_ARCTAN,
    EK_SCALE_ZSCORE,
    EK_SCALE_CDF,
    EK_SCALE_LOG1P,
    EK_SCALE_MERGE, /* min-max, log and arctan side by side */
    EK_SCALE_COUNT
};

/* Return the names [EK_SCALE_COUNT] in enum order, a static array. */
const char *const *ek_transform_kind_names(void);
/* Return the name of a transform, a static string. */
const char *ek_transform_kind_name(enum ek_transform_kind s);

#endif
