/* One plan entry read from JSON (docs/dev/formats/plan.md), with assets of its feature alone, so
 * that serve/feature_writer.h repairs its values as a stage does. */
#ifndef EK_GUARD_PLAN_UNIT_H
#define EK_GUARD_PLAN_UNIT_H

#include "detect/list_stats_builder.h"
#include "plan/plan.h"
#include "serve/assets.h"
#include "serve/feature_writer.h"
#include "yaml/json_parse.h"

#include <stdbool.h>

struct ek_plan_unit {
    const char *feature;           /* of the JSON */
    int index;                     /* of the feature among the item features of a list */
    bool of_query;                 /* a query feature, which is not applied: `index` is its own */
    struct ek_assets assets;       /* manifest and profile: item feature 0, and query features */
    struct ek_stratum_field field; /* of the profile */
    struct ek_feature_writer *writer; /* NULL: no repair of values */
    int *query; /* [query features] index among those of a list; derived ones last, without */
};

/* Set *entry to the entry of a JSON object, except feature and cell, and *u to its unit; `number`
 * is its position in errors. The JSON must outlive the unit. Return 0, EK_EFORMAT with the invalid
 * key, or EK_ENOMEM; release the unit in any case. */
int ek_plan_unit_read(struct ek_plan_unit *u, struct ek_plan_entry *entry, yyjson_val *from,
                      int number, struct ek_error *e);
/* Free the memory of a unit, which starts as {0}. */
void ek_plan_unit_release(struct ek_plan_unit *u);

/* Return EK_EFORMAT with an error at this key of entry `number`. */
int ek_plan_unit_fail(int number, const char *key, struct ek_error *e);

#endif
