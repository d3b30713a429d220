/* The second half of `evenkeel extract`: features of queries and documents out of an index. */
#ifndef EK_DAEMON_EXTRACT_FEATURES_H
#define EK_DAEMON_EXTRACT_FEATURES_H

#include "base/error.h"

struct ek_extract_args;

/* Reads --queries against --index and writes the features. */
int ek_extract_features(const struct ek_extract_args *a, struct ek_error *e);
/* The catalogue, on standard output: --list [--json]. */
int ek_extract_list(const struct ek_extract_args *a, struct ek_error *e);

#endif
