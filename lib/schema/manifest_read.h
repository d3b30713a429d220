/* Lookup tables of a parsed manifest. Internal to lib/schema. */
#ifndef EK_SCHEMA_MANIFEST_READ_H
#define EK_SCHEMA_MANIFEST_READ_H

#include "schema/manifest.h"

/* Build counts, orders and hash from `features`, `feature_count` and `derived_count`. Return 0, or
 * EK_ENOMEM with a manifest that can be freed. */
int ek_manifest_arrange(struct ek_manifest *m);

#endif
