/* The manifest of extracted features, as docs/format/manifest.md has it. */
#ifndef EK_DAEMON_TOOLS_EXTRACT_EXTRACT_FEATURES_H
#define EK_DAEMON_TOOLS_EXTRACT_EXTRACT_FEATURES_H

#include "base/error.h"
#include "base/file.h"
#include "text/features/feature_choice.h"

/* The second half of `evenkeel extract`: features of queries and documents out of an index. */
struct ek_extract_args;

/* Reads --queries against --index and writes the features. */
int ek_extract_features(const struct ek_extract_args *a, struct ek_error *e);
/* The catalogue, on standard output: --list [--json]. */
int ek_extract_list(const struct ek_extract_args *a, struct ek_error *e);

#endif
