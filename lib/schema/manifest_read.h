/* What reading a manifest needs of its other half. */
#ifndef EK_SCHEMA_MANIFEST_READ_H
#define EK_SCHEMA_MANIFEST_READ_H

#include "schema/manifest.h"
#include "yaml/yaml.h"

/* Counts, orders and hash from `features`, `feature_count` and `derived_count`. EK_ENOMEM leaves a
 * manifest that may be freed. */
int ek_manifest_arrange(struct ek_manifest *m);
/* A copy of the text of a key; an absent one leaves *out as it is. EK_ECONFIG, EK_ENOMEM. */
int ek_manifest_read_text(const struct ek_yaml *y, const struct ek_node *map, const char *key,
                          char **out, struct ek_error *e);
/* The section `normalization` (NULL: there is none) of a manifest whose orders stand. faults may be
 * NULL, e not. */
int ek_manifest_read_transforms(const struct ek_yaml *y, const struct ek_node *section,
                                struct ek_manifest *m, struct ek_error_list *faults,
                                struct ek_error *e);

#endif
