/* Tells who has started this process how it is, by the datagrams that systemd takes (sd_notify(3)):
 * `READY=1` lets a unit of Type=notify count as started. No library is needed for one datagram.
 *
 * Threads: any.
 */
#ifndef EK_DAEMON_SUPERVISOR_H
#define EK_DAEMON_SUPERVISOR_H

#include <stdbool.h>

/* `address`: $NOTIFY_SOCKET, a path or, with '@' before it, an abstract name. False: nobody waits
 * (NULL or empty), or it could not be sent, which is no reason to end. */
bool ek_supervisor_tell(const char *address, const char *what);

#endif
