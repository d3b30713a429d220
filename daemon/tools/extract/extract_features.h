/* Features of `extract`: queries and documents measured with an index, and the feature catalog. */
#ifndef EK_DAEMON_TOOLS_EXTRACT_EXTRACT_FEATURES_H
#define EK_DAEMON_TOOLS_EXTRACT_EXTRACT_FEATURES_H

#include "base/error.h"
#include "base/file.h"
#include "text/features/feature_choice.h"

struct ek_extract_args;

/* Read --queries, use --index and write the features. Return 0, or an error of the files, the index
 * or the arguments. */
int ek_extract_features(const struct ek_extract_args *a, struct ek_error *e);

#endif
