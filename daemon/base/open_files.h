/* How many files this process may have open: connections are files, too, and those of clients must
 * not take what brokers need. */
#ifndef EK_DAEMON_OPEN_FILES_H
#define EK_DAEMON_OPEN_FILES_H

#include "base/error.h"

#include <stdint.h>

/* Kept for everything else: connections to brokers, sinks, files that are read again. */
enum { EK_FILES_KEPT = 128 };

/* Makes room for so many connections beside EK_FILES_KEPT: the soft limit goes up where it has to.
 * EK_ECONFIG, naming `key`, where the hard one is too low. */
int ek_open_files(const char *key, int64_t connections, struct ek_error *e);

#endif
