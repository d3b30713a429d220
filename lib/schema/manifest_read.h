/* Parts of the manifest's parser: lookup tables of a parsed manifest, strings of keys, and the
 * section `normalization`. Internal to lib/schema. */
#ifndef EK_SCHEMA_MANIFEST_READ_H
#define EK_SCHEMA_MANIFEST_READ_H

#include "schema/manifest.h"
#include "yaml/yaml.h"

/* Build counts, orders and hash from `features`, `feature_count` and `derived_count`. Return 0, or
 * EK_ENOMEM with a manifest that can be freed. */
int ek_manifest_arrange(struct ek_manifest *m);
/* Copy the string of a key to *out; the caller frees it. An absent key leaves *out unchanged.
 * Return 0, EK_ECONFIG or EK_ENOMEM. */
int ek_manifest_read_text(const struct ek_yaml *y, const struct ek_node *map, const char *key,
                          char **out, struct ek_error *e);
/* Set the transforms in `m`, whose orders must be built, from the section `normalization` (may be
 * NULL). With `faults` (may be NULL), add errors of single keys and features there and continue. e
 * must not be NULL. Return 0, EK_ENOMEM, or EK_ECONFIG for the first other error. */
int ek_manifest_read_transforms(const struct ek_yaml *y, const struct ek_node *section,
                                struct ek_manifest *m, struct ek_error_list *faults,
                                struct ek_error *e);

#endif
