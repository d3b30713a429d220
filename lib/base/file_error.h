/* errno messages and system calls that retry on EINTR. Internal to lib/base. */
#ifndef EK_BASE_FILE_ERROR_H
#define EK_BASE_FILE_ERROR_H

#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

/* Fail with EK_EIO for file `name`: `what: <message of errno, lower case>`. Set EK_ERR_PATH for an
 * invalid path and EK_ERR_READER for a broken pipe. Return EK_EIO. */
int ek_file_fail(struct ek_error *e, const char *name, const char *what);
/* Call read(2), and repeat it on EINTR. Return the bytes read, 0 at the end, or -1 with errno set.
 */
ssize_t ek_file_retry_read(int fd, void *bytes, size_t size);
/* Call write(2) until all bytes are written. Return 0, or -1 with errno set. */
int ek_file_write_all(int fd, const void *bytes, size_t size);

#endif
