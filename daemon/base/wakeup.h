/* What a thread sleeps on until another has something for it.
 *
 * Rings are not counted: one wakes, and any number before the sleeper looks is as good as one. So a
 * sleeper looks for work after each wait, and before the next. Owner: the caller. Threads: one
 * waits, any ring; librdkafka rings by writing to the descriptor itself.
 */
#ifndef EK_DAEMON_BASE_WAKEUP_H
#define EK_DAEMON_BASE_WAKEUP_H

#include "base/error.h"

struct ek_wakeup {
    int fd;
};

/* EK_EIO where the system has no more descriptors. */
int ek_wakeup_init(struct ek_wakeup *b, struct ek_error *e);
/* One that was never made (fd -1) is fine. */
void ek_wakeup_close(struct ek_wakeup *b);
void ek_wakeup_signal(const struct ek_wakeup *b);
/* Until the next ring, one since the last wait counts; at most wait_ms, -1 for ever. */
void ek_wakeup_wait(const struct ek_wakeup *b, int wait_ms);

#endif
