#include "daemon/base/supervisor.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* 0: it is too long, or no address. */
static socklen_t fill(struct sockaddr_un *to, const char *address)
{
    size_t length = strlen(address);
    if (length < 2 || length >= sizeof to->sun_path || (*address != '/' && *address != '@'))
        return 0;
    memset(to, 0, sizeof *to);
    to->sun_family = AF_UNIX;
    memcpy(to->sun_path, address, length);
    if (*address == '@')
        to->sun_path[0] = 0;
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

bool ek_supervisor_tell(const char *address, const char *what)
{
    struct sockaddr_un to;
    socklen_t size = address ? fill(&to, address) : 0;
    int fd = size ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;
    if (fd < 0)
        return false;
    size_t length = strlen(what);
    ssize_t sent = sendto(fd, what, length, MSG_NOSIGNAL, (const struct sockaddr *)&to, size);
    close(fd);
    return sent == (ssize_t)length;
}
