/* Operator's order: what a person asks a guard or a fleet to do.
 *
 * One struct from the API to the controller, alone and in a fleet; the lists of pins and the plan
 * record have pins as orders, too. Texts are views. Owner: the caller.
 */
#ifndef EK_PLAN_ORDER_H
#define EK_PLAN_ORDER_H

#include "base/error.h"
#include "base/text.h"
#include "plan/decisions.h"
#include "schema/manifest.h"
#include "schema/enum_names.h"

/* Bytes of author and reason: rules/rules.h. */
struct ek_order_id {
    struct ek_text instance; /* that received it */
    uint64_t start, number;  /* of the run of that instance; of the order in that run, from 1 */
};

struct ek_order {
    struct ek_order_id id;       /* in a fleet only */
    enum ek_decision_kind kind;  /* EK_DECIDED_PIN, _UNPIN, _PAUSE, _RESUME, _ACCEPT, _REVERT */
    const char *feature;         /* NULL: all features, of a pause or resume; of a revert */
    const char *segment, *value; /* segment NULL: all traffic; value may be EK_SEGMENT_OTHER */
    enum ek_action action;       /* of a pin */
    int64_t until_ms;            /* of a pin, in the stream; 0: for good */
    uint64_t version;            /* of a revert: of the accept that it takes back; else 0 */
    const char *author, *reason; /* NULL: not given */
};

/* Find an item feature by its name. EK_EUSAGE with EK_ERR_NAME: none, with the nearest. */
int ek_order_find_feature(const struct ek_manifest *m, const char *name, int *feature,
                          struct ek_error *e);
/* Parse the action of a pin. EK_EUSAGE. */
int ek_order_parse_action(const char *name, enum ek_action *action, struct ek_error *e);
/* Return the value of the segment as cells have it: NULL for EK_SEGMENT_OTHER. */
const char *ek_order_cell_value(const struct ek_order *o);

#endif
