#include "base/tmpfile.h"

#include "base/alloc.h"
#include "base/portable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 1000, NUMBER = 32 };

#if EK_PORTABLE
int ek_tmpfile_open(char *path, int access, mode_t mode)
{
    (void)path;
    (void)access;
    (void)mode;
    errno = EOPNOTSUPP;
    return -1;
}
#else
int ek_tmpfile_open(char *path, int access, mode_t mode)
{
    char *slash = strrchr(path, '/');
    const char *folder = !slash ? "." : slash == path ? "/" : path;
    if (folder == path)
        *slash = 0;
    int fd = open(folder, access | O_TMPFILE | O_CLOEXEC, mode);
    if (folder == path)
        *slash = '/';
    return fd;
}
#endif

/* Fallback for systems and file systems without O_TMPFILE: create a named file and unlink it at
 * once. */
static int open_unlinked(const char *path)
{
    size_t size = strlen(path) + NUMBER;
    char *name = ek_calloc(size, 1);
    int fd = -1;
    for (int i = 0; name && fd < 0 && i < TRIES; i++) {
        snprintf(name, size, "%s.%ld-%d.run", path, (long)getpid(), i);
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd >= 0)
        unlink(name);
    ek_free(name);
    return fd;
}

int ek_tmpfile_spool(char *path)
{
    int fd = ek_tmpfile_open(path, O_RDWR, 0600);
    return fd < 0 ? open_unlinked(path) : fd;
}
