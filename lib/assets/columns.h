/* Input columns of the user's own ranker, bound to the features of a manifest: by name, or by
 * position if the model has no names. */
#ifndef EK_ASSETS_COLUMNS_H
#define EK_ASSETS_COLUMNS_H

#include "base/error.h"
#include "schema/manifest.h"

#include <stddef.h>

struct ek_columns {
    int count;
    char **name;  /* [count]; NULL: the model has none */
    int *feature; /* [count] item feature, or ~query feature; NULL before ek_columns_bind */
};

/* Set the name of a column to a copy of `length` bytes. Return 0 or EK_ENOMEM. */
int ek_columns_name(struct ek_columns *c, int column, const char *name, size_t length);
/* Remove names that a library made up: `prefix` and the number of the column. */
void ek_columns_drop_default_names(struct ek_columns *c, const char *prefix);
/* Set c->feature. Columns without names are the item features, or all features, in the order of the
 * manifest. Return 0, EK_ESTATE with both lists if a column is no feature, or EK_ENOMEM. */
int ek_columns_bind(struct ek_columns *c, const struct ek_manifest *m, struct ek_error *e);
void ek_columns_release(struct ek_columns *c);

#endif
