/* Secrets of the configuration: which values they are, and how a process that has some keeps them
 * to itself. They never appear in errors, logs, pages or printed configurations.
 *
 * Threads: any.
 */
#ifndef EK_DAEMON_BASE_SECRET_H
#define EK_DAEMON_BASE_SECRET_H

#include <stdbool.h>

/* True when the value of this librdkafka property is a secret: by a list of names, and by words
 * that only secrets have, for names that are newer than the list. */
bool ek_secret_name(const char *property);

/* No core dumps of this process, and no look into its memory by others of the same user. */
void ek_secret_protect(void);

#endif
