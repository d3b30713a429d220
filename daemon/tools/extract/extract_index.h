/* The first half of `evenkeel extract`: collections of texts become an index. */
#ifndef EK_DAEMON_TOOLS_EXTRACT_EXTRACT_INDEX_H
#define EK_DAEMON_TOOLS_EXTRACT_EXTRACT_INDEX_H

#include "base/error.h"

struct ek_extract_args;

/* Reads --collection, writes --index, and says on standard output what is in it: with --json as an
 * object, unless features follow, which have standard output then. */
int ek_extract_index(const struct ek_extract_args *a, struct ek_error *e);

#endif
