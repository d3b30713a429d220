#include "daemon/base/wakeup.h"

#include "base/portable.h"
#include "daemon/base/descriptor.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#if EK_PORTABLE
int ek_wakeup_init(struct ek_wakeup *b, struct ek_error *e)
{
    int ends[2];
    int failed = ek_pipe_open(ends);
    *b = (struct ek_wakeup){.fd = ends[1], .read_fd = ends[0]};
    return failed ? ek_fail(e, EK_EIO, "pipe: %s", strerror(errno)) : EK_OK;
}

void ek_wakeup_close(struct ek_wakeup *b)
{
    if (b->fd >= 0)
        ek_pipe_close((int[2]){b->read_fd, b->fd});
    b->fd = -1;
}

static void take_signals(const struct ek_wakeup *b)
{
    char some[512];
    while (read(b->read_fd, some, sizeof some) == sizeof some)
        ;
}
#else
#include <sys/eventfd.h>

int ek_wakeup_init(struct ek_wakeup *b, struct ek_error *e)
{
    b->fd = b->read_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return b->fd < 0 ? ek_fail(e, EK_EIO, "eventfd: %s", strerror(errno)) : EK_OK;
}

void ek_wakeup_close(struct ek_wakeup *b)
{
    if (b->fd >= 0)
        close(b->fd);
    b->fd = -1;
}

static void take_signals(const struct ek_wakeup *b)
{
    uint64_t count;
    ssize_t ignored = read(b->read_fd, &count, sizeof count); /* none: another wait took them */
    (void)ignored;
}
#endif

void ek_wakeup_signal(const struct ek_wakeup *b)
{
    uint64_t one = 1;
    ssize_t ignored = write(b->fd, &one, sizeof one); /* full: already signaled */
    (void)ignored;
}

void ek_wakeup_wait(const struct ek_wakeup *b, int wait_ms)
{
    struct pollfd p = {.fd = b->read_fd, .events = POLLIN};
    if (poll(&p, 1, wait_ms) > 0)
        take_signals(b);
}
