/* What the reading and the writing half of base/file.h share: errno as a message, and system calls
 * that go on after a signal. Internal to lib/base.
 */
#ifndef EK_BASE_FILE_ERROR_H
#define EK_BASE_FILE_ERROR_H

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

/* EK_EIO at `name`: `what: <the text of errno, lower case>`, with EK_ERR_PATH where it is
 * the path that is wrong, and EK_ERR_READER where a pipe was closed. */
int ek_file_fail(struct ek_error *e, const char *name, const char *what);
/* read(2), again after EINTR. */
ssize_t ek_file_retry_read(int fd, void *bytes, size_t size);
/* write(2) until all is written. 0, or -1 with errno set. */
int ek_file_write_all(int fd, const void *bytes, size_t size);

#endif
