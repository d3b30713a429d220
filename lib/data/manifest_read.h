/* What reading a manifest needs of its other half. Internal to lib/data. */
#ifndef EK_DATA_MANIFEST_READ_H
#define EK_DATA_MANIFEST_READ_H

#include "data/manifest.h"

/* Counts, orders and hash from `features`, `feature_count` and `derived_count`. EK_ENOMEM leaves a
 * manifest that may be freed. */
int ek_manifest_arrange(struct ek_manifest *m);

#endif
