/* The words of the contract as numbers: classes of findings, actions, modes; and their spelling.
 *
 * The order is part of no file format: files carry the spelling.
 */
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
    EK_ACT_ROUTE_NORMALIZED, /* the same with z divided by the spread ratio */
    EK_ACT_REPAIR,           /* the value divided by the factor */
    EK_ACT_BLANK,            /* z = 0, deep path off */
    EK_ACT_ROUTE_PER_SOURCE, /* routed, with logs centred among the items of one source */
    EK_ACTION_COUNT
};

enum ek_mode { EK_MODE_OBSERVE, EK_MODE_SHADOW, EK_MODE_CANARY, EK_MODE_ENFORCE, EK_MODE_COUNT };

const char *ek_class_name(enum ek_class c);
const char *ek_action_name(enum ek_action a);
const char *ek_mode_name(enum ek_mode m);
/* -1 when there is no such word. Text is terminated. */
int ek_class_parse(const char *text);
int ek_action_parse(const char *text);
int ek_mode_parse(const char *text);

/* Return whether an action changes scores. */
bool ek_action_treats(enum ek_action a);
/* Return whether an action is one of the routes. */
bool ek_action_routes(enum ek_action a);
/* Return whether an action closes the deep path of a feature, which the model's mask says. */
bool ek_action_masks(enum ek_action a);
/* Return whether the output of lists changes in a mode. */
bool ek_mode_acts(enum ek_mode m);

/* What is done to one routable feature of one list. `value` is the spread ratio rho for
 * EK_ACT_ROUTE_NORMALIZED and the factor c for EK_ACT_REPAIR, else unused. */
struct ek_treatment {
    enum ek_action action;
    double value;
};

#endif
