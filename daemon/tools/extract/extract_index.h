/* First half of `extract`: builds an index of collections of texts. */
#ifndef EK_DAEMON_TOOLS_EXTRACT_EXTRACT_INDEX_H
#define EK_DAEMON_TOOLS_EXTRACT_EXTRACT_INDEX_H

#include "base/error.h"

struct ek_extract_args;

/* Read --collection, write --index and print its statistics to standard output: with --json as an
 * object, unless features follow on standard output. Return 0, or an error of the files, the index
 * or the arguments. */
int ek_extract_index(const struct ek_extract_args *a, struct ek_error *e);

#endif
