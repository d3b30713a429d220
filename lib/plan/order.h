/* Operator command for a guard or a fleet, from the API to the controller. Pins and plan records
 * contain commands too. Strings are views. */
#ifndef EK_PLAN_ORDER_H
#define EK_PLAN_ORDER_H

#include "base/error.h"
#include "base/text.h"
#include "plan/decisions.h"
#include "schema/manifest.h"
#include "schema/enum_names.h"

struct ek_controller;

/* Identity of a command in a fleet. */
struct ek_order_id {
    struct ek_text instance; /* receiving instance */
    uint64_t start, number;  /* start of its run; number in that run, from 1 */
};

struct ek_order {
    struct ek_order_id id;       /* in a fleet only */
    enum ek_decision_kind kind;  /* EK_DECIDED_PIN, _UNPIN, _PAUSE, _RESUME, _ACCEPT, _REVERT */
    const char *feature;         /* NULL: all features (pause, resume), or a revert */
    const char *segment, *value; /* segment NULL: all traffic; value may be EK_SEGMENT_OTHER */
    enum ek_action action;       /* of a pin */
    int64_t until_ms;            /* of a pin, event time; 0: no end */
    uint64_t version;            /* of a revert: version of the accept; else 0 */
    const char *author, *reason; /* at most EK_AUTHOR_BYTES and EK_REASON_BYTES; NULL: not given */
};

/* Set *feature to the number of the item feature with this name. Return 0, or EK_EUSAGE with
 * EK_ERR_NAME and the nearest name in the message. */
int ek_order_find_feature(const struct ek_manifest *m, const char *name, int *feature,
                          struct ek_error *e);
/* Return true if a feature, by item number, can be pinned to the action. */
bool ek_order_has_action(const struct ek_controller *c, int item, enum ek_action action);
/* Set *action to the action of a pin with this name. Return 0, or EK_EUSAGE, with *action
 * unchanged, for an unknown name or one that a pin cannot have. */
int ek_order_parse_action(const char *name, enum ek_action *action, struct ek_error *e);
/* Return the segment value as cells have it: NULL for EK_SEGMENT_OTHER. It is the string of the
 * command. */
const char *ek_order_cell_value(const struct ek_order *o);

#endif
