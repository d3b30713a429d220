#include "daemon/base/wakeup.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

int ek_wakeup_init(struct ek_wakeup *b, struct ek_error *e)
{
    b->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return b->fd < 0 ? ek_fail(e, EK_EIO, "eventfd: %s", strerror(errno)) : EK_OK;
}

void ek_wakeup_close(struct ek_wakeup *b)
{
    if (b->fd >= 0)
        close(b->fd);
    b->fd = -1;
}

void ek_wakeup_signal(const struct ek_wakeup *b)
{
    uint64_t one = 1;
    ssize_t ignored = write(b->fd, &one, sizeof one); /* full: already signaled */
    (void)ignored;
}

void ek_wakeup_wait(const struct ek_wakeup *b, int wait_ms)
{
    uint64_t count;
    struct pollfd p = {.fd = b->fd, .events = POLLIN};
    if (poll(&p, 1, wait_ms) > 0 && read(b->fd, &count, sizeof count) < 0)
        return;
}
