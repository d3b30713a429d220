/* What the system says of this process, under the names that all programs use for it. */
#ifndef EK_DAEMON_BASE_PROCESS_H
#define EK_DAEMON_BASE_PROCESS_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Appends; a figure that the system does not tell has no sample. EK_ENOMEM. Any thread. */
int ek_process_metrics(struct ek_buf *out);

/* Resident bytes of memory that no file backs; NaN where the system does not tell. Any thread. */
double ek_process_resident_bytes(void);

/* Threads that must not cost ranking anything: those that answer and tell people.
 *
 * Where processors are short each takes as much as another, so somebody who asks without end would
 * have half of what ranking needs. A thread that gives way gets a thirtieth of a processor while
 * others of this process want all of it, and as much as it likes while they do not.
 */
/* The calling thread gives way from here on, and so do those that it starts. Where the system does
 * not let it, all stays as it was. */
void ek_lower_priority(void);

/* How many files this process may have open: connections are files, too, and those of clients must
 * not take what brokers need. */
/* Kept for everything else: connections to brokers, sinks, files that are read again. */
enum { EK_FILES_RETAINED = 128 };

/* Makes room for so many connections beside EK_FILES_RETAINED: the soft limit goes up where it has
 * to. EK_ECONFIG, naming `key`, where the hard one is too low. */
int ek_raise_fd_limit(const char *key, int64_t connections, struct ek_error *e);

/* Tells who has started this process how it is, by the datagrams that systemd takes (sd_notify(3)):
 * `READY=1` lets a unit of Type=notify count as started. No library is needed for one datagram.
 *
 * Threads: any.
 */
/* `address`: $NOTIFY_SOCKET, a path or, with '@' before it, an abstract name. False: nobody waits
 * (NULL or empty), or it could not be sent, which is no reason to end. */
bool ek_sd_notify(const char *address, const char *what);

#endif
