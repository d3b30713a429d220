/* The files of `evenkeel extract` held against each other, before any of them is touched: what is
 * written may not be what is read or what else is written, and standard input is read once.
 *
 * Owner: none, it looks only.
 */
#ifndef EK_DAEMON_EXTRACT_PATHS_H
#define EK_DAEMON_EXTRACT_PATHS_H

#include "daemon/tools/extract/extract_args.h"

/* EK_EUSAGE names the two options. */
int ek_extract_paths_check(const struct ek_extract_args *a, struct ek_error *e);

#endif
