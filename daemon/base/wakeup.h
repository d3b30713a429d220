/* Wakeup event of one consumer thread: an eventfd, or a pipe on other systems than Linux.
 *
 * Signals coalesce, so check for work after every wait. Threads: one waits, any may signal;
 * librdkafka signals by writing to the descriptor.
 */
#ifndef EK_DAEMON_BASE_WAKEUP_H
#define EK_DAEMON_BASE_WAKEUP_H

#include "base/error.h"

struct ek_wakeup {
    int fd;      /* written to signal; -1: not open */
    int read_fd; /* the same descriptor, or the other end of the pipe */
};

/* Open the event; close it with ek_wakeup_close. Return 0, or EK_EIO if no file descriptor is
 * available. */
int ek_wakeup_init(struct ek_wakeup *b, struct ek_error *e);
/* Close the event; no effect if it was never initialized (fd -1). */
void ek_wakeup_close(struct ek_wakeup *b);
/* Wake the waiting thread, or make its next wait return at once. */
void ek_wakeup_signal(const struct ek_wakeup *b);
/* Wait for a signal, including one since the last wait, at most wait_ms; -1: no limit. */
void ek_wakeup_wait(const struct ek_wakeup *b, int wait_ms);

#endif
