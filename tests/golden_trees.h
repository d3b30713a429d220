/* Tree models of tests/golden/trees.json, with the scores that their libraries compute. */
#ifndef EK_TESTS_GOLDEN_TREES_H
#define EK_TESTS_GOLDEN_TREES_H

#include "assets/trees.h"
#include "lists/list.h"
#include "tests/golden.h"

#include <string.h>

#define GOLDEN_TREES_MANIFEST                                                                      \
    "features:\n"                                                                                  \
    "  - {name: nights, index: 1, role: query}\n"                                                  \
    "  - {name: price, index: 2, role: item, routable: true}\n"                                    \
    "  - {name: stars, index: 3, role: item}\n"                                                    \
    "  - {name: chain, index: 4, role: item}\n"                                                    \
    "  - {name: distance, index: 5, role: item, routable: true}\n"

/* Return the manifest of the golden rows. */
static inline struct ek_manifest *golden_trees_manifest(void)
{
    struct ek_manifest *m;
    ck_assert_int_eq(ek_manifest_parse(&m, "features.yaml", GOLDEN_TREES_MANIFEST,
                                       strlen(GOLDEN_TREES_MANIFEST), NULL),
                     EK_OK);
    return m;
}

static inline json_t *golden_trees(void)
{
    return golden_load("tests/golden/trees.json");
}

/* Return the text of the model with this name. */
static inline const char *golden_trees_text(const json_t *golden, const char *name)
{
    size_t i;
    json_t *model;
    json_array_foreach(json_object_get(golden, "models"), i, model)
    {
        if (!strcmp(json_string_value(json_object_get(model, "name")), name))
            return json_string_value(json_object_get(model, "text"));
    }
    ck_abort_msg("no model '%s'", name);
    return NULL;
}

/* Return the value of a golden row; null is missing. */
static inline double golden_trees_value(const json_t *golden, size_t row, size_t column)
{
    const json_t *v = json_array_get(json_array_get(json_object_get(golden, "rows"), row), column);
    return json_is_null(v) ? (double)NAN : json_number_value(v);
}

#endif
