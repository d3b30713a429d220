#include "daemon/base/descriptor.h"

#include "base/portable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

static bool set_flags(int fd)
{
    return fd >= 0 && !fcntl(fd, F_SETFD, FD_CLOEXEC) && !fcntl(fd, F_SETFL, O_NONBLOCK);
}

#if EK_PORTABLE
int ek_socket_open(int family, int type, int protocol)
{
    int fd = socket(family, type, protocol);
    if (fd < 0 || set_flags(fd))
        return fd;
    int problem = errno;
    close(fd);
    errno = problem;
    return -1;
}
#else
int ek_socket_open(int family, int type, int protocol)
{
    return socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
}
#endif

void ek_pipe_close(int ends[2])
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
        ends[i] = -1;
    }
}

int ek_pipe_open(int ends[2])
{
    ends[0] = ends[1] = -1;
    if (!pipe(ends) && set_flags(ends[0]) && set_flags(ends[1]))
        return 0;
    int problem = errno;
    ek_pipe_close(ends);
    errno = problem;
    return -1;
}
