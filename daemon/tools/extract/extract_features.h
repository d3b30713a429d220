/* Manifest of extracted features (docs/format/manifest.md). */
#ifndef EK_DAEMON_TOOLS_EXTRACT_EXTRACT_FEATURES_H
#define EK_DAEMON_TOOLS_EXTRACT_EXTRACT_FEATURES_H

#include "base/error.h"
#include "base/file.h"
#include "text/features/feature_choice.h"

/* Second half of `extract`: features of queries and documents, computed with an index. */
struct ek_extract_args;

/* Read --queries, use --index and write the features. */
int ek_extract_features(const struct ek_extract_args *a, struct ek_error *e);
/* Print the catalog: --list [--json]. */
int ek_extract_list(const struct ek_extract_args *a, struct ek_error *e);

#endif
