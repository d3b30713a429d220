/* Process: standard process_* metrics, thread priority, file descriptor limit, sd_notify, secrets
 * in memory. */
#ifndef EK_DAEMON_BASE_PROCESS_H
#define EK_DAEMON_BASE_PROCESS_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Append the process_* metrics; unavailable values are omitted. Return 0 or EK_ENOMEM. Any thread.
 */
int ek_process_metrics(struct ek_buf *out);

/* Return the resident bytes of anonymous memory; NaN: unavailable. Any thread. */
double ek_process_resident_bytes(void);

/* Lower the priority of the calling thread and of threads that it starts later. For threads that
 * serve HTTP and alerts: with equal priority, a client with many requests would take half of the
 * CPU time of scoring. A low-priority thread gets about 1/30 of a busy CPU. No effect if not
 * permitted, nor on other systems than Linux. */
void ek_lower_priority(void);

/* File descriptors reserved for brokers, sinks and files, besides connections of HTTP clients. */
enum { EK_FILES_RETAINED = 128 };

/* Raise the soft limit of open files, if needed, for `connections` and EK_FILES_RETAINED. Return 0,
 * or EK_ECONFIG naming `key` if the hard limit is too low. */
int ek_raise_fd_limit(const char *key, int64_t connections, struct ek_error *e);

/* Send a state such as `READY=1` to the service manager (sd_notify(3)). address: $NOTIFY_SOCKET, a
 * path, or an abstract name after '@'; NULL or "": none. Return true if it was sent. Any thread. */
bool ek_sd_notify(const char *address, const char *state);

/* Return true if the value of a librdkafka property is a secret: by a list of names, and for newer
 * names by words such as "password". Secrets never appear in errors, logs, pages or printed
 * configurations. Any thread. */
bool ek_secret_name(const char *property);

/* Disable core dumps of this process, and on Linux access to its memory by processes of the same
 * user. */
void ek_secret_protect(void);

#endif
