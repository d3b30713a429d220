/* Secrets of the configuration: recognition, and protection of process memory. Secrets never appear
 * in errors, logs, pages or printed configurations. Threads: any. */
#ifndef EK_DAEMON_BASE_SECRET_H
#define EK_DAEMON_BASE_SECRET_H

#include <stdbool.h>

/* Return true if the value of a librdkafka property is a secret: by a list of names, and for newer
 * names by words such as "password". */
bool ek_secret_name(const char *property);

/* Disable core dumps of this process, and access to its memory by processes of the same user. */
void ek_secret_protect(void);

#endif
