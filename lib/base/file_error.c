#include "base/file_error.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool of_the_path(int problem)
{
    return problem == ENOENT || problem == EACCES || problem == EISDIR || problem == ENOTDIR ||
           problem == ELOOP || problem == ENAMETOOLONG;
}

int ek_file_fail(struct ek_error *e, const char *name, const char *what)
{
    char reason[128];
    int problem = errno;
    snprintf(reason, sizeof reason, "%s", strerror(problem));
    if (islower((unsigned char)reason[1]))
        reason[0] = (char)tolower((unsigned char)reason[0]);
    ek_fail_at(e, EK_EIO, name, 0, 0, "%s: %s", what, reason);
    if (e && of_the_path(problem))
        e->flags |= EK_ERR_PATH;
    if (e && problem == EPIPE)
        e->flags |= EK_ERR_READER;
    return EK_EIO;
}

ssize_t ek_file_retry_read(int fd, void *bytes, size_t size)
{
    ssize_t n;
    do
        n = read(fd, bytes, size);
    while (n < 0 && errno == EINTR);
    return n;
}

int ek_file_write_all(int fd, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    while (size) {
        ssize_t n = write(fd, p, size);
        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0) {
            p += n;
            size -= (size_t)n;
        }
    }
    return 0;
}
